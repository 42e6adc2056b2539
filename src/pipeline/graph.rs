//! What a pipeline means: nodes and edges that refer to each other by index, every reference resolved.

use super::Spanned;
use super::computed::ComputedValue;
use super::foreach::{Foreach, Merge};
use super::thermal::Thermal;
use super::tool::ToolCall;
use super::vars::Var;
use crate::diag::{MappedText, Source, Span};
use crate::model::Shape;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The steps a walk may take when the pipeline does not say.
pub const DEFAULT_MAX_STEPS: u64 = 256;
/// The steps a walk of a team may take when the pipeline does not say (`decisions.md` 14).
pub const TEAM_MAX_STEPS: u64 = 64;

/// A node of a [`Pipeline`], by its place in [`Pipeline::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIx(pub usize);

/// An edge of a [`Pipeline`], by its place in [`Pipeline::edges`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeIx(pub usize);

/// A zone of a [`Pipeline`], by its place in [`Pipeline::zones`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ZoneIx(pub usize);

/// A whole pipeline. Immutable once linked.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// Its name (`pipeline:`).
    pub name: Spanned<String>,
    /// What it is for; empty if not given.
    pub description: String,
    /// The text it was read from; every span below lies in it.
    pub source: Source,
    /// The vars its rules see, by name.
    pub vars: BTreeMap<String, Var>,
    /// The zones, in file order.
    pub zones: Vec<Zone>,
    /// How many phases its nodes are in, at least 1: no case of a run enters a phase before all have left the earlier ones.
    pub phases: usize,
    /// What each phase is called, where the pipeline says so.
    pub phase_names: Vec<Option<String>>,
    /// Which cases wait for another one that is like them.
    pub clusters: Option<Clusters>,
    /// The nodes, in file order.
    pub nodes: Vec<PipelineNode>,
    /// All edges, in file order: routing edges, advisories and guards.
    pub edges: Vec<Edge>,
    /// The guards (`from: "*"`), in file order.
    pub guards: Vec<EdgeIx>,
    /// Where a walk starts.
    pub start: NodeIx,
    /// The name of the end (`_done`); never a node's name.
    pub done: Spanned<String>,
    /// Who walks, if not one walker without a name.
    pub team: Option<Team>,
    /// The function that sums a case up for the report (`reports/rca.rhai#summary`).
    pub report: Option<Spanned<String>>,
    /// Counters that its rules read and the walk around it counts, where it is walked as a node.
    pub counters: Vec<Spanned<String>>,
    /// The most steps a walk may take; `None` for no cap (written `max_steps: 0`).
    pub max_steps: Option<u64>,
    /// How long the answers of a case may take, if that is bounded.
    pub thermal: Option<Thermal>,
    /// What a rule that throws does to the walk.
    pub on_rule_error: OnRuleError,
}

/// What happens when a rule throws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnRuleError {
    /// The walk stops with the rule's diagnostic.
    #[default]
    Stop,
    /// The edge counts as not fired, and the journal says so.
    Skip,
}

/// Cases that are alike, before a phase: the first of each cluster walks the phase ahead of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Clusters {
    /// The phase they are formed before, at least 1; phases count from 0.
    pub phase: usize,
    /// The function that says what a case is known by (`rules/rca.rhai#cluster_key`), given `(params, vars)`: a map. Cases of the
    /// same map are alike; of an empty one is like no other.
    pub by: Spanned<String>,
    /// How many cases a cluster has at most, at least 2.
    pub most: usize,
}

/// Who may walk, and who chooses among them.
#[derive(Clone, Debug, PartialEq)]
pub struct Team {
    /// The walkers, in the order written; at least one.
    pub walkers: Vec<TeamWalker>,
    /// The script that chooses one for every step (`schedulers/affinity.rhai`), given `(ctx)`.
    pub scheduler: Spanned<String>,
    /// Where it stands: the pipeline's text, or that of a team from outside.
    pub source: Source,
    /// Where there.
    pub span: Span,
}

/// One of a team.
#[derive(Clone, Debug, PartialEq)]
pub enum TeamWalker {
    /// A persona, by name.
    Persona(Spanned<String>),
    /// One of the pipeline's own, as written.
    Own(crate::form::yaml::Yaml),
}

/// A group of nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    /// Its name.
    pub name: Spanned<String>,
    /// Its nodes, in the order written.
    pub nodes: Vec<NodeIx>,
    /// The element of the zone, if given; a name from the element data.
    pub element: Option<Spanned<String>>,
    /// How strongly a walker is kept in the zone, 0 (free) to 3 (exclusive).
    pub stickiness: u8,
}

