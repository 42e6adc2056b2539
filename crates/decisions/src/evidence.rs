//! The evidence that a case was decided by, as it was recorded.

use super::params::RecordedGroup;
use super::recorded::Decisions;
use super::selection::{CaseList, StepQuery, StepSelection, find, refused};
use super::steps::JournalStep;
use super::verdict::OtherTexts;
use asterisk_evidence::{FailureTexts, FrameLanguage, OwnerReason, ParsedFrame};
use asterisk_project::Project;
use asterisk_script::probe::Probes;
use asterisk_session::{Session, SessionError};
use asterisk_walk::ReadEvidence;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The name of the group of parameters that holds the document.
const GROUP: &str = "evidence";

/// The evidence document of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseEvidence {
    /// The run.
    pub run: String,
    /// The case.
    pub case: String,
    /// Its name.
    pub name: String,
    /// The path of the step that was given the document.
    pub step: String,
    /// Whether it is what was recorded, and not read again by other texts.
    #[serde(skip)]
    pub recorded: bool,
    /// The document, as `asterisk doc evidence` explains it.
    pub evidence: Value,
    /// The titles of the signatures that matched, by id, as far as known from the recorded texts.
    #[serde(skip)]
    pub titles: BTreeMap<String, String>,
    /// Why each frame has its owner, by the rules that were recorded; empty if they cannot be linked any more.
    pub owners: Vec<OwnerReason>,
}

/// What there is to show.
#[derive(Clone, Debug)]
pub enum FoundEvidence {
    /// Of a case.
    Case(Box<CaseEvidence>),
    /// The cases, of which one must be named.
    Cases(CaseList),
}

/// The evidence of the requested case. An error if the case does not exist or was recorded without evidence.
pub fn evidence(session: &Session, asked: &StepQuery) -> Result<FoundEvidence, SessionError> {
    let decisions = Decisions::open(session)?;
    match find(&decisions, asked)? {
        StepSelection::Case { run, case, steps } => {
            Ok(FoundEvidence::Case(Box::new(decisions.evidence(&run, &case, &steps, None)?)))
        }
        StepSelection::Cases(list) => Ok(FoundEvidence::Cases(list)),
    }
}

impl Decisions {
    /// The evidence of a case with these steps, or what other texts make of the same failure.
    pub fn evidence(
        &self,
        run: &str,
        case: &str,
        steps: &[JournalStep],
        other: Option<OtherTexts<'_>>,
    ) -> Result<CaseEvidence, SessionError> {
        let (step, mut evidence) = document(run, case, self.group(run, case, GROUP)?)?;
        let of = self.record().store().case(run, case)?;
        let recorded = other.is_none();
        let linked = match other {
            Some((project, plan)) => {
                evidence = ReadEvidence::read(&of, plan).document();
                Some(Arc::clone(project))
            }
            None => steps.iter().find(|known| *known.path == *step).and_then(|step| self.project(run, step, Probes::None).ok()),
        };
        let (titles, owners) = linked.map_or_else(Default::default, |project| {
            let texts = FailureTexts { name: &of.name, suite: &of.suite, ..FailureTexts::default() };
            (Self::titles(&project), project.plan.evidence.owner_reasons(texts, &frames(&evidence)))
        });
        Ok(CaseEvidence { run: run.to_owned(), case: case.to_owned(), name: of.name, step, recorded, evidence, titles, owners })
    }

    /// The titles of all signatures of a project.
    fn titles(project: &Project) -> BTreeMap<String, String> {
        let Some(data) = project.plan.data.view().map(asterisk_script::View::json) else { return BTreeMap::new() };
        let signatures = data["domain"]["signatures"].as_array().into_iter().flatten();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        signatures.filter_map(|signature| Some((text(&signature["id"])?, text(&signature["title"])?))).collect()
    }
}

/// The frames of a document.
fn frames(evidence: &Value) -> Vec<ParsedFrame> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let frames = evidence["frames"].as_array().into_iter().flatten();
    let parsed = frames.map(|frame| ParsedFrame {
        language: frame["language"].as_str().and_then(FrameLanguage::named).unwrap_or(FrameLanguage::Other),
        function: text(&frame["function"]),
        path: text(&frame["path"]),
        line: frame["line"].as_u64().and_then(|line| line.try_into().ok()).unwrap_or_default(),
    });
    parsed.collect()
}

fn document(run: &str, case: &str, group: RecordedGroup) -> Result<(String, Value), SessionError> {
    match group {
        RecordedGroup::Of(path, value) if value.is_object() => Ok((path.to_string(), value)),
        RecordedGroup::Of(..) | RecordedGroup::Lacking => {
            let message = format!("the run {run} was recorded by a version without evidence");
            Err(refused("input/no-evidence", message, Some("read the launch again: asterisk run --input FILE".into())))
        }
        RecordedGroup::NoParams => {
            let message = format!("no step of the case `{case}` has been answered yet, so no evidence is recorded");
            Err(refused("input/no-evidence", message, Some(format!("asterisk status {run} shows the progress of the run"))))
        }
    }
}

/// A case that a signature matched in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SignatureSighting {
    /// The run.
    pub run: String,
    /// The case.
    pub case: String,
    /// The line that counted.
    pub text: String,
}

/// Where a signature matched over the recorded history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SignatureHits {
    /// How many different failures it matched in: a failure that several runs have counts once.
    pub cases: usize,
    /// The latest of them, newest first.
    pub latest: Vec<SignatureSighting>,
}

/// The most cases that are listed of a signature.
const LATEST: usize = 5;

/// Where each signature matched, by its id, over all runs that a store still has; nothing without a store.
pub fn signature_hits(session: &Session) -> Result<BTreeMap<String, SignatureHits>, SessionError> {
    let mut hits: BTreeMap<String, SignatureHits> = BTreeMap::new();
    if session.no_store_yet().is_some() {
        return Ok(hits);
    }
    let decisions = Decisions::open(session)?;
    let mut seen: HashSet<(String, String)> = HashSet::new();
    for run in decisions.record().runs(&[])? {
        let keys: HashMap<String, String> = decisions.record().store().case_names(&run)?.into_iter().collect();
        decisions.each_group(&run, GROUP, |case, evidence| {
            let failure = keys.get(case).cloned().unwrap_or_else(|| case.to_owned());
            for found in evidence["matches"].as_array().into_iter().flatten() {
                let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
                if !seen.insert((text("id"), failure.clone())) {
                    continue;
                }
                let hits = hits.entry(text("id")).or_default();
                hits.cases += 1;
                if hits.latest.len() < LATEST {
                    hits.latest.push(SignatureSighting { run: run.clone(), case: case.to_owned(), text: text("text") });
                }
            }
            Ok(())
        })?;
    }
    Ok(hits)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_recorded_without_evidence_says_so() {
        let said = |group| document("r-1", "c-1", group).unwrap_err().to_string();
        assert!(said(RecordedGroup::Lacking).contains("the run r-1 was recorded by a version without evidence"));
        assert!(
            said(RecordedGroup::Of("1".into(), json!(null))).contains("the run r-1 was recorded by a version without evidence")
        );
        assert!(said(RecordedGroup::NoParams).contains("no step of the case `c-1` has been answered yet"));
        let good = document("r-1", "c-1", RecordedGroup::Of("1".into(), json!({ "headline": "x" }))).unwrap();
        assert_eq!(good, ("1".to_owned(), json!({ "headline": "x" })));
    }
}
