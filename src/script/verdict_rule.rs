//! Rules of a verdict: functions of evidence, context and vars that say how strongly a reason speaks.

use super::invoke::{Parameters, ScriptFunction};
use super::rule::described;
use super::view::View;
use crate::diag::{Diagnostic, nearest};
use rhai::{Dynamic, Map};

/// What a rule of a verdict says.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleStrength {
    /// How strongly it speaks, in (0, 1].
    pub strength: f64,
    /// The reason, as given by the rule.
    pub because: Option<String>,
    /// The ids of what it is about: lines of the evidence, signatures.
    pub about: Vec<String>,
}

pub(crate) const CODE: &str = "verdict/return";
pub(crate) const HELP: &str = "a rule of a verdict returns `()` or `false` if it says nothing, `true` if it speaks fully, or \
                    `#{ strength: 0.5, because: \"why\", about: [\"e1\"] }` (each key may be left out); a strength is a number from 0 to 1";
const KEYS: [&str; 3] = ["strength", "because", "about"];

impl ScriptFunction {
    /// Evaluates a rule of a verdict; `None` if it says nothing.
    pub fn weigh(&self, args: &[&View]) -> Result<Option<RuleStrength>, Box<Diagnostic>> {
        let value = self.evaluate(args, Parameters::ReadOnly)?;
        if value.is_unit() {
            return Ok(None);
        }
        let whole = |strength| RuleStrength { strength, because: None, about: Vec::new() };
        if let Ok(truth) = value.as_bool() {
            return Ok(truth.then(|| whole(1.0)));
        }
        let said = match value.as_map_ref() {
            Ok(map) => self.spoken(&map)?,
            Err(_) => whole(self.number(&value, "")?),
        };
        Ok((said.strength > 0.0).then_some(said))
    }

    fn spoken(&self, map: &Map) -> Result<RuleStrength, Box<Diagnostic>> {
        if let Some(key) = map.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let hint = nearest(key, KEYS).map_or(String::new(), |known| format!("; did you mean `{known}`?"));
            return self.refuse_strength(format!("`{}` returned a map with the key `{key}`{hint}", self.name()));
        }
        let given = |key: &str| map.get(key).filter(|value| !value.is_unit());
        let strength = given("strength").map_or(Ok(1.0), |value| self.number(value, " as `strength`"))?;
        let because = match given("because") {
            None => None,
            Some(value) if value.is_string() => Some(value.to_string()),
            Some(value) => {
                return self.refuse_strength(format!(
                    "`{}` returned {} as `because`, which is a string",
                    self.name(),
                    described(value)
                ));
            }
        };
        let about = match given("about").map(|value| self.data(value, CODE)).transpose()? {
            None => Vec::new(),
            Some(value) => match serde_json::from_value(value) {
                Ok(ids) => ids,
                Err(_) => {
                    return self.refuse_strength(format!("`{}` returned an `about` that is no list of strings", self.name()));
                }
            },
        };
        Ok(RuleStrength { strength, because, about })
    }

    /// A strength: a number from 0 to 1.
    fn number(&self, value: &Dynamic, place: &str) -> Result<f64, Box<Diagnostic>> {
        #[expect(clippy::cast_precision_loss, reason = "whole numbers beyond 1 are refused")]
        let number = value.as_float().or_else(|_| value.as_int().map(|whole| whole as f64));
        match number {
            Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
            _ => self.refuse_strength(format!("`{}` returned {}{place}", self.name(), described(value))),
        }
    }

    #[cold]
    fn refuse_strength<T>(&self, message: String) -> Result<T, Box<Diagnostic>> {
        Err(Box::new(self.blame(Diagnostic::error(CODE, message).help(HELP))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::testing::{function, line};
    use serde_json::json;

    fn weigh(body: &str) -> Result<Option<RuleStrength>, String> {
        let rule = function(&format!("fn f(evidence, context, vars) {{ {body} }}"), 3);
        let evidence = View::plain(&json!({ "headline": "x" }), "evidence");
        let none = View::plain(&json!({}), "case");
        rule.weigh(&[&evidence, &none, &none]).map_err(|problem| line(&problem))
    }

    #[test]
    fn a_rule_says_how_strongly_it_speaks() {
        for silent in ["()", "false", "", "0", "0.0", "#{ strength: 0 }"] {
            assert_eq!(weigh(silent), Ok(None), "{silent}");
        }
        let said = |strength| Ok(Some(RuleStrength { strength, because: None, about: Vec::new() }));
        for (body, strength) in [("true", 1.0), ("evidence.headline == \"x\"", 1.0), ("0.25", 0.25), ("1", 1.0), ("#{}", 1.0)] {
            assert_eq!(weigh(body), said(strength), "{body}");
        }
        let all = RuleStrength { strength: 0.5, because: Some("x!".into()), about: vec!["e1".into()] };
        assert_eq!(weigh("#{ strength: 0.5, because: `${evidence.headline}!`, about: [\"e1\"] }"), Ok(Some(all)));
    }

    #[test]
    fn everything_else_is_refused() {
        for (body, message) in [
            ("2", "`f` returned a number (`2`)"),
            ("-0.1", "`f` returned a number (`-0.1`)"),
            ("\"yes\"", "`f` returned a string (`\"yes\"`)"),
            ("#{ strength: 7 }", "`f` returned a number (`7`) as `strength`"),
            ("#{ strenght: 1 }", "`f` returned a map with the key `strenght`; did you mean `strength`?"),
            ("#{ because: 1 }", "`f` returned a number (`1`) as `because`, which is a string"),
            ("#{ about: 1 }", "`f` returned an `about` that is no list of strings"),
        ] {
            let got = weigh(body).expect_err(body);
            assert!(got.starts_with(&format!("verdict/return @ t.rhai:f: {message}")), "{body}: {got}");
        }
    }
}
