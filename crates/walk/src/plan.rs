//! A linked pipeline: its references resolved to scripts, templates and queries.

use super::content::Content;
use super::foreach_plan::ForeachPlan;
use super::mask::Mask;
use super::name::Name;
use super::path::nodes_of;
use super::policy::{PolicyPlan, StepPolicy};
use super::queries::Query;
use super::root::RootPlan;
use super::team_plan::{TeamMember, TeamPlan};
use super::tool::ToolPlan;
use super::verdict::VerdictPlan;
use asterisk_base::model::Deferred;
use asterisk_base::model::{Hash, Kind};
use asterisk_evidence::EvidenceReader;
use asterisk_pipeline::{EdgeIx, NodeIx, Pipeline};
use asterisk_prompt::Template;
use asterisk_script::{ScriptFunction, View};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A linked pipeline, immutable and shared by all walks that use it.
#[derive(Clone, Debug)]
pub struct Plan {
    pub pipeline: Arc<Pipeline>,
    /// One per node of the graph, in the same order.
    pub nodes: Vec<PlanNode>,
    /// One per edge of the graph, in the same order: its rule, if any.
    pub rules: Vec<Option<EdgeRule>>,
    /// The names of the edges, shared with the events.
    pub edge_names: Vec<Name>,
    /// Returns the cluster key of a case.
    pub cluster: Option<ScriptFunction>,
    /// Summarises a case for the report.
    pub summary: Option<ScriptFunction>,
    /// Returns the artifact of a node that walks this pipeline.
    pub result: Option<ScriptFunction>,
    /// The current vars (the pipeline's, overlaid by configuration and `--set`).
    pub vars: Map<String, Value>,
    /// The same, for rules and for the record.
    pub vars_content: Content,
    /// The project's data files, by stem.
    pub data: Deferred<Content>,
    /// The defects, categories and severities of the domain, if there is one.
    pub taxonomy: Deferred<Content>,
    /// The name of the domain, if there is one.
    pub domain: Option<String>,
    /// Reads what a failure says, by the data of the project.
    pub evidence: Deferred<EvidenceReader>,
    /// How the verdict of a case is made: the pipeline's own, else that of the enclosing one.
    pub verdict: Option<Deferred<VerdictPlan>>,
    /// How the root of a case is found: by the pipeline's own rules, else by those of the enclosing one.
    pub roots: Option<Deferred<RootPlan>>,
    /// The current policy; nothing in a pipeline without any.
    pub policy: Option<Arc<PolicyPlan>>,
    /// The repositories of the project file.
    pub workspace: Content,
    /// The walker of a pipeline without a team.
    pub walker: TeamMember,
    /// The team, if the pipeline has one.
    pub team: Option<TeamPlan>,
    /// The done name, shared with the events.
    pub done: Name,
}

/// A node of the plan.
#[derive(Clone, Debug)]
pub struct PlanNode {
    /// The name, shared with the events.
    pub name: Name,
    /// The name as a view, shared with the states of rules.
    pub view: View,
    /// The shape of its artifact.
    pub kind: Kind,
    /// The script that answers it when no other answerer does.
    pub responder: Option<ScriptFunction>,
    /// The script that an answer passes before the schema.
    pub accept: Option<ScriptFunction>,
    /// The script that turns its artifact into effects.
    pub effect: Option<ScriptFunction>,
    pub template: Option<Arc<Template>>,
    /// The template's schema of the answer: the parameter group `answer`.
    pub answer: Content,
    /// The queries it declares, without those of its masks.
    pub needs: Vec<&'static Query>,
    /// Its answerers, in the order to be tried; empty if it names none.
    pub via: Vec<Name>,
    /// Its masks, outermost first.
    pub masks: Vec<Arc<Mask>>,
    /// The tool whose result is its artifact.
    pub tool: Option<ToolPlan>,
    /// The sub-pipeline walked for it, or for each of its items: the last artifact of that walk is the node's, or the branch's.
    pub subpipeline: Option<Arc<Plan>>,
    /// `foreach:`, if the node has it.
    pub foreach: Option<ForeachPlan>,
    /// What surrounds its answer, if anything does.
    pub policy: Option<Arc<StepPolicy>>,
}

/// The rule of an edge.
#[derive(Clone, Debug)]
pub struct EdgeRule {
    pub function: ScriptFunction,
    /// The inputs it may read, as paths (`artifact.confidence`), for its default reason.
    pub reads: Deferred<Vec<Box<str>>>,
    /// The content address of its script, with its imports.
    pub script: Hash,
}

impl PlanNode {
    /// The shape that an answer must have: that of one item, for a `foreach` node.
    pub fn answered(&self) -> &Kind {
        self.foreach.as_ref().map_or(&self.kind, |foreach| &foreach.kind)
    }
}

