//! Finding files and lines below a working directory, in order of paths, without following links.

use super::paths::{PathError, WorkRoot};
use regex::{Regex, RegexBuilder};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// More entries are not looked at.
const MAX_ENTRIES: usize = 100_000;
/// More lines or paths are not listed.
const MAX_FOUND: usize = 10_000;
/// More bytes of a line are not searched: a pattern may take time for each byte that grows with its length.
const MAX_LINE: usize = 64 << 10;
/// The most bytes of a compiled pattern.
const MAX_PATTERN: usize = 1 << 20;
/// What is never part of the work. `.git` is a file in a worktree.
const PASSED_OVER: &[&str] = &[".git", ".asterisk"];

/// The paths that match a pattern: `*` and `?` within a part, `**` over parts, `[..]`, `{a,b}`. A pattern without `/` is matched at any depth.
/// Looking ends with an error at `until`.
pub(super) fn glob(root: &WorkRoot, pattern: &str, until: Instant) -> Result<String, PathError> {
    let wanted = pattern_of(pattern)?;
    let (mut text, mut found) = (String::new(), 0);
    for path in files(root, until)? {
        in_time(until, &path)?;
        if !wanted.is_match(&path) {
            continue;
        }
        let _ = writeln!(text, "{path}");
        found += 1;
        if found == MAX_FOUND {
            break;
        }
    }
    Ok(text)
}

/// Fails once it is too late to look at a place.
fn in_time(until: Instant, place: &str) -> Result<(), PathError> {
    if Instant::now() > until {
        return Err(PathError::System(format!(
            "it took too long and stopped before `{}`",
            if place.is_empty() { "." } else { place }
        )));
    }
    Ok(())
}

/// The lines that match a regular expression: `path:line: text`. Looking ends with an error at `until`.
pub(super) fn grep(
    root: &WorkRoot,
    pattern: &str,
    below: Option<&str>,
    of: Option<&str>,
    until: Instant,
) -> Result<String, PathError> {
    let wanted = RegexBuilder::new(pattern)
        .size_limit(MAX_PATTERN)
        .build()
        .map_err(|error| PathError::System(format!("not a valid pattern: {error}")))?;
    let of = of.map(pattern_of).transpose()?;
    let below = below.map(|below| Ok(root.parts(below)?.join("/"))).transpose()?.unwrap_or_default();
    let is_below =
        |path: &str| below.is_empty() || path == below || path.strip_prefix(&below).is_some_and(|rest| rest.starts_with('/'));
    let (mut text, mut found) = (String::new(), 0);
    for path in files(root, until)? {
        in_time(until, &path)?;
        if !is_below(&path) || of.as_ref().is_some_and(|of| !of.is_match(&path)) {
            continue;
        }
        let Ok((content, _)) = root.read(&path) else { continue };
        if content.contains('\0') {
            continue;
        }
        for (at, line) in content.lines().enumerate() {
            in_time(until, &path)?;
            let end = (0..=MAX_LINE.min(line.len())).rev().find(|end| line.is_char_boundary(*end)).unwrap_or(0);
            if !wanted.is_match(&line[..end]) {
                if end < line.len() {
                    let _ = writeln!(text, "{path}:{}: [only the first {end} bytes of the line were searched]", at + 1);
                }
                continue;
            }
            let _ = writeln!(text, "{path}:{}: {line}", at + 1);
            found += 1;
            if found == MAX_FOUND {
                return Ok(text);
            }
        }
    }
    Ok(text)
}

/// What a pattern of a command stands for in a directory: files and directories without links on the way, none of them hidden unless the
/// pattern says so, in order. One that could be taken for an option begins with `./`. Looking ends with an error at `until`.
pub(super) fn matching(root: &WorkRoot, dir: &Path, pattern: &str, until: Instant) -> Result<Vec<String>, PathError> {
    let mut seen = 0;
    let mut found = vec![(dir.to_owned(), String::new())];
    if Path::new(pattern).is_absolute() {
        found = vec![(PathBuf::from("/"), "/".to_owned())];
    }
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let mut next = Vec::new();
        let wanted = if part.contains(['*', '?', '[']) { Some(part_of(part)?) } else { None };
        for (place, shown) in found {
            let join = |name: &str| match shown.as_str() {
                "" => name.to_owned(),
                shown if shown.ends_with('/') => format!("{shown}{name}"),
                shown => format!("{shown}/{name}"),
            };
            let Some(wanted) = &wanted else {
                let below = place.join(part);
                if below.symlink_metadata().is_ok() {
                    next.push((below, join(part)));
                }
                continue;
            };
            for entry in std::fs::read_dir(&place).into_iter().flatten().flatten() {
                count(&mut seen, until, &shown)?;
                let Ok(name) = entry.file_name().into_string() else { continue };
                if wanted.is_match(&name) && (part.starts_with('.') || !name.starts_with('.')) {
                    next.push((entry.path(), join(&name)));
                }
            }
        }
        found = next;
    }
    let inside = |path: &Path| path.to_str().is_some_and(|path| root.is_inside(path));
    let mut names: Vec<String> = found.into_iter().filter(|(path, _)| inside(path)).map(|(_, shown)| shown).collect();
    names.sort();
    names.iter_mut().filter(|name| name.starts_with(['-', '@', '+'])).for_each(|name| name.insert_str(0, "./"));
    Ok(names)
}

