//! Removes output directories of runs.

use std::fs;
use std::io;
use std::path::Path;

/// Removes a file, or a directory recursively, and returns the total size of its files in bytes; `None` if it does not exist or is neither (a
/// symbolic link is kept, and none is followed). With `dry`, nothing is removed.
pub fn remove_entry(path: &Path, dry: bool) -> io::Result<Option<u64>> {
    let Ok(meta) = path.symlink_metadata() else { return Ok(None) };
    if meta.is_file() {
        if !dry {
            fs::remove_file(path)?;
        }
        return Ok(Some(meta.len()));
    }
    if !meta.is_dir() {
        return Ok(None);
    }
    let bytes = size(path)?;
    if !dry {
        fs::remove_dir_all(path)?;
    }
    Ok(Some(bytes))
}

fn size(dir: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let meta = entry.path().symlink_metadata()?;
        bytes += if meta.is_dir() { size(&entry.path())? } else { meta.len() };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn removal_does_not_follow_links() {
        let dir = tempfile::tempdir().unwrap();
        let (run, other) = (dir.path().join("run"), dir.path().join("other"));
        fs::create_dir_all(run.join("case")).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(run.join("case/a.json"), "12345").unwrap();
        fs::write(other.join("b"), "kept").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&other, run.join("link")).unwrap();
        let would = remove_entry(&run, true).unwrap().unwrap();
        assert!(would >= 5 && run.exists());
        assert_eq!(remove_entry(&run, false).unwrap(), Some(would));
        assert!(!run.exists() && other.join("b").exists());
        assert_eq!(remove_entry(&run, false).unwrap(), None);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&other, &run).unwrap();
            assert_eq!(remove_entry(&run, false).unwrap(), None);
            assert!(run.exists());
        }
    }
}
