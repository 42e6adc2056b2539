//! The inline conditions of pipelines, and the fields that these may name.

use crate::diag::{Diagnostics, MappedText};
use crate::model::{Kind, Shape};
use crate::pipeline::{self, ComputedValue, EdgeCondition, Pipeline};
use crate::script::{Condition, Library, LibraryInputs};
use std::collections::BTreeSet;

/// Compiles the inline conditions of a pipeline, without any script.
pub fn check_conditions(pipeline: &Pipeline) -> Result<(), Diagnostics> {
    let conditions = conditions(pipeline, None);
    let inputs = LibraryInputs { scripts: Vec::new(), conditions, fields: fields(pipeline), ..LibraryInputs::default() };
    Library::link(inputs, None).map(|_| ())
}

/// The inline conditions, each under its edge's id, and the expressions for the items of nodes and the arguments of tools; with a
/// `part`, which is what it is referred to as, under that too.
pub fn conditions(pipeline: &Pipeline, part: Option<&str>) -> Vec<Condition> {
    let condition = |key: String, text: &MappedText| Condition { key, text: text.clone(), locals: Vec::new() };
    let of_edge = |edge: &pipeline::Edge| match &edge.when {
        EdgeCondition::Condition(text) => Some(condition(condition_key(part, &edge.id), text)),
        _ => None,
    };
    let computed = |key: String, computed: Option<&ComputedValue>| match computed {
        Some(ComputedValue::Expression(text)) => Some(condition(condition_key(part, &key), text)),
        _ => None,
    };
    let of_node = |node: &pipeline::PipelineNode| {
        let items = computed(items_key(node), node.fan.as_ref().map(|fan| &fan.items));
        let arguments = node.tool.as_ref().and_then(|tool| tool.arguments.as_ref());
        items.into_iter().chain(computed(arguments_key(node), arguments))
    };
    pipeline.edges.iter().filter_map(of_edge).chain(pipeline.nodes.iter().flat_map(of_node)).collect()
}

/// The names of all fields that schemas declare, at any depth.
pub fn fields(pipeline: &Pipeline) -> BTreeSet<String> {
    fn of_shape(shape: &Shape, out: &mut BTreeSet<String>) {
        for field in &shape.fields {
            out.insert(field.name.clone());
            of_kind(&field.kind, out);
        }
    }
    fn of_kind(kind: &Kind, out: &mut BTreeSet<String>) {
        match kind {
            Kind::List(item) | Kind::Map(item) => of_kind(item, out),
            Kind::Object(shape) => of_shape(shape, out),
            _ => {}
        }
    }
    let mut out = BTreeSet::new();
    pipeline.nodes.iter().filter_map(|node| node.schema.as_ref()).for_each(|shape| of_shape(shape, &mut out));
    out
}

/// The name of the expression that gives the items of a node.
pub(super) fn items_key(node: &pipeline::PipelineNode) -> String {
    format!("foreach of {}", *node.name)
}

/// The name of the expression that gives the arguments of a node's tool.
pub(super) fn arguments_key(node: &pipeline::PipelineNode) -> String {
    format!("arguments of {}", *node.name)
}

/// What the condition of an edge is found by.
pub fn condition_key(part: Option<&str>, edge: &str) -> String {
    part.map_or_else(|| edge.to_owned(), |part| format!("{part}/{edge}"))
}
