//! The port to the journal, and the commit of a step.

use super::content::Content;
use super::event::Event;
use asterisk_base::model::{Effect, Hash};
use std::sync::Arc;

/// The append-only record of runs. Implementations are atomic per call: all of a [`Commit`] or nothing.
pub trait Journal: Send + Sync {
    /// Stores a commit. Returns once it is as durable as the session's durability level requires.
    fn commit(&self, commit: Commit) -> Result<(), JournalError>;

    /// Whether commits are stored. If not, nothing is serialised or hashed for the journal.
    fn keeps(&self) -> bool {
        true
    }
}

/// Everything that one step (or the beginning or end of a walk) stores, in one transaction.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    /// The events, in order, each with its case and path.
    pub events: Vec<Event>,
    /// Content that the events refer to by address.
    pub blobs: Vec<Blob>,
    /// Writes to the symptoms and root causes of the events' case, with symbolic ids resolved.
    pub effects: Vec<Effect<i64>>,
}

impl Commit {
    /// A commit of events with the content they refer to, each once.
    pub fn of(events: Vec<Event>) -> Self {
        let mut blobs: Vec<Blob> = Vec::new();
        let mut add = |content: &Content| {
            let Some(text) = content.text() else { return };
            let hash = content.hash();
            if !blobs.iter().any(|blob| blob.hash == hash) {
                blobs.push(Blob { hash, text });
            }
        };
        events.iter().flat_map(|event| event.what.contents()).for_each(|content| content.each(&mut add));
        Self { events, blobs, effects: Vec::new() }
    }
}

/// Content with its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The address of `text`.
    pub hash: Hash,
    /// Canonical JSON, or the text of a script or template.
    pub text: Arc<str>,
}

impl Blob {
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        Self { hash: Hash::of(text.as_bytes()), text }
    }
}

/// Why the journal did not store a commit.
#[derive(Clone, Debug, thiserror::Error)]
pub enum JournalError {
    /// Another process holds the store; a retry may help.
    #[error("the store is busy: {0}")]
    Busy(String),
    /// The commit is invalid (an effect contradicts what is stored); a retry won't help.
    #[error("the store refused a step: {0}")]
    Refused(String),
    /// The disk is full.
    #[error("the disk is full: {0}")]
    Full(String),
    /// The auditor cannot write what a step says, so the step is not taken.
    #[error("{0}; the run stops, because nothing is done without an audit")]
    Audit(String),
    /// The store cannot be written.
    #[error("the store failed: {0}")]
    Failed(String),
}
