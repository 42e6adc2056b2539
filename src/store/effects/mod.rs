//! Effects become facts: rows stamped with the commit that wrote them, never changed afterwards.

mod case;
mod rca;
mod symptom;

use super::error::StoreError;
use crate::model::Effect;
use rusqlite::{Connection, OptionalExtension};

/// Whose effects, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Act {
    /// The run.
    pub(super) run: i64,
    /// The case of the run.
    pub(super) case: i64,
    /// The number of the commit's last event.
    pub(super) stamp: i64,
    /// That event's time, in milliseconds.
    pub(super) at: i64,
}

/// Writes an effect, inside a transaction. Refuses ids that the store does not know.
pub(super) fn apply(conn: &Connection, act: &Act, effect: &Effect<i64>) -> Result<(), StoreError> {
    match effect {
        Effect::LinkSymptom { id, name: _ } => symptom::link(conn, act, *id),
        Effect::UpsertSymptom { id, name: _, fingerprint, test, error, category, component } => {
            let text = symptom::Text { test, error, category, component };
            symptom::upsert(conn, act, given(*id, "symptom")?, fingerprint, &text)
        }
        Effect::MarkSeen { id } => symptom::mark_seen(conn, act, *id),
        Effect::CreateTriage { category, severity, defect_type, skip_investigation, repos } => {
            let triage = case::NewTriage { category, severity, defect_type, skip_investigation: *skip_investigation, repos };
            case::create_triage(conn, act, &triage)
        }
        Effect::CreateRca { id, name: _, title, message, defect_type, component, convergence } => {
            let revision = rca::Revision {
                title: Some(title),
                message: Some(message),
                defect_type: Some(defect_type),
                component: Some(component),
                convergence: Some(*convergence),
                status: Some("open"),
            };
            rca::create(conn, act, given(*id, "root cause")?, &revision)
        }
        Effect::LinkRca { id, name: _ } => rca::link(conn, act, *id),
        Effect::LinkSymptomRca { symptom, rca, confidence } => rca::link_symptom(conn, act, *symptom, *rca, *confidence),
        Effect::UpdateRca { id, message, defect_type, status } => {
            let revision = rca::Revision {
                message: message.as_deref(),
                defect_type: defect_type.as_deref(),
                status: status.as_deref(),
                ..rca::Revision::default()
            };
            rca::update(conn, act, *id, &revision)
        }
        Effect::SetCaseStatus { status } => case::set_status(conn, act, status),
        Effect::Note { text } => case::note(conn, act, text),
    }
}

/// The id that the host must have given.
fn given(id: Option<i64>, kind: &str) -> Result<i64, StoreError> {
    id.ok_or_else(|| StoreError::Refused(format!("a {kind} is to be created without an id")))
}

/// The column that the row of an id holds, if there is such a row.
fn known<T: rusqlite::types::FromSql>(conn: &Connection, sql: &str, id: i64) -> Result<Option<T>, StoreError> {
    Ok(conn.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?)
}

/// Refuses a symptom that the store does not know.
fn expect_symptom(conn: &Connection, id: i64) -> Result<(), StoreError> {
    match known::<i64>(conn, "SELECT 1 FROM symptoms WHERE id = ?1", id)? {
        Some(_) => Ok(()),
        None => Err(StoreError::Refused(format!("the store knows no symptom {id}"))),
    }
}

/// Refuses a root cause that the store does not know.
fn expect_rca(conn: &Connection, id: i64) -> Result<(), StoreError> {
    match known::<i64>(conn, "SELECT 1 FROM rcas WHERE id = ?1", id)? {
        Some(_) => Ok(()),
        None => Err(StoreError::Refused(format!("the store knows no root cause {id}"))),
    }
}
