//! The content of a drawn pipeline: shapes, zones and arrows.

use super::team::DrawnTeam;
use crate::{Edge, EdgeOrigin, EdgeTarget, NodeIx, Pipeline, PipelineNode};
use std::collections::BTreeMap;

/// A drawn pipeline, in file order.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The name of the pipeline.
    pub title: String,
    /// The description; may be empty.
    pub description: String,
    /// The zones.
    pub groups: Vec<ZoneGroup>,
    /// All endpoints of arrows: start, nodes, the end, the guards' origin, advisories.
    pub shapes: Vec<PictureShape>,
    /// The arrows.
    pub arrows: Vec<Arrow>,
    /// The subpipelines of nodes.
    pub nested: Vec<NestedPicture>,
    /// The team, if there is one.
    pub team: Option<DrawnTeam>,
}

/// The subpipeline of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedPicture {
    /// The index of the node's shape.
    pub shape: usize,
    /// The subpipeline's picture.
    pub picture: Picture,
}

/// A zone.
#[derive(Clone, Debug, PartialEq)]
pub struct ZoneGroup {
    pub name: String,
    /// The name of its element.
    pub element: Option<String>,
    /// The colour of its element.
    pub colour: Option<String>,
}

/// An endpoint of arrows.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureShape {
    /// An alphanumeric id, unique in the picture.
    pub id: String,
    pub role: ShapeRole,
    /// The short code of a node.
    pub code: Option<String>,
    pub name: String,
    /// The element of a node.
    pub element: Option<String>,
    /// The colour of that element.
    pub colour: Option<String>,
    /// The index of its zone.
    pub group: Option<usize>,
    /// Labels for special ways in which a node gets its artifact.
    pub badges: Vec<String>,
    /// The number of visits, if shown.
    pub count: Option<u64>,
    /// The number of failures.
    pub failures: u64,
}

/// The role of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShapeRole {
    /// The start of walks.
    Start,
    /// A node.
    Node,
    /// The end of walks.
    Done,
    /// Any node: the origin of guards.
    Any,
    /// The target of an advisory.
    Advisory,
}

/// An arrow between two shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrow {
    /// The index of the shape at its tail.
    pub from: usize,
    /// The index of the shape at its head.
    pub to: usize,
    pub kind: ArrowKind,
    /// The edge's id, or another label for arrows that are not edges.
    pub id: String,
    /// The edge's name; may be empty.
    pub name: String,
    /// The counter incremented by the edge.
    pub counter: Option<String>,
    /// The number of transitions, if shown.
    pub count: Option<u64>,
}

/// The kinds of arrows, in legend order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArrowKind {
    /// To the first node, or from a node to one that waits for it.
    Start,
    /// An ordinary edge.
    Plain,
    /// An edge that may be taken in parallel with others.
    Beside,
    /// An edge that skips steps.
    Shortcut,
    /// An edge that goes back and increments a counter.
    Loop,
    /// An alternative target that an edge's rule may choose.
    Choice,
    /// A guard.
    Guard,
    /// Taken when no edge fires.
    Fallback,
    /// From a node to its advisory.
    Advisory,
}

impl ArrowKind {
    /// The legend text.
    pub fn description(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Plain => "edge",
            Self::Beside => "parallel, taken with others",
            Self::Shortcut => "shortcut",
            Self::Loop => "loop, with its counter",
            Self::Choice => "the rule may choose",
            Self::Guard => "guard, at every node",
            Self::Fallback => "fallback, when no edge fires",
            Self::Advisory => "advisory, never routes",
        }
    }

    /// An identifier: the CSS class.
    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Plain => "plain",
            Self::Beside => "beside",
            Self::Shortcut => "shortcut",
            Self::Loop => "loop",
            Self::Choice => "choice",
            Self::Guard => "guard",
            Self::Fallback => "fallback",
            Self::Advisory => "advisory",
        }
    }

    /// The colour on a light and on a dark background.
    pub(super) fn colours(self) -> (&'static str, &'static str) {
        match self {
            Self::Start | Self::Plain | Self::Beside => ("#3f4a5a", "#c3ccd9"),
            Self::Shortcut => ("#0b6bcb", "#6cb2ff"),
            Self::Loop | Self::Choice => ("#b45309", "#ffb454"),
            Self::Guard => ("#b91c1c", "#ff8080"),
            Self::Fallback => ("#6b7480", "#98a2b0"),
            Self::Advisory => ("#7c3aed", "#c4a1ff"),
        }
    }
}

impl Picture {
    /// Fills in the answerers of team walkers for which the pipeline does not name any; `via` looks them up by walker name.
    #[must_use]
    pub fn with_via(mut self, via: impl Fn(&str) -> Vec<String>) -> Self {
        for (name, own) in self.team.iter_mut().flat_map(|team| &mut team.walkers).filter(|(_, own)| own.is_empty()) {
            *own = via(name);
        }
        self
    }

