//! Rules of roots: functions of evidence, context and vars that say what a failure has in common with others of its cause.

use super::invoke::{Parameters, ScriptFunction};
use super::rule::described;
use super::view::View;
use crate::diag::{Diagnostic, nearest};
use rhai::Map;
use serde_json::Value;

/// What a rule of roots says.
#[derive(Clone, Debug, PartialEq)]
pub struct RootKey {
    /// What the cause has in common: a text or a map, not empty.
    pub key: Value,
    /// The reason, as given by the rule.
    pub because: Option<String>,
    /// The ids of the lines of the evidence that it is about.
    pub about: Vec<String>,
}

pub(crate) const CODE: &str = "root/return";
pub(crate) const HELP: &str = "a rule of roots returns `()` or `false` if it knows no root, or \
                    `#{ key: #{ missing: \"file\", name: \"cart.yaml\" }, because: \"why\", about: [\"e1\"] }` (`because` and `about` may be \
                    left out); a key is a text or a map, and not empty";
const KEYS: [&str; 3] = ["key", "because", "about"];

impl ScriptFunction {
    /// Evaluates a rule of roots; `None` if it gives no key.
    pub fn root(&self, args: &[&View]) -> Result<Option<RootKey>, Box<Diagnostic>> {
        let value = self.evaluate(args, Parameters::ReadOnly)?;
        if value.is_unit() || value.as_bool() == Ok(false) {
            return Ok(None);
        }
        match value.as_map_ref() {
            Ok(map) => self.root_key(&map).map(Some),
            Err(_) => self.refuse_root(format!("`{}` returned {}", self.name(), described(&value))),
        }
    }

    fn root_key(&self, map: &Map) -> Result<RootKey, Box<Diagnostic>> {
        if let Some(key) = map.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let hint = nearest(key, KEYS).map_or(String::new(), |known| format!("; did you mean `{known}`?"));
            return self.refuse_root(format!("`{}` returned a map with the key `{key}`{hint}", self.name()));
        }
        let given = |key: &str| map.get(key).filter(|value| !value.is_unit());
        let key = match given("key").map(|value| self.data(value, CODE)).transpose()? {
            Some(Value::String(text)) if !text.trim().is_empty() => Value::String(text),
            Some(Value::Object(parts)) if !parts.is_empty() => Value::Object(parts),
            Some(Value::String(_) | Value::Object(_)) => {
                return self.refuse_root(format!("`{}` returned an empty `key`", self.name()));
            }
            _ => return self.refuse_root(format!("`{}` returned a `key` that is neither a text nor a map", self.name())),
        };
        let because = match given("because") {
            None => None,
            Some(value) if value.is_string() => Some(value.to_string()),
            Some(value) => {
                let message = format!("`{}` returned {} as `because`, which is a string", self.name(), described(value));
                return self.refuse_root(message);
            }
        };
        let about = match given("about").map(|value| self.data(value, CODE)).transpose()? {
            None => Vec::new(),
            Some(value) => match serde_json::from_value(value) {
                Ok(ids) => ids,
                Err(_) => {
                    return self.refuse_root(format!("`{}` returned an `about` that is no list of strings", self.name()));
                }
            },
        };
        Ok(RootKey { key, because, about })
    }

    #[cold]
    fn refuse_root<T>(&self, message: String) -> Result<T, Box<Diagnostic>> {
        Err(Box::new(self.blame(Diagnostic::error(CODE, message).help(HELP))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::testing::{function, line};
    use serde_json::json;

    fn root(body: &str) -> Result<Option<RootKey>, String> {
        let rule = function(&format!("fn f(evidence, context, vars) {{ {body} }}"), 3);
        let evidence = View::plain(&json!({ "headline": "x" }), "evidence");
        let none = View::plain(&json!({}), "context");
        rule.root(&[&evidence, &none, &none]).map_err(|problem| line(&problem))
    }

    #[test]
    fn a_rule_gives_a_key_or_none() {
        for none in ["()", "false", ""] {
            assert_eq!(root(none), Ok(None), "{none}");
        }
        let text = RootKey { key: json!("x"), because: None, about: Vec::new() };
        assert_eq!(root("#{ key: evidence.headline }"), Ok(Some(text)));
        let map = RootKey { key: json!({ "a": 1 }), because: Some("x!".into()), about: vec!["e1".into()] };
        assert_eq!(root("#{ key: #{ a: 1 }, because: `${evidence.headline}!`, about: [\"e1\"] }"), Ok(Some(map)));
    }

    #[test]
    fn everything_else_is_refused() {
        for (body, message) in [
            ("true", "`f` returned a bool (`true`)"),
            ("\"x\"", "`f` returned a string (`\"x\"`)"),
            ("#{}", "`f` returned a `key` that is neither a text nor a map"),
            ("#{ key: \" \" }", "`f` returned an empty `key`"),
            ("#{ key: #{} }", "`f` returned an empty `key`"),
            ("#{ key: 1 }", "`f` returned a `key` that is neither a text nor a map"),
            ("#{ kye: 1 }", "`f` returned a map with the key `kye`; did you mean `key`?"),
            ("#{ key: \"x\", because: 1 }", "`f` returned a number (`1`) as `because`, which is a string"),
            ("#{ key: \"x\", about: 1 }", "`f` returned an `about` that is no list of strings"),
        ] {
            let got = root(body).expect_err(body);
            assert!(got.starts_with(&format!("root/return @ t.rhai:f: {message}")), "{body}: {got}");
        }
    }
}
