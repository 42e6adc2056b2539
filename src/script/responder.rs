//! Responders: functions of parameters and vars that answer a node with an artifact.

use super::call::{Function, Inputs};
use super::rule::described;
use super::view::View;
use crate::diag::Diagnostic;
use serde_json::Value;

const CODE: &str = "responder/return";

impl Function {
    /// Asks a responder for the artifact, which must be a map.
    pub fn respond(&self, params: &View, vars: &View) -> Result<Value, Box<Diagnostic>> {
        let value = self.evaluate(&[params, vars], Inputs::ReadOnly)?;
        match self.data(&value, CODE)? {
            artifact @ Value::Object(_) => Ok(artifact),
            _ => {
                let message = format!("`{}` returned {}, not an artifact", self.name(), described(&value));
                let help = "a responder returns the artifact as a map: `#{ field: value }`";
                Err(Box::new(self.blame(Diagnostic::error(CODE, message).help(help))))
            }
        }
    }
}
