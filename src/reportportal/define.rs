//! What was found of items, as their issues. Sending the same again changes nothing, so that one who does not know whether it was sent
//! sends it.

use super::call::{Portal, PortalError};
use crate::diag::Diagnostic;
use serde_json::{Value, json};

/// Issues of one request.
const CHUNK: usize = 50;

/// What an item is to say from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The item's id.
    pub item: i64,
    /// What kind of defect it is: the locator of a defect type of the project (`pb001`).
    pub issue_type: String,
    /// What is said of it.
    pub comment: String,
    /// Nobody but programs has looked at it.
    pub auto: bool,
}

/// What came of one.
#[derive(Clone, Debug)]
pub enum UpdateResult {
    /// It was taken.
    Sent,
    /// It was not, and why.
    Refused(Diagnostic),
}

impl Issue {
    /// As the API has it. Tickets are not named, so those that an item has stay.
    pub fn json(&self) -> Value {
        json!({
            "testItemId": self.item,
            "issue": { "issueType": self.issue_type, "comment": self.comment, "autoAnalyzed": self.auto, "ignoreAnalyzer": false },
        })
    }
}

impl Portal<'_> {
    /// Makes sure that a launch of that id has that name there, so that no other items are written to.
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
        let help = "it is another launch; see `reportportal:` in asterisk.yaml, and which run you name";
        Err(PortalError::Asked(Diagnostic::error("reportportal/other-launch", message).help(help)))
    }

    /// Sets issues, some at a time. `done` is told what came of each before the next are sent. One that is refused keeps no other from
    /// being taken; the first trouble with the server itself ends it.
    pub fn define<E: From<PortalError>>(
        &self,
        issues: &[Issue],
        mut done: impl FnMut(&[Issue], UpdateResult) -> Result<(), E>,
    ) -> Result<(), E> {
        for chunk in issues.chunks(CHUNK) {
            match self.set(chunk) {
                // It takes all or none, so each goes by itself.
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

/// What came of issues that were sent; an error if it is no matter of theirs.
fn outcome(sent: Result<(), PortalError>) -> Result<UpdateResult, PortalError> {
    match sent {
        Ok(()) => Ok(UpdateResult::Sent),
        Err(PortalError::Refused(_, why)) => {
            let help = "the project's settings there list its defect types; `issue_type:` of a defect in the vocabulary (data/domains/) says \
                        which is meant";
            Ok(UpdateResult::Refused(why.help(help)))
        }
        Err(trouble) => Err(trouble),
    }
}
