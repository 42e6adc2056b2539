//! Known symptoms that share discriminating terms with a failure, however old they are.

use super::known::{KnownSymptom, SymptomScope, of_ids};
use crate::error::StoreError;
use crate::knowledge::FactScope;
use crate::sql::Connection;
use crate::terms::{FULL, MAX_SYMPTOMS};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of candidates compared in full, of earlier runs and of this one.
const MAX_RESULTS: usize = 16;
/// Candidates with less than this fraction of the best score are skipped as matches by chance.
const MIN_SCORE_PART: u32 = 3;

/// Up to 16 symptoms that share the most discriminating terms: the rarer a term, the higher its weight; ties go to the lowest ids, and none
/// scores less than a third of the best. Only the beginning of each term's list is read, however large the store. Symptoms in `known` are
/// left out without making room for others.
pub(super) fn of_words(
    conn: &Connection,
    run: i64,
    scope: FactScope,
    found: SymptomScope,
    terms: &BTreeSet<i64>,
    known: &BTreeSet<i64>,
) -> Result<Vec<KnownSymptom>, StoreError> {
    let (condition, upto) = match found {
        SymptomScope::Earlier => ("run < ?2", scope.start),
        SymptomScope::Here => ("run = ?2", scope.upto),
    };
    if matches!(found, SymptomScope::Here) && scope.upto == scope.start {
        return Ok(Vec::new());
    }
    let mut list = conn.prepare_cached(&format!(
        "SELECT symptom FROM symptom_terms WHERE term = ?1 AND {condition} AND stamp <= ?3 ORDER BY run, symptom LIMIT ?4"
    ))?;
    let mut weights: BTreeMap<i64, u32> = BTreeMap::new();
    let limit = i64::try_from(MAX_SYMPTOMS + 1).unwrap_or(i64::MAX);
    let lists = terms.iter().map(|term| [*term, run, upto, limit]).collect();
    for mut symptoms in list.query_each(lists, |row| row.get::<_, i64>(0))? {
        if symptoms.len() <= MAX_SYMPTOMS && !symptoms.contains(&FULL) {
            symptoms.sort_unstable();
            symptoms.dedup();
            // The inverse document frequency, as an integer so that sums do not depend on their order.
            let weight = (2 * MAX_SYMPTOMS / symptoms.len().max(1)).ilog2();
            for symptom in &symptoms {
                *weights.entry(*symptom).or_default() += weight;
            }
        }
    }
    let mut likely: Vec<(Reverse<u32>, i64)> = weights.into_iter().map(|(symptom, weight)| (Reverse(weight), symptom)).collect();
    likely.sort_unstable();
    let best = likely.first().map_or(0, |(Reverse(weight), _)| *weight);
    let likely = likely.into_iter().take(MAX_RESULTS).take_while(|(Reverse(weight), _)| weight * MIN_SCORE_PART >= best);
    let likely: Vec<i64> = likely.map(|(_, symptom)| symptom).filter(|id| !known.contains(id)).collect();
    if likely.is_empty() { Ok(Vec::new()) } else { of_ids(conn, run, scope, &likely) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::fixture::{Backend, StoreFixture, effects, launch, symptom};
    use crate::sql::Connection;
    use crate::{RunJournal, StoreQueries};
    use asterisk_base::model::{Case, Effect, Launch};
    use asterisk_walk::{Journal, Queries, QuerySubject};
    use rstest::rstest;
    use serde_json::{Value, json};

    const OLD: &str = "IllegalStateException: tariff of an unknown season pass while the basket of 7 guests is priced";
    const ALIKE: &str = "IllegalStateException: tariff of an unknown day pass while the basket of 12 guests was priced";

    /// Three letters for a number, so that each number has its own word.
    fn letters(n: usize) -> String {
        [n / 676, n / 26 % 26, n % 26].iter().map(|at| char::from(b"abcdefghijklmnopqrstuvwxyz"[*at % 26])).collect()
    }

    /// A failure that shares only some words of its error with others.
    fn case(n: usize, error: &str) -> Case {
        Case {
            id: format!("c{n}"),
            name: format!("{n}"),
            error_message: error.into(),
            recall_key: format!("{n} {error}"),
            ..Case::default()
        }
    }

    fn of(errors: &[String]) -> Launch {
        Launch { cases: errors.iter().zip(1..).map(|(error, n)| case(n, error)).collect(), ..launch(0) }
    }

    /// Newer failures: common words, and a unique word in each.
    fn others(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("the gateway of region q{} answered with nothing while priced", letters(n))).collect()
    }

    /// Commits the symptoms of some cases of a launch: ids are indices plus 10.
    fn find(journal: &RunJournal, launch: &Launch, order: impl IntoIterator<Item = usize>) {
        for at in order {
            let case = &launch.cases[at];
            let id = i64::try_from(at).unwrap() + 10;
            journal.commit(effects(&case.id, vec![symptom(id, &case.name, &case.error_message)])).unwrap();
        }
    }

    fn needs(fixture: &StoreFixture, run: &str) -> StoreQueries {
        StoreQueries::new(&fixture.store, run, json!([])).unwrap()
    }

    fn similar(needs: &StoreQueries, launch: &Launch, case: &Case) -> Vec<Value> {
        let answer = needs.query("symptoms.similar", &QuerySubject::new(launch, case)).unwrap();
        answer.as_array().unwrap().clone()
    }

    fn ids(answer: &[Value]) -> Vec<i64> {
        answer.iter().map(|hit| hit["id"].as_i64().unwrap()).collect()
    }

    #[rstest]
    fn an_old_symptom_alike_in_words_is_found_among_thousands_of_newer_ones(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let old = of(&[OLD.into()]);
        let first = fixture.begin("first", &old);
        first.commit(effects("c1", vec![symptom(5, "0", OLD)])).unwrap();
        let newer = of(&others(3000));
        let second = fixture.begin("second", &newer);
        let all: Vec<Effect<i64>> =
            (0..3000).map(|n| symptom(n + 10, "0", &newer.cases[usize::try_from(n).unwrap()].error_message)).collect();
        for some in all.chunks(500) {
            second.commit(effects("c1", some.to_vec())).unwrap();
        }
        let ours = of(&[ALIKE.into(), others(2000)[1999].clone()]);
        let _third = fixture.begin("third", &ours);
        let needs = needs(&fixture, "third");
        let found = similar(&needs, &ours, &ours.cases[0]);
        assert_eq!(found[0]["id"], 5, "{found:?}");
        assert!(found[0]["score"].as_f64().unwrap() > 0.3, "{}", found[0]);
        assert!(found[0]["why"]["error"]["common"].as_array().unwrap().contains(&json!("illegalstateexception")), "{}", found[0]);
        assert_eq!(ids(&similar(&needs, &ours, &ours.cases[1]))[0], 2009, "an own word is enough");
        // Thousands of symptoms make no list longer than hundreds do.
        let longest = "SELECT max(n) FROM (SELECT count(*) AS n FROM symptom_terms GROUP BY term, run) listed";
        let longest =
            fixture.store.read(|conn: &Connection| Ok(conn.query_row(longest, [], |row| row.get::<_, isize>(0))?)).unwrap();
        assert_eq!(
            longest.cast_unsigned(),
            super::MAX_SYMPTOMS + 2,
            "one more than may be returned, and the note that the list is closed"
        );
    }

    /// Adds 300 newer symptoms, which displace all earlier ones from the list of the latest.
    fn push_out(fixture: &StoreFixture) {
        let newer = of(&others(300));
        let journal = fixture.begin("newer", &newer);
        let all = (1000..1300).zip(&newer.cases).map(|(id, case)| symptom(id, "0", &case.error_message)).collect();
        journal.commit(effects("c1", all)).unwrap();
    }

    #[rstest]
    fn next_to_a_likely_one_chance_matches_of_a_word_are_skipped(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let chance = "tariff of an old while";
        let first = fixture.begin("first", &of(&[OLD.into(), chance.into()]));
        first.commit(effects("c1", vec![symptom(5, "0", OLD)])).unwrap();
        first.commit(effects("c2", vec![symptom(6, "0", chance)])).unwrap();
        push_out(&fixture);
        let ours = of(&[ALIKE.into(), "tariff unchanged".into()]);
        let _second = fixture.begin("second", &ours);
        let needs = needs(&fixture, "second");
        let similar_ids = |case: usize| -> Vec<i64> {
            ids(&similar(&needs, &ours, &ours.cases[case])).into_iter().filter(|id| *id < 1000).collect()
        };
        assert_eq!(similar_ids(0), [5], "6 shares one telling word of many");
        assert!(similar_ids(1).contains(&6), "where nothing shares more, that word is enough");
    }

    #[rstest]
    fn the_lists_are_seen_as_they_were_when_the_run_began_and_at_its_barriers(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        for order in [[0, 1, 2, 3], [3, 1, 0, 2]] {
            let fixture = StoreFixture::on(backend);
            let texts = [OLD.to_owned(), ALIKE.to_owned(), format!("{OLD} again"), format!("{ALIKE} again")];
            let launch = of(&texts);
            let early = fixture.begin("early", &launch);
            early.commit(effects("c1", vec![symptom(5, "0", OLD)])).unwrap();
            push_out(&fixture);
            let run = fixture.begin("run", &launch);
            let mut needs = needs(&fixture, "run");
            find(&run, &launch, order);
            // By an older run and by a newer one.
            early.commit(effects("c2", vec![symptom(6, "0", ALIKE)])).unwrap();
            let later = fixture.begin("later", &launch);
            later.commit(effects("c1", vec![symptom(7, "0", ALIKE)])).unwrap();
            let similar_ids = |needs: &StoreQueries, case: usize| {
                let mut ids = ids(&similar(needs, &launch, &launch.cases[case]));
                ids.retain(|id| *id < 1000);
                ids.sort_unstable();
                ids
            };
            assert_eq!(similar_ids(&needs, 3), [5]);
            let barrier = fixture.store.all_events("run").unwrap().pop().unwrap().0;
            run.commit(effects("c1", vec![symptom(8, "0", ALIKE)])).unwrap();
            needs.advance(barrier, Vec::new());
            assert_eq!(
                [0, 1, 2, 3].map(|case| similar_ids(&needs, case)),
                [vec![5], vec![5, 10], vec![5, 10, 11], vec![5, 10, 11, 12]]
            );
            let _last = fixture.begin("last", &launch);
            assert_eq!(similar_ids(&self::needs(&fixture, "last"), 0), [5, 6, 7, 8, 10, 11, 12, 13]);
        }
    }

    #[rstest]
    fn the_index_does_not_depend_on_arrival(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let answers = |order: &[usize]| {
            let fixture = StoreFixture::on(backend);
            // Three cases to a symptom, each with unique words; more symptoms than a list holds.
            let texts: Vec<String> =
                (0..240).map(|n| format!("lost lock of k{} m{} while mending", letters(n), letters(n / 4))).collect();
            let launch = of(&texts);
            let first = fixture.begin("first", &launch);
            for &at in order {
                let id = i64::try_from(at / 3).unwrap() + 10;
                first.commit(effects(&launch.cases[at].id, vec![symptom(id, "0", &texts[at])])).unwrap();
            }
            push_out(&fixture);
            let ours = of(&(0..24).map(|n| format!("held lock of k{} m{}", letters(n * 10), letters(n))).collect::<Vec<_>>());
            let _second = fixture.begin("second", &ours);
            let needs = needs(&fixture, "second");
            ours.cases.iter().map(|case| similar(&needs, &ours, case)).collect::<Vec<_>>()
        };
        let forward: Vec<usize> = (0..240).collect();
        let expected = answers(&forward);
        assert!(expected.iter().all(|found| ids(found).iter().any(|id| *id < 1000)), "{expected:?}");
        let backward: Vec<usize> = (0..240).rev().collect();
        let mixed: Vec<usize> = (0..240).map(|n| n * 77 % 240).collect();
        for order in [backward, mixed] {
            assert_eq!(answers(&order), expected);
        }
    }
}
