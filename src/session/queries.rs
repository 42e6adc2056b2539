//! The queries that nodes declare, routed to the store or to the checkouts of the workspace.

use super::{Session, SessionError};
use crate::store::{Store, StoreQueries};
use crate::walk::{Cluster, Queries, QuerySubject};
use crate::workspace::Workspace;
use serde_json::Value;

/// Answers every query of the registry.
pub(super) struct QueryRouter {
    store: StoreQueries,
    workspace: Workspace,
}

impl Session {
    /// The queries of a run. `workspace` is that part of the project file.
    pub(super) fn reads(&self, store: &Store, run: &str, workspace: &Value) -> Result<QueryRouter, SessionError> {
        let repositories = &workspace["repositories"];
        let store = StoreQueries::new(store, run, repositories.clone())?;
        Ok(QueryRouter { store, workspace: Workspace::new(&self.setup.root, repositories) })
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
        if name.starts_with("workspace.") { self.workspace.query(name, about) } else { self.store.query(name, about) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Case, Launch};
    use crate::walk::{NEEDS, unknown_history};
    use serde_json::json;

    #[test]
    fn every_query_of_the_registry_is_answered() {
        let reads = QueryRouter { store: StoreQueries::without_store(json!([])), workspace: Workspace::new("", &json!([])) };
        for need in NEEDS {
            let about = QuerySubject { launch: &Launch::default(), case: &Case::default(), prior: &Value::Null };
            let nothing = match need.name {
                "cluster" => json!({}),
                "tests.history" => unknown_history(),
                _ => json!([]),
            };
            assert_eq!(reads.query(need.name, &about), Ok(nothing), "{}", need.name);
        }
        let about = QuerySubject { launch: &Launch::default(), case: &Case::default(), prior: &Value::Null };
        assert!(reads.query("workspace.lag", &about).is_err() && reads.query("lag", &about).is_err());
    }
}
