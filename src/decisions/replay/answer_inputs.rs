//! Whether an answer that was recorded for one visit of a node is the answer to another: whoever gave it would have been told
//! the same.

use crate::pipeline::NodeIx;
use crate::project::{FunctionUse, Project, examine};
use crate::script::Library;
use crate::walk::{Plan, WalkState};
use std::collections::BTreeSet;

/// What answers may depend on, node by node.
#[derive(Clone, Debug)]
pub(super) struct AnswerInputs {
    scripts: Vec<VisibleParts>,
    others: VisibleParts,
    /// The same of the walks in the place of nodes, node by node.
    parts: Vec<Option<Self>>,
}

/// The parts of a walk that an answerer may look at. The case, its launch and the declared reads are those of the record.
#[derive(Clone, Debug, Default)]
struct VisibleParts {
    /// Artifacts of these earlier nodes.
    prior: PartSet,
    /// These fields of the state.
    state: PartSet,
    /// By which edges the walk came.
    history: bool,
    /// What cannot be compared.
    more: bool,
}

/// Some or all of the parts of something.
#[derive(Clone, Debug)]
enum PartSet {
    All,
    Only(BTreeSet<String>),
}

impl Default for PartSet {
    fn default() -> Self {
        Self::Only(BTreeSet::new())
    }
}

impl PartSet {
    fn add(&mut self, part: &str) {
        match self {
            _ if part.is_empty() => *self = Self::All,
            Self::All => {}
            Self::Only(parts) => drop(parts.insert(part.to_owned())),
        }
    }

    fn has(&self, part: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(parts) => parts.contains(part),
        }
    }
}

impl AnswerInputs {
    /// By what the responders of a project read.
    pub(super) fn of(project: &Project) -> Self {
        Self::of_plan(&project.plan, &project.library)
    }

    /// The same of what is walked in the place of a node.
    pub(super) fn part(&self, node: NodeIx) -> Option<&Self> {
        self.parts.get(node.0)?.as_ref()
    }

    fn of_plan(plan: &Plan, library: &Library) -> Self {
        let pipeline = &plan.pipeline;
        let whole = VisibleParts { prior: PartSet::All, state: PartSet::All, history: true, more: true };
        let mut scripts = vec![whole; pipeline.nodes.len()];
        for examined in examine(pipeline, library, &|_| None) {
            let FunctionUse::Responder(NodeIx(node)) = examined.place else { continue };
            let mut look = VisibleParts::default();
            examined.analysis.reads.iter().for_each(|read| look.reads(&read.path));
            scripts[node] = look;
        }
        // An agent is told of all that was found out before, of the counters and of the context. That it may also be told by
        // which edges the walk came, or by which vars it goes, is not taken for a difference.
        let fields = ["loops", "context", "walker"].map(str::to_owned).into();
        let parts = plan.nodes.iter().map(|node| node.part.as_ref().map(|part| Self::of_plan(part, library))).collect();
        Self {
            scripts,
            parts,
            others: VisibleParts { prior: PartSet::All, state: PartSet::Only(fields), history: false, more: false },
        }
    }

    /// Whether an answerer is told the same at the same visit of a node in both walks.
    pub(super) fn told(&self, by: &str, node: NodeIx, recorded: impl FnOnce() -> WalkState, now: &WalkState) -> bool {
        match by {
            // Canned answers go by the count of visits alone.
            "stub" => true,
            "script" => self.scripts[node.0].same(&recorded(), now),
            _ => self.others.same(&recorded(), now),
        }
    }
}

impl VisibleParts {
    fn reads(&mut self, path: &str) {
        let mut parts = path.split(['.', '[']).map(|part| part.trim_end_matches(']'));
        if parts.next() != Some("params") {
            return;
        }
        let group = parts.next().unwrap_or_default();
        let part = parts.next().unwrap_or_default();
        match group {
            "" => *self = Self { prior: PartSet::All, state: PartSet::All, history: true, more: true },
            "prior" => self.prior.add(part),
            "state" => {
                self.history |= matches!(part, "" | "history");
                self.state.add(part);
            }
            "history" => self.history = true,
            "bindings" | "meta" | "vars" => self.more = true,
            "persona" => self.state.add("walker"),
            // Where in the walk it is.
            "identity" if matches!(part, "" | "path") => self.state.add("steps"),
            _ => {}
        }
    }

    fn same(&self, a: &WalkState, b: &WalkState) -> bool {
        let prior = match &self.prior {
            PartSet::All => a.prior == b.prior,
            PartSet::Only(nodes) => nodes.iter().all(|node| a.prior.get(node.as_str()) == b.prior.get(node.as_str())),
        };
        let edges =
            |state: &WalkState| state.history.iter().map(|visit| (visit.node.clone(), visit.edge.clone())).collect::<Vec<_>>();
        prior
            && !self.more
            && (!self.state.has("loops") || a.loops == b.loops)
            && (!self.state.has("context") || a.context == b.context)
            && (!self.state.has("walker") || a.walker == b.walker)
            && (!self.state.has("handoffs") || a.handoffs == b.handoffs)
            && (!["steps", "chance"].iter().any(|field| self.state.has(field)) || a.steps == b.steps)
            && (!self.state.has("confidence") || a.prior == b.prior && a.steps == b.steps)
            && (!self.history || edges(a) == edges(b))
    }
}
