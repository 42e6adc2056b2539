//! Reads JSON arguments.

use asterisk_base::environment::InputStream;
use asterisk_diag::{Diagnostic, Source, Span};
use asterisk_files::read_input;
use asterisk_session::SessionError;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

/// Reads JSON that was typed, or from a file that was named.
pub(super) fn read<T: DeserializeOwned>(
    typed_source: &Source,
    argument: &str,
    at: usize,
    what: &str,
    input: &InputStream,
) -> Result<T, SessionError> {
    let typed = argument.starts_with(['{', '[', '"']) || serde_json::from_str::<Value>(argument).is_ok();
    let file;
    let (source, part, start) = if typed {
        (typed_source, argument, at)
    } else {
        file = read_input(Path::new(argument), input)?;
        (&file, file.text(), 0)
    };
    serde_json::from_str(part).map_err(|error| {
        let there = Source::new("", part).offset(error.line(), error.column()).min(part.len().saturating_sub(1));
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or(&text);
        let diagnostic = Diagnostic::error("input/json", format!("this is not {what}: {reason}"));
        SessionError::Texts(diagnostic.label(source, Span::new(start + there, start + there + 1), "here").into())
    })
}
