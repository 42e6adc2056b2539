//! A pipeline as a mermaid flowchart.
//!
//! Nodes stand in their zones; shortcuts are dotted, loops thick with their counter, fallbacks dotted and called so.
//! Advisories hang as flags on their nodes, guards start at a node `*`, the end is a stadium. Nodes and zones carry a class
//! `element_NAME`, which the colours of the element data fill. Names go in as escaped labels, never as ids.

use super::{Edge, NodeIx, Origin, Pipeline, Target, ZoneIx};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The flowchart without colours.
pub fn mermaid(pipeline: &Pipeline) -> String {
    mermaid_coloured(pipeline, &BTreeMap::new())
}

/// The flowchart, with a colour (`#rrggbb` or a name) for each element that has one.
pub fn mermaid_coloured(pipeline: &Pipeline, colours: &BTreeMap<String, String>) -> String {
    let mut chart = Chart { pipeline, text: "flowchart TD\n".to_owned() };
    chart.line(&format!("%% {}", label(&pipeline.name)));
    chart.line("start((start))");
    for (ix, zone) in pipeline.zones.iter().enumerate() {
        chart.line(&format!("subgraph z{ix}[\"{}\"]", label(&zone.name)));
        chart.nodes(Some(ZoneIx(ix)));
        chart.line("end");
        if let Some(element) = &zone.element {
            chart.line(&format!("class z{ix} {}", class(element)));
        }
    }
    chart.nodes(None);
    chart.line(&format!("done([\"{}\"])", label(&pipeline.done)));
    if !pipeline.guards.is_empty() {
        chart.line("any{{\"#42;\"}}");
    }
    chart.line(&format!("start --> {}", id(Target::Node(pipeline.start))));
    for (ix, edge) in pipeline.edges.iter().enumerate() {
        chart.edge(ix, edge);
    }
    for (ix, node) in pipeline.nodes.iter().enumerate() {
        if let Some(fallback) = node.fallback {
            chart.arrow(&id(Target::Node(NodeIx(ix))), "-.->", "fallback", fallback);
        }
    }
    for (element, colour) in colours {
        if is_colour(colour) {
            chart.line(&format!("classDef {} fill:{colour}", class(element)));
        }
    }
    chart.text
}

struct Chart<'a> {
    pipeline: &'a Pipeline,
    text: String,
}

impl Chart<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str("  ");
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn nodes(&mut self, zone: Option<ZoneIx>) {
        let pipeline = self.pipeline;
        for (ix, node) in pipeline.nodes.iter().enumerate().filter(|(_, node)| node.zone == zone) {
            let code = node.code.as_ref().map_or(String::new(), |code| format!("{} ", label(code)));
            let class = node.element.as_ref().map_or(String::new(), |element| format!(":::{}", class(element)));
            self.line(&format!("n{ix}[\"{code}{}\"]{class}", label(&node.name)));
        }
    }

    fn edge(&mut self, ix: usize, edge: &Edge) {
        let from = match edge.from {
            Origin::Node(node) => id(Target::Node(node)),
            Origin::Any => "any".to_owned(),
        };
        let mut text = label(&edge.id);
        if !edge.name.is_empty() {
            text = format!("{text} {}", label(&edge.name));
        }
        if edge.advisory {
            self.line(&format!("a{ix}>\"{text}\"]"));
            self.line(&format!("{from} -.- a{ix}"));
            return;
        }
        if let Some(counter) = &edge.counter {
            text = format!("{text} +1 {}", label(counter));
        }
        let arrow = match edge {
            Edge { looped: true, .. } => "==>",
            Edge { shortcut: true, .. } => "-.->",
            _ => "-->",
        };
        if let Some(to) = edge.to {
            self.arrow(&from, arrow, &text, to);
        }
        for target in edge.targets.iter().filter(|target| Some(target.value) != edge.to) {
            self.arrow(&from, "-.->", &format!("{} may choose", label(&edge.id)), target.value);
        }
    }

    fn arrow(&mut self, from: &str, arrow: &str, text: &str, to: Target) {
        self.line(&format!("{from} {arrow}|\"{text}\"| {}", id(to)));
    }
}

