//! Nodes whose artifact is the result of a tool call: the tool, and the script that makes its arguments.

use super::because::short;
use super::bounds::check_bounds;
use super::name::Name;
use super::views::value_of_params;
use asterisk_diag::{Diagnostic, Source, Span};
use asterisk_script::{ScriptFunction, View};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The `by` of a node that a tool call answers.
pub const TOOL: &str = "tool";

/// The server of the tools of a working directory, which every project has: its one tool makes the call that its arguments describe.
pub const WORKDIR: &str = "workdir";

/// The attribute of a case that names the directory which its working directory replaces.
pub const WORKDIR_OF: &str = "workdir_of";

/// A tool of a node, linked.
#[derive(Clone, Debug)]
pub struct ToolPlan {
    /// The server's name in the settings.
    pub server: String,
    /// The tool's name on the server.
    pub name: String,
    /// Makes the arguments: a function of `(params, vars)`, or an expression over `(params, state, vars)`. Without it, there are
    /// none.
    pub arguments: Option<ScriptFunction>,
    /// Judges each call before it is made: a function of `(call, context)`.
    pub judge: Option<ScriptFunction>,
    /// Where it is declared.
    pub place: (Source, Span),
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub server: String,
    pub tool: String,
    pub arguments: Map<String, Value>,
}

impl ToolPlan {
    /// The answerer's name of a server.
    pub fn via(server: &str) -> Name {
        format!("mcp:{server}").into()
    }

    /// Makes the call of a step with these parameters.
    pub fn call(&self, params: &View, vars: &View) -> Result<Call, Box<Diagnostic>> {
        let arguments = match &self.arguments {
            None => Map::new(),
            Some(function) => match value_of_params(function, params, vars)? {
                Value::Object(fields) => fields,
                other => {
                    let other = short(&View::plain(&other, "arguments"));
                    let message = format!("`arguments` of `{}/{}` gave {other}, not a map", self.server, self.name);
                    return Err(self.fault(message, "return the arguments of a tool by name: `#{ text: failure.name }`").into());
                }
            },
        };
        let whole: Vec<Value> = arguments.values().cloned().collect();
        check_bounds(&whole, "an argument of `tool`", "the arguments of `tool`")
            .map_err(|detail| self.fault(detail, "pass only what the tool needs"))?;
        Ok(Call { server: self.server.clone(), tool: self.name.clone(), arguments })
    }

    /// The ruling of the tool's judge on a call, given the call and its context. `None` without a judge.
    pub fn judgement(&self, call: &Value, context: &Value) -> Option<Result<Value, Box<Diagnostic>>> {
        let judge = self.judge.as_ref()?;
        Some(judge.value(&[&View::plain(call, "call"), &View::plain(context, "context")]))
    }

    fn fault(&self, message: String, help: &str) -> Diagnostic {
        let (source, span) = &self.place;
        Diagnostic::error("walk/arguments", message).label(source, *span, "called here").help(help.to_owned())
    }
}
