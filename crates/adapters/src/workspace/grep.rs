//! `workspace.grep`: occurrences of the requested terms.

use super::checkout::Checkout;
use super::folder;
use super::git::GitProgram;
use super::text::line;
use serde_json::{Value, json};

/// Maximum number of occurrences of a term.
const LIMIT: usize = 12;

/// The occurrences of a term in a checkout, ordered by path and line, and whether there are more. The term is literal, not a pattern.
pub(super) fn places(git: Option<&GitProgram>, checkout: &Checkout, term: &str) -> Result<(Vec<Value>, bool), String> {
    let Some(dir) = &checkout.dir else { return Ok((Vec::new(), false)) };
    let (Some(git), Some(commit)) = (git, &checkout.commit) else {
        let (found, more) = folder::grep(dir, &checkout.files, term, LIMIT);
        return Ok((found.into_iter().map(|(path, number, text)| place(term, &path, number, &text)).collect(), more));
    };
    let args = ["grep", "-z", "-n", "-I", "--no-textconv", "--threads=1", "--fixed-strings", "-e", term, commit, "--"];
    let output = git.run(dir, &args)?;
    // No match is a failure without a message.
    if !output.ok && !output.error_line.is_empty() {
        return Err(format!("git grep failed: {}", output.error_line));
    }
    let text = String::from_utf8_lossy(&output.text);
    let mut found = Vec::new();
    let mut more = output.cut;
    for (path, number, text) in rows(&text, output.cut) {
        if found.len() == LIMIT {
            more = true;
            break;
        }
        found.push(place(term, path, number, text));
    }
    Ok((found, more))
}

/// The rows of `git grep -z -n COMMIT`: path, line number and line. The last row of truncated output is incomplete, and omitted.
pub(super) fn rows(text: &str, cut: bool) -> impl Iterator<Item = (&str, u32, &str)> {
    let whole = if cut { text.rsplit_once('\n').map_or("", |(whole, _)| whole) } else { text };
    whole.split('\n').filter_map(|row| {
        let mut fields = row.splitn(3, '\0');
        let (path, number, line) = (fields.next()?, fields.next()?, fields.next()?);
        Some((path.split_once(':').map_or(path, |(_, path)| path), number.parse().ok()?, line))
    })
}

fn place(term: &str, path: &str, number: u32, text: &str) -> Value {
    json!({ "term": term, "path": line(path), "line": number, "text": line(text) })
}
