//! A pipeline as written: names are not resolved, invalid parts are left out.

use super::Spanned;
use super::foreach::Foreach;
use super::graph::{EdgeCondition, KnownField, OnRuleError, Team};
use super::policy::{NodePolicy, PolicyRules};
use super::roots::RootRule;
use super::thermal::Thermal;
use super::tool::ToolCall;
use super::vars::Var;
use super::verdict::VerdictRules;
use asterisk_base::model::Shape;
use asterisk_diag::Span;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The `from` of a guard.
pub(super) const ANY: &str = "*";
/// The usual name of the end.
pub(super) const USUAL_DONE: &str = "_done";

/// A pipeline as written.
#[derive(Debug, Default)]
pub(super) struct RawPipeline {
    pub(super) name: Option<Spanned<String>>,
    pub(super) description: String,
    pub(super) vars: BTreeMap<String, Var>,
    pub(super) zones: Vec<RawZone>,
    /// `None` without phases.
    pub(super) phases: Option<Vec<RawPhase>>,
    pub(super) phases_span: Option<Span>,
    pub(super) clusters: Option<RawClusters>,
    /// `None` if there is not a list of nodes at all.
    pub(super) nodes: Option<Vec<RawNode>>,
    pub(super) edges: Vec<RawEdge>,
    pub(super) start: Option<Spanned<String>>,
    pub(super) done: Option<Spanned<String>>,
    pub(super) team: Option<Team>,
    pub(super) report: Option<Spanned<String>>,
    pub(super) result: Option<Spanned<String>>,
    pub(super) verdict: Option<VerdictRules>,
    pub(super) roots: Vec<RootRule>,
    pub(super) counters: Vec<Spanned<String>>,
    pub(super) max_steps: Option<u64>,
    pub(super) thermal: Option<Thermal>,
    pub(super) deadline: Option<Spanned<String>>,
    pub(super) on_rule_error: OnRuleError,
    pub(super) policy: PolicyRules,
    /// Values for tasks.
    pub(super) memory: Map<String, Value>,
    /// Whether the dependencies of nodes determine their order.
    pub(super) waves: bool,
    /// Whether it is written as stages.
    pub(super) stages: bool,
}

/// A phase as written.
#[derive(Debug)]
pub(super) struct RawPhase {
    pub(super) name: Option<String>,
    pub(super) nodes: Vec<Spanned<String>>,
}

/// The clusters as written.
#[derive(Debug)]
pub(super) struct RawClusters {
    pub(super) before: Spanned<String>,
    pub(super) by: Spanned<String>,
    pub(super) most: usize,
}

/// A zone as written.
#[derive(Debug)]
pub(super) struct RawZone {
    pub(super) name: Spanned<String>,
    pub(super) nodes: Vec<Spanned<String>>,
    pub(super) element: Option<Spanned<String>>,
    pub(super) stickiness: u8,
}

/// A node as written.
#[derive(Debug, Default)]
pub(super) struct RawNode {
    pub(super) name: Option<Spanned<String>>,
    pub(super) code: Option<Spanned<String>>,
    pub(super) element: Option<Spanned<String>>,
    pub(super) family: Option<Spanned<String>>,
    pub(super) prompt: Option<Spanned<String>>,
    pub(super) artifact: Option<Spanned<String>>,
    pub(super) confidence: Option<Spanned<String>>,
    pub(super) schema: Option<Arc<Shape>>,
    pub(super) known: Vec<KnownField>,
    pub(super) needs: Vec<Spanned<String>>,
    pub(super) masks: Vec<Spanned<String>>,
    pub(super) accept: Option<Spanned<String>>,
    pub(super) effect: Option<Spanned<String>>,
    pub(super) script: Option<Spanned<String>>,
    pub(super) via: Vec<Spanned<String>>,
    pub(super) subpipeline: Option<Spanned<String>>,
    pub(super) tool: Option<ToolCall>,
    pub(super) foreach: Option<Foreach>,
    pub(super) after: Vec<Spanned<String>>,
    pub(super) fallback: Option<Spanned<String>>,
    pub(super) policy: Option<Box<NodePolicy>>,
}

/// An edge as written.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the language")]
pub(super) struct RawEdge {
    /// The whole edge.
    pub(super) whole: Span,
    /// Its first line, for labels.
    pub(super) head: Span,
    pub(super) id: Option<Spanned<String>>,
    pub(super) name: String,
    pub(super) from: Ref,
    pub(super) to: Ref,
    pub(super) targets: Vec<Spanned<String>>,
    pub(super) shortcut: bool,
    pub(super) looped: bool,
    pub(super) counter: Option<Spanned<String>>,
    pub(super) advisory: bool,
    pub(super) parallel: bool,
    pub(super) when: EdgeCondition,
    pub(super) when_span: Option<Span>,
    pub(super) context: Map<String, Value>,
}

/// A reference to a node.
#[derive(Debug)]
pub(super) enum Ref {
    /// Absent.
    Missing,
    /// Present but invalid; the error has been reported.
    Bad,
    /// A name.
    Name(Spanned<String>),
}
