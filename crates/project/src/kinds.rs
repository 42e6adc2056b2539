//! The types of what functions of a pipeline are given, from the table of documented fields and from the pipeline.

use super::ProjectData;
use asterisk_base::model::{Field, Kind, Shape};
use asterisk_pipeline::{Merge, NodeIx, Pipeline, PipelineNode, Spanned};
use asterisk_walk::{GROUPS, KnownWords, Plan, ProjectWords, group_kind};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// No texts are known.
pub(super) fn no_words(_: KnownWords) -> Vec<String> {
    Vec::new()
}

/// The texts that a pipeline and the data of its project know.
pub fn known_words(pipeline: &Pipeline, data: &ProjectData, known: KnownWords) -> Vec<String> {
    match known {
        KnownWords::Data => data.files.stems(),
        // A script may serve several domains.
        KnownWords::Signatures | KnownWords::Topics => {
            let of_domain = words(pipeline, data.files.get("domain").unwrap_or(&Value::Null), known);
            let [ids, topics] = data.written_in_domains();
            let written = if known == KnownWords::Signatures { ids } else { topics };
            let all: BTreeSet<String> = of_domain.into_iter().chain(written.iter().cloned()).collect();
            all.into_iter().collect()
        }
        _ => words(pipeline, data.files.get("domain").unwrap_or(&Value::Null), known),
    }
}

fn words(pipeline: &Pipeline, domain: &Value, known: KnownWords) -> Vec<String> {
    let keys = |name: &str| domain[name].as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect();
    match known {
        KnownWords::Signatures => {
            let signatures = domain["signatures"].as_array().into_iter().flatten();
            signatures.filter_map(|signature| signature["id"].as_str().map(str::to_owned)).collect()
        }
        KnownWords::Topics => {
            let signatures = domain["signatures"].as_array().into_iter().flatten();
            let topics: BTreeSet<&str> = signatures.filter_map(|signature| signature["topic"].as_str()).collect();
            let unnamed = (!topics.is_empty()).then_some("");
            topics.iter().copied().chain(unnamed).map(str::to_owned).collect()
        }
        KnownWords::Defects => keys("defects"),
        KnownWords::Data => Vec::new(),
        KnownWords::Nodes => pipeline.nodes.iter().map(|node| node.name.to_string()).collect(),
    }
}

/// The type of `state` for static checks.
pub(super) fn state(words: &ProjectWords<'_>) -> Kind {
    group_kind("state", words)
}

/// The type of `evidence`, which rules of verdicts and roots see: the location of a signature is for display only.
pub(super) fn evidence(words: &ProjectWords<'_>) -> Kind {
    let matches = || Kind::List(Box::new(signature_match(words)));
    with(group_kind("evidence", words), |name| (name == "matches").then(matches))
}

/// The type of a match of a signature, as rules see it.
pub(super) fn signature_match(words: &ProjectWords<'_>) -> Kind {
    let Kind::Object(shape) = group_kind("evidence.matches[]", words) else { return Kind::Any };
    let fields = shape.fields.iter().filter(|field| field.name != "at").cloned().collect();
    Kind::Object(Arc::new(Shape { fields, ..(*shape).clone() }))
}

/// The type of `context`, which rules of verdicts and roots see; `needs` are the queries of the verdict.
pub(super) fn context(needs: &[Spanned<String>], words: &ProjectWords<'_>) -> Kind {
    with(group_kind("context", words), |name| match name {
        "data" => Some(data(words)),
        "env" => Some(texts()),
        "envelope" | "failure" | "git" => Some(group_kind(name, words)),
        "needs" => Some(self::needs(needs)),
        _ => None,
    })
}

/// The type of `params`, which responders, effects and other functions of a node see. Without a node, its queries are not known.
pub(super) fn params(pipeline: &Pipeline, node: Option<NodeIx>, vars: &Kind, words: &ProjectWords<'_>) -> Kind {
    let kind = |name: &str| match name {
        "bindings" => Kind::Map(Box::new(Kind::Int { min: None, max: None })),
        "data" => data(words),
        "env" => texts(),
        "history" => field(&group_kind("state", words), "history"),
        "needs" => node.map_or(Kind::Any, |node| needs(&pipeline.at(node).needs)),
        "prior" => prior(pipeline),
        "siblings" => Kind::List(Box::new(Kind::Any)),
        "vars" => vars.clone(),
        name => group_kind(name, words),
    };
    let groups = GROUPS.iter().map(|group| group.name);
    object("params", groups.map(|name| (name, kind(name))))
}

