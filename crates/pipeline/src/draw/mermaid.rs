//! Renders a picture as a mermaid flowchart.
//!
//! Nodes are grouped by zone; shortcuts are dotted, loops thick with their counter, fallbacks dotted and labelled as such.
//! Advisories are flags attached to their nodes, guards start at a node `*`, the end is a stadium. Nodes and zones have a class
//! `element_NAME`, filled with the colour from the element data. Names appear in escaped labels, never as ids.

use super::{ArrowKind, Picture, PictureShape, ShapeRole};
use std::fmt::Write;

impl Picture {
    /// Renders the flowchart with a legend. The subpipeline of a node is a subgraph attached to it.
    pub fn mermaid(&self) -> String {
        let mut out = format!("flowchart TD\n  %% {}\n", label(&self.title));
        let mut links = Vec::new();
        self.chart("", &mut out, &mut links);
        for kind in self.kinds() {
            style(&mut out, &links, |link| link.kind == Some(kind), &format!("stroke:{}", kind.colours().0));
        }
        style(&mut out, &links, |link| link.count == Some(0), "stroke-opacity:0.3");
        style(&mut out, &links, |link| link.count.is_some_and(|count| count > 0), "stroke-width:3px");
        for (element, colour) in self.elements() {
            _ = writeln!(out, "  classDef {} fill:{}", class(element), tint(colour));
        }
        if self.has(&|shape| shape.role == ShapeRole::Advisory) {
            _ = writeln!(out, "  classDef advisory stroke:{},stroke-dasharray:3", ArrowKind::Advisory.colours().0);
        }
        if self.has(&PictureShape::is_idle) {
            out.push_str("  classDef idle opacity:0.35\n");
        }
        out
    }

    fn has(&self, what: &dyn Fn(&PictureShape) -> bool) -> bool {
        self.shapes.iter().any(what) || self.nested.iter().any(|nested| nested.picture.has(what))
    }

    /// Writes shapes and arrows, their ids prefixed by `prefix`; each arrow is appended to `links`.
    fn chart(&self, prefix: &str, out: &mut String, links: &mut Vec<ChartLink>) {
        let mut line = |text: String| {
            out.push_str("  ");
            out.push_str(&text);
            out.push('\n');
        };
        line(format!("{prefix}start((start))"));
        if let Some(team) = &self.team {
            line(format!("{prefix}team[/\"{}\"/]", label(&team.summary())));
        }
        for (ix, group) in self.groups.iter().enumerate() {
            line(format!("subgraph {prefix}z{ix}[\"{}\"]", label(&group.name)));
            self.shapes
                .iter()
                .filter(|shape| shape.group == Some(ix))
                .filter_map(|shape| node(prefix, shape))
                .for_each(&mut line);
            line("end".to_owned());
            if let Some(element) = &group.element {
                line(format!("class {prefix}z{ix} {}", class(element)));
            }
        }
        self.shapes.iter().filter(|shape| shape.group.is_none()).filter_map(|shape| node(prefix, shape)).for_each(&mut line);
        for arrow in &self.arrows {
            let (from, to) = (&self.shapes[arrow.from].id, &self.shapes[arrow.to].id);
            let stroke = match arrow.kind {
                ArrowKind::Start | ArrowKind::Plain | ArrowKind::Beside | ArrowKind::Guard => "-->",
                ArrowKind::Shortcut | ArrowKind::Choice | ArrowKind::Fallback => "-.->",
                ArrowKind::Loop => "==>",
                ArrowKind::Advisory => "-.-",
            };
            let text = label(&arrow.label());
            match arrow.kind {
                ArrowKind::Start | ArrowKind::Advisory => line(format!("{prefix}{from} {stroke} {prefix}{to}")),
                _ => line(format!("{prefix}{from} {stroke}|\"{text}\"| {prefix}{to}")),
            }
            links.push(ChartLink { kind: Some(arrow.kind), count: arrow.count });
        }
        let idle: Vec<String> =
            self.shapes.iter().filter(|shape| shape.is_idle()).map(|shape| format!("{prefix}{}", shape.id)).collect();
        if !idle.is_empty() {
            line(format!("class {} idle", idle.join(",")));
        }
        for nested in &self.nested {
            let within = format!("{prefix}{}_", self.shapes[nested.shape].id);
            _ = writeln!(out, "  subgraph {within}part[\"{}\"]", label(&self.nested_title(nested)));
            nested.picture.chart(&within, out, links);
            _ = writeln!(out, "  end\n  {prefix}{} -.- {within}start", self.shapes[nested.shape].id);
            links.push(ChartLink { kind: None, count: None });
        }
    }
}

/// An arrow of the chart, in the order in which mermaid numbers links.
struct ChartLink {
    kind: Option<ArrowKind>,
    count: Option<u64>,
}

/// Writes a style for the selected arrows.
fn style(out: &mut String, links: &[ChartLink], which: impl Fn(&ChartLink) -> bool, style: &str) {
    let chosen = links.iter().enumerate().filter(|(_, link)| which(link)).map(|(ix, _)| ix.to_string());
    let chosen: Vec<String> = chosen.collect();
    if !chosen.is_empty() {
        _ = writeln!(out, "  linkStyle {} {style}", chosen.join(","));
    }
}

