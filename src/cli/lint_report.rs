//! Findings in the formats of other programs: SARIF 2.1.0, GitHub workflow commands, `JUnit` XML.

use super::junit::{self, JunitCase, JunitNote, JunitSuite};
use asterisk_lint::{self as lint, LintFinding, LintLevel, TextEdit};
use asterisk_report::{github_command, sarif_log, sarif_uri};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A SARIF log with one run.
pub(super) fn sarif(findings: &[LintFinding]) -> Value {
    let rules: Vec<&lint::LintRule> = lint::rules().collect();
    let rule = |rule: &&lint::LintRule| {
        let manual = rule.manual();
        let help = format!("# {}\n\n{manual}", rule.id);
        json!({
            "id": rule.id,
            "shortDescription": { "text": rule.summary },
            "fullDescription": { "text": manual.lines().next().unwrap_or_default() },
            "help": { "text": manual, "markdown": help },
            "defaultConfiguration": { "level": level(rule.level) },
            "properties": { "tags": [rule.category()] },
        })
    };
    let result = |finding: &LintFinding| {
        let ((line, column), (end_line, end_column)) = (finding.start(), finding.end());
        let region = json!({ "startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column });
        let help = finding.diagnostic.help.as_ref().map_or(String::new(), |help| format!("\n{help}"));
        let mut result = json!({
            "ruleId": finding.rule,
            "ruleIndex": rules.iter().position(|rule| rule.id == finding.rule),
            "level": level(finding.level),
            "message": { "text": format!("{}{help}", finding.diagnostic.message) },
            "locations": [{ "physicalLocation": { "artifactLocation": { "uri": sarif_uri(finding.file()) }, "region": region } }],
            "partialFingerprints": { "asteriskLint/v1": finding.fingerprint.to_string() },
        });
        let related: Vec<Value> = finding.diagnostic.labels.iter().skip(1).enumerate().map(related).collect();
        if !related.is_empty() {
            result["relatedLocations"] = json!(related);
        }
        if let Some(fix) = &finding.fix {
            let replacements: Vec<Value> = fix.edits.iter().map(replacement).collect();
            let change = json!({ "artifactLocation": { "uri": sarif_uri(finding.file()) }, "replacements": replacements });
            result["fixes"] = json!([{ "description": { "text": fix.title }, "artifactChanges": [change] }]);
        }
        result
    };
    let rules_shown: Vec<Value> = rules.iter().map(rule).collect();
    sarif_log(&rules_shown, &findings.iter().map(result).collect::<Vec<_>>())
}

fn level(level: LintLevel) -> &'static str {
    match level {
        LintLevel::Off => "none",
        level => level.name(),
    }
}

fn related((at, label): (usize, &asterisk_diag::Label)) -> Value {
    let (line, column) = label.source.line_column(label.span.start);
    let (end_line, end_column) = label.source.line_column(label.span.end);
    json!({
        "id": at + 1,
        "message": { "text": label.text },
        "physicalLocation": {
            "artifactLocation": { "uri": sarif_uri(label.source.name()) },
            "region": { "startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column },
        },
    })
}

fn replacement(edit: &TextEdit) -> Value {
    let (line, column) = edit.source.line_column(edit.span.start);
    let (end_line, end_column) = edit.source.line_column(edit.span.end);
    json!({
        "deletedRegion": { "startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column },
        "insertedContent": { "text": edit.text },
    })
}

/// A workflow command that GitHub shows as an annotation.
pub(super) fn github(finding: &LintFinding) -> String {
    let ((line, column), (end_line, end_column)) = (finding.start(), finding.end());
    let word = match finding.level {
        LintLevel::Error => "error",
        LintLevel::Warning => "warning",
        LintLevel::Note | LintLevel::Off => "notice",
    };
    let help = finding.diagnostic.help.as_ref().map_or(String::new(), |help| format!("\n{help}"));
    let mut properties = vec![("file", finding.file().to_owned()), ("line", line.to_string()), ("endLine", end_line.to_string())];
    if line == end_line {
        properties.extend([("col", column.to_string()), ("endColumn", end_column.to_string())]);
    }
    properties.push(("title", finding.rule.to_owned()));
    github_command(word, &properties, &format!("{}{help}", finding.diagnostic.message))
}

/// `JUnit` XML: one suite per file, one failure per finding. Notes are not failures.
pub(super) fn junit(findings: &[LintFinding], texts: usize) -> String {
    let mut files: BTreeMap<&str, Vec<JunitCase>> = BTreeMap::new();
    for finding in findings {
        let (line, column) = finding.start();
        let (file, message) = (finding.file(), &finding.diagnostic.message);
        let text = format!("{file}:{line}:{column}: {message}\n{}", finding.diagnostic.help.as_deref().unwrap_or_default());
        let note = if finding.level > LintLevel::Note {
            let attributes = vec![("type", finding.level.name().to_owned()), ("message", message.clone())];
            JunitNote { element: "failure", attributes, text }
        } else {
            JunitNote { element: "system-out", attributes: Vec::new(), text }
        };
        let case = JunitCase { name: finding.rule.to_owned(), line: Some(line), notes: vec![note], ..JunitCase::default() };
        files.entry(file).or_default().push(case);
    }
    let clean = texts.saturating_sub(files.len());
    let suite = |(name, cases): (&str, _)| JunitSuite { name: name.to_owned(), cases, ..JunitSuite::default() };
    let mut suites: Vec<JunitSuite> = files.into_iter().map(suite).collect();
    if clean > 0 {
        let case = |at| JunitCase { name: format!("file {at} of {clean}"), ..JunitCase::default() };
        suites.push(suite(("without findings", (1..=clean).map(case).collect())));
    }
    junit::write("asterisk lint", &suites, 0.0)
}
