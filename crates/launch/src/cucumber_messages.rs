//! Reads Cucumber's messages (`--format message`), one per line.
//!
//! Feature files that could not be parsed and hooks of the run that failed are cases, and so is a scenario that began and did not end.

use super::cucumber::{ScenarioLog, ScenarioNames};
use super::cucumber_message::{CaseEnd, Message, MessageScenario, MessageStepEnd, Pickle, TestCase};
use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord};
use super::loose::Loose;
use super::{InputPart, json_events, texts};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use std::collections::{BTreeMap, HashMap};

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "Cucumber messages",
    signs: &[FormatSign::Event(|line| line.get("meta").is_some_and(|meta| meta.get("protocolVersion").is_some()))],
    is_json: true,
    read,
};

/// A scenario that runs.
#[derive(Default)]
struct Running {
    case: String,
    started_at: Option<Timestamp>,
    steps: ScenarioLog,
    output: String,
}

#[derive(Default)]
struct MessageReader {
    /// Names of features, by file.
    features: HashMap<String, String>,
    names: HashMap<String, ScenarioNames>,
    /// Lines of scenarios and rows, by id.
    lines: HashMap<String, u64>,
    pickles: HashMap<String, Pickle>,
    /// Texts of steps and names of hooks, by id.
    steps: HashMap<String, String>,
    cases: HashMap<String, TestCase>,
    run_hooks: HashMap<String, String>,
    running: BTreeMap<String, Running>,
    has_ended: bool,
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    let mut builder = input.builder();
    let mut reader = MessageReader::default();
    let cut = json_events::read(input.stream, &mut builder, |message, builder| reader.message(message, builder))?;
    if cut.is_some() || !reader.has_ended {
        builder.cut_off("the file is cut off before the run ends".to_owned());
    }
    for running in std::mem::take(&mut reader.running).into_values() {
        let failed = running.steps.outcome().is_failure();
        let mut record = reader.record(&running.case, TestOutcome::Error);
        running.steps.fill(&mut record);
        if !failed {
            "the scenario began and did not end".clone_into(&mut record.error);
        }
        builder.attempt(record);
    }
    Ok(builder.finish(input.source.name()))
}

impl MessageReader {
    fn message(&mut self, message: Message, builder: &mut LaunchBuilder) {
        if let Some(Loose(document)) = message.gherkin_document {
            self.features.insert(document.uri.to_string(), document.feature.0.name.to_string());
            for child in document.feature.0.children {
                let rule = child.rule.map(|rule| rule.0.children).unwrap_or_default();
                let inner = rule.into_iter().filter_map(|child| child.scenario);
                inner.chain(child.scenario).for_each(|Loose(scenario)| self.scenario(scenario));
            }
        } else if let Some(Loose(pickle)) = message.pickle {
            for step in &*pickle.steps {
                self.steps.insert(step.id.to_string(), step.text.to_string());
            }
            self.pickles.insert(pickle.id.to_string(), pickle);
        } else if let Some(Loose(hook)) = message.hook {
            self.steps.insert(hook.id.to_string(), format!("hook {}", &*hook.name));
        } else if let Some(Loose(case)) = message.test_case {
            self.cases.insert(case.id.to_string(), case);
        } else if let Some(Loose(begin)) = message.test_run_started {
            builder.span(begin.timestamp.at(), None);
        } else if let Some(Loose(begin)) = message.test_case_started {
            let running =
                Running { case: begin.test_case_id.to_string(), started_at: begin.timestamp.at(), ..Running::default() };
            self.running.insert(begin.id.to_string(), running);
        } else if let Some(Loose(end)) = message.test_step_finished {
            self.step(&end);
        } else if let Some(Loose(attachment)) = message.attachment {
            let running = self.running.get_mut(&*attachment.test_case_started_id);
            if let Some(running) = running.filter(|_| &*attachment.content_encoding == "IDENTITY") {
                running.output.push_str(&attachment.body);
                running.output.push('\n');
            }
        } else if let Some(Loose(end)) = message.test_case_finished {
            self.end(&end, builder);
        } else {
            self.run(message, builder);
        }
    }

