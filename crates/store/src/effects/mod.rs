//! Writes effects as facts: rows stamped with the commit that wrote them, never changed afterwards.

mod audit;
mod case;
mod memory;
mod rca;
mod symptom;

use super::error::StoreError;
use crate::sql::{Connection, OptionalExtension};
use asterisk_base::model::Effect;

/// The commit that effects belong to.
#[derive(Clone, Copy, Debug)]
pub(super) struct EffectContext<'a> {
    pub(super) run: i64,
    pub(super) case: i64,
    /// Number of the commit's last event.
    pub(super) stamp: i64,
    /// Answerer that decided the effects: `script`, `stub`, `agent`, `human`.
    pub(super) by: &'a str,
}

/// Applies an effect inside a transaction. An effect on an unknown symptom or root cause is skipped with a note on the case: an answerer
/// may have invented the id, which does not justify losing the step.
pub(super) fn apply(conn: &Connection, context: &EffectContext<'_>, effect: &Effect<i64>) -> Result<(), StoreError> {
    match write(conn, context, effect) {
        Err(error @ StoreError::UnknownId(_)) => case::note(conn, context, &format!("an effect was left out: {error}")),
        other => other,
    }
}

/// Writes the rows of an effect, all or none.
fn write(conn: &Connection, context: &EffectContext<'_>, effect: &Effect<i64>) -> Result<(), StoreError> {
    match effect {
        Effect::LinkSymptom { id, name: _ } => symptom::link(conn, context, *id),
        Effect::UpsertSymptom { id, name: _, fingerprint, test, error, category, component } => {
            let text = symptom::SymptomText { test, error, category, component };
            symptom::upsert(conn, context, assigned_id(*id, "symptom")?, fingerprint, &text)
        }
        Effect::MarkSeen { id } => symptom::mark_seen(conn, context, *id),
        Effect::CreateTriage { category, severity, defect_type, skip_investigation, repos } => {
            let triage = case::NewTriage { category, severity, defect_type, skip_investigation: *skip_investigation, repos };
            case::create_triage(conn, context, &triage)
        }
        Effect::CreateRca { id, name: _, title, message, defect_type, component, convergence, root, common } => {
            let revision = rca::RcaRevision {
                title: Some(title),
                message: Some(message),
                defect_type: Some(defect_type),
                component: Some(component),
                convergence: Some(*convergence),
                status: Some("open"),
            };
            let id = assigned_id(*id, "root cause")?;
            rca::create(conn, context, id, &revision, *common)?;
            rca::set_root(conn, context, id, root)
        }
        Effect::LinkRca { id, name: _ } => rca::link(conn, context, *id),
        Effect::LinkSymptomRca { symptom, rca, confidence } => rca::link_symptom(conn, context, *symptom, *rca, *confidence),
        Effect::Overturn { symptom, rca, replaced } => rca::overturn(conn, context, *symptom, *rca, *replaced),
        Effect::UpdateRca { id, message, defect_type, status } => {
            let revision = rca::RcaRevision {
                message: message.as_deref(),
                defect_type: defect_type.as_deref(),
                status: status.as_deref(),
                ..rca::RcaRevision::default()
            };
            rca::update(conn, context, *id, &revision)
        }
        Effect::SetCaseStatus { status } => case::set_status(conn, context, status),
        Effect::Note { text } => case::note(conn, context, text),
        Effect::Remember { id, level, space, entity, content, state, f, sigma, k } => {
            let id = assigned_id(*id, "memory")?;
            let new = memory::NewMegram { id, level, space, entity, content, state, weights: (*f, *sigma, *k) };
            memory::remember(conn, context, &new)
        }
        Effect::Anchor { entries, head, log } => audit::anchor(conn, context, (*entries, head, log)),
        Effect::Recalled { ids } => memory::recalled(conn, context, ids),
    }
}

impl EffectContext<'_> {
    fn is_human(&self) -> bool {
        self.by == "human"
    }
}

/// The id of an effect; the host assigns one before the commit.
fn assigned_id(id: Option<i64>, kind: &str) -> Result<i64, StoreError> {
    id.ok_or_else(|| StoreError::Refused(format!("a {kind} cannot be created without an id")))
}

/// Reads a column of the row with an id, if there is such a row.
fn column_of<T: rusqlite::types::FromSql>(conn: &Connection, sql: &str, id: i64) -> Result<Option<T>, StoreError> {
    Ok(conn.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?)
}

/// Fails if the symptom is unknown.
fn expect_symptom(conn: &Connection, id: i64) -> Result<(), StoreError> {
    match column_of::<i64>(conn, "SELECT 1 FROM symptoms WHERE id = ?1", id)? {
        Some(_) => Ok(()),
        None => Err(StoreError::UnknownId(format!("symptom {id}"))),
    }
}

