//! Errors of a session.

use asterisk_diag::{Diagnostic, Diagnostics, is_full};
use asterisk_files::{FileError, WatchError};
use asterisk_store::StoreError;
use asterisk_walk::JournalError;
use std::borrow::Cow;

/// Why a session could not do what was requested.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A pipeline, script, template, data file or input does not compile, parse or link.
    #[error("{0}")]
    Texts(Diagnostics),
    /// The request names something that does not exist or does not fit: a run, a node, a case, a pipeline.
    #[error("{0}")]
    BadRequest(Box<Diagnostic>),
    /// An external server failed.
    #[error("{0}")]
    Outside(Box<Diagnostic>),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Watch(#[from] WatchError),
    /// A file cannot be written.
    #[error("cannot write `{path}`: {source}")]
    Write { path: String, source: std::io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl SessionError {
    /// The error of a request for something that does not exist.
    pub fn bad_request(code: impl Into<Cow<'static, str>>, message: impl Into<String>, help: Option<String>) -> Self {
        Self::BadRequest(Box::new(Diagnostic::error(code, message).maybe_help(help)))
    }

    /// Whether the disk is full.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Write { source, .. } => is_full(source),
            Self::Store(StoreError::Full(_)) | Self::Journal(JournalError::Full(_)) => true,
            _ => false,
        }
    }
}

impl SessionError {
    /// Converts the error of a run that has begun: an unusable store stops the run, which can be resumed.
    pub(super) fn of_a_run(self) -> Self {
        match self {
            Self::Store(
                error @ (StoreError::Database(_)
                | StoreError::Io { .. }
                | StoreError::Full(_)
                | StoreError::Unreachable(_)
                | StoreError::TakenOver(_)),
            ) => Self::Journal(error.into()),
            other => other,
        }
    }
}

impl From<Diagnostics> for SessionError {
    fn from(diagnostics: Diagnostics) -> Self {
        Self::Texts(diagnostics)
    }
}