    /// Messages about the run as a whole.
    fn run(&mut self, message: Message, builder: &mut LaunchBuilder) {
        if let Some(Loose(begin)) = message.test_run_hook_started {
            let name = self.steps.get(&*begin.hook_id).cloned().unwrap_or_default();
            self.run_hooks.insert(begin.id.to_string(), name);
        } else if let Some(Loose(end)) = message.test_run_hook_finished {
            if &*end.result.status == "FAILED" {
                let name = self.run_hooks.get(&*end.test_run_hook_started_id).map_or("hook of the run", String::as_str);
                fixture(name, "hook", &end.result.message, builder);
            }
        } else if let Some(Loose(error)) = message.parse_error {
            let mut record = TestRecord::fixture("", texts::file_name(&error.source.uri));
            record.set("fixture", "file");
            record.locate(&error.source.uri, error.source.location.line.count());
            error.message.clone_into(&mut record.error);
            builder.add(record);
        } else if let Some(Loose(end)) = message.test_run_finished {
            self.has_ended = true;
            builder.span(None, end.timestamp.at());
            builder.declare_failed(end.success.as_ref().is_some_and(|success| !success.0));
            if let Some(message) = end.exception.message.some().or(end.message.some()) {
                fixture("run", "run", message, builder);
            }
        }
    }

    fn scenario(&mut self, scenario: MessageScenario) {
        let rows = scenario.examples.into_iter().flat_map(|examples| examples.table_body);
        for row in rows {
            self.lines.insert(row.id.to_string(), row.location.line.count());
        }
        self.lines.insert(scenario.id.to_string(), scenario.location.line.count());
    }

    fn step(&mut self, end: &MessageStepEnd) {
        let Some(running) = self.running.get_mut(&*end.test_case_started_id) else { return };
        let steps = self.cases.get(&running.case).map_or(&[][..], |case| &case.test_steps);
        let step = steps.iter().find(|step| *step.id == *end.step_id);
        let id = step.map_or("", |step| step.pickle_step_id.some().unwrap_or(&step.hook_id));
        let name = self.steps.get(id).map_or("step", String::as_str);
        let result = &end.result;
        running.steps.step(name, &result.status.to_lowercase(), &result.message, &std::mem::take(&mut running.output));
    }

    fn end(&mut self, end: &CaseEnd, builder: &mut LaunchBuilder) {
        let Some(running) = self.running.remove(&*end.test_case_started_id) else { return };
        let mut record = self.record(&running.case, running.steps.outcome());
        record.started_at = running.started_at;
        record.duration_s = end.timestamp.at().zip(running.started_at).map(|(end, start)| end.seconds_since(start));
        running.steps.fill(&mut record);
        builder.attempt(record);
    }

    fn record(&mut self, case: &str, outcome: TestOutcome) -> TestRecord {
        let pickle = self.cases.get(case).and_then(|case| self.pickles.get(&*case.pickle_id));
        let Some(pickle) = pickle else { return TestRecord::new("", "", outcome) };
        let line = pickle.ast_node_ids.last().and_then(|id| self.lines.get(&**id)).copied().unwrap_or(0);
        let name = self.names.entry(pickle.uri.to_string()).or_default().name(pickle.name.trim(), line);
        let mut record = TestRecord::new(self.features.get(&*pickle.uri).map_or("", String::as_str), &name, outcome);
        record.locate(&pickle.uri, line);
        for tag in &*pickle.tags {
            record.set("tag", tag.name.trim_start_matches('@'));
        }
        record
    }
}

fn fixture(name: &str, kind: &str, error: &str, builder: &mut LaunchBuilder) {
    let mut record = TestRecord::fixture("", name);
    record.set("fixture", kind);
    error.clone_into(&mut record.error);
    builder.add(record);
}
