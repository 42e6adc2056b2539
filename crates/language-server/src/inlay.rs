//! Values of the chosen case next to the lines that computed them: as inlay hints, and as the inline values of a debugger. Next to weights,
//! those that would change a verdict.

use super::names::NameKind;
use super::project_file::{FileLanguage, ProjectFile};
use super::weights::{shown, weights};
use super::workspace::EditedProject;
use asterisk_decisions::{CaseValues, DecidedRule, PlacedValue};
use asterisk_diag::Span;
use asterisk_syntax::format::{FormatEdit, edits};
use gen_lsp_types::{InlayHint, InlayHintParams, InlineValue, InlineValueParams, InlineValueText, Label, Tooltip};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The maximum number of values shown after a line.
const MOST: usize = 4;
/// The maximum number of characters shown after a line.
const LONGEST: usize = 120;

/// The values for the lines of a range, and the weights that would change verdicts.
pub(super) fn hints(workspace: &EditedProject, params: &InlayHintParams) -> Option<Vec<InlayHint>> {
    let (file, text) = workspace.of_uri(&params.text_document.uri)?;
    let hint = |at: usize, label: String, tooltip: String| InlayHint {
        position: text.lines.position(&text.text, at),
        label: Label::String(label),
        kind: None,
        text_edits: None,
        tooltip: Some(Tooltip::String(tooltip)),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    };
    let mut found = Vec::new();
    let recorded = &workspace.recorded;
    if let Some(tips) = &recorded.tips {
        for written in weights(&file) {
            found.extend(shown(&written, tips).map(|(label, tooltip)| hint(written.span.end, label, tooltip)));
        }
    }
    for (line, values) in recorded.case.iter().flat_map(|case| lines(&file, case)) {
        let mut label = values.short.join("  ");
        if label.chars().count() > LONGEST {
            label = label.chars().take(LONGEST - 1).chain(['…']).collect();
        }
        found.push(hint(text.lines.line_span(&text.text, line).end, label, values.long));
    }
    let (first, last) = (params.range.start.line, params.range.end.line);
    found.retain(|hint| first <= hint.position.line && hint.position.line <= last);
    Some(found)
}

/// The values within a range, each at its expression.
pub(super) fn values(workspace: &EditedProject, params: &InlineValueParams) -> Option<Vec<InlineValue>> {
    let (file, text) = workspace.of_uri(&params.text_document.uri)?;
    let case = workspace.recorded.case.clone()?;
    let wanted = text.lines.span(&text.text, params.range);
    let mut found: BTreeMap<Span, String> = BTreeMap::new();
    for (span, value) in of_file(&file, &case) {
        if wanted.start <= span.start && span.end <= wanted.end {
            found.insert(span, value.value.clone());
        }
    }
    let value = |(span, value): (Span, String)| {
        let written = text.text[span.start..span.end].split_whitespace().collect::<Vec<_>>().join(" ");
        InlineValue::Text(InlineValueText { range: text.lines.range(&text.text, span), text: format!("{written} = {value}") })
    };
    Some(found.into_iter().map(value).collect())
}

/// The values computed in a file, at their places in its text as it is now. Those on lines that changed since they were computed are left out.
fn of_file<'c>(file: &ProjectFile, case: &'c CaseValues) -> Vec<(Span, &'c PlacedValue)> {
    let mut changes: BTreeMap<&str, Vec<FormatEdit>> = BTreeMap::new();
    let placed = |value: &'c PlacedValue| {
        let evaluated = value.source.text();
        if evaluated == file.text() {
            return Some((value.span, value));
        }
        let changes = changes.entry(evaluated).or_insert_with(|| edits(evaluated, file.text()));
        Some((moved(value.span, changes)?, value))
    };
    case.values.iter().filter(|value| value.source.name() == file.name).filter_map(placed).collect()
}

/// A span after some edits before it; `None` if one of them touches it.
fn moved(span: Span, changes: &[FormatEdit]) -> Option<Span> {
    let mut at = (span.start, span.end);
    for change in changes.iter().take_while(|change| change.start < span.end) {
        if change.end > span.start {
            return None;
        }
        let by = |place: usize| place + change.text.len() - (change.end - change.start);
        at = (by(at.0), by(at.1));
    }
    Some(Span::new(at.0, at.1))
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
            // Most rules of a verdict do not match.
            let is_shown = |decided: &&DecidedRule| decided.outcome != "did not match" || decided.recorded.is_some();
            if let Some(decided) = case.rules.get(&one.name.text).filter(is_shown) {
                let strength = decided.strength.map_or(String::new(), |strength| format!(" {strength}"));
                let recorded = decided.recorded.map_or(String::new(), |recorded| format!(", recorded: {recorded}"));
                let because = decided.because.as_ref().map_or(String::new(), |because| format!(": {because}"));
                let line = found.entry(line_of(one.whole.end)).or_default();
                line.short.push(format!("{}{strength}{recorded}", decided.outcome));
                let _ = writeln!(line.long, "{} {}{strength}{recorded}{because}", one.name.text, decided.outcome);
            }
        }
    }
    let mut last: BTreeMap<Span, &str> = BTreeMap::new();
    for (span, value) in of_file(file, case) {
        last.insert(span, &value.value);
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
