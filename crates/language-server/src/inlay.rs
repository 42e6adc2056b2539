//! Values of the chosen case next to the lines that computed them: as inlay hints, and as the inline values of a debugger.

use super::names::NameKind;
use super::project_file::{FileLanguage, ProjectFile};
use super::workspace::EditedProject;
use asterisk_decisions::{CaseValues, PlacedValue};
use asterisk_diag::Span;
use gen_lsp_types::{InlayHint, InlayHintParams, InlineValue, InlineValueParams, InlineValueText, Label, Tooltip};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The maximum number of values shown after a line.
const MOST: usize = 4;
/// The maximum number of characters shown after a line.
const LONGEST: usize = 120;

/// The values for the lines of a range.
pub(super) fn hints(workspace: &EditedProject, params: &InlayHintParams) -> Option<Vec<InlayHint>> {
    let (file, text) = workspace.of_uri(&params.text_document.uri)?;
    let case = workspace.recorded.case.clone()?;
    let hint = |(line, shown): (usize, LineValues)| {
        let end = text.lines.line_span(&text.text, line).end;
        let mut label = shown.short.join("  ");
        if label.chars().count() > LONGEST {
            label = label.chars().take(LONGEST - 1).chain(['…']).collect();
        }
        InlayHint {
            position: text.lines.position(&text.text, end),
            label: Label::String(label),
            kind: None,
            text_edits: None,
            tooltip: Some(Tooltip::String(shown.long)),
            padding_left: Some(true),
            padding_right: None,
            data: None,
        }
    };
    let (first, last) = (params.range.start.line as usize, params.range.end.line as usize);
    let lines = lines(&file, &case);
    Some(lines.into_iter().filter(|(line, _)| first <= *line && *line <= last).map(hint).collect())
}

/// The values within a range, each at its expression.
pub(super) fn values(workspace: &EditedProject, params: &InlineValueParams) -> Option<Vec<InlineValue>> {
    let (file, text) = workspace.of_uri(&params.text_document.uri)?;
    let case = workspace.recorded.case.clone()?;
    let wanted = text.lines.span(&text.text, params.range);
    let mut found: BTreeMap<Span, String> = BTreeMap::new();
    for value in of_file(&file, &case) {
        if wanted.start <= value.span.start && value.span.end <= wanted.end {
            found.insert(value.span, value.value.clone());
        }
    }
    let value = |(span, value): (Span, String)| {
        let written = text.text[span.start..span.end].split_whitespace().collect::<Vec<_>>().join(" ");
        InlineValue::Text(InlineValueText { range: text.lines.range(&text.text, span), text: format!("{written} = {value}") })
    };
    Some(found.into_iter().map(value).collect())
}

/// The values computed in a file, if its text is the one that was recorded.
fn of_file<'c>(file: &'c ProjectFile, case: &'c CaseValues) -> impl Iterator<Item = &'c PlacedValue> {
    case.values.iter().filter(|value| value.source.name() == file.name && value.source.text() == file.text())
}

/// The values of a line.
#[derive(Default)]
struct LineValues {
    short: Vec<String>,
    long: String,
}

/// The values of a file by line; of an expression that is evaluated several times, the last. For pipelines, also the outcome of each edge and rule.
fn lines(file: &ProjectFile, case: &CaseValues) -> BTreeMap<usize, LineValues> {
    let mut found: BTreeMap<usize, LineValues> = BTreeMap::new();
    let line_of = |offset: usize| file.text()[..offset].matches('\n').count();
    if file.language == FileLanguage::Pipeline {
        for one in file.names.definitions.iter().filter(|one| matches!(one.name.kind, NameKind::Edge | NameKind::Rule)) {
            if let Some(decided) = case.rules.get(&one.name.text) {
                let strength = decided.strength.map_or(String::new(), |strength| format!(" {strength}"));
                let because = decided.because.as_ref().map_or(String::new(), |because| format!(": {because}"));
                let line = found.entry(line_of(one.whole.end)).or_default();
                line.short.push(format!("{}{strength}", decided.outcome));
                let _ = writeln!(line.long, "{} {}{strength}{because}", one.name.text, decided.outcome);
            }
        }
    }
    let mut last: BTreeMap<Span, &str> = BTreeMap::new();
    for value in of_file(file, case) {
        last.insert(value.span, &value.value);
    }
    for (span, value) in last {
        let written = file.source().slice(span).split_whitespace().collect::<Vec<_>>().join(" ");
        let line = found.entry(line_of(span.end)).or_default();
        // A literal says what it is, and what is made of several values is explained by these.
        let is_plain = written.starts_with(|c: char| c.is_alphabetic() || c == '_') && !written.contains([' ', '"']);
        if is_plain && written != value && line.short.len() < MOST {
            line.short.push(format!("{written} = {value}"));
        }
        let _ = writeln!(line.long, "{written} = {value}");
    }
    found.retain(|_, line| !line.short.is_empty());
    found
}
