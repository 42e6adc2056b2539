//! History visible to a run: causes and symptoms of its launch and of earlier ones, case by case.

use crate::error::StoreError;
use crate::knowledge::{FactScope, Rca, rca_as_of};
use crate::open::Store;
use crate::runs::run_row;
use crate::sql::{Connection, OptionalExtension, params};
use asterisk_base::clock::Timestamp;
use compact_str::CompactString;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of launches of one name to look back on.
const LAUNCHES: i64 = 30;

/// The knowledge at the start of a run, plus what it added; independent of later runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownHistory {
    /// The launches, oldest first: those with the name of the run's launch (the 30 latest up to it), and those of other names that share a
    /// cause with the run.
    pub launches: Vec<PastLaunch>,
    /// Index of the run's own launch in `launches`.
    pub current: usize,
    /// Failures of these launches with a known symptom or cause; those of the run in its order.
    pub cases: Vec<PastCase>,
    /// Root causes of other launches' failures, as known when the run began.
    pub rcas: BTreeMap<i64, Rca>,
    /// Test and category of the symptoms of other launches' failures.
    pub symptoms: BTreeMap<i64, (String, String)>,
}

/// An analysed launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastLaunch {
    /// Id of the launch in its source.
    pub id: String,
    /// Name of the launch.
    pub name: String,
    /// Number of the launch, if it has one.
    pub number: Option<i64>,
    /// Version under test, or empty.
    pub version: String,
    /// Start time.
    pub at: Timestamp,
    /// Number of analysed failures.
    pub failures: usize,
}

/// A failure of a launch with its causes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PastCase {
    /// Index of the launch in [`KnownHistory::launches`].
    pub launch: usize,
    /// Id of the case in the launch.
    pub case: CompactString,
    /// Whether the run itself walked the case.
    pub own: bool,
    /// Ids of its root causes.
    pub rcas: RowIds,
    /// Ids of its symptoms.
    pub symptoms: RowIds,
}

/// Row ids; usually one.
pub type RowIds = SmallVec<[i64; 2]>;

impl Store {
    /// The history visible to a run. Facts found after the run began are ignored, so a rebuilt report is identical.
    pub fn history(&self, run: &str) -> Result<KnownHistory, StoreError> {
        self.read(|conn| {
            let run = run_row(conn, run)?;
            let stamp: i64 = conn.query_row("SELECT start_seq FROM runs WHERE id = ?1", [run], |row| row.get(0))?;
            let Some(own) = own_launch(conn, run)? else { return Ok(KnownHistory::default()) };
            let mut history = KnownHistory::default();
            let mut places: BTreeMap<i64, usize> = BTreeMap::new();
            for (id, launch) in launches(conn, run, own)? {
                places.insert(id, history.launches.len());
                history.launches.push(launch);
            }
            history.current = places.get(&own).copied().unwrap_or_default();
            // Ordered by id; a map would take twice the memory.
            let walked: i64 = conn.query_row("SELECT count(*) FROM run_cases WHERE run = ?1", [run], |row| row.get(0))?;
            let mut cases: Vec<(i64, PastCase)> = Vec::with_capacity(usize::try_from(walked).unwrap_or_default());
            for (table, column) in [("case_causes", "rca"), ("case_symptoms", "symptom")] {
                // Facts visible to the run: those of earlier runs up to its beginning, and its own.
                let mut rows = conn.prepare_cached(&format!(
                    "SELECT c.id, c.launch, c.item, f.{column}, max(CASE WHEN r.run = ?1 THEN 1 ELSE 0 END) FROM run_cases r JOIN cases c ON c.id = r.known \
                     JOIN {table} f ON f.rc = r.id \
                     WHERE c.launch IN (SELECT value FROM json_each(?3)) AND (r.run = ?1 OR (r.run < ?1 AND f.stamp <= ?2)) \
                     GROUP BY c.id, f.{column} ORDER BY c.id, min(f.stamp), f.{column}"
                ))?;
                let listed = serde_json::Value::from(places.keys().copied().collect::<Vec<_>>()).to_string();
                let mut rows = rows.query(params![run, stamp, listed])?;
                let sorted = cases.len();
                while let Some(row) = rows.next()? {
                    let launch: i64 = row.get(1)?;
                    let known: i64 = row.get(0)?;
                    let at = match cases[..sorted].binary_search_by_key(&known, |(id, _)| *id) {
                        Ok(at) => at,
                        Err(_) if cases.len() > sorted && cases.last().is_some_and(|(id, _)| *id == known) => cases.len() - 1,
                        Err(_) => {
                            cases.push((known, PastCase::default()));
                            cases.len() - 1
                        }
                    };
                    let case = &mut cases[at].1;
                    case.launch = places.get(&launch).copied().unwrap_or_default();
                    case.case = row.get_ref(2)?.as_str()?.into();
                    case.own |= row.get::<_, bool>(4)?;
                    if column == "rca" { &mut case.rcas } else { &mut case.symptoms }.push(row.get(3)?);
                }
                cases.sort_unstable_by_key(|(id, _)| *id);
            }
            history.cases = cases.into_iter().map(|(_, case)| case).collect();
            // The run describes what only it names in its own words.
            let others = || history.cases.iter().filter(|case| case.launch != history.current);
            let named = |of: fn(&PastCase) -> &RowIds| -> BTreeSet<i64> { others().flat_map(of).copied().collect() };
            let (rcas, symptoms) = (named(|case| &case.rcas), named(|case| &case.symptoms));
            for id in rcas {
                history.rcas.insert(id, rca_as_of(conn, id, FactScope::until(stamp))?);
            }
            for id in symptoms {
                history.symptoms.insert(id, described(conn, id)?);
            }
            Ok(history)
        })
    }
}

