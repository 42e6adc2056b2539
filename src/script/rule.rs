//! Rules: functions of artifact, state and vars that say whether an edge is taken.

use super::call::{Function, Inputs};
use super::compare::{kind_of, show};
use super::view::View;
use crate::diag::{Diagnostic, nearest};
use rhai::{Dynamic, Map};

/// What a rule decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The edge is not taken.
    No,
    /// The edge is taken.
    Yes {
        /// Where to, if the rule chose.
        to: Option<String>,
        /// Why, in the rule's words.
        because: Option<String>,
        /// What the walk's context gets.
        context: serde_json::Map<String, serde_json::Value>,
    },
}

impl Verdict {
    /// A plain yes.
    pub fn yes() -> Self {
        Self::Yes { to: None, because: None, context: serde_json::Map::new() }
    }
}

const CODE: &str = "rule/return";
const KEYS: [&str; 3] = ["to", "because", "context"];

impl Function {
    /// Asks a rule.
    pub fn decide(&self, artifact: &View, state: &View, vars: &View) -> Result<Verdict, Box<Diagnostic>> {
        let value = self.evaluate(&[artifact, state, vars], Inputs::ReadOnly)?;
        if value.is_unit() {
            return Ok(Verdict::No);
        }
        if let Ok(truth) = value.as_bool() {
            return Ok(if truth { Verdict::yes() } else { Verdict::No });
        }
        if self.is_condition() {
            let message = format!("this condition is {}, not `true` or `false`", described(&value));
            return Err(Box::new(self.blame(Diagnostic::error(CODE, message).help("compare it with something"))));
        }
        match value.as_map_ref() {
            Ok(map) => self.read(&map),
            Err(_) => Err(self.refuse(format!("`{}` returned {}", self.name(), described(&value)))),
        }
    }

    fn read(&self, map: &Map) -> Result<Verdict, Box<Diagnostic>> {
        if let Some(key) = map.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let hint = nearest(key, KEYS).map_or(String::new(), |known| format!("; did you mean `{known}`?"));
            return Err(self.refuse(format!("`{}` returned a map with the key `{key}`{hint}", self.name())));
        }
        let text = |key: &str| match map.get(key) {
            None => Ok(None),
            Some(value) if value.is_unit() => Ok(None),
            Some(value) if value.is_string() => Ok(Some(value.to_string())),
            Some(value) => {
                Err(self.refuse(format!("`{}` returned {} as `{key}`, which is a string", self.name(), described(value))))
            }
        };
        let (to, because) = (text("to")?, text("because")?);
        let context = match map.get("context") {
            None => serde_json::Map::new(),
            Some(value) if value.is_unit() => serde_json::Map::new(),
            Some(value) => match self.data(value, CODE)? {
                serde_json::Value::Object(context) => context,
                _ => {
                    return Err(self.refuse(format!(
                        "`{}` returned {} as `context`, which is a map",
                        self.name(),
                        described(value)
                    )));
                }
            },
        };
        Ok(Verdict::Yes { to, because, context })
    }

    #[cold]
    fn refuse(&self, message: String) -> Box<Diagnostic> {
        let help = "a rule returns `()` or `false` for no, `true` for yes, or `#{ to: \"node\", because: \"why\", context: #{} }` for yes \
                    with more (each key may be left out)";
        Box::new(self.blame(Diagnostic::error(CODE, message).help(help)))
    }
}

/// A value with its kind, for messages.
pub(crate) fn described(value: &Dynamic) -> String {
    match kind_of(value) {
        "nothing" => "nothing (`()`)".to_owned(),
        kind => {
            let shown = show(value);
            if shown == kind { kind.to_owned() } else { format!("{kind} (`{shown}`)") }
        }
    }
}