    /// The subtitle: the description and the team.
    pub(super) fn subtitle(&self) -> String {
        let team = self.team.iter().map(DrawnTeam::summary);
        std::iter::once(self.description.clone()).chain(team).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// Converts a pipeline. `colours` has the colour (`#rrggbb` or a colour name) of each element that has one.
    pub fn new(pipeline: &Pipeline, colours: &BTreeMap<String, String>) -> Self {
        let colour = |element: Option<&String>| colours.get(element?).filter(|text| is_colour(text)).cloned();
        let groups = pipeline.zones.iter().map(|zone| {
            let element = zone.element.as_ref().map(|element| element.value.clone());
            ZoneGroup { name: zone.name.value.clone(), colour: colour(element.as_ref()), element }
        });
        let mut shapes = vec![PictureShape::plain("start", ShapeRole::Start, "start")];
        shapes.extend(pipeline.nodes.iter().enumerate().map(|(ix, node)| {
            let element = node.element.as_ref().map(|element| element.value.clone());
            PictureShape {
                code: node.code.as_ref().map(|code| code.value.clone()),
                colour: colour(element.as_ref()),
                element,
                group: node.zone.map(|zone| zone.0),
                badges: badges(node),
                ..PictureShape::plain(&format!("n{ix}"), ShapeRole::Node, &node.name)
            }
        }));
        shapes.push(PictureShape::plain("done", ShapeRole::Done, &pipeline.done));
        if !pipeline.guards.is_empty() {
            shapes.push(PictureShape::plain("any", ShapeRole::Any, "*"));
        }
        let mut picture = Self {
            title: pipeline.name.value.clone(),
            description: pipeline.description.clone(),
            groups: groups.collect(),
            shapes,
            arrows: Vec::new(),
            nested: Vec::new(),
            team: pipeline.team.as_ref().map(DrawnTeam::of),
        };
        for (ix, node) in pipeline.nodes.iter().enumerate() {
            let first = if pipeline.waves() { node.after.is_empty() } else { NodeIx(ix) == pipeline.start };
            if first {
                picture.arrow(0, ix + 1, ArrowKind::Start, "", "");
            }
            for NodeIx(before) in &node.after {
                picture.arrow(before + 1, ix + 1, ArrowKind::Start, "", "");
            }
            if pipeline.waves() && !pipeline.nodes.iter().any(|other| other.after.contains(&NodeIx(ix))) {
                let done = picture.target(EdgeTarget::Done);
                picture.arrow(ix + 1, done, ArrowKind::Start, "", "");
            }
        }
        for (ix, edge) in pipeline.edges.iter().enumerate() {
            picture.edge(ix, edge);
        }
        for (ix, node) in pipeline.nodes.iter().enumerate() {
            if let Some(fallback) = node.fallback {
                let to = picture.target(fallback);
                picture.arrow(ix + 1, to, ArrowKind::Fallback, "fallback", "");
            }
        }
        picture
    }

    /// Adds the subpipelines of nodes; `subpipeline` is called with the index of each node.
    #[must_use]
    pub fn with_nested(mut self, subpipeline: impl Fn(usize) -> Option<Self>) -> Self {
        let nodes = self.shapes.iter().enumerate().filter(|(_, shape)| shape.role == ShapeRole::Node).map(|(shape, _)| shape);
        self.nested =
            nodes.enumerate().filter_map(|(ix, shape)| Some(NestedPicture { shape, picture: subpipeline(ix)? })).collect();
        self
    }

    fn edge(&mut self, ix: usize, edge: &Edge) {
        let from = match edge.from {
            EdgeOrigin::Node(NodeIx(node)) => node + 1,
            EdgeOrigin::Any => self.shapes.iter().position(|shape| shape.role == ShapeRole::Any).unwrap_or(0),
        };
        if edge.advisory {
            let group = self.shapes[from].group;
            let name = if edge.name.is_empty() { edge.id.value.clone() } else { format!("{} {}", *edge.id, edge.name) };
            self.shapes.push(PictureShape { group, ..PictureShape::plain(&format!("a{ix}"), ShapeRole::Advisory, &name) });
            self.arrow(from, self.shapes.len() - 1, ArrowKind::Advisory, &edge.id, &edge.name);
            return;
        }
        let kind = match edge {
            Edge { from: EdgeOrigin::Any, .. } => ArrowKind::Guard,
            Edge { looped: true, .. } => ArrowKind::Loop,
            Edge { shortcut: true, .. } => ArrowKind::Shortcut,
            Edge { parallel: true, .. } => ArrowKind::Beside,
            _ => ArrowKind::Plain,
        };
        if let Some(to) = edge.to {
            let to = self.target(to);
            self.arrow(from, to, kind, &edge.id, &edge.name);
            if let Some(arrow) = self.arrows.last_mut() {
                arrow.counter.clone_from(&edge.counter);
            }
        }
        for target in edge.targets.iter().filter(|target| Some(target.value) != edge.to) {
            let to = self.target(target.value);
            self.arrow(from, to, ArrowKind::Choice, &edge.id, "may choose");
        }
    }

    fn arrow(&mut self, from: usize, to: usize, kind: ArrowKind, id: &str, name: &str) {
        // Some edges have their id as name.
        let name = if name == id { "" } else { name };
        self.arrows.push(Arrow { from, to, kind, id: id.to_owned(), name: name.to_owned(), counter: None, count: None });
    }

    fn target(&self, target: EdgeTarget) -> usize {
        match target {
            EdgeTarget::Node(NodeIx(ix)) => ix + 1,
            EdgeTarget::Done => self.shapes.iter().position(|shape| shape.role == ShapeRole::Done).unwrap_or(0),
        }
    }

    /// The title of a subpipeline: `F4b court is walked as defect-court`.
    pub(super) fn nested_title(&self, nested: &NestedPicture) -> String {
        let shape = &self.shapes[nested.shape];
        let code = shape.code.as_ref().map_or(String::new(), |code| format!("{code} "));
        format!("{code}{} is walked as {}", shape.name, nested.picture.title)
    }

    /// The elements with a colour, including those of subpipelines.
    pub(super) fn elements(&self) -> BTreeMap<&str, &str> {
        let of_shapes = self.shapes.iter().map(|shape| (&shape.element, &shape.colour));
        let of_groups = self.groups.iter().map(|group| (&group.element, &group.colour));
        let own = of_shapes.chain(of_groups).filter_map(|(element, colour)| Some((element.as_deref()?, colour.as_deref()?)));
        own.chain(self.nested.iter().flat_map(|nested| nested.picture.elements())).collect()
    }

    /// The kinds of arrows present, in legend order, including those of subpipelines.
    pub(super) fn kinds(&self) -> Vec<ArrowKind> {
        let own = self.arrows.iter().map(|arrow| arrow.kind).filter(|kind| *kind != ArrowKind::Start);
        let mut kinds: Vec<ArrowKind> = own.chain(self.nested.iter().flat_map(|nested| nested.picture.kinds())).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }
}

/// Labels for special ways in which a node gets its artifact.
fn badges(node: &PipelineNode) -> Vec<String> {
    let walk = node.subpipeline.as_ref().map(|subpipeline| format!("walk {}", subpipeline.value));
    let each = node.foreach.as_ref().map(|_| "for each item".to_owned());
    let tool = node.tool.as_ref().map(|tool| format!("tool {}", tool.name.value));
    let script = node.script.as_ref().map(|script| format!("script {}", script.value));
    let stem = |mask: &str| mask.rsplit('/').next().unwrap_or(mask).trim_end_matches(".rhai").to_owned();
    let masks = node.masks.iter().map(|mask| format!("mask {}", stem(&mask.value)));
    let via = (!node.via.is_empty()).then(|| {
        let names: Vec<&str> = node.via.iter().map(|name| name.as_str()).collect();
        format!("via {}", names.join(" or "))
    });
    each.into_iter().chain(walk).chain(tool).chain(script).chain(via).chain(masks).collect()
}

impl PictureShape {
    /// The notes below its name: element, badges, number of visits.
    pub(super) fn notes(&self) -> Vec<String> {
        let count = self.count.filter(|count| *count > 0).map(|count| format!("×{count}"));
        let failed = (self.failures > 0).then(|| format!("{} failed", self.failures));
        self.element.iter().chain(&self.badges).cloned().chain(count).chain(failed).collect()
    }

