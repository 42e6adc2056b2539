//! The files of policy pipelines: artifacts by stage, `manifest.json`, `checkpoints.json`, `SUMMARY.md`, `MANIFEST.txt` and `package.zip`. All of them can be
//! made again from the journal.

use super::outcome::{CaseResult, RunResult};
use super::projection::{case_dir, pretty, stage_events_name};
use super::{Files, Session, SessionError};
use asterisk_adapters::agent::{StageFiles, pack, stored_bytes};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::sha256;
use asterisk_diag::Diagnostic;
use asterisk_diag::counted;
use asterisk_files::OutDir;
use asterisk_script::View;
use asterisk_store::Store;
use asterisk_walk::{Event, EventBody, Name, Plan, WalkState};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Where the stages of a run write their files during the run.
pub(super) struct RunStageFiles {
    /// The directory of the run.
    pub(super) dir: PathBuf,
    /// Whether the run has one case, whose files lie in the directory itself.
    pub(super) single: bool,
}

impl RunStageFiles {
    fn below(&self, case: &str) -> String {
        if self.single { String::new() } else { format!("{}/", case_dir(case)) }
    }
}

impl StageFiles for RunStageFiles {
    fn path(&self, case: &str) -> PathBuf {
        self.dir.join(self.below(case))
    }

    fn write(&self, case: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
        let name = format!("{}{name}", self.below(case));
        OutDir::private(&self.dir)?.write_with(&name, |file| file.write_all(bytes)).map(drop)
    }
}

/// A stage of a finished walk, for the summary.
#[derive(Default)]
struct StageRecord {
    name: Name,
    agent: Name,
    /// `passed`, `failed` or `skipped`.
    status: &'static str,
    why: String,
    score: Option<f64>,
    threshold: Option<f64>,
    attempts: u64,
    agent_ms: u64,
    advisor_ms: u64,
    began: Option<Timestamp>,
    ended: Option<Timestamp>,
    cached: bool,
    artifacts: Vec<Value>,
}

/// A stage of a policy pipeline, as far as it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageSummary {
    pub stage: String,
    /// `passed`, `failed`, `skipped` or `open`.
    pub status: &'static str,
    /// The score of its gate; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Why it failed or was skipped; empty otherwise.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The names of its artifacts.
    pub artifacts: Vec<String>,
}

impl CaseResult {
    /// The stages of a policy pipeline, in file order; none of another pipeline.
    pub fn stages(&self, plan: &Plan) -> Vec<StageSummary> {
        if plan.policy.is_none() {
            return Vec::new();
        }
        plan.nodes.iter().map(|node| stage(&self.state, &node.name)).collect()
    }
}

/// A stage, which may be in a branch that has not been joined: of a wave in progress, or of one whose first failure ended the run.
fn stage(state: &WalkState, name: &Name) -> StageSummary {
    let states = || std::iter::once(state).chain(&state.inner);
    let passed = states().find_map(|state| state.passed.get(name));
    let failed = states().find_map(|state| state.failed.get(name)).filter(|_| passed.is_none());
    let review = passed.and_then(|one| one.review.as_ref()).or_else(|| failed?.review.as_ref()).and_then(|review| review.view());
    let number = |field: &str| review.and_then(|review| review.get(field)?.as_f64());
    let artifact =
        states().find_map(|state| state.prior.get(name)).filter(|_| passed.is_some()).and_then(|artifact| artifact.view());
    let list = artifact.and_then(|artifact| artifact.present("artifacts"));
    let names = list.iter().flat_map(|list| list.items()).filter_map(|one| Some(one.get("name")?.as_str()?.to_owned()));
    StageSummary {
        stage: name.to_string(),
        status: match (passed, failed) {
            (Some(_), _) => "passed",
            (None, Some(failed)) if failed.kind.is_empty() => "skipped",
            (None, Some(_)) => "failed",
            (None, None) => "open",
        },
        score: number("score"),
        threshold: number("threshold"),
        reason: failed.filter(|failed| !failed.kind.is_empty()).map_or_else(String::new, |failed| failed.reason.to_string()),
        message: failed.map_or_else(String::new, |failed| failed.message.clone()),
        artifacts: names.collect(),
    }
}

