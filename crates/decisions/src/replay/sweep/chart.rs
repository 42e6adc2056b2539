//! A sweep as an SVG chart: flips above, the edges that vary below, plateaus as bands, the current value as a line. Readable on
//! white and on black, and self-contained.

use super::point::SweepReport;
use asterisk_diag::counted;
use quick_xml::escape::escape;
use serde_json::Value;
use std::fmt::Write as _;

/// The most edges that are drawn.
const EDGES: usize = 6;

/// The width of the chart, and the margins of its lines.
const WIDTH: f64 = 760.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 640.0;
/// The height of a panel, and the top of the first one.
const PANEL: f64 = 150.0;
const TOP: f64 = 78.0;
/// The gap between panels.
const GAP: f64 = 40.0;
/// The least distance between labels.
const LABEL: f64 = 14.0;

const STYLE: &str = "\
.s{font:12px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif}.s text{fill:#1c2430}.s .soft{fill:#5b6573}\
.s .paper{fill:#ffffff}.s .band{fill:#eef1f5}.s .grid{stroke:#d5dae1;stroke-width:1}.s .now{stroke:#1c2430;stroke-width:1.2;stroke-dasharray:3 3}\
.s .line{fill:none;stroke-width:2;stroke-linejoin:round}.s .dash{stroke-dasharray:5 4}.s .b{font-weight:600}\
.s .c0{stroke:#c2410c}.s .c1{stroke:#6b7280}.s .c2{stroke:#2563eb}.s .c3{stroke:#047857}.s .c4{stroke:#b45309}.s .c5{stroke:#a21caf}.s .c6{stroke:#0e7490}.s .c7{stroke:#be123c}\
.s circle{fill:#ffffff;stroke-width:2}";

/// The colours for dark backgrounds.
const DARK: &str = "\
.s text{fill:#e6ebf2}.s .soft{fill:#a2adbb}.s .paper{fill:#14181f}.s .band{fill:#1f2630}.s .grid{stroke:#333c48}.s .now{stroke:#e6ebf2}\
.s .c0{stroke:#fb923c}.s .c1{stroke:#9ca3af}.s .c2{stroke:#60a5fa}.s .c3{stroke:#34d399}.s .c4{stroke:#fbbf24}.s .c5{stroke:#e879f9}.s .c6{stroke:#22d3ee}.s .c7{stroke:#fb7185}\
.s circle{fill:#14181f}";

/// One line of a panel.
struct ChartSeries {
    name: String,
    class: String,
    counts: Vec<usize>,
}

/// Renders the chart as an SVG document.
pub fn chart(swept: &SweepReport) -> String {
    let at = places(swept);
    let flips =
        ChartSeries { name: "flips".into(), class: "c0".into(), counts: swept.points.iter().map(|point| point.flips).collect() };
    let unknown = swept.points.iter().map(|point| point.unknown).collect();
    let unknown = ChartSeries { name: "unknown".into(), class: "c1 dash".into(), counts: unknown };
    let edge = |(index, name): (usize, &str)| ChartSeries {
        name: name.to_owned(),
        class: format!("c{}", index + 2),
        counts: swept.points.iter().map(|point| point.edges.get(name).copied().unwrap_or(0)).collect(),
    };
    let edges: Vec<ChartSeries> = swept.moving().into_iter().take(EDGES).enumerate().map(edge).collect();
    let mut panels = vec![("decisions that flip, cases unknown beyond", vec![flips, unknown])];
    if !edges.is_empty() {
        panels.push(("decisions by edge, those that move", edges));
    }
    #[expect(clippy::cast_precision_loss, reason = "two at most")]
    let bottom = TOP + panels.len() as f64 * (PANEL + GAP) - GAP;
    let height = bottom + 34.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"s\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         role=\"img\" aria-labelledby=\"s-title s-desc\">\n<title id=\"s-title\">{}</title>\n<desc id=\"s-desc\">{}</desc>\n\
         <style>{STYLE}@media(prefers-color-scheme:dark){{{DARK}}}</style>\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n",
        escape(format!("Sweep of {}", swept.var)),
        escape(described(swept)),
    );
    let text = |out: &mut String, x: f64, y: f64, class: &str, anchor: &str, text: &str| {
        _ = writeln!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escape(text));
    };
    text(&mut out, LEFT, 24.0, "b", "start", &swept.var);
    let cases = counted(swept.cases, "case", "cases");
    text(&mut out, LEFT, 42.0, "soft", "start", &format!("{cases}; shaded: plateaus, where nothing changes"));
    bands(&mut out, swept, &at, bottom);
    for (index, (title, series)) in panels.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "two at most")]
        let top = TOP + index as f64 * (PANEL + GAP);
        panel(&mut out, &at, top, title, series);
    }
    axis(&mut out, swept, &at, bottom);
    out.push_str("</svg>\n");
    out
}

/// The horizontal positions of the values: to scale if all are numbers, else equidistant.
fn places(swept: &SweepReport) -> Vec<f64> {
    let numbers: Option<Vec<f64>> = swept.points.iter().map(|point| point.value.as_f64()).collect();
    #[expect(clippy::cast_precision_loss, reason = "a thousand at most")]
    let numbers = numbers.unwrap_or_else(|| (0..swept.points.len()).map(|at| at as f64).collect());
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let wide = if most > least { most - least } else { 1.0 };
    numbers.into_iter().map(|number| LEFT + 14.0 + (number - least) / wide * (RIGHT - LEFT - 28.0)).collect()
}

