//! A finding, and how it can be mended.

use super::level::LintLevel;
use crate::diag::{Diagnostic, Source, Span};
use crate::model::Hash;
use serde_json::{Value, json};

/// A replacement of a part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The text.
    pub source: Source,
    /// What is replaced.
    pub span: Span,
    /// By what.
    pub text: String,
}

/// How a finding can be mended without thinking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, in a few words.
    pub title: String,
    /// The replacements.
    pub edits: Vec<TextEdit>,
}

/// A finding of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct LintFinding {
    /// The rule's id.
    pub rule: &'static str,
    /// How bad it is.
    pub level: LintLevel,
    /// What is wrong, where, and what to do. Its code is the rule's id.
    pub diagnostic: Diagnostic,
    /// How to mend it.
    pub fix: Option<Fix>,
    /// What it is known by when lines move: the rule, the file, the line's text, and how many alike stand before it.
    pub fingerprint: Hash,
}

impl LintFinding {
    /// The file's name; the project file for what has no place of its own.
    pub fn file(&self) -> &str {
        self.diagnostic.primary().map_or(NOWHERE, |label| label.source.name())
    }

    /// Line and column, from 1.
    pub fn start(&self) -> (usize, usize) {
        self.diagnostic.primary().map_or((1, 1), |label| label.source.line_column(label.span.start))
    }

    /// Line and column of its end.
    pub fn end(&self) -> (usize, usize) {
        self.diagnostic.primary().map_or((1, 1), |label| label.source.line_column(label.span.end))
    }
}

/// What has no place is about the settings.
const NOWHERE: &str = "asterisk.yaml";

/// Collects what rules find.
#[derive(Debug, Default)]
pub(super) struct FindingCollector {
    pub(super) found: Vec<(Diagnostic, Option<Fix>)>,
}

impl FindingCollector {
    /// A finding: a diagnostic whose code is the rule's id.
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push((diagnostic, None));
    }

    /// Several findings.
    pub(super) fn extend(&mut self, found: impl IntoIterator<Item = Diagnostic>) {
        self.found.extend(found.into_iter().map(|one| (one, None)));
    }

    /// A finding that can be mended by replacing one part of its text.
    pub(super) fn fixable(&mut self, diagnostic: Diagnostic, title: &str, source: &Source, span: Span, text: impl Into<String>) {
        let edits = vec![TextEdit { source: source.clone(), span, text: text.into() }];
        self.found.push((diagnostic, Some(Fix { title: title.to_owned(), edits })));
    }
}

/// The contract of `lint --format json`.
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