/// The launch of a run, if the run has cases or stored the launch.
fn own_launch(conn: &Connection, run: i64) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT launch FROM (SELECT c.launch AS launch, 0 AS rank FROM run_cases r JOIN cases c ON c.id = r.known WHERE r.run = ?1 \
               UNION ALL SELECT id, 1 FROM launches WHERE run = ?1) own ORDER BY rank LIMIT 1";
    Ok(conn.prepare_cached(sql)?.query_row([run], |row| row.get(0)).optional()?)
}

/// The launches to include, oldest first.
fn launches(conn: &Connection, run: i64, own: i64) -> Result<Vec<(i64, PastLaunch)>, StoreError> {
    let shared = |table: &str, column: &str| {
        // Through each cause once: a run may have ten thousand failures of one cause.
        format!(
            "SELECT c.launch FROM (SELECT DISTINCT m.{column} FROM run_cases mine JOIN {table} m ON m.rc = mine.id WHERE mine.run = ?1) own \
             JOIN {table} f ON f.{column} = own.{column} JOIN run_cases r ON r.id = f.rc JOIN cases c ON c.id = r.known WHERE r.run < ?1"
        )
    };
    let sql = format!(
        "SELECT l.id, external, name, number, version, at, \
         (SELECT count(DISTINCT known) FROM cases c JOIN run_cases r ON r.known = c.id WHERE c.launch = l.id AND r.run <= ?1) AS failures \
         FROM launches l, (SELECT name AS own_name, at AS own_at FROM launches WHERE id = ?2) own \
         WHERE l.id IN (SELECT id FROM launches p WHERE p.name = own_name AND p.run <= ?1 AND (p.at < own_at OR (p.at = own_at AND p.id <= ?2)) \
         ORDER BY p.at DESC, p.id DESC LIMIT ?3) \
         OR l.id IN ({}) OR l.id IN ({}) ORDER BY at, l.id",
        shared("case_causes", "rca"),
        shared("case_symptoms", "symptom"),
    );
    let mut rows = conn.prepare_cached(&sql)?;
    let launches = rows.query_map(params![run, own, LAUNCHES], |row| {
        let launch = PastLaunch {
            id: row.get("external")?,
            name: row.get("name")?,
            number: row.get("number")?,
            version: row.get("version")?,
            at: Timestamp::from_millis(row.get("at")?),
            failures: usize::try_from(row.get::<_, i64>("failures")?).unwrap_or_default(),
        };
        Ok((row.get("id")?, launch))
    })?;
    Ok(launches.collect::<Result<_, _>>()?)
}

