//! The state of a walk as rules see it, and the same of its record.

use super::state::{Visit, WalkState};
use super::team::ChoiceMoment;
use crate::clock::Timestamp;
use crate::script::View;
use compact_str::ToCompactString as _;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The parts of the state that rules see, kept as shared views so that a step rebuilds only what changed.
#[derive(Clone, Debug)]
pub(super) struct StateViews {
    pub(super) history: View,
    pub(super) loops: View,
    pub(super) context: View,
}

impl Default for StateViews {
    fn default() -> Self {
        Self { history: View::list("state.history", []), loops: loops_view(&BTreeMap::new()), context: context_view(&Map::new()) }
    }
}

impl WalkState {
    /// The state as rules see it at a node (`design.md` §5): `confidence` is that of the artifact in question if it has one.
    pub fn view(&self, node: &View, confidence: Option<f64>, now: Timestamp, chance: f64, walker: &View) -> View {
        self.view_by(node, confidence, (now, chance), (walker, self.handoffs))
    }

    /// The same in a step that begins with a change of walkers: with the handoffs that there are then.
    pub(super) fn view_by(
        &self,
        node: &View,
        confidence: Option<f64>,
        (now, chance): ChoiceMoment,
        (walker, handoffs): (&View, i64),
    ) -> View {
        let elapsed = self.started_at.map_or(0.0, |start| now.seconds_since(start));
        View::object(
            "state",
            [
                ("chance", View::from(chance)),
                ("confidence", View::from(confidence.or(self.confidence).unwrap_or(0.0))),
                ("context", self.views.context.clone()),
                ("elapsed_s", View::from(elapsed)),
                ("handoffs", View::from(handoffs)),
                ("history", self.views.history.clone()),
                ("loops", self.views.loops.clone()),
                ("node", node.clone()),
                ("steps", View::from(i64::try_from(self.steps).unwrap_or(i64::MAX))),
                ("walker", walker.clone()),
            ],
        )
    }
}

/// The state as rules saw it, of its record: what [`WalkState::view`] made, and its canonical text.
pub fn recorded_state(recorded: &Value) -> View {
    let entries = |value: &Value, part: &dyn Fn(&str, &Value) -> View| {
        let fields = value.as_object().into_iter().flatten();
        fields.map(|(name, value)| (name.clone(), part(name, value))).collect::<Vec<_>>()
    };
    let any = |value: &Value| View::of(value, &crate::model::Kind::Any, "context");
    let part = |name: &str, value: &Value| match name {
        "context" => View::map("state.context", entries(value, &|_, value| any(value)), View::null()),
        "history" => {
            let visit = |visit: &Value| View::object("visit", entries(visit, &|name, value| View::plain(value, name)));
            View::list("state.history", value.as_array().into_iter().flatten().map(visit))
        }
        "loops" => View::map("state.loops", entries(value, &|name, value| View::plain(value, name)), View::from(0)),
        "walker" => walker_view(value),
        name => View::plain(value, name),
    };
    View::object("state", entries(recorded, &part))
}

/// A walker as rules see it, of what is said of one: what is left out is empty.
pub fn walker_view(said: &Value) -> View {
    let mut whole = json!({ "element": "", "name": "", "stickiness": 0, "traits": {}, "zone": "" });
    whole.as_object_mut().into_iter().for_each(|whole| whole.extend(said.as_object().cloned().unwrap_or_default()));
    let part = |name: &str, value: &Value| match name {
        "traits" => {
            let traits = value.as_object().into_iter().flatten();
            let traits =
                traits.map(|(name, value)| (name.clone(), View::of(value, &crate::model::Kind::Any, "state.walker.traits")));
            View::map("state.walker.traits", traits, View::null())
        }
        _ => View::plain(value, "state.walker"),
    };
    let fields = whole.as_object().into_iter().flatten();
    View::object("state.walker", fields.map(|(name, value)| (name.clone(), part(name, value))))
}

pub(super) fn visit_view(visit: &Visit) -> View {
    let edge = View::from(&*visit.edge);
    View::object(
        "visit",
        [
            ("at", View::from(visit.at.to_compact_string().as_str())),
            ("edge", edge.clone()),
            ("node", View::from(&*visit.node)),
            ("outcome", edge),
        ],
    )
}

pub(super) fn loops_view(loops: &BTreeMap<String, i64>) -> View {
    View::map("state.loops", loops.iter().map(|(name, count)| (name.as_str(), View::from(*count))), View::from(0))
}

pub(super) fn context_view(context: &Map<String, Value>) -> View {
    let entries = context.iter().map(|(name, value)| (name.as_str(), View::of(value, &crate::model::Kind::Any, "context")));
    View::map("state.context", entries, View::null())
}
