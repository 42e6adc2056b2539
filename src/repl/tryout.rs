//! Overrides vars, scripts, artifacts and states.

use super::command::CODE;
use super::state::{CommandDone, ReplState, wrong_word};
use asterisk_diag::{Diagnostic, Source, Span, did_you_mean};
use asterisk_project::AnswererNames;
use asterisk_session::SessionError;
use serde_json::Value;
use std::sync::Arc;

impl ReplState {
    pub(super) fn set(&mut self, text: &Source, argument: &str, at: usize) -> CommandDone {
        let Some((name, value)) = argument.split_once('=').filter(|(name, _)| !name.trim().is_empty()) else {
            let diagnostic = Diagnostic::error(CODE, format!("`{argument}` is not NAME=VALUE"));
            let diagnostic = diagnostic.label(text, Span::new(at, at + argument.len()), "");
            return Err(SessionError::BadRequest(Box::new(diagnostic.help("for example :set recall_hit=0.9"))));
        };
        let value = serde_json::from_str(value.trim()).unwrap_or_else(|_| Value::String(value.trim().to_owned()));
        let before = self.place.set.insert(name.trim().to_owned(), value);
        if let Err(error) = self.place.here() {
            // An invalid value is not set.
            match before {
                Some(before) => drop(self.place.set.insert(name.trim().to_owned(), before)),
                None => drop(self.place.set.remove(name.trim())),
            }
            return Err(error);
        }
        self.print_decision()
    }

    pub(super) fn unset(&mut self, text: &Source, argument: &str, at: usize) -> CommandDone {
        if argument.is_empty() {
            self.place.set.clear();
        } else if self.place.set.remove(argument).is_none() {
            let diagnostic = Diagnostic::error(CODE, format!("`{argument}` is not set here"));
            let hint = did_you_mean(argument, self.place.set.keys().map(String::as_str));
            let diagnostic = diagnostic.label(text, Span::new(at, at + argument.len()), "").maybe_help(hint);
            return Err(SessionError::BadRequest(Box::new(diagnostic)));
        }
        self.print_decision()
    }

    pub(super) fn reload(&mut self, text: &Source, argument: &str, at: usize) -> CommandDone {
        match argument {
            "recorded" if self.place.walked.is_some() => {
                self.place.now = None;
                self.print("using the recorded sources")?;
            }
            "" => {
                let before = self.place.now.clone();
                let session = &self.place.session;
                let project = session.project_after(self.place.pipeline.as_deref(), AnswererNames::Others, before.as_deref())?;
                self.place.now = Some(Arc::new(project));
                if let Err(error) = self.place.here() {
                    self.place.now = before;
                    return Err(error);
                }
                self.print("using the current sources")?;
            }
            _ => return Err(wrong_word(text, argument, at, "`:reload` or, with a run, `:reload recorded`")),
        }
        self.print_decision()
    }
}
