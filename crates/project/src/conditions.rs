//! The inline conditions of pipelines, and the fields they may use.

use asterisk_base::model::{Kind, Shape};
use asterisk_diag::{Diagnostics, MappedText};
use asterisk_pipeline::{self as pipeline, ComputedValue, EdgeCondition, Pipeline};
use asterisk_script::{Condition, Library, LibraryInputs};
use std::collections::BTreeSet;

/// Compiles the inline conditions of a pipeline without any script.
pub fn check_conditions(pipeline: &Pipeline) -> Result<(), Diagnostics> {
    let conditions = conditions(pipeline, None);
    let inputs = LibraryInputs { scripts: Vec::new(), conditions, fields: fields(pipeline), ..LibraryInputs::default() };
    Library::link(inputs, None).map(|_| ())
}

/// The inline conditions, keyed by their edge's id, and the expressions for the items of nodes and the arguments of tools; those
/// of a sub-pipeline are also keyed by `part`, the reference to it.
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
        let items = computed(items_key(node), node.foreach.as_ref().map(|foreach| &foreach.items));
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

/// The key of the expression for the items of a node.
pub(super) fn items_key(node: &pipeline::PipelineNode) -> String {
    format!("foreach of {}", *node.name)
}

/// The key of the expression for the arguments of a node's tool.
pub(super) fn arguments_key(node: &pipeline::PipelineNode) -> String {
    format!("arguments of {}", *node.name)
}

/// The key of an edge's condition.
pub fn condition_key(part: Option<&str>, edge: &str) -> String {
    part.map_or_else(|| edge.to_owned(), |part| format!("{part}/{edge}"))
}
