//! An index of a working tree, to resolve the files named by stack frames.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Directories without sources of the project.
const SKIPPED: [&str; 5] = ["node_modules", "target", "venv", "site-packages", "__pycache__"];

/// The maximum number of files.
const MAX_FILES: usize = 200_000;

/// The maximum depth of directories.
const MAX_DEPTH: usize = 32;

/// The files below a directory, indexed by file name.
#[derive(Debug, Default)]
pub struct SourceTree {
    root: PathBuf,
    /// Paths below the root, with forward slashes, by file name.
    files: HashMap<String, Vec<String>>,
    count: usize,
}

impl SourceTree {
    /// Indexes the files below a directory. Skips hidden and unreadable files; does not follow links.
    pub fn read(root: &Path) -> Self {
        let mut tree = Self { root: root.to_owned(), ..Self::default() };
        tree.dir("", 0);
        tree
    }

    fn dir(&mut self, below: &str, depth: usize) {
        let Ok(entries) = fs::read_dir(self.root.join(below)) else { return };
        for entry in entries.flatten() {
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
            if name.starts_with('.') || self.count == MAX_FILES {
                continue;
            }
            let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
            if kind.is_dir() && depth < MAX_DEPTH && !SKIPPED.contains(&name.as_str()) {
                self.dir(&path, depth + 1);
            } else if kind.is_file() {
                self.count += 1;
                self.files.entry(name).or_default().push(path);
            }
        }
    }

    /// Resolves the path of a stack frame, which may be absolute on another machine or a bare file name. Returns the file that shares the
    /// longest path suffix, or `None` if there is none or the match is ambiguous.
    pub fn find(&self, path: &str) -> Option<&str> {
        let path = path.replace('\\', "/");
        let wanted: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let same = |file: &str| file.rsplit('/').zip(wanted.iter().rev()).take_while(|(a, b)| a == *b).count();
        let ranked = self.files.get(*wanted.last()?)?.iter().filter_map(|file| {
            let (length, same) = (file.split('/').count(), same(file));
            (same >= length.min(wanted.len()).min(2)).then_some((same, file.as_str()))
        });
        let ranked: Vec<(usize, &str)> = ranked.collect();
        let best = ranked.iter().map(|(same, _)| *same).max()?;
        let mut best = ranked.iter().filter(|(same, _)| *same == best);
        let first = best.next()?.1;
        best.next().is_none().then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_resolves_to_the_file_with_the_longest_common_suffix() {
        let dir = tempfile::tempdir().expect("a directory");
        for path in
            ["src/test/java/shop/CartTest.java", "a/util.py", "b/util.py", "main.go", "node_modules/x/only.js", "tests/one.py"]
        {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, "x").expect("written");
        }
        let tree = SourceTree::read(dir.path());
        for (frame, file) in [
            ("CartTest.java", Some("src/test/java/shop/CartTest.java")),
            ("shop/CartTest.java", Some("src/test/java/shop/CartTest.java")),
            ("/builds/group/shop/tests/one.py", Some("tests/one.py")),
            (r"C:\work\b\util.py", Some("b/util.py")),
            ("./main.go", Some("main.go")),
            ("util.py", None),
            ("c/util.py", None),
            ("only.js", None),
            ("other/shop/one.py", None),
            ("", None),
        ] {
            assert_eq!(tree.find(frame), file, "{frame}");
        }
    }
}
