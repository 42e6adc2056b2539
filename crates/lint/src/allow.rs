//! `// lint: allow(id) reason` comments, which suppress findings, and findings about the comments themselves.

use super::config::Config;
use super::finding::FindingCollector;
use super::level::LintLevel;
use super::registry::{find as find_rule, rules};
use asterisk_diag::{self as diag, Comments, Diagnostic, Span, did_you_mean};
use asterisk_files::Area;
use asterisk_script::Unit;
use asterisk_session::ProjectText;
use std::collections::BTreeMap;

/// The start of an allow, after the comment sign.
const MARK: &str = "lint: allow(";

/// An id in an allow comment, and whether it suppressed anything.
pub(super) struct LintAllow {
    inner: diag::Allow,
    area: Area,
    asked: bool,
    used: bool,
}

/// Finds all allow comments of the texts.
pub(super) fn find(texts: &[ProjectText], units: &[&Unit]) -> Vec<LintAllow> {
    let units: BTreeMap<&str, &&Unit> = units.iter().map(|unit| (unit.name(), unit)).collect();
    let of = |text: &ProjectText| {
        let unit = units.get(text.source.name()).filter(|_| text.area == Area::Scripts);
        let comments = match text.area {
            Area::Templates => Comments::Template,
            Area::Scripts | Area::Tests if text.source.name().ends_with(".rhai") => Comments::Slashes,
            Area::Scripts | Area::Tests | Area::Pipelines => Comments::Hash,
        };
        // In a string literal it is not a comment.
        let quoted = |at: usize| unit.is_some_and(|unit| unit.tokens().covers(at));
        let found = diag::Allow::find(&text.source, MARK, comments, quoted);
        let (area, asked) = (text.area, text.requested);
        found.into_iter().map(move |inner| LintAllow { inner, area, asked, used: false }).collect::<Vec<LintAllow>>()
    };
    texts.iter().flat_map(of).collect()
}

/// Whether an allow comment suppresses a finding.
pub(super) fn covers(allows: &mut [LintAllow], text: Option<&ProjectText>, finding: &Diagnostic) -> bool {
    let (Some(text), Some(label)) = (text, finding.primary()) else { return false };
    let mut covered = false;
    for allow in allows.iter_mut().filter(|allow| allow.area == text.area && allow.inner.source.name() == text.source.name()) {
        if allow.inner.covers(&finding.code, label.span.start) {
            allow.used = true;
            covered = true;
        }
    }
    covered
}

/// Reports allow comments that name an unknown rule, give no reason, or suppress nothing.
pub(super) fn report_misuse(allows: &[LintAllow], config: &Config, report: &mut FindingCollector) {
    for LintAllow { inner: allow, .. } in allows.iter().filter(|allow| allow.asked && !allow.used) {
        let id = allow.id();
        let Some(rule) = find_rule(id) else {
            let known = rules().map(|rule| rule.id);
            let found = Diagnostic::warning("allows/unknown-rule", format!("unknown rule `{id}`"));
            let found = found.label(&allow.source, allow.id, "allowed here");
            let found = found.help("asterisk lint --list shows them").maybe_help(did_you_mean(id, known));
            report.push(found);
            continue;
        };
        if allow.reason.is_empty() {
            let found =
                Diagnostic::warning("allows/without-reason", format!("this allow of `{id}` has no reason, and is ignored"));
            let found = found.label(&allow.source, allow.comment, "no reason");
            report.push(found.help(format!("write the reason after the id: `lint: allow({id}) why it is right here`")));
            continue;
        }
        if rule.level_in(config) == Some(LintLevel::Off) {
            continue;
        }
        let found = Diagnostic::warning("allows/unused", format!("`{id}` reports nothing here"));
        let found = found.label(&allow.source, allow.id, "suppresses nothing").help("remove it");
        if allow.alone {
            let span = whole(allow);
            report.fixable(found, "remove the allow comment", &allow.source, span, "");
        } else {
            report.push(found);
        }
    }
}

/// The span to delete with a comment: its whole line, if nothing else is on it, otherwise the comment and the white space before
/// it.
fn whole(allow: &diag::Allow) -> Span {
    let all = allow.source.text();
    let line = all[..allow.comment.start].rfind('\n').map_or(0, |start| start + 1);
    let ends_line = all[allow.comment.end..].starts_with('\n') || allow.comment.end == all.len();
    if all[line..allow.comment.start].trim().is_empty() && ends_line {
        return Span::new(line, (allow.comment.end + 1).min(all.len()));
    }
    let before = all[line..allow.comment.start].trim_end().len();
    Span::new(line + before, allow.comment.end)
}
