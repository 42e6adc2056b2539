//! The resolved pipeline: nodes and edges refer to each other by index.

use super::Spanned;
use super::computed::ComputedValue;
use super::foreach::{Foreach, Merge};
use super::policy::{NodePolicy, PolicyRules};
use super::roots::RootRule;
use super::thermal::Thermal;
use super::tool::ToolCall;
use super::vars::Var;
use super::verdict::VerdictRules;
use asterisk_base::model::Shape;
use asterisk_diag::{MappedText, Source, Span};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The default maximum number of steps of a walk.
pub const DEFAULT_MAX_STEPS: u64 = 256;
/// The default maximum number of steps of a walk by a team (`docs/decisions/0008-routing-and-step-cap.md`).
pub const TEAM_MAX_STEPS: u64 = 64;

/// A node of a [`Pipeline`], as an index into [`Pipeline::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIx(pub usize);

/// An edge of a [`Pipeline`], as an index into [`Pipeline::edges`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeIx(pub usize);

/// A zone of a [`Pipeline`], as an index into [`Pipeline::zones`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ZoneIx(pub usize);

/// A resolved pipeline. Immutable once linked.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// The name (`pipeline:`).
    pub name: Spanned<String>,
    /// The description; empty if not given.
    pub description: String,
    /// The source text; every span below refers to it.
    pub source: Source,
    /// The vars visible to rules, by name.
    pub vars: BTreeMap<String, Var>,
    /// The zones, in file order.
    pub zones: Vec<Zone>,
    /// The number of phases, at least 1: no case of a run enters a phase before all have left the earlier ones.
    pub phases: usize,
    /// The names of the phases, where given.
    pub phase_names: Vec<Option<String>>,
    /// Which similar cases wait for a representative.
    pub clusters: Option<Clusters>,
    /// The nodes, in file order.
    pub nodes: Vec<PipelineNode>,
    /// All edges, in file order: routing edges, advisories and guards.
    pub edges: Vec<Edge>,
    /// The guards (`from: "*"`), in file order.
    pub guards: Vec<EdgeIx>,
    /// The first node of a walk.
    pub start: NodeIx,
    /// The name of the end (`_done`); never a node's name.
    pub done: Spanned<String>,
    /// The team of walkers; without it, a single unnamed walker.
    pub team: Option<Team>,
    /// The function that summarises a case for the report (`reports/rca.rhai#summary`).
    pub report: Option<Spanned<String>>,
    /// The function that returns the artifact of a node that walks this pipeline (`rules/court.rhai#ruling`).
    pub result: Option<Spanned<String>>,
    /// How the defect of a case is decided.
    pub verdict: Option<VerdictRules>,
    /// The rules that decide which cases have one cause, in file order.
    pub roots: Vec<RootRule>,
    /// Counters read by its rules but maintained by the enclosing walk, if this is a subpipeline.
    pub counters: Vec<Spanned<String>>,
    /// The maximum number of steps of a walk; `None` for no limit (written `max_steps: 0`).
    pub max_steps: Option<u64>,
    /// The time budget for the answers of a case, if any.
    pub thermal: Option<Thermal>,
    /// The var that says how many milliseconds a case may take.
    pub deadline: Option<Spanned<String>>,
    /// The effect of a rule that throws.
    pub on_rule_error: OnRuleError,
    /// The policy, as written.
    pub policy: PolicyRules,
    /// Values that tasks may read, unless a run has others.
    pub memory: Map<String, Value>,
    /// Whether the dependencies of its nodes determine their order, without edges.
    pub waves: bool,
    /// Whether it is written as stages.
    pub stages: bool,
}

/// What happens when a rule throws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnRuleError {
    /// The walk stops with the rule's diagnostic.
    #[default]
    Stop,
    /// The edge counts as not fired, and the journal records the error.
    Skip,
}