/// A step of the pipeline: something answers it with an artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelineNode {
    /// Its name, unique in the pipeline.
    pub name: Spanned<String>,
    /// A short code for people, paths and signals (`F0`).
    pub code: Option<Spanned<String>>,
    /// Its element; a name from the element data.
    pub element: Option<Spanned<String>>,
    /// What names its responder and its prompt when they are not given; the node's name if not given itself.
    pub family: Spanned<String>,
    /// The template of its prompt.
    pub prompt: Option<Spanned<String>>,
    /// The file name of its artifact.
    pub artifact: Option<Spanned<String>>,
    /// The field that holds the artifact's confidence.
    pub confidence: Option<Spanned<String>>,
    /// The form of its artifact.
    pub schema: Option<Arc<Shape>>,
    /// The queries whose answers it wants.
    pub needs: Vec<Spanned<String>>,
    /// The masks on it (`masks/recall.rhai`), the outermost first.
    pub masks: Vec<Spanned<String>>,
    /// The function that turns its artifact into writes (`effects/rca.rhai#recall`).
    pub effect: Option<Spanned<String>>,
    /// The function that answers it instead of its family's responder.
    pub script: Option<Spanned<String>>,
    /// Who answers it, in the order to be tried; empty if whoever answers the run does.
    pub via: Vec<Spanned<String>>,
    /// The pipeline that is walked as this node (`pipeline:`), or for each item of its list (`do:`): its last artifact is the
    /// node's, or the branch's.
    pub part: Option<Spanned<String>>,
    /// The tool that is called for its artifact (`tool:`), or that of each item.
    pub tool: Option<ToolCall>,
    /// For which items it is taken, if not once (`foreach:`).
    pub fan: Option<Foreach>,
    /// The nodes it waits for (`after:`).
    pub after: Vec<NodeIx>,
    /// Where a walk goes when none of its edges fires.
    pub fallback: Option<EdgeTarget>,
    /// Its phase, counted from 0.
    pub phase: usize,
    /// The first zone, in file order, that lists it.
    pub zone: Option<ZoneIx>,
    /// Its routing edges, in file order: the first that fires wins.
    pub edges: Vec<EdgeIx>,
    /// Its advisory edges, in file order.
    pub advisories: Vec<EdgeIx>,
}

/// Where an edge may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeOrigin {
    /// One node.
    Node(NodeIx),
    /// Every node: the edge is a guard (`from: "*"`).
    Any,
}

/// Where a walk may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeTarget {
    /// To a node.
    Node(NodeIx),
    /// To the end.
    Done,
}

/// When an edge fires.
#[derive(Clone, Debug, PartialEq)]
pub enum EdgeCondition {
    /// Always.
    Always,
    /// When a script function says so (`rules/rca.rhai#recall_hit`).
    Rule(Spanned<String>),
    /// When an inline expression holds; spans of the expression map back into the pipeline's text.
    Condition(MappedText),
}

/// A way from a node (or, of a guard, from every node).
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the language")]
pub struct Edge {
    /// Its id, unique in the pipeline.
    pub id: Spanned<String>,
    /// What people call it; empty if not given.
    pub name: String,
    /// Where it comes from.
    pub from: EdgeOrigin,
    /// Where it goes unless its rule chooses otherwise. Always given, except that an advisory may go without.
    pub to: Option<EdgeTarget>,
    /// What its rule may choose from besides `to`, each with its place.
    pub targets: Vec<Spanned<EdgeTarget>>,
    /// Whether it skips steps of the usual way.
    pub shortcut: bool,
    /// Whether it goes back: taking it adds one to its counter.
    pub looped: bool,
    /// The counter that taking it adds one to: of a looped edge the one given or else the edge's id.
    pub counter: Option<String>,
    /// Whether it only adds context and never routes.
    pub advisory: bool,
    /// Whether the walk goes by it and by all others of its node that are so and fire.
    pub parallel: bool,
    /// When it fires.
    pub when: EdgeCondition,
    /// What taking it (or, of an advisory, its firing) adds to the walk's context.
    pub context: Map<String, Value>,
    /// Where its parts stand.
    pub spans: EdgeSpans,
}

/// Where the parts of an edge stand in the pipeline's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeSpans {
    /// The whole edge.
    pub whole: Span,
    /// The value of `from`.
    pub from: Span,
    /// The value of `to`.
    pub to: Option<Span>,
    /// The value of `rule` or `condition`.
    pub when: Option<Span>,
}

impl Pipeline {
    /// The node at an index (of this pipeline).
    pub fn at(&self, ix: NodeIx) -> &PipelineNode {
        &self.nodes[ix.0]
    }

    /// The edge at an index (of this pipeline).
    pub fn edge_at(&self, ix: EdgeIx) -> &Edge {
        &self.edges[ix.0]
    }