    /// Whether it is a node shown as never visited.
    pub(super) fn is_idle(&self) -> bool {
        self.count == Some(0)
    }

    fn plain(id: &str, role: ShapeRole, name: &str) -> Self {
        Self {
            id: id.to_owned(),
            role,
            code: None,
            name: name.to_owned(),
            element: None,
            colour: None,
            group: None,
            badges: Vec::new(),
            count: None,
            failures: 0,
        }
    }
}

impl Arrow {
    /// Whether it is shown as never taken.
    pub(super) fn is_idle(&self) -> bool {
        self.count == Some(0)
    }

    /// The number of transitions as text; `None` if zero or not shown.
    pub(super) fn times(&self) -> Option<String> {
        self.count.filter(|count| *count > 0).map(|count| format!("×{count}"))
    }

    /// Its label: id, name, the counter as `+1 NAME`, and the number of transitions.
    pub fn label(&self) -> String {
        let counter = self.counter.as_ref().map(|counter| format!("+1 {counter}"));
        let parts = [Some(self.id.clone()), Some(self.name.clone()), counter, self.times()];
        parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// Whether a text is a colour for CSS, Mermaid and DOT alike: `#` and hexadecimal digits, or a word.
fn is_colour(text: &str) -> bool {
    match text.strip_prefix('#') {
        Some(digits) => matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit()),
        None => !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphabetic()),
    }
}