impl Session {
    /// Writes all files of a run from the journal, those of a policy pipeline too: [`Session::project_files`].
    pub(super) fn write_files(
        &self,
        store: &Store,
        result: &RunResult,
        files: Files,
        rested: &HashSet<Name>,
    ) -> Result<BTreeMap<Name, Vec<Diagnostic>>, SessionError> {
        let notes = self.project_files(store, result, files, rested)?;
        if result.plan.policy.is_none() || !files.writes(result.cases.len()) {
            return Ok(notes);
        }
        self.write_stage_events(store, &result.run)?;
        let dir = self.run_dir(&result.run)?;
        result.each(|case| {
            let events = match store.events(&result.run, &case.case.id) {
                // It is noted.
                Err(error) if error.is_damage() => return Ok(()),
                events => events?,
            };
            let events: Vec<Event> = events.into_iter().map(|(_, event)| event).collect();
            write(&dir, result, case, &events)
        })?;
        Ok(notes)
    }

    /// Writes the events of the stages, for programs that follow runs of `cli.py`. A damaged event is left out; the log of all events notes
    /// it.
    fn write_stage_events(&self, store: &Store, run: &str) -> Result<(), SessionError> {
        let mut lines = String::new();
        let read = store.each_event(run, |_, event| {
            if let Some(line) = stage_event(run, &event) {
                let _ = writeln!(lines, "{line}");
            }
            ControlFlow::Continue(())
        });
        match read {
            Err(error) if !error.is_damage() => return Err(error.into()),
            _ => {}
        }
        let name = stage_events_name(run);
        let failed = |source| SessionError::Write { path: self.setup.out.join(&name).display().to_string(), source };
        OutDir::open(&self.setup.out).write(&name, &lines).map(drop).map_err(failed)
    }
}

/// An event of a stage, as the log of `cli.py` has it: `event`, `run_id`, `stage`, `ts` in seconds, and its own fields.
fn stage_event(run: &str, event: &Event) -> Option<Value> {
    if !matches!(
        event.what,
        EventBody::StepStart { .. }
            | EventBody::StepAttempt { .. }
            | EventBody::CacheHit { .. }
            | EventBody::AdvisorReview { .. }
            | EventBody::StepRetry { .. }
            | EventBody::StepComplete { .. }
            | EventBody::StepError { .. }
            | EventBody::StepSkipped { .. }
    ) {
        return None;
    }
    let Ok(Value::Object(mut fields)) = serde_json::to_value(&event.what) else { return None };
    let (kind, stage) = (fields.remove("type")?, fields.remove("node")?);
    #[expect(clippy::cast_precision_loss, reason = "exact for some hundred thousand years")]
    let seconds = event.at.millis() as f64 / 1000.0;
    fields.extend([
        ("event".to_owned(), kind),
        ("run_id".to_owned(), json!(run)),
        ("stage".to_owned(), stage),
        ("ts".to_owned(), json!(seconds)),
    ]);
    Some(Value::Object(fields))
}

/// Writes the files of a case of a policy pipeline.
fn write(dir: &OutDir, result: &RunResult, case: &CaseResult, events: &[Event]) -> Result<(), SessionError> {
    let single = result.cases.len() == 1;
    let below = if single { String::new() } else { format!("{}/", case_dir(&case.case.id)) };
    let records = records(result, case, events);
    let artifacts = || records.iter().flat_map(|record| &record.artifacts);
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for artifact in artifacts() {
        if let Some(path) = artifact["path"].as_str() {
            files.insert(path.to_owned(), stored_bytes(artifact));
        }
    }
    let put = |name: &str, bytes: &[u8]| -> Result<(), SessionError> {
        let name = format!("{below}{name}");
        let failed = |source| SessionError::Write { path: dir.path().join(&name).display().to_string(), source };
        dir.write_with(&name, |file| file.write_all(bytes)).map(drop).map_err(failed)
    };
    for (path, bytes) in &files {
        put(path, bytes)?;
    }
    put("manifest.json", pretty(&manifest(result, &records).to_string()).as_bytes())?;
    put("checkpoints.json", pretty(&checkpoints(result, case, &records).to_string()).as_bytes())?;
    put("SUMMARY.md", summary(result, &records, true).as_bytes())?;
    let list = list(&files);
    put("MANIFEST.txt", list.as_bytes())?;
    files.insert("MANIFEST.txt".to_owned(), list.into_bytes());
    // Without durations, so that equal answers make equal archives.
    files.insert("SUMMARY.md".to_owned(), summary(result, &records, false).into_bytes());
    let packed = pack(&files).map_err(|message| SessionError::Write {
        path: dir.path().join("package.zip").display().to_string(),
        source: io::Error::other(message),
    })?;
    put("package.zip", &packed)
}

