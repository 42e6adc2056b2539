//! Computes the layout of a picture.
//!
//! All shapes are stacked on a vertical spine, grouped by zone. Edges to the next shape go straight down. Forward edges leave to
//! the right into a lane of their own, backward edges to the left. Each arrow leaves from a row of its own, with its label in
//! that row, so no label can overlap another label or a line, however large the graph. Rows are ordered so that the lines of one
//! node do not cross: on the right, incoming lines from the nearest lane first, then outgoing lines to the farthest lane first;
//! on the left, the reverse.

use super::svg_text::width;
use super::{Arrow, ArrowKind, Picture, ShapeRole};

/// The height of a row with an outgoing line and its label.
const ROW: f64 = 21.0;
/// The height of a row with an incoming line.
const ENTRY: f64 = 13.0;
/// The minimum height of a node.
const NODE: f64 = 46.0;
/// The distance between lanes, and between parallel lines going straight down.
pub(super) const LANE: f64 = 14.0;
/// The gap between two shapes without labels in between.
const GAP: f64 = 34.0;
/// The padding of a zone above and below its nodes.
const BAND: f64 = 12.0;
/// The font size of labels.
pub(super) const LABEL: f64 = 11.0;
/// The font size of names.
pub(super) const NAME: f64 = 13.0;

/// A point `(x, y)`.
pub(super) type Point = (f64, f64);

/// A shape on the spine.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) shape: usize,
    pub(super) y: f64,
    pub(super) height: f64,
}

/// A zone; it spans the width of the picture.
#[derive(Debug)]
pub(super) struct Band {
    pub(super) group: usize,
    pub(super) y: f64,
    pub(super) height: f64,
}

/// A line of horizontal and vertical segments.
#[derive(Debug)]
pub(super) struct Polyline {
    pub(super) arrow: usize,
    pub(super) points: Vec<Point>,
    /// Whether it ends in an arrow head; of several lines that join, only the first does.
    pub(super) head: bool,
}

/// A label next to the spine.
#[derive(Debug)]
pub(super) struct SpineLabel {
    pub(super) arrow: usize,
    pub(super) at: Point,
    /// Whether the text is right-aligned at its point rather than left-aligned.
    pub(super) ends: bool,
}

/// The finished layout. The middle of the spine is at x = 0; the caller translates it.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Half the width of nodes.
    pub(super) half: f64,
    /// The extent to the left and right of the spine, without zone names.
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) height: f64,
    pub(super) placed: Vec<Placed>,
    pub(super) bands: Vec<Band>,
    pub(super) lines: Vec<Polyline>,
    pub(super) labels: Vec<SpineLabel>,
}

/// The arrows of one kind between the same two shapes.
struct Bundle {
    from: usize,
    to: usize,
    kind: ArrowKind,
    arrows: Vec<usize>,
    /// The lane, 0 nearest to the nodes; unused for those going straight down.
    lane: usize,
    direction: Direction,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Down,
    Right,
    Left,
}

/// One side of a shape: incoming and outgoing bundles, each in row order.
#[derive(Default)]
struct ShapeSide {
    entries: Vec<usize>,
    exits: Vec<usize>,
}

impl Layout {
    pub(super) fn new(picture: &Picture) -> Self {
        let spine = spine(picture);
        let bundles = bundles(picture, &spine);
        let mut layout = Self { half: half(picture), ..Self::default() };
        let label = |arrow: usize| width(&picture.arrows[arrow].label(), LABEL) + 26.0;
        let of = |direction: Direction| bundles.iter().filter(move |bundle| bundle.direction == direction);
        let widest =
            |direction: Direction| of(direction).flat_map(|bundle| &bundle.arrows).map(|ix| label(*ix)).fold(16.0, f64::max);
        let lanes = |direction: Direction| of(direction).map(|bundle| bundle.lane + 1).max().unwrap_or(0);
        let advisory = |arrow: &Arrow| if arrow.kind == ArrowKind::Advisory { width(&arrow.label(), LABEL) + 44.0 } else { 0.0 };
        let notes = picture.arrows.iter().map(advisory).fold(0.0, f64::max);
        let below = of(Direction::Down).flat_map(|bundle| &bundle.arrows).map(|ix| label(*ix) + 40.0 - layout.half);
        let (left, right) = (widest(Direction::Left), below.fold(widest(Direction::Right).max(notes), f64::max));
        #[expect(clippy::cast_precision_loss, reason = "a few lanes")]
        let reach = |column: f64, direction: Direction| layout.half + column + lanes(direction) as f64 * LANE;
        (layout.left, layout.right) = (reach(left, Direction::Left), reach(right, Direction::Right));
        let columns = [layout.half + left, layout.half + right];
        layout.place(picture, &spine, &bundles, columns);
        layout
    }

