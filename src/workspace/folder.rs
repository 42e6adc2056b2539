//! A directory that no version control knows: its files, and texts in them. Symbolic links are not followed.

use std::fs;
use std::io::Read as _;
use std::path::Path;

/// How many files are looked at.
pub(super) const MOST_FILES: usize = 20_000;
/// How deep directories are inside one another.
const DEEPEST: usize = 32;
/// The most bytes of a file that is searched.
const LARGEST: u64 = 1 << 20;
/// The most bytes that are searched for one text.
const READ: u64 = 64 << 20;

/// The files below a directory, by their paths in it with `/`, sorted; and whether there are more. What begins with a dot
/// is left out.
pub(super) fn files(root: &Path) -> (Vec<String>, bool) {
    let mut found = Vec::new();
    let cut = list(root, "", 0, &mut found);
    found.sort();
    (found, cut)
}

fn list(dir: &Path, below: &str, depth: usize, found: &mut Vec<String>) -> bool {
    let Ok(entries) = fs::read_dir(dir) else { return false };
    let mut entries: Vec<fs::DirEntry> = entries.filter_map(Result::ok).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
        if name.starts_with('.') {
            continue;
        }
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if found.len() == MOST_FILES || (kind.is_dir() && depth == DEEPEST) {
            return true;
        }
        // A symbolic link is neither.
        if kind.is_file() {
            found.push(path);
        } else if kind.is_dir() && list(&entry.path(), &path, depth + 1, found) {
            return true;
        }
    }
    false
}

/// Where a text stands in these files: path, line from 1 and the line; at most `most` of them, and whether there are more.
pub(super) fn grep(root: &Path, files: &[String], term: &str, most: usize) -> (Vec<(String, u32, String)>, bool) {
    let mut found = Vec::new();
    let mut left = READ;
    for path in files {
        let Some(text) = read(root, path) else { continue };
        left = left.saturating_sub(text.len() as u64);
        for (number, line) in (1..).zip(text.lines()) {
            if !line.contains(term) {
                continue;
            }
            if found.len() == most {
                return (found, true);
            }
            found.push((path.clone(), number, line.to_owned()));
        }
        if left == 0 {
            return (found, true);
        }
    }
    (found, false)
}

/// The text of a file that lies in the directory, is not too large and not binary.
fn read(root: &Path, path: &str) -> Option<String> {
    let path = root.join(path).canonicalize().ok()?;
    let meta = path.symlink_metadata().ok()?;
    // Since it was listed, something else may have come in its place.
    if !path.starts_with(root) || !meta.is_file() || meta.len() > LARGEST {
        return None;
    }
    let mut bytes = Vec::new();
    let _count = fs::File::open(&path).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
    if bytes.contains(&0) {
        return None;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
