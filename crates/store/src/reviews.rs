//! Statements of people about root causes outside of any run.

use super::error::StoreError;
use super::knowledge::{FactScope, Rca, RcaStatusChange, rca_as_of};
use super::open::Store;
use super::step::append_statement;
use crate::sql::{OptionalExtension, params};
use serde_json::json;

impl Store {
    /// Sets the status of a root cause on behalf of a person: an event of no run, and a fact visible to runs that begin later. Returns the
    /// state before. Setting the current status again changes nothing.
    pub fn set_rca_status(&self, id: i64, status_change: &RcaStatusChange) -> Result<Rca, StoreError> {
        self.writer()?.exclusively(|conn| {
            let known = conn.query_row("SELECT 1 FROM rcas WHERE id = ?1", [id], |_| Ok(())).optional()?;
            known.ok_or_else(|| StoreError::UnknownId(format!("root cause {id}")))?;
            let before = rca_as_of(conn, id, FactScope::ALL)?;
            if before.status_change.as_ref().is_some_and(|expected| expected.status == status_change.status && status_change.message.is_empty()) {
                return Ok(before);
            }
            let body = json!({ "type": "rca_status", "rca": id, "from": before.status, "status": status_change.status, "by": status_change.by,
                "message": status_change.message });
            let stamp = append_statement(conn, status_change.at, &body.to_string())?;
            conn.prepare_cached("INSERT INTO rca_words (rca, stamp, at, status, by, message) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
                .execute(params![id, stamp, status_change.at.millis(), status_change.status, status_change.by, status_change.message])?;
            Ok(before)
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::RcaFilter;
    use crate::fixture::{Backend, StoreFixture, at, effects, launch, rca};
    use crate::packing::UnpackedText;
    use asterisk_base::model::Effect;
    use asterisk_walk::Journal;
    use rstest::rstest;

    fn status_change(status: &str, when: i64) -> RcaStatusChange {
        RcaStatusChange { status: status.into(), by: "human".into(), at: at(when), message: String::new() }
    }

    #[rstest]
    fn a_persons_status_outranks_later_runs(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let first = fixture.begin("first", &launch(1));
        first.commit(effects("c1", vec![rca(9, "m")])).unwrap();
        let before = fixture.store.set_rca_status(9, &status_change("resolved", 5)).unwrap();
        assert_eq!((before.status.as_str(), before.status_change), ("open", None));
        let later = fixture.begin("later", &launch(1));
        let reopen = Effect::UpdateRca { id: 9, message: None, defect_type: None, status: Some("open".into()) };
        later.commit(effects("c1", vec![reopen])).unwrap();
        let now = |fixture: &StoreFixture| fixture.store.rcas(&RcaFilter::default()).unwrap()[0].rca.clone();
        assert_eq!(
            (now(&fixture).status, now(&fixture).status_change),
            ("resolved".to_owned(), Some(status_change("resolved", 5)))
        );
        fixture.store.set_rca_status(9, &status_change("open", 7)).unwrap();
        assert_eq!(now(&fixture).status, "open");
    }

    #[rstest]
    fn a_persons_status_is_an_event_of_no_run(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(1));
        journal.commit(effects("c1", vec![rca(9, "m")])).unwrap();
        for _ in 0..2 {
            fixture.store.set_rca_status(9, &status_change("verified", 5)).unwrap();
        }
        let bodies = fixture.store.read(|conn| {
            let mut rows = conn.prepare("SELECT body FROM events WHERE run = 0")?;
            Ok(rows.query_map([], |row| Ok(row.get::<_, UnpackedText>(0)?.0))?.collect::<Result<Vec<_>, _>>()?)
        });
        let expected = r#"{"by":"human","from":"open","message":"","rca":9,"status":"verified","type":"rca_status"}"#;
        assert_eq!(bodies.unwrap(), [expected]);
        assert_eq!(fixture.store.all_events("r").unwrap().len(), 1);
        let unknown = fixture.store.set_rca_status(10, &status_change("open", 5));
        assert!(matches!(unknown, Err(StoreError::UnknownId(what)) if what.contains("10")));
    }
}