impl Plan {
    /// The vars as rules see them.
    pub fn vars(&self) -> &View {
        self.vars_content.view().unwrap_or(&self.walker.view)
    }

    /// The value of a var: its own, else that of the first sub-pipeline that has it.
    pub fn var(&self, name: &str) -> Option<&Value> {
        let within = || self.nodes.iter().filter_map(|node| node.subpipeline.as_ref()).find_map(|inner| inner.var(name));
        self.vars.get(name).or_else(within)
    }

    /// The names of its vars and of those of its sub-pipelines.
    pub fn var_names(&self) -> Vec<&str> {
        let within = self.nodes.iter().filter_map(|node| node.subpipeline.as_ref()).flat_map(|inner| inner.var_names());
        self.vars.keys().map(String::as_str).chain(within).collect()
    }

    pub fn node(&self, node: NodeIx) -> &PlanNode {
        &self.nodes[node.0]
    }

    /// The plan of the walk that a step belongs to: for `3/court/1`, that of the node `court`. `None` if that
    /// sub-pipeline does not exist.
    pub fn of_path(self: &Arc<Self>, path: &str) -> Option<Arc<Self>> {
        nodes_of(path).try_fold(Arc::clone(self), |plan, node| plan.node(plan.pipeline.node(node)?).subpipeline.clone())
    }

    /// This plan and the sub-pipelines down to a step's path, outermost first. `None` if a sub-pipeline does not exist.
    pub fn through(&self, path: &str) -> Option<Vec<&Self>> {
        let mut plans = vec![self];
        for node in nodes_of(path) {
            let plan = *plans.last()?;
            plans.push(plan.node(plan.pipeline.node(node)?).subpipeline.as_deref()?);
        }
        Some(plans)
    }

    /// The shape of an artifact visible to a step: of a node of its own walk, else of an enclosing walk.
    pub fn kind_at(&self, path: &str, name: &str) -> Option<Kind> {
        self.through(path)?.into_iter().rev().find_map(|plan| plan.kind(name))
    }

    /// The shape of a node's artifact; the name may be of a sub-pipeline's node (`court/indict`). `None` if the node
    /// does not exist.
    pub fn kind(&self, name: &str) -> Option<Kind> {
        if let Some(node) = self.pipeline.node(name) {
            return Some(self.node(node).kind.clone());
        }
        let (node, rest) = name.split_once('/')?;
        self.node(self.pipeline.node(node)?).subpipeline.as_ref()?.kind(rest)
    }

    /// Whether both graphs are equal, sub-pipelines included.
    pub fn same_graph(&self, other: &Self) -> bool {
        let subpipelines =
            || self.nodes.iter().zip(&other.nodes).filter_map(|(a, b)| Some((a.subpipeline.as_ref()?, b.subpipeline.as_ref()?)));
        self.pipeline.same_graph(&other.pipeline) && subpipelines().all(|(a, b)| a.same_graph(b))
    }

    /// The masks on all nodes, sub-pipelines included.
    pub fn masks(&self) -> Vec<Arc<Mask>> {
        let subpipelines = self.nodes.iter().filter_map(|node| node.subpipeline.as_ref()).flat_map(|inner| inner.masks());
        self.nodes.iter().flat_map(|node| node.masks.iter().cloned()).chain(subpipelines).collect()
    }

    /// Whether a node, a mask, the scheduler or the verdict declares a query, sub-pipelines included.
    pub fn declares(&self, query: &str) -> bool {
        let team = self.team.iter().flat_map(|team| {
            let masks = team.members.iter().flat_map(|member| &member.masks);
            masks.flat_map(|mask| &mask.needs).chain(&team.needs)
        });
        let of_nodes = self.nodes.iter().flat_map(|node| node.masks.iter().flat_map(|mask| &mask.needs).chain(&node.needs));
        let verdict = self.verdict.iter().flat_map(|verdict| &verdict.needs);
        of_nodes.chain(verdict).chain(team).any(|need| need.name == query)
            || self.nodes.iter().filter_map(|node| node.subpipeline.as_ref()).any(|inner| inner.declares(query))
    }

    pub fn rule(&self, edge: EdgeIx) -> Option<&EdgeRule> {
        self.rules[edge.0].as_ref()
    }

    /// The current walker, given the one of the last step: the member of the team, else `inherited` from the enclosing walk, else
    /// the unnamed one.
    pub fn member<'a>(&'a self, name: Option<&str>, inherited: Option<&'a TeamMember>) -> &'a TeamMember {
        match &self.team {
            Some(team) => name.and_then(|name| team.member(name)).unwrap_or(&self.walker),
            None => inherited.unwrap_or(&self.walker),
        }
    }
}