/// The stages in file order, from the journal.
fn records(result: &RunResult, case: &CaseResult, events: &[Event]) -> Vec<StageRecord> {
    let mut found: BTreeMap<Name, StageRecord> = BTreeMap::new();
    for event in events {
        let Some(node) = stage_of(&event.what) else { continue };
        let record = found.entry(node.clone()).or_default();
        record.ended = Some(event.at);
        record.began.get_or_insert(event.at);
        record.name.clone_from(node);
        match &event.what {
            EventBody::StepStart { agent, .. } => record.agent.clone_from(agent),
            EventBody::CacheHit { .. } => record.cached = true,
            EventBody::NodeExit { took_ms, .. } => record.agent_ms += took_ms,
            EventBody::StepComplete { score, threshold, attempts, advisor_ms, .. } => {
                (record.status, record.score, record.threshold) = ("passed", *score, *threshold);
                (record.attempts, record.advisor_ms) = (*attempts, *advisor_ms);
            }
            EventBody::StepError { reason, attempts, message, .. } => {
                (record.status, record.attempts) = ("failed", *attempts);
                record.why = format!("{reason}: {message}");
            }
            EventBody::StepSkipped { because, .. } => {
                record.status = "skipped";
                record.why = format!("it waits for `{because}`");
            }
            _ => {}
        }
    }
    let order = result.plan.nodes.iter().filter_map(|node| found.remove(&node.name));
    let with_artifacts = order.map(|mut record| {
        let artifact = case.state.prior.get(&record.name).and_then(|artifact| artifact.view());
        let list = artifact.and_then(|artifact| artifact.present("artifacts").map(View::json));
        record.artifacts = list.and_then(|list| list.as_array().cloned()).unwrap_or_default();
        record
    });
    with_artifacts.collect()
}

/// The stage that an event is of.
fn stage_of(what: &EventBody) -> Option<&Name> {
    match what {
        EventBody::StepStart { node, .. }
        | EventBody::CacheHit { node, .. }
        | EventBody::NodeExit { node, .. }
        | EventBody::StepComplete { node, .. }
        | EventBody::StepError { node, .. }
        | EventBody::StepSkipped { node, .. } => Some(node),
        _ => None,
    }
}

fn manifest(result: &RunResult, records: &[StageRecord]) -> Value {
    let stage = |record: &StageRecord| {
        let artifact = |artifact: &Value| {
            json!({
                "name": artifact["name"], "path": artifact["path"], "type": artifact["type"], "bytes": artifact["bytes"],
                "sha256": artifact["sha256"],
            })
        };
        json!({ "stage": record.name, "artifacts": record.artifacts.iter().map(artifact).collect::<Vec<_>>() })
    };
    let artifacts = || records.iter().flat_map(|record| &record.artifacts);
    let bytes: u64 = artifacts().filter_map(|artifact| artifact["bytes"].as_u64()).sum();
    json!({
        "run_id": result.run,
        "created_at": result.started_at,
        "stages": records.iter().filter(|record| record.status == "passed").map(stage).collect::<Vec<_>>(),
        "summary": { "total_stages": records.len(), "total_artifacts": artifacts().count(), "total_bytes": bytes },
    })
}

