//! Findings in the formats of other programs: JSON, SARIF 2.1.0, commands of GitHub, `JUnit` XML.

use crate::lint::{self, LintFinding, LintLevel, TextEdit};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

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
            "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(finding.file()) }, "region": region } }],
            "partialFingerprints": { "asteriskLint/v1": finding.fingerprint.to_string() },
        });
        let related: Vec<Value> = finding.diagnostic.labels.iter().skip(1).enumerate().map(related).collect();
        if !related.is_empty() {
            result["relatedLocations"] = json!(related);
        }
        if let Some(fix) = &finding.fix {
            let replacements: Vec<Value> = fix.edits.iter().map(replacement).collect();
            let change = json!({ "artifactLocation": { "uri": uri(finding.file()) }, "replacements": replacements });
            result["fixes"] = json!([{ "description": { "text": fix.title }, "artifactChanges": [change] }]);
        }
        result
    };
    let driver = json!({
        "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION"), "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": rules.iter().map(rule).collect::<Vec<_>>(),
    });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "columnKind": "unicodeCodePoints",
            "results": findings.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn level(level: LintLevel) -> &'static str {
    match level {
        LintLevel::Off => "none",
        level => level.name(),
    }
}

fn related((at, label): (usize, &crate::diag::Label)) -> Value {
    let (line, column) = label.source.line_column(label.span.start);
    let (end_line, end_column) = label.source.line_column(label.span.end);
    json!({
        "id": at + 1,
        "message": { "text": label.text },
        "physicalLocation": {
            "artifactLocation": { "uri": uri(label.source.name()) },
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

/// A path as a URI reference: what a path may have and a reference may not is escaped.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    if path.starts_with('/') { format!("file://{out}") } else { out }
}

/// A command that GitHub shows beside the code.
pub(super) fn github(finding: &LintFinding) -> String {
    let ((line, column), (end_line, end_column)) = (finding.start(), finding.end());
    let word = match finding.level {
        LintLevel::Error => "error",
        LintLevel::Warning => "warning",
        LintLevel::Note | LintLevel::Off => "notice",
    };
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let help = finding.diagnostic.help.as_ref().map_or(String::new(), |help| format!("\n{help}"));
    let columns = if line == end_line { format!(",col={column},endColumn={end_column}") } else { String::new() };
    format!(
        "::{word} file={},line={line},endLine={end_line}{columns},title={}::{}",
        property(finding.file()),
        property(finding.rule),
        data(&format!("{}{help}", finding.diagnostic.message))
    )
}

/// `JUnit` XML: a suite a file, a failure a finding. Notes are no failures.
pub(super) fn junit(findings: &[LintFinding], texts: usize) -> String {
    let mut files: BTreeMap<&str, Vec<&LintFinding>> = BTreeMap::new();
    for finding in findings {
        files.entry(finding.file()).or_default().push(finding);
    }
    let fails = |finding: &&&LintFinding| finding.level > LintLevel::Note;
    let failures = findings.iter().filter(|finding| finding.level > LintLevel::Note).count();
    let clean = texts.saturating_sub(files.len());
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"asterisk lint\" tests=\"{}\" failures=\"{failures}\">", findings.len() + clean);
    for (file, findings) in &files {
        let failures = findings.iter().filter(fails).count();
        let name = xml(file);
        let _ = writeln!(out, "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failures}\">", findings.len());
        for finding in findings {
            let (line, column) = finding.start();
            let help = finding.diagnostic.help.as_deref().unwrap_or_default();
            let text = xml(&format!("{file}:{line}:{column}: {}\n{help}", finding.diagnostic.message));
            let message = xml(&finding.diagnostic.message);
            let head = format!("    <testcase name=\"{}\" classname=\"{name}\" file=\"{name}\" line=\"{line}\">", finding.rule);
            let body = if finding.level > LintLevel::Note {
                format!("<failure type=\"{}\" message=\"{message}\">{text}</failure>", finding.level.name())
            } else {
                format!("<system-out>{text}</system-out>")
            };
            let _ = writeln!(out, "{head}{body}</testcase>");
        }
        out.push_str("  </testsuite>\n");
    }
    if clean > 0 {
        let _ = writeln!(out, "  <testsuite name=\"without findings\" tests=\"{clean}\" failures=\"0\">");
        for at in 1..=clean {
            let _ = writeln!(out, "    <testcase name=\"file {at} of {clean}\" classname=\"without findings\"/>");
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn xml(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
