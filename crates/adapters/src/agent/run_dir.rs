//! Port: the directory of a run that holds prompts and answers, so that file-based answerers do not depend on how files are protected.

use asterisk_walk::Request;
use std::io;
use std::time::Duration;

/// Paths of the files of a step, relative to the run's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepFiles {
    /// Directory of the walk that the step belongs to.
    pub dir: String,
    /// The prompt.
    pub prompt: String,
    /// The artifact.
    pub artifact: String,
}

/// The directory of a run.
pub trait RunDir: Send + Sync {
    /// The paths of a step's files.
    fn places(&self, request: &Request<'_>) -> StepFiles;

    /// The absolute path of a file, for other programs.
    fn path(&self, name: &str) -> String;

    /// Writes a file atomically, readable by the user only.
    fn write(&self, name: &str, text: &str) -> io::Result<()>;

    /// Reads a plain file of at most `most` bytes; `None` if it does not exist.
    fn read(&self, name: &str, most: usize) -> io::Result<Option<Vec<u8>>>;

    /// Removes an entry, if it exists.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Number of changes seen in the directory so far; to be read before the directory is inspected.
    fn change_count(&self) -> u64;

    /// The sequence number of a request (`dispatch_id` in signals): the next one of the run for a new request, the same for an open one,
    /// also across processes. It is persisted before this returns.
    fn dispatch_id(&self, request: i64) -> io::Result<i64>;

    /// Marks a request as answered; it does not recur.
    fn mark_answered(&self, request: i64);

    /// Records the pending step in the case's `state.json`.
    fn mark_pending(&self, request: &Request<'_>) -> io::Result<()>;

    /// Waits for more than `change_count` changes, at most for the given time. Changes may be missed.
    fn wait(&self, change_count: u64, most: Duration);
}
