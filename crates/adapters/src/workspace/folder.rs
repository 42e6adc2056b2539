//! A directory without version control: lists its files and searches them. Symbolic links are not followed.

use std::fs;
use std::io::Read as _;
use std::path::Path;

/// Maximum number of files.
pub(super) const MAX_FILES: usize = 20_000;
/// Maximum depth of nested directories.
const MAX_DEPTH: usize = 32;
/// Maximum size of a file to search, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Maximum number of bytes read to search for one term.
const MAX_SEARCHED_BYTES: u64 = 64 << 20;

/// The files below a directory as relative paths with `/`, sorted, and whether there are more. Hidden entries are left out.
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
        if found.len() == MAX_FILES || (kind.is_dir() && depth == MAX_DEPTH) {
            return true;
        }
        // A symbolic link is neither a file nor a directory here.
        if kind.is_file() {
            found.push(path);
        } else if kind.is_dir() && list(&entry.path(), &path, depth + 1, found) {
            return true;
        }
    }
    false
}

/// Occurrences of a term in files: path, line number from 1, and line; up to `most` of them, and whether there are more.
pub(super) fn grep(root: &Path, files: &[String], term: &str, most: usize) -> (Vec<(String, u32, String)>, bool) {
    let mut found = Vec::new();
    let mut left = MAX_SEARCHED_BYTES;
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

/// The text of a file inside the directory that is neither too large nor binary.
pub(super) fn read(root: &Path, path: &str) -> Option<String> {
    let path = root.join(path).canonicalize().ok()?;
    let meta = path.symlink_metadata().ok()?;
    // The entry may have been replaced since it was listed.
    if !path.starts_with(root) || !meta.is_file() || meta.len() > MAX_FILE_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    let _count = fs::File::open(&path).ok()?.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    if bytes.contains(&0) {
        return None;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
