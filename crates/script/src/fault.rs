//! Errors raised during an evaluation, with code and help as data, so that nothing has to be parsed from a message.

use asterisk_diag::{Code, Diagnostic, Label};
use rhai::{Dynamic, EvalAltResult, Position};
use std::borrow::Cow;

/// Reading a field that is neither present nor declared.
pub(crate) const UNKNOWN_FIELD: &str = "rule/unknown-field";
/// Comparing values of different types.
pub(crate) const COMPARE_TYPES: &str = "rule/compare-types";
/// Writing to an input.
pub(crate) const READ_ONLY: &str = "rule/read-only";
/// Reading an item beyond the end of a list.
pub(crate) const INDEX: &str = "script/index";
/// Exceeding a limit.
pub(crate) const LIMIT: &str = Code::ScriptLimit.text();
/// Exceeding the time limit.
pub(crate) const DEADLINE: &str = Code::ScriptDeadline.text();
/// Using something forbidden in scripts.
pub(crate) const FORBIDDEN: &str = "script/forbidden";

/// An error, as the payload of a Rhai run-time error. Host functions raise it with [`ScriptFault::into`].
#[derive(Clone, Debug)]
pub struct ScriptFault {
    /// `area/name`, stable.
    pub code: Cow<'static, str>,
    /// One sentence for the author of the script.
    pub message: String,
    /// How to fix it.
    pub help: Option<String>,
    /// Additional labels: those of nested evaluations by the host.
    pub(crate) labels: Vec<Label>,
}

impl ScriptFault {
    /// An error without help.
    pub fn new(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), help: None, labels: Vec::new() }
    }

    /// Adds help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds help, if there is any.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Returns it as an error; the position is added while unwinding.
    #[cold]
    pub fn fail<T>(self) -> Result<T, Box<EvalAltResult>> {
        self.fail_at(Position::NONE)
    }

    /// Returns it as an error with a position. (Errors of host nodes get none while unwinding.)
    #[cold]
    pub(crate) fn fail_at<T>(self, position: Position) -> Result<T, Box<EvalAltResult>> {
        Err(Box::new(EvalAltResult::ErrorRuntime(Dynamic::from(self), position)))
    }
}

/// An error of something that the host ran for a script keeps its labels.
impl From<Diagnostic> for ScriptFault {
    fn from(diagnostic: Diagnostic) -> Self {
        let Diagnostic { code, message, labels, help, .. } = diagnostic;
        Self { code, message, help, labels }
    }
}

/// The error about a comparison operator used as a function name: it would call Rhai's own comparison, which treats values of
/// different types as unequal.
pub(crate) fn operator(operator: &str) -> ScriptFault {
    ScriptFault::new(FORBIDDEN, format!("`{operator}` cannot be called by its name"))
        .help(format!("write a closure: `|a, b| a {operator} b`"))
}

/// The position is added while unwinding.
impl From<ScriptFault> for Box<EvalAltResult> {
    #[cold]
    fn from(fault: ScriptFault) -> Self {
        Self::new(EvalAltResult::ErrorRuntime(Dynamic::from(fault), Position::NONE))
    }
}
