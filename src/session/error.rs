//! How what a session is asked for can fail.

use crate::diag::{Diagnostic, Diagnostics, is_full};
use crate::files::{FileError, WatchError};
use crate::store::StoreError;
use crate::walk::JournalError;

/// Why a session could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A pipeline, script, template, data file or input does not compile, parse or link.
    #[error("{0}")]
    Texts(Diagnostics),
    /// What was asked for does not exist or does not fit together: a run, a node, a case, a pipeline's name.
    #[error("{0}")]
    Asked(Box<Diagnostic>),
    /// Somebody outside who is needed does not do what they are asked: a server.
    #[error("{0}")]
    Outside(Box<Diagnostic>),
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Edits cannot be watched for.
    #[error(transparent)]
    Watch(#[from] WatchError),
    /// A file cannot be written.
    #[error("cannot write `{path}`: {source}")]
    Write {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl SessionError {
    /// Something that was asked for and is not there.
    pub fn asked(code: &'static str, message: impl Into<String>, help: Option<String>) -> Self {
        Self::Asked(Box::new(Diagnostic::error(code, message).maybe_help(help)))
    }

    /// Whether there is no room to write.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Write { source, .. } => is_full(source),
            Self::Store(StoreError::Full(_)) | Self::Journal(JournalError::Full(_)) => true,
            _ => false,
        }
    }
}

impl SessionError {
    /// The same of a run that has begun: what keeps its store from being used stops the run, which can be resumed.
    pub(super) fn of_a_run(self) -> Self {
        match self {
            Self::Store(error @ (StoreError::Sqlite(_) | StoreError::Io { .. } | StoreError::Full(_))) => {
                Self::Journal(error.into())
            }
            other => other,
        }
    }
}

impl From<Diagnostics> for SessionError {
    fn from(diagnostics: Diagnostics) -> Self {
        Self::Texts(diagnostics)
    }
}
