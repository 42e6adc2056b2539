//! The input of the linter.

use super::config::Config;
use asterisk_project::LinkSettings;
use asterisk_session::ProjectText;

/// The texts to lint, and the settings.
#[derive(Clone, Copy)]
pub struct LintInput<'a> {
    /// The texts of the project.
    pub texts: &'a [ProjectText],
    /// The settings for linking.
    pub settings: &'a LinkSettings,
    /// Levels and options.
    pub config: &'a Config,
    /// The cases that scripts may be overfitted to.
    pub cases: &'a [CaseText],
}

/// A case that scripts may be overfitted to.
#[derive(Clone, Debug)]
pub struct CaseText {
    /// Its display name.
    pub name: String,
    /// Its test name, error and log, in lower case.
    pub text: String,
}
