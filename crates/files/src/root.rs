//! Discovers the project root and the conventional directories of its texts.

use super::embedded::Area;
use std::path::{Path, PathBuf};

/// Markers of a project root, strongest first.
const MARKS: [&[&str]; 2] = [&["asterisk.yaml", ".asterisk"], &[".git", ".hg", ".jj", ".svn"]];

/// The nearest directory from `from` upward with `asterisk.yaml` or `.asterisk/`, else the nearest VCS root, else `from`.
pub fn project_root(from: &Path) -> PathBuf {
    let marked = |marks: &[&str]| from.ancestors().find(|dir| marks.iter().any(|mark| dir.join(mark).exists()));
    MARKS.iter().find_map(|marks| marked(marks)).unwrap_or(from).to_owned()
}

/// The conventional directory of an area, for an area that is not configured: the one with the area's name in the project root, else in
/// `here`. A directory without any text of the area belongs to another tool and is ignored.
pub fn conventional(area: Area, root: &Path, here: &Path) -> Option<PathBuf> {
    let candidates = if root == here { vec![root] } else { vec![root, here] };
    candidates.into_iter().map(|dir| dir.join(area.name())).find(|dir| has_texts(area, dir, ""))
}

/// Whether a directory contains a text of the area. Unreadable entries count as absent, and links are not followed.
fn has_texts(area: Area, dir: &Path, prefix: &str) -> bool {
    let Ok(entries) = std::fs::read_dir(dir) else { return false };
    entries.flatten().any(|entry| {
        let Ok(name) = entry.file_name().into_string() else { return false };
        let below = format!("{prefix}{name}");
        // Other YAML files among scripts, such as CI configuration, do not mark a directory as a project's.
        let text = || area.holds(&below) && (area != Area::Scripts || below.ends_with(".rhai") || below.starts_with("data/"));
        !name.starts_with('.')
            && match entry.file_type() {
                Ok(kind) if kind.is_dir() => has_texts(area, &entry.path(), &format!("{below}/")),
                Ok(kind) => kind.is_file() && text(),
                Err(_) => false,
            }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_found_by_their_names_if_there_is_a_text_in_them() {
        let dir = tempfile::tempdir().expect("a directory");
        let (root, here) = (dir.path(), dir.path().join("sub"));
        let file = |path: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, "").expect("written");
        };
        let found = |area| conventional(area, root, &here).map(|path| path.strip_prefix(root).expect("below").to_owned());
        file("scripts/deploy.sh");
        file("scripts/ci.yaml");
        file("scripts/.hidden/x.rhai");
        file("templates/plain.html");
        assert_eq!(Area::ALL.map(found), [None, None, None]);
        file("sub/scripts/rules/x.rhai");
        assert_eq!(found(Area::Scripts), Some("sub/scripts".into()));
        file("scripts/data/words.yaml");
        file("pipelines/p.yaml");
        assert_eq!(Area::ALL.map(found), [Some("scripts".into()), Some("pipelines".into()), None]);
    }

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
