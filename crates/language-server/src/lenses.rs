//! Code lenses: how often a rule fired, what the edits would flip, and running a test.

use super::commands::{EXPLAIN, RUN_TEST, SHOW_FLIPS};
use super::hover::{counted, ids};
use super::names::{Definition, NameKind};
use super::project_file::{FileLanguage, ProjectFile};
use super::workspace::EditedProject;
use asterisk_decisions::replay::ReplayReport;
use asterisk_lint::FunctionRole;
use asterisk_project::FunctionUse;
use asterisk_script::is_test_file;
use gen_lsp_types::{CodeLens, Command, Uri};
use serde_json::{Value, json};

/// The lenses of a document.
pub(super) fn lenses(workspace: &EditedProject, uri: &Uri) -> Option<Vec<CodeLens>> {
    let (file, text) = workspace.of_uri(uri)?;
    let mut found = Vec::new();
    let mut add = |definition: &Definition, title: String, command: &str, arguments: Vec<Value>| {
        let range = text.lines.range(&text.text, definition.span);
        let command = Command { title, tooltip: None, command: command.to_owned(), arguments: Some(arguments) };
        found.push(CodeLens { range, command: Some(command), data: None });
    };
    let recorded = &workspace.recorded;
    let tests = file.language == FileLanguage::Script && is_test_file(&file.name);
    for definition in &file.names.definitions {
        if tests && definition.name.kind == NameKind::Function && definition.name.text.starts_with("test_") {
            add(definition, "Run test".into(), RUN_TEST, vec![json!(uri.0), json!(definition.name.text)]);
            continue;
        }
        for id in ids(workspace, &definition.name) {
            if let Some(counted) = counted(recorded, &id) {
                let title = if definition.name.kind == NameKind::Function { format!("{id} {counted}") } else { counted };
                let case = recorded.case.as_ref().map(|case| (case.run.clone(), case.case.clone()));
                let (run, case) = case.map_or_else(|| ("latest".to_owned(), Value::Null), |(run, case)| (run, json!(case)));
                add(definition, title, EXPLAIN, vec![json!(run), case, json!(id)]);
            }
            if let Some(flips) = recorded.replayed.as_ref().map(|report| of_rule(report, &id)).filter(|flips| *flips > 0) {
                let what = if flips == 1 { "decision would flip" } else { "decisions would flip" };
                add(definition, format!("{flips} {what}"), SHOW_FLIPS, vec![json!(id)]);
            }
        }
    }
    if let Some(verdict) = verdict(workspace, &file)
        && let Some(report) = &recorded.replayed
        && !report.changed_verdicts.is_empty()
    {
        let flips = report.changed_verdicts.len();
        let what = if flips == 1 { "verdict would flip" } else { "verdicts would flip" };
        add(&verdict, format!("{flips} {what}"), SHOW_FLIPS, vec![json!("verdict")]);
    }
    Some(found)
}

/// The decisions that an edge or rule has won or lost.
fn of_rule(report: &ReplayReport, id: &str) -> usize {
    report.flips.iter().filter(|flip| flip.from == id || flip.to == id).count()
}

/// What the flips of verdicts are shown at: the first rule of a pipeline's verdict, the first signature of a file, or the first function that
/// a verdict uses in a script.
fn verdict(workspace: &EditedProject, file: &ProjectFile) -> Option<Definition> {
    let first = |kind: NameKind| file.names.definitions.iter().find(|one| one.name.kind == kind).cloned();
    match file.language {
        FileLanguage::Pipeline => first(NameKind::Rule),
        FileLanguage::Data => first(NameKind::Signature),
        FileLanguage::Script => {
            let roles = &workspace.analysis.as_ref()?.roles;
            let of_verdict = |role: &&FunctionRole| {
                role.file == file.name && matches!(role.place, FunctionUse::VerdictRule(_) | FunctionUse::SignatureStrength)
            };
            let is_used = |one: &&Definition| roles.iter().filter(of_verdict).any(|role| role.function == one.name.text);
            file.names.definitions.iter().find(is_used).cloned()
        }
        _ => None,
    }
}
