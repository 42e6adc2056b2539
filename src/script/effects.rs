//! Effects: functions of artifact and parameters that say what the store should be told.

use super::call::{Function, Inputs};
use super::rule::described;
use super::view::View;
use crate::diag::Diagnostic;
use serde_json::Value;

const CODE: &str = "effect/return";
const HELP: &str = "an effect function returns a list of maps: `[ #{ effect: \"note\", text: \"..\" } ]`; no effects: `[]`";

impl Function {
    /// Asks for the effects of an artifact: a list of maps.
    pub fn effects(&self, artifact: &View, params: &View) -> Result<Vec<Value>, Box<Diagnostic>> {
        let value = self.evaluate(&[artifact, params], Inputs::ReadOnly)?;
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