/// Clusters of similar cases, formed before a phase: the representative of each cluster walks the phase ahead of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Clusters {
    /// The phase they are formed before, at least 1; phases count from 0.
    pub phase: usize,
    /// The function that returns the cluster key of a case (`rules/rca.rhai#cluster_key`), called with `(params, vars)`: a map.
    /// Cases with equal keys are clustered; one with an empty key is not.
    pub by: Spanned<String>,
    /// The maximum number of cases in a cluster, at least 2.
    pub most: usize,
}

/// A team of walkers and its scheduler.
#[derive(Clone, Debug, PartialEq)]
pub struct Team {
    /// The walkers, in the order written; at least one.
    pub walkers: Vec<TeamWalker>,
    /// The script that chooses the walker of every step (`schedulers/affinity.rhai`), called with `(ctx)`.
    pub scheduler: Spanned<String>,
    /// The text that declares the team: the pipeline, or a separate team file.
    pub source: Source,
    /// The span of the team in `source`.
    pub span: Span,
}

/// A walker of a team.
#[derive(Clone, Debug, PartialEq)]
pub enum TeamWalker {
    /// A persona, by name.
    Persona(Spanned<String>),
    /// A walker declared in place, as written.
    Own(asterisk_form::yaml::Yaml),
}

/// A group of nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    pub name: Spanned<String>,
    /// Its nodes, in the order written.
    pub nodes: Vec<NodeIx>,
    /// The element of the zone, if given; a name from the element data.
    pub element: Option<Spanned<String>>,
    /// How strongly a walker is kept in the zone, 0 (free) to 3 (exclusive).
    pub stickiness: u8,
}

/// A field of an artifact whose text must be known to the domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownField {
    /// The field, with dots within fields.
    pub path: Spanned<String>,
    /// The list of the domain that knows it: `defects` or `categories`.
    pub list: &'static str,
}

/// A step of the pipeline, which produces an artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelineNode {
    /// The name, unique in the pipeline.
    pub name: Spanned<String>,
    /// A short code for display, paths and signals (`F0`).
    pub code: Option<Spanned<String>>,
    /// Its element; a name from the element data.
    pub element: Option<Spanned<String>>,
    /// Determines the responder and the prompt when they are not given; defaults to the node's name.
    pub family: Spanned<String>,
    /// The template of its prompt.
    pub prompt: Option<Spanned<String>>,
    /// The file name of its artifact.
    pub artifact: Option<Spanned<String>>,
    /// The field with the artifact's confidence.
    pub confidence: Option<Spanned<String>>,
    /// The shape of its artifact.
    pub schema: Option<Arc<Shape>>,
    /// Fields of its artifact whose texts must be known to the domain.
    pub known: Vec<KnownField>,
    /// The queries whose results it reads.
    pub needs: Vec<Spanned<String>>,
    /// The masks on it (`masks/recall.rhai`), outermost first.
    pub masks: Vec<Spanned<String>>,
    /// The function that an answer passes before the schema (`rules/court.rhai#accept_verdict`).
    pub accept: Option<Spanned<String>>,
    /// The function that turns its artifact into effects (`effects/rca.rhai#recall`).
    pub effect: Option<Spanned<String>>,
    /// The function that answers it instead of its family's responder.
    pub script: Option<Spanned<String>>,
    /// Its answerers, in the order to be tried; empty for those of the run.
    pub via: Vec<Spanned<String>>,
    /// The subpipeline that answers it (`pipeline:`), or each item of its list (`do:`): the last artifact of the subpipeline is
    /// that of the node or branch.
    pub subpipeline: Option<Spanned<String>>,
    /// The tool called for its artifact (`tool:`), or for that of each item.
    pub tool: Option<ToolCall>,
    /// The list whose items it runs for (`foreach:`).
    pub foreach: Option<Foreach>,
    /// The nodes it waits for (`after:`).
    pub after: Vec<NodeIx>,
    /// What surrounds its answer, if anything does.
    pub policy: Option<Box<NodePolicy>>,
    /// The target taken when none of its edges fires.
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