/// The regular expression of a pattern of names as shells read it: `*`, `?` and `[..]` only.
fn part_of(part: &str) -> Result<Regex, PathError> {
    let mut text = String::from("(?s)^");
    let mut rest = part.chars();
    while let Some(c) = rest.next() {
        match c {
            '*' => text.push_str(".*"),
            '?' => text.push('.'),
            '[' => {
                let Some((class, behind)) = rest.as_str().split_once(']') else {
                    return Err(PathError::System(format!("`{part}` is not a file name pattern")));
                };
                rest = behind.chars();
                let (not, class) = class.strip_prefix(['!', '^']).map_or(("", class), |class| ("^", class));
                let class: String =
                    class.chars().map(|c| if c == '-' { "-".to_owned() } else { regex::escape(&c.to_string()) }).collect();
                text.push_str(&["[", not, &class, "]"].concat());
            }
            c => text.push_str(&regex::escape(&c.to_string())),
        }
    }
    text.push('$');
    names_of(&text).ok_or_else(|| PathError::System(format!("`{part}` is not a file name pattern")))
}

/// A compiled pattern of names or paths, of bounded size.
fn names_of(text: &str) -> Option<Regex> {
    RegexBuilder::new(text).size_limit(MAX_PATTERN).build().ok()
}

/// Counts an entry that is looked at; fails after too many, or once it is too late.
fn count(seen: &mut usize, until: Instant, place: &str) -> Result<(), PathError> {
    *seen += 1;
    if *seen > MAX_ENTRIES {
        return Err(PathError::System(format!("there are more than {MAX_ENTRIES} files")));
    }
    in_time(until, place)
}

/// All files, in order of their paths.
fn files(root: &WorkRoot, until: Instant) -> Result<Vec<String>, PathError> {
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
            count(&mut seen, until, &dir)?;
            let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
            if PASSED_OVER.contains(&name.as_str()) {
                continue;
            }
            let path = if dir.is_empty() { name } else { format!("{dir}/{name}") };
            if kind.is_dir() {
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
    names_of(&text).ok_or_else(|| PathError::System(format!("`{pattern}` is not a path pattern")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn files_and_lines_are_found_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let root = WorkRoot { path: dir.path().to_owned(), guarded: super::super::paths::Guarded::default() };
        for (path, text) in
            [("b.txt", "one\ntwo\n"), ("a/x.txt", "two\n"), ("a/y.md", "two\n"), (".git/z.txt", "two\n"), ("a/.git", "two\n")]
        {
            std::fs::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
            std::fs::write(dir.path().join(path), text).unwrap();
        }
        std::os::unix::fs::symlink("/", dir.path().join("root")).unwrap();
        let later = Instant::now() + std::time::Duration::from_secs(60);
        let grep = |root: &WorkRoot, pattern: &str, below, of| grep(root, pattern, below, of, later);
        let glob = |root: &WorkRoot, pattern: &str| glob(root, pattern, later);
        assert_eq!(glob(&root, "*.txt").unwrap(), "a/x.txt\nb.txt\n");
        assert_eq!(glob(&root, "a/*.{md,rs}").unwrap(), "a/y.md\n");
        assert_eq!(glob(&root, "**/[x-z].*").unwrap(), "a/x.txt\na/y.md\n");
        assert_eq!(glob(&root, "nothing").unwrap(), "");
        assert_eq!(glob(&root, "*").unwrap(), "a/x.txt\na/y.md\nb.txt\n");
        assert!(glob(&root, "[").is_err());
        assert_eq!(grep(&root, "tw.", None, None).unwrap(), "a/x.txt:1: two\na/y.md:1: two\nb.txt:2: two\n");
        assert_eq!(grep(&root, "two", Some("a"), Some("*.md")).unwrap(), "a/y.md:1: two\n");
        assert!(grep(&root, "(", None, None).is_err());
        assert!(grep(&root, "a", Some("../.."), None).is_err());
        let now = Instant::now();
        assert!(super::grep(&root, "two", None, None, now).unwrap_err().text().contains("too long"));
        assert!(super::glob(&root, "*", now).unwrap_err().text().contains("too long"));
        assert!(matching(&root, dir.path(), "*", now).unwrap_err().text().contains("too long"));
        assert!(glob(&root, &format!("{{{}}}", "*?".repeat(100_000))).is_err());
        assert!(grep(&root, "(?:a{1000}){1000}", None, None).is_err());
        std::fs::write(dir.path().join("long.txt"), format!("{}z", "é".repeat(MAX_LINE))).unwrap();
        assert!(grep(&root, "z", None, Some("long.txt")).unwrap().contains("only the first 65536 bytes"));
    }

    #[test]
    fn patterns_of_commands_stand_for_what_is_inside() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        for made in ["a.t", "b.t", "-o.t", ".c.t", "d/e.t", "{x}.t"] {
            std::fs::create_dir_all(path.join(made).parent().unwrap()).unwrap();
            std::fs::write(path.join(made), "").unwrap();
        }
        std::os::unix::fs::symlink("/etc", path.join("up.t")).unwrap();
        let root = WorkRoot { path: path.clone(), guarded: super::super::paths::Guarded::default() };
        let later = Instant::now() + std::time::Duration::from_secs(60);
        let of = |pattern: &str| matching(&root, &path, pattern, later).unwrap().join(" ");
        assert_eq!(of("*.t"), "./-o.t a.t b.t {x}.t");
        assert_eq!((of("[ab].t"), of("?.t"), of("[!a].t")), ("a.t b.t".into(), "a.t b.t".into(), "b.t".into()));
        assert_eq!(
            (of("*/*.t"), of("./d/*"), of(".c*"), of("none*")),
            ("d/e.t".into(), "./d/e.t".into(), ".c.t".into(), String::new())
        );
        assert_eq!((of("{x}*"), of("up.t/*"), of("../*")), ("{x}.t".into(), String::new(), String::new()));
        assert_eq!(of(&format!("{}/b*", path.display())), format!("{}/b.t", path.display()));
    }
}
