//! A node whose artifact is the result of a tool call: the tool, and what makes its arguments.

use super::because::short;
use super::bounds::check_bounds;
use super::name::Name;
use super::views::value_of_params;
use crate::diag::{Diagnostic, Source, Span};
use crate::script::{ScriptFunction, View};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Who answers a node by a call.
pub const TOOL: &str = "tool";

/// A tool of a server.
#[derive(Clone, Debug)]
pub struct ToolPlan {
    /// The server, as the settings have it.
    pub server: String,
    /// The tool, as the server has it.
    pub name: String,
    /// What makes its arguments: a function given `(params, vars)`, or an expression given `(params, state, vars)`. None are given
    /// without it.
    pub arguments: Option<ScriptFunction>,
    /// Where it stands.
    pub place: (Source, Span),
}

/// A tool with its arguments, as it is called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
}

impl ToolPlan {
    /// What a server is called as one who answers.
    pub fn via(server: &str) -> Name {
        format!("mcp:{server}").into()
    }

    /// What is called in a step with these parameters.
    pub fn call(&self, params: &View, vars: &View) -> Result<Call, Box<Diagnostic>> {
        let arguments = match &self.arguments {
            None => Map::new(),
            Some(function) => match value_of_params(function, params, vars)? {
                Value::Object(fields) => fields,
                other => {
                    let other = short(&View::plain(&other, "arguments"));
                    let message = format!("`arguments` of `{}/{}` gave {other}, not a map", self.server, self.name);
                    return Err(self.fault(message, "a tool is given its arguments by name: `#{ text: failure.name }`").into());
                }
            },
        };
        let whole: Vec<Value> = arguments.values().cloned().collect();
        check_bounds(&whole, "an argument of `tool`", "the arguments of `tool`")
            .map_err(|said| self.fault(said, "give what the tool has to know, not all that is known"))?;
        Ok(Call { server: self.server.clone(), tool: self.name.clone(), arguments })
    }

    fn fault(&self, message: String, help: &str) -> Diagnostic {
        let (source, span) = &self.place;
        Diagnostic::error("walk/arguments", message).label(source, *span, "called here").help(help.to_owned())
    }
}
