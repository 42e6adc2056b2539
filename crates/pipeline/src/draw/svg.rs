//! Renders a picture as SVG, readable on light and dark backgrounds, with a title and description for screen readers.

use super::layout::{LABEL, Layout, NAME, Placed, Point, Polyline, SpineLabel};
use super::svg_text::{escape, width, wrap};
use super::{ArrowKind, Picture, ShapeRole};
use std::fmt::Write;

/// The outer margin.
const MARGIN: f64 = 20.0;
/// The corner radius of lines.
const CORNER: f64 = 7.0;
/// The height of a legend row.
const LEGEND: f64 = 20.0;

const KINDS: [ArrowKind; 9] = [
    ArrowKind::Start,
    ArrowKind::Plain,
    ArrowKind::Beside,
    ArrowKind::Shortcut,
    ArrowKind::Loop,
    ArrowKind::Choice,
    ArrowKind::Guard,
    ArrowKind::Fallback,
    ArrowKind::Advisory,
];

const STYLE: &str = "\
.ak{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif}\
.ak .paper{fill:#ffffff}.ak .ink{fill:#1c2430}.ak .soft{fill:#5b6573}\
.ak .node{fill:#ffffff;stroke:#5b6573;stroke-width:1.5}.ak .bandless{fill:#f2f4f7}\
.ak .line{fill:none;stroke-width:1.6}.ak .k-loop{stroke-width:2.4}\
.ak .k-shortcut{stroke-dasharray:7 4}.ak .k-fallback{stroke-dasharray:4 4}.ak .k-choice{stroke-dasharray:1.5 4;stroke-linecap:round}\
.ak .k-advisory{stroke-dasharray:3 3}.ak .id{font-weight:600}\
.ak .idle{opacity:.32}.ak .taken{stroke-width:3.2}.ak .times{font-weight:700}";

/// Overrides for a dark background.
const DARK: &str = ".ak .paper{fill:#14181f}.ak .ink{fill:#e6ebf2}.ak .soft{fill:#a2adbb}\
.ak .node{fill:#14181f;stroke:#a2adbb}.ak .bandless{fill:#1c222b}";

