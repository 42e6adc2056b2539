//! Effects: functions of artifact and parameters that return writes to the store.

use super::invoke::{Parameters, ScriptFunction};
use super::returned_map::described;
use super::view::View;
use asterisk_diag::Diagnostic;
use serde_json::Value;

const CODE: &str = "effect/return";
const HELP: &str = "an effect function returns a list of maps: `[ #{ effect: \"note\", text: \"..\" } ]`; no effects: `[]`";

impl ScriptFunction {
    /// Calls it and returns the effects of an artifact: a list of maps.
    pub fn effects(&self, artifact: &View, params: &View) -> Result<Vec<Value>, Box<Diagnostic>> {
        let value = self.evaluate(&[artifact, params], Parameters::ReadOnly)?;
        let refuse = |message: String| Box::new(self.blame(Diagnostic::error(CODE, message).help(HELP)));
        let Value::Array(effects) = self.data(&value, CODE)? else {
            return Err(refuse(format!("`{}` returned {}, not a list of effects", self.name(), described(&value))));
        };
        if let Some(at) = effects.iter().position(|effect| !effect.is_object()) {
            return Err(refuse(format!("`{}` returned a list whose item [{at}] is `{}`, not a map", self.name(), effects[at])));
        }
        Ok(effects)
    }
}

#[cfg(test)]
mod tests {
    use crate::View;
    use crate::testing::{function, line};
    use serde_json::json;

    fn effects(body: &str) -> Result<Vec<serde_json::Value>, String> {
        let effect = function(&format!("fn f(artifact, params) {{ {body} }}"), 2);
        let artifact = View::plain(&json!({"text": "t"}), "artifact");
        effect.effects(&artifact, &View::plain(&json!({}), "params")).map_err(|problem| line(&problem))
    }

    #[test]
    fn effects_are_a_list_of_maps() {
        assert_eq!(effects("[]"), Ok(vec![]));
        assert_eq!(effects("[ #{ effect: \"note\", text: artifact.text } ]"), Ok(vec![json!({"effect": "note", "text": "t"})]));
    }

    #[test]
    fn everything_else_is_refused() {
        for (body, message) in [
            ("()", "returned nothing (`()`), not a list of effects"),
            ("#{}", "returned an object (`{}`), not a list of effects"),
            ("[#{}, 1]", "returned a list whose item [1] is `1`, not a map"),
            ("[#{ a: 1.0 / 0.0 }]", "cannot return this: the value at `$[0].a` is `inf`"),
        ] {
            let got = effects(body).expect_err(body);
            assert!(got.starts_with(&format!("effect/return @ t.rhai:f: `f` {message}")), "{got}");
        }
    }
}