    fn place(&mut self, picture: &Picture, spine: &[usize], bundles: &[Bundle], columns: [f64; 2]) {
        // The heights at which each bundle leaves (one per arrow) and enters.
        let mut exits: Vec<Vec<f64>> = bundles.iter().map(|_| Vec::new()).collect();
        let mut entries: Vec<f64> = vec![0.0; bundles.len()];
        let mut y = 0.0;
        let mut previous: Option<usize> = None;
        for (at, &shape) in spine.iter().enumerate() {
            let down: Vec<&Bundle> =
                bundles.iter().filter(|bundle| bundle.direction == Direction::Down && bundle.to == at).collect();
            let written: Vec<usize> = down
                .iter()
                .flat_map(|bundle| bundle.arrows.iter().copied())
                .filter(|ix| !text(picture, *ix).is_empty())
                .collect();
            let group = picture.shapes[shape].group;
            let mut gap = if at == 0 { 0.0 } else { GAP.max(count(written.len()) * 16.0 + 22.0) };
            let borders = usize::from(previous.is_some()) + usize::from(group.is_some());
            if at > 0 && (previous != group) {
                gap += BAND * count(borders);
            }
            let above = y;
            y += gap;
            self.lines_down(&down, above, y);
            let lines = count(down.len().saturating_sub(1)) * LANE / 2.0;
            let first = above + (gap - count(written.len()) * 16.0) / 2.0 + 11.0;
            self.labels.extend(written.iter().enumerate().map(|(row, ix)| SpineLabel {
                arrow: *ix,
                at: (lines + 10.0, first + count(row) * 16.0),
                ends: false,
            }));
            let notes =
                picture.arrows.iter().enumerate().filter(|(_, arrow)| arrow.from == shape && arrow.kind == ArrowKind::Advisory);
            let notes: Vec<usize> = notes.map(|(ix, _)| ix).collect();
            let (right, left) = (side(bundles, at, Direction::Right), side(bundles, at, Direction::Left));
            let rows = |side: &ShapeSide| {
                let exits = side.exits.iter().map(|ix| bundles[*ix].arrows.len()).sum::<usize>();
                count(side.entries.len()) * ENTRY + count(exits) * ROW + 10.0
            };
            let least = match picture.shapes[shape].role {
                ShapeRole::Start => 14.0,
                ShapeRole::Done | ShapeRole::Any => 32.0,
                _ => NODE,
            };
            let height = least.max(rows(&right) + count(notes.len()) * ROW).max(rows(&left));
            // Right: entries, notes, exits. Left: exits, entries.
            let mut row = y + (height - rows(&right) - count(notes.len()) * ROW) / 2.0 + 5.0;
            for ix in right.entries {
                entries[ix] = row + ENTRY / 2.0;
                row += ENTRY;
            }
            for ix in notes {
                row += ROW;
                self.labels.push(SpineLabel { arrow: ix, at: (self.half + 24.0, row - 5.0), ends: false });
                self.lines.push(Polyline {
                    arrow: ix,
                    points: vec![(self.half, row - 9.0), (self.half + 16.0, row - 9.0)],
                    head: false,
                });
            }
            for ix in right.exits {
                for arrow in &bundles[ix].arrows {
                    row += ROW;
                    exits[ix].push(row - 3.0);
                    self.labels.push(SpineLabel { arrow: *arrow, at: (self.half + 10.0, row - 8.5), ends: false });
                }
            }
            let mut row = y + (height - rows(&left)) / 2.0 + 5.0;
            for ix in left.exits {
                for arrow in &bundles[ix].arrows {
                    row += ROW;
                    exits[ix].push(row - 3.0);
                    self.labels.push(SpineLabel { arrow: *arrow, at: (-self.half - 10.0, row - 8.5), ends: true });
                }
            }
            for ix in left.entries {
                entries[ix] = row + ENTRY / 2.0;
                row += ENTRY;
            }
            match (self.bands.last_mut(), group) {
                (Some(band), Some(group)) if band.group == group && previous == Some(group) => {
                    band.height = y + height + BAND - band.y;
                }
                (_, Some(group)) => self.bands.push(Band { group, y: y - BAND, height: height + 2.0 * BAND }),
                _ => {}
            }
            self.placed.push(Placed { shape, y, height });
            y += height;
            previous = group;
        }
        self.height = y + if previous.is_some() { BAND } else { 0.0 };
        for (bundle, (exits, entry)) in bundles.iter().zip(exits.iter().zip(entries)) {
            self.lines_aside(bundle, exits, entry, columns);
        }
    }

