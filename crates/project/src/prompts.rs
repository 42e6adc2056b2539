//! Checks the parameters that templates use: the groups of parameters, and the queries that the node declares.

use asterisk_diag::{Diagnostic, Diagnostics, did_you_mean};
use asterisk_pipeline::{Pipeline, PipelineNode};
use asterisk_prompt::{ParameterGroup, Templates};
use asterisk_script::View;
use asterisk_walk::{self as walk, Content, GROUPS, NEEDS, PlanNode};

/// The groups of parameters, with the fields of each.
fn groups() -> Vec<ParameterGroup> {
    let needs = || NEEDS.iter().map(walk::Query::field).collect();
    let fields = |group: &walk::FieldGroup| match group.name {
        "needs" => needs(),
        _ => group.fields.iter().map(|field| field.name.to_owned()).collect(),
    };
    GROUPS.iter().map(|group| ParameterGroup { name: group.name.to_owned(), fields: fields(group) }).collect()
}

/// Reports unknown parameters in templates.
pub(super) fn check_names(templates: &Templates, found: &mut Diagnostics) {
    templates.check_names(&groups(), found);
}

/// Reports queries that a node's template reads but the node does not declare.
pub(super) fn check(pipeline: &Pipeline, linked: &[PlanNode], templates: &Templates, found: &mut Diagnostics) {
    for (node, linked) in pipeline.nodes.iter().zip(linked) {
        let Some(path) = path(node, templates) else { continue };
        for name in templates.names(&path) {
            let Some(need) = name.path.strip_prefix("needs.").and_then(|rest| rest.split('.').next()) else { continue };
            let Some(known) = NEEDS.iter().find(|known| known.field() == need) else { continue };
            let of_masks = linked.masks.iter().flat_map(|mask| &mask.needs);
            let declared = linked.needs.iter().chain(of_masks).any(|declared| declared.name == known.name);
            // A template that checks whether it is defined expects that it may not be.
            if declared || name.source.text().contains(&format!("needs.{need} is defined")) {
                continue;
            }
            let message = format!("the prompt of `{}` reads `needs.{need}`, which the node does not declare", *node.name);
            let hint = did_you_mean(known.name, node.needs.iter().map(|declared| declared.value.as_str()));
            let help = format!(
                "add `{}` to the node's `needs:`{}",
                known.name,
                hint.map_or(String::new(), |hint| format!(", or {hint}"))
            );
            let problem = Diagnostic::error("project/undeclared-need", message).label(&name.source, name.span, "read here");
            found.push(problem.label(&pipeline.source, node.name.span, "by this node").help(help));
        }
    }
}

/// The template of a node: the one it names, otherwise that of its family, if there is one.
fn path(node: &PipelineNode, templates: &Templates) -> Option<String> {
    let path = node.prompt.as_ref().map_or_else(|| format!("{}.md", *node.family), |prompt| prompt.value.clone());
    templates.get(&path).map(|template| template.source().name().to_owned())
}

/// The shape of a node's answer for templates.
pub(super) fn answer(node: &PipelineNode) -> Content {
    let shape = node.schema.as_ref().map_or_else(String::new, |shape| shape.outline());
    Content::new(View::object("params.answer", [("shape", View::from(shape))]))
}
