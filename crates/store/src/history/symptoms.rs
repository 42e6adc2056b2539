//! Symptoms with their occurrences, dormancy and root causes.

use super::{Occurrences, column, ids_json};
use crate::error::StoreError;
use crate::open::Store;
use crate::overturned::{OverturnedLink, overturned_as_of};
use crate::packing::UnpackedText;
use crate::runs::run_row;
use crate::sql::{Connection, params};
use asterisk_base::clock::Timestamp;
use serde::{Deserialize, Serialize};

/// Selection of symptoms.
#[derive(Clone, Debug)]
pub struct SymptomFilter {
    /// Only these ids.
    pub ids: Option<Vec<i64>>,
    /// Only those linked to a case of this run.
    pub run: Option<String>,
    /// Only those of this status.
    pub status: Option<SymptomStatus>,
    /// Maximum number of symptoms.
    pub limit: usize,
    /// Time at which dormancy is evaluated.
    pub now: Timestamp,
    /// Dormancy thresholds.
    pub dormancy: Dormancy,
}

/// When a symptom that no longer occurs is dormant; an absent threshold is ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dormancy {
    /// Days since the symptom was last seen.
    #[serde(default)]
    pub days: Option<f64>,
    /// Later launches of the same name.
    #[serde(default)]
    pub launches: Option<u64>,
}

/// Whether a symptom still occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SymptomStatus {
    /// Seen recently.
    Active,
    /// Not seen for as long as [`Dormancy`] says.
    Dormant,
}

/// A symptom with its occurrences.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SymptomRow {
    /// Id of the symptom.
    pub id: i64,
    /// Fingerprint, which identifies the symptom.
    pub fingerprint: String,
    /// Name of the test.
    pub test: String,
    /// Error text.
    pub error: String,
    /// Category.
    pub category: String,
    /// Component, or empty.
    pub component: String,
    /// Whether it still occurs.
    pub status: SymptomStatus,
    /// Occurrences.
    #[serde(flatten)]
    pub seen: Occurrences,
    /// Number of later launches with the name of its latest launch.
    pub launches_since: u64,
    /// Its root causes, the highest confidence first.
    pub rcas: Vec<RcaOf>,
    /// Overturned root causes, the latest first.
    pub overturned: Vec<OverturnedLink>,
}

/// A root cause linked to a symptom.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RcaOf {
    /// Id of the root cause.
    pub id: i64,
    /// Confidence of the link, 0 to 1.
    pub confidence: f64,
}

impl Dormancy {
    /// Status at time `now` of a symptom last seen at `last`, with this many launches since.
    #[allow(clippy::cast_precision_loss)]
    pub fn status(&self, last: Timestamp, launches_since: u64, now: Timestamp) -> SymptomStatus {
        let long_ago = self.days.is_some_and(|days| now.seconds_since(last) >= days * 86_400.0);
        let many_since = self.launches.is_some_and(|launches| launches_since >= launches);
        if long_ago || many_since { SymptomStatus::Dormant } else { SymptomStatus::Active }
    }
}

