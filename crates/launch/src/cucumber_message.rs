//! The messages of Cucumber, with the fields that are read.

use super::loose::{JsonNumber, List, Loose, Text};
use super::times;
use asterisk_base::clock::Timestamp;
use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Message {
    pub(super) gherkin_document: Option<Loose<Document>>,
    pub(super) pickle: Option<Loose<Pickle>>,
    pub(super) hook: Option<Loose<Hook>>,
    pub(super) test_case: Option<Loose<TestCase>>,
    pub(super) test_run_started: Option<Loose<MessageBegin>>,
    pub(super) test_case_started: Option<Loose<MessageBegin>>,
    pub(super) test_step_finished: Option<Loose<MessageStepEnd>>,
    pub(super) attachment: Option<Loose<Attachment>>,
    pub(super) test_case_finished: Option<Loose<CaseEnd>>,
    pub(super) test_run_hook_started: Option<Loose<MessageBegin>>,
    pub(super) test_run_hook_finished: Option<Loose<HookEnd>>,
    pub(super) parse_error: Option<Loose<ParseError>>,
    pub(super) test_run_finished: Option<Loose<RunEnd>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Document {
    pub(super) uri: Text,
    pub(super) feature: Loose<Feature>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Feature {
    pub(super) name: Text,
    pub(super) children: List<Child>,
}

/// A scenario, or a rule with scenarios.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Child {
    pub(super) rule: Option<Loose<Feature>>,
    pub(super) scenario: Option<Loose<MessageScenario>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct MessageScenario {
    pub(super) id: Text,
    pub(super) location: Loose<Location>,
    pub(super) examples: List<Examples>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Examples {
    pub(super) table_body: List<MessageScenario>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Location {
    pub(super) line: JsonNumber,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Pickle {
    pub(super) id: Text,
    pub(super) uri: Text,
    pub(super) name: Text,
    pub(super) ast_node_ids: List<Text>,
    pub(super) tags: List<Named>,
    pub(super) steps: List<PickleStep>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Named {
    pub(super) name: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct PickleStep {
    pub(super) id: Text,
    pub(super) text: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Hook {
    pub(super) id: Text,
    pub(super) name: Text,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct TestCase {
    pub(super) id: Text,
    pub(super) pickle_id: Text,
    pub(super) test_steps: List<TestStep>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct TestStep {
    pub(super) id: Text,
    pub(super) hook_id: Text,
    pub(super) pickle_step_id: Text,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct MessageBegin {
    pub(super) id: Text,
    pub(super) test_case_id: Text,
    pub(super) hook_id: Text,
    pub(super) timestamp: Loose<Moment>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Moment {
    pub(super) seconds: JsonNumber,
    pub(super) nanos: JsonNumber,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct MessageStepEnd {
    pub(super) test_case_started_id: Text,
    #[serde(rename = "testStepId")]
    pub(super) step_id: Text,
    #[serde(rename = "testStepResult")]
    pub(super) result: Loose<MessageStepResult>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct MessageStepResult {
    pub(super) status: Text,
    pub(super) message: Text,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Attachment {
    pub(super) body: Text,
    pub(super) content_encoding: Text,
    pub(super) test_case_started_id: Text,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct CaseEnd {
    pub(super) test_case_started_id: Text,
    pub(super) timestamp: Loose<Moment>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct HookEnd {
    pub(super) test_run_hook_started_id: Text,
    pub(super) result: Loose<MessageStepResult>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ParseError {
    pub(super) source: Loose<ParseSource>,
    pub(super) message: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ParseSource {
    pub(super) uri: Text,
    pub(super) location: Loose<Location>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RunEnd {
    pub(super) success: Option<Loose<bool>>,
    pub(super) message: Text,
    pub(super) exception: Loose<MessageStepResult>,
    pub(super) timestamp: Loose<Moment>,
}

impl Moment {
    pub(super) fn at(&self) -> Option<Timestamp> {
        let seconds = self.seconds.seconds()? + self.nanos.nanos().unwrap_or(0.0);
        times::parse(&format!("{:.0}", seconds * 1000.0))
    }
}
