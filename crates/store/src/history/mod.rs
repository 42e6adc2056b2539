//! Knowledge across runs for reports and people: symptoms and root causes with their occurrences.

mod launches;
mod rcas;
mod symptoms;

use super::error::StoreError;
use crate::sql::Connection;
use asterisk_base::clock::Timestamp;
use rusqlite::ToSql;
use rusqlite::types::FromSql;
use serde::Serialize;

pub use launches::{KnownHistory, PastCase, PastLaunch, RowIds};
pub use rcas::{RcaFilter, RcaRow, SeenCase, SymptomOf};
pub use symptoms::{Dormancy, RcaOf, SymptomFilter, SymptomRow, SymptomStatus};

/// Where and when something occurred. A failure counts once, however often its launch was analysed; the age of a launch is that of its
/// source, or else of its first analysis.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Occurrences {
    /// Number of failures (cases of launches).
    pub occurrences: u64,
    /// Number of launches.
    pub launches: u64,
    /// Number of runs.
    pub runs: u64,
    /// Versions under test, in the order of their first launches; launches without a version add none.
    pub versions: Vec<String>,
    /// Start of the first launch.
    pub first_seen: Timestamp,
    /// Start of the latest launch.
    pub last_seen: Timestamp,
}

/// The first column of all rows.
fn column<T: FromSql>(conn: &Connection, sql: &str, params: &[&dyn ToSql]) -> Result<Vec<T>, StoreError> {
    let mut rows = conn.prepare_cached(sql)?;
    Ok(rows.query_map(params, |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// A list of ids as JSON text for `json_each`; `None` for no list.
fn ids_json(ids: Option<&[i64]>) -> Option<String> {
    ids.map(|ids| serde_json::Value::from(ids.to_vec()).to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::Store;
    use crate::fixture::{Backend, StoreFixture, at, effects, launch, rca, review, symptom};
    use asterisk_base::model::{Effect, Launch};
    use asterisk_walk::Journal;
    use rstest::rstest;

    const DAY: i64 = 86_400;

    fn nightly(day: i64, version: &str) -> Launch {
        let mut launch = launch(2);
        launch.run_id = format!("l{day}");
        launch.started_at = Some(at(day * DAY));
        launch.attributes.insert("version", version);
        launch
    }

    /// Three nights: symptom 1 with root cause 9 in the first two, symptom 2 in the last two; one run each, but the first night is analysed
    /// twice.
    fn nights(backend: Backend) -> StoreFixture {
        let fixture = StoreFixture::on(backend);
        let link = Effect::LinkSymptomRca { symptom: 1, rca: 9, confidence: 0.5 };
        let first = fixture.begin("first", &nightly(1, "3.1"));
        first.commit(effects("c1", vec![symptom(1, "t", "e"), rca(9, "m"), link.clone()])).unwrap();
        let seen =
            vec![Effect::LinkSymptom { id: 1, name: None }, Effect::MarkSeen { id: 1 }, Effect::LinkRca { id: 9, name: None }];
        let again = fixture.begin("again", &nightly(1, "3.1"));
        again.commit(effects("c1", seen.clone())).unwrap();
        let second = fixture.begin("second", &nightly(2, "3.2"));
        second.commit(effects("c1", seen.clone())).unwrap();
        second.commit(effects("c2", vec![symptom(2, "u", "f"), Effect::LinkRca { id: 9, name: None }])).unwrap();
        let third = fixture.begin("third", &nightly(3, ""));
        third.commit(effects("c1", vec![Effect::LinkSymptom { id: 2, name: None }, Effect::MarkSeen { id: 2 }])).unwrap();
        fixture
    }

    fn rows(store: &Store, dormancy: Dormancy, now: i64) -> Vec<SymptomRow> {
        let filter = SymptomFilter { ids: None, run: None, status: None, limit: 10, now: at(now * DAY), dormancy };
        store.symptoms(&filter).unwrap()
    }

    #[rstest]
    fn a_root_cause_lists_its_launches_versions_and_cases(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = nights(backend);
        let rows = fixture.store.rcas(&RcaFilter::default()).unwrap();
        let [row] = rows.as_slice() else { panic!("{rows:?}") };
        assert_eq!((row.rca.id, row.rca.status.as_str(), row.created_by.as_str()), (9, "open", "first"));
        let seen = Occurrences {
            occurrences: 3,
            launches: 2,
            runs: 3,
            versions: vec!["3.1".into(), "3.2".into()],
            first_seen: at(DAY),
            last_seen: at(2 * DAY),
        };
        assert_eq!(row.seen, seen);
        let cases: Vec<_> = row.cases.iter().map(|case| (case.run.as_str(), case.version.as_str(), case.test.as_str())).collect();
        assert_eq!(
            cases,
            [("second", "3.2", "test number 1"), ("second", "3.2", "test number 2"), ("again", "3.1", "test number 1")]
        );
        assert_eq!(row.symptoms, [SymptomOf { id: 1, confidence: 0.5, overturned_by: None }]);
        let json = serde_json::to_value(row).unwrap();
        assert_eq!((&json["id"], &json["occurrences"], &json["title"]), (&9.into(), &3.into(), &"title of 9".into()));
    }

    #[rstest]
    fn root_causes_are_chosen_by_id_run_status_and_version_and_bounded(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = nights(backend);
        let third = fixture.begin("fourth", &nightly(4, "3.4"));
        third.commit(effects("c1", vec![rca(10, "other")])).unwrap();
        let ids = |filter: RcaFilter| fixture.store.rcas(&filter).unwrap().iter().map(|row| row.rca.id).collect::<Vec<_>>();
        assert_eq!(ids(RcaFilter::default()), [10, 9], "seen last first");
        assert_eq!(ids(RcaFilter { ids: Some(vec![9, 11]), ..RcaFilter::default() }), [9]);
        assert_eq!(ids(RcaFilter { run: Some("again".into()), ..RcaFilter::default() }), [9]);
        assert_eq!(ids(RcaFilter { version: Some("3.4".into()), ..RcaFilter::default() }), [10]);
        assert!(ids(RcaFilter { status: Some("resolved".into()), ..RcaFilter::default() }).is_empty());
        assert_eq!(ids(RcaFilter { limit: 1, ..RcaFilter::default() }), [10]);
        let few = RcaFilter { ids: Some(vec![9]), cases: 1, ..RcaFilter::default() };
        let few = fixture.store.rcas(&few).unwrap();
        assert_eq!((few[0].cases.len(), few[0].seen.occurrences), (1, 3));
        assert!(fixture.store.rcas(&RcaFilter { run: Some("nobody".into()), ..RcaFilter::default() }).is_err());
    }

    #[rstest]
    fn a_symptom_lists_its_occurrences_and_root_causes(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = nights(backend);
        let rows = rows(&fixture.store, Dormancy::default(), 9);
        let [second, first] = rows.as_slice() else { panic!("{rows:?}") };
        assert_eq!((first.id, first.test.as_str(), first.error.as_str(), first.category.as_str()), (1, "t", "e", "timeout"));
        assert_eq!(first.rcas, [RcaOf { id: 9, confidence: 0.5 }]);
        let seen = &first.seen;
        assert_eq!(
            (seen.occurrences, seen.launches, seen.runs, first.launches_since),
            (2, 2, 3, 1),
            "a second analysis adds none"
        );
        assert_eq!(seen.versions, ["3.1", "3.2"]);
        assert_eq!((second.id, second.seen.versions.clone(), second.launches_since), (2, vec!["3.2".to_owned()], 0));
    }

    #[rstest]
    fn a_symptom_is_dormant_after_days_or_launches(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = nights(backend);
        let dormant = |dormancy, now| {
            let rows = rows(&fixture.store, dormancy, now);
            rows.into_iter().filter(|row| row.status == SymptomStatus::Dormant).map(|row| row.id).collect::<Vec<_>>()
        };
        let (days, launches) = (Some(3.0), Some(1));
        assert!(dormant(Dormancy::default(), 999).is_empty());
        assert_eq!(dormant(Dormancy { days, launches: None }, 5), [1]);
        assert_eq!(dormant(Dormancy { days, launches: None }, 6), [2, 1]);
        assert_eq!(dormant(Dormancy { days: None, launches }, 999), [1]);
    }

    /// A commit of effects decided by a reviewer.
    #[rstest]
    fn an_overturned_link_stays_until_relinked_with_equal_standing(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = nights(backend);
        let fourth = fixture.begin("fourth", &nightly(4, "3.4"));
        let linked = vec![Effect::LinkSymptom { id: 1, name: None }, Effect::LinkRca { id: 9, name: None }];
        fourth.commit(effects("c1", linked)).unwrap();
        let overturn = Effect::Overturn { symptom: 1, rca: 9, replaced: false };
        fourth.commit(review("c1", "human", vec![overturn])).unwrap();
        let first = || rows(&fixture.store, Dormancy::default(), 9).into_iter().find(|row| row.id == 1).unwrap();
        assert!(first().rcas.is_empty());
        let over = &first().overturned[0];
        assert_eq!((over.rca, over.by.as_str(), over.replaced, over.message.as_str()), (9, "human", false, "m"));
        let rca = || fixture.store.rcas(&RcaFilter::default()).unwrap().remove(0);
        assert_eq!(rca().symptoms[0].overturned_by.as_deref(), Some("human"));
        assert_eq!(rca().seen.versions, ["3.1", "3.2"], "the case of the fourth night is none of its cases");
        assert!(fixture.store.case_facts("fourth", "c1").unwrap().rcas.is_empty());
        let link = Effect::LinkSymptomRca { symptom: 1, rca: 9, confidence: 0.9 };
        fourth.commit(review("c2", "script", vec![link.clone()])).unwrap();
        assert!(first().rcas.is_empty(), "a script does not undo it");
        fourth.commit(review("c2", "human", vec![link])).unwrap();
        assert_eq!((first().rcas[0].id, first().overturned.len()), (9, 0));
    }

    #[rstest]
    fn a_root_cause_put_right_keeps_its_old_words_as_overturned_and_a_persons_word(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = nights(backend);
        let say = |message: &str| Effect::UpdateRca { id: 9, message: Some(message.into()), defect_type: None, status: None };
        let fourth = fixture.begin("fourth", &nightly(4, "3.4"));
        let overturn = Effect::Overturn { symptom: 1, rca: 9, replaced: true };
        fourth.commit(review("c1", "human", vec![overturn, say("what it really is")])).unwrap();
        fourth.commit(review("c2", "agent", vec![say("no, something else")])).unwrap();
        let row = fixture.store.rcas(&RcaFilter::default()).unwrap().remove(0);
        assert_eq!(row.rca.message, "what it really is");
        let symptom = rows(&fixture.store, Dormancy::default(), 9).remove(1);
        assert_eq!((symptom.rcas.len(), symptom.overturned[0].message.as_str(), symptom.overturned[0].replaced), (1, "m", true));
    }
}
