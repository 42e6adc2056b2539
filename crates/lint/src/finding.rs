//! Findings and fixes.

use super::level::LintLevel;
use asterisk_base::model::Hash;
use asterisk_diag::{Diagnostic, Source, Span};
use serde_json::{Value, json};

/// A replacement of a span of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    pub source: Source,
    /// The span to replace.
    pub span: Span,
    /// The replacement.
    pub text: String,
}

/// An automatic fix of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// A short description.
    pub title: String,
    /// The replacements.
    pub edits: Vec<TextEdit>,
}

/// A finding of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct LintFinding {
    /// The id of the rule.
    pub rule: &'static str,
    pub level: LintLevel,
    /// The diagnostic; its code is the rule's id.
    pub diagnostic: Diagnostic,
    /// The automatic fix, if there is one.
    pub fix: Option<Fix>,
    /// Whether an allow comment suppresses it: errors that prevent linking, and misuse of allow comments, stay.
    pub can_be_allowed: bool,
    /// Identifies the finding independently of line numbers: the hash of the rule, the file, the text of the line, and the number
    /// of identical findings before it.
    pub fingerprint: Hash,
}

impl LintFinding {
    /// The name of the file; the project file for findings without a location.
    pub fn file(&self) -> &str {
        self.diagnostic.primary().map_or(NOWHERE, |label| label.source.name())
    }

    /// The line and column of its start, from 1.
    pub fn start(&self) -> (usize, usize) {
        self.diagnostic.primary().map_or((1, 1), |label| label.source.line_column(label.span.start))
    }

    /// The line and column of its end, from 1.
    pub fn end(&self) -> (usize, usize) {
        self.diagnostic.primary().map_or((1, 1), |label| label.source.line_column(label.span.end))
    }
}

/// The file of findings without a location: these concern the settings.
const NOWHERE: &str = "asterisk.yaml";

/// Collects the findings of rules.
#[derive(Debug, Default)]
pub(super) struct FindingCollector {
    pub(super) found: Vec<(Diagnostic, Option<Fix>)>,
}

impl FindingCollector {
    /// Adds a finding: a diagnostic whose code is the rule's id.
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push((diagnostic, None));
    }

    /// Adds several findings.
    pub(super) fn extend(&mut self, found: impl IntoIterator<Item = Diagnostic>) {
        self.found.extend(found.into_iter().map(|one| (one, None)));
    }

    /// Adds a finding that can be fixed by replacing one span.
    pub(super) fn fixable(&mut self, diagnostic: Diagnostic, title: &str, source: &Source, span: Span, text: impl Into<String>) {
        let edits = vec![TextEdit { source: source.clone(), span, text: text.into() }];
        self.found.push((diagnostic, Some(Fix { title: title.to_owned(), edits })));
    }
}

/// Serialises findings as `lint --format json` prints them.
pub fn json(findings: &[LintFinding]) -> Value {
    let one = |finding: &LintFinding| {
        let (line, column) = finding.start();
        let mut one = json!({
            "rule": finding.rule, "severity": finding.level.name(), "file": finding.file(), "line": line, "column": column,
            "message": finding.diagnostic.message,
        });
        if let Some(help) = &finding.diagnostic.help {
            one["help"] = json!(help);
        }
        one
    };
    json!({ "schema_version": 1, "findings": findings.iter().map(one).collect::<Vec<_>>() })
}
