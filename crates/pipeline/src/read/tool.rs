//! Reads the tool of a node.

use super::computed;
use crate::raw::RawNode;
use crate::tool::ToolCall;
use asterisk_form::FormFields;
use asterisk_form::yaml::YamlReader;

/// Reads the tool of a node; errors go to the reader.
pub(super) fn tool(reader: &mut YamlReader<'_>, fields: FormFields<'_>, node: &RawNode, what: &str) -> Option<ToolCall> {
    if fields.value("tool").is_none() {
        for key in ["arguments", "judge"] {
            let Some(entry) = fields.entry(key) else { continue };
            let error = reader.error("no-tool", format!("{what} has `{key}` but no `tool`"), entry.key.span, "");
            reader.push(error.help("add the tool: `tool: SERVER/TOOL`"));
        }
        return None;
    }
    let name = fields.text("tool")?;
    if !name.split_once('/').is_some_and(|(server, tool)| !server.trim().is_empty() && !tool.trim().is_empty()) {
        let error = reader.error("bad-tool", format!("`tool` of {what} is not SERVER/TOOL: `{name}`"), name.span, "");
        reader.push(error.help("write `tool: SERVER/TOOL`; servers are configured under `mcp_servers:` in asterisk.yaml"));
        return None;
    }
    let walked = node.subpipeline.as_ref().map(|_| if node.foreach.is_some() { "do" } else { "pipeline" });
    for key in walked.into_iter().chain(["script", "via", "prompt"]) {
        let Some(yaml) = fields.present(key) else { continue };
        let message = format!("{what} has both `tool` and `{key}`");
        let error =
            reader.error("answered-twice", message, yaml.span, "never used").label(reader.source(), name.span, "called instead");
        reader.push(error.help("a tool is called with `arguments:`; remove one of them"));
    }
    let arguments = match fields.value("arguments") {
        Some(_) => Some(computed(fields, "arguments", reader.source())?),
        None => None,
    };
    Some(ToolCall { name, arguments, judge: fields.text("judge") })
}

#[cfg(test)]
mod tests {
    use crate::{ComputedValue, Pipeline, parse};
    use asterisk_diag::Source;

    fn read(node: &str) -> Result<Pipeline, Vec<(String, String)>> {
        let text = |label: &asterisk_diag::Label| label.source.slice(label.span).to_owned();
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
    fn a_tool_and_its_arguments_are_read() {
        let pipeline = read("tool: notes/find/all, arguments: \"#{ text: failure.name }\"").expect("reads");
        let tool = pipeline.nodes[0].tool.as_ref().expect("a tool");
        assert_eq!((tool.server(), tool.tool()), ("notes", "find/all"));
        assert!(matches!(tool.arguments, Some(ComputedValue::Expression(_))));
        let pipeline = read("tool: notes/find, arguments: rules/t.rhai#asked").expect("reads");
        assert!(matches!(pipeline.nodes[0].tool.as_ref().expect("a tool").arguments, Some(ComputedValue::Function(_))));
    }

    #[test]
    fn incompatible_keys_are_labelled() {
        for (node, code, label) in [
            ("tool: notes", "pipeline/bad-tool", "notes"),
            ("tool: /find", "pipeline/bad-tool", "/find"),
            ("arguments: \"#{}\"", "pipeline/no-tool", "arguments"),
            ("judge: p.rhai#judge", "pipeline/no-tool", "judge"),
            ("tool: a/b, via: manual", "pipeline/answered-twice", "manual"),
            ("tool: a/b, script: s.rhai#a", "pipeline/answered-twice", "s.rhai#a"),
            ("tool: a/b, pipeline: other", "pipeline/answered-twice", "other"),
        ] {
            assert_eq!(read(node).expect_err(node), [(code.to_owned(), label.to_owned())], "{node}");
        }
    }
}
