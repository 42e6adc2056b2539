//! `templates/unfenced-text`: external texts without a fence.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule, OptionDefault, RuleOption};
use crate::tags::{TagKind, filters, paths, tags};
use asterisk_diag::{Diagnostic, Span};

pub(super) const RULE: LintRule = LintRule {
    id: "templates/unfenced-text",
    level: LintLevel::Warning,
    summary: "external text in a prompt without a fence",
    manual: include_str!("../../manual/templates/unfenced-text.md"),
    options: &[RuleOption {
        name: "outside",
        default: OptionDefault::Texts(&[
            "failure.name",
            "failure.suite",
            "failure.file",
            "failure.error_message",
            "failure.log_snippet",
            "failure.source_defect",
            "siblings[].name",
            "siblings[].suite",
            "siblings[].error_message",
            "envelope.name",
            "git.branch",
            "git.remote",
        ]),
        doc: "The parameters that hold external text.",
    }],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    let outside = RULE.texts(cx.config, "outside");
    for path in cx.templates.paths() {
        let Some(source) = cx.templates.get(path).map(|template| template.source().clone()) else { continue };
        for tag in tags(&source).into_iter().filter(|tag| tag.sort == TagKind::Value) {
            let filters = filters(&tag.inner);
            if filters.iter().any(|filter| SAFE.contains(filter)) {
                continue;
            }
            // The value shown is the part before a filter or an `if`.
            let shown = tag.inner.split(" if ").next().unwrap_or_default().split('|').next().unwrap_or_default();
            for (named, at) in paths(shown) {
                let full = tag.resolve(&named);
                let Some(known) = outside.iter().find(|known| full == known.as_str()) else { continue };
                let span = Span::new(tag.span.start + at, tag.span.start + at + named.len());
                let found = Diagnostic::warning(RULE.id, format!("`{known}` is external text, shown without a fence"));
                let found = found.label(&source, span, "may contain anything");
                report.push(found.help(format!("write `{{{{ {named} | code }}}}`, or `| fence` for several lines")));
            }
        }
    }
}

/// Filters that fence a text, or convert it to something harmless.
const SAFE: [&str; 6] = ["fence", "code", "length", "count", "int", "float"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn fenced_texts_and_other_types_are_accepted() {
        for text in [
            "{{ failure.log_snippet | fence }}",
            "{{ siblings | length }}",
            "{% for s in siblings[:9] %}{{ s.name | code }}{% endfor %}",
            "{{ failure.duration_s }}",
            "{% if failure.error_message %}there is one{% endif %}",
            "{{ \"x\" if failure.error_message else \"y\" }}",
        ] {
            assert_eq!(found(RULE.id, &Example::template(text)), [""; 0], "{text}");
        }
        let text = "{% for s in siblings %}{{ s.error_message[:160] }}{% endfor %}";
        assert_eq!(found(RULE.id, &Example::template(text)), ["s.error_message"]);
    }
}
