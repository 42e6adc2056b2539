//! Script views of the state of a walk, live and recorded.

use asterisk_diag::Diagnostic;
use asterisk_script::{ScriptFunction, View};
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

/// Evaluates a script on the parameters of a step: a function of `(params, vars)`, or an expression over `(params, state, vars)`.
pub(super) fn value_of_params(function: &ScriptFunction, params: &View, vars: &View) -> Result<Value, Box<Diagnostic>> {
    let state = params.get("state").unwrap_or_else(View::null);
    let given: &[&View] = if function.is_condition() { &[params, &state, vars] } else { &[params, vars] };
    function.value(given)
}

/// The state as rules saw it, from its record: equal to the result of `WalkState::view`.
pub fn recorded_state(recorded: &Value) -> View {
    let entries = |value: &Value, part: &dyn Fn(&str, &Value) -> View| {
        let fields = value.as_object().into_iter().flatten();
        fields.map(|(name, value)| (name.clone(), part(name, value))).collect::<Vec<_>>()
    };
    let any = |value: &Value| View::of(value, &asterisk_base::model::Kind::Any, "context");
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

/// A walker as rules see it; absent fields read as empty.
pub fn walker_view(said: &Value) -> View {
    let mut whole = json!({ "element": "", "name": "", "stickiness": 0, "traits": {}, "zone": "" });
    whole.as_object_mut().into_iter().for_each(|whole| whole.extend(said.as_object().cloned().unwrap_or_default()));
    let part = |name: &str, value: &Value| match name {
        "traits" => {
            let traits = value.as_object().into_iter().flatten();
            let traits = traits
                .map(|(name, value)| (name.clone(), View::of(value, &asterisk_base::model::Kind::Any, "state.walker.traits")));
            View::map("state.walker.traits", traits, View::null())
        }
        _ => View::plain(value, "state.walker"),
    };
    let fields = whole.as_object().into_iter().flatten();
    View::object("state.walker", fields.map(|(name, value)| (name.clone(), part(name, value))))
}

pub(super) fn loops_view(loops: &BTreeMap<String, i64>) -> View {
    View::map("state.loops", loops.iter().map(|(name, count)| (name.as_str(), View::from(*count))), View::from(0))
}

pub(super) fn context_view(context: &Map<String, Value>) -> View {
    let entries =
        context.iter().map(|(name, value)| (name.as_str(), View::of(value, &asterisk_base::model::Kind::Any, "context")));
    View::map("state.context", entries, View::null())
}
