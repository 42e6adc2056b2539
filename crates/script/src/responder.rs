//! Responders: functions of parameters and vars that return the artifact of a node.

use super::invoke::{Parameters, ScriptFunction};
use super::returned_map::described;
use super::view::View;
use asterisk_diag::Diagnostic;
use serde_json::Value;

const CODE: &str = "responder/return";

impl ScriptFunction {
    /// Calls it with read-only inputs and returns its result as JSON.
    pub fn value(&self, inputs: &[&View]) -> Result<Value, Box<Diagnostic>> {
        let value = self.evaluate(inputs, Parameters::ReadOnly)?;
        self.data(&value, "script/return")
    }

    /// Calls a responder and returns the artifact, which must be a map.
    pub fn respond(&self, params: &View, vars: &View) -> Result<Value, Box<Diagnostic>> {
        let value = self.evaluate(&[params, vars], Parameters::ReadOnly)?;
        let artifact = self.data(&value, CODE)?;
        if artifact.is_object() {
            return Ok(artifact);
        }
        let message = format!("`{}` returned {}, not an artifact", self.name(), described(&value));
        let help = "a responder returns the artifact as a map: `#{ field: value }`";
        Err(Box::new(self.blame(Diagnostic::error(CODE, message).help(help))))
    }
}

#[cfg(test)]
mod tests {
    use crate::View;
    use crate::testing::{function, line};
    use serde_json::json;

    fn respond(body: &str) -> Result<serde_json::Value, String> {
        let responder = function(&format!("fn f(params, vars) {{ {body} }}"), 2);
        let params = View::plain(&json!({"failure": {"name": "t1"}, "siblings": [1, 2]}), "params");
        responder.respond(&params, &View::object("vars", [("t", View::from(1))])).map_err(|problem| line(&problem))
    }

    #[test]
    fn a_responder_returns_an_artifact() {
        let got = respond("#{ match: false, name: params.failure.name, all: params.siblings, t: vars.t, nothing: () }");
        assert_eq!(got, Ok(json!({"match": false, "name": "t1", "all": [1, 2], "t": 1, "nothing": null})));
        assert_eq!(respond("params.failure"), Ok(json!({"name": "t1"})), "an object does too");
    }

    #[test]
    fn nothing_but_a_map_is_an_artifact() {
        for (body, message) in
            [("()", "nothing (`()`)"), ("1", "a number (`1`)"), ("[]", "a list (`[]`)"), ("\"x\"", "a string (`\"x\"`)")]
        {
            let got = respond(body).expect_err(body);
            assert!(
                got.starts_with(&format!("responder/return @ t.rhai:f: `f` returned {message}, not an artifact | ")),
                "{got}"
            );
        }
        assert!(respond("#{ a: |x| x }").expect_err("a function").contains("at `$.a` is a function"));
        assert!(
            respond("params.failure.name = 1")
                .expect_err("read-only")
                .starts_with("rule/read-only @ t.rhai:name: `params.failure`")
        );
    }
}
