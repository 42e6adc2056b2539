//! Nodes whose artifact is what a tool of a server gives back (`tool:`).

use super::Spanned;
use super::computed::{self, ComputedValue};
use super::raw::RawNode;
use super::read::{present, value};
use super::yaml::{YamlFields, YamlReader};

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

/// Reads the tool of a node; what is wrong goes to the reader.
pub(super) fn read(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, node: &RawNode, what: &str) -> Option<ToolCall> {
    let Some(given) = value(fields, "tool") else {
        if let Some(entry) = fields.entry("arguments") {
            let error = reader.error("no-tool", format!("{what} has `arguments` but no `tool`"), entry.key.span, "");
            reader.push(error.help("`tool: SERVER/TOOL` says what they are for"));
        }
        return None;
    };
    let name = reader.text(given, &format!("`tool` of {what}"))?;
    if !name.split_once('/').is_some_and(|(server, tool)| !server.trim().is_empty() && !tool.trim().is_empty()) {
        let error = reader.error("bad-tool", format!("`tool` of {what} names no server and tool: `{name}`"), name.span, "");
        reader.push(error.help("write `tool: SERVER/TOOL`; servers are set up under `mcp_servers:` in asterisk.yaml"));
        return None;
    }
    let walked = node.part.as_ref().map(|_| if node.fan.is_some() { "do" } else { "pipeline" });
    for key in walked.into_iter().chain(["script", "via", "prompt"]) {
        let Some(yaml) = present(fields, key) else { continue };
        let message = format!("{what} has both `tool` and `{key}`");
        let error =
            reader.error("answered-twice", message, yaml.span, "never used").label(reader.source(), name.span, "called instead");
        reader.push(error.help("a tool is called with `arguments:`; take one of the two away"));
    }
    let arguments = match value(fields, "arguments") {
        Some(yaml) => Some(computed::read(reader, yaml, &format!("`arguments` of {what}"))?),
        None => None,
    };
    Some(ToolCall { name, arguments })
}

#[cfg(test)]
mod tests {
    use crate::diag::Source;
    use crate::pipeline::{ComputedValue, Pipeline, parse};

    fn read(node: &str) -> Result<Pipeline, Vec<(String, String)>> {
        let text = |label: &crate::diag::Label| label.source.slice(label.span).to_owned();
        parse(&Source::new("t.yaml", text_of(node))).map_err(|found| {
            found.iter().map(|fault| (fault.code.to_string(), fault.primary().map_or(String::new(), text))).collect()
        })
    }

    fn text_of(node: &str) -> String {
        format!(
            "pipeline: t\nnodes:\n  - {{ name: a, {node} }}\nedges: [{{ id: E, from: a, to: _done }}]\nstart: a\ndone: _done\n"
        )
    }

    #[test]
    fn a_tool_and_what_makes_its_arguments_are_read() {
        let pipeline = read("tool: notes/find/all, arguments: \"#{ text: failure.name }\"").expect("reads");
        let tool = pipeline.nodes[0].tool.as_ref().expect("a tool");
        assert_eq!((tool.server(), tool.tool()), ("notes", "find/all"));
        assert!(matches!(tool.arguments, Some(ComputedValue::Expression(_))));
        let pipeline = read("tool: notes/find, arguments: rules/t.rhai#asked").expect("reads");
        assert!(matches!(pipeline.nodes[0].tool.as_ref().expect("a tool").arguments, Some(ComputedValue::Function(_))));
    }

    #[test]
    fn what_does_not_go_together_is_labelled() {
        for (node, code, label) in [
            ("tool: notes", "pipeline/bad-tool", "notes"),
            ("tool: /find", "pipeline/bad-tool", "/find"),
            ("arguments: \"#{}\"", "pipeline/no-tool", "arguments"),
            ("tool: a/b, via: manual", "pipeline/answered-twice", "manual"),
            ("tool: a/b, script: s.rhai#a", "pipeline/answered-twice", "s.rhai#a"),
            ("tool: a/b, pipeline: other", "pipeline/answered-twice", "other"),
        ] {
            assert_eq!(read(node).expect_err(node), [(code.to_owned(), label.to_owned())], "{node}");
        }
    }
}
