//! The types of what every rule sees beside its artifact.

use crate::model::{Field, Kind, Shape};
use crate::pipeline::NodeIx;
use crate::walk::Plan;
use std::sync::Arc;

/// The form of `state` (`design.md` §5), as static checks know it.
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

fn object<const N: usize>(name: &str, fields: [(&str, Kind); N]) -> Kind {
    let field = |(name, kind): (&str, Kind)| Field { name: name.into(), kind, required: true };
    Kind::Object(Arc::new(Shape { name: name.into(), fields: fields.into_iter().map(field).collect() }))
}

/// The forms of what the rules of a node see: `artifact`, `state` and `vars`. Without a node, any artifact.
pub fn input_kinds(plan: &Plan, node: Option<NodeIx>) -> [(&'static str, Kind); 3] {
    let artifact = node.map_or(Kind::Any, |node| plan.node(node).kind.clone());
    [("artifact", artifact), ("state", state()), ("vars", super::vars::kind(&plan.pipeline, &plan.vars))]
}
