//! Finding files and lines below a working directory, in order of paths, without following links.

use super::paths::{PathError, WorkRoot};
use regex::Regex;
use std::fmt::Write as _;
use std::path::Path;

/// More entries are not looked at.
const MAX_ENTRIES: usize = 100_000;
/// More lines or paths are not listed.
const MAX_FOUND: usize = 10_000;
/// Directories that are never part of the work.
const PASSED_OVER: &[&str] = &[".git", ".asterisk"];

/// The paths that match a pattern: `*` and `?` within a part, `**` over parts, `[..]`, `{a,b}`. A pattern without `/` is matched at any depth.
pub(super) fn glob(root: &WorkRoot, pattern: &str) -> Result<String, PathError> {
    let wanted = pattern_of(pattern)?;
    let mut text = String::new();
    for path in files(root)?.iter().filter(|path| wanted.is_match(path)).take(MAX_FOUND) {
        let _ = writeln!(text, "{path}");
    }
    Ok(text)
}

/// The lines that match a regular expression: `path:line: text`.
pub(super) fn grep(root: &WorkRoot, pattern: &str, below: Option<&str>, of: Option<&str>) -> Result<String, PathError> {
    let wanted = Regex::new(pattern).map_err(|error| PathError::System(format!("no pattern: {error}")))?;
    let of = of.map(pattern_of).transpose()?;
    let below = below.map(|below| Ok(root.parts(below)?.join("/"))).transpose()?.unwrap_or_default();
    let is_below =
        |path: &str| below.is_empty() || path == below || path.strip_prefix(&below).is_some_and(|rest| rest.starts_with('/'));
    let (mut text, mut found) = (String::new(), 0);
    for path in files(root)? {
        if !is_below(&path) || of.as_ref().is_some_and(|of| !of.is_match(&path)) {
            continue;
        }
        let Ok((content, _)) = root.read(&path) else { continue };
        if content.contains('\0') {
            continue;
        }
        for (at, line) in content.lines().enumerate().filter(|(_, line)| wanted.is_match(line)) {
            let _ = writeln!(text, "{path}:{}: {line}", at + 1);
            found += 1;
            if found == MAX_FOUND {
                return Ok(text);
            }
        }
    }
    Ok(text)
}

/// All files, in order of their paths.
fn files(root: &WorkRoot) -> Result<Vec<String>, PathError> {
    let mut found = Vec::new();
    let mut open = vec![String::new()];
    let mut seen = 0;
    while let Some(dir) = open.pop() {
        let entries = match std::fs::read_dir(root.path.join(&dir)) {
            Ok(entries) => entries,
            Err(error) if dir.is_empty() => return Err(PathError::System(error.to_string())),
            Err(_) => continue,
        };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MAX_ENTRIES {
                return Err(PathError::System(format!("there are more than {MAX_ENTRIES} files")));
            }
            let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
            let path = if dir.is_empty() { name.clone() } else { format!("{dir}/{name}") };
            if kind.is_dir() && !PASSED_OVER.contains(&name.as_str()) {
                open.push(path);
            } else if kind.is_file() {
                found.push(path);
            }
        }
    }
    found.sort_by(|a, b| Path::new(a).cmp(Path::new(b)));
    Ok(found)
}

/// The regular expression of a pattern of paths.
fn pattern_of(pattern: &str) -> Result<Regex, PathError> {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let mut text = String::from(if pattern.contains('/') { "^" } else { "^(?:.*/)?" });
    let mut rest = pattern.chars().peekable();
    let mut depth = 0;
    while let Some(c) = rest.next() {
        match c {
            '*' if rest.next_if_eq(&'*').is_some() => {
                text.push_str(if rest.next_if_eq(&'/').is_some() { "(?:.*/)?" } else { ".*" });
            }
            '*' => text.push_str("[^/]*"),
            '?' => text.push_str("[^/]"),
            '{' => {
                depth += 1;
                text.push_str("(?:");
            }
            '}' if depth > 0 => {
                depth -= 1;
                text.push(')');
            }
            ',' if depth > 0 => text.push('|'),
            '[' => {
                text.push('[');
                if rest.next_if_eq(&'!').is_some() {
                    text.push('^');
                }
            }
            ']' => text.push(']'),
            '-' => text.push('-'),
            c => text.push_str(&regex::escape(&c.to_string())),
        }
    }
    text.push('$');
    Regex::new(&text).map_err(|_| PathError::System(format!("`{pattern}` is no pattern of paths")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn files_and_lines_are_found_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let root = WorkRoot { path: dir.path().to_owned(), guarded: super::super::paths::Guarded::default() };
        for (path, text) in [("b.txt", "one\ntwo\n"), ("a/x.txt", "two\n"), ("a/y.md", "two\n"), (".git/z.txt", "two\n")] {
            std::fs::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
            std::fs::write(dir.path().join(path), text).unwrap();
        }
        std::os::unix::fs::symlink("/", dir.path().join("root")).unwrap();
        assert_eq!(glob(&root, "*.txt").unwrap(), "a/x.txt\nb.txt\n");
        assert_eq!(glob(&root, "a/*.{md,rs}").unwrap(), "a/y.md\n");
        assert_eq!(glob(&root, "**/[x-z].*").unwrap(), "a/x.txt\na/y.md\n");
        assert_eq!(glob(&root, "nothing").unwrap(), "");
        assert!(glob(&root, "[").is_err());
        assert_eq!(grep(&root, "tw.", None, None).unwrap(), "a/x.txt:1: two\na/y.md:1: two\nb.txt:2: two\n");
        assert_eq!(grep(&root, "two", Some("a"), Some("*.md")).unwrap(), "a/y.md:1: two\n");
        assert!(grep(&root, "(", None, None).is_err());
        assert!(grep(&root, "a", Some("../.."), None).is_err());
    }
}
