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
    let whole = if output.cut { text.rsplit_once('\n').map_or("", |(whole, _)| whole) } else { &text };
    let mut found = Vec::new();
    let mut more = output.cut;
    for row in whole.split('\n') {
        let mut fields = row.splitn(3, '\0');
        let (Some(path), Some(number), Some(text)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let path = path.split_once(':').map_or(path, |(_, path)| path);
        let Ok(number) = number.parse() else { continue };
        if found.len() == LIMIT {
            more = true;
            break;
        }
        found.push(place(term, path, number, text));
    }
    Ok((found, more))
}

fn place(term: &str, path: &str, number: u32, text: &str) -> Value {
    json!({ "term": term, "path": line(path), "line": number, "text": line(text) })
}
