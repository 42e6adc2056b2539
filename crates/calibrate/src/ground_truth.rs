//! Ground truth kept by a project: a scenario file that grows with reviews.
//!
//! Each reviewed failure runs through the `curation` pipeline, whose last node decides whether the record is verified, a candidate, or
//! refused.

use super::scenario;
use asterisk_base::environment::InputStream;
use asterisk_base::model::{Launch, recall_key};
use asterisk_diag::Source;
use asterisk_diag::counted;
use asterisk_files::read_input;
use asterisk_form::yaml;
use asterisk_session::{LabelledCase, RunInputs, RunSettings, RunSpec, Session, SessionError};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The pipeline that builds the records.
const CURATION: &str = "curation";
/// The node that returns the finished record.
const PROMOTE: &str = "promote";
/// Prefix of the case attributes that carry the review into the pipeline.
const REVIEW_PREFIX: &str = "curated_";
/// The maximum number of example ids listed for a health remark.
const EXAMPLES: usize = 5;

/// A scenario backed by a file.
#[derive(Clone, Debug)]
pub struct GroundTruth {
    path: PathBuf,
    name: String,
    /// The remaining top-level keys of the file, kept as they are.
    rest: Map<String, Value>,
    pub causes: Vec<Value>,
    pub cases: Vec<Value>,
}

/// The outcome of promoting a reviewed failure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromotedCase {
    /// The id of the case.
    pub case: String,
    /// `verified`, `candidate`, `refused`, or `known`.
    pub status: String,
    /// The reason for the status.
    pub why: String,
}

/// A weakness in the ground truth that should be fixed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HealthRemark {
    /// A description of the weakness.
    pub what: String,
    /// The number of cases or causes affected.
    pub count: usize,
    /// The ids of the first few of them.
    pub examples: Vec<String>,
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

impl GroundTruth {
    /// Reads a file. A missing file yields empty ground truth.
    pub fn open(path: &Path, input: &InputStream) -> Result<Self, SessionError> {
        if path.try_exists().is_ok_and(|there| !there) {
            let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
            return Ok(Self { path: path.to_owned(), name, rest: Map::new(), causes: Vec::new(), cases: Vec::new() });
        }
        Self::read(path, input)
    }

