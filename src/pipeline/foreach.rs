//! Nodes that are taken once for each item of a list (`foreach:`), and nodes that wait for others (`after:`).

use super::Spanned;
use super::computed::{self, ComputedValue};
use super::graph::NodeIx;
use super::raw::RawNode;
use super::read::{present, value};
use super::yaml::{YamlFields, YamlReader};
use crate::diag::Span;
use std::collections::BTreeSet;

/// How many branches are taken at once where the pipeline does not say.
pub const CONCURRENCY: usize = 4;
/// The most that it may say.
const MOST: i64 = 256;

/// A node that is taken once for each item of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreach {
    /// What makes the list.
    pub items: ComputedValue,
    /// What makes one artifact of those of the branches.
    pub merge: Merge,
    /// Whether a branch that fails is left out, and does not fail the case.
    pub collect: bool,
    /// How many branches are taken at once, at least 1.
    pub concurrency: usize,
    /// Where it stands.
    pub span: Span,
}

/// What makes one artifact of those of the branches.
#[derive(Clone, Debug, PartialEq)]
pub enum Merge {
    /// A list of all, in the order of the items.
    Append,
    /// The first one.
    First,
    /// The last one.
    Latest,
    /// The first of those with the most confidence.
    Best,
    /// What a function makes of them (`rules/rca.rhai#united`), given `(branches, vars)`.
    Function(Spanned<String>),
}

/// Reads the keys of a fan of a node; what is wrong goes to the reader.
pub(super) fn read(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, node: &RawNode, what: &str) -> Option<Foreach> {
    let of = |key: &str| format!("`{key}` of {what}");
    let Some(given) = value(fields, "foreach") else {
        for key in ["do", "merge", "on_error", "concurrency"] {
            let Some(entry) = fields.entry(key) else { continue };
            let error = reader.error("no-foreach", format!("{what} has `{key}` but no `foreach`"), entry.key.span, "");
            reader.push(error.help("`foreach:` says for which items the node is taken"));
        }
        return None;
    };
    if let Some(yaml) = present(fields, "pipeline") {
        let message = format!("{what} has both `foreach` and `pipeline`");
        let error =
            reader.error("answered-twice", message, yaml.span, "").label(reader.source(), given.span, "for each of these");
        reader.push(error.help("what is walked for each item stands under `do:`"));
    }
    let items = computed::read(reader, given, &of("foreach"))?;
    let merge = match value(fields, "merge") {
        Some(yaml) if yaml.as_text().is_some_and(|text| text.contains(".rhai#")) => {
            Merge::Function(reader.text(yaml, &of("merge"))?)
        }
        Some(yaml) => {
            let words = [("append", 0), ("first", 1), ("latest", 2), ("best", 3)];
            match reader.one_of(yaml, &of("merge"), &words)? {
                0 => Merge::Append,
                1 => Merge::First,
                2 => Merge::Latest,
                _ => Merge::Best,
            }
        }
        None => Merge::Append,
    };
    if merge == Merge::Best && node.confidence.is_none() {
        let span = value(fields, "merge").map_or(given.span, |yaml| yaml.span);
        let error = reader.error("bad-confidence", format!("{what} merges by confidence, and names no field for it"), span, "");
        reader.push(error.help("`confidence: FIELD` says which field of an artifact is its confidence"));
    }
    let collect = value(fields, "on_error")
        .and_then(|yaml| reader.one_of(yaml, &of("on_error"), &[("cancel", false), ("collect", true)]))
        .unwrap_or(false);
    let concurrency = value(fields, "concurrency").and_then(|yaml| reader.int(yaml, &of("concurrency"), &(1..=MOST)));
    let concurrency = concurrency.and_then(|most| usize::try_from(most).ok()).unwrap_or(CONCURRENCY);
    Some(Foreach { items, merge, collect, concurrency, span: given.span })
}