/// Fails if the root cause is unknown.
fn expect_rca(conn: &Connection, id: i64) -> Result<(), StoreError> {
    match column_of::<i64>(conn, "SELECT 1 FROM rcas WHERE id = ?1", id)? {
        Some(_) => Ok(()),
        None => Err(StoreError::UnknownId(format!("root cause {id}"))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::fixture::{Backend, StoreFixture, effects, launch, rca, symptom};
    use crate::packing::UnpackedText;
    use crate::{RunJournal, Store};
    use asterisk_walk::{Journal, JournalError};
    use rstest::rstest;

    fn refused(journal: &RunJournal, case: &str, effect: Effect<i64>) -> String {
        match journal.commit(effects(case, vec![effect])) {
            Err(JournalError::Refused(why)) => why,
            other => panic!("not refused: {other:?}"),
        }
    }

    /// The rows of a query, each as text.
    fn rows(store: &Store, sql: &str) -> Vec<String> {
        let read = |conn: &Connection| {
            let mut rows = conn.prepare(sql)?;
            Ok(rows.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
        };
        store.read(read).unwrap()
    }

    #[rstest]
    fn a_case_keeps_its_latest_triage_and_status_and_all_remarks(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(2));
        let triage = |category: &str| Effect::CreateTriage {
            category: category.into(),
            severity: "high".into(),
            defect_type: "pb".into(),
            skip_investigation: true,
            repos: vec!["a".into(), "b\"".into()],
        };
        let status = |status: &str| Effect::SetCaseStatus { status: status.into() };
        let note = |text: &str| Effect::Note { text: text.into() };
        journal.commit(effects("c1", vec![triage("crash"), status("triaged"), note("one")])).unwrap();
        journal.commit(effects("c1", vec![triage("x"), triage("timeout"), status("investigated"), note("two")])).unwrap();
        let facts = fixture.store.case_facts("r", "c1").unwrap();
        let found = facts.triage.expect("triage");
        assert_eq!(
            (found.category.as_str(), found.skip_investigation, found.repos),
            ("timeout", true, vec!["a".into(), "b\"".into()])
        );
        assert_eq!((facts.status.as_deref(), facts.notes), (Some("investigated"), vec!["one".to_owned(), "two".to_owned()]));
        assert_eq!(fixture.store.case_facts("r", "c2").unwrap(), crate::CaseFacts::default());
        let statuses = fixture.store.case_statuses("r").unwrap();
        assert_eq!(statuses.into_iter().collect::<Vec<_>>(), [("c1".to_owned(), "investigated".to_owned())]);
        assert!(fixture.store.case_facts("r", "c3").is_err());
    }

    #[rstest]
    fn a_symptom_is_one_per_fingerprint_and_seen_once_by_each_case_of_a_run(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(3));
        journal.commit(effects("c1", vec![symptom(5, "t", "e"), Effect::MarkSeen { id: 5 }])).unwrap();
        journal.commit(effects("c1", vec![symptom(5, "t", "e")])).unwrap();
        journal.commit(effects("c2", vec![Effect::LinkSymptom { id: 5, name: None }, Effect::MarkSeen { id: 5 }])).unwrap();
        journal.commit(effects("c3", vec![Effect::LinkSymptom { id: 5, name: None }])).unwrap();
        assert_eq!(rows(&fixture.store, "SELECT rc || ' ' || total FROM sightings ORDER BY stamp"), ["1 1", "2 2"]);
        assert_eq!(
            rows(&fixture.store, "SELECT recall_key FROM symptom_keys WHERE symptom = 5"),
            ["key 1"],
            "others are like it"
        );
        for case in ["c1", "c2", "c3"] {
            assert_eq!(fixture.store.case_facts("r", case).unwrap().symptoms, [5]);
        }
        let again = fixture.begin("again", &launch(1));
        again.commit(effects("c1", vec![Effect::MarkSeen { id: 5 }])).unwrap();
        assert_eq!(
            rows(&fixture.store, "SELECT CAST(max(total) AS TEXT) FROM sightings"),
            ["2"],
            "the same failures, looked at again"
        );
        let mut other = launch(1);
        other.run_id = "78".into();
        let next = fixture.begin("next", &other);
        next.commit(effects("c1", vec![Effect::MarkSeen { id: 5 }])).unwrap();
        assert_eq!(rows(&fixture.store, "SELECT CAST(max(total) AS TEXT) FROM sightings"), ["3"], "another launch counts");
    }

    #[rstest]
    fn the_first_case_in_order_describes_a_symptom_regardless_of_arrival(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        for order in [[1, 2, 3], [3, 1, 2], [2, 3, 1]] {
            let fixture = StoreFixture::on(backend);
            let journal = fixture.begin("r", &launch(3));
            for case in order {
                journal.commit(effects(&format!("c{case}"), vec![symptom(5, "t", &format!("error of {case}"))])).unwrap();
            }
            let later = fixture.begin("later", &launch(1));
            later.commit(effects("c1", vec![symptom(5, "t", "something else")])).unwrap();
            let current = "SELECT error FROM symptom_revisions ORDER BY rc, id DESC LIMIT 1";
            let error = fixture.store.read(|conn| Ok(conn.query_row(current, [], |row| row.get::<_, UnpackedText>(0))?)).unwrap();
            assert_eq!(error.0, "error of 1", "{order:?}");
        }
    }

    #[rstest]
    fn the_last_statement_about_a_root_cause_counts(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(2));
        journal.commit(effects("c1", vec![rca(9, "first")])).unwrap();
        journal.commit(effects("c1", vec![rca(9, "second")])).unwrap();
        journal.commit(effects("c2", vec![Effect::LinkRca { id: 9, name: None }])).unwrap();
        let update = Effect::UpdateRca { id: 9, message: None, defect_type: Some("au".into()), status: Some("resolved".into()) };
        journal.commit(effects("c2", vec![update])).unwrap();
        let found = fixture.store.case_facts("r", "c1").unwrap().rcas;
        assert_eq!(found, fixture.store.case_facts("r", "c2").unwrap().rcas);
        let texts = (found[0].message.as_str(), found[0].defect_type.as_str(), found[0].status.as_str());
        assert_eq!(texts, ("second", "au", "resolved"));
        assert_eq!((found[0].id, found[0].title.as_str(), found[0].component.as_str()), (9, "title of 9", "driver"));
        assert!((found[0].convergence - 0.75).abs() < f64::EPSILON);
    }

    #[rstest]
    fn statements_of_parallel_cases_count_in_case_order(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        for order in [["c2", "c3"], ["c3", "c2"]] {
            let fixture = StoreFixture::on(backend);
            let journal = fixture.begin("r", &launch(3));
            journal.commit(effects("c3", vec![rca(9, "owner's")])).unwrap();
            for case in order {
                let message = Some(format!("of {case}"));
                let update = Effect::UpdateRca { id: 9, message, defect_type: None, status: None };
                journal.commit(effects(case, vec![update])).unwrap();
            }
            let found = fixture.store.case_facts("r", "c3").unwrap().rcas;
            assert_eq!(found[0].message, "of c2", "the owner's own words come first: {order:?}");
        }
    }

    #[rstest]
    fn symptoms_are_linked_to_root_causes(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(1));
        let link = |confidence| Effect::LinkSymptomRca { symptom: 5, rca: 9, confidence };
        journal.commit(effects("c1", vec![symptom(5, "t", "e"), rca(9, "m"), link(0.5), link(0.75)])).unwrap();
        assert_eq!(rows(&fixture.store, "SELECT CAST(confidence AS TEXT) FROM symptom_rcas ORDER BY id DESC LIMIT 1"), ["0.75"]);
    }

    #[rstest]
    fn an_effect_about_an_unknown_id_is_left_out_with_a_note(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(2));
        journal.commit(effects("c1", vec![symptom(5, "t", "e"), rca(9, "m")])).unwrap();
        let made_up = [
            (Effect::LinkSymptom { id: 1, name: None }, "unknown symptom 1"),
            (Effect::MarkSeen { id: 2 }, "unknown symptom 2"),
            (Effect::LinkRca { id: 3, name: None }, "unknown root cause 3"),
            (Effect::LinkSymptomRca { symptom: 5, rca: 4, confidence: 0.1 }, "unknown root cause 4"),
            (Effect::LinkSymptomRca { symptom: 4, rca: 9, confidence: 0.1 }, "unknown symptom 4"),
            (Effect::UpdateRca { id: 6, message: None, defect_type: None, status: None }, "unknown root cause 6"),
        ];
        let whys: Vec<&str> = made_up.iter().map(|(_, why)| *why).collect();
        journal.commit(effects("c2", made_up.into_iter().map(|(effect, _)| effect).collect())).unwrap();
        let facts = fixture.store.case_facts("r", "c2").unwrap();
        assert_eq!(facts.notes.len(), whys.len());
        assert!(facts.notes.iter().zip(whys).all(|(note, why)| note.contains(why)), "{:?}", facts.notes);
        assert!(facts.symptoms.is_empty() && facts.rcas.is_empty());
    }

    #[rstest]
    fn contradictions_are_refused_by_name(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(2));
        journal.commit(effects("c1", vec![symptom(5, "t", "e"), rca(9, "m")])).unwrap();
        let mut other_id = symptom(5, "t", "e");
        let mut no_id = symptom(5, "t", "e");
        let mut other_print = symptom(5, "t", "e");
        for (effect, new) in [(&mut other_id, Some(6)), (&mut no_id, None)] {
            if let Effect::UpsertSymptom { id, .. } = effect {
                *id = new;
            }
        }
        if let Effect::UpsertSymptom { fingerprint, .. } = &mut other_print {
            *fingerprint = "another".into();
        }
        for (effect, why) in [
            (rca(9, "mine now"), "belongs to another case"),
            (other_id, "belongs to symptom 5 already, not to 6"),
            (no_id, "without an id"),
            (other_print, "another fingerprint already, `f5`"),
        ] {
            let found = refused(&journal, "c2", effect);
            assert!(found.contains(why), "{found}");
        }
        assert_eq!(fixture.store.events("r", "c2").unwrap().len(), 0);
    }
}
