//! Renders a picture in Graphviz's DOT language.

use super::{Arrow, ArrowKind, Picture, PictureShape, ShapeRole};
use std::fmt::Write;

impl Picture {
    /// Renders the picture as DOT: zones as clusters, elements as fill colours, edge kinds as colours and strokes, and a legend.
    pub fn dot(&self) -> String {
        let mut out = format!("digraph {} {{\n", quoted(&self.title));
        let font = "fontname=\"Helvetica,Arial,sans-serif\"";
        let title = if self.subtitle().is_empty() { self.title.clone() } else { format!("{}\n{}", self.title, self.subtitle()) };
        _ = write!(
            out,
            "  graph [rankdir=TB, {font}, fontsize=12, nodesep=0.5, ranksep=0.6, labelloc=t, label={}]\n  \
             node [shape=box, style=\"rounded,filled\", fillcolor=white, {font}, fontsize=12]\n  \
             edge [{font}, fontsize=10]\n",
            quoted(&title)
        );
        self.dot_body("", &mut out);
        self.dot_legend(&mut out);
        out.push_str("}\n");
        out
    }

    /// Writes shapes and arrows, their ids prefixed by `prefix`. The subpipeline of a node is a cluster attached to it.
    fn dot_body(&self, prefix: &str, out: &mut String) {
        for (ix, group) in self.groups.iter().enumerate() {
            let colour = group.colour.as_deref().unwrap_or("#8a94a3");
            let label = match &group.element {
                Some(element) => format!("{} ({element})", group.name),
                None => group.name.clone(),
            };
            _ = write!(
                out,
                "  subgraph cluster_{prefix}z{ix} {{\n    label={}; labeljust=l; style=\"rounded\"; color={}\n",
                quoted(&label),
                quoted(colour)
            );
            for shape in self.shapes.iter().filter(|shape| shape.group == Some(ix)) {
                _ = writeln!(out, "    {prefix}{}", node(shape));
            }
            out.push_str("  }\n");
        }
        for shape in self.shapes.iter().filter(|shape| shape.group.is_none()) {
            _ = writeln!(out, "  {prefix}{}", node(shape));
        }
        for arrow in &self.arrows {
            let (from, to) = (&self.shapes[arrow.from].id, &self.shapes[arrow.to].id);
            _ = writeln!(out, "  {prefix}{from} -> {prefix}{to} [{}]", edge(arrow));
        }
        for nested in &self.nested {
            let id = &self.shapes[nested.shape].id;
            let title = quoted(&self.nested_title(nested));
            _ = writeln!(out, "  subgraph cluster_{prefix}{id} {{\n  label={title}; labeljust=l; style=\"rounded,dashed\"");
            nested.picture.dot_body(&format!("{prefix}{id}_"), out);
            _ = writeln!(out, "  }}\n  {prefix}{id} -> {prefix}{id}_start [style=dotted, dir=none]");
        }
    }

    fn dot_legend(&self, out: &mut String) {
        let cell = |text: &str| format!("<tr><td align=\"left\">{text}</td></tr>");
        let mut rows = String::new();
        for kind in self.kinds() {
            let stroke = match kind {
                ArrowKind::Loop => "&#9473;&#9473;",
                ArrowKind::Plain | ArrowKind::Beside | ArrowKind::Guard | ArrowKind::Start => "&#9472;&#9472;",
                _ => "&#9476;&#9476;",
            };
            let text = format!("<font color=\"{}\">{stroke} {}</font>", kind.colours().0, kind.description());
            rows.push_str(&cell(&text));
        }
        for (element, colour) in self.elements() {
            rows.push_str(&cell(&format!("<font color=\"{colour}\">&#9632;</font> {}", html(element))));
        }
        _ = writeln!(
            out,
            "  legend [shape=plaintext, style=\"\", fontsize=10, label=<<table border=\"0\" cellspacing=\"1\">{rows}</table>>]"
        );
    }
}

fn node(shape: &PictureShape) -> String {
    let name = shape.code.as_ref().map_or(shape.name.clone(), |code| format!("{code} {}", shape.name));
    // The colour shows the element already.
    let notes: Vec<String> = shape.notes().into_iter().filter(|note| Some(note) != shape.element.as_ref()).collect();
    let name = if notes.is_empty() { name } else { format!("{name}\n{}", notes.join(" · ")) };
    let mut attributes = match shape.role {
        ShapeRole::Start => "shape=circle, label=\"\", width=0.15, style=filled, fillcolor=\"#3f4a5a\"".to_owned(),
        ShapeRole::Node => format!("label={}", quoted(&name)),
        ShapeRole::Done => format!("shape=box, style=\"rounded,filled,bold\", label={}", quoted(&name)),
        ShapeRole::Any => format!("shape=diamond, color=\"{}\", label={}", ArrowKind::Guard.colours().0, quoted("any node")),
        ShapeRole::Advisory => {
            let colour = ArrowKind::Advisory.colours().0;
            format!("shape=note, style=\"filled,dashed\", fontsize=10, color=\"{colour}\", label={}", quoted(&name))
        }
    };
    if let Some(colour) = &shape.colour {
        // A tint of a hexadecimal colour; a named colour cannot carry an alpha value.
        let tint = if colour.len() == 7 { format!("{colour}40") } else { colour.clone() };
        _ = write!(attributes, ", color={}, fillcolor={}", quoted(colour), quoted(&tint));
    }
    if let Some(element) = &shape.element {
        _ = write!(attributes, ", tooltip={}", quoted(element));
    }
    if shape.is_idle() {
        attributes.push_str(", color=\"#5b657355\", fontcolor=\"#5b657388\"");
    }
    format!("{} [{attributes}]", shape.id)
}

fn edge(arrow: &Arrow) -> String {
    let faded = format!("{}4d", arrow.kind.colours().0);
    let colour = if arrow.is_idle() { &faded } else { arrow.kind.colours().0 };
    let style = match arrow.kind {
        ArrowKind::Start | ArrowKind::Plain | ArrowKind::Beside | ArrowKind::Guard => "solid",
        ArrowKind::Shortcut | ArrowKind::Fallback => "dashed",
        ArrowKind::Loop => "bold",
        ArrowKind::Choice | ArrowKind::Advisory => "dotted",
    };
    let mut out = format!("style={style}, color=\"{colour}\", fontcolor=\"{colour}\"");
    if arrow.count.is_some_and(|count| count > 0) {
        out.push_str(", penwidth=2.6");
    }
    // An advisory's shape describes it already.
    if arrow.kind == ArrowKind::Advisory {
        out.push_str(", dir=none");
    } else if !arrow.label().is_empty() {
        _ = write!(out, ", label={}", quoted(&format!(" {} ", arrow.label())));
    }
    if matches!(arrow.kind, ArrowKind::Loop | ArrowKind::Choice | ArrowKind::Fallback) {
        out.push_str(", constraint=false");
    }
    out
}

/// A quoted DOT string: quotes and backslashes escaped, line breaks as `\
/// `, other control characters removed.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn html(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect::<String>().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
