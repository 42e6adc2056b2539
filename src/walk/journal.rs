//! The port to the journal, and what a step leaves there.

use super::content::Content;
use super::event::Event;
use crate::model::{Effect, Hash};
use std::sync::Arc;

/// The append-only record of runs. Implementations are atomic per call: all of a [`Commit`] or nothing.
pub trait Journal: Send + Sync {
    /// Takes a step's commit. Returns when it is as safe as the session's durability level promises.
    fn commit(&self, commit: Commit) -> Result<(), JournalError>;

    /// Whether it keeps anything. A journal that does not is given nothing, and nothing is serialised or hashed for it.
    fn keeps(&self) -> bool {
        true
    }
}

/// All that one step (or the beginning or end of a walk) leaves behind, stored in one transaction.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    /// The events, in order; each with the case and path it is about.
    pub events: Vec<Event>,
    /// Content that the events refer to by hash.
    pub blobs: Vec<Blob>,
    /// Writes to the model of symptoms and root causes, handles resolved, about the events' case.
    pub effects: Vec<Effect<i64>>,
}

impl Commit {
    /// A commit of events, with the content they refer to, each once.
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

/// Some content with its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The address of `text`.
    pub hash: Hash,
    /// The content: canonical JSON, or the text of a script or template.
    pub text: Arc<str>,
}

impl Blob {
    /// Addresses a text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        Self { hash: Hash::of(text.as_bytes()), text }
    }
}

/// Why the journal did not take a commit.
#[derive(Clone, Debug, thiserror::Error)]
pub enum JournalError {
    /// Another process holds the store; trying again may help.
    #[error("the store is busy: {0}")]
    Busy(String),
    /// It does not take what the commit asks for (an effect that contradicts what is stored); asking again won't help.
    #[error("the store refused a step: {0}")]
    Refused(String),
    /// There is no room for it.
    #[error("the disk is full: {0}")]
    Full(String),
    /// It cannot be written.
    #[error("the store failed: {0}")]
    Failed(String),
}
