//! Reads a pipeline of stages into a raw pipeline of nodes that wait for each other.

use super::{node, policy};
use crate::keys::STAGE;
use crate::policy::{Council, GateRules, NodePolicy, TaskText};
use crate::raw::{RawNode, RawPipeline, USUAL_DONE};
use asterisk_diag::{Span, did_you_mean};
use asterisk_form::yaml::{Yaml, YamlReader};
use asterisk_form::{FormFields, Spanned};

/// Reads the file, whose form has been checked.
pub(super) fn stages(reader: &mut YamlReader<'_>, fields: FormFields<'_>) -> RawPipeline {
    let stem = reader.source().name().rsplit('/').next().unwrap_or_default();
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem).to_owned();
    let top = fields.key_span("stages");
    let list = fields.list("stages").unwrap_or_default();
    if fields.present("stages").is_none() || (list.is_empty() && fields.list("stages").is_some()) {
        let error = reader.error("no-nodes", "the pipeline needs stages", top, "");
        reader.push(error.help("list them: `stages: [{ name: ..., agent: ..., advisor: ..., task: ... }]`"));
    }
    let mut nodes: Vec<RawNode> = list.iter().filter_map(|yaml| stage(reader, yaml)).collect();
    dependencies(reader, fields, &mut nodes);
    RawPipeline {
        name: Some(fields.text("pipeline").or_else(|| fields.text("name")).unwrap_or_else(|| Spanned::new(stem, top))),
        description: fields.label("description"),
        policy: policy::of_pipeline(reader, fields),
        memory: super::memory(fields),
        nodes: Some(nodes),
        done: Some(Spanned::new(USUAL_DONE.to_owned(), Span::default())),
        report: fields.text("report"),
        waves: true,
        stages: true,
        ..RawPipeline::default()
    }
}

/// Reads a stage; `None` if it is not a map.
fn stage(reader: &mut YamlReader<'_>, yaml: &Yaml) -> Option<RawNode> {
    let fields = FormFields::of(yaml, &STAGE)?;
    let name = fields.text("name");
    let what = name.as_ref().map_or("a stage".to_owned(), |name| format!("stage `{name}`"));
    node::segment(reader, name.as_ref(), "name", &what);
    let (written, retry) = policy::retries(fields);
    let own = fields.value("max_retries").and_then(|yaml| {
        let retries = u64::try_from(fields.whole("max_retries")?).ok()?;
        Some(Spanned::new(retries, yaml.span))
    });
    let advisor = fields.text("advisor");
    let gate = advisor.map(|advisor| GateRules {
        span: advisor.span,
        council: Council { members: vec![advisor], ..Council::default() },
        min_score: policy::number(fields, "min_score"),
    });
    let task = fields.text("task").unwrap_or_else(|| Spanned::new(String::new(), yaml.span));
    Some(RawNode {
        name,
        via: fields.texts("via"),
        after: fields.texts("depends_on"),
        policy: Some(Box::new(NodePolicy {
            agent: fields.text("agent"),
            task: Some(TaskText::of(task)),
            category: fields.text("category"),
            timeout: policy::number(fields, "timeout"),
            max_retries: own.or(written),
            retry,
            cache: policy::flag(fields, "cache"),
            gate,
        })),
        ..RawNode::default()
    })
}

/// Adds what `dependencies:` says to the stages.
fn dependencies(reader: &mut YamlReader<'_>, fields: FormFields<'_>, nodes: &mut [RawNode]) {
    for entry in fields.entries("dependencies") {
        let named = |node: &&mut RawNode| node.name.as_ref().is_some_and(|name| name.value == entry.key.value);
        let waits = entry.value.texts().unwrap_or_else(|| entry.value.text().into_iter().collect());
        if let Some(node) = nodes.iter_mut().find(named) {
            let new = waits.into_iter().filter(|name| !node.after.iter().any(|known| known.value == name.value));
            let new: Vec<_> = new.collect();
            node.after.extend(new);
            continue;
        }
        let message = format!("`dependencies` has an entry for `{}`, which is not a stage", entry.key);
        let names = nodes.iter().filter_map(|node| node.name.as_ref()).map(|name| name.as_str());
        let help = did_you_mean(&entry.key, names);
        let error = reader.error("unknown-target", message, entry.key.span, "").maybe_help(help);
        reader.push(error);
    }
}
