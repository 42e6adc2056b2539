//! Display names of nodes, walks and cases.

use asterisk_pipeline::EdgeCondition;
use asterisk_session::StartedRun;
use asterisk_walk::Plan;
use std::collections::HashMap;
use std::sync::Arc;

/// The display names of a run.
#[derive(Default)]
pub(super) struct NameTable {
    plan: Option<Arc<Plan>>,
    /// The names of cases that have one next to their id.
    names: HashMap<String, String>,
}

impl NameTable {
    pub(super) fn began(&mut self, begun: &StartedRun<'_>) {
        self.plan = Some(Arc::clone(begun.plan));
        let named = begun.launch.cases.iter().filter(|case| !case.name.is_empty() && case.name != case.id);
        self.names = named.map(|case| (case.id.clone(), case.name.clone())).collect();
    }

    /// The plan of the walk that a step with this path belongs to.
    fn plan(&self, path: &str) -> Option<Arc<Plan>> {
        self.plan.as_ref()?.of_path(path)
    }

    /// The name of that walk's pipeline, in words.
    pub(super) fn pipeline(&self, path: &str) -> String {
        self.plan(path).map_or_else(String::new, |plan| plan.pipeline.name.value.clone())
    }

    /// A node: `Correlate (F4)`.
    pub(super) fn node(&self, path: &str, name: &str) -> String {
        let plan = self.plan(path);
        let code = plan.as_ref().and_then(|plan| plan.pipeline.at(plan.pipeline.node(name)?).code.as_ref());
        let name = words(name);
        code.map_or(name.clone(), |code| format!("{name} ({code})"))
    }

    /// Whether the name is the pipeline's done name.
    pub(super) fn is_done(&self, path: &str, name: &str) -> bool {
        self.plan(path).is_some_and(|plan| plan.done == name)
    }

    /// An edge: `H1 recall-hit`.
    pub(super) fn edge(&self, path: &str, id: &str) -> String {
        let plan = self.plan(path);
        let name = plan.as_ref().and_then(|plan| Some(plan.pipeline.edge_at(plan.pipeline.edge(id)?).name.as_str()));
        match name.filter(|name| !name.is_empty() && *name != id) {
            Some(name) => format!("{id} {name}"),
            None => id.to_owned(),
        }
    }

    /// The reason of a transition: `by H1 recall-hit: a known failure`.
    pub(super) fn why(&self, path: &str, id: &str, because: &str) -> String {
        let plan = self.plan(path);
        let edge = plan.as_ref().and_then(|plan| Some(plan.pipeline.edge_at(plan.pipeline.edge(id)?)));
        let always = edge.is_some_and(|edge| matches!(edge.when, EdgeCondition::Always));
        let name = self.edge(path, id);
        if always { format!("by {name}") } else { format!("by {name}: {because}") }
    }

    /// A case's name, if it has one next to its id.
    pub(super) fn case(&self, id: &str) -> Option<&str> {
        self.names.get(id).map(String::as_str)
    }

    /// The number of nodes in a phase, counted from 1, and their names.
    pub(super) fn phase(&self, phase: usize) -> Option<(usize, String)> {
        let plan = self.plan.as_ref()?;
        let of = plan.pipeline.nodes.iter().filter(|node| node.phase + 1 == phase);
        Some((plan.pipeline.phases, of.map(|node| words(&node.name)).collect::<Vec<_>>().join(", ")))
    }
}

/// Formats a name as words: `Cross examine` for `cross_examine`.
pub(super) fn words(name: &str) -> String {
    let mut words = name.replace('_', " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}