/// The last artifact of each node: nothing for one that was not taken. The nodes of parts have names of their own.
fn prior(pipeline: &Pipeline) -> Kind {
    if pipeline.nodes.iter().any(|node| node.subpipeline.is_some()) {
        return Kind::Map(Box::new(Kind::Any));
    }
    let artifact = |(at, node): (usize, &PipelineNode)| (node.name.to_string(), merged_kind(pipeline.at(NodeIx(at))));
    let artifacts: Vec<(String, Kind)> = pipeline.nodes.iter().enumerate().map(artifact).collect();
    object("prior", artifacts.iter().map(|(name, kind)| (name.as_str(), kind.clone())))
}

/// The data files of the project, by stem.
fn data(words: &ProjectWords<'_>) -> Kind {
    let stems = words(KnownWords::Data);
    if stems.is_empty() {
        return Kind::Map(Box::new(Kind::Any));
    }
    object("data", stems.iter().map(|stem| (stem.as_str(), Kind::Any)))
}

fn needs(needs: &[Spanned<String>]) -> Kind {
    let names: Vec<String> = needs.iter().map(|need| need.replace('.', "_")).collect();
    object("needs", names.iter().map(|name| (name.as_str(), Kind::Any)))
}

fn texts() -> Kind {
    Kind::Map(Box::new(Kind::Text { one_of: Vec::new() }))
}

/// An object with other types for some of its fields.
fn with(kind: Kind, other: impl Fn(&str) -> Option<Kind>) -> Kind {
    let Kind::Object(shape) = &kind else { return kind };
    let field = |field: &Field| Field { kind: other(&field.name).unwrap_or_else(|| field.kind.clone()), ..field.clone() };
    Kind::Object(Arc::new(Shape { fields: shape.fields.iter().map(field).collect(), ..(**shape).clone() }))
}

fn field(kind: &Kind, name: &str) -> Kind {
    match kind {
        Kind::Object(shape) => shape.field(name).map_or(Kind::Any, |field| field.kind.clone()),
        _ => Kind::Any,
    }
}

/// The type of a scheduler's parameter, `ctx`. Its walkers have the keys of a persona and the traits of their element.
pub(super) fn scheduling(words: &ProjectWords<'_>) -> Kind {
    let text = || Kind::Text { one_of: Vec::new() };
    let node = object("node", ["name", "family", "element", "code"].map(|name| (name, text())));
    let zone = object(
        "zone",
        [
            ("name", text()),
            ("element", text()),
            ("stickiness", Kind::Int { min: None, max: None }),
            ("nodes", Kind::List(Box::new(text()))),
        ],
    );
    let walker =
        object("walker", super::forms::WALKER.keys.iter().map(|key| (key.name, Kind::Any)).chain([("traits", Kind::Any)]));
    object(
        "ctx",
        [
            ("data", Kind::Any),
            ("needs", Kind::Any),
            ("node", node),
            ("prior", Kind::Any),
            ("state", state(words)),
            ("walkers", Kind::List(Box::new(walker))),
            ("zone", zone),
        ],
    )
}

fn object<'n>(name: &str, fields: impl IntoIterator<Item = (&'n str, Kind)>) -> Kind {
    let field = |(name, kind): (&str, Kind)| Field { name: name.into(), kind, required: true };
    Kind::Object(Arc::new(Shape { name: name.into(), fields: fields.into_iter().map(field).collect(), sparse: false }))
}

/// The types of the inputs of a node's rules: `artifact`, `state` and `vars`. Without a node, any artifact.
pub fn input_kinds(plan: &Plan, node: Option<NodeIx>) -> [(&'static str, Kind); 3] {
    let artifact = node.map_or(Kind::Any, |node| plan.node(node).kind.clone());
    [("artifact", artifact), ("state", state(&no_words)), ("vars", super::vars::kind(&plan.pipeline, &plan.vars))]
}

/// The type of a node's final artifact: a list, if those of its items are appended.
pub(super) fn merged_kind(node: &PipelineNode) -> Kind {
    let listed = node.foreach.as_ref().is_some_and(|foreach| foreach.merge == Merge::Append);
    if listed { Kind::List(Box::new(kind_of(node))) } else { kind_of(node) }
}

/// The type of a node's artifact: its schema, or anything.
pub(super) fn kind_of(node: &PipelineNode) -> Kind {
    node.schema.as_ref().map_or(Kind::Any, |shape| Kind::Object(Arc::clone(shape)))
}
