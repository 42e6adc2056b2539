//! Nodes whose artifact is the result of a server's tool (`tool:`).

use super::Spanned;
use super::computed::ComputedValue;

/// A call of a tool instead of an answerer.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The server and the tool, as written: `SERVER/TOOL`.
    pub name: Spanned<String>,
    /// Computes its arguments, a map; without it there are none.
    pub arguments: Option<ComputedValue>,
    /// The function that judges each call before it is made.
    pub judge: Option<Spanned<String>>,
}

impl ToolCall {
    /// The name of the server.
    pub fn server(&self) -> &str {
        self.name.split_once('/').map_or(self.name.as_str(), |(server, _)| server)
    }

    /// The name of the tool on that server.
    pub fn tool(&self) -> &str {
        self.name.split_once('/').map_or("", |(_, tool)| tool)
    }
}