/// The origin of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeOrigin {
    /// One node.
    Node(NodeIx),
    /// Every node: the edge is a guard (`from: "*"`).
    Any,
}

/// The target of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeTarget {
    /// A node.
    Node(NodeIx),
    /// The end of the walk.
    Done,
}

/// The condition of an edge.
#[derive(Clone, Debug, PartialEq)]
pub enum EdgeCondition {
    /// Always fires.
    Always,
    /// Fires when a script function returns a positive outcome (`rules/rca.rhai#recall_hit`).
    Rule(Spanned<String>),
    /// Fires when an inline expression is true; spans of the expression map back into the pipeline's text.
    Condition(MappedText),
}

/// An edge from a node, or, for a guard, from every node.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the language")]
pub struct Edge {
    /// The id, unique in the pipeline.
    pub id: Spanned<String>,
    /// The human-readable name; empty if not given.
    pub name: String,
    pub from: EdgeOrigin,
    /// The target unless the rule chooses another. Only an advisory may have none.
    pub to: Option<EdgeTarget>,
    /// Alternative targets that the rule may choose besides `to`.
    pub targets: Vec<Spanned<EdgeTarget>>,
    /// Whether it skips steps of the regular path.
    pub shortcut: bool,
    /// Whether it goes back: taking it increments its counter.
    pub looped: bool,
    /// The counter incremented by taking it; that of a looped edge defaults to the edge's id.
    pub counter: Option<String>,
    /// Whether it only adds context and never routes.
    pub advisory: bool,
    /// Whether it is taken together with all other parallel edges of its node that fire.
    pub parallel: bool,
    pub when: EdgeCondition,
    /// Context added to the walk when it is taken (an advisory: when it fires).
    pub context: Map<String, Value>,
    pub spans: EdgeSpans,
}

