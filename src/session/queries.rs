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
        let store = StoreQueries::new(store, run, repositories.clone())?;
        Ok(QueryRouter { store, workspace: Workspace::new(&self.setup.root, repositories), no_recall })
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
    use crate::model::{Case, Launch};
    use crate::walk::{NEEDS, unknown_history};
    use serde_json::json;

    #[test]
    fn every_query_of_the_registry_is_answered() {
        let reads = QueryRouter {
            store: StoreQueries::without_store(json!([])),
            workspace: Workspace::new("", &json!([])),
            no_recall: false,
        };
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
