//! Root causes with the cases, launches and versions they occurred in.

use super::{Occurrences, column, ids_json};
use crate::error::StoreError;
use crate::knowledge::{FactScope, Rca, rca_as_of};
use crate::open::Store;
use crate::overturned::overturned_as_of;
use crate::runs::run_row;
use crate::sql::{Connection, params};
use asterisk_base::clock::Timestamp;
use serde::Serialize;

/// Status of a root cause that turned out to duplicate a known one.
const DUPLICATE: &str = "duplicate";

/// Selection of root causes, and limits on the details of each.
#[derive(Clone, Debug)]
pub struct RcaFilter {
    /// Only these ids.
    pub ids: Option<Vec<i64>>,
    /// Only those linked to a case of this run.
    pub run: Option<String>,
    /// Only those of this status. Without a status or ids, `duplicate` is excluded.
    pub status: Option<String>,
    /// Only those seen in this version.
    pub version: Option<String>,
    /// Maximum number of root causes.
    pub limit: usize,
    /// Maximum number of cases of each.
    pub cases: usize,
}

impl Default for RcaFilter {
    /// All root causes with the 20 latest cases of each.
    fn default() -> Self {
        Self { ids: None, run: None, status: None, version: None, limit: usize::MAX, cases: 20 }
    }
}

/// A root cause with its occurrences.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RcaRow {
    /// The root cause.
    #[serde(flatten)]
    pub rca: Rca,
    /// Highest confidence among its links to symptoms, 0 to 1; the convergence of its evidence if no symptom is linked.
    pub confidence: f64,
    /// Start time of the run that created it.
    pub created_at: Timestamp,
    /// Id of the run that created it.
    pub created_by: String,
    /// Occurrences.
    #[serde(flatten)]
    pub seen: Occurrences,
    /// Cases, those of the latest launches first, limited by the filter ([`Occurrences::occurrences`] counts all).
    pub cases: Vec<SeenCase>,
    /// Symptoms that it explains, the highest confidence first; overturned links come last.
    pub symptoms: Vec<SymptomOf>,
    /// For a root cause that a person closed (its status is not `open`): whether it occurred in a launch that began later.
    pub reappeared: bool,
}

/// A failure linked to a root cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeenCase {
    /// The latest run that linked it.
    pub run: String,
    /// Name of the launch.
    pub launch: String,
    /// Id of the launch in its source.
    pub launch_id: String,
    /// Number of the launch, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
    /// Start of the launch.
    pub at: Timestamp,
    /// Version under test, or empty.
    pub version: String,
    /// Id of the case in the launch.
    pub case: String,
    /// Name of the test.
    pub test: String,
}

/// A symptom linked to a root cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SymptomOf {
    /// Id of the symptom.
    pub id: i64,
    /// Confidence of the link, 0 to 1.
    pub confidence: f64,
    /// Who overturned the link, if anyone did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overturned_by: Option<String>,
}

