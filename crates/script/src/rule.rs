//! Rules: functions of artifact, state and vars that decide whether an edge is taken.

use super::invoke::{Parameters, ScriptFunction};
use super::returned_map::{BECAUSE, ReturnForm, ReturnedKey, ReturnedMap, ReturnedType, described};
use super::view::View;
use asterisk_diag::Diagnostic;

/// The outcome of a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleOutcome {
    /// The edge is not taken.
    No,
    /// The edge is taken.
    Yes {
        /// The target, if the rule chose one.
        to: Option<String>,
        /// The reason, as given by the rule.
        because: Option<String>,
        /// Context added to the walk.
        context: serde_json::Map<String, serde_json::Value>,
    },
}

impl RuleOutcome {
    /// A positive outcome without details.
    pub fn yes() -> Self {
        Self::Yes { to: None, because: None, context: serde_json::Map::new() }
    }
}

/// What rules of edges return.
pub(crate) const FORM: ReturnForm = ReturnForm {
    code: "rule/return",
    help: "a rule returns `()` or `false` for no, `true` for yes, or `#{ to: \"node\", because: \"why\", context: #{} }` for yes \
           with more (each key may be left out)",
    keys: &[
        ReturnedKey { name: "to", holds: &[ReturnedType::Text] },
        BECAUSE,
        ReturnedKey { name: "context", holds: &[ReturnedType::Map] },
    ],
};

impl ScriptFunction {
    /// Evaluates a rule.
    pub fn decide(&self, artifact: &View, state: &View, vars: &View) -> Result<RuleOutcome, Box<Diagnostic>> {
        let value = self.evaluate(&[artifact, state, vars], Parameters::ReadOnly)?;
        if value.is_unit() {
            return Ok(RuleOutcome::No);
        }
        if let Ok(truth) = value.as_bool() {
            return Ok(if truth { RuleOutcome::yes() } else { RuleOutcome::No });
        }
        if self.is_condition() {
            let message = format!("this condition is {}, not `true` or `false`", described(&value));
            return Err(Box::new(self.blame(Diagnostic::error(FORM.code, message).help("compare it with something"))));
        }
        let Ok(map) = value.as_map_ref() else {
            return self.refuse(&FORM, format!("`{}` returned {}", self.name(), described(&value)));
        };
        let map = ReturnedMap::of(self, &map, &FORM)?;
        let (to, because) = (map.text("to")?, map.text("because")?);
        let context = match map.data("context")? {
            None => serde_json::Map::new(),
            Some(serde_json::Value::Object(context)) => context,
            Some(_) => {
                let given = map.given("context").map(described).unwrap_or_default();
                return map.refuse(&format!("returned {given} as `context`, which is a map"));
            }
        };
        Ok(RuleOutcome::Yes { to, because, context })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{artifact, function, line};
    use asterisk_base::model::Kind;
    use serde_json::json;

    fn decide(body: &str) -> Result<RuleOutcome, String> {
        let rule = function(&format!("fn f(artifact, state, vars) {{ {body} }}"), 3);
        let artifact = View::of(&artifact(), &Kind::Any, "artifact");
        let loops = View::map("state.loops", [("H9", View::from(2))], View::from(0));
        let state = View::object("state", [("loops", loops), ("node", View::from("recall"))]);
        let vars = View::object("vars", [("t", View::from(0.8))]);
        rule.decide(&artifact, &state, &vars).map_err(|problem| line(&problem))
    }

    #[test]
    fn a_rule_returns_a_bool_or_nothing() {
        for no in ["()", "false", "", "if artifact.confidence > 1 { true }", "return false;", "let x = 1;"] {
            assert_eq!(decide(no), Ok(RuleOutcome::No), "{no}");
        }
        for yes in [
            "true",
            "artifact.match && artifact.confidence >= vars.t",
            "state.loops.H9 == 2 && state.loops.H10 == 0",
            "return true; false",
            "#{}",
            "#{ to: (), because: () }",
        ] {
            assert_eq!(decide(yes), Ok(RuleOutcome::yes()), "{yes}");
        }
    }

    #[test]
    fn a_rule_may_return_details() {
        let outcome = decide(
            "#{ to: \"review\", because: `score ${artifact.confidence}`, context: #{ depth: \"deep\", n: artifact.n, repos: artifact.list } }",
        );
        let context = json!({"depth": "deep", "n": 3, "repos": ["x", "y"]});
        let Ok(RuleOutcome::Yes { to, because, context: got }) = outcome else { panic!("{outcome:?}") };
        assert_eq!((to.as_deref(), because.as_deref()), (Some("review"), Some("score 0.85")));
        assert_eq!(serde_json::Value::Object(got), context);
    }

    #[test]
    fn everything_else_is_refused() {
        for (body, message) in [
            ("1", "`f` returned a number (`1`)"),
            ("\"yes\"", "`f` returned a string (`\"yes\"`)"),
            ("[true]", "`f` returned a list (`[true]`)"),
            ("artifact", "`f` returned an object (`{"),
            ("|x| x", "`f` returned a function"),
            ("#{ too: \"x\" }", "`f` returned a map with the key `too`; did you mean `to`?"),
            ("#{ to: 3 }", "`f` returned a number (`3`) as `to`, which is a string"),
            ("#{ because: true }", "`f` returned a bool (`true`) as `because`, which is a string"),
            ("#{ context: [1] }", "`f` returned a list (`[1]`) as `context`, which is a map"),
            ("#{ context: #{ a: |x| x } }", "`f` cannot return this: the value at `$.a` is a function"),
            ("#{ context: #{ a: 0.0 / 0.0 } }", "`f` cannot return this: the value at `$.a` is `NaN`"),
        ] {
            let got = decide(body).expect_err(body);
            assert!(got.starts_with(&format!("rule/return @ t.rhai:f: {message}")), "{body}: {got}");
        }
    }

    #[test]
    fn a_failing_rule_is_an_error() {
        assert!(decide("artifact.zebra").expect_err("fails").starts_with("rule/unknown-field @ t.rhai:zebra: "));
        assert!(decide("throw \"x\"").expect_err("fails").starts_with("script/throw @ "));
        assert!(decide("artifact = 3").expect_err("fails").starts_with("rule/read-only @ t.rhai:artifact: "));
        assert!(
            decide("state.loops.H9 += 1")
                .expect_err("fails")
                .starts_with("rule/read-only @ t.rhai:H9: `state.loops` is read-only")
        );
        assert!(decide("vars.u").expect_err("fails").contains("no field `u` on `vars`"));
    }

    #[test]
    fn a_rule_takes_three_arguments() {
        let rule = function("fn f(artifact) { true }", 1);
        let view = View::null();
        assert!(rule.decide(&view, &view, &view).expect_err("arity").message.contains("takes 1 parameter, but is called with 3"));
    }
}
