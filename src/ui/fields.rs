//! Documentation of the data that scripts and templates are given.

use asterisk_diag::Source;
use asterisk_pipeline::{Pipeline, Var};
use asterisk_walk::{EVIDENCE, GROUPS, NEEDS, ROOT, STATE, VERDICT};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A documented value with its fields.
#[derive(Debug)]
pub struct Fields {
    /// Its path: `state`, `params.failure`, `vars`.
    pub path: String,
    /// Its description.
    pub doc: String,
    /// Name, type and description of each field; empty if there may be any field.
    pub fields: Vec<[String; 3]>,
}

impl Fields {
    /// The documentation of `state`, `params`, `vars`, `evidence`, `verdict`, `root` or a group such as `params.failure`; `None` for other names.
    /// `pipelines` are those whose vars are listed.
    pub fn named(name: &str, pipelines: impl FnOnce() -> Vec<Pipeline>) -> Option<Vec<Self>> {
        let of = |fields: &[asterisk_walk::DocumentedField]| {
            fields.iter().map(|field| [field.name, field.kind.name(), field.doc].map(str::to_owned)).collect()
        };
        let group = |group: &asterisk_walk::FieldGroup| {
            let fields = match group.name {
                "needs" => NEEDS.iter().map(|need| [need.field(), String::new(), need.doc.to_owned()]).collect(),
                _ => of(group.fields),
            };
            let within = if group.name == "context" || name.starts_with("state") { "" } else { "params." };
            Self { path: format!("{within}{}", group.name), doc: group.doc.to_owned(), fields }
        };
        match name.split_once('.') {
            None if name == "state" => Some(STATE.iter().map(group).collect()),
            None if name == "params" => Some(GROUPS.iter().map(group).collect()),
            None if name == "evidence" => Some(EVIDENCE.iter().map(group).collect()),
            None if name == "verdict" => Some(VERDICT.iter().map(group).collect()),
            None if name == "root" => Some(ROOT.iter().map(group).collect()),
            None if name == "vars" => Some(pipelines().iter().map(vars).collect()),
            Some(("params", "evidence")) => Some(EVIDENCE.iter().map(group).collect()),
            Some(("params", "verdict")) => Some(VERDICT.iter().map(group).collect()),
            Some(("params", wanted)) => GROUPS.iter().find(|group| group.name == wanted).map(|found| vec![group(found)]),
            _ => None,
        }
    }

    /// All of them as text.
    pub fn text(all: &[Self]) -> String {
        let mut out = String::new();
        for (at, one) in all.iter().enumerate() {
            let _ = write!(out, "{}# {}\n{}\n", if at > 0 { "\n" } else { "" }, one.path, one.doc);
            for [name, kind, doc] in &one.fields {
                let kind = if kind.is_empty() { String::new() } else { format!(": {kind}") };
                let _ = write!(out, "\n{name}{kind}\n");
                for line in doc.lines() {
                    let _ = writeln!(out, "    {line}");
                }
            }
        }
        out.trim_end().to_owned()
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let field = |[name, kind, doc]: &[String; 3]| json!({ "name": name, "type": kind, "doc": doc });
        json!({ "path": self.path, "doc": self.doc, "fields": self.fields.iter().map(field).collect::<Vec<_>>() })
    }
}

/// The vars of a pipeline; those without a `doc` are described by the comments next to them.
fn vars(pipeline: &Pipeline) -> Fields {
    let mut vars: Vec<_> = pipeline.vars.iter().collect();
    vars.sort_by_key(|(_, var)| var.default.span.start);
    let field = |(name, var): (&String, &Var)| {
        let default = &var.default;
        let kind = match default.value {
            Value::Bool(_) => "true or false",
            Value::Number(_) => "number",
            Value::String(_) => "text",
            Value::Array(_) => "list",
            Value::Object(_) => "map",
            Value::Null => "any",
        };
        let kind = if var.declared.is_some() { var.allowed() } else { kind.to_owned() };
        let doc = if var.doc.is_empty() { comment(&pipeline.source, default.span.start) } else { var.doc.clone() };
        [name.clone(), format!("{kind}, default {}", default.value), doc]
    };
    let doc =
        format!("the vars of the pipeline `{}`: --set NAME=VALUE and `vars:` of asterisk.yaml override them", *pipeline.name);
    Fields { path: "vars".to_owned(), doc, fields: vars.into_iter().map(field).collect() }
}

/// The comment after a value, or otherwise the one above it, which may apply to several lines.
fn comment(source: &Source, at: usize) -> String {
    let text = source.text();
    let (before, after) = text.split_at(at.min(text.len()));
    if let Some((_, comment)) = after.lines().next().and_then(|line| line.split_once(" #")) {
        return comment.trim().to_owned();
    }
    let above = before.lines().rev().skip(1).map(str::trim);
    let entry = |line: &&str| !line.is_empty() && !line.starts_with('#') && line.contains(": ") && !line.contains('{');
    let mut lines: Vec<&str> = above
        .skip_while(entry)
        .take_while(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches(['#', ' ']))
        .collect();
    lines.reverse();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vars_are_described_by_their_comments() {
        let text = "# The pipeline.\npipeline: p\nvars:\n  # How sure, and\n  # how often.\n  sure: 0.5\n  most: 2\n\n  plain: x\n  own: true # its own\nnodes: [{ name: a }]\n\
                    edges: [{ id: E, from: a, to: _done }]\nstart: a\ndone: _done\n";
        let pipeline = asterisk_pipeline::parse(&Source::new("p.yaml", text)).expect("a pipeline");
        let described = vars(&pipeline).fields.into_iter().map(|field| field.join(" | ")).collect::<Vec<_>>();
        assert_eq!(
            described,
            [
                "sure | number, default 0.5 | How sure, and\nhow often.",
                "most | number, default 2 | How sure, and\nhow often.",
                "plain | text, default \"x\" | ",
                "own | true or false, default true | its own",
            ]
        );
    }
}
