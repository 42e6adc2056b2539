//! Which recorded decisions can be reused: those whose dependencies are unchanged.

use super::base::ReplayProject;
use super::recorded_walk::RecordedStep;
use crate::StepEnd;
use asterisk_pipeline::{Edge, EdgeIx, NodeIx, Pipeline};
use asterisk_project::Project;
use asterisk_walk::{EdgeRule, EventBody, Plan};
use std::collections::HashMap;
use std::sync::Arc;

/// The nodes whose recorded decisions can be reused, as long as the walk follows its record.
#[derive(Clone, Debug, Default)]
pub(super) struct ReuseCheck {
    /// One per node of the current plan.
    nodes: Vec<ReuseConditions>,
    /// Those of sub-pipelines, by node.
    subpipelines: Vec<Option<Self>>,
}

/// The conditions for reusing a decision.
#[derive(Clone, Copy, Debug, Default)]
struct ReuseConditions {
    /// Whether it can be reused at all.
    may: bool,
    /// Whether it depends on the reasons in the history.
    history: bool,
}

/// How far the state of a walk matches the recorded one.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnowledgeMatch {
    /// Whether artifacts, counters, context and the edges taken match.
    pub(super) state_matches: bool,
    /// Whether the reasons of those edges match.
    pub(super) reasons: bool,
}

impl KnowledgeMatch {
    /// How far the results of a decision step match the recorded ones.
    pub(super) fn compare(whats: &[EventBody], step: &RecordedStep) -> Self {
        let transition = whats.iter().find_map(|what| match what {
            EventBody::Transition { counter, context, because, .. } => Some((counter, context, because)),
            _ => None,
        });
        let same_advisories = whats.iter().filter_map(RecordedStep::advisories).flatten().eq(step
            .advised
            .iter()
            .filter_map(|what| RecordedStep::advisories(what))
            .flatten());
        match (transition, &step.end) {
            (Some((counter, now, reason)), StepEnd::To { context, because, .. }) => {
                Self { state_matches: *counter == step.counter && now == context, reasons: same_advisories && reason == because }
            }
            (None, StepEnd::To { .. }) | (Some(_), _) => Self { state_matches: false, reasons: false },
            (None, _) => Self { state_matches: true, reasons: same_advisories },
        }
    }
}

/// Compares the texts of a run with the current ones. The texts are compared once, the vars for each plan.
pub(super) struct TextComparison<'a> {
    then: &'a Project,
    /// By a function's identity, whether the code it may run has changed.
    changed: HashMap<String, bool>,
    /// Whether no script has changed.
    same_scripts: bool,
    same_data: bool,
}

impl<'a> TextComparison<'a> {
    pub(super) fn new(then: &'a Project, now: &Project) -> Self {
        let (before, after) = (then.manifest().0, now.manifest().0);
        let same_data = before.data == after.data && before.domain == after.domain && before.workspace == after.workspace;
        Self { then, changed: HashMap::new(), same_scripts: before.scripts == after.scripts, same_data }
    }

    /// The reusable decisions, for a current plan.
    pub(super) fn reuse(&mut self, now: &Plan) -> ReuseCheck {
        // Walkers depend on the data.
        if self.same_data { self.plan(&self.then.plan, now) } else { ReuseCheck::default() }
    }

    /// Compares a recorded plan with the current one. Nothing is reusable where teams or the handling of failing rules are involved.
    fn plan(&mut self, then: &Plan, now: &Plan) -> ReuseCheck {
        let teams = then.team.is_some() || now.team.is_some();
        let rules = then.pipeline.on_rule_error == now.pipeline.on_rule_error && then.done == now.done;
        if teams || !rules {
            return ReuseCheck::default();
        }
        let nodes = (0..now.nodes.len()).map(|at| self.node((then, now), NodeIx(at))).collect();
        let subpipeline = |at: &NodeIx| {
            let node = now.node(*at);
            let before = then.pipeline.node(&node.name).and_then(|node| then.node(node).subpipeline.as_ref())?;
            Some((before, node.subpipeline.as_ref()?))
        };
        let subpipelines = (0..now.nodes.len()).map(|at| subpipeline(&NodeIx(at)).map(|(then, now)| self.plan(then, now)));
        ReuseCheck { nodes, subpipelines: subpipelines.collect() }
    }

