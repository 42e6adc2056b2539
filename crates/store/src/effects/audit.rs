//! Anchors of the auditor's log.

use super::EffectContext;
use crate::error::StoreError;
use crate::sql::{Connection, params};

/// Stores the head of the log with the commit that it was written for.
pub(super) fn anchor(
    conn: &Connection,
    context: &EffectContext<'_>,
    (entries, head, log): (u64, &str, &str),
) -> Result<(), StoreError> {
    let entries = i64::try_from(entries).unwrap_or(i64::MAX);
    conn.prepare_cached("INSERT INTO audit_anchors (run, stamp, entries, head, log) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .send(params![context.run, context.stamp, entries, head, log])?;
    Ok(())
}
