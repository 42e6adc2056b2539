//! Keeps a CI system from taking foreign text in the log of its job as commands: GitHub's `::error`, Azure's `##vso[` and `##[`, `TeamCity`'s
//! `##teamcity[`, the section markers of GitLab, the group headings of Buildkite.

use asterisk_base::model::CiSystem;
use std::borrow::Cow;
use std::fmt::Write as _;

/// What opens or closes a group at the beginning of a line.
const HEADINGS: [&str; 4] = ["---", "+++", "~~~", "^^^"];

/// Breaks up commands in a text of whole lines with spaces.
pub(super) fn text(system: CiSystem, text: Cow<'_, str>) -> Cow<'_, str> {
    let mut breaks = marks(&text);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        breaks.extend(start(system, line).map(|within| at + within));
        at += line.len();
    }
    breaks.sort_unstable();
    replaced(text, &breaks, |out, ch| {
        out.push(' ');
        out.push(ch);
    })
}

/// Escapes commands in a JSON text, where they are within strings, so that the value stays the same.
pub(super) fn json(text: Cow<'_, str>) -> Cow<'_, str> {
    let breaks = marks(&text);
    replaced(text, &breaks, |out, ch| {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{:04x}", u32::from(ch));
    })
}

/// Replaces the characters at some places, which are in order.
fn replaced<'t>(text: Cow<'t, str>, places: &[usize], replace: impl Fn(&mut String, char)) -> Cow<'t, str> {
    if places.is_empty() {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 8 * places.len());
    let mut done = 0;
    for at in places {
        out.push_str(&text[done..*at]);
        let ch = text[*at..].chars().next().unwrap_or_default();
        replace(&mut out, ch);
        done = at + ch.len_utf8();
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// The places where a command that counts anywhere in a line is broken up: the second `#` of `##NAME[`, the `:` of `section_start:` and
/// `section_end:`.
fn marks(text: &str) -> Vec<usize> {
    let is_command =
        |rest: &str| rest.trim_start_matches(|ch: char| ch.is_ascii_alphanumeric() || ch == '-' || ch == '_').starts_with('[');
    let hashes = text.match_indices('#').map(|(at, _)| at + 1);
    let mut marks: Vec<usize> = hashes.filter(|at| text[*at..].strip_prefix('#').is_some_and(is_command)).collect();
    for (at, section) in text.match_indices("section_") {
        let rest = &text[at + section.len()..];
        let word = ["start", "end"].into_iter().find(|word| rest.strip_prefix(word).is_some_and(|rest| rest.starts_with(':')));
        marks.extend(word.map(|word| at + section.len() + word.len()));
    }
    marks.sort_unstable();
    marks
}

/// The place where a command at the beginning of a line is broken up: the second `:` of `::`, or a group heading as a whole. Colours and
/// spaces may come before it.
fn start(system: CiSystem, line: &str) -> Option<usize> {
    let mut rest = line;
    loop {
        let colour = rest.strip_prefix("\u{1b}[").and_then(|rest| rest.split_once('m')).map(|(_, rest)| rest);
        match colour.unwrap_or_else(|| rest.trim_start()) {
            shorter if shorter.len() < rest.len() => rest = shorter,
            _ => break,
        }
    }
    let at = line.len() - rest.len();
    match () {
        () if rest.starts_with("::") => Some(at + 1),
        () if system == CiSystem::Buildkite && HEADINGS.iter().any(|heading| rest.starts_with(heading)) => Some(0),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn inert(system: CiSystem, lines: &str) -> String {
        text(system, lines.into()).into_owned()
    }

    #[test]
    fn foreign_text_is_not_a_command() {
        for (foreign, printed) in [
            ("::error::x", ": :error::x"),
            (" a\n \u{3000}::set-output name=x::y\n", " a\n \u{3000}: :set-output name=x::y\n"),
            ("\u{1b}[1m ::add-mask::x\u{1b}[0m", "\u{1b}[1m : :add-mask::x\u{1b}[0m"),
            ("a ##vso[task.setvariable]y and ##[error]z", "a # #vso[task.setvariable]y and # #[error]z"),
            ("###VSO[x] ##add-matcher[y]", "## #VSO[x] # #add-matcher[y]"),
            ("##teamcity[buildStop]\n::::x", "# #teamcity[buildStop]\n: :::x"),
            ("x section_start:1:a[collapsed=true] section_end:1:a", "x section_start :1:a[collapsed=true] section_end :1:a"),
        ] {
            assert_eq!(inert(CiSystem::Github, foreign), printed);
            assert_eq!(inert(CiSystem::Buildkite, printed), printed, "it is inert already");
        }
        for harmless in ["a::b", "## [a](b)", "# a", "##", "## a [b]", "section_started: x", "", "grün\n"] {
            assert!(matches!(text(CiSystem::Azure, harmless.into()), Cow::Borrowed(_)), "{harmless}");
        }
    }

    #[test]
    fn headings_are_those_of_their_system() {
        let lines = "--- a\n\u{1b}[31m+++ b\u{1b}[0m\n  ~~~\n^^^ +++\n-- c";
        assert_eq!(inert(CiSystem::Buildkite, lines), " --- a\n \u{1b}[31m+++ b\u{1b}[0m\n   ~~~\n ^^^ +++\n-- c");
        assert_eq!(inert(CiSystem::Gitlab, lines), lines);
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({ "###vso[x]": ["##[y]", "section_start:1:z", "::error::", "a\\##[b]"] });
        let printed = json(value.to_string().into()).into_owned();
        assert!(!printed.contains("##vso") && !printed.contains("##[") && !printed.contains("section_start:"), "{printed}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).unwrap(), value);
    }
}
