//! What is linted, and how.

use super::config::Config;
use crate::project::LinkSettings;
use crate::session::ProjectText;

/// The texts, and how they are linted.
#[derive(Clone, Copy)]
pub struct LintInput<'a> {
    /// The texts of the project.
    pub texts: &'a [ProjectText],
    /// What linking takes from outside the texts.
    pub settings: &'a LinkSettings,
    /// Levels and options.
    pub config: &'a Config,
    /// The cases that scripts may be overfitted to.
    pub cases: &'a [CaseText],
}

/// The text of a case that scripts may be overfitted to.
#[derive(Clone, Debug)]
pub struct CaseText {
    /// What people know it by.
    pub name: String,
    /// Its test, error and log, in lower case.
    pub text: String,
}
