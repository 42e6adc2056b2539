//! The directory of a run in which prompts are laid out for others and their answers found: a port, so that whoever answers through files
//! need not know how they are kept safe.

use crate::walk::Request;
use std::io;
use std::time::Duration;

/// Where the files of a step are, as paths below the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepFiles {
    /// The directory of the walk that the step belongs to.
    pub dir: String,
    /// The prompt.
    pub prompt: String,
    /// The artifact.
    pub artifact: String,
}

/// A directory of a run.
pub trait RunDir: Send + Sync {
    /// Where the files of a step are.
    fn places(&self, request: &Request<'_>) -> StepFiles;

    /// Where that is, for others: an absolute path.
    fn path(&self, name: &str) -> String;

    /// Writes a file, whole or not at all, that nobody but the user may read.
    fn write(&self, name: &str, text: &str) -> io::Result<()>;

    /// Reads a plain file of at most so many bytes; nothing if there is none.
    fn read(&self, name: &str, most: usize) -> io::Result<Option<Vec<u8>>>;

    /// Removes what is there by that name, if anything is.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// How many changes were seen in the directory so far; to be asked before it is looked at.
    fn seen(&self) -> u64;

    /// The number of a request, as signals have it (`dispatch_id`): the next one of the run for a new request, and the same for one that
    /// is open, whichever process asked. It is kept before this returns.
    fn number(&self, request: i64) -> io::Result<i64>;

    /// A request that has its answer: it does not come again.
    fn settle(&self, request: i64);

    /// Says in the case's `state.json` which step waits.
    fn waits(&self, request: &Request<'_>) -> io::Result<()>;

    /// Waits until there are more than `seen`, or for that long: changes may be missed.
    fn wait(&self, seen: u64, most: Duration);
}