/// Draws plateaus of several values, and the current value.
fn bands(out: &mut String, swept: &SweepReport, at: &[f64], bottom: f64) {
    let mut first = 0;
    for plateau in &swept.plateaus {
        let last = first + plateau.values - 1;
        if plateau.values > 1 {
            let (from, to) = (at[first].min(at[last]) - 4.0, at[first].max(at[last]) + 4.0);
            _ = writeln!(
                out,
                "<rect class=\"band\" x=\"{from:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                to - from,
                bottom - TOP
            );
        }
        first = last + 1;
    }
    if let Some(now) = swept.points.iter().position(|point| point.current) {
        let x = at[now];
        _ = writeln!(out, "<line class=\"now\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{bottom}\"/>", TOP - 6.0);
        _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">now</text>", TOP - 9.0);
    }
}

fn panel(out: &mut String, at: &[f64], top: f64, title: &str, series: &[ChartSeries]) {
    let most = series.iter().flat_map(|series| &series.counts).copied().max().unwrap_or(0).max(1);
    #[expect(clippy::cast_precision_loss, reason = "for a picture")]
    let y = |count: usize| top + PANEL - 16.0 - count as f64 / most as f64 * (PANEL - 34.0);
    for count in [0, most / 2, most] {
        if count == 0 || count != most / 2 || most > 1 {
            let y = y(count);
            _ = writeln!(out, "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
            _ = writeln!(
                out,
                "<text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{count}</text>",
                LEFT - 6.0,
                y + 4.0
            );
        }
    }
    _ = writeln!(out, "<text class=\"soft\" x=\"{LEFT}\" y=\"{:.1}\">{}</text>", top + 4.0, escape(title));
    for series in series {
        let points: Vec<String> = at.iter().zip(&series.counts).map(|(x, count)| format!("{x:.1},{:.1}", y(*count))).collect();
        _ = writeln!(out, "<polyline class=\"line {}\" points=\"{}\"/>", series.class, points.join(" "));
        if at.len() <= 40 {
            for (x, count) in at.iter().zip(&series.counts) {
                _ = writeln!(out, "<circle class=\"{}\" cx=\"{x:.1}\" cy=\"{:.1}\" r=\"2.6\"/>", series.class, y(*count));
            }
        }
    }
    // Labels stand at the right ends of their lines, moved apart where they would overlap.
    let mut labels: Vec<(f64, &ChartSeries)> =
        series.iter().map(|series| (y(series.counts.last().copied().unwrap_or(0)), series)).collect();
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    for index in 1..labels.len() {
        labels[index].0 = labels[index].0.max(labels[index - 1].0 + LABEL);
    }
    for (y, series) in labels {
        let x = RIGHT + 8.0;
        _ = writeln!(
            out,
            "<line class=\"line {}\" x1=\"{x}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>",
            series.class,
            x + 14.0
        );
        let name = escape(crop(&series.name));
        _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{name}</text>", x + 18.0, y + 4.0);
    }
}

/// Draws as many values as fit below the panels.
fn axis(out: &mut String, swept: &SweepReport, at: &[f64], bottom: f64) {
    let mut free = f64::NEG_INFINITY;
    for (x, point) in at.iter().zip(&swept.points) {
        let text = shown(&point.value);
        #[expect(clippy::cast_precision_loss, reason = "a few characters")]
        let half = text.chars().count() as f64 * 3.6;
        if x - half > free {
            _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 18.0,
                escape(crop(&text))
            );
            free = x + half + 8.0;
        }
    }
}

fn crop(text: &str) -> String {
    text.chars().take(16).collect()
}

/// Formats a value for a table or chart: strings without quotes.
pub fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The description for screen readers.
fn described(swept: &SweepReport) -> String {
    let plateau = |plateau: &super::Plateau| match plateau.values {
        1 => format!("at {}", shown(&plateau.from)),
        _ => format!("from {} to {}", shown(&plateau.from), shown(&plateau.to)),
    };
    let flips: Vec<String> = swept.points.iter().map(|point| format!("{}: {} flips", shown(&point.value), point.flips)).collect();
    let plateaus: Vec<String> = swept.plateaus.iter().map(plateau).collect();
    format!("{}. No flips {}.", flips.join(", "), plateaus.join(", "))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::point::tests::swept;
    use super::*;
    use serde_json::json;

    #[test]
    fn charts_are_well_formed() {
        for values in [vec![json!(0.5), json!(0.7), json!(0.9)], vec![json!("<a>"), json!("b & c")], vec![json!(1)], vec![]] {
            let text = chart(&swept(&values));
            let mut reader = quick_xml::Reader::from_str(&text);
            let mut lines = 0;
            loop {
                match reader.read_event().unwrap() {
                    quick_xml::events::Event::Eof => break,
                    quick_xml::events::Event::Empty(tag) if tag.name().as_ref() == "polyline" => lines += 1,
                    _ => {}
                }
            }
            assert!(lines >= 2, "{text}");
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
    }
}
