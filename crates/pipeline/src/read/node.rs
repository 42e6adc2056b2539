//! Reads a node.

use super::{foreach, policy, schema, tool};
use crate::graph::KnownField;
use crate::keys::{KNOWN, NODE};
use crate::raw::RawNode;
use asterisk_base::model::{Kind, Shape};
use asterisk_diag::{did_you_mean, nearest};
use asterisk_form::yaml::{Yaml, YamlReader};
use asterisk_form::{FormFields, Spanned};
use std::sync::Arc;

/// Reads a node; `None` if it is not a map.
pub(super) fn node(reader: &mut YamlReader<'_>, yaml: &Yaml) -> Option<RawNode> {
    let fields = FormFields::of(yaml, &NODE)?;
    let name = fields.text("name");
    let what = name.as_ref().map_or("a node".to_owned(), |name| format!("node `{name}`"));
    let mut node = RawNode {
        code: fields.text("code"),
        element: fields.text("element"),
        family: fields.text("family"),
        prompt: fields.text("prompt"),
        artifact: fields.text("artifact"),
        confidence: fields.text("confidence"),
        accept: fields.text("accept"),
        effect: fields.text("effect"),
        script: fields.text("script"),
        subpipeline: if fields.value("foreach").is_some() { fields.text("do") } else { fields.text("pipeline") },
        fallback: fields.text("fallback"),
        needs: fields.texts("needs"),
        masks: fields.texts("masks"),
        after: fields.texts("after"),
        via: fields.texts("via"),
        name,
        ..RawNode::default()
    };
    node.foreach = foreach::foreach(reader, fields, &node, &what);
    node.tool = tool::tool(reader, fields, &node, &what);
    node.policy = policy::of_node(reader, fields, &what);
    surrounded(reader, fields, &node, &what);
    node.schema = fields.value("schema").and_then(|yaml| {
        let name = node.name.as_ref().map_or("artifact".to_owned(), |name| format!("{name} artifact"));
        schema::shape(reader, yaml, name, &format!("`schema` of {what}")).map(Arc::new)
    });
    node.known = known(reader, fields, node.schema.as_deref(), &what);
    for (key, name) in [("name", &node.name), ("code", &node.code), ("family", &node.family), ("artifact", &node.artifact)] {
        segment(reader, name.as_ref(), key, &what);
    }
    subpipeline(reader, fields, &node, &what);
    confidence(reader, node.confidence.as_ref(), node.schema.as_deref(), &what);
    Some(node)
}

/// Reports keys without effect on a node answered by a subpipeline.
fn subpipeline(reader: &mut YamlReader<'_>, fields: FormFields<'_>, node: &RawNode, what: &str) {
    let Some(subpipeline) = &node.subpipeline else { return };
    for key in ["script", "via", "prompt", "needs", "masks", "family"] {
        let Some(yaml) = fields.present(key) else { continue };
        let walked = if node.foreach.is_some() { "do" } else { "pipeline" };
        let message = format!("{what} has both `{walked}` and `{key}`");
        let error = reader.error("answered-twice", message, yaml.span, "never used").label(
            reader.source(),
            subpipeline.span,
            "walked instead",
        );
        reader.push(error.help("set this on the nodes of that pipeline"));
    }
}

/// Reports what cannot surround a node that is not answered, and an agent next to another answerer.
fn surrounded(reader: &mut YamlReader<'_>, fields: FormFields<'_>, node: &RawNode, what: &str) {
    let walked = [(node.subpipeline.is_some(), "pipeline"), (node.foreach.is_some(), "foreach")];
    if let Some((_, other)) = walked.into_iter().find(|(is, _)| *is) {
        for key in ["agent", "task", "timeout", "retry", "cache", "gate"] {
            let Some(yaml) = fields.present(key) else { continue };
            let message = format!("{what} has both `{other}` and `{key}`");
            let error = reader.error("not-answered", message, yaml.span, "never used");
            reader.push(error.help("the nodes of its subpipeline are answered; set it there"));
        }
    }
    let Some(agent) = node.policy.as_ref().and_then(|policy| policy.agent.as_ref()) else { return };
    for key in ["script", "tool", "family"] {
        let Some(yaml) = fields.present(key) else { continue };
        let error = reader.error("answered-twice", format!("{what} has both `agent` and `{key}`"), yaml.span, "never used");
        let error = error.label(reader.source(), agent.span, "answers instead");
        reader.push(error.help("remove one of them"));
    }
}

