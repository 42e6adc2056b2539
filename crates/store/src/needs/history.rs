//! Launches in which a symptom or a root cause was seen before the run, and their distance from the current launch.

use super::StoreSnapshot;
use crate::error::StoreError;
use crate::sql::{Connection, params};
use asterisk_base::clock::Timestamp;
use serde_json::{Map, Value, json};

/// Maximum number of launches, the latest first; older ones are ignored.
const LAUNCHES: i64 = 1000;
/// Maximum number of versions returned, the latest first.
const VERSIONS: usize = 20;

/// The launch of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnLaunch {
    pub(super) id: i64,
    pub(super) at: i64,
    pub(super) name: String,
}

/// The launch of the run.
pub(super) fn own_launch(conn: &Connection, snapshot: StoreSnapshot) -> Result<OwnLaunch, StoreError> {
    let mut own = conn.prepare_cached(
        "SELECT l.id, l.at, l.name FROM run_cases r JOIN cases c ON c.id = r.known JOIN launches l ON l.id = c.launch WHERE r.id = ?1",
    )?;
    Ok(own.query_row([snapshot.first], |row| Ok(OwnLaunch { id: row.get(0)?, at: row.get(1)?, name: row.get(2)? }))?)
}

/// A launch in which it was seen.
pub(super) struct PastSighting {
    launch: i64,
    at: i64,
    version: String,
}

/// The launches with a symptom, latest first. Facts of the run itself do not count.
pub(super) fn of_symptom(conn: &Connection, snapshot: StoreSnapshot, symptom: i64) -> Result<Vec<PastSighting>, StoreError> {
    let sql = "SELECT l.id, l.at, l.version FROM symptom_launches s JOIN launches l ON l.id = s.launch \
         WHERE symptom = ?1 AND s.stamp <= ?2 ORDER BY l.at DESC, l.id DESC LIMIT ?3";
    sightings(conn, sql, symptom, snapshot.start)
}

/// Like [`of_symptom`], for a root cause.
pub(super) fn of_rca(conn: &Connection, snapshot: StoreSnapshot, rca: i64) -> Result<Vec<PastSighting>, StoreError> {
    let sql = "SELECT DISTINCT l.id, l.at, l.version FROM case_causes k JOIN run_cases r ON r.id = k.rc \
         JOIN cases c ON c.id = r.known JOIN launches l ON l.id = c.launch \
         WHERE k.rca = ?1 AND k.stamp <= ?2 ORDER BY l.at DESC, l.id DESC LIMIT ?3";
    sightings(conn, sql, rca, snapshot.start)
}

fn sightings(conn: &Connection, sql: &str, id: i64, stamp: i64) -> Result<Vec<PastSighting>, StoreError> {
    let mut rows = conn.prepare_cached(sql)?;
    let sightings = rows.query_map(params![id, stamp, LAUNCHES], |row| {
        Ok(PastSighting { launch: row.get(0)?, at: row.get(1)?, version: row.get(2)? })
    })?;
    Ok(sightings.collect::<Result<_, _>>()?)
}

/// `launches` and `versions` of what was seen in these launches, and `earlier`: its occurrences in launches that began before the current one
/// (`{launches, first_seen, last_seen, days, launches_between}`), or null.
pub(super) fn to_fields(
    conn: &Connection,
    snapshot: StoreSnapshot,
    here: &OwnLaunch,
    sightings: &[PastSighting],
) -> Result<Map<String, Value>, StoreError> {
    let mut versions: Vec<&str> = Vec::new();
    for night in sightings {
        if !night.version.is_empty() && !versions.contains(&night.version.as_str()) && versions.len() < VERSIONS {
            versions.push(&night.version);
        }
    }
    versions.reverse();
    let mut earlier = sightings.iter().filter(|night| night.launch != here.id && night.at < here.at);
    let earlier = match (earlier.next(), earlier.clone().next_back(), earlier.count()) {
        (None, ..) => Value::Null,
        (Some(last), first, more) => {
            let mut between = conn.prepare_cached(
                "SELECT count(*) FROM launches WHERE name = ?1 AND at > ?2 AND at < ?3 AND run < ?4 AND id <> ?5",
            )?;
            let inputs = params![here.name, last.at, here.at, snapshot.run, here.id];
            let between: i64 = between.query_row(inputs, |row| row.get(0))?;
            let (now, at) = (Timestamp::from_millis(here.at), Timestamp::from_millis(last.at));
            json!({
                "launches": more + 1,
                "first_seen": Timestamp::from_millis(first.map_or(last.at, |first| first.at)),
                "last_seen": at,
                "days": (now.seconds_since(at) / 8640.0).round() / 10.0,
                "launches_between": between,
            })
        }
    };
    let to_fields = [("launches", json!(sightings.len())), ("versions", json!(versions)), ("earlier", earlier)];
    Ok(to_fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