    /// Draws straight lines between two neighbours, side by side.
    fn lines_down(&mut self, down: &[&Bundle], above: f64, y: f64) {
        let first = -count(down.len().saturating_sub(1)) * LANE / 2.0;
        for (ix, bundle) in down.iter().enumerate() {
            let x = first + count(ix) * LANE;
            let Some(arrow) = bundle.arrows.first() else { continue };
            self.lines.push(Polyline { arrow: *arrow, points: vec![(x, above), (x, y)], head: true });
        }
    }

    /// Draws lines into the lane, along it and back; further arrows of a bundle join the lane.
    fn lines_aside(&mut self, bundle: &Bundle, exits: &[f64], entry: f64, columns: [f64; 2]) {
        let (sign, column) = match bundle.direction {
            Direction::Down => return,
            Direction::Left => (-1.0, columns[0]),
            Direction::Right => (1.0, columns[1]),
        };
        let (edge, x) = (sign * self.half, sign * (column + count(bundle.lane) * LANE));
        for (row, (arrow, exit)) in bundle.arrows.iter().zip(exits).enumerate() {
            // The exit furthest back carries the whole line; the others join it.
            let carries = row == if bundle.direction == Direction::Left { exits.len() - 1 } else { 0 };
            let points = if carries {
                vec![(edge, *exit), (x, *exit), (x, entry), (edge, entry)]
            } else {
                vec![(edge, *exit), (x, *exit)]
            };
            self.lines.push(Polyline { arrow: *arrow, points, head: carries });
        }
    }
}

/// The order on the spine: start, the nodes in file order grouped by zone, the end, the guards' origin.
fn spine(picture: &Picture) -> Vec<usize> {
    let of = |role: ShapeRole| picture.shapes.iter().enumerate().filter(move |(_, shape)| shape.role == role).map(|(ix, _)| ix);
    let mut spine: Vec<usize> = of(ShapeRole::Start).collect();
    for ix in of(ShapeRole::Node) {
        if spine.contains(&ix) {
            continue;
        }
        match picture.shapes[ix].group {
            Some(group) => spine.extend(of(ShapeRole::Node).filter(|other| picture.shapes[*other].group == Some(group))),
            None => spine.push(ix),
        }
    }
    spine.extend(of(ShapeRole::Done).chain(of(ShapeRole::Any)));
    spine
}

/// Bundles the arrows of the spine and assigns directions and lanes. `from` and `to` are positions on the spine.
fn bundles(picture: &Picture, spine: &[usize]) -> Vec<Bundle> {
    let place = |shape: usize| spine.iter().position(|other| *other == shape);
    let mut bundles: Vec<Bundle> = Vec::new();
    for (ix, arrow) in picture.arrows.iter().enumerate() {
        let (Some(from), Some(to)) = (place(arrow.from), place(arrow.to)) else { continue };
        match bundles.iter_mut().find(|bundle| (bundle.from, bundle.to, bundle.kind) == (from, to, arrow.kind)) {
            Some(bundle) => bundle.arrows.push(ix),
            None => {
                let direction = if to == from + 1 {
                    Direction::Down
                } else if to > from {
                    Direction::Right
                } else {
                    Direction::Left
                };
                bundles.push(Bundle { from, to, kind: arrow.kind, arrows: vec![ix], lane: 0, direction });
            }
        }
    }
    // Shortest in the nearest lanes.
    let mut order: Vec<usize> = (0..bundles.len()).filter(|ix| bundles[*ix].direction != Direction::Down).collect();
    order.sort_by_key(|ix| (bundles[*ix].from.abs_diff(bundles[*ix].to), *ix));
    for (done, &ix) in order.iter().enumerate() {
        // There are never more lanes than lines.
        let lane = (0..order.len()).find(|lane| {
            let mut taken = order[..done].iter().filter(|other| bundles[**other].lane == *lane);
            !taken.any(|other| meet(&bundles[ix], &bundles[*other]))
        });
        bundles[ix].lane = lane.unwrap_or(0);
    }
    bundles
}

/// Whether two bundles would overlap in one lane. One may begin where another ends.
fn meet(a: &Bundle, b: &Bundle) -> bool {
    let ends = |bundle: &Bundle| (bundle.from.min(bundle.to), bundle.from.max(bundle.to));
    let ((a0, a1), (b0, b1)) = (ends(a), ends(b));
    let touch = a0 <= b1 && b0 <= a1;
    let inside = a0 < b1 && b0 < a1;
    a.direction == b.direction && if a0 == a1 || b0 == b1 { touch } else { inside }
}

