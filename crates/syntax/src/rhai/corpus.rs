//! The scripts of the repository, for tests.

use std::fs;
use std::path::{Path, PathBuf};

/// All scripts below the repository, with their texts.
pub(crate) fn scripts() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for area in ["scripts", "tests", "examples", "src", "crates", "docs"] {
        collect(&root.join(area), &mut files);
    }
    files.sort();
    assert!(files.len() > 250, "only {} scripts found", files.len());
    files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).expect("a text"))).collect()
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rhai") {
            files.push(path);
        }
    }
}
