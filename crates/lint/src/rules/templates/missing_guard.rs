//! `templates/missing-guard`: optional values used without a check.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use crate::tags::{TemplateTag, filters, paths, tags};
use asterisk_diag::{Diagnostic, Span};
use std::collections::BTreeSet;

pub(super) const RULE: LintRule = LintRule {
    id: "templates/missing-guard",
    level: LintLevel::Warning,
    summary: "an optional value used without a check",
    manual: include_str!("../../manual/templates/missing-guard.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for path in cx.templates.paths() {
        let Some(source) = cx.templates.get(path).map(|template| template.source().clone()) else { continue };
        let mut reported = BTreeSet::new();
        for tag in tags(&source) {
            for (named, at) in paths(&tag.inner) {
                let full = tag.resolve(&named);
                let Some(needed) = needed(&full) else { continue };
                // The list of a loop is checked where the loop begins.
                if full != named
                    || checked(&tag, &needed)
                    || has_default(&tag.inner, &named, &needed)
                    || by_includer(cx, path, &needed, 3)
                {
                    continue;
                }
                if reported.insert(needed.clone()) {
                    let span = Span::new(tag.span.start + at, tag.span.start + at + named.len());
                    let found = Diagnostic::warning(RULE.id, format!("`{needed}` may be absent"));
                    let found = found.label(&source, span, "used without a check");
                    report.push(found.help(format!("put it into `{{% if {needed} is defined %}}`")));
                }
            }
        }
    }
}

/// The optional prefix of a path.
fn needed(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('.').collect();
    let most = match parts.as_slice() {
        ["prior", _, ..] => 2,
        ["state", "context", _, ..] => 3,
        _ => return None,
    };
    Some(parts[..most].join("."))
}

fn checked(tag: &TemplateTag, needed: &str) -> bool {
    let ask = format!("{needed} is ");
    tag.inner.contains(&ask) || tag.conditions.iter().any(|condition| condition.contains(&ask))
}

/// Whether a `default` filter applies to exactly the optional part.
fn has_default(inner: &str, named: &str, needed: &str) -> bool {
    named == needed && filters(inner).contains(&"default")
}

/// Whether every template that includes this one checks first.
fn by_includer(cx: &LintContext<'_>, path: &str, needed: &str, levels: usize) -> bool {
    let mut any = false;
    for other in cx.templates.paths().filter(|other| cx.templates.includes(other).iter().any(|name| name == path)) {
        any = true;
        let Some(source) = cx.templates.get(other).map(|template| template.source().clone()) else { return false };
        let includes = |tag: &TemplateTag| tag.inner.starts_with("include") && tag.inner.contains(path);
        let all = tags(&source).iter().filter(|tag| includes(tag)).all(|tag| checked(tag, needed));
        let above = || levels > 0 && by_includer(cx, other, needed, levels - 1);
        if !(all || above()) {
            return false;
        }
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn guarded_uses_are_accepted() {
        for text in [
            "{% if prior.look is defined and prior.look.match %}{{ prior.look.label | code }}{% endif %}",
            "{% if prior.look is not defined %}new{% else %}{{ prior.look.kind }}{% endif %}",
            "{{ state.context.note | default(\"none\") }}",
            "{{ state.loops.again }} {{ prior | length }}",
            "{{ \"prior.look.kind\" }}",
        ] {
            assert_eq!(found(RULE.id, &Example::template(text)), [""; 0], "{text}");
        }
        for (text, want) in [
            ("{{ prior.look.label | default(\"x\") | code }}", "prior.look.label"),
            ("{% if prior.look is defined %}{% endif %}{{ prior.look.kind }}", "prior.look.kind"),
            ("{% for place in prior.look.places %}{{ place.weight }}{% endfor %}", "prior.look.places"),
            ("{% if state.context.note %}x{% endif %}", "state.context.note"),
        ] {
            assert_eq!(found(RULE.id, &Example::template(text)), [want], "{text}");
        }
    }
}
