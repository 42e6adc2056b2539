//! The evidence of a case, in the forms that a walk needs.

use super::content::Content;
use super::plan::Plan;
use asterisk_base::model::{Case, Hash, Kind};
use asterisk_evidence::{FailureTexts, PeerKeys};
use asterisk_script::View;
use asterisk_script::probe::frame;
use serde_json::{Value, json};
use std::sync::Arc;

/// What the texts of a case say.
#[derive(Clone, Debug)]
pub struct ReadEvidence {
    /// The address of the data that it was read by.
    pub(super) reader: Hash,
    /// The document, as scripts read it.
    pub(super) view: View,
    /// The same, for the record.
    pub(super) content: Content,
    /// What it may have in common with other failures.
    pub(super) keys: Arc<PeerKeys>,
}

impl ReadEvidence {
    /// Reads the texts of a case.
    pub fn read(case: &Case, plan: &Plan) -> Self {
        frame("evidence", "", || {
            let log = case.log_snippet.text_or_error();
            let evidence = plan.evidence.read(FailureTexts::of(case, &log));
            let keys = Arc::new(plan.evidence.peer_keys(case, &evidence));
            let view = View::of(&json!(evidence), &Kind::Any, "params.evidence");
            Self { reader: *plan.evidence.address(), view: view.clone(), content: Content::new(view), keys }
        })
    }

    /// The document.
    pub fn document(&self) -> Value {
        self.view.json()
    }

    /// What it may have in common with other failures.
    pub fn keys(&self) -> &PeerKeys {
        &self.keys
    }
}
