//! Which scripted answers may be others by the current texts: those of nodes whose responder reads, or runs, something that has
//! changed.

use super::answer_inputs::AnswerInputs;
use asterisk_pipeline::NodeIx;
use asterisk_project::Project;
use asterisk_script::ScriptFunction;
use asterisk_walk::{Content, Plan, PlanNode, Query};
use serde_json::Value;

/// The nodes whose scripted answers may differ from the recorded ones.
#[derive(Clone, Debug, Default)]
pub(super) struct AnswerCheck {
    /// One per node of the current plan.
    nodes: Vec<AnswerChange>,
    /// Those of sub-pipelines, by node.
    subpipelines: Vec<Option<Self>>,
}

/// What a scripted answer depends on that has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AnswerChange {
    /// Something that is the same for all cases: code, data, vars, templates.
    pub(super) texts: bool,
    /// The catalogue by which the evidence of each case is read.
    pub(super) evidence: bool,
    /// The rules by which the verdict of each case is made.
    pub(super) verdict: bool,
}

impl AnswerChange {
    pub(super) fn any(self) -> bool {
        self.texts || self.evidence || self.verdict
    }
}

impl AnswerCheck {
    /// Compares the plan of a run with the current one. Every answer may differ if the former is not known.
    pub(super) fn of(then: Option<&Project>, now: &Plan, inputs: &AnswerInputs) -> Self {
        Self::plan(then.map(|project| &*project.plan), now, inputs)
    }

    /// What has changed of the inputs of a node's script.
    pub(super) fn change(&self, node: NodeIx) -> AnswerChange {
        self.nodes.get(node.0).copied().unwrap_or_default()
    }

    /// The same for a node's sub-pipeline.
    pub(super) fn subpipeline(&self, node: NodeIx) -> Option<&Self> {
        self.subpipelines.get(node.0)?.as_ref()
    }

    fn plan(then: Option<&Plan>, now: &Plan, inputs: &AnswerInputs) -> Self {
        let nodes = (0..now.nodes.len()).map(NodeIx);
        let change = |node: NodeIx| {
            let before = then.and_then(|then| Some((then, then.pipeline.node(&now.node(node).name)?)));
            match before {
                Some(before) => change(before, (now, node), inputs),
                None => AnswerChange { texts: true, evidence: true, verdict: true },
            }
        };
        let subpipeline = |node: NodeIx| {
            let before = then.and_then(|then| then.node(then.pipeline.node(&now.node(node).name)?).subpipeline.as_deref());
            Some(Self::plan(before, now.node(node).subpipeline.as_deref()?, inputs.subpipeline(node)?))
        };
        Self { nodes: nodes.clone().map(change).collect(), subpipelines: nodes.map(subpipeline).collect() }
    }
}

fn change((then, before): (&Plan, NodeIx), (now, after): (&Plan, NodeIx), inputs: &AnswerInputs) -> AnswerChange {
    let (old, new) = (then.node(before), now.node(after));
    let mut change = AnswerChange { texts: code(then, old) != code(now, new) || old.kind != new.kind, ..AnswerChange::default() };
    for path in inputs.reads(after) {
        let mut parts = path.split(['.', '[']).map(|part| part.trim_end_matches(']'));
        let group = match parts.next() {
            Some("params") => parts.next().unwrap_or_default(),
            Some("vars") => "vars",
            _ => continue,
        };
        let path: Vec<&str> = parts.collect();
        let whole = group.is_empty();
        let read = |name: &str| whole || group == name;
        let differ = |a: &Content, b: &Content| a != b && at(a, &path) != at(b, &path);
        change.texts |= read("data") && differ(&then.data, &now.data)
            || read("taxonomy") && differ(&then.taxonomy, &now.taxonomy)
            || read("workspace") && differ(&then.workspace, &now.workspace)
            || read("vars") && differ(&then.vars_content, &now.vars_content)
            || read("answer") && differ(&old.answer, &new.answer)
            || read("needs") && names(&queries(then, old)) != names(&queries(now, new))
            || read("identity") && identity(then, before) != identity(now, after)
            || (read("persona") || read("state")) && walkers(then) != walkers(now);
        change.evidence |= read("evidence") && then.evidence.address() != now.evidence.address();
        let rules = |plan: &Plan| plan.verdict.as_ref().map(|verdict| verdict.address);
        change.verdict |= read("verdict") && rules(then) != rules(now);
    }
    change
}

/// The code that answers a node: its responder, masks, and the functions of `foreach`.
fn code(plan: &Plan, node: &PlanNode) -> Vec<String> {
    let reach = |function: &ScriptFunction| function.reach().to_string();
    let members = plan.team.iter().flat_map(|team| &team.members).chain([&plan.walker]);
    let masks = members.flat_map(|member| member.masks.iter().filter(|mask| mask.fits(&node.name)));
    let masks = node.masks.iter().chain(masks);
    let foreach = node.foreach.as_ref();
    let merge = foreach.map(|foreach| format!("{:?}", std::mem::discriminant(&foreach.merge)));
    let functions = node.responder.iter().chain(foreach.map(|foreach| &foreach.items));
    let functions = functions.chain(foreach.and_then(|foreach| foreach.merge.script()));
    let masked = masks.flat_map(|mask| {
        let functions = mask.pre.iter().chain(&mask.post).map(reach);
        std::iter::once(mask.path.to_string()).chain(functions).collect::<Vec<_>>()
    });
    functions.map(reach).chain(merge).chain(masked).collect()
}

/// The queries of a node and of the masks that may be on it.
fn queries(plan: &Plan, node: &PlanNode) -> Vec<&'static Query> {
    let members = plan.team.iter().flat_map(|team| &team.members).chain([&plan.walker]);
    let masks = members.flat_map(|member| member.masks.iter().filter(|mask| mask.fits(&node.name)));
    let masks = node.masks.iter().chain(masks).flat_map(|mask| &mask.needs);
    node.needs.iter().chain(masks).copied().collect()
}

fn names(queries: &[&'static Query]) -> Vec<&'static str> {
    queries.iter().map(|query| query.name).collect()
}

fn identity(plan: &Plan, node: NodeIx) -> (&str, Option<&str>) {
    let spec = plan.pipeline.at(node);
    (plan.pipeline.name.as_str(), spec.code.as_ref().map(|code| code.as_str()))
}

/// The walkers as scripts see them.
fn walkers(plan: &Plan) -> Vec<Value> {
    let members = plan.team.iter().flat_map(|team| &team.members).chain([&plan.walker]);
    members.map(|member| Value::from(vec![member.view.json(), at(&member.persona, &[])])).collect()
}

/// The value at a path, up to the first list in it.
fn at(content: &Content, path: &[&str]) -> Value {
    let Some(mut view) = content.view().cloned() else { return Value::Null };
    for part in path.iter().take_while(|part| !part.is_empty()) {
        match view.get(part) {
            Some(inner) => view = inner,
            None => return Value::Null,
        }
    }
    view.json()
}
