//! The pipeline language: YAML text -> spanned tree -> what the text says -> the graph it means.

mod graph;
mod link;
mod mermaid;
mod raw;
mod read;
mod read_edge;
mod read_node;
mod scalar;
mod schema;
mod spanned;
pub mod yaml;

use crate::diag::{Diagnostics, Source};

pub use graph::{
    DEFAULT_MAX_STEPS, Edge, EdgeIx, EdgeSpans, Node, NodeIx, OnRuleError, Origin, Pipeline, Target, When, Zone, ZoneIx,
};
pub use mermaid::{mermaid, mermaid_coloured};
pub use spanned::Spanned;

/// Reads a pipeline. Every problem of the text is reported at once; a text that is not YAML has only its first.
pub fn parse(source: &Source) -> Result<Pipeline, Diagnostics> {
    let tree = yaml::parse(source)?;
    let mut reader = yaml::Reader::new(source, "pipeline");
    let raw = read::pipeline(&mut reader, &tree);
    let pipeline = link::link(&mut reader, raw);
    let found = reader.finish();
    match pipeline {
        Some(pipeline) => found.into_result(pipeline),
        None => Err(found),
    }
}
