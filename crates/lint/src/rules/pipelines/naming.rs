//! `pipelines/naming`: names that break the naming convention.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::{Diagnostic, Span};
use regex::Regex;
use std::sync::LazyLock;

pub(super) const RULE: LintRule = LintRule {
    id: "pipelines/naming",
    level: LintLevel::Note,
    summary: "a name that breaks the naming convention",
    manual: include_str!("../../manual/pipelines/naming.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        let pipeline = pipe.pipeline;
        let mut check_name = |what: &str, name: &str, span: Span, fits: &Regex, form: &str| {
            if !fits.is_match(name) {
                let found = Diagnostic::warning(RULE.id, format!("the name of the {what} `{name}` is not {form}"));
                let found = found.label(&pipeline.source, span, "");
                report.push(found.help(format!("rename it to `{}`", plain(name, form))));
            }
        };
        check_name("pipeline", &pipeline.name, pipeline.name.span, &WORDS, DASHED);
        // Names of stages are titles, which tasks quote.
        for node in pipeline.nodes.iter().filter(|_| !pipeline.stages) {
            check_name("node", &node.name, node.name.span, &WORDS, DASHED);
        }
        for zone in &pipeline.zones {
            check_name("zone", &zone.name, zone.name.span, &WORDS, DASHED);
        }
        for edge in &pipeline.edges {
            check_name("edge", &edge.id, edge.id.span, &IDS, "letters, digits, dashes and underscores");
        }
        for (name, var) in &pipeline.vars {
            check_name("var", name, var.default.span, &SNAKE, "lower_case");
        }
    }
}

const DASHED: &str = "lower-case words";

/// The name in conventional form.
fn plain(name: &str, form: &str) -> String {
    let mut out = String::new();
    for (at, c) in name.chars().enumerate() {
        let lower = out.chars().last().is_some_and(|last| last.is_lowercase() || last.is_ascii_digit());
        if c.is_uppercase() && at > 0 && lower && form != "letters, digits, dashes and underscores" {
            out.push(if form == DASHED { '-' } else { '_' });
        }
        let kept = if form.starts_with("lower") { c.to_lowercase().next().unwrap_or(c) } else { c };
        out.push(if kept.is_ascii_alphanumeric() || kept == '_' || kept == '-' && form != "lower_case" { kept } else { '_' });
    }
    out
}

static WORDS: LazyLock<Regex> = LazyLock::new(|| Regex::new("^[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*$").expect("a pattern"));
static SNAKE: LazyLock<Regex> = LazyLock::new(|| Regex::new("^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$").expect("a pattern"));
static IDS: LazyLock<Regex> = LazyLock::new(|| Regex::new("^[A-Za-z0-9][A-Za-z0-9_-]*$").expect("a pattern"));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn names_are_converted() {
        assert_eq!(plain("ReallyMost", "lower_case"), "really_most");
        assert_eq!(plain("Front Court", DASHED), "front_court");
        assert_eq!(plain("max-loops", "lower_case"), "max_loops");
        assert_eq!(found(RULE.id, &Example::edges("  - { id: \"A.1\", from: look, to: judge }\n")), ["\"A.1\""]);
    }
}