/// Refuses nodes that wait for each other in a round. `after` has for each node those it waits for.
pub(super) fn rounds(reader: &mut YamlReader<'_>, nodes: &[(Spanned<String>, Vec<NodeIx>)]) {
    let mut done: BTreeSet<usize> = BTreeSet::new();
    loop {
        let ready = |at: &usize| !done.contains(at) && nodes[*at].1.iter().all(|node| done.contains(&node.0));
        let wave: Vec<usize> = (0..nodes.len()).filter(ready).collect();
        if wave.is_empty() {
            break;
        }
        done.extend(wave);
    }
    // Of those that never get their turn, one that is on a round itself: whoever follows what is waited for comes to one.
    let Some(mut at) = (0..nodes.len()).find(|at| !done.contains(at)) else { return };
    let mut way = Vec::new();
    while !way.contains(&at) {
        way.push(at);
        let Some(next) = nodes[at].1.iter().map(|node| node.0).find(|node| !done.contains(node)) else { return };
        at = next;
    }
    let round: Vec<&str> = way.iter().skip_while(|on| **on != at).chain([&at]).map(|at| nodes[*at].0.as_str()).collect();
    let message = format!("nodes wait for each other: {}", round.join(" after "));
    let error = reader.error("endless", message, nodes[at].0.span, "never gets its turn");
    reader.push(error.help("leave one of them out of an `after:`"));
}

#[cfg(test)]
mod tests {
    use crate::diag::Source;
    use crate::pipeline::{ComputedValue, Merge, parse};

    fn told(nodes: &str) -> String {
        let text = format!(
            "pipeline: t\nnodes:\n{nodes}  - {{ name: z }}\nedges: [{{ id: E, from: a, to: z }}]\nstart: a\ndone: _done\n"
        );
        match parse(&Source::new("t.yaml", text)) {
            Ok(pipeline) => format!("{:?}", pipeline.nodes[0].fan.as_ref().map(|fan| (fan.collect, fan.concurrency))),
            Err(found) => found.iter().map(|found| format!("{}: {}", found.code, found.message)).collect::<Vec<_>>().join("\n"),
        }
    }

    #[test]
    fn what_a_node_is_taken_for_is_read() {
        assert_eq!(told("  - { name: a, foreach: prior.x.list }\n"), "Some((false, 4))");
        assert_eq!(told("  - { name: a, foreach: a.rhai#f, do: p, on_error: collect, concurrency: 1 }\n"), "Some((true, 1))");
        let text = "pipeline: t\nnodes:\n  - { name: a, foreach: \"[1, 2]\", merge: b.rhai#m }\nedges: [{ id: E, from: a, to: _done }]\nstart: a\ndone: _done\n";
        let fan = parse(&Source::new("t.yaml", text)).ok().and_then(|pipeline| pipeline.nodes[0].fan.clone());
        assert!(matches!(
            fan.as_ref().map(|fan| (&fan.items, &fan.merge)),
            Some((ComputedValue::Expression(_), Merge::Function(_)))
        ));
        assert_eq!(told("  - { name: a, do: p }\n"), "pipeline/no-foreach: node `a` has `do` but no `foreach`");
        assert_eq!(
            told("  - { name: a, foreach: x, pipeline: p }\n"),
            "pipeline/answered-twice: node `a` has both `foreach` and `pipeline`"
        );
        assert_eq!(
            told("  - { name: a, foreach: x, merge: best }\n"),
            "pipeline/bad-confidence: node `a` merges by confidence, and names no field for it"
        );
        assert!(told("  - { name: a, foreach: x, merge: bets }\n").contains("bets"));
        assert!(told("  - { name: a, foreach: x, concurrency: 0 }\n").contains("concurrency"));
    }

    #[test]
    fn nodes_that_wait_for_others_have_no_edges() {
        let of = |nodes: &str, more: &str| {
            let text = format!("pipeline: t\nnodes: [{nodes}]\n{more}done: _done\n");
            match parse(&Source::new("t.yaml", text)) {
                Ok(pipeline) => pipeline.nodes.iter().map(|node| node.after.len().to_string()).collect::<Vec<_>>().join(" "),
                Err(found) => {
                    found.iter().map(|found| format!("{}: {}", found.code, found.message)).collect::<Vec<_>>().join("\n")
                }
            }
        };
        assert_eq!(of("{ name: a }, { name: b, after: [a] }, { name: c, after: [a, b] }", ""), "0 1 2");
        assert_eq!(
            of("{ name: a, after: [c] }, { name: b }, { name: c, after: [b, a] }", ""),
            "pipeline/endless: nodes wait for each other: a after c after a"
        );
        assert!(of("{ name: a }, { name: b, after: [aa] }", "").contains("`aa`"));
        assert!(of("{ name: a }, { name: b, after: [a] }", "start: a\n").starts_with("pipeline/after: "));
        assert!(
            of("{ name: a }, { name: b, after: [a] }", "edges: [{ id: E, from: a, to: b }]\n").starts_with("pipeline/after: ")
        );
    }
}
