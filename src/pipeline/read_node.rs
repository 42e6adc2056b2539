//! A node as written.

use super::raw::RawNode;
use super::read::{LATER, missing, present, required_text, value};
use super::yaml::{Yaml, YamlFields, YamlReader};
use super::{Spanned, foreach, schema, tool};
use crate::diag::{did_you_mean, nearest};
use crate::model::{Kind, Shape};
use std::sync::Arc;

pub(super) const KEYS: &[&str] = &[
    "name",
    "code",
    "element",
    "family",
    "prompt",
    "artifact",
    "confidence",
    "schema",
    "needs",
    "masks",
    "effect",
    "script",
    "via",
    "tool",
    "arguments",
    "pipeline",
    "foreach",
    "do",
    "merge",
    "on_error",
    "concurrency",
    "after",
    "fallback",
];

/// Reads a node; `None` if it is no map.
pub(super) fn node(reader: &mut YamlReader<'_>, yaml: &Yaml) -> Option<RawNode> {
    let fields = reader.map(yaml, "a node")?;
    let name = match value(fields, "name") {
        None => missing(reader, fields, "name", "node-name-missing", "a node has no name"),
        Some(yaml) => required_text(reader, yaml, "`name` of a node", "node-name-missing", "a node has no name"),
    };
    let what = name.as_ref().map_or("a node".to_owned(), |name| format!("node `{name}`"));
    reader.known_keys(fields, &what, KEYS, LATER);
    let mut text = |key: &str| value(fields, key).and_then(|yaml| reader.text(yaml, &format!("`{key}` of {what}")));
    let mut node = RawNode {
        code: text("code"),
        element: text("element"),
        family: text("family"),
        prompt: text("prompt"),
        artifact: text("artifact"),
        confidence: text("confidence"),
        effect: text("effect"),
        script: text("script"),
        part: if value(fields, "foreach").is_some() { text("do") } else { text("pipeline") },
        fallback: text("fallback"),
        name,
        ..RawNode::default()
    };
    node.needs = once(reader, fields, "needs", &what);
    node.masks = once(reader, fields, "masks", &what);
    node.after = once(reader, fields, "after", &what);
    node.fan = foreach::read(reader, fields, &node, &what);
    node.tool = tool::read(reader, fields, &node, &what);
    node.via = match present(fields, "via") {
        Some(yaml) if yaml.as_list().is_none() => reader.text(yaml, &format!("`via` of {what}")).into_iter().collect(),
        _ => once(reader, fields, "via", &what),
    };
    node.schema = value(fields, "schema").and_then(|yaml| {
        let name = node.name.as_ref().map_or("artifact".to_owned(), |name| format!("{name} artifact"));
        schema::shape(reader, yaml, name, &format!("`schema` of {what}")).map(Arc::new)
    });
    for (key, name) in [("name", &node.name), ("code", &node.code), ("family", &node.family), ("artifact", &node.artifact)] {
        segment(reader, name.as_ref(), key, &what);
    }
    whole_walk(reader, fields, &node, &what);
    confidence(reader, node.confidence.as_ref(), node.schema.as_deref(), &what);
    Some(node)
}

/// A list of texts, none of them twice.
fn once(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, key: &str, what: &str) -> Vec<Spanned<String>> {
    let what = format!("`{key}` of {what}");
    let list = present(fields, key).and_then(|yaml| reader.texts(yaml, &what)).unwrap_or_default();
    for (index, item) in list.iter().enumerate() {
        if let Some(first) = list[..index].iter().find(|first| first.value == item.value) {
            let code = format!("duplicate-{}", key.trim_end_matches('s'));
            let error = reader.error(&code, format!("{what} lists `{item}` twice"), item.span, "again here");
            let error = error.label(reader.source(), first.span, "first here");
            reader.push(error);
        }
    }
    list
}

/// A node that stands for a walk of its own is answered by that walk.
fn whole_walk(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, node: &RawNode, what: &str) {
    let Some(part) = &node.part else { return };
    for key in ["script", "via", "prompt", "needs", "masks", "family"] {
        let Some(yaml) = present(fields, key) else { continue };
        let walked = if node.fan.is_some() { "do" } else { "pipeline" };
        let message = format!("{what} has both `{walked}` and `{key}`");
        let error =
            reader.error("answered-twice", message, yaml.span, "never used").label(reader.source(), part.span, "walked instead");
        reader.push(error.help("the nodes of that pipeline say who answers them and what they need"));
    }
}

/// Names become parts of paths and file names, so they must not be paths themselves.
fn segment(reader: &mut YamlReader<'_>, name: Option<&Spanned<String>>, key: &str, what: &str) {
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
