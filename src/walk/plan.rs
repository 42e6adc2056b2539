//! What a walk goes by: a pipeline whose references are resolved to scripts, templates and queries.

use super::content::Content;
use super::foreach_plan::ForeachPlan;
use super::mask::Mask;
use super::name::Name;
use super::path::nodes_of;
use super::queries::Query;
use super::team_plan::{TeamMember, TeamPlan};
use super::tool::ToolPlan;
use crate::evidence::EvidenceReader;
use crate::model::{Hash, Kind};
use crate::pipeline::{EdgeIx, NodeIx, Pipeline};
use crate::prompt::Template;
use crate::script::{ScriptFunction, View};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A linked pipeline. Immutable and shared by all walks that started with it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The graph.
    pub pipeline: Arc<Pipeline>,
    /// One per node of the graph, in the same order.
    pub nodes: Vec<PlanNode>,
    /// One per edge of the graph, in the same order: the rule that decides it, if any.
    pub rules: Vec<Option<EdgeRule>>,
    /// The names of the edges, shared with the events.
    pub edge_names: Vec<Name>,
    /// What gives a case the key of its cluster.
    pub cluster: Option<ScriptFunction>,
    /// What sums a case up for the report.
    pub summary: Option<ScriptFunction>,
    /// The vars in force (the pipeline's, overlaid by configuration and `--set`).
    pub vars: Map<String, Value>,
    /// The same, as rules see them and as decisions record them.
    pub vars_content: Content,
    /// The project's data files, by stem.
    pub data: Content,
    /// The defects, categories and severities of the vocabulary, or nothing.
    pub taxonomy: Content,
    /// The name of the vocabulary, if there is one.
    pub domain: Option<String>,
    /// Reads what a failure says, by the data of the project.
    pub evidence: Arc<EvidenceReader>,
    /// The repositories of the project file.
    pub workspace: Content,
    /// The walker of a pipeline without a team.
    pub walker: TeamMember,
    /// The team, if the pipeline has one.
    pub team: Option<TeamPlan>,
    /// The done name, shared with the events.
    pub done: Name,
}

/// What a node needs beside its place in the graph.
#[derive(Clone, Debug)]
pub struct PlanNode {
    /// Its name, shared with the events.
    pub name: Name,
    /// Its name as rules see it, shared with the states they are given.
    pub view: View,
    /// The form of its artifact.
    pub kind: Kind,
    /// The script that answers it when nobody else does.
    pub responder: Option<ScriptFunction>,
    /// What its artifact makes the store do.
    pub effect: Option<ScriptFunction>,
    /// Its prompt.
    pub template: Option<Arc<Template>>,
    /// What its template says of the form of an answer: the parameter group `answer`.
    pub answer: Content,
    /// The reads it declares; those of its masks are theirs.
    pub needs: Vec<&'static Query>,
    /// Who is to answer it, in the order to be tried; empty if it does not say.
    pub via: Vec<Name>,
    /// The masks on it, the outermost first.
    pub masks: Vec<Arc<Mask>>,
    /// The tool that is called for its artifact.
    pub tool: Option<ToolPlan>,
    /// What is walked in its place, or for each of its items: its artifact, or that of the branch, is the last one of that walk.
    pub part: Option<Arc<Plan>>,
    /// For which items it is taken, if not once.
    pub fan: Option<ForeachPlan>,
}

/// The rule of an edge.
#[derive(Clone, Debug)]
pub struct EdgeRule {
    /// What decides.
    pub function: ScriptFunction,
    /// The inputs it may read, as paths (`artifact.confidence`), for a reason when it gives none.
    pub reads: Vec<Box<str>>,
    /// The content address of its script, with its imports.
    pub script: Hash,
}

impl PlanNode {
    /// The form of an artifact that somebody answers it with: of one of its items, if it is taken for some.
    pub fn answered(&self) -> &Kind {
        self.fan.as_ref().map_or(&self.kind, |fan| &fan.kind)
    }
}

