//! `cluster`: the members of the case's cluster, and the findings of the one that walked ahead.

use super::{ActiveQuery, StoreSnapshot, cached_under};
use crate::content::needed;
use crate::error::StoreError;
use crate::read::of_kinds;
use crate::sql::{Connection, OptionalExtension as _, params};
use asterisk_walk::{EventKind, QuerySubject, WalkState};
use serde_json::{Map, Value, json};

/// Answers the query: an empty map for a case without a cluster.
pub(super) fn answer(needs: &ActiveQuery<'_>, about: &QuerySubject<'_>) -> Result<Value, StoreError> {
    let Some(cluster) = needs.clusters.get(about.case.id.as_str()) else { return Ok(json!({})) };
    let representative = cluster.representative();
    let prior = if representative == about.case.id {
        json!({})
    } else {
        cached_under(&needs.priors, representative.into(), || {
            needs.read_store(|conn, snapshot| prior(conn, snapshot, representative))
        })?
    };
    Ok(json!({
        "key": cluster.key,
        "representative": representative,
        "members": cluster.members(),
        "prior": prior,
    }))
}

/// The latest artifact of each node that a case of the run had left before the last barrier.
fn prior(conn: &Connection, snapshot: StoreSnapshot, case: &str) -> Result<Value, StoreError> {
    let mut find = conn.prepare_cached("SELECT id FROM run_cases WHERE run = ?1 AND item = ?2")?;
    let Some(row) = find.query_row(params![snapshot.run, case], |row| row.get(0)).optional()? else { return Ok(json!({})) };
    let kinds = [EventKind::NodeEnter, EventKind::SubWalk, EventKind::NodeExit];
    let events = of_kinds(conn, (snapshot.run, row), snapshot.upto, &kinds)?;
    let state = WalkState::fold(events.iter().map(|(_, event)| event));
    let mut prior = Map::new();
    for (node, artifact) in &state.prior {
        let artifact = needed(conn, &artifact.hash(), |text| serde_json::from_str(text))?;
        let artifact = artifact.map_err(|error: serde_json::Error| StoreError::Damaged(error.to_string()))?;
        prior.insert(node.to_string(), artifact);
    }
    Ok(Value::Object(prior))
}