impl Store {
    /// Symptoms, the latest seen first, then by id.
    pub fn symptoms(&self, filter: &SymptomFilter) -> Result<Vec<SymptomRow>, StoreError> {
        self.read(|conn| {
            let run = filter.run.as_deref().map(|run| run_row(conn, run)).transpose()?;
            let mut rows = conn.prepare_cached(
                "SELECT s.id, fingerprint, coalesce(max(total), 0) AS total, coalesce(max(last_at), 0) AS last, \
                 coalesce(min(first_at), 0) AS first FROM symptoms s LEFT JOIN sightings ON symptom = s.id \
                 WHERE (CAST(?1 AS TEXT) IS NULL OR s.id IN (SELECT value FROM json_each(?1))) \
                 AND (CAST(?2 AS BIGINT) IS NULL OR s.id IN (SELECT c.symptom FROM run_cases JOIN case_symptoms c ON rc = run_cases.id WHERE run = ?2)) \
                 GROUP BY s.id ORDER BY last DESC, s.id",
            )?;
            let mut rows = rows.query(params![ids_json(filter.ids.as_deref()), run])?;
            let mut found = Vec::new();
            while found.len() < filter.limit {
                let Some(row) = rows.next()? else { break };
                let id = row.get("id")?;
                let last_seen = Timestamp::from_millis(row.get("last")?);
                let launches_since = launches_since(conn, id)?;
                let status = filter.dormancy.status(last_seen, launches_since, filter.now);
                if filter.status.is_some_and(|asked| asked != status) {
                    continue;
                }
                let text = described(conn, id)?;
                let seen = Occurrences {
                    occurrences: row.get::<_, i64>("total")?.unsigned_abs(),
                    launches: count(conn, "SELECT count(*) FROM symptom_launches WHERE symptom = ?1", id)?,
                    runs: count(
                        conn,
                        "SELECT count(DISTINCT run) FROM case_symptoms JOIN run_cases ON id = rc WHERE symptom = ?1",
                        id,
                    )?,
                    versions: column(
                        conn,
                        "SELECT version FROM symptom_launches JOIN launches l ON l.id = launch \
                         WHERE symptom = ?1 AND version <> '' GROUP BY version ORDER BY min(l.at), version",
                        &[&id],
                    )?,
                    first_seen: Timestamp::from_millis(row.get("first")?),
                    last_seen,
                };
                let [test, error, category, component] = text;
                let overturned = overturned_as_of(conn, id, i64::MAX)?;
                let mut rcas = rcas(conn, id)?;
                rcas.retain(|rca| !overturned.iter().any(|over| over.rca == rca.id && !over.replaced));
                found.push(SymptomRow {
                    id,
                    fingerprint: row.get("fingerprint")?,
                    test,
                    error,
                    category,
                    component,
                    status,
                    seen,
                    launches_since,
                    rcas,
                    overturned,
                });
            }
            Ok(found)
        })
    }
}

/// The current description: test, error, category and component.
fn described(conn: &Connection, id: i64) -> Result<[String; 4], StoreError> {
    let mut rows = conn.prepare_cached(
        "SELECT test, error, category, component FROM symptom_revisions WHERE symptom = ?1 ORDER BY rc, stamp DESC, id DESC LIMIT 1",
    )?;
    Ok(rows.query_row([id], |row| Ok([row.get(0)?, row.get::<_, UnpackedText>(1)?.0, row.get(2)?, row.get(3)?]))?)
}

fn count(conn: &Connection, sql: &str, id: i64) -> Result<u64, StoreError> {
    Ok(conn.prepare_cached(sql)?.query_row([id], |row| row.get::<_, i64>(0))?.unsigned_abs())
}

fn launches_since(conn: &Connection, id: i64) -> Result<u64, StoreError> {
    let sql = "SELECT count(*) FROM (SELECT l.name, l.at FROM symptom_launches JOIN launches l ON l.id = launch WHERE symptom = ?1 \
         ORDER BY l.at DESC, l.id DESC LIMIT 1) latest JOIN launches ON launches.name = latest.name AND launches.at > latest.at";
    count(conn, sql, id)
}

fn rcas(conn: &Connection, symptom: i64) -> Result<Vec<RcaOf>, StoreError> {
    let mut rows = conn.prepare_cached(
        "SELECT rca, confidence FROM symptom_rcas l WHERE symptom = ?1 AND NOT EXISTS (SELECT 1 FROM symptom_rcas o \
         WHERE o.symptom = l.symptom AND o.rca = l.rca AND (o.human, o.rc, o.id) > (l.human, l.rc, l.id)) \
         ORDER BY human DESC, confidence DESC, rca",
    )?;
    let found = rows.query_map([symptom], |row| Ok(RcaOf { id: row.get(0)?, confidence: row.get(1)? }))?;
    Ok(found.collect::<Result<_, _>>()?)
}
