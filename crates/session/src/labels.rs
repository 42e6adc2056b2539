//! Labels from daily work: reviews in the store, and defect types in ReportPortal.

use super::labelled::{LabelSource, LabelledCase, LabelledCases, defect_code};
use super::{HUMAN, Session, SessionError};
use asterisk_adapters::reportportal::LaunchFilter;
use asterisk_base::model::{Case, Launch};
use asterisk_project::Project;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How a comment that `asterisk push` leaves begins its last paragraph.
pub const PUSH_MARK: &str = "Asterisk: run ";

/// What identifies a failure over all runs: the name and id of its launch, and its own.
type FailureKey = (String, String, String);

impl Session {
    /// The reviewed failures, each according to the latest review.
    pub fn reviewed(&self) -> Result<LabelledCases<LabelledCase>, SessionError> {
        let mut latest: BTreeMap<FailureKey, LabelledCase> = BTreeMap::new();
        let mut left_out = Vec::new();
        let mut written = 0;
        // Oldest first: a later review of the same failure replaces an earlier one.
        for row in self.runs()?.into_iter().rev() {
            let result = match self.result(&row.run) {
                Ok(result) => result,
                Err(SessionError::Texts(found)) => {
                    let why = found.iter().next().map_or_else(String::new, |first| first.message.clone());
                    left_out.push((format!("run {}", row.run), why));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let launch = Arc::new(Launch { cases: Vec::new(), left_out: result.cases.len(), ..result.launch.clone() });
            let key = format!("{} {}", launch.name, launch.run_id);
            result.each(|case| {
                let Some((source, label)) = case.finding.as_ref().and_then(word_of_a_person) else { return Ok(()) };
                written += 1;
                let labelled = LabelledCase {
                    id: case.case.id.clone(),
                    label: label.to_owned(),
                    source,
                    weight: 1.0,
                    at: Some(result.started_at),
                    project: launch.name.clone(),
                    launch_key: key.clone(),
                    decidable: None,
                    launch: Arc::clone(&launch),
                    case: case.case.clone(),
                    finding: case.finding.clone().map(Arc::new),
                };
                latest.insert((launch.name.clone(), launch.run_id.clone(), case.case.id.clone()), labelled);
                Ok(())
            })?;
        }
        Ok(LabelledCases { written, cases: latest.into_values().collect(), left_out })
    }

    /// The failures of past launches of ReportPortal whose defect type a person set. What `asterisk push` set is left out, unless a
    /// person changed it since; so is what its own analyser set.
    pub fn portal_labels(
        &self,
        project: &Project,
        filter: &LaunchFilter,
        look: &dyn Fn(usize, usize),
        stop: &AtomicBool,
    ) -> Result<LabelledCases<LabelledCase>, SessionError> {
        let masker = Arc::new(project.masker());
        let launches = if filter.ids.is_empty() { self.portal(stop)?.past_launches(filter)? } else { filter.ids.clone() };
        let mut found = LabelledCases { written: 0, cases: Vec::new(), left_out: Vec::new() };
        for (done, id) in launches.iter().enumerate() {
            look(done, launches.len());
            let (mut launch, _) = self.fetch(id, &masker, &|_, _| {}, stop)?;
            let cases = std::mem::take(&mut launch.cases);
            launch.left_out += cases.len();
            let launch = Arc::new(launch);
            for case in cases {
                found.written += 1;
                match label_in_portal(&case, project.data.files.all()) {
                    Ok(label) => found.cases.push(LabelledCase {
                        id: format!("{}/{}", launch.run_id, case.id),
                        label,
                        source: LabelSource::Portal,
                        weight: 1.0,
                        at: launch.started_at.or(case.started_at),
                        project: launch.name.clone(),
                        launch_key: format!("{} {}", launch.name, launch.run_id),
                        decidable: None,
                        launch: Arc::clone(&launch),
                        case,
                        finding: None,
                    }),
                    Err(why) => found.left_out.push((format!("{}/{}", launch.run_id, case.id), why)),
                }
            }
        }
        Ok(found)
    }
}

/// The review of a finding by a person: its kind, and the defect.
fn word_of_a_person(finding: &Value) -> Option<(LabelSource, &str)> {
    let review = finding.get("review")?;
    let source = match (review["by"].as_str()?, review["decision"].as_str()?) {
        (HUMAN, "approve") => LabelSource::Approve,
        (HUMAN, "overturn") => LabelSource::Overturn,
        _ => return None,
    };
    finding["defect_type"].as_str().filter(|defect| !defect.is_empty()).map(|defect| (source, defect))
}

/// The defect that a person set on an item, or why it has none.
fn label_in_portal(case: &Case, data: &Map<String, Value>) -> Result<String, String> {
    let Some(locator) = case.source_defect.as_deref() else { return Err("ReportPortal has no defect type of it".to_owned()) };
    if case.attributes.get("auto_analyzed").is_some() {
        return Err("ReportPortal's own analyser set the defect type".to_owned());
    }
    let code = by_locator(data, locator).unwrap_or(locator);
    let pushed = case.attributes.get("issue_comment").and_then(pushed_code);
    if pushed.is_some_and(|pushed| pushed == code || by_locator(data, pushed) == Some(code)) {
        return Err("`asterisk push` set the defect type".to_owned());
    }
    Ok(code.to_owned())
}

/// The code of the defect in a comment of `asterisk push`: `Asterisk: run R, case C, NAME (CODE), confidence ...`.
fn pushed_code(comment: &str) -> Option<&str> {
    let (_, pushed) = comment.rsplit_once(PUSH_MARK)?;
    let (before, _) = pushed.split_once("), confidence")?;
    before.rsplit_once('(').map(|(_, code)| code)
}

/// The code of the defect with a locator in ReportPortal: the first, of several.
fn by_locator<'a>(data: &'a Map<String, Value>, locator: &str) -> Option<&'a str> {
    let defects = data.get("domain")?["defects"].as_object()?;
    if let Some((code, _)) = defects.get_key_value(locator) {
        return Some(code);
    }
    defect_code(data, locator)
        .or_else(|| defects.iter().find(|(_, defect)| defect["issue_type"] == locator).map(|(code, _)| code.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_people_label() {
        let finding = |by: &str, decision: &str| json!({ "defect_type": "d1", "review": { "by": by, "decision": decision } });
        assert_eq!(word_of_a_person(&finding("human", "approve")), Some((LabelSource::Approve, "d1")));
        assert_eq!(word_of_a_person(&finding("human", "overturn")), Some((LabelSource::Overturn, "d1")));
        assert_eq!(word_of_a_person(&finding("script", "approve")), None);
        assert_eq!(word_of_a_person(&finding("human", "reassess")), None);
        assert_eq!(word_of_a_person(&json!({ "defect_type": "d1" })), None);
    }

    #[test]
    fn own_pushes_are_not_labels_until_a_person_changes_them() {
        let data = json!({ "domain": { "defects": {
            "d1": { "issue_type": "pb001" },
            "d2": { "issue_type": "si001", "aliases": ["s2"] },
        } } });
        let data = data.as_object().cloned().unwrap_or_default();
        let label = |locator: Option<&str>, comment: &str, auto: bool| {
            let mut case = Case { source_defect: locator.map(str::to_owned), ..Case::default() };
            if !comment.is_empty() {
                case.attributes.insert("issue_comment", comment);
            }
            if auto {
                case.attributes.insert("auto_analyzed", "true");
            }
            label_in_portal(&case, &data)
        };
        let ours = "Refused\n\nAsterisk: run 7, case 9, Product bug (d1), confidence 0.9, approved by a person.";
        assert_eq!(label(Some("si001"), "", false), Ok("d2".to_owned()));
        assert_eq!(label(Some("pb001"), "seen before", false), Ok("d1".to_owned()));
        assert_eq!(label(Some("unknown"), "", false), Ok("unknown".to_owned()));
        assert!(label(Some("pb001"), ours, false).is_err());
        assert_eq!(label(Some("si001"), ours, false), Ok("d2".to_owned()), "a person changed it");
        assert!(label(Some("pb001"), "", true).is_err() && label(None, "", false).is_err());
    }
}
