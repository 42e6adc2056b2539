//! Code actions: fixes of findings, allowing them, and what would make the chosen case take another way.

use super::commands::SAVE_TEST;
use super::diagnostics;
use super::hover::{counted, ids};
use super::names::{Definition, NameKind};
use super::project_file::{FileLanguage, ProjectFile};
use super::weights::{WrittenWeight, of_number, weights};
use super::workspace::EditedProject;
use asterisk_decisions::{CaseValues, WeightTips, weight_tips_of};
use asterisk_diag::{Span, meant, nearest};
use asterisk_form::yaml;
use asterisk_lint::{LintFinding, fix};
use gen_lsp_types::{CodeAction, CodeActionKind, CodeActionParams, Command, TextEdit, WorkspaceEdit};
use serde_json::{Value, json};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

/// The reason of an allow comment, for the person to replace: without one it suppresses nothing.
const REASON: &str = "TODO: why this is right";

/// The weights of a file, and how far each is from changing the verdict of the chosen case: found once for a request.
type WeighedCase = OnceCell<(Vec<WrittenWeight>, WeightTips)>;

/// What can be done at a range.
pub(super) fn actions(workspace: &EditedProject, params: &CodeActionParams) -> Option<Vec<CodeAction>> {
    let (file, text) = workspace.of_uri(&params.text_document.uri)?;
    let range = text.lines.span(&text.text, params.range);
    let mut found = Vec::new();
    of_findings(workspace, &file, range, &mut found);
    let weighed = WeighedCase::new();
    for definition in &file.names.definitions {
        let line = |at: usize| text.lines.line(at);
        let touches = line(definition.span.start) <= line(range.end) && line(range.start) <= line(definition.span.end);
        if touches {
            of_definition(workspace, &file, (definition, &weighed), &mut found);
        }
    }
    if let Some(only) = &params.context.only {
        let wanted = |action: &CodeAction| {
            let kind = action.kind.as_ref().map(CodeActionKind::as_str).unwrap_or_default();
            only.iter().any(|one| kind == one.as_str() || kind.starts_with(&format!("{}.", one.as_str())))
        };
        found.retain(wanted);
    }
    Some(found)
}

fn edit(workspace: &EditedProject, file: &ProjectFile, edits: Vec<TextEdit>) -> Option<WorkspaceEdit> {
    let changes = HashMap::from([(workspace.uri(file)?, edits)]);
    Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
}

/// Fixes and allows of the findings in a range. Findings of an older text are not offered.
fn of_findings(workspace: &EditedProject, file: &Arc<ProjectFile>, range: Span, found: &mut Vec<CodeAction>) {
    let Some(analysis) = &workspace.analysis else { return };
    let own = |finding: &&LintFinding| {
        finding.diagnostic.primary().is_some_and(|label| label.source.name() == file.shown && label.source.text() == file.text())
    };
    let findings: Vec<&LintFinding> = analysis.findings.iter().filter(own).collect();
    let touched = |finding: &&&LintFinding| {
        finding.diagnostic.primary().is_some_and(|label| label.span.start <= range.end && range.start <= label.span.end)
    };
    for finding in findings.iter().filter(touched) {
        let diagnostic = diagnostics::diagnostic(workspace, analysis, finding);
        if let Some(fix) = &finding.fix {
            let spans = fix.edits.iter().filter(|edit| edit.source.name() == file.shown || edit.source.name() == file.name);
            let edits = workspace.edits(file, spans.map(|edit| (edit.span, edit.text.clone())));
            found.push(CodeAction {
                title: capitalised(&fix.title),
                kind: Some(CodeActionKind::QuickFix),
                diagnostics: Some(vec![diagnostic.clone()]),
                is_preferred: Some(true),
                edit: edit(workspace, file, edits),
                ..CodeAction::default()
            });
        }
        let Some(label) = finding.diagnostic.primary() else { continue };
        if let Some((span, name)) = misspelt(finding).filter(|_| finding.fix.is_none()) {
            let edits = workspace.edits(file, [(span, name.to_owned())]);
            found.push(CodeAction {
                title: format!("Change `{}` to `{name}`", label.source.slice(span)),
                kind: Some(CodeActionKind::QuickFix),
                diagnostics: Some(vec![diagnostic.clone()]),
                is_preferred: Some(true),
                edit: edit(workspace, file, edits),
                ..CodeAction::default()
            });
        }
        if !finding.can_be_allowed {
            continue;
        }
        let line = file.text()[..label.span.start].rfind('\n').map_or(0, |at| at + 1);
        let indent: String = file.text()[line..].chars().take_while(|c| *c == ' ').collect();
        let comment = match file.language {
            FileLanguage::Script => format!("{indent}// lint: allow({}) {REASON}\n", finding.rule),
            FileLanguage::Template => format!("{{# lint: allow({}) {REASON} #}}\n", finding.rule),
            _ => format!("{indent}# lint: allow({}) {REASON}\n", finding.rule),
        };
        let edits = workspace.edits(file, [(Span::new(line, line), comment)]);
        found.push(CodeAction {
            title: format!("Allow `{}` here; write the reason", finding.rule),
            kind: Some(CodeActionKind::QuickFix),
            diagnostics: Some(vec![diagnostic]),
            edit: edit(workspace, file, edits),
            ..CodeAction::default()
        });
    }
    let all: Vec<LintFinding> =
        findings.iter().filter(|finding| finding.fix.is_some()).map(|finding| (*finding).clone()).collect();
    if all.is_empty() {
        return;
    }
    let Some(texts) = analysis.session.as_ref().and_then(|session| session.texts(&[]).ok()) else { return };
    if let Some(fixed) =
        fix(&texts, &all).into_iter().find(|fixed| fixed.path.ends_with(&file.shown) || file.key().ends_with(&fixed.path))
    {
        let whole = Span::new(0, file.text().len());
        let edits = workspace.edits(file, [(whole, fixed.text)]);
        found.push(CodeAction {
            title: "Fix all findings with automatic fixes".into(),
            kind: Some(CodeActionKind::SourceFixAll),
            edit: edit(workspace, file, edits),
            ..CodeAction::default()
        });
    }
}