/// The rows of one side of a shape, top down.
fn side(bundles: &[Bundle], at: usize, direction: Direction) -> ShapeSide {
    let of = |end: fn(&Bundle) -> usize| {
        let mut found: Vec<usize> =
            (0..bundles.len()).filter(|ix| bundles[*ix].direction == direction && end(&bundles[*ix]) == at).collect();
        found.sort_by_key(|ix| bundles[*ix].lane);
        found
    };
    let (mut entries, mut exits) = (of(|bundle| bundle.to), of(|bundle| bundle.from));
    if direction == Direction::Right { &mut exits } else { &mut entries }.reverse();
    ShapeSide { entries, exits }
}

/// Half the width needed by the widest node name.
fn half(picture: &Picture) -> f64 {
    let shape = |shape: &super::PictureShape| {
        let code = shape.code.as_ref().map_or(0.0, |code| width(code, NAME) + 10.0);
        let notes = width(&shape.notes().join(" · "), LABEL) + 24.0;
        if shape.role == ShapeRole::Advisory { 0.0 } else { notes.max(code + width(&shape.name, NAME) + 32.0) }
    };
    (picture.shapes.iter().map(shape).fold(150.0, f64::max) / 2.0).round()
}

fn text(picture: &Picture, arrow: usize) -> String {
    picture.arrows[arrow].label()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of rows")]
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::parse;
    use asterisk_diag::Source;
    use proptest::prelude::*;
    use std::fmt::Write as _;

    /// A pipeline with this many nodes and these edges (from, to, kind).
    fn picture(nodes: usize, edges: &[(usize, usize, usize)]) -> Picture {
        let mut text = "pipeline: p\nstart: n0\ndone: _done\nzones: {z: {nodes: [n0]}, y: {nodes: [n1]}}\nnodes:\n".to_owned();
        (0..nodes).for_each(|node| writeln!(text, "  - {{name: n{node}, fallback: n{}}}", (node + 1) % nodes).unwrap());
        text.push_str("edges:\n  - {id: first, from: n0, to: n1}\n");
        for (ix, (from, to, kind)) in edges.iter().enumerate() {
            let (from, to) = (from % nodes, to % nodes);
            let rest = match kind % 5 {
                0 => format!("from: n{from}, to: n{to}"),
                1 => format!("from: n{from}, to: _done, shortcut: true, name: a-name-of-some-length"),
                2 => format!("from: n{from}, to: n{to}, loop: true, targets: [n0, _done]"),
                3 => format!("from: n{from}, advisory: true, name: note"),
                _ => format!("from: '*', to: n{to}"),
            };
            writeln!(text, "  - {{id: E{ix}, {rest}}}").unwrap();
        }
        Picture::new(&parse(&Source::new("p.yaml", text)).unwrap(), &std::collections::BTreeMap::new())
    }

    /// Left, top, right and bottom.
    type Area = [f64; 4];

    fn overlap(a: &Area, b: &Area) -> bool {
        a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
    }

    proptest! {
        #[test]
        fn no_label_overlaps_a_label_or_line_or_node(
            nodes in 2..7_usize, edges in prop::collection::vec((0..7_usize, 0..7_usize, 0..5_usize), 0..14)
        ) {
            let picture = picture(nodes, &edges);
            let layout = Layout::new(&picture);
            let labels: Vec<Area> = layout.labels.iter().map(|label| {
                let wide = width(&picture.arrows[label.arrow].label(), LABEL);
                let left = if label.ends { label.at.0 - wide } else { label.at.0 };
                [left, label.at.1 - LABEL * 0.7, left + wide, label.at.1 + 1.0]
            }).collect();
            let boxes = layout.placed.iter().map(|placed| [-layout.half, placed.y, layout.half, placed.y + placed.height]);
            let pieces = layout.lines.iter().filter(|line| picture.arrows[line.arrow].kind != ArrowKind::Advisory).flat_map(|line| {
                line.points.windows(2).map(|ends| {
                    let ((x0, y0), (x1, y1)) = (ends[0], ends[1]);
                    [x0.min(x1) - 0.5, y0.min(y1) - 0.5, x0.max(x1) + 0.5, y0.max(y1) + 0.5]
                })
            });
            let others: Vec<Area> = boxes.chain(pieces).collect();
            for (ix, label) in labels.iter().enumerate() {
                prop_assert!(!labels[..ix].iter().any(|other| overlap(label, other)), "{label:?} in {labels:?}");
                prop_assert!(!others.iter().any(|other| overlap(label, other)), "{label:?} in {others:?}");
                prop_assert!(label[0] >= -layout.left && label[2] <= layout.right, "{label:?} leaves the picture");
            }
            for line in &layout.lines {
                let inside = line.points.iter().all(|point| point.0 >= -layout.left && point.0 <= layout.right + 0.1);
                prop_assert!(inside && line.points.iter().all(|point| point.1 >= 0.0 && point.1 <= layout.height), "{line:?}");
            }
        }
    }
}
