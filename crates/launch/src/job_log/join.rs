//! Joins the log of a job with the reports of its tests: a case of a report gets its part of the log, and what the report lost
//! comes from the log.

use super::super::part::InputPart;
use super::super::room::TextRoom;
use super::super::unique::Ids;
use asterisk_base::model::{Case, Launch, TestIdentity};
use std::collections::HashMap;

/// The kinds of cases by which a log only says that its tests failed.
const FOLLOWERS: [&str; 2] = ["command", "gate"];

/// Adds the cases of logs to the launch of reports.
pub(in super::super) fn join(launch: &mut Launch, logs: Vec<InputPart>, room: &TextRoom) {
    let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, case) in launch.cases.iter().enumerate() {
        by_name.entry(words(&case.name)).or_default().push(index);
    }
    let mut ids = Ids::default();
    for case in &launch.cases {
        ids.take(&case.id);
    }
    let has_failures = !launch.cases.is_empty();
    for part in logs {
        let log = part.launch;
        for mut case in log.cases {
            let kind = case.attributes.get("kind").unwrap_or_default().to_owned();
            if kind == "test" {
                if let Some(index) = twin(&case, &launch.cases, &by_name) {
                    fill_in(&mut launch.cases[index], &case, room);
                    continue;
                }
                // Another attempt passed.
                let outcome = launch.outcomes.get(TestIdentity::new(&case.suite, &case.name));
                if outcome.is_some_and(|outcome| !outcome.is_failure()) {
                    continue;
                }
            } else if has_failures && FOLLOWERS.contains(&kind.as_str()) {
                continue;
            }
            case.id = ids.take(&case.id);
            for total in ["failed", "total"] {
                *launch.totals.entry(total.to_owned()).or_default() += 1;
            }
            launch.cases.push(case);
        }
        launch.notes.extend(log.notes.into_iter().map(|note| format!("{}: {note}", part.name)));
        // Without a mark in the log, the reports say whether the job passed.
        launch.gaps.extend(log.gaps.into_iter().filter(|_| !has_failures).map(|gap| format!("{}: {gap}", part.name)));
        for (name, value) in log.attributes.iter().filter(|(name, _)| *name != "report_format") {
            super::super::attributes::add(&mut launch.attributes, name, value);
        }
        launch.started_at = [launch.started_at, log.started_at].into_iter().flatten().min();
        launch.ended_at = [launch.ended_at, log.ended_at].into_iter().flatten().max();
    }
}

/// The same test in a report.
fn twin(case: &Case, cases: &[Case], by_name: &HashMap<String, Vec<usize>>) -> Option<usize> {
    let name = words(&case.name);
    let same = by_name.get(&name).map_or(&[][..], Vec::as_slice);
    let suite = words(&case.suite);
    let related = |index: &&usize| {
        let other = words(&cases[**index].suite);
        suite.is_empty() || other.is_empty() || other.contains(&suite) || suite.contains(&other)
    };
    if let Some(index) = same.iter().find(related).or(if same.len() == 1 { same.first() } else { None }) {
        return Some(*index);
    }
    // A report may put the titles of suites into the name, or into the suite.
    let full = words(&format!("{} {}", case.suite, case.name));
    cases.iter().position(|other| {
        let whole = words(&format!("{} {}", other.suite, other.name));
        whole == full
            || whole.ends_with(&format!(" {full}"))
            || full.ends_with(&format!(" {}", words(&other.name))) && whole.contains(&suite)
    })
}

/// The log's text becomes the log of a case that has none; what the report does not know is taken from it.
fn fill_in(case: &mut Case, more: &Case, room: &TextRoom) {
    if case.error_message.is_empty() {
        case.error_message.clone_from(&more.error_message);
        case.recall_key.clone_from(&more.recall_key);
    } else if case.log_snippet.is_empty() && more.error_message.lines().count() > 1 {
        case.log_snippet = room.keep(more.error_message.clone());
    }
    case.file = case.file.take().or_else(|| more.file.clone());
    if let Some(step) = more.attributes.get("step") {
        super::super::attributes::add(&mut case.attributes, "step", step);
    }
}

fn words(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