fn id(target: Target) -> String {
    match target {
        Target::Node(NodeIx(ix)) => format!("n{ix}"),
        Target::Done => "done".to_owned(),
    }
}

/// A text inside a quoted label: everything that mermaid could read as more than a letter becomes a character code.
fn label(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for ch in text.chars() {
        match ch {
            _ if ch.is_alphanumeric() => out.push(ch),
            ' ' | '-' | '_' | '.' | ',' | '/' => out.push(ch),
            _ if ch.is_whitespace() || ch.is_control() => out.push(' '),
            _ => drop(write!(out, "#{};", u32::from(ch))),
        }
    }
    out
}

fn class(element: &str) -> String {
    let name: String = element.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("element_{name}")
}

fn is_colour(text: &str) -> bool {
    let word = text.strip_prefix('#').unwrap_or(text);
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::diag::Source;
    use crate::pipeline::parse;

    fn pipeline(text: &str) -> Pipeline {
        parse(&Source::new("p.yaml", text)).unwrap()
    }

    #[test]
    fn each_kind_of_edge_has_its_arrow() {
        let pipeline = pipeline(
            "pipeline: p\nzones: {back: {nodes: [a], element: fire}}\nnodes:\n  - {name: a, code: F0, element: fire, fallback: b}\n  - {name: b}\nedges:\n  \
             - {id: E1, name: on, from: a, to: b}\n  - {id: S, from: a, to: _done, shortcut: true}\n  \
             - {id: L, from: b, to: a, loop: true, counter: again, targets: [a, _done]}\n  \
             - {id: A, name: skew, from: a, advisory: true}\n  - {id: G, from: '*', to: _done}\nstart: a\ndone: _done\n",
        );
        let colours = BTreeMap::from([("fire".to_owned(), "#ff0000".to_owned()), ("x".to_owned(), "red;click".to_owned())]);
        assert_eq!(
            mermaid_coloured(&pipeline, &colours),
            "flowchart TD\n  \
             %% p\n  \
             start((start))\n  \
             subgraph z0[\"back\"]\n  \
             n0[\"F0 a\"]:::element_fire\n  \
             end\n  \
             class z0 element_fire\n  \
             n1[\"b\"]\n  \
             done([\"_done\"])\n  \
             any{{\"#42;\"}}\n  \
             start --> n0\n  \
             n0 -->|\"E1 on\"| n1\n  \
             n0 -.->|\"S\"| done\n  \
             n1 ==>|\"L +1 again\"| n0\n  \
             n1 -.->|\"L may choose\"| done\n  \
             a3>\"A skew\"]\n  \
             n0 -.- a3\n  \
             any -->|\"G\"| done\n  \
             n0 -.->|\"fallback\"| n1\n  \
             classDef element_fire fill:#ff0000\n"
        );
    }

    #[test]
    fn odd_names_stay_inside_their_labels() {
        let odd = r#"end"]; click n0 "x" %% <b> #35; `|{}()é\n"#;
        let quoted = serde_json::to_string(odd).unwrap();
        let text = format!(
            "pipeline: {quoted}\nzones: {{{quoted}: {{nodes: [a], element: {quoted}}}}}\nnodes: [{{name: a, element: {quoted}}}, {{name: end}}]\n\
             edges: [{{id: {quoted}, name: {quoted}, from: a, to: {done}}}]\nstart: a\ndone: {done}\n",
            done = serde_json::to_string(&format!("{odd}!")).unwrap(),
        );
        let chart = mermaid(&pipeline(&text));
        for line in chart.lines() {
            let outside: String = line.split('"').step_by(2).collect();
            assert!(line.matches('"').count() <= 2, "{line}");
            assert!(outside.chars().all(|c| c.is_ascii_alphanumeric() || " _[]()|<>-.=:%{}#;é,/".contains(c)), "{line}");
            assert!(!outside.contains("click") || line.trim_start().starts_with("%%") || line.contains("element_"), "{line}");
        }
        assert!(chart.contains("n1[\"end\"]"));
        assert!(label("a\"b\n#").eq("a#34;b #35;"));
    }
}