/// The line that declares a shape; the start is declared elsewhere.
fn node(prefix: &str, shape: &PictureShape) -> Option<String> {
    let (id, name) = (format!("{prefix}{}", shape.id), label(&shape.name));
    // The colour shows the element already.
    let notes: Vec<String> =
        shape.notes().iter().filter(|note| Some(*note) != shape.element.as_ref()).map(|note| label(note)).collect();
    let notes = if notes.is_empty() { String::new() } else { format!("<br/>{}", notes.join(" #183; ")) };
    let code = shape.code.as_ref().map_or(String::new(), |code| format!("{} ", label(code)));
    let class = shape.element.as_ref().map_or(String::new(), |element| format!(":::{}", class(element)));
    Some(match shape.role {
        ShapeRole::Start => return None,
        ShapeRole::Node => format!("{id}[\"{code}{name}{notes}\"]{class}"),
        ShapeRole::Done => format!("{id}([\"{name}\"])"),
        ShapeRole::Any => format!("{id}{{{{\"{name}\"}}}}"),
        ShapeRole::Advisory => format!("{id}>\"{name}\"]:::advisory"),
    })
}

/// Adds transparency to a hexadecimal colour, so that labels stay readable; other colours are unchanged.
fn tint(colour: &str) -> String {
    if colour.starts_with('#') && colour.len() == 7 { format!("{colour}40") } else { colour.to_owned() }
}

/// Escapes a text for a quoted label: every character with a meaning in mermaid becomes a character code.
fn label(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for ch in text.chars() {
        match ch {
            _ if ch.is_alphanumeric() => out.push(ch),
            ' ' | '-' | '+' | '_' | '.' | ',' | '/' => out.push(ch),
            _ if ch.is_whitespace() || ch.is_control() => out.push(' '),
            _ => _ = write!(out, "#{};", u32::from(ch)),
        }
    }
    out
}

fn class(element: &str) -> String {
    let name: String = element.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("element_{name}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::parse;
    use asterisk_diag::Source;
    use std::collections::BTreeMap;

    fn chart(text: &str, colours: &BTreeMap<String, String>) -> String {
        Picture::new(&parse(&Source::new("p.yaml", text)).unwrap(), colours).mermaid()
    }

    #[test]
    fn each_edge_kind_has_its_arrow() {
        let text = "pipeline: p\nzones: {back: {nodes: [a], element: fire}}\nnodes:\n  - {name: a, code: F0, element: fire, fallback: b}\n  - {name: b}\nedges:\n  \
             - {id: E1, name: on, from: a, to: b}\n  - {id: S, from: a, to: _done, shortcut: true}\n  \
             - {id: L, from: b, to: a, loop: true, counter: again, targets: [a, _done]}\n  \
             - {id: A, name: skew, from: a, advisory: true}\n  - {id: G, from: '*', to: _done}\nstart: a\ndone: _done\n";
        let colours = BTreeMap::from([("fire".to_owned(), "#ff0000".to_owned()), ("x".to_owned(), "red;click".to_owned())]);
        assert_eq!(
            chart(text, &colours),
            "flowchart TD\n  \
             %% p\n  \
             start((start))\n  \
             subgraph z0[\"back\"]\n  \
             n0[\"F0 a\"]:::element_fire\n  \
             a3>\"A skew\"]:::advisory\n  \
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
             n0 -.- a3\n  \
             any -->|\"G\"| done\n  \
             n0 -.->|\"fallback\"| n1\n  \
             linkStyle 1 stroke:#3f4a5a\n  \
             linkStyle 2 stroke:#0b6bcb\n  \
             linkStyle 3 stroke:#b45309\n  \
             linkStyle 4 stroke:#b45309\n  \
             linkStyle 6 stroke:#b91c1c\n  \
             linkStyle 7 stroke:#6b7480\n  \
             linkStyle 5 stroke:#7c3aed\n  \
             classDef element_fire fill:#ff000040\n  \
             classDef advisory stroke:#7c3aed,stroke-dasharray:3\n"
        );
    }

    #[test]
    fn special_characters_stay_inside_labels() {
        let odd = r#"end"]; click n0 "x" %% <b> #35; `|{}()é\n"#;
        let quoted = serde_json::to_string(odd).unwrap();
        let text = format!(
            "pipeline: {quoted}\nzones: {{{quoted}: {{nodes: [a], element: {quoted}}}}}\nnodes: [{{name: a, element: {quoted}}}, {{name: end}}]\n\
             edges: [{{id: {quoted}, name: {quoted}, from: a, to: {done}}}]\nstart: a\ndone: {done}\n",
            done = serde_json::to_string(&format!("{odd}!")).unwrap(),
        );
        let chart = chart(&text, &BTreeMap::new());
        for line in chart.lines() {
            let outside: String = line.split('"').step_by(2).collect();
            assert!(line.matches('"').count() <= 2, "{line}");
            assert!(outside.chars().all(|c| c.is_ascii_alphanumeric() || " _[]()|<>-+.=:%{}#;é,/".contains(c)), "{line}");
            assert!(!outside.contains("click") || line.trim_start().starts_with("%%") || line.contains("element_"), "{line}");
        }
        assert!(chart.contains("n1[\"end\"]"));
        assert!(label("a\"b\n#").eq("a#34;b #35;"));
    }
}