    /// The node of that name.
    pub fn node(&self, name: &str) -> Option<NodeIx> {
        self.nodes.iter().position(|node| *node.name == name).map(NodeIx)
    }

    /// The edge of that id.
    pub fn edge(&self, id: &str) -> Option<EdgeIx> {
        self.edges.iter().position(|edge| *edge.id == id).map(EdgeIx)
    }

    /// The zone a node belongs to, if any.
    pub fn zone_of(&self, node: NodeIx) -> Option<&Zone> {
        self.at(node).zone.map(|ix| &self.zones[ix.0])
    }

    /// Every function that is named as `file.rhai#function`; who chooses a walker, and masks, are whole scripts.
    pub fn functions(&self) -> impl Iterator<Item = &Spanned<String>> {
        let rules =
            self.edges.iter().filter_map(|edge| if let EdgeCondition::Rule(rule) = &edge.when { Some(rule) } else { None });
        let of_nodes = self.nodes.iter().flat_map(|node| {
            let items = node.fan.as_ref().map(|fan| &fan.items);
            let arguments = node.tool.as_ref().and_then(|tool| tool.arguments.as_ref());
            let computed = items
                .into_iter()
                .chain(arguments)
                .filter_map(|one| if let ComputedValue::Function(name) = one { Some(name) } else { None });
            let merge = node.fan.as_ref().and_then(|fan| if let Merge::Function(name) = &fan.merge { Some(name) } else { None });
            node.script.iter().chain(&node.effect).chain(computed).chain(merge)
        });
        let by = self.clusters.iter().map(|clusters| &clusters.by);
        rules.chain(of_nodes).chain(by).chain(&self.report)
    }

    /// What the phase of a node is called: its name, or else that of its last node.
    pub fn phase_name(&self, node: NodeIx) -> &str {
        let own = self.at(node).phase;
        if let Some(Some(name)) = self.phase_names.get(own) {
            return name;
        }
        self.nodes.iter().rfind(|node| node.phase == own).map_or("", |node| node.name.as_str())
    }

    /// The name of a target: a node's, or the done name.
    pub fn target_name(&self, target: EdgeTarget) -> &str {
        match target {
            EdgeTarget::Node(ix) => &self.at(ix).name,
            EdgeTarget::Done => &self.done,
        }
    }

    /// What a text that names a target means: a node's name, its code (`F2`), its step name (`F2_RESOLVE`) or the done
    /// name, compared exactly (`decisions.md` 42).
    pub fn resolve_target(&self, text: &str) -> Option<EdgeTarget> {
        if text == *self.done {
            return Some(EdgeTarget::Done);
        }
        let by_name = || self.nodes.iter().position(|node| *node.name == text);
        let by_code = || self.nodes.iter().position(|node| node.code.as_deref().is_some_and(|code| code == text));
        let by_step = || self.nodes.iter().position(|node| node.code.is_some() && node.step_name() == text);
        by_name().or_else(by_code).or_else(by_step).map(|ix| EdgeTarget::Node(NodeIx(ix)))
    }

    /// The same among what an edge's rule may choose: its `to` and its `targets`.
    pub fn resolve_choice(&self, edge: &Edge, text: &str) -> Option<EdgeTarget> {
        self.resolve_target(text).filter(|target| edge.choices().any(|choice| choice == *target))
    }

    /// Whether nodes wait for others: then those that wait for none any more are taken beside each other, wave by wave.
    pub fn waves(&self) -> bool {
        self.nodes.iter().any(|node| !node.after.is_empty())
    }

    /// The defaults of the vars as the JSON object that rules see.
    pub fn vars_json(&self) -> Map<String, Value> {
        self.vars.iter().map(|(name, var)| (name.clone(), var.default.value.clone())).collect()
    }
}

impl PipelineNode {
    /// What signals and state files call the step: `F2_RESOLVE` for a node `resolve` with code `F2`, else the name in
    /// capitals. Characters that are not letters or digits become `_`.
    pub fn step_name(&self) -> String {
        step_name(self.code.as_ref().map(|code| code.value.as_str()), &self.name)
    }
}

/// The step name of a code and a node's name.
pub(super) fn step_name(code: Option<&str>, name: &str) -> String {
    let capitals = name.to_uppercase().replace(|c: char| !c.is_alphanumeric(), "_");
    code.map_or(capitals.clone(), |code| format!("{code}_{capitals}"))
}

impl Edge {
    /// Whether the edge is a guard (`from: "*"`).
    pub fn is_guard(&self) -> bool {
        self.from == EdgeOrigin::Any
    }

    /// Everything the edge may lead to: its `to`, then its `targets`.
    pub fn choices(&self) -> impl Iterator<Item = EdgeTarget> + '_ {
        self.to.into_iter().chain(self.targets.iter().map(|target| target.value))
    }
}
