//! The queries that nodes declare, routed to the store or to the checkouts of the workspace.

use super::peers::LaunchPeers;
use super::{Session, SessionError};
use asterisk_adapters::workspace::Workspace;
use asterisk_store::{Store, StoreQueries};
use asterisk_walk::{Cluster, PEERS, Queries, QuerySubject};
use serde_json::Value;

/// The query for the memories of goals, all of which are of earlier runs.
const MEMORIES: &str = "memory.recall";

/// Answers every query of the registry.
pub(super) struct QueryRouter {
    store: StoreQueries,
    pub(super) peers: LaunchPeers,
    workspace: Workspace,
    /// Whether what other runs found is left aside.
    no_recall: bool,
}

impl Session {
    /// The queries of a run. `workspace` is that part of the project file; `no_recall` leaves aside what other runs found.
    pub(super) fn reads(
        &self,
        store: &Store,
        run: &str,
        workspace: &Value,
        no_recall: bool,
    ) -> Result<QueryRouter, SessionError> {
        let repositories = &workspace["repositories"];
        let peers = LaunchPeers::new(store, run);
        let store = StoreQueries::new(store, run, repositories.clone())?;
        Ok(QueryRouter {
            store,
            peers,
            workspace: Workspace::new(&self.setup.root, repositories, self.setup.environment.variables()),
            no_recall,
        })
    }
}

impl QueryRouter {
    /// Makes visible what the run committed before this barrier, and these clusters.
    pub(super) fn advance(&mut self, barrier: i64, clusters: Vec<Cluster>) {
        self.store.advance(barrier, clusters);
    }
}

impl Queries for QueryRouter {
    fn query(&self, name: &str, about: &QuerySubject<'_>) -> Result<Value, String> {
        if name.starts_with("workspace.") {
            return self.workspace.query(name, about);
        }
        if name == PEERS {
            return self.peers.answer(about);
        }
        if self.no_recall && name == MEMORIES {
            return Ok(Value::Array(Vec::new()));
        }
        let mut found = self.store.query(name, about)?;
        if let (true, Some(list)) = (self.no_recall, found.as_array_mut()) {
            // Symptoms and causes say whether they are of this run; other lists don't.
            list.retain(|item| item.get("same_run").is_none_or(|of_run| *of_run == true));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_base::environment::Variables;
    use asterisk_base::model::{Case, Launch};
    use asterisk_walk::{CODE, NEEDS, unknown_code, unknown_history};
    use serde_json::json;

    #[test]
    fn every_query_of_the_registry_is_answered() {
        let reads = QueryRouter {
            store: StoreQueries::without_store(json!([])),
            peers: LaunchPeers::new(&Store::scratch().expect("a store in memory"), "none"),
            workspace: Workspace::new("", &json!([]), &Variables::default()),
            no_recall: false,
        };
        let (launch, case) = (Launch::default(), Case::default());
        for need in NEEDS {
            let about = QuerySubject::new(&launch, &case);
            let nothing = match need.name {
                "cluster" => json!({}),
                "tests.history" => unknown_history(),
                "roots.said" => Value::Null,
                CODE => unknown_code(),
                "reviews" => {
                    ["approve", "overturn"].map(|decision| json!({ "decision": decision, "given": 0, "taken_back": 0 })).into()
                }
                _ => json!([]),
            };
            assert_eq!(reads.query(need.name, &about), Ok(nothing), "{}", need.name);
        }
        let about = QuerySubject::new(&launch, &case);
        assert!(reads.query("workspace.lag", &about).is_err() && reads.query("lag", &about).is_err());
    }
}
