//! What the linter finds, as diagnostics.

use super::analysis::ProjectAnalysis;
use super::documents::IndexedText;
use super::location::uri_of;
use super::project_file::FileLanguage;
use super::workspace::EditedProject;
use asterisk_diag::{Diagnostics, Span};
use asterisk_form::yaml;
use asterisk_lint::{LintFinding, LintLevel, LintReport};
use asterisk_script::Unit;
use gen_lsp_types::{
    Code, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location, Message,
    PublishDiagnosticsParams,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The diagnostics of an analysis by file, with empty lists for files that had some before. Documents that have changed since are left to the
/// next analysis.
pub(super) fn of(
    workspace: &EditedProject,
    analysis: &ProjectAnalysis,
    published: &mut BTreeSet<PathBuf>,
) -> Vec<PublishDiagnosticsParams> {
    let mut by_file: BTreeMap<PathBuf, Vec<&LintFinding>> = BTreeMap::new();
    for path in published.iter() {
        by_file.insert(path.clone(), Vec::new());
    }
    for (path, _) in workspace.documents.iter() {
        by_file.insert(path.clone(), Vec::new());
    }
    for finding in &analysis.findings {
        if let Some(path) = path(analysis, finding) {
            by_file.entry(path).or_default().push(finding);
        }
    }
    published.clear();
    let mut all = Vec::new();
    for (path, findings) in by_file {
        let open = workspace.documents.get(&path);
        let analysed = analysis.files.iter().find(|file| file.key() == path);
        if let (Some(open), Some(file)) = (open, analysed)
            && *open.text.text != *file.text()
        {
            published.insert(path);
            continue;
        }
        let diagnostics: Vec<Diagnostic> = findings.iter().map(|finding| diagnostic(workspace, analysis, finding)).collect();
        if !diagnostics.is_empty() {
            published.insert(path.clone());
        }
        let uri = open.map_or_else(|| uri_of(&path), |open| open.uri.clone());
        all.push(PublishDiagnosticsParams { uri, version: open.map(|open| open.version), diagnostics });
    }
    all
}

/// The syntax errors of a document, which need not wait for the analysis; `None` if it has none.
pub(super) fn of_syntax(workspace: &EditedProject, path: &Path) -> Option<PublishDiagnosticsParams> {
    let (analysis, open) = (workspace.analysis.as_ref()?, workspace.documents.get(path)?);
    let file = workspace.file(path).filter(|file| !file.bundled)?;
    let found = match file.language {
        FileLanguage::Script => Diagnostics::from(Unit::read(file.source()).err()?),
        FileLanguage::Template => return None,
        _ => yaml::parse(file.source()).err()?,
    };
    let findings = LintReport::unreadable(found).findings;
    let diagnostics = findings.iter().map(|finding| diagnostic(workspace, analysis, finding)).collect();
    Some(PublishDiagnosticsParams { uri: open.uri.clone(), version: Some(open.version), diagnostics })
}

/// The path of the file that a finding is about; `None` for a bundled one.
pub(super) fn path(analysis: &ProjectAnalysis, finding: &LintFinding) -> Option<PathBuf> {
    let file = analysis.files.iter().find(|file| file.shown == finding.file());
    match file {
        Some(file) if file.bundled => None,
        Some(file) => Some(file.key().to_owned()),
        None => Some(analysis.root.join(Path::new(finding.file()))),
    }
}

/// A finding as a diagnostic.
pub(super) fn diagnostic(workspace: &EditedProject, analysis: &ProjectAnalysis, finding: &LintFinding) -> Diagnostic {
    let found = &finding.diagnostic;
    let unit = workspace.documents.unit;
    let range = |source: &asterisk_diag::Source, span: Span| {
        let text = IndexedText::new(source.text(), unit);
        text.lines.range(&text.text, span)
    };
    let place = found.primary();
    let related = found.labels.iter().filter(|label| Some(*label) != place).filter_map(|label| {
        let file = analysis.files.iter().find(|file| file.shown == label.source.name())?;
        let location = Location { uri: workspace.uri(file)?, range: range(&label.source, label.span) };
        Some(DiagnosticRelatedInformation { location, message: label.text.clone() })
    });
    let related: Vec<DiagnosticRelatedInformation> = related.collect();
    let help = found.help.as_ref().map_or(String::new(), |help| format!("\n{help}"));
    Diagnostic {
        range: place.map(|label| range(&label.source, label.span)).unwrap_or_default(),
        severity: Some(match finding.level {
            LintLevel::Error => DiagnosticSeverity::Error,
            LintLevel::Warning => DiagnosticSeverity::Warning,
            _ => DiagnosticSeverity::Information,
        }),
        code: Some(Code::String(finding.rule.to_owned())),
        source: Some("asterisk".to_owned()),
        message: Message::String(format!("{}{help}", found.message)),
        tags: finding.rule.contains("unused").then(|| vec![DiagnosticTag::Unnecessary]),
        related_information: (!related.is_empty()).then_some(related),
        data: Some(json!(finding.fingerprint.to_string())),
        ..Diagnostic::default()
    }
}

/// All diagnostics of the last analysis, whether published or not, and its revision: for tests and for finding out what is wrong.
pub(super) fn state(workspace: &EditedProject) -> Value {
    let Some(analysis) = &workspace.analysis else { return Value::Null };
    let one = |finding: &LintFinding| {
        json!({
            "file": finding.file(), "rule": finding.rule, "start": finding.start(), "end": finding.end(),
            "message": finding.diagnostic.message,
        })
    };
    let mut names: Vec<String> = Vec::new();
    for file in workspace.files().iter().filter(|file| !file.bundled && file.names.whole) {
        let of = |mention: &super::names::Mention| {
            format!("{} {}..{} {:?} {:?}", file.shown, mention.span.start, mention.span.end, mention.role, mention.name)
        };
        names.extend(file.names.mentions.iter().map(of));
    }
    names.sort();
    json!({
        "revision": analysis.revision,
        "files": workspace.files().len(),
        "names": names,
        "findings": analysis.findings.iter().map(one).collect::<Vec<_>>(),
    })
}