/// The spans of an edge in the pipeline's text.
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
    /// The node at an index of this pipeline.
    pub fn at(&self, ix: NodeIx) -> &PipelineNode {
        &self.nodes[ix.0]
    }

    /// The edge at an index of this pipeline.
    pub fn edge_at(&self, ix: EdgeIx) -> &Edge {
        &self.edges[ix.0]
    }

    /// The node with this name.
    pub fn node(&self, name: &str) -> Option<NodeIx> {
        self.nodes.iter().position(|node| *node.name == name).map(NodeIx)
    }

    /// The edge with this id.
    pub fn edge(&self, id: &str) -> Option<EdgeIx> {
        self.edges.iter().position(|edge| *edge.id == id).map(EdgeIx)
    }

    /// The zone of a node, if any.
    pub fn zone_of(&self, node: NodeIx) -> Option<&Zone> {
        self.at(node).zone.map(|ix| &self.zones[ix.0])
    }

    /// Every function referenced as `file.rhai#function`; schedulers and masks are whole scripts and not included.
    pub fn functions(&self) -> impl Iterator<Item = &Spanned<String>> {
        let rules =
            self.edges.iter().filter_map(|edge| if let EdgeCondition::Rule(rule) = &edge.when { Some(rule) } else { None });
        let of_nodes = self.nodes.iter().flat_map(|node| {
            let items = node.foreach.as_ref().map(|foreach| &foreach.items);
            let arguments = node.tool.as_ref().and_then(|tool| tool.arguments.as_ref());
            let computed = items
                .into_iter()
                .chain(arguments)
                .filter_map(|one| if let ComputedValue::Function(name) = one { Some(name) } else { None });
            let merge = node
                .foreach
                .as_ref()
                .and_then(|foreach| if let Merge::Function(name) = &foreach.merge { Some(name) } else { None });
            let judge = node.tool.as_ref().and_then(|tool| tool.judge.as_ref());
            node.script.iter().chain(&node.accept).chain(&node.effect).chain(computed).chain(merge).chain(judge)
        });
        let by = self.clusters.iter().map(|clusters| &clusters.by);
        let verdict = self.verdict.iter().flat_map(VerdictRules::functions);
        let roots = self.roots.iter().map(|root| &root.rule);
        rules.chain(of_nodes).chain(by).chain(&self.report).chain(&self.result).chain(verdict).chain(roots)
    }

    /// The name of a node's phase; an unnamed phase is called after its last node.
    pub fn phase_name(&self, node: NodeIx) -> &str {
        let own = self.at(node).phase;
        if let Some(Some(name)) = self.phase_names.get(own) {
            return name;
        }
        self.nodes.iter().rfind(|node| node.phase == own).map_or("", |node| node.name.as_str())
    }

    /// The name of a target: a node's name, or the name of the end.
    pub fn target_name(&self, target: EdgeTarget) -> &str {
        match target {
            EdgeTarget::Node(ix) => &self.at(ix).name,
            EdgeTarget::Done => &self.done,
        }
    }

    /// Resolves the text of a target: a node's name, its code (`F2`), its step name (`F2_RESOLVE`) or the name of the end,
    /// compared exactly.
    pub fn resolve_target(&self, text: &str) -> Option<EdgeTarget> {
        if text == *self.done {
            return Some(EdgeTarget::Done);
        }
        let by_name = || self.nodes.iter().position(|node| *node.name == text);
        let by_code = || self.nodes.iter().position(|node| node.code.as_deref().is_some_and(|code| code == text));
        let by_step = || self.nodes.iter().position(|node| node.code.is_some() && node.step_name() == text);
        by_name().or_else(by_code).or_else(by_step).map(|ix| EdgeTarget::Node(NodeIx(ix)))
    }

    /// Resolves a text among the targets that an edge's rule may choose: its `to` and its `targets`.
    pub fn resolve_choice(&self, edge: &Edge, text: &str) -> Option<EdgeTarget> {
        self.resolve_target(text).filter(|target| edge.choices().any(|choice| choice == *target))
    }

    /// Whether nodes wait for others: then all nodes with nothing left to wait for run in parallel, wave by wave.
    pub fn waves(&self) -> bool {
        self.waves
    }

    /// The nodes by wave, each in file order: a node is in the first wave after those that it waits for.
    pub fn wave_nodes(&self) -> Vec<Vec<NodeIx>> {
        let mut level: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut waves = Vec::new();
        loop {
            let ready = |at: &usize| level[*at].is_none() && self.nodes[*at].after.iter().all(|node| level[node.0].is_some());
            let wave: Vec<usize> = (0..self.nodes.len()).filter(ready).collect();
            if wave.is_empty() {
                return waves;
            }
            for at in &wave {
                level[*at] = Some(waves.len());
            }
            waves.push(wave.into_iter().map(NodeIx).collect());
        }
    }

    /// The defaults of the vars, as the JSON object visible to rules.
    pub fn vars_json(&self) -> Map<String, Value> {
        self.vars.iter().map(|(name, var)| (name.clone(), var.default.value.clone())).collect()
    }
}

impl PipelineNode {
    /// The name of the step in signals and state files: `F2_RESOLVE` for a node `resolve` with code `F2`, otherwise the name in
    /// capitals. Characters that are not letters or digits become `_`.
    pub fn step_name(&self) -> String {
        step_name(self.code.as_ref().map(|code| code.value.as_str()), &self.name)
    }
}

/// The step name for a code and a node's name.
pub(super) fn step_name(code: Option<&str>, name: &str) -> String {
    let capitals = name.to_uppercase().replace(|c: char| !c.is_alphanumeric(), "_");
    code.map_or(capitals.clone(), |code| format!("{code}_{capitals}"))
}

impl Edge {
    /// Whether the edge is a guard (`from: "*"`).
    pub fn is_guard(&self) -> bool {
        self.from == EdgeOrigin::Any
    }

    /// Every possible target of the edge: its `to`, then its `targets`.
    pub fn choices(&self) -> impl Iterator<Item = EdgeTarget> + '_ {
        self.to.into_iter().chain(self.targets.iter().map(|target| target.value))
    }
}
