//! Errors returned to callers of tools.

use asterisk_diag::{Diagnostic, Diagnostics};
use asterisk_session::SessionError;
use serde_json::{Value, json};

/// Error of a tool call: `{code, message}` and optional details.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ToolFault(pub(super) Value);

impl ToolFault {
    pub(super) fn new(code: &str, message: impl Into<String>) -> Self {
        Self(json!({ "code": code, "message": message.into() }))
    }

    /// Adds a hint.
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.0["help"] = help.into().into();
        self
    }

    /// Adds a detail.
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0[key] = value.into();
        self
    }

    /// The message alone.
    pub(super) fn message(&self) -> &str {
        self.0["message"].as_str().unwrap_or_default()
    }
}

impl From<SessionError> for ToolFault {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::BadRequest(one) | SessionError::Outside(one) => Self(to_json(&one)),
            SessionError::Texts(all) => many(&all),
            other => Self::new("failed", other.to_string()),
        }
    }
}

fn many(all: &Diagnostics) -> ToolFault {
    let mut faults: Vec<Value> = all.iter().map(to_json).collect();
    match faults.len() {
        0 => ToolFault::new("failed", "unknown error"),
        1 => ToolFault(faults.remove(0)),
        _ => ToolFault::new("texts", format!("{} problems", faults.len())).with("diagnostics", faults),
    }
}

/// A diagnostic as JSON.
pub(super) fn to_json(one: &Diagnostic) -> Value {
    let mut json = json!({ "code": one.code, "message": one.message });
    if let Some(place) = one.place() {
        json["place"] = place.into();
    }
    if let Some(help) = &one.help {
        json["help"] = help.as_str().into();
    }
    json
}
