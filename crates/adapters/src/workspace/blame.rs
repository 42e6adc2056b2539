//! `workspace.blame`: the commits that last changed the lines in focus.

use super::checkout::{Checkout, CheckoutTime, age, date};
use super::git::GitProgram;
use super::text::line;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

/// Number of context lines on either side.
const CONTEXT_LINES: u32 = 2;

/// The lines around a line of a file, each with the commit that last changed it.
pub(super) fn lines(
    git: &GitProgram,
    checkout: &Checkout,
    path: &str,
    at: u32,
    when: &CheckoutTime,
) -> Result<Vec<Value>, String> {
    let (Some(dir), Some(commit)) = (&checkout.dir, &checkout.commit) else { return Ok(Vec::new()) };
    let blame = |first: u32, last: u32| {
        let range = format!("{first},{last}");
        git.run(dir, &["blame", "--porcelain", "--no-textconv", "-L", &range, commit, "--", path])
    };
    let mut output = blame(at.saturating_sub(CONTEXT_LINES).max(1), at.saturating_add(CONTEXT_LINES))?;
    if !output.ok && !output.cut {
        return Err(format!("`{path}:{at}` has no history: {}", output.error_line));
    }
    if output.cut {
        output.text.truncate(output.text.iter().rposition(|byte| *byte == b'\n').unwrap_or(0));
    }
    let text = String::from_utf8_lossy(&output.text);
    let lines = parse(&text, path, at, when);
    if !lines.iter().any(|line| line["focus"] == true) {
        return Err(format!("`{path}` has no line {at} at this commit"));
    }
    Ok(lines)
}

/// One line of a file at a commit, with the commit that last changed it.
pub(super) fn line_of(git: &GitProgram, dir: &Path, commit: &str, path: &str, at: u32) -> Result<Option<Value>, String> {
    let range = format!("{at},{at}");
    let output = git.run(dir, &["blame", "--porcelain", "--no-textconv", "-L", &range, commit, "--", path])?;
    let text = String::from_utf8_lossy(&output.text);
    Ok(parse(&text, path, at, &CheckoutTime::default()).pop())
}

/// The lines of a range, each with the commit that last changed it.
pub(super) fn range(
    git: &GitProgram,
    dir: &Path,
    commit: &str,
    path: &str,
    (first, last): (u32, u32),
    when: &CheckoutTime,
) -> Result<Vec<Value>, String> {
    let range = format!("{first},{last}");
    let output = git.run(dir, &["blame", "--porcelain", "--no-textconv", "-L", &range, commit, "--", path])?;
    if !output.ok {
        return Err(output.error_line);
    }
    Ok(parse(&String::from_utf8_lossy(&output.text), path, first, when))
}

/// Parses `git blame --porcelain`: a header with commit and line number, the commit's details at its first occurrence, and the line itself
/// behind a tab.
fn parse(text: &str, path: &str, at: u32, when: &CheckoutTime) -> Vec<Value> {
    let mut known: HashMap<&str, HashMap<&str, &str>> = HashMap::new();
    let (mut commit, mut number) = ("", 0);
    let mut lines = Vec::new();
    for row in text.split('\n') {
        if let Some(code) = row.strip_prefix('\t') {
            let header = known.entry(commit).or_default();
            let seconds = header.get("committer-time").copied().unwrap_or_default();
            lines.push(json!({
                "path": path, "line": number, "focus": number == at, "text": line(code), "commit": commit, "date": date(seconds),
                "age_days": age(seconds, when), "author": line(header.get("author").copied().unwrap_or_default()),
                "subject": line(header.get("summary").copied().unwrap_or_default()), "boundary": header.contains_key("boundary"),
            }));
            continue;
        }
        let (key, value) = row.split_once(' ').unwrap_or((row, ""));
        if key.len() >= 40 && key.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            commit = key;
            number = value.split(' ').nth(1).and_then(|line| line.parse().ok()).unwrap_or(0);
        } else {
            known.entry(commit).or_default().insert(key, value);
        }
    }
    lines
}