impl Picture {
    /// Renders the picture as a complete SVG document; subpipelines are drawn below it.
    pub fn svg(&self) -> String {
        let mut body = String::new();
        let (w, h) = self.svg_at(&mut body, 0.0, &self.title, true);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ak\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.0} {h:.0}\" \
             role=\"img\" aria-labelledby=\"ak-title ak-desc\">\n<title id=\"ak-title\">{}</title>\n<desc id=\"ak-desc\">{}</desc>\n",
            escape(&format!("Pipeline {}", self.title)),
            escape(&self.description()),
        );
        _ = write!(out, "<style>{}</style>\n<defs>", style());
        for kind in KINDS {
            let word = kind.word();
            _ = write!(
                out,
                "<marker id=\"ak-{word}\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" \
                 markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"f-{word}\" d=\"M0 0L8 4L0 8Z\"/></marker>"
            );
        }
        _ = writeln!(out, "</defs>\n<rect class=\"paper\" width=\"{w:.0}\" height=\"{h:.0}\"/>");
        out.push_str(&body);
        out.push_str("</svg>\n");
        out
    }

    /// Draws the picture below `top`, under a heading. Returns its width and its bottom.
    fn svg_at(&self, out: &mut String, top: f64, heading: &str, whole: bool) -> (f64, f64) {
        let layout = Layout::new(self);
        // Zone names have a column of their own at the far left.
        let zones = self
            .groups
            .iter()
            .map(|group| width(&group.name, NAME).max(group.element.as_ref().map_or(0.0, |element| width(element, LABEL))));
        let zones = zones.fold(0.0, f64::max);
        let zones = if zones > 0.0 { zones + 26.0 } else { 0.0 };
        let inner = zones + layout.left + layout.right + 14.0;
        let inner = inner.max(360.0).max(width(heading, 17.0));
        let subtitle = self.subtitle();
        let description: Vec<_> = subtitle.lines().flat_map(|line| wrap(line, 12.0, inner)).collect();
        #[expect(clippy::cast_precision_loss, reason = "a few lines")]
        let head = top + MARGIN + 24.0 + description.len() as f64 * 17.0 + 16.0;
        let origin = (MARGIN + zones + layout.left, head);
        _ = writeln!(
            out,
            "<text class=\"ink\" x=\"{MARGIN}\" y=\"{:.0}\" font-size=\"17\" font-weight=\"700\">{}</text>",
            top + MARGIN + 14.0,
            escape(heading)
        );
        let mut y = top + MARGIN + 36.0;
        for line in &description {
            _ = writeln!(out, "<text class=\"soft\" x=\"{MARGIN}\" y=\"{y:.0}\" font-size=\"12\">{}</text>", escape(line));
            y += 17.0;
        }
        self.svg_bands(out, &layout, origin.1, inner);
        // Lines are drawn below labels and nodes.
        layout.lines.iter().for_each(|line| self.svg_line(out, line, origin));
        layout.labels.iter().for_each(|label| self.svg_label(out, label, origin));
        layout.placed.iter().for_each(|placed| self.svg_shape(out, placed, layout.half, origin));
        let mut end = (inner + 2.0 * MARGIN, head + layout.height + MARGIN);
        for nested in &self.nested {
            let (wide, bottom) = nested.picture.svg_at(out, end.1, &self.nested_title(nested), false);
            end = (end.0.max(wide), bottom);
        }
        if whole {
            let (legend, height) = self.svg_legend(end.0 - 2.0 * MARGIN, end.1 + 14.0);
            out.push_str(&legend);
            end.1 += 14.0 + height + MARGIN;
        }
        end
    }

    /// Describes the picture in one sentence per arrow.
    fn description(&self) -> String {
        let name = |ix: usize| self.shapes[ix].name.as_str();
        let arrow = |arrow: &super::Arrow| match arrow.kind {
            ArrowKind::Start => format!("It starts at {}.", name(arrow.to)),
            ArrowKind::Advisory => format!("{} advises at {}.", arrow.label(), name(arrow.from)),
            ArrowKind::Guard => format!("{} leads from every node to {}.", arrow.label(), name(arrow.to)),
            _ => format!("{} leads from {} to {}.", arrow.label(), name(arrow.from), name(arrow.to)),
        };
        let arrows: Vec<String> = self.arrows.iter().map(arrow).collect();
        let parts = self.nested.iter().map(|nested| format!("{}: {}", self.nested_title(nested), nested.picture.description()));
        let all: Vec<String> = arrows.into_iter().chain(parts).collect();
        format!("{} {}", self.subtitle().replace('\n', " "), all.join(" ")).trim().to_owned()
    }

    fn svg_bands(&self, out: &mut String, layout: &Layout, top: f64, inner: f64) {
        for band in &layout.bands {
            let group = &self.groups[band.group];
            let (x, y) = (MARGIN, top + band.y);
            let fill = group
                .colour
                .as_ref()
                .map_or("class=\"bandless\"".to_owned(), |colour| format!("fill=\"{colour}\" fill-opacity=\"0.10\""));
            _ = writeln!(
                out,
                "<rect {fill} x=\"{x:.1}\" y=\"{y:.1}\" width=\"{inner:.1}\" height=\"{:.1}\" rx=\"10\"/>",
                band.height
            );
            _ = writeln!(
                out,
                "<text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"{NAME}\" font-weight=\"600\">{}</text>",
                x + 12.0,
                y + 22.0,
                escape(&group.name)
            );
            if let Some(element) = &group.element {
                _ = writeln!(
                    out,
                    "<text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"{LABEL}\">{}</text>",
                    x + 12.0,
                    y + 38.0,
                    escape(element)
                );
            }
        }
    }

    fn svg_line(&self, out: &mut String, line: &Polyline, origin: Point) {
        let arrow = &self.arrows[line.arrow];
        let word = arrow.kind.word();
        let head = if line.head { format!(" marker-end=\"url(#ak-{word})\"") } else { String::new() };
        let title = format!("{}: {} to {}", arrow.label(), self.shapes[arrow.from].name, self.shapes[arrow.to].name);
        _ = writeln!(
            out,
            "<path class=\"line k-{word}{}\" d=\"{}\"{head}><title>{}</title></path>",
            self.taken(line),
            path(&line.points, origin),
            escape(title.trim_start_matches(": "))
        );
    }

    /// The CSS class that shows whether a line was taken. A line shared by several arrows counts as taken if any of them was.
    fn taken(&self, line: &Polyline) -> &'static str {
        let own = &self.arrows[line.arrow];
        let along = |arrow: &&super::Arrow| (arrow.from, arrow.to, arrow.kind) == (own.from, own.to, own.kind);
        let most = if line.head { self.arrows.iter().filter(along).filter_map(|arrow| arrow.count).max() } else { own.count };
        match most {
            None => "",
            Some(0) => " idle",
            Some(_) => " taken",
        }
    }

    fn svg_label(&self, out: &mut String, label: &SpineLabel, origin: Point) {
        let arrow = &self.arrows[label.arrow];
        let (x, y) = (origin.0 + label.at.0, origin.1 + label.at.1);
        let (word, idle) = (arrow.kind.word(), if arrow.is_idle() { " idle" } else { "" });
        if arrow.kind == ArrowKind::Advisory {
            // A flag behind the text.
            let w = width(&arrow.label(), LABEL) + 6.0;
            _ = writeln!(
                out,
                "<path class=\"line k-{word} paper{idle}\" d=\"M{:.1} {:.1}h{w:.1}l6 8l-6 8h-{w:.1}z\"/>",
                x - 8.0,
                y - 12.0
            );
        }
        let anchor = if label.ends { " text-anchor=\"end\"" } else { "" };
        let counter = arrow.counter.as_ref().map_or(String::new(), |counter| format!(" +1 {counter}"));
        _ = writeln!(
            out,
            "<text class=\"f-{word}{}\" x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{LABEL}\"{anchor}><tspan class=\"id\">{}</tspan> {}{}{}</text>",
            idle,
            escape(&arrow.id),
            escape(&arrow.name),
            escape(&counter),
            arrow.times().map_or(String::new(), |times| format!(" <tspan class=\"times\">{times}</tspan>"))
        );
    }

    fn svg_shape(&self, out: &mut String, placed: &Placed, half: f64, origin: Point) {
        let shape = &self.shapes[placed.shape];
        let (x, y, w, h) = (origin.0 - half, origin.1 + placed.y, 2.0 * half, placed.height);
        let middle = y + h / 2.0;
        if shape.is_idle() {
            out.push_str("<g class=\"idle\">");
        }
        match shape.role {
            ShapeRole::Start => {
                _ = writeln!(out, "<circle class=\"f-start\" cx=\"{:.1}\" cy=\"{middle:.1}\" r=\"7\"/>", origin.0);
                return;
            }
            ShapeRole::Node | ShapeRole::Advisory => {
                _ = writeln!(out, "<rect class=\"node\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" rx=\"8\"/>");
                if let Some(colour) = &shape.colour {
                    _ = writeln!(
                        out,
                        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" rx=\"8\" fill=\"{colour}\" \
                         fill-opacity=\"0.18\" stroke=\"{colour}\" stroke-width=\"2\"/>"
                    );
                }
            }
            ShapeRole::Done => {
                _ = writeln!(
                    out,
                    "<rect class=\"node\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" rx=\"{:.1}\" \
                 style=\"stroke-width:2.5\"/>",
                    h.min(32.0) / 2.0
                );
            }
            ShapeRole::Any => {
                _ = writeln!(
                    out,
                    "<path class=\"node k-guard\" d=\"M{:.1} {y:.1}h{:.1}l12 {:.1}l-12 {:.1}h-{:.1}l-12 -{:.1}z\"/>",
                    x + 12.0,
                    w - 24.0,
                    h / 2.0,
                    h / 2.0,
                    w - 24.0,
                    h / 2.0
                );
            }
        }
        let name = if shape.role == ShapeRole::Any { "any node" } else { &shape.name };
        let code = shape
            .code
            .as_ref()
            .map_or(String::new(), |code| format!("<tspan class=\"soft\" font-weight=\"400\">{}</tspan>  ", escape(code)));
        let notes = shape.notes();
        let base = if notes.is_empty() { middle + 4.5 } else { middle - 2.0 };
        _ = writeln!(
            out,
            "<text class=\"ink\" x=\"{:.1}\" y=\"{base:.1}\" font-size=\"{NAME}\" font-weight=\"600\" text-anchor=\"middle\">{code}{}</text>",
            origin.0,
            escape(name)
        );
        if !notes.is_empty() {
            _ = writeln!(
                out,
                "<text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"{LABEL}\" text-anchor=\"middle\">{}</text>",
                origin.0,
                middle + 14.0,
                escape(&notes.join(" · "))
            );
        }
        if shape.is_idle() {
            out.push_str("</g>\n");
        }
    }

    /// Renders the legend. Returns it with its height.
    fn svg_legend(&self, inner: f64, top: f64) -> (String, f64) {
        let mut out = String::new();
        let (mut x, mut y) = (MARGIN, top);
        let mut next = |room: f64| {
            if x > MARGIN && x + room > MARGIN + inner {
                (x, y) = (MARGIN, y + LEGEND);
            }
            let at = (x, y);
            x += room + 18.0;
            at
        };
        for kind in self.kinds() {
            let (x, y) = next(width(kind.description(), LABEL) + 34.0);
            let word = kind.word();
            _ = writeln!(
                out,
                "<path class=\"line k-{word}\" d=\"M{x:.1} {y:.1}h26\"/><text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"{LABEL}\">{}</text>",
                x + 32.0,
                y + 4.0,
                kind.description()
            );
        }
        for (element, colour) in self.elements() {
            let (x, y) = next(width(element, LABEL) + 18.0);
            _ = writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\" rx=\"3\" fill=\"{colour}\" fill-opacity=\"0.5\" stroke=\"{colour}\"/>\
                 <text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"{LABEL}\">{}</text>",
                y - 6.0,
                x + 17.0,
                y + 4.0,
                escape(element)
            );
        }
        (out, y - top + LEGEND)
    }
}

