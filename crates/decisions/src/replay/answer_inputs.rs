//! Whether an answer recorded for one visit of a node can be reused for another: its answerer would have had the same inputs.

use asterisk_base::model::Kind;
use asterisk_pipeline::NodeIx;
use asterisk_project::{FunctionUse, Project, examine};
use asterisk_script::check::CheckedParameter;
use asterisk_script::{Library, ScriptFunction};
use asterisk_walk::{Plan, PlanNode, WalkState};
use std::collections::BTreeSet;

/// The inputs that answers may depend on, by node.
#[derive(Clone, Debug)]
pub(super) struct AnswerInputs {
    scripts: Vec<VisibleParts>,
    /// What the script of a node, its masks and its list of items read, as paths: `params.prior.triage`, `vars.review_bar`.
    reads: Vec<BTreeSet<String>>,
    others: VisibleParts,
    /// The same for sub-pipelines, by node.
    subpipelines: Vec<Option<Self>>,
}

/// The parts of a walk that an answerer may read. The case, its launch and the query results are those of the record.
#[derive(Clone, Debug, Default)]
struct VisibleParts {
    /// Artifacts of these earlier nodes.
    prior: PartSet,
    /// These fields of the state.
    state: PartSet,
    /// The edges that the walk took.
    history: bool,
    /// Whether it reads anything that cannot be compared.
    more: bool,
}

/// All or some of the parts of something.
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
    /// Collects what the responders of a project read.
    pub(super) fn of(project: &Project) -> Self {
        Self::of_plan(&project.plan, &project.library)
    }

    /// The inputs within a node's sub-pipeline.
    pub(super) fn subpipeline(&self, node: NodeIx) -> Option<&Self> {
        self.subpipelines.get(node.0)?.as_ref()
    }

    /// The paths that the script of a node may read.
    pub(super) fn reads(&self, node: NodeIx) -> impl Iterator<Item = &str> {
        self.reads[node.0].iter().map(String::as_str)
    }

    fn of_plan(plan: &Plan, library: &Library) -> Self {
        let pipeline = &plan.pipeline;
        // A node without a responder is not known to read anything less than all.
        let whole = || BTreeSet::from(["params".to_owned(), "vars".to_owned()]);
        let mut reads: Vec<Option<BTreeSet<String>>> = vec![None; pipeline.nodes.len()];
        for examined in examine(pipeline, library, &|_| Vec::new(), &|_| None) {
            let (FunctionUse::Responder(NodeIx(node)) | FunctionUse::Items(NodeIx(node))) = examined.place else { continue };
            let paths = examined.analysis.reads.iter().map(|read| read.path.clone());
            reads[node].get_or_insert_default().extend(paths);
        }
        let mut reads: Vec<BTreeSet<String>> = reads.into_iter().map(|reads| reads.unwrap_or_else(whole)).collect();
        for (node, reads) in plan.nodes.iter().zip(&mut reads) {
            reads.extend(mask_reads(plan, node, library));
        }
        let scripts = reads.iter().map(|reads| {
            let mut look = VisibleParts::default();
            for path in reads {
                look.reads(path);
            }
            look
        });
        let scripts = scripts.collect();
        // An agent's prompt has all earlier artifacts, the counters and the context. That it may also have the edges taken or the
        // vars is not counted as a difference.
        let fields = ["loops", "context", "walker"].map(str::to_owned).into();
        let subpipelines =
            plan.nodes.iter().map(|node| node.subpipeline.as_ref().map(|inner| Self::of_plan(inner, library))).collect();
        Self {
            scripts,
            reads,
            subpipelines,
            others: VisibleParts { prior: PartSet::All, state: PartSet::Only(fields), history: false, more: false },
        }
    }

    /// Whether an answerer has the same inputs at the same visit of a node in both walks.
    pub(super) fn same_inputs(&self, by: &str, node: NodeIx, recorded: impl FnOnce() -> WalkState, now: &WalkState) -> bool {
        match by {
            // Canned answers depend on the number of the visit only.
            "stub" => true,
            "script" => self.scripts[node.0].same(&recorded(), now),
            _ => self.others.same(&recorded(), now),
        }
    }
}

/// What the masks on a node may read of the parameters of its steps.
fn mask_reads(plan: &Plan, node: &PlanNode, library: &Library) -> BTreeSet<String> {
    let members = plan.team.iter().flat_map(|team| &team.members);
    let brought = members.chain([&plan.walker]).flat_map(|member| &member.masks).filter(|mask| mask.fits(&node.name));
    let input = |name| CheckedParameter { name, kind: &Kind::Any };
    let (params, artifact) = (input("params"), input("artifact"));
    let mut reads = BTreeSet::new();
    let mut read = |function: &ScriptFunction, inputs: &[CheckedParameter<'_>]| {
        reads.extend(library.check(function, inputs).reads.into_iter().map(|read| read.path));
    };
    for mask in node.masks.iter().chain(brought) {
        mask.pre.iter().for_each(|pre| read(pre, &[params]));
        mask.post.iter().for_each(|post| read(post, &[params, artifact]));
    }
    reads
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
            // The position in the walk.
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
