//! Formatting of documents and ranges.

use super::project_file::FileLanguage;
use super::server::RequestRefusal;
use super::workspace::EditedProject;
use asterisk_diag::Span;
use asterisk_syntax::format::{FormatError, FormatLanguage, edits, format as formatted, format_range};
use gen_lsp_types::{Range, TextEdit, Uri};

/// The edits that format a document, or a range of it. A text with a syntax error is refused.
pub(super) fn format(
    workspace: &EditedProject,
    uri: &Uri,
    range: Option<Range>,
) -> Result<Option<Vec<TextEdit>>, RequestRefusal> {
    let Some((file, text)) = workspace.of_uri(uri) else { return Ok(None) };
    let language = match file.language {
        FileLanguage::Script => FormatLanguage::Rhai,
        FileLanguage::Template => FormatLanguage::Template,
        _ => FormatLanguage::Yaml,
    };
    let found = match range {
        Some(range) => {
            let span = text.lines.span(&text.text, range);
            format_range(language, &text.text, span.start..span.end)
        }
        None => formatted(language, &text.text).map(|new| edits(&text.text, &new)),
    };
    let found = found.map_err(|error| match &error {
        FormatError::Syntax { start, .. } => {
            RequestRefusal::because(format!("not formatted: line {}: {error}", text.lines.line(*start) + 1))
        }
        FormatError::Changed { .. } => RequestRefusal::because(format!("not formatted: {error}")),
    })?;
    Ok(Some(workspace.edits(&file, found.into_iter().map(|edit| (Span::new(edit.start, edit.end), edit.text)))))
}
