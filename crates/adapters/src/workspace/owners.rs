//! `workspace.owners`: who owns the files in focus, by the CODEOWNERS file of a repository.
//!
//! The format is that of GitHub, with GitLab's sections: a pattern as in `.gitignore`, then the owners; the last line that matches decides.

use super::checkout::Checkout;
use regex::Regex;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Where the file may be, in the order of preference.
const PLACES: [&str; 3] = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];
/// Most bytes that are read of it.
const MAX_BYTES: u64 = 1 << 20;
/// Most owners of a file that are listed.
const MAX_OWNERS: usize = 8;

/// The lines of a CODEOWNERS file, in file order.
#[derive(Debug, Default)]
pub(super) struct CodeOwners {
    rules: Vec<CodeOwnersLine>,
}

#[derive(Debug)]
struct CodeOwnersLine {
    pattern: Regex,
    line: usize,
    owners: Vec<String>,
}

/// The owners of files of a checkout: `{path, owners, at}`, nothing of a file without owners.
pub(super) fn owners(checkout: &Checkout, paths: &[String]) -> Result<Vec<Value>, String> {
    let Some(dir) = &checkout.dir else { return Ok(Vec::new()) };
    let Some(place) = PLACES.iter().find(|place| dir.join(place).is_file()) else { return Ok(Vec::new()) };
    let file = dir.join(place);
    let size = file.metadata().map_or(0, |data| data.len());
    if size > MAX_BYTES {
        return Err(format!("`{place}` is too large to be read ({size} bytes)"));
    }
    let text = std::fs::read_to_string(&file).map_err(|error| format!("`{place}` cannot be read: {error}"))?;
    let known = CodeOwners::read(&text);
    let owners = paths.iter().filter_map(|path| {
        let (line, owners) = known.of(path)?;
        let owners: Vec<&String> = owners.iter().take(MAX_OWNERS).collect();
        Some(json!({ "path": path, "owners": owners, "at": format!("{place}:{line}") }))
    });
    Ok(owners.collect())
}

impl CodeOwners {
    /// Reads a file. Lines whose pattern is none are passed over.
    pub(super) fn read(text: &str) -> Self {
        let mut rules = Vec::new();
        let mut section: Vec<String> = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            // `[Section][2] @default`: the owners of lines below that name none.
            if let Some(heading) = line.strip_prefix('^').unwrap_or(line).strip_prefix('[') {
                let rest = heading.rsplit_once(']').map_or("", |(_, rest)| rest);
                section = rest.split_whitespace().map(str::to_owned).collect();
                continue;
            }
            let mut words = words(line);
            if words.is_empty() {
                continue;
            }
            let pattern = words.remove(0);
            let owners = if words.is_empty() { section.clone() } else { words };
            if let Some(pattern) = compiled(&pattern) {
                rules.push(CodeOwnersLine { pattern, line: at + 1, owners });
            }
        }
        Self { rules }
    }

    /// The owners of a file, with the line that says so; nothing if no line matches, or the last that does names no owner.
    pub(super) fn of(&self, path: &str) -> Option<(usize, &[String])> {
        let rule = self.rules.iter().rev().find(|rule| rule.pattern.is_match(path))?;
        (!rule.owners.is_empty()).then_some((rule.line, rule.owners.as_slice()))
    }
}

/// The words of a line up to a comment; a space behind a backslash is part of a word.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = line.chars();
    while let Some(ch) = chars.next() {
        match ch {
            '\\' => word.extend(chars.next()),
            '#' if word.is_empty() => break,
            ch if ch.is_whitespace() => words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
            ch => word.push(ch),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

/// A pattern as a regular expression over a whole path.
fn compiled(pattern: &str) -> Option<Regex> {
    let anchored = pattern.trim_end_matches('/').contains('/');
    let body = pattern.strip_prefix('/').unwrap_or(pattern);
    let mut regex = String::from(if anchored { "^" } else { "^(?:.*/)?" });
    let mut rest = body;
    while let Some(ch) = rest.chars().next() {
        let (token, expression) = if rest.starts_with("**/") {
            ("**/", "(?:.*/)?")
        } else if rest == "**" {
            ("**", ".*")
        } else if ch == '*' {
            ("*", "[^/]*")
        } else if ch == '?' {
            ("?", "[^/]")
        } else {
            ("", "")
        };
        if token.is_empty() {
            let _ = write!(regex, "{}", regex::escape(&ch.to_string()));
            rest = &rest[ch.len_utf8()..];
        } else {
            regex.push_str(expression);
            rest = &rest[token.len()..];
        }
    }
    if body.ends_with('/') {
        regex.push_str(".*$");
    } else if anchored && body.ends_with("/*") {
        // Only what is directly in the directory.
        regex.push('$');
    } else {
        regex.push_str("(?:/.*)?$");
    }
    Regex::new(&regex).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# who owns what
*                @org/all
*.js             @js # the scripts
/build/logs/     @doctocat
docs/*           docs@example.com
apps/            @octocat
**/logs          @logs
/apps/github
/a\\ b/*.rs      @spaces @more
[Payments] @pay
services/pay/
^[Optional][2] @opt
services/ship/   @ship
";

    fn of(path: &str) -> String {
        let known = CodeOwners::read(TEXT);
        known.of(path).map_or_else(String::new, |(line, owners)| format!("{line} {}", owners.join(" ")))
    }

    #[test]
    fn the_last_line_that_matches_decides() {
        for (path, expected) in [
            ("main.rs", "2 @org/all"),
            ("web/x.js", "3 @js"),
            ("build/logs/a/b.txt", "7 @logs"),
            ("docs/a.md", "5 docs@example.com"),
            ("docs/deep/a.md", "2 @org/all"),
            ("src/apps/x.rs", "6 @octocat"),
            ("apps/github/x.rs", ""),
            ("deep/down/logs/x", "7 @logs"),
            ("a b/x.rs", "9 @spaces @more"),
            ("services/pay/x.go", "11 @pay"),
            ("services/ship/x.go", "13 @ship"),
        ] {
            assert_eq!(of(path), expected, "{path}");
        }
    }

    #[test]
    fn without_lines_no_owner_is_found() {
        assert!(CodeOwners::read("# nothing\n\n").of("x").is_none());
    }
}
