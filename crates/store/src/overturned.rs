//! Revoked links and statements about symptoms.

use super::error::StoreError;
use super::knowledge::{FactScope, rca_as_of};
use crate::sql::{Connection, params};
use serde::Serialize;

/// Maximum number returned for a symptom, the latest first.
const MAX_RESULTS: i64 = 10;

/// A revoked link from a symptom to a root cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OverturnedLink {
    /// Id of the root cause.
    pub rca: i64,
    /// Who overturned it: `human`, `agent`, ...
    pub by: String,
    /// Whether the root cause was corrected and is described here as it was before.
    pub replaced: bool,
    /// Its title at that time.
    pub title: String,
    /// Its text at that time.
    pub message: String,
    /// Its defect type at that time.
    pub defect_type: String,
}

/// Overturned links of a symptom according to the facts up to a stamp, the latest first. An overturned link stays so until someone of the
/// same standing links the symptom to the cause again; earlier descriptions of a corrected cause always stay.
pub(super) fn overturned_as_of(conn: &Connection, symptom: i64, stamp: i64) -> Result<Vec<OverturnedLink>, StoreError> {
    let mut rows = conn.prepare_cached(
        "SELECT rca, by, title, message, defect_type FROM overturned o WHERE symptom = ?1 AND stamp <= ?2 \
         AND (message IS NOT NULL OR NOT EXISTS (SELECT 1 FROM symptom_rcas l WHERE l.symptom = o.symptom AND l.rca = o.rca \
         AND l.stamp > o.stamp AND l.stamp <= ?2 AND (l.human <> 0 OR o.by <> 'human'))) \
         ORDER BY id DESC LIMIT ?3",
    )?;
    let mut rows = rows.query(params![symptom, stamp, MAX_RESULTS])?;
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
