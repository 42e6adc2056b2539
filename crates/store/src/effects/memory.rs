//! Memories of the goal loop, as steps write them.

use super::EffectContext;
use crate::error::StoreError;
use crate::sql::{Connection, params};

/// A memory as a step writes it.
pub(super) struct NewMegram<'a> {
    pub(super) id: i64,
    pub(super) level: &'a str,
    pub(super) space: &'a str,
    pub(super) entity: &'a str,
    pub(super) content: &'a str,
    pub(super) state: &'a str,
    pub(super) weights: (f64, f64, f64),
}

/// Writes a memory of a step of a case.
pub(super) fn remember(conn: &Connection, context: &EffectContext<'_>, new: &NewMegram<'_>) -> Result<(), StoreError> {
    let NewMegram { id, level, space, entity, content, state, weights: (f, sigma, k) } = *new;
    conn.prepare_cached(
        "INSERT INTO megrams (id, rc, stamp, path, created_at, level, space, entity, content, state, f, sigma, k, consolidated, sources) \
         VALUES (?1, ?2, ?3, (SELECT path FROM events WHERE seq = ?3), (SELECT at FROM events WHERE seq = ?3), ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0, '[]') ON CONFLICT DO NOTHING",
    )?
    .send(params![id, context.case, context.stamp, level, space, entity, content, state, f, sigma, k])?;
    Ok(())
}

/// Notes that memories were recalled.
pub(super) fn recalled(conn: &Connection, context: &EffectContext<'_>, ids: &[i64]) -> Result<(), StoreError> {
    let mut update =
        conn.prepare_cached("UPDATE megrams SET recalled_at = (SELECT at FROM events WHERE seq = ?2) WHERE id = ?1")?;
    for id in ids {
        update.send(params![id, context.stamp])?;
    }
    Ok(())
}
