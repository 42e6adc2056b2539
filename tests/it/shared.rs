//! Data that is not part of the repository: vectors and real launches in a directory next to it. Tests that need it say so,
//! past the test runner's capture, if it is missing.

use crate::harness::repository;
use serde_json::Value;
use std::io::Write as _;
use std::path::PathBuf;

/// A file of that directory, or `None` with a notice.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let found =
        ["../shared", "../../shared"].map(|dir| repository().join(dir).join(path)).into_iter().find(|file| file.is_file());
    if found.is_none() {
        let message = format!("SKIPPED: {path} is not in ../shared; what depends on it was not tested\n");
        std::io::stderr().write_all(message.as_bytes()).unwrap();
    }
    found
}

/// The same, parsed.
pub(crate) fn shared_json(path: &str) -> Option<Value> {
    let text = std::fs::read_to_string(shared(path)?).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}
