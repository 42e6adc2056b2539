//! Nodes whose artifact is what a tool of a server gives back (`tool:`).

use super::Spanned;
use super::computed::ComputedValue;

/// A tool that is called in the place of somebody who answers.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The server and the tool, as written: `SERVER/TOOL`.
    pub name: Spanned<String>,
    /// What makes its arguments, a map; none are given without it.
    pub arguments: Option<ComputedValue>,
}

impl ToolCall {
    /// The name of the server.
    pub fn server(&self) -> &str {
        self.name.split_once('/').map_or(self.name.as_str(), |(server, _)| server)
    }

    /// The name of the tool, as the server has it.
    pub fn tool(&self) -> &str {
        self.name.split_once('/').map_or("", |(_, tool)| tool)
    }
}