/// Checks a name that becomes a part of paths and file names, so it must not be a path itself.
pub(super) fn segment(reader: &mut YamlReader<'_>, name: Option<&Spanned<String>>, key: &str, what: &str) {
    let Some(name) = name else { return };
    let fault = if key == "name" && name.starts_with("branch[") {
        "begins with `branch[`, as the paths of branches do".to_owned()
    } else if let Some(bad) = name.chars().find(|c| c.is_control() || matches!(c, '/' | '\\')) {
        format!("holds {}", bad.escape_default())
    } else if matches!(name.as_str(), "." | "..") {
        "is a directory".to_owned()
    } else if name.trim() != name.as_str() {
        "begins or ends with white space".to_owned()
    } else {
        return;
    };
    let message = format!("`{key}` of {what} {fault}");
    let error = reader.error("bad-name", message, name.span, "");
    reader.push(error.help("it becomes part of file names; letters, digits, `.`, `-` and `_` are safe"));
}

/// Reads `known`, whose fields are texts of the schema.
fn known(reader: &mut YamlReader<'_>, fields: FormFields<'_>, schema: Option<&Shape>, what: &str) -> Vec<KnownField> {
    let mut found = Vec::new();
    for entry in fields.entries("known") {
        let Some(list) = entry.value.as_text().and_then(|word| KNOWN.iter().find(|known| **known == word)) else { continue };
        let mut shape = schema.map(|schema| Kind::Object(Arc::new(schema.clone())));
        for part in entry.key.value.split('.') {
            let Some(Kind::Object(fields)) = &shape else { break };
            let Some(field) = fields.field(part) else {
                let message = format!("`known` of {what} names `{}`, which is not a field of its schema", entry.key.value);
                let help = did_you_mean(part, fields.fields.iter().map(|field| field.name.as_str()));
                let error = reader.error("bad-known", message, entry.key.span, "").maybe_help(help);
                reader.push(error);
                shape = None;
                break;
            };
            shape = Some(field.kind.clone());
        }
        if let Some(kind) = shape.filter(|kind| !matches!(kind, Kind::Text { .. } | Kind::Any)) {
            let message =
                format!("`known` of {what} names the field `{}`, which is {}, not a string", entry.key.value, kind.name());
            let error = reader.error("bad-known", message, entry.key.span, "");
            reader.push(error);
        }
        found.push(KnownField { path: entry.key.clone(), list });
    }
    found
}

fn confidence(reader: &mut YamlReader<'_>, confidence: Option<&Spanned<String>>, schema: Option<&Shape>, what: &str) {
    let (Some(name), Some(schema)) = (confidence, schema) else { return };
    let error = match schema.field(name).map(|field| &field.kind) {
        Some(Kind::Number { .. } | Kind::Int { .. } | Kind::Any) => return,
        Some(kind) => {
            let message = format!("`confidence` of {what} names the field `{name}`, which is {}, not a number", kind.name());
            reader.error("bad-confidence", message, name.span, "")
        }
        None => {
            let fields = || schema.fields.iter().map(|field| field.name.as_str());
            let message = format!("`confidence` of {what} names `{name}`, which is not a field of its schema");
            let help = nearest(name, fields()).map(|name| format!("did you mean `{name}`?"));
            reader.error("bad-confidence", message, name.span, "").maybe_help(did_you_mean(name, fields())).maybe_help(help)
        }
    };
    reader.push(error);
}
