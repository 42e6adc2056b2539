//! `asterisk show evidence`: the evidence extracted from the texts of a recorded case.

use super::explain::{cases, versioned};
use crate::ui::{OutputFormat, Ui};
use asterisk_decisions::{FoundEvidence, StepQuery, evidence as found, evidence_page};
use asterisk_session::{Session, SessionError};

/// The default run.
const LATEST: &str = "latest";

pub(super) fn evidence(ui: &Ui, session: &Session, run: Option<&str>, case: Option<&str>) -> Result<(), SessionError> {
    let query = StepQuery { run: run.unwrap_or(LATEST).to_owned(), case: case.map(str::to_owned), step: None };
    match found(session, &query)? {
        FoundEvidence::Cases(list) => cases(ui, &list, "show evidence"),
        FoundEvidence::Case(case) if ui.format() == OutputFormat::Json => ui.json(&versioned(&case)),
        FoundEvidence::Case(case) => ui.page(&evidence_page(&case, ui.width())),
    }
    Ok(())
}
