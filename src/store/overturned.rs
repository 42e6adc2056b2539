//! What was said of symptoms and taken back.

use super::error::StoreError;
use super::knowledge::{FactScope, rca_as_of};
use rusqlite::{Connection, params};
use serde::Serialize;

/// How many are told of a symptom at most, the latest first.
const MOST: i64 = 10;

/// A cause that a symptom does not come of, though it was said so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OverturnedLink {
    /// The root cause.
    pub rca: i64,
    /// Who overturned it: `human`, `agent`, ...
    pub by: String,
    /// Whether the root cause was put right, and is said here as it was before.
    pub replaced: bool,
    /// Its title then.
    pub title: String,
    /// Its text then.
    pub message: String,
    /// Its defect code then.
    pub defect_type: String,
}

/// What was overturned of a symptom, as the facts up to a stamp have it, the latest first. What a root cause was overturned
/// for stands until somebody of the same standing links the symptom to it again; old words of one that was put right stand.
pub(super) fn overturned_as_of(conn: &Connection, symptom: i64, stamp: i64) -> Result<Vec<OverturnedLink>, StoreError> {
    let mut rows = conn.prepare_cached(
        "SELECT rca, by, title, message, defect_type FROM overturned o WHERE symptom = ?1 AND stamp <= ?2 \
         AND (message IS NOT NULL OR NOT EXISTS (SELECT 1 FROM symptom_rcas l WHERE l.symptom = o.symptom AND l.rca = o.rca \
         AND l.stamp > o.stamp AND l.stamp <= ?2 AND l.human >= (o.by = 'human'))) \
         ORDER BY id DESC LIMIT ?3",
    )?;
    let mut rows = rows.query(params![symptom, stamp, MOST])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (rca, by): (i64, String) = (row.get("rca")?, row.get("by")?);
        let message: Option<String> = row.get("message")?;
        let replaced = message.is_some();
        let (title, message, defect_type) = match message {
            Some(message) => (
                row.get::<_, Option<String>>("title")?.unwrap_or_default(),
                message,
                row.get::<_, Option<String>>("defect_type")?.unwrap_or_default(),
            ),
            None => {
                let rca = rca_as_of(conn, rca, FactScope::until(stamp))?;
                (rca.title, rca.message, rca.defect_type)
            }
        };
        found.push(OverturnedLink { rca, by, replaced, title, message, defect_type });
    }
    Ok(found)
}
