//! `memory.recall`: the memories of goals like this one, and of the tools.

use super::ActiveQuery;
use crate::error::StoreError;
use crate::megrams::{COLUMNS, Megram, megram};
use crate::sql::params;
use asterisk_walk::QuerySubject;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Maximum number of memories returned of a space, the newest.
const MAX_OF_SPACE: i64 = 50;
/// Maximum number of spaces that are looked into.
const MAX_SPACES: usize = 32;

/// Answers `memory.recall`, newest first. Memories that runs before this one wrote, and those distilled from them.
pub(super) fn answer(needs: &ActiveQuery<'_>, about: &QuerySubject<'_>) -> Result<Value, StoreError> {
    let artifacts = about.prior.as_object().into_iter().flat_map(|prior| prior.values());
    let spaces: BTreeSet<&str> = artifacts
        .flat_map(|artifact| artifact["spaces"].as_array().into_iter().flatten())
        .filter_map(Value::as_str)
        .take(MAX_SPACES)
        .collect();
    let found = needs.read_store(|conn, snapshot| {
        let now: i64 = conn.query_row("SELECT started_at FROM runs WHERE id = ?1", [snapshot.run], |row| row.get(0))?;
        // Runs that began before a dream see neither what it distilled nor what that replaces.
        let columns = COLUMNS.replace("m.consolidated", "m.consolidated BETWEEN 1 AND ?2");
        let sql = format!("{columns} WHERE m.space = ?1 AND m.stamp <= ?2 ORDER BY m.created_at DESC, m.id LIMIT ?3");
        let mut rows = conn.prepare_cached(&sql)?;
        let mut found: Vec<Megram> = Vec::new();
        for space in spaces {
            let of_space = rows.query_map(params![space, snapshot.start, MAX_OF_SPACE], |row| megram(row, now))?;
            found.extend(of_space.collect::<Result<Vec<_>, _>>()?);
        }
        found.sort_by(|a, b| b.created_at.cmp(&a.created_at).then(a.id.cmp(&b.id)));
        Ok(found)
    })?;
    Ok(json!(found))
}
