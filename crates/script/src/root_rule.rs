//! Rules of roots: functions of evidence, context and vars that say what a failure has in common with others of its cause.

use super::invoke::{Parameters, ScriptFunction};
use super::returned_map::{ABOUT, BECAUSE, ReturnForm, ReturnedKey, ReturnedMap, ReturnedType, described};
use super::view::View;
use asterisk_diag::Diagnostic;
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

/// What rules of roots return.
pub(crate) const FORM: ReturnForm = ReturnForm {
    code: "root/return",
    help: "a root rule returns `()` or `false` if it knows no root, or \
           `#{ key: #{ missing: \"file\", name: \"cart.yaml\" }, because: \"why\", about: [\"e1\"] }` (`because` and `about` may be \
           left out); a key is a non-empty string or map",
    keys: &[ReturnedKey { name: "key", holds: &[ReturnedType::Text, ReturnedType::Map] }, BECAUSE, ABOUT],
};

impl ScriptFunction {
    /// Evaluates a rule of roots; `None` if it gives no key.
    pub fn root(&self, args: &[&View]) -> Result<Option<RootKey>, Box<Diagnostic>> {
        let value = self.evaluate(args, Parameters::ReadOnly)?;
        if value.is_unit() || value.as_bool() == Ok(false) {
            return Ok(None);
        }
        let Ok(map) = value.as_map_ref() else {
            return self.refuse(&FORM, format!("`{}` returned {}", self.name(), described(&value)));
        };
        let map = ReturnedMap::of(self, &map, &FORM)?;
        let key = match map.data("key")? {
            Some(Value::String(text)) if !text.trim().is_empty() => Value::String(text),
            Some(Value::Object(parts)) if !parts.is_empty() => Value::Object(parts),
            Some(Value::String(_) | Value::Object(_)) => return map.refuse("returned an empty `key`"),
            _ => return map.refuse("returned a `key` that is neither a string nor a map"),
        };
        Ok(Some(RootKey { key, because: map.text("because")?, about: map.texts("about")? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{function, line};
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
            ("#{}", "`f` returned a `key` that is neither a string nor a map"),
            ("#{ key: \" \" }", "`f` returned an empty `key`"),
            ("#{ key: #{} }", "`f` returned an empty `key`"),
            ("#{ key: 1 }", "`f` returned a `key` that is neither a string nor a map"),
            ("#{ kye: 1 }", "`f` returned a map with the key `kye`; did you mean `key`?"),
            ("#{ key: \"x\", because: 1 }", "`f` returned a number (`1`) as `because`, which is a string"),
            ("#{ key: \"x\", about: 1 }", "`f` returned an `about` that is not a list of strings"),
        ] {
            let got = root(body).expect_err(body);
            assert!(got.starts_with(&format!("root/return @ t.rhai:f: {message}")), "{body}: {got}");
        }
    }
}
