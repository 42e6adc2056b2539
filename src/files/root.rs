//! The directory of a project: the nearest one upward that says so.

use std::path::{Path, PathBuf};

/// What marks a project's directory, strongest first.
const MARKS: [&[&str]; 2] = [&["asterisk.yaml", ".asterisk"], &[".git", ".hg", ".jj", ".svn"]];

/// The nearest directory from `from` upward with `asterisk.yaml` or `.asterisk/`, else the nearest VCS root, else `from`.
pub fn project_root(from: &Path) -> PathBuf {
    let marked = |marks: &[&str]| from.ancestors().find(|dir| marks.iter().any(|mark| dir.join(mark).exists()));
    MARKS.iter().find_map(|marks| marked(marks)).unwrap_or(from).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_file_beats_a_nearer_repository() {
        let dir = tempfile::tempdir().expect("a directory");
        let deep = dir.path().join("a/b/c");
        std::fs::create_dir_all(dir.path().join("a/b/.git")).expect("made");
        std::fs::create_dir_all(&deep).expect("made");
        assert_eq!(project_root(&deep), dir.path().join("a/b"));
        std::fs::write(dir.path().join("asterisk.yaml"), "").expect("written");
        assert_eq!(project_root(&deep), dir.path());
    }
}
