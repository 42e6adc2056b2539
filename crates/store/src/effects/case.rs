//! Effects on the case itself: triage, status, notes.

use super::EffectContext;
use crate::error::StoreError;
use crate::sql::{Connection, params};

#[derive(Debug)]
pub(super) struct NewTriage<'a> {
    pub(super) category: &'a str,
    pub(super) severity: &'a str,
    pub(super) defect_type: &'a str,
    pub(super) skip_investigation: bool,
    pub(super) repos: &'a [String],
}

/// Records a triage of the case; the latest counts.
pub(super) fn create_triage(conn: &Connection, context: &EffectContext<'_>, triage: &NewTriage<'_>) -> Result<(), StoreError> {
    let NewTriage { category, severity, defect_type, skip_investigation, repos } = triage;
    let repos = serde_json::Value::from(repos.to_vec()).to_string();
    conn.prepare_cached(
        "INSERT INTO triages (rc, stamp, category, severity, defect_type, skip_investigation, repos) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .send(params![context.case, context.stamp, category, severity, defect_type, skip_investigation, repos])?;
    Ok(())
}

/// Sets the status of the case; the latest counts.
pub(super) fn set_status(conn: &Connection, context: &EffectContext<'_>, status: &str) -> Result<(), StoreError> {
    conn.prepare_cached("INSERT INTO case_statuses (rc, stamp, status) VALUES (?1, ?2, ?3)")?.send(params![
        context.case,
        context.stamp,
        status
    ])?;
    Ok(())
}

/// Adds a note to the case.
pub(super) fn note(conn: &Connection, context: &EffectContext<'_>, text: &str) -> Result<(), StoreError> {
    conn.prepare_cached("INSERT INTO notes (rc, stamp, text) VALUES (?1, ?2, ?3)")?.send(params![
        context.case,
        context.stamp,
        text
    ])?;
    Ok(())
}