    fn read(path: &Path, input: &InputStream) -> Result<Self, SessionError> {
        let source = read_input(path, input)?;
        let tree = yaml::parse(&source).map_err(SessionError::Texts)?;
        scenario::check(&source, &tree, path)?;
        let Value::Object(mut rest) = tree.to_json() else { return Err(not_one(&source)) };
        let mut list = |key: &str| match rest.remove(key) {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        let (causes, cases) = (list("rcas"), list("cases"));
        let name = rest.remove("name").and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
        Ok(Self { path: path.to_owned(), name, rest, causes, cases })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file with one line per cause and case, so that diffs stay reviewable.
    pub fn save(&self) -> Result<(), SessionError> {
        let failed = |source| SessionError::Write { path: self.path.display().to_string(), source };
        std::fs::write(&self.path, self.text()).map_err(failed)
    }

    /// Serializes the ground truth for the file.
    pub fn text(&self) -> String {
        let mut out =
            String::from("# What failures turned out to be (`asterisk calibrate truth`), a scenario for `asterisk calibrate`.\n");
        let _ = writeln!(out, "name: {}", json!(self.name));
        for (key, value) in &self.rest {
            let _ = writeln!(out, "{key}: {value}");
        }
        for (key, items) in [("rcas", &self.causes), ("cases", &self.cases)] {
            let _ = writeln!(out, "{key}:{}", if items.is_empty() { " []" } else { "" });
            for item in items {
                let _ = writeln!(out, "  - {item}");
            }
        }
        out
    }

    /// Returns the scenario as JSON, restricted to human-confirmed records if `verified` is set.
    pub fn json(&self, verified: bool) -> Value {
        let kept = |cause: &&Value| !verified || cause["verified"] == true;
        let causes: Vec<&Value> = self.causes.iter().filter(kept).collect();
        let known: BTreeSet<&str> = causes.iter().filter_map(|cause| cause["id"].as_str()).collect();
        let of_cause = |case: &&Value| !verified || case["rca_id"].as_str().is_some_and(|cause| known.contains(cause));
        let mut whole = self.rest.clone();
        whole.insert("name".into(), json!(self.name));
        whole.insert("rcas".into(), json!(causes));
        whole.insert("cases".into(), json!(self.cases.iter().filter(of_cause).collect::<Vec<_>>()));
        Value::Object(whole)
    }

    /// Imports causes and cases that are not known yet from another file. Returns the number of each.
    pub fn import(&mut self, path: &Path, input: &InputStream) -> Result<(usize, usize), SessionError> {
        let other = Self::read(path, input)?;
        let known = |list: &[Value]| list.iter().map(|one| text(one, "id")).collect::<BTreeSet<String>>();
        let (causes, cases, failures) = (known(&self.causes), known(&self.cases), self.failures());
        let before = (self.causes.len(), self.cases.len());
        self.causes.extend(other.causes.into_iter().filter(|cause| !causes.contains(&text(cause, "id"))));
        let fresh = |case: &Value| !cases.contains(&text(case, "id")) && failure(case).is_none_or(|key| !failures.contains(&key));
        self.cases.extend(other.cases.into_iter().filter(|case| fresh(case)));
        Ok((self.causes.len() - before.0, self.cases.len() - before.1))
    }

    /// The recall keys of all cases.
    fn failures(&self) -> BTreeSet<String> {
        self.cases.iter().filter_map(failure).collect()
    }

    /// Promotes reviewed failures to records. A non-empty `only` restricts promotion to these case ids.
    pub fn promote(&mut self, session: &Session, only: &[String]) -> Result<Vec<PromotedCase>, SessionError> {
        let reviewed = session.reviewed()?.cases;
        if let Some(unknown) = only.iter().find(|id| !reviewed.iter().any(|case| case.case.id == **id)) {
            let message = format!("no person reviewed a case `{unknown}`");
            let help = "confirm its analysis with asterisk review CASE approve, or correct it with `overturn`".to_owned();
            return Err(SessionError::bad_request("truth/not-reviewed", message, Some(help)));
        }
        let mut launches: BTreeMap<String, Vec<LabelledCase>> = BTreeMap::new();
        for case in reviewed.into_iter().filter(|case| only.is_empty() || only.contains(&case.case.id)) {
            launches.entry(case.launch_key.clone()).or_default().push(case);
        }
        let mut promoted = Vec::new();
        for cases in launches.into_values() {
            promoted.extend(self.promote_of(session, &cases)?);
        }
        Ok(promoted)
    }

    /// Runs the reviewed failures of one launch through the pipeline.
    fn promote_of(&mut self, session: &Session, reviewed: &[LabelledCase]) -> Result<Vec<PromotedCase>, SessionError> {
        let Some(first) = reviewed.first() else { return Ok(Vec::new()) };
        let mut launch = Launch::clone(&first.launch);
        launch.cases = reviewed.iter().map(with_review).collect();
        let spec = RunSpec {
            settings: RunSettings { pipeline: Some(CURATION.to_owned()), no_recall: true, ..RunSettings::default() },
            dry_run: true,
            ..RunSpec::of(RunInputs::Given(Arc::new(launch)))
        };
        let run = session.run(&spec, &(), &AtomicBool::new(false))?;
        let mut promoted = Vec::new();
        let mut at = reviewed.iter();
        run.each(|result| {
            let Some(labelled) = at.next() else { return Ok(()) };
            let answer = result.state.prior.get(PROMOTE).and_then(|artifact| Some(artifact.view()?.json()));
            let (status, why) = match (&answer, result.error()) {
                (Some(answer), _) => (text(answer, "status"), text(answer, "why")),
                (None, Some(error)) => ("refused".to_owned(), error.message),
                (None, None) => ("refused".to_owned(), "no source contains information about its cause".to_owned()),
            };
            let known = self.failures();
            let key = recall_key(&labelled.case.name, &labelled.case.error_message);
            let (status, why) = match &answer {
                Some(_) if status != "refused" && known.contains(&key) => {
                    ("known".to_owned(), "a case with the same test and error already exists".to_owned())
                }
                Some(answer) if status != "refused" => {
                    self.add(labelled, &answer["record"], status == "verified");
                    (status, why)
                }
                _ => (status, why),
            };
            promoted.push(PromotedCase { case: labelled.case.id.clone(), status, why });
            Ok(())
        })?;
        Ok(promoted)
    }

    fn add(&mut self, labelled: &LabelledCase, record: &Value, verified: bool) {
        let unique = |wanted: String, list: &[Value]| {
            let taken = |id: &str| list.iter().any(|one| one["id"] == id);
            if !taken(&wanted) {
                return wanted;
            }
            (2..=u32::MAX).map(|number| format!("{wanted}-{number}")).find(|id| !taken(id)).unwrap_or_default()
        };
        let wanted = Some(text(record, "cause")).filter(|cause| !cause.is_empty());
        let defect = text(record, "defect_type");
        let same = |cause: &&Value| Some(text(cause, "id")) == wanted && cause["defect_type"] == defect.as_str();
        let cause = match self.causes.iter().find(same) {
            Some(known) => text(known, "id"),
            None => {
                let id = unique(wanted.unwrap_or_else(|| format!("R-{}", labelled.case.id)), &self.causes);
                let mut cause = Map::new();
                cause.insert("id".into(), json!(id));
                let keys =
                    ["defect_type", "title", "description", "category", "component", "required_keywords", "keyword_threshold"];
                for key in keys.into_iter().filter(|key| !record[*key].is_null()) {
                    cause.insert(key.into(), record[key].clone());
                }
                cause.insert("verified".into(), json!(verified));
                self.causes.push(Value::Object(cause));
                id
            }
        };
        let case = &labelled.case;
        let mut written = json!({
            "id": unique(case.id.clone(), &self.cases), "rca_id": cause, "project": labelled.project, "suite": case.suite,
            "test_name": case.name, "error_message": case.error_message, "log_snippet": case.log_snippet.text_or_error(),
        });
        if let Some(fields) = written.as_object_mut() {
            fields.retain(|_, value| value != "");
        }
        self.cases.push(written);
    }

    /// Lists weaknesses such as unconfirmed causes, duplicate cases or a missing hold-out.
    pub fn health(&self) -> Vec<HealthRemark> {
        let mut remarks = Vec::new();
        let mut remark = |what: &str, ids: Vec<String>| {
            if !ids.is_empty() {
                remarks.push(HealthRemark {
                    what: what.to_owned(),
                    count: ids.len(),
                    examples: ids.into_iter().take(EXAMPLES).collect(),
                });
            }
        };
        let ids = |list: &[Value], wrong: &dyn Fn(&Value) -> bool| -> Vec<String> {
            list.iter().filter(|one| wrong(one)).map(|one| text(one, "id")).collect()
        };
        let empty = |value: &Value, key: &str| text(value, key).trim().is_empty();
        let of = |cause: &Value| self.cases.iter().filter(|case| case["rca_id"] == cause["id"]).count();
        remark("causes that no person confirmed", ids(&self.causes, &|cause| cause["verified"] != true));
        remark("causes without a case", ids(&self.causes, &|cause| of(cause) == 0));
        remark("causes with a single case, which cannot be held out", ids(&self.causes, &|cause| of(cause) == 1));
        remark("causes without a title", ids(&self.causes, &|cause| empty(cause, "title")));
        remark("causes without a component", ids(&self.causes, &|cause| empty(cause, "component")));
        let no_words = |cause: &Value| cause["required_keywords"].as_array().is_none_or(Vec::is_empty);
        remark("causes without keywords, whose messages are not scored", ids(&self.causes, &no_words));
        remark("cases without a cause", ids(&self.cases, &|case| empty(case, "rca_id")));
        let no_text = |case: &Value| ["error_message", "log_snippet", "launch"].iter().all(|key| empty(case, key));
        remark("cases without any text", ids(&self.cases, &no_text));
        let defect = |case: &Value| {
            let of = self.causes.iter().find(|cause| cause["id"] == case["rca_id"]).map(|cause| text(cause, "defect_type"));
            of.unwrap_or_else(|| text(case, "defect_type"))
        };
        let mut by_failure: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
        for case in &self.cases {
            by_failure.entry(failure(case).unwrap_or_else(|| text(case, "id"))).or_default().push(case);
        }
        let several = || by_failure.values().filter(|cases| cases.len() > 1);
        let named = |cases: &Vec<&Value>| cases.iter().map(|case| text(case, "id")).collect::<Vec<_>>().join(" = ");
        let differ = |cases: &&Vec<&Value>| cases.iter().any(|case| defect(case) != defect(cases[0]));
        remark("the same failure with different defects", several().filter(differ).map(named).collect());
        remark("the same failure more than once", several().filter(|cases| !differ(cases)).map(named).collect());
        if !self.cases.is_empty() && self.cases.iter().all(|case| case["hold_out"] != true) {
            remark("nothing is held out: mark some with `hold_out: true`", vec![counted(self.cases.len(), "case", "cases")]);
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        self.cases.iter().for_each(|case| *counts.entry(defect(case)).or_default() += 1);
        let most = counts.iter().max_by_key(|(_, count)| **count);
        if let Some((code, count)) = most.filter(|(_, count)| **count * 4 > self.cases.len() * 3 && self.cases.len() > 3) {
            remark("one defect has more than three quarters of the cases", vec![format!("{code}: {count}")]);
        }
        remarks
    }

    /// Describes a cause in prose, or returns `None` if it does not exist.
    pub fn narrative(&self, id: &str) -> Option<String> {
        let cause = self.causes.iter().find(|cause| cause["id"] == id)?;
        let of = |key: &str| text(cause, key);
        let mut out = format!("{id}: {}", if of("title").is_empty() { "no title" } else { cause["title"].as_str()? });
        let confirmed = if cause["verified"] == true { "a person confirmed it" } else { "no person confirmed it" };
        let _ = write!(out, "\n\n{}", of("defect_type"));
        for key in ["category", "component", "jira_id"] {
            let _ = if of(key).is_empty() { Ok(()) } else { write!(out, ", {key} {}", of(key)) };
        }
        let _ = write!(out, "; {confirmed}.");
        if !of("description").is_empty() {
            let _ = write!(out, "\n\n{}", of("description"));
        }
        let cases: Vec<&Value> = self.cases.iter().filter(|case| case["rca_id"] == id).collect();
        let _ = write!(out, "\n\nSeen in {}:", counted(cases.len(), "case", "cases"));
        for case in cases {
            let line = text(case, "error_message").lines().next().unwrap_or_default().chars().take(100).collect::<String>();
            let held = if case["hold_out"] == true { " (held out)" } else { "" };
            let _ = write!(out, "\n- {}{held}: {} - {line}", text(case, "id"), text(case, "test_name"));
        }
        let words: Vec<&str> = cause["required_keywords"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if !words.is_empty() {
            let wanted = cause["keyword_threshold"].as_u64().map_or_else(|| "all".to_owned(), |wanted| wanted.to_string());
            let _ = write!(out, "\n\nA good message has {wanted} of: {}.", words.join(", "));
        }
        Some(out)
    }
}

/// The recall key of a case, or `None` without an error text.
fn failure(case: &Value) -> Option<String> {
    let error = text(case, "error_message");
    (!error.trim().is_empty()).then(|| recall_key(&text(case, "test_name"), &error))
}

/// Returns the reviewed case with the review's findings added as attributes.
fn with_review(labelled: &LabelledCase) -> asterisk_base::model::Case {
    let mut case = labelled.case.clone();
    let finding = labelled.finding.as_deref().unwrap_or(&Value::Null);
    let said = [
        ("defect_type", labelled.label.clone()),
        ("title", text(finding, "title")),
        ("description", text(finding, "summary")),
        ("category", text(finding, "category")),
        ("component", text(finding, "component")),
        ("cause", text(finding, "cause")),
        ("by", asterisk_session::HUMAN.to_owned()),
    ];
    for (key, value) in said.into_iter().filter(|(_, value)| !value.is_empty()) {
        case.attributes.insert(format!("{REVIEW_PREFIX}{key}"), value);
    }
    case
}

fn not_one(source: &Source) -> SessionError {
    let message = format!("`{}` is not a scenario", source.name());
    SessionError::bad_request("truth/scenario", message, Some("asterisk doc --schema scenario describes the form".to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn truth(causes: Value, cases: Value) -> GroundTruth {
        let list = |value: Value| value.as_array().cloned().unwrap();
        GroundTruth { path: "gt.yaml".into(), name: "gt".into(), rest: Map::new(), causes: list(causes), cases: list(cases) }
    }

    #[test]
    fn health_reports_weaknesses() {
        let causes = json!([
            { "id": "a", "defect_type": "d1", "title": "t", "component": "c", "required_keywords": ["w"], "verified": true },
            { "id": "b", "defect_type": "d2", "title": "t", "component": "c", "required_keywords": ["w"], "verified": true },
        ]);
        let cases = json!([
            { "id": "1", "rca_id": "a", "test_name": "t", "error_message": "boom 1", "hold_out": true },
            { "id": "2", "rca_id": "b", "test_name": "t", "error_message": "boom 2" },
            { "id": "3", "rca_id": "b", "test_name": "u" },
        ]);
        let found: Vec<(String, Vec<String>)> =
            truth(causes, cases).health().into_iter().map(|remark| (remark.what, remark.examples)).collect();
        assert_eq!(
            found,
            [
                ("causes with a single case, which cannot be held out".to_owned(), vec!["a".to_owned()]),
                ("cases without any text".to_owned(), vec!["3".to_owned()]),
                ("the same failure with different defects".to_owned(), vec!["1 = 2".to_owned()]),
            ]
        );
        assert!(truth(json!([]), json!([])).health().is_empty());
    }

    #[test]
    fn a_written_file_reads_back_as_a_scenario() {
        let gt = truth(
            json!([{ "id": "a", "defect_type": "d1" }]),
            json!([{ "id": "1", "rca_id": "a", "error_message": "x: \"y\"\n# z" }]),
        );
        let source = Source::new("gt.yaml", gt.text());
        let tree = yaml::parse(&source).unwrap();
        assert_eq!(tree.to_json(), gt.json(false), "{}", gt.text());
        assert!(scenario::check(&source, &tree, Path::new("gt.yaml")).is_ok());
        assert_eq!(gt.json(true)["cases"], json!([]), "nobody confirmed it");
    }
}
