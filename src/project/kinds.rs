//! The types of the inputs of rules and schedulers.

use crate::model::{Field, Kind, Shape};
use crate::pipeline::NodeIx;
use crate::walk::Plan;
use std::sync::Arc;

/// The type of `state` for static checks.
pub(super) fn state() -> Kind {
    let text = || Kind::Text { one_of: Vec::new() };
    let int = || Kind::Int { min: None, max: None };
    let number = || Kind::Number { min: None, max: None };
    let visit = object("visit", [("at", text()), ("edge", text()), ("node", text()), ("outcome", text())]);
    let walker = object(
        "walker",
        [
            ("element", text()),
            ("name", text()),
            ("stickiness", int()),
            ("traits", Kind::Map(Box::new(Kind::Any))),
            ("zone", text()),
        ],
    );
    object(
        "state",
        [
            ("chance", number()),
            ("confidence", number()),
            ("context", Kind::Map(Box::new(Kind::Any))),
            ("elapsed_s", number()),
            ("handoffs", int()),
            ("history", Kind::List(Box::new(visit))),
            ("loops", Kind::Map(Box::new(int()))),
            ("node", text()),
            ("steps", int()),
            ("walker", walker),
        ],
    )
}

/// The type of a scheduler's parameter, `ctx`. Its walkers have the keys of a persona and the traits of their element.
pub(super) fn scheduling() -> Kind {
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
            ("state", state()),
            ("walkers", Kind::List(Box::new(walker))),
            ("zone", zone),
        ],
    )
}

fn object<'n>(name: &str, fields: impl IntoIterator<Item = (&'n str, Kind)>) -> Kind {
    let field = |(name, kind): (&str, Kind)| Field { name: name.into(), kind, required: true };
    Kind::Object(Arc::new(Shape { name: name.into(), fields: fields.into_iter().map(field).collect() }))
}

/// The types of the inputs of a node's rules: `artifact`, `state` and `vars`. Without a node, any artifact.
pub fn input_kinds(plan: &Plan, node: Option<NodeIx>) -> [(&'static str, Kind); 3] {
    let artifact = node.map_or(Kind::Any, |node| plan.node(node).kind.clone());
    [("artifact", artifact), ("state", state()), ("vars", super::vars::kind(&plan.pipeline, &plan.vars))]
}
