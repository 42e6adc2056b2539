//! Confines paths in messages to the project's directory.

use super::fault::ToolFault;
use std::path::{Path, PathBuf};

/// The path, if it stays within the project's directory after links are resolved, and is a file or a directory: reading from a pipe would
/// wait for a writer.
pub(super) fn within(root: &Path, path: &str) -> Result<PathBuf, ToolFault> {
    let outside = || {
        ToolFault::new("outside", format!("`{path}` is not a file of the project")).help("name one below the project's directory")
    };
    let root = root.canonicalize().map_err(|_| outside())?;
    let whole = root.join(path).canonicalize().map_err(|_| outside())?;
    if !whole.starts_with(&root) {
        return Err(outside());
    }
    if !whole.is_file() && !whole.is_dir() {
        let fault = ToolFault::new("no_file", format!("`{path}` is neither a file nor a directory"));
        return Err(fault.help("name a regular file, or a directory of such files"));
    }
    Ok(whole)
}

/// Checks that a pipeline named by a path is within the project.
pub(super) fn pipeline_within(root: &Path, pipeline: Option<&str>) -> Result<(), ToolFault> {
    match pipeline.filter(|pipeline| pipeline.contains(['/', '\\']) || root.join(pipeline).exists()) {
        Some(path) => within(root, path).map(drop),
        None => Ok(()),
    }
}