impl Plan {
    /// The vars as rules see them.
    pub fn vars(&self) -> &View {
        self.vars_content.view().unwrap_or(&self.walker.view)
    }

    /// The value of a var: its own, or else that of the first walk within it that has one of that name.
    pub fn var(&self, name: &str) -> Option<&Value> {
        let within = || self.nodes.iter().filter_map(|node| node.part.as_ref()).find_map(|part| part.var(name));
        self.vars.get(name).or_else(within)
    }

    /// The names of its vars, and of those of the walks within it.
    pub fn var_names(&self) -> Vec<&str> {
        let within = self.nodes.iter().filter_map(|node| node.part.as_ref()).flat_map(|part| part.var_names());
        self.vars.keys().map(String::as_str).chain(within).collect()
    }

    /// A node's part of the plan.
    pub fn node(&self, node: NodeIx) -> &PlanNode {
        &self.nodes[node.0]
    }

    /// What the walk that a step belongs to goes by, given the step's path: of `3/court/1` that is what is walked as the node
    /// `court`. Nothing if there is no such node, or it is no walk.
    pub fn of_path(self: &Arc<Self>, path: &str) -> Option<Arc<Self>> {
        nodes_of(path).try_fold(Arc::clone(self), |plan, node| plan.node(plan.pipeline.node(node)?).part.clone())
    }

    /// This, what is walked within it at a step's path, and all between: the outermost first. Nothing if there is no such walk.
    pub fn through(&self, path: &str) -> Option<Vec<&Self>> {
        let mut plans = vec![self];
        for node in nodes_of(path) {
            let plan = *plans.last()?;
            plans.push(plan.node(plan.pipeline.node(node)?).part.as_deref()?);
        }
        Some(plans)
    }

    /// The form of an artifact that a step knows, given the step's path: of a node of its own walk, else of a walk around it.
    pub fn kind_at(&self, path: &str, name: &str) -> Option<Kind> {
        self.through(path)?.into_iter().rev().find_map(|plan| plan.kind(name))
    }

    /// The form of a node's artifact; the node may be one of a part (`court/indict`). Nothing if there is no such node.
    pub fn kind(&self, name: &str) -> Option<Kind> {
        if let Some(node) = self.pipeline.node(name) {
            return Some(self.node(node).kind.clone());
        }
        let (node, rest) = name.split_once('/')?;
        self.node(self.pipeline.node(node)?).part.as_ref()?.kind(rest)
    }

    /// Whether the graphs are the same, those of the parts too.
    pub fn same_graph(&self, other: &Self) -> bool {
        let parts = || self.nodes.iter().zip(&other.nodes).filter_map(|(a, b)| Some((a.part.as_ref()?, b.part.as_ref()?)));
        self.pipeline.same_graph(&other.pipeline) && parts().all(|(a, b)| a.same_graph(b))
    }

    /// The masks on all nodes, those of the parts too.
    pub fn masks(&self) -> Vec<Arc<Mask>> {
        let parts = self.nodes.iter().filter_map(|node| node.part.as_ref()).flat_map(|part| part.masks());
        self.nodes.iter().flat_map(|node| node.masks.iter().cloned()).chain(parts).collect()
    }

    /// An edge's rule.
    pub fn rule(&self, edge: EdgeIx) -> Option<&EdgeRule> {
        self.rules[edge.0].as_ref()
    }

    /// Who walks, given who took the last step: of the team, or `inherited` from the walk around this one, or the walker without a
    /// name.
    pub fn member<'a>(&'a self, name: Option<&str>, inherited: Option<&'a TeamMember>) -> &'a TeamMember {
        match &self.team {
            Some(team) => name.and_then(|name| team.member(name)).unwrap_or(&self.walker),
            None => inherited.unwrap_or(&self.walker),
        }
    }
}
