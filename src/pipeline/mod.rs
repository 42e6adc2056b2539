//! The pipeline language: YAML text -> spanned tree -> what the text says -> the graph it means.

mod graph;
mod spanned;

pub use graph::{
    DEFAULT_MAX_STEPS, Edge, EdgeIx, EdgeSpans, Node, NodeIx, OnRuleError, Origin, Pipeline, Target, When, Zone, ZoneIx,
};
pub use spanned::Spanned;