/// How far each stage is, in file order, with its answer and review, and the memory: for people, and for programs that read the checkpoints
/// of `cli.py`. A run is resumed from the store.
fn checkpoints(result: &RunResult, case: &CaseResult, records: &[StageRecord]) -> Value {
    let state = &case.state;
    let paths = |record: &StageRecord| record.artifacts.iter().map(|artifact| artifact["path"].clone()).collect::<Vec<_>>();
    let stage = |(index, record): (usize, &StageRecord)| {
        let mut checkpoint = json!({
            "step_index": index, "stage": record.name, "status": record.status, "attempt": record.attempts, "score": record.score,
            "threshold": record.threshold, "artifacts": paths(record), "timestamp": record.ended,
            "duration_ms": record.agent_ms + record.advisor_ms,
        });
        if !record.why.is_empty() {
            checkpoint["reason"] = json!(record.why);
        }
        let answer = state.prior.get(&record.name).and_then(|artifact| artifact.view());
        if let Some(answer) = answer {
            let field = |name: &str| answer.present(name).map(View::json);
            checkpoint["agent_output"] = json!({ "content": field("content"), "metadata": field("metadata") });
        }
        let review = state.passed.get(&record.name).and_then(|passed| passed.review.as_ref());
        let review = review.or_else(|| state.failed.get(&record.name)?.review.as_ref());
        if let Some(review) = review.and_then(|review| review.view()) {
            checkpoint["advisor_review"] = review.json();
        }
        checkpoint
    };
    let memory = result.plan.policy.as_ref().and_then(|policy| Some(policy.memory.view()?.json()));
    json!({ "run_id": result.run, "memory": memory, "stages": records.iter().enumerate().map(stage).collect::<Vec<_>>() })
}

/// The list of files, one a line: hash, size and path.
fn list(files: &BTreeMap<String, Vec<u8>>) -> String {
    files.iter().fold(String::new(), |mut text, (path, bytes)| {
        let _ = writeln!(text, "{}  {:>9}  {path}", sha256(bytes), bytes.len());
        text
    })
}

/// The summary as text, with or without durations.
fn summary(result: &RunResult, records: &[StageRecord], profiled: bool) -> String {
    let mut text = format!("# {}\n\n", *result.pipeline().name);
    if !result.pipeline().description.is_empty() {
        let _ = writeln!(text, "{}\n", result.pipeline().description);
    }
    let count = |status: &str| records.iter().filter(|record| record.status == status).count();
    let _ = writeln!(
        text,
        "{}: {} passed, {} failed, {} skipped.",
        counted(records.len(), "stage", "stages"),
        count("passed"),
        count("failed"),
        count("skipped")
    );
    if profiled {
        let _ = writeln!(text, "\nRun {}, begun {}.", result.run, result.started_at);
    }
    #[expect(clippy::cast_precision_loss, reason = "durations for people")]
    let seconds = |millis: u64| format!("{:.1}s", millis as f64 / 1000.0);
    for record in records {
        let _ = writeln!(text, "\n## Stage: {}\n", record.name);
        if !record.agent.is_empty() && profiled {
            let whole =
                record.began.zip(record.ended).map_or(0, |(from, to)| u64::try_from(to.millis() - from.millis()).unwrap_or(0));
            let whole = whole.max(record.agent_ms + record.advisor_ms);
            let _ = writeln!(text, "- Duration: {}", seconds(whole));
            let from = if record.cached { "from the cache".to_owned() } else { seconds(record.agent_ms) };
            let _ = writeln!(text, "- Agent: {} ({from})", record.agent);
            let _ = writeln!(text, "- Advisors: {}", seconds(record.advisor_ms));
        } else if !record.agent.is_empty() {
            let _ = writeln!(text, "- Agent: {}", record.agent);
        }
        if let (Some(score), Some(threshold)) = (record.score, record.threshold) {
            let _ = writeln!(text, "- Score: {score} (threshold {threshold})");
        }
        if record.attempts > 1 {
            let _ = writeln!(text, "- Attempts: {}", record.attempts);
        }
        let approved = if record.status == "passed" { "✓" } else { "✗" };
        let _ = writeln!(text, "- Approved: {approved}");
        if !record.why.is_empty() {
            let _ = writeln!(text, "- {}: {}", record.status, record.why.replace('\n', " "));
        }
        for artifact in &record.artifacts {
            let (path, bytes) = (artifact["path"].as_str().unwrap_or_default(), artifact["bytes"].as_u64().unwrap_or(0));
            let _ = writeln!(text, "- `{path}` ({})", counted(bytes, "byte", "bytes"));
        }
    }
    text
}
