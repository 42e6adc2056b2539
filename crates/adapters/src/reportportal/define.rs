//! Writes findings to items as their issues. The operation is idempotent, so it can be repeated if its result is unknown.

use super::call::{Portal, PortalError};
use asterisk_diag::Diagnostic;
use serde_json::{Value, json};

/// Number of issues in one request.
const CHUNK: usize = 50;

/// New issue of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Id of the item.
    pub item: i64,
    /// Defect type: a locator of the project (`pb001`).
    pub issue_type: String,
    /// Comment on the issue.
    pub comment: String,
    /// Whether no person has reviewed it.
    pub auto: bool,
}

/// Result for one issue.
#[derive(Clone, Debug)]
pub enum UpdateResult {
    /// Accepted.
    Sent,
    /// Refused, with the reason.
    Refused(Diagnostic),
}

impl Issue {
    /// The issue as the API expects it. External tickets are not included, so that existing ones stay.
    pub fn json(&self) -> Value {
        json!({
            "testItemId": self.item,
            "issue": { "issueType": self.issue_type, "comment": self.comment, "autoAnalyzed": self.auto, "ignoreAnalyzer": false },
        })
    }
}

impl Portal<'_> {
    /// Checks that the launch of that id has that name on the server, so that no other items are modified.
    pub fn check(&self, id: &str, name: &str) -> Result<(), PortalError> {
        let launch = self.launch(id)?;
        let there = launch["name"].as_str().unwrap_or_default();
        if there == name {
            return Ok(());
        }
        let place = self.place();
        let message = format!(
            "launch {id} is called `{there}` in the project `{}` of {}, and `{name}` in the run",
            place.project, place.url
        );
        let help = "it is another launch; check `reportportal:` in asterisk.yaml and the run";
        Err(PortalError::BadRequest(Diagnostic::error("reportportal/other-launch", message).help(help)))
    }

    /// Writes issues in chunks. `done` receives the result of each before the next chunk is sent. A refused issue does not affect others;
    /// the first error of the server itself ends the operation.
    pub fn define<E: From<PortalError>>(
        &self,
        issues: &[Issue],
        mut done: impl FnMut(&[Issue], UpdateResult) -> Result<(), E>,
    ) -> Result<(), E> {
        for chunk in issues.chunks(CHUNK) {
            match self.set(chunk) {
                // A chunk is accepted or refused as a whole, so each issue is sent separately.
                Err(PortalError::Refused(..)) if chunk.len() > 1 => {
                    for one in chunk.chunks(1) {
                        done(one, outcome(self.set(one))?)?;
                    }
                }
                sent => done(chunk, outcome(sent)?)?,
            }
        }
        Ok(())
    }

    fn set(&self, issues: &[Issue]) -> Result<(), PortalError> {
        let issues: Vec<Value> = issues.iter().map(Issue::json).collect();
        self.put("item", &json!({ "issues": issues })).map(drop)
    }
}

/// The result of a chunk; errors that do not concern its issues are returned as such.
fn outcome(sent: Result<(), PortalError>) -> Result<UpdateResult, PortalError> {
    match sent {
        Ok(()) => Ok(UpdateResult::Sent),
        Err(PortalError::Refused(_, why)) => {
            let help = "set `issue_type:` of the defect in the domain (data/domains/) to one of the project's defect types";
            Ok(UpdateResult::Refused(why.help(help)))
        }
        Err(trouble) => Err(trouble),
    }
}