impl Store {
    /// Root causes, the latest seen first, then by id.
    pub fn rcas(&self, filter: &RcaFilter) -> Result<Vec<RcaRow>, StoreError> {
        self.read(|conn| {
            let run = filter.run.as_deref().map(|run| run_row(conn, run)).transpose()?;
            let mut rows = conn.prepare_cached(
                "SELECT rcas.id, min(maker.name), min(maker.started_at), count(DISTINCT r.known), count(DISTINCT c.launch), count(DISTINCT r.run), \
                 coalesce(min(l.at), min(maker.started_at)), coalesce(max(l.at), min(maker.started_at)) AS last \
                 FROM rcas JOIN run_cases owner ON owner.id = rcas.rc JOIN runs maker ON maker.id = owner.run \
                 LEFT JOIN case_causes k ON k.rca = rcas.id LEFT JOIN run_cases r ON r.id = k.rc \
                 LEFT JOIN cases c ON c.id = r.known LEFT JOIN launches l ON l.id = c.launch \
                 WHERE (CAST(?1 AS TEXT) IS NULL OR rcas.id IN (SELECT value FROM json_each(?1))) \
                 AND (CAST(?2 AS BIGINT) IS NULL OR rcas.id IN (SELECT rca FROM run_cases JOIN case_causes ON rc = run_cases.id WHERE run = ?2)) \
                 AND (CAST(?3 AS TEXT) IS NULL OR rcas.id IN (SELECT rca FROM launches JOIN cases ON cases.launch = launches.id \
                 JOIN run_cases ON known = cases.id JOIN case_causes ON rc = run_cases.id WHERE version = ?3)) \
                 GROUP BY rcas.id ORDER BY last DESC, rcas.id",
            )?;
            let mut rows = rows.query(params![ids_json(filter.ids.as_deref()), run, filter.version])?;
            let mut found = Vec::new();
            while found.len() < filter.limit {
                let Some(row) = rows.next()? else { break };
                let rca = rca_as_of(conn, row.get(0)?, FactScope::ALL)?;
                let wanted = filter.status.as_ref().map_or(filter.ids.is_some() || rca.status != DUPLICATE, |status| *status == rca.status);
                if !wanted {
                    continue;
                }
                let count = |at| row.get::<_, i64>(at).map(i64::unsigned_abs);
                let seen = Occurrences {
                    occurrences: count(3)?,
                    launches: count(4)?,
                    runs: count(5)?,
                    versions: versions(conn, rca.id)?,
                    first_seen: Timestamp::from_millis(row.get(6)?),
                    last_seen: Timestamp::from_millis(row.get(7)?),
                };
                let symptoms = symptoms(conn, rca.id)?;
                found.push(RcaRow {
                    confidence: highest_confidence(&symptoms).unwrap_or(rca.convergence),
                    reappeared: rca.status_change.as_ref().is_some_and(|change| change.status != "open" && seen.last_seen > change.at),
                    created_by: row.get(1)?,
                    created_at: Timestamp::from_millis(row.get(2)?),
                    seen,
                    cases: cases(conn, rca.id, filter.cases)?,
                    symptoms,
                    rca,
                });
            }
            Ok(found)
        })
    }
}

fn versions(conn: &Connection, rca: i64) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT version FROM case_causes k JOIN run_cases r ON r.id = k.rc JOIN cases c ON c.id = r.known \
         JOIN launches l ON l.id = c.launch WHERE rca = ?1 AND version <> '' GROUP BY version ORDER BY min(l.at), version";
    column(conn, sql, &[&rca])
}

fn cases(conn: &Connection, rca: i64, limit: usize) -> Result<Vec<SeenCase>, StoreError> {
    let mut rows = conn.prepare_cached(
        "SELECT runs.name AS run, l.name AS launch, l.external, l.number, l.at, l.version, c.item, c.test \
         FROM (SELECT max(r.id) AS rc FROM case_causes k JOIN run_cases r ON r.id = k.rc WHERE rca = ?1 GROUP BY r.known) latest \
         JOIN run_cases r ON r.id = latest.rc JOIN runs ON runs.id = r.run \
         JOIN cases c ON c.id = r.known JOIN launches l ON l.id = c.launch ORDER BY l.at DESC, c.id LIMIT ?2",
    )?;
    let cases = rows.query_map(params![rca, i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
        Ok(SeenCase {
            run: row.get("run")?,
            launch: row.get("launch")?,
            launch_id: row.get("external")?,
            number: row.get("number")?,
            at: Timestamp::from_millis(row.get("at")?),
            version: row.get("version")?,
            case: row.get("item")?,
            test: row.get("test")?,
        })
    })?;
    Ok(cases.collect::<Result<_, _>>()?)
}

fn symptoms(conn: &Connection, rca: i64) -> Result<Vec<SymptomOf>, StoreError> {
    let mut rows = conn.prepare_cached(
        "SELECT symptom, confidence FROM symptom_rcas l WHERE rca = ?1 AND NOT EXISTS (SELECT 1 FROM symptom_rcas o \
         WHERE o.symptom = l.symptom AND o.rca = l.rca AND (o.human, o.rc, o.id) > (l.human, l.rc, l.id)) \
         ORDER BY human DESC, confidence DESC, symptom",
    )?;
    let found = rows.query_map([rca], |row| Ok(SymptomOf { id: row.get(0)?, confidence: row.get(1)?, overturned_by: None }))?;
    let mut found: Vec<SymptomOf> = found.collect::<Result<_, _>>()?;
    for symptom in &mut found {
        let overturned = overturned_as_of(conn, symptom.id, i64::MAX)?;
        symptom.overturned_by = overturned.into_iter().find(|over| over.rca == rca && !over.replaced).map(|over| over.by);
    }
    found.sort_by_key(|symptom| symptom.overturned_by.is_some());
    Ok(found)
}

fn highest_confidence(symptoms: &[SymptomOf]) -> Option<f64> {
    symptoms.iter().find(|symptom| symptom.overturned_by.is_none()).map(|symptom| symptom.confidence)
}
