//! `asterisk show evidence`: what the texts of a recorded case were read as.

use super::explain::{cases, versioned};
use crate::decisions::{FoundEvidence, StepQuery, evidence as found, evidence_page};
use crate::session::{Session, SessionError};
use crate::ui::{OutputFormat, Ui};

/// The run that is meant where none is named.
const LATEST: &str = "latest";

pub(super) fn evidence(ui: Ui, session: &Session, run: Option<&str>, case: Option<&str>) -> Result<(), SessionError> {
    let asked = StepQuery { run: run.unwrap_or(LATEST).to_owned(), case: case.map(str::to_owned), step: None };
    match found(session, &asked)? {
        FoundEvidence::Cases(list) => cases(ui, &list, "show evidence"),
        FoundEvidence::Case(told) if ui.format() == OutputFormat::Json => ui.json(&versioned(&told)),
        FoundEvidence::Case(told) => ui.page(&evidence_page(&told, ui.width())),
    }
    Ok(())
}
