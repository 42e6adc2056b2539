//! Errors raised inside an evaluation, with their code and help, so that nothing has to be read back from a message.

use crate::diag::{Diagnostic, Label};
use rhai::{Dynamic, EvalAltResult, Position};
use std::borrow::Cow;

/// Reading a field that is not there and not declared.
pub(crate) const UNKNOWN_FIELD: &str = "rule/unknown-field";
/// Comparing values of different kinds.
pub(crate) const COMPARE_TYPES: &str = "rule/compare-types";
/// Writing to an input.
pub(crate) const READ_ONLY: &str = "rule/read-only";
/// Reading an item that is not there.
pub(crate) const INDEX: &str = "script/index";
/// Going over a limit.
pub const LIMIT: &str = "script/limit";
/// Taking too long.
pub(crate) const DEADLINE: &str = "script/deadline";
/// What a script may not use.
pub(crate) const FORBIDDEN: &str = "script/forbidden";

/// What went wrong, as the payload of a Rhai run-time error. Host functions raise it too: [`ScriptFault::into`].
#[derive(Clone, Debug)]
pub struct ScriptFault {
    /// `area/name`, stable.
    pub code: Cow<'static, str>,
    /// A sentence in the words of the script's author.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// Places beside the one where it was raised: those of what the host ran for the script.
    pub(crate) labels: Vec<Label>,
}

impl ScriptFault {
    /// A fault without help.
    pub fn new(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), help: None, labels: Vec::new() }
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says what to do, if there is anything to say.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Fails; the position is filled in on the way out.
    #[cold]
    pub fn fail<T>(self) -> Result<T, Box<EvalAltResult>> {
        self.fail_at(Position::NONE)
    }

    /// Fails at a position. (Errors of the host's own nodes get none on the way out.)
    #[cold]
    pub(crate) fn fail_at<T>(self, position: Position) -> Result<T, Box<EvalAltResult>> {
        Err(Box::new(EvalAltResult::ErrorRuntime(Dynamic::from(self), position)))
    }
}

/// What came of something that the host ran for a script: its places stay.
impl From<Diagnostic> for ScriptFault {
    fn from(diagnostic: Diagnostic) -> Self {
        let Diagnostic { code, message, labels, help, .. } = diagnostic;
        Self { code, message, help, labels }
    }
}

/// A comparison operator in the place of a function's name: what it would stand for is Rhai's own comparison, which takes
/// values of different kinds for unequal.
pub(crate) fn operator(operator: &str) -> ScriptFault {
    ScriptFault::new(FORBIDDEN, format!("`{operator}` cannot be called by its name"))
        .help(format!("write a closure: `|a, b| a {operator} b`"))
}

/// The position is filled in on the way out.
impl From<ScriptFault> for Box<EvalAltResult> {
    #[cold]
    fn from(fault: ScriptFault) -> Self {
        Self::new(EvalAltResult::ErrorRuntime(Dynamic::from(fault), Position::NONE))
    }
}
