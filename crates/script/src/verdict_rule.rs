//! Rules of a verdict: functions of evidence, context and vars that say how strongly a reason matches.

use super::invoke::{Parameters, ScriptFunction};
use super::returned_map::{ABOUT, BECAUSE, ReturnForm, ReturnedKey, ReturnedMap, ReturnedType, described};
use super::view::View;
use asterisk_diag::Diagnostic;
use rhai::Dynamic;

/// What a rule of a verdict says.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleStrength {
    /// How strongly it matches, in (0, 1].
    pub strength: f64,
    /// The reason, as given by the rule.
    pub because: Option<String>,
    /// The ids of what it is about: lines of the evidence, signatures.
    pub about: Vec<String>,
}

/// What rules of a verdict return.
pub(crate) const FORM: ReturnForm = ReturnForm {
    code: "verdict/return",
    help: "a verdict rule returns `()` or `false` if it does not match, `true` if it matches fully, or \
           `#{ strength: 0.5, because: \"why\", about: [\"e1\"] }` (each key may be left out); a strength is a number from 0 to 1",
    keys: &[ReturnedKey { name: "strength", holds: &[ReturnedType::Share] }, BECAUSE, ABOUT],
};

impl ScriptFunction {
    /// Evaluates a rule of a verdict; `None` if it does not match.
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
            Ok(map) => {
                let map = ReturnedMap::of(self, &map, &FORM)?;
                let strength = map.given("strength").map_or(Ok(1.0), |value| self.share(value, " as `strength`"))?;
                RuleStrength { strength, because: map.text("because")?, about: map.texts("about")? }
            }
            Err(_) => whole(self.share(&value, "")?),
        };
        Ok((said.strength > 0.0).then_some(said))
    }

    /// A number from 0 to 1.
    fn share(&self, value: &Dynamic, place: &str) -> Result<f64, Box<Diagnostic>> {
        #[expect(clippy::cast_precision_loss, reason = "whole numbers beyond 1 are refused")]
        let number = value.as_float().or_else(|_| value.as_int().map(|whole| whole as f64));
        match number {
            Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
            _ => self.refuse(&FORM, format!("`{}` returned {}{place}", self.name(), described(value))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{function, line};
    use serde_json::json;

    fn weigh(body: &str) -> Result<Option<RuleStrength>, String> {
        let rule = function(&format!("fn f(evidence, context, vars) {{ {body} }}"), 3);
        let evidence = View::plain(&json!({ "headline": "x" }), "evidence");
        let none = View::plain(&json!({}), "case");
        rule.weigh(&[&evidence, &none, &none]).map_err(|problem| line(&problem))
    }

    #[test]
    fn a_rule_returns_its_strength() {
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
            ("#{ about: 1 }", "`f` returned an `about` that is not a list of strings"),
        ] {
            let got = weigh(body).expect_err(body);
            assert!(got.starts_with(&format!("verdict/return @ t.rhai:f: {message}")), "{body}: {got}");
        }
    }
}