/// Test and category of a symptom.
fn described(conn: &Connection, id: i64) -> Result<(String, String), StoreError> {
    let sql = "SELECT test, category FROM symptom_revisions WHERE symptom = ?1 ORDER BY rc, stamp DESC, id DESC LIMIT 1";
    Ok(conn.prepare_cached(sql)?.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::KnownHistory;
    use crate::fixture::{Backend, StoreFixture, at, effects, launch, rca, symptom};
    use asterisk_base::model::{Effect, Launch};
    use asterisk_walk::Journal;
    use rstest::rstest;

    fn nightly(day: i64) -> Launch {
        let mut launch = launch(2);
        launch.run_id = format!("l{day}");
        launch.started_at = Some(at(day * 86_400));
        launch.attributes.insert("version", format!("3.{day}"));
        launch
    }

    /// The failures: launch, case, own or not, root causes, symptoms.
    fn summary(history: &KnownHistory) -> Vec<String> {
        let case = |case: &crate::PastCase| {
            format!(
                "{} {} {} {:?} {:?}",
                case.launch,
                case.case,
                if case.own { "own" } else { "other" },
                case.rcas,
                case.symptoms
            )
        };
        history.cases.iter().map(case).collect()
    }

    #[rstest]
    fn history_is_the_knowledge_at_the_start_of_the_run(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let first = fixture.begin("first", &nightly(1));
        let link = Effect::LinkSymptomRca { symptom: 1, rca: 9, confidence: 0.5 };
        first.commit(effects("c1", vec![symptom(1, "t", "e"), rca(9, "m"), link])).unwrap();
        first.commit(effects("c2", vec![symptom(2, "u", "f")])).unwrap();
        let second = fixture.begin("second", &nightly(2));
        second
            .commit(effects("c1", vec![Effect::LinkSymptom { id: 1, name: None }, Effect::LinkRca { id: 9, name: None }]))
            .unwrap();
        let before = fixture.store.history("second").unwrap();
        assert_eq!(
            before.launches.iter().map(|launch| (launch.version.as_str(), launch.failures)).collect::<Vec<_>>(),
            [("3.1", 2), ("3.2", 2)]
        );
        assert_eq!(before.current, 1);
        let expected = ["0 c1 other [9] [1]", "0 c2 other [] [2]", "1 c1 own [9] [1]"];
        assert_eq!(summary(&before), expected);
        assert_eq!((before.rcas[&9].title.as_str(), before.symptoms[&2].1.as_str()), ("title of 9", "timeout"));
        // Later facts change nothing: another launch, and a late statement of the earlier run.
        first.commit(effects("c2", vec![Effect::LinkRca { id: 9, name: None }])).unwrap();
        let third = fixture.begin("third", &nightly(3));
        let resolved = Effect::UpdateRca { id: 9, message: None, defect_type: None, status: Some("resolved".into()) };
        third.commit(effects("c1", vec![symptom(1, "t", "e"), Effect::LinkRca { id: 9, name: None }, resolved])).unwrap();
        assert_eq!(fixture.store.history("second").unwrap(), before);
        assert_eq!(fixture.store.history("third").unwrap().launches.len(), 3);
        assert!(fixture.store.history("nobody").is_err());
    }

    #[rstest]
    fn a_launch_of_another_name_counts_where_it_shares_a_cause(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        for (run, name, symptom_of) in [("a", "other", 1), ("b", "unrelated", 2), ("c", "mine", 1)] {
            let mut launch = nightly(1);
            launch.name = name.into();
            fixture.begin(run, &launch).commit(effects("c1", vec![symptom(symptom_of, &format!("t{symptom_of}"), "e")])).unwrap();
        }
        let history = fixture.store.history("c").unwrap();
        assert_eq!(history.launches.iter().map(|launch| launch.name.as_str()).collect::<Vec<_>>(), ["other", "mine"]);
        assert!(fixture.store.history("a").unwrap().launches.len() == 1);
    }
}