    /// Whether a node decides by the same form, fallback and edges as before.
    fn node(&mut self, (then, now): (&Plan, &Plan), at: NodeIx) -> ReuseConditions {
        let Some(before) = then.pipeline.node(&now.node(at).name) else { return ReuseConditions::default() };
        let (old, new) = (then.pipeline.at(before), now.pipeline.at(at));
        let confidence = |node: &asterisk_pipeline::PipelineNode| node.confidence.as_ref().map(|field| field.value.clone());
        let fallback = |pipeline: &Pipeline, node: &asterisk_pipeline::PipelineNode| {
            node.fallback.map(|target| pipeline.target_name(target).to_owned())
        };
        let edges = |plan: &Plan, node: &asterisk_pipeline::PipelineNode| -> Vec<EdgeIx> {
            node.advisories.iter().chain(&node.edges).chain(&plan.pipeline.guards).copied().collect()
        };
        let (tried_then, tried_now) = (edges(then, old), edges(now, new));
        let reads = tried_now.iter().filter_map(|edge| now.rules[edge.0].as_ref()).flat_map(|rule| rule.reads.iter());
        let history =
            reads.filter_map(|read| read.strip_prefix("state")).any(|rest| rest.is_empty() || rest.starts_with(".history"));
        let may = then.node(before).kind == now.node(at).kind
            && confidence(old) == confidence(new)
            && fallback(&then.pipeline, old) == fallback(&now.pipeline, new)
            && tried_then.len() == tried_now.len()
            && tried_then.into_iter().zip(tried_now).all(|(old, new)| self.edge((then, now), (old, new)));
        ReuseConditions { may, history }
    }

    /// Whether an edge has the same id, targets, flags, context, rule and vars.
    fn edge(&mut self, (then, now): (&Plan, &Plan), (old, new): (EdgeIx, EdgeIx)) -> bool {
        let (before, after) = (then.pipeline.edge_at(old), now.pipeline.edge_at(new));
        let target_names = |pipeline: &Pipeline, edge: &Edge| -> Vec<String> {
            let all = edge.to.iter().chain(edge.targets.iter().map(|target| &target.value));
            all.map(|target| pipeline.target_name(*target).to_owned()).collect()
        };
        before.id.value == after.id.value
            && before.to.is_some() == after.to.is_some()
            && target_names(&then.pipeline, before) == target_names(&now.pipeline, after)
            && (before.looped, &before.counter, before.advisory, before.parallel)
                == (after.looped, &after.counter, after.advisory, after.parallel)
            && before.context == after.context
            && match (&then.rules[old.0], &now.rules[new.0]) {
                (None, None) => true,
                (Some(old), Some(new)) => {
                    let vars = new.reads.iter().filter_map(|read| read.strip_prefix("vars"));
                    let mut same = vars.map(|var| match var.strip_prefix('.') {
                        Some(var) => {
                            let name = var.split(['.', '[']).next().unwrap_or(var);
                            then.vars.get(name) == now.vars.get(name)
                        }
                        None => then.vars == now.vars,
                    });
                    same.all(|same| same) && self.rule(old, new)
                }
                _ => false,
            }
    }

    /// Whether a rule may run the same code as before.
    fn rule(&mut self, old: &EdgeRule, new: &EdgeRule) -> bool {
        if !old.function.is_condition() && self.same_scripts && old.function.key() == new.function.key() {
            return true;
        }
        let key = format!("{} {}", old.function.key(), new.function.key());
        !*self.changed.entry(key).or_insert_with(|| old.function.reach() != new.function.reach())
    }
}

/// The reusable decisions of a run, for each of the plans of a base.
pub(super) fn reuse(then: Option<&Project>, base: &ReplayProject, plans: &[Arc<Plan>]) -> Vec<ReuseCheck> {
    let Some(then) = then else { return vec![ReuseCheck::default(); plans.len()] };
    let mut compared = TextComparison::new(then, &base.project);
    plans.iter().map(|plan| compared.reuse(plan)).collect()
}

impl ReuseCheck {
    /// Whether the decision at a node can be reused.
    pub(super) fn holds(&self, node: NodeIx, exact: KnowledgeMatch) -> bool {
        self.nodes.get(node.0).is_some_and(|node| node.may && exact.state_matches && (exact.reasons || !node.history))
    }

    /// The same for a node's sub-pipeline.
    pub(super) fn subpipeline(&self, node: NodeIx) -> Option<&Self> {
        self.subpipelines.get(node.0)?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::testing::TraceFixture;
    use asterisk_project::AnswererNames;
    use serde_json::{Map, json};

    #[test]
    fn only_decisions_that_read_a_changed_var_are_not_reused() {
        let ground = TraceFixture::with(&[]);
        let project = ground.session.project(None, AnswererNames::Others).unwrap();
        let mut compared = TextComparison::new(&project, &project);
        let mut open = |var: &str, value: f64| -> Vec<String> {
            let plan = project.plan_with(&Map::from_iter([(var.to_owned(), json!(value))])).unwrap();
            let reuse = compared.reuse(&plan);
            let open = (0..plan.nodes.len())
                .filter(|node| !reuse.holds(NodeIx(*node), KnowledgeMatch { state_matches: true, reasons: true }));
            open.map(|node| plan.nodes[node].name.to_string()).collect()
        };
        assert_eq!(open("recall_hit", 0.9), ["recall"]);
        assert_eq!(open("recall_hit", 0.8), Vec::<String>::new());
    }
}