fn style() -> String {
    let rules = |dark: bool| {
        KINDS.iter().fold(String::new(), |mut out, kind| {
            let (light, black) = kind.colours();
            let colour = if dark { black } else { light };
            let word = kind.word();
            _ = write!(out, ".ak .k-{word}{{stroke:{colour}}}.ak .f-{word}{{fill:{colour}}}");
            out
        })
    };
    format!("{STYLE}{}@media (prefers-color-scheme:dark){{{DARK}{}}}", rules(false), rules(true))
}

/// A path through the points with rounded corners.
fn path(points: &[Point], origin: Point) -> String {
    let at = |point: &Point| (origin.0 + point.0, origin.1 + point.1);
    let mut out = String::new();
    for (ix, point) in points.iter().enumerate() {
        let (x, y) = at(point);
        match (ix.checked_sub(1).and_then(|before| points.get(before)), points.get(ix + 1)) {
            (None, _) => _ = write!(out, "M{x:.1} {y:.1}"),
            (_, None) => _ = write!(out, "L{x:.1} {y:.1}"),
            (Some(before), Some(after)) => {
                let (before, after) = (at(before), at(after));
                let (x0, y0) = towards((x, y), before);
                let (x1, y1) = towards((x, y), after);
                _ = write!(out, "L{x0:.1} {y0:.1}Q{x:.1} {y:.1} {x1:.1} {y1:.1}");
            }
        }
    }
    out
}

