//! Default reasons for rules that return none: the fields read, with their values (`docs/decisions/0008-routing-and-step-cap.md`).

use asterisk_script::View;
use std::fmt::Write as _;

/// The most fields in a reason.
const FIELDS: usize = 6;
/// The most characters of a value.
const VALUE: usize = 40;

/// Formats the paths a rule may read: `confidence 0.9, recall_hit 0.8`. Fields of list items are summarised by their list.
pub(super) fn fields(reads: &[Box<str>], artifact: &View, state: &View, vars: &View) -> String {
    let mut out = String::new();
    let mut seen: Vec<&str> = Vec::new();
    for read in reads {
        let Some((path, value)) = input(read, artifact, state, vars) else { continue };
        if seen.contains(&path) || seen.len() == FIELDS {
            continue;
        }
        seen.push(path);
        let name = path.strip_prefix("state.").unwrap_or_else(|| path.rsplit('.').next().unwrap_or(path));
        let separator = if out.is_empty() { "" } else { ", " };
        let _ = write!(out, "{separator}{name} {}", short(&value));
    }
    if out.is_empty() { "its condition holds".into() } else { out }
}

/// Resolves a path that a rule may read, returning the resolved prefix and its value: for fields of list items, those of the
/// list. `None` for a whole input, and for a path that cannot be read.
pub fn input<'r>(read: &'r str, artifact: &View, state: &View, vars: &View) -> Option<(&'r str, View)> {
    let path = read.split("[]").next().unwrap_or(read);
    let (root, rest) = path.split_once('.').filter(|(_, rest)| !rest.is_empty())?;
    let view = match root {
        "artifact" => artifact,
        "state" => state,
        "vars" => vars,
        _ => return None,
    };
    Some((path, rest.split('.').try_fold(view.clone(), |view, key| view.get(key))?))
}

/// Formats a value in a few words.
pub(super) fn short(value: &View) -> String {
    let items = value.len();
    if items == Some(0) {
        return "empty".into();
    }
    let text = value.canonical();
    match items {
        Some(n) if text.len() > VALUE => format!("({n} items)"),
        _ if text.chars().count() > VALUE => text.chars().take(VALUE - 1).chain(['…']).collect(),
        _ => text,
    }
}