/// The name that was misspelt, and the one that its finding suggests.
fn misspelt(finding: &LintFinding) -> Option<(Span, &str)> {
    let name = meant(finding.diagnostic.help.as_deref()?)?;
    let label = finding.diagnostic.primary()?;
    let written = label.source.slice(label.span);
    // The suggestion may be a path, such as `artifact.match`.
    let last = name.rsplit('.').next().unwrap_or(name);
    if let Some(name) = [name, last].into_iter().find(|name| nearest(written, [*name]).is_some()) {
        return Some((label.span, name));
    }
    // One word of an expression, or of a quoted text.
    let mut words = written.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-'));
    let word = words.rfind(|word| !word.is_empty() && nearest(word, [name]).is_some())?;
    let start = label.span.start + written.rfind(word)?;
    Some((Span::new(start, start + word.len()), name))
}

fn capitalised(title: &str) -> String {
    let mut chars = title.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// What can be done with an edge, a rule, or a function that decides.
fn of_definition(
    workspace: &EditedProject,
    file: &Arc<ProjectFile>,
    (definition, weighed): (&Definition, &WeighedCase),
    found: &mut Vec<CodeAction>,
) {
    let recorded = &workspace.recorded;
    for id in ids(workspace, &definition.name) {
        let edge = workspace.known(NameKind::Edge, None).into_iter().any(|one| one.name.text == id);
        if edge && counted(recorded, &id).is_some() {
            let case = recorded.case.as_ref().map_or(Value::Null, |case| json!(case.case));
            let run = recorded.case.as_ref().map_or_else(|| "latest".to_owned(), |case| case.run.clone());
            let arguments = vec![json!(run), case, json!(id)];
            let title = format!("Save the last decision of `{id}` as a test");
            let command = Command { title: title.clone(), tooltip: None, command: SAVE_TEST.into(), arguments: Some(arguments) };
            found.push(CodeAction {
                title,
                kind: Some(CodeActionKind::Refactor),
                command: Some(command),
                ..CodeAction::default()
            });
        }
        let Some(case) = &recorded.case else { continue };
        threshold(workspace, case, &id, found);
        if matches!(definition.name.kind, NameKind::Rule | NameKind::Signature) {
            weight(workspace, file, (case, weighed), &id, found);
        }
    }
}

/// A threshold that just kept a rule from firing, moved so far that it fires.
fn threshold(workspace: &EditedProject, case: &CaseValues, id: &str, found: &mut Vec<CodeAction>) {
    let Some(decided) = case.rules.get(id) else { return };
    for miss in &decided.missed {
        let (Some(by), Some((name, sign, strict))) = (miss.by, direction(&miss.expression)) else { continue };
        for (pipeline, var) in
            workspace.files().iter().filter(|file| file.language == FileLanguage::Pipeline && !file.bundled).filter_map(|file| {
                Some((
                    file.clone(),
                    file.names.definitions.iter().find(|one| one.name.kind == NameKind::Var && one.name.text == name)?.clone(),
                ))
            })
        {
            let Some((span, old)) = number(&pipeline, var.whole) else { continue };
            let step = if old.fract() == 0.0 && by.fract() == 0.0 { 1.0 } else { 0.001 };
            let new = rounded(old + sign * (by + if strict { step } else { 0.0 }));
            let verb = if new < old { "Lower" } else { "Raise" };
            let edits = workspace.edits(&pipeline, [(span, shown(new))]);
            found.push(CodeAction {
                title: format!("{verb} `{name}` from {} to {}: `{id}` fires in case {}", shown(old), shown(new), case.case),
                kind: Some(CodeActionKind::Refactor),
                edit: edit(workspace, &pipeline, edits),
                ..CodeAction::default()
            });
        }
    }
}

/// The var that a comparison is with, in which direction it must move for the comparison to hold, and whether beyond the value.
fn direction(expression: &str) -> Option<(String, f64, bool)> {
    let (at, operator) = ["<=", ">=", "<", ">"].iter().find_map(|operator| Some((expression.find(operator)?, *operator)))?;
    let (left, right) = (expression[..at].trim(), expression[at + operator.len()..].trim());
    let var = |side: &str| {
        let name = side.strip_prefix("vars.")?;
        name.chars().all(|c| c.is_alphanumeric() || c == '_').then(|| name.to_owned())
    };
    let strict = operator.len() == 1;
    let up = operator.starts_with('<');
    match (var(left), var(right)) {
        (None, Some(name)) => Some((name, if up { 1.0 } else { -1.0 }, strict)),
        (Some(name), None) => Some((name, if up { -1.0 } else { 1.0 }, strict)),
        _ => None,
    }
}

/// The number of a var's default, and where it is written.
fn number(file: &ProjectFile, whole: Span) -> Option<(Span, f64)> {
    let tree = yaml::parse(file.source()).ok()?;
    let vars = tree.get("vars")?.as_map()?;
    let var = vars.iter().find(|entry| whole.start <= entry.key.span.start && entry.key.span.end <= whole.end)?;
    let value = var.value.get("default").unwrap_or(&var.value);
    Some((value.span, of_number(value)?))
}

/// The nearest weights of a rule with which the verdict of the chosen case is another one.
fn weight(
    workspace: &EditedProject,
    file: &Arc<ProjectFile>,
    (case, weighed): (&CaseValues, &WeighedCase),
    id: &str,
    found: &mut Vec<CodeAction>,
) {
    let Some(verdict) = &case.verdict else { return };
    let (written, tips) = weighed.get_or_init(|| (weights(file), weight_tips_of(&case.case, verdict)));
    for written in written.iter().filter(|written| written.id == id) {
        let Some(tip) = tips.get(&(written.id.clone(), written.defect.clone())) else { continue };
        for (verb, points) in [("Lower", &tip.lower), ("Raise", &tip.higher)] {
            let Some(point) = points.first() else { continue };
            let edits = workspace.edits(file, [(written.span, shown(point.weight))]);
            let (old, new) = (shown(written.weight), shown(point.weight));
            found.push(CodeAction {
                title: format!(
                    "{verb} the weight of `{id}` for `{}` from {old} to {new}: case {} becomes `{}`",
                    written.defect, case.case, point.to
                ),
                kind: Some(CodeActionKind::Refactor),
                edit: edit(workspace, file, edits),
                ..CodeAction::default()
            });
        }
    }
}

fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

fn shown(number: f64) -> String {
    format!("{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_move_towards_the_value() {
        let of = |text: &str| direction(text).map(|(name, sign, strict)| (name, sign > 0.0, strict));
        assert_eq!(of("artifact.confidence >= vars.recall_hit"), Some(("recall_hit".into(), false, false)));
        assert_eq!(of("vars.most > state.loops.investigate"), Some(("most".into(), true, true)));
        assert_eq!(of("artifact.confidence < vars.floor"), Some(("floor".into(), true, true)));
        assert_eq!(of("artifact.a >= 0.5"), None);
    }
}
