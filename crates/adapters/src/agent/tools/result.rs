//! Converts the result of a tool into an artifact.

use super::super::artifact::{checked, is_too_deep, too_deep, too_long};
use crate::net::hidden;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// A converted result.
#[derive(Debug, PartialEq)]
pub(super) enum ToolResult {
    /// The artifact: the structured content, else the JSON object in the text, else the text as `{ text }`.
    Artifact(Value),
    /// The tool reported a failure.
    Failed(String),
    /// The result cannot be an artifact; the reason.
    Refused(String),
}

/// Converts a result of at most `most` bytes. `hide` redacts secrets.
pub(super) fn given(result: &CallToolResult, most: usize, hide: &dyn Fn(&str) -> String) -> ToolResult {
    let texts = result.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    if result.is_error == Some(true) {
        return ToolResult::Failed(hide(&text));
    }
    let size = result.structured_content.as_ref().map_or(text.len(), |value| value.to_string().len());
    if size > most {
        return ToolResult::Refused(too_long(most));
    }
    let artifact = match &result.structured_content {
        Some(value) => value.clone(),
        None => match serde_json::from_str(&text) {
            Ok(value @ Value::Object(_)) => value,
            Err(error) if is_too_deep(&error) => return ToolResult::Refused(too_deep()),
            _ => json!({ "text": text }),
        },
    };
    match checked(artifact) {
        Ok(artifact) => ToolResult::Artifact(hidden(artifact, hide)),
        Err(why) => ToolResult::Refused(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(result: Value) -> ToolResult {
        let result: CallToolResult = serde_json::from_value(result).expect("a result");
        given(&result, 1000, &|text| text.replace("hu\"sh", "(secret)"))
    }

    fn text(text: &str) -> ToolResult {
        of(json!({ "content": [{ "type": "text", "text": text }] }))
    }

    #[test]
    fn structured_content_precedes_json_precedes_text() {
        let both = json!({ "content": [{ "type": "text", "text": "{\"a\": 2}" }], "structuredContent": { "a": 1 } });
        assert_eq!(of(both), ToolResult::Artifact(json!({ "a": 1 })));
        assert_eq!(text("{\"a\": 2}"), ToolResult::Artifact(json!({ "a": 2 })));
        assert_eq!(text("two of them {1}"), ToolResult::Artifact(json!({ "text": "two of them {1}" })));
        assert_eq!(text("[1, 2]"), ToolResult::Artifact(json!({ "text": "[1, 2]" })));
        assert_eq!(text("it is hu\"sh"), ToolResult::Artifact(json!({ "text": "it is (secret)" })));
    }

    #[test]
    fn what_is_not_an_artifact_is_refused() {
        let failed = json!({ "content": [{ "type": "text", "text": "no such hu\"sh" }], "isError": true });
        assert_eq!(of(failed), ToolResult::Failed("no such (secret)".into()));
        let list = json!({ "content": [], "structuredContent": [1] });
        assert!(matches!(of(list), ToolResult::Refused(why) if why.contains("a list")));
        assert!(matches!(text(&"x".repeat(1001)), ToolResult::Refused(why) if why.contains("1000 bytes")));
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(70), "]".repeat(70));
        assert!(matches!(text(&deep), ToolResult::Refused(why) if why.contains("64 levels")));
    }
}