/// The point at the corner radius (or half the distance, if that is less) from a corner towards another point.
fn towards(from: Point, to: Point) -> Point {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let far = dx.hypot(dy);
    let step = if far > 0.0 { CORNER.min(far / 2.0) / far } else { 0.0 };
    (from.0 + dx * step, from.1 + dy * step)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::parse;
    use asterisk_diag::Source;
    use quick_xml::events::Event;
    use std::collections::BTreeMap;

    #[test]
    fn any_name_gives_a_well_formed_document() {
        let odd = serde_json::to_string("</text><script>&\"é\u{7}").unwrap();
        let text = format!(
            "pipeline: {odd}\ndescription: {odd}\nzones: {{{odd}: {{nodes: [a], element: fire}}}}\n\
             nodes: [{{name: a, element: fire}}, {{name: b, code: '<b>&'}}]\nstart: a\ndone: _done\nedges:\n  \
             - {{id: {odd}, name: {odd}, from: a, to: b}}\n  - {{id: x, from: b, to: a, loop: true}}\n  \
             - {{id: y, from: b, advisory: true}}\n  - {{id: z, from: '*', to: _done}}\n"
        );
        let colours = BTreeMap::from([("fire".to_owned(), "#ff0000".to_owned())]);
        let svg = Picture::new(&parse(&Source::new("p.yaml", text)).unwrap(), &colours).svg();
        let mut reader = quick_xml::Reader::from_str(&svg);
        reader.config_mut().check_end_names = true;
        let mut names: Vec<String> = Vec::new();
        loop {
            match reader.read_event().unwrap_or_else(|error| panic!("{error}\n{svg}")) {
                Event::Start(tag) | Event::Empty(tag) => names.push(AsRef::<str>::as_ref(&tag.name()).to_owned()),
                Event::Eof => break,
                _ => {}
            }
        }
        let count = |name: &str| names.iter().filter(|other| *other == name).count();
        assert_eq!((count("script"), count("desc"), count("svg"), count("circle")), (0, 1, 1, 1), "{svg}");
        assert!(count("text") > 10 && count("path") > 4 && svg.contains("fill=\"#ff0000\""));
    }
}
