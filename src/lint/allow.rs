//! `// lint: allow(id) reason`: findings that a person has looked at, and complaints of allows that allow nothing.

use super::config::Config;
use super::finding::Report;
use super::registry::{find as find_rule, rules};
use super::rule::Level;
use crate::diag::{Diagnostic, Source, Span, did_you_mean};
use crate::files::Area;
use crate::script::Unit;
use crate::session::Text;
use std::collections::BTreeMap;

/// What an allow begins with, behind the sign of a comment.
const MARK: &str = "lint: allow(";

/// An id in an allow.
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct Allow {
    source: Source,
    area: Area,
    asked: bool,
    /// The whole comment.
    comment: Span,
    /// The id in it.
    id: Span,
    /// Whether it is the only id of its comment.
    alone: bool,
    has_reason: bool,
    /// The lines it is about, as bytes.
    lines: Span,
    used: bool,
}

/// All allows of the texts. One at the end of a line is about that line; one on a line of its own about the next line that
/// is no comment.
pub(super) fn find(texts: &[Text], units: &[&Unit]) -> Vec<Allow> {
    let units: BTreeMap<&str, &&Unit> = units.iter().map(|unit| (unit.name(), unit)).collect();
    let mut found = Vec::new();
    for text in texts.iter().filter(|text| text.source.text().contains(MARK)) {
        let unit = units.get(text.source.name()).filter(|_| text.area == Area::Scripts);
        for (at, _) in text.source.text().match_indices(MARK) {
            // In a string it is a string.
            let quoted = unit.is_some_and(|unit| {
                let lexemes = unit.tokens().lexemes();
                let before = lexemes.partition_point(|lexeme| lexeme.span.start <= at);
                before > 0 && lexemes[before - 1].span.end > at
            });
            if !quoted {
                found.extend(read(text, at));
            }
        }
    }
    found
}

/// The sign of a comment that stands before the mark.
fn opened(text: &Text, before: &str) -> Option<&'static str> {
    let signs: &[&str] = match text.area {
        Area::Templates => &["{#"],
        Area::Scripts | Area::Tests if text.source.name().ends_with(".rhai") => &["//", "/*"],
        Area::Scripts | Area::Tests | Area::Pipelines => &["#"],
    };
    signs.iter().find(|sign| before.trim_end().trim_end_matches('-').ends_with(**sign)).copied()
}

fn read(text: &Text, at: usize) -> Vec<Allow> {
    let all = text.source.text();
    let line_start = all[..at].rfind('\n').map_or(0, |start| start + 1);
    let line_end = all[at..].find('\n').map_or(all.len(), |end| at + end);
    let Some(sign) = opened(text, &all[line_start..at]) else { return Vec::new() };
    let start = all[line_start..at].rfind(sign).map_or(at, |start| line_start + start);
    // One that a comment speaks of is none.
    let before = &all[line_start..start];
    let in_comment = before.split('"').step_by(2).any(|part| part.contains(sign)) || before.ends_with('/');
    if in_comment && text.area != Area::Templates {
        return Vec::new();
    }
    let inside = at + MARK.len();
    let Some(close) = all[inside..line_end].find(')').map(|close| inside + close) else { return Vec::new() };
    let rest = &all[close + 1..line_end];
    let (reason, end) = match text.area {
        Area::Templates => {
            let end = rest.find("#}").unwrap_or(rest.len());
            (rest[..end].trim().trim_end_matches('-').trim(), close + 1 + (end + 2).min(rest.len()))
        }
        _ => (rest.trim().trim_end_matches("*/").trim(), line_end),
    };
    let own_line = all[line_start..start].trim().is_empty() && all[end..line_end].trim().is_empty();
    let lines = if own_line { next_line(text, line_end) } else { Span::new(line_start, line_end) };
    let ids: Vec<&str> = all[inside..close].split(',').collect();
    let id = |id: &str| {
        let from = id.as_ptr() as usize - all.as_ptr() as usize + (id.len() - id.trim_start().len());
        Allow {
            source: text.source.clone(),
            area: text.area,
            asked: text.asked,
            comment: Span::new(start, end),
            id: Span::new(from, from + id.trim().len()),
            alone: ids.len() == 1,
            has_reason: !reason.is_empty(),
            lines,
            used: false,
        }
    };
    ids.iter().map(|text| id(text)).collect()
}

/// The next line that says something.
fn next_line(text: &Text, from: usize) -> Span {
    let all = text.source.text();
    let mut start = (from + 1).min(all.len());
    while start < all.len() {
        let end = all[start..].find('\n').map_or(all.len(), |end| start + end);
        let line = all[start..end].trim();
        let comment = match text.area {
            Area::Templates => line.starts_with("{#") && line.ends_with("#}"),
            _ => line.starts_with("//") || line.starts_with('#') && !line.starts_with("#{"),
        };
        if !line.is_empty() && !comment {
            return Span::new(start, end);
        }
        start = end + 1;
    }
    Span::new(all.len(), all.len())
}

/// Whether a finding is allowed where it stands.
pub(super) fn covers(allows: &mut [Allow], text: Option<&Text>, finding: &Diagnostic) -> bool {
    let (Some(text), Some(label)) = (text, finding.primary()) else { return false };
    let mut covered = false;
    for allow in allows.iter_mut().filter(|allow| allow.area == text.area && allow.source.name() == text.source.name()) {
        let here = allow.lines.start <= label.span.start && label.span.start <= allow.lines.end;
        if here && allow.has_reason && allow.source.slice(allow.id) == finding.code {
            allow.used = true;
            covered = true;
        }
    }
    covered
}

/// Finds allows of rules that there are not, that give no reason, or that allow nothing.
pub(super) fn complain(allows: &[Allow], config: &Config, report: &mut Report) {
    for allow in allows.iter().filter(|allow| allow.asked && !allow.used) {
        let id = allow.source.slice(allow.id);
        let Some(rule) = find_rule(id) else {
            let known = rules().map(|rule| rule.id);
            let found = Diagnostic::warning("allows/unknown-rule", format!("there is no rule `{id}`"));
            let found = found.label(&allow.source, allow.id, "allowed here");
            let found = found.help("asterisk lint --list shows them").maybe_help(did_you_mean(id, known));
            report.push(found);
            continue;
        };
        if !allow.has_reason {
            let found =
                Diagnostic::warning("allows/without-reason", format!("this allow of `{id}` says no reason, and allows nothing"));
            let found = found.label(&allow.source, allow.comment, "no reason");
            report.push(found.help(format!("write it behind the id: `lint: allow({id}) why it is right here`")));
            continue;
        }
        if config.level_of(rule) == Some(Level::Off) {
            continue;
        }
        let found = Diagnostic::warning("allows/unused", format!("nothing here is found by `{id}`"));
        let found = found.label(&allow.source, allow.id, "allows nothing").help("take it away");
        if allow.alone {
            let span = whole(allow);
            report.fixable(found, "take the allow away", &allow.source, span, "");
        } else {
            report.push(found);
        }
    }
}

/// What is taken away with a comment: its line, if nothing else is on it, else the blanks before it.
fn whole(allow: &Allow) -> Span {
    let all = allow.source.text();
    let line = all[..allow.comment.start].rfind('\n').map_or(0, |start| start + 1);
    let ends_line = all[allow.comment.end..].starts_with('\n') || allow.comment.end == all.len();
    if all[line..allow.comment.start].trim().is_empty() && ends_line {
        return Span::new(line, (allow.comment.end + 1).min(all.len()));
    }
    let before = all[line..allow.comment.start].trim_end().len();
    Span::new(line + before, allow.comment.end)
}
