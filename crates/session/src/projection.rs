//! The files of a run: case directories and the event log. All of them can be rebuilt from the journal.

use super::outcome::{CaseResult, RunResult};
use super::prompt::KeptTemplates;
use super::setup::Files;
use super::{Session, SessionError};
use asterisk_base::clock::Timestamp;
use asterisk_diag::{Diagnostic, Severity};
use asterisk_files::OutDir;
use asterisk_pipeline::PipelineNode;
use asterisk_store::Store;
use asterisk_walk::{BRANCH, Event, EventBody, EventLines, FIRST, Name, Plan};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The directory of a run below the output root.
pub(super) fn run_dir(root: &Path, run: &str) -> PathBuf {
    root.join(OutDir::safe_name(run))
}

/// The event log of a run of a policy pipeline, next to its directory.
pub(super) fn stage_events_path(root: &Path, run: &str) -> PathBuf {
    root.join(stage_events_name(run))
}

pub(super) fn stage_events_name(run: &str) -> String {
    format!("{}_events.jsonl", OutDir::safe_name(run))
}

/// The path of a run's report; of a policy pipeline, that of its summary.
pub(super) fn report_path(root: &Path, run: &str, plan: &Plan) -> PathBuf {
    run_dir(root, run).join(if plan.policy.is_some() { "SUMMARY.md" } else { "report.md" })
}

impl Session {
    /// The path of the report of a run, if it has been written.
    pub fn report_path(&self, result: &RunResult) -> Option<PathBuf> {
        let path = report_path(&self.setup.out, &result.run, &result.plan);
        path.is_file().then_some(path)
    }

    /// Opens the output directory of a run, and creates it if necessary.
    pub fn run_dir(&self, run: &str) -> Result<OutDir, SessionError> {
        let path = run_dir(&self.setup.out, run);
        OutDir::private(&path).map_err(|source| SessionError::Write { path: path.display().to_string(), source })
    }

    /// Removes partial files left by a process that was killed. Only for the process that executes the run.
    pub(super) fn sweep(&self, run: &str) {
        OutDir::open(&run_dir(&self.setup.out, run)).sweep();
    }

    /// Checks that files can be written, before anything is walked.
    pub(super) fn check_output(&self) -> Result<(), SessionError> {
        let failed = |source| SessionError::Write { path: self.setup.out.display().to_string(), source };
        OutDir::create_ignored(&self.setup.out).and_then(|dir| dir.probe()).map_err(failed)
    }

    /// Writes the event log of the run from the journal, and a directory for every case except those that `rested`. Returns, by
    /// case, what could not be written because of its texts or of damage in the store; the rest is written all the same.
    pub(super) fn project_files(
        &self,
        store: &Store,
        result: &RunResult,
        files: Files,
        rested: &HashSet<Name>,
    ) -> Result<BTreeMap<Name, Vec<Diagnostic>>, SessionError> {
        let mut notes = BTreeMap::new();
        if !files.writes(result.cases.len()) {
            return Ok(notes);
        }
        let dir = self.run_dir(&result.run)?;
        let mut unread = Ok(());
        let written = dir.write_with("events.jsonl", |log| {
            let mut broken = Ok(());
            let mut lines = EventLines::new(&result.run);
            unread = store.each_event(&result.run, |seq, event| {
                broken = writeln!(log, "{}", lines.line(Some(seq), &event));
                if broken.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            // An incomplete file does not replace one that may be complete.
            broken.and(if unread.is_ok() { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) })
        });
        match (unread, written) {
            (Err(error), _) if error.is_damage() => {
                let why = Diagnostic::error("store/damaged", format!("`events.jsonl` is not written: {error}"));
                notes.insert(RunResult::WHOLE, vec![why]);
            }
            (Err(error), _) => return Err(error.into()),
            (Ok(()), Err(source)) => {
                return Err(SessionError::Write { path: dir.path().join("events.jsonl").display().to_string(), source });
            }
            (Ok(()), Ok(_)) => {}
        }
        // One of each thread that writes.
        let free: Mutex<Vec<KeptTemplates<'_>>> = Mutex::default();
        let lock = || free.lock().unwrap_or_else(PoisonError::into_inner);
        let project = |case: &CaseResult| {
            let id = case.case.id.as_str();
            if rested.contains(id) {
                return Ok(None);
            }
            let idle = lock().pop();
            let templates = idle.map_or_else(|| KeptTemplates::of(store, &result.run), Ok)?;
            templates.next_case();
            let mut unwritten = Unwritten { case: id, run: &result.run, damaged: case.is_damaged(), notes: Vec::new() };
            let events = store.events(&result.run, id).map_err(SessionError::from);
            if let Some(events) = unwritten.kept("state.json", events)? {
                let events: Vec<Event> = events.into_iter().map(|(_, event)| event).collect();
                project_case((store, &templates), &dir, result, case, &events, &mut unwritten)?;
            }
            let notes = unwritten.notes;
            lock().push(templates);
            Ok((!notes.is_empty()).then(|| (Name::from(id), notes)))
        };
        result.each_made(project, |made| {
            notes.extend(made);
            Ok(())
        })?;
        Ok(notes)
    }
}

/// Collects what could not be written of a case.
struct Unwritten<'a> {
    case: &'a str,
    run: &'a str,
    damaged: bool,
    notes: Vec<Diagnostic>,
}

impl Unwritten<'_> {
    /// Returns the content of a file. A failure because of the texts or the content it is made from becomes a note.
    fn kept<T>(&mut self, file: &str, made: Result<T, SessionError>) -> Result<Option<T>, SessionError> {
        match made {
            Ok(made) => Ok(Some(made)),
            Err(SessionError::Texts(found)) => {
                self.notes.extend(found.iter().map(|why| {
                    let message = format!("`{file}` of case `{}` is not written: {}", self.case, why.message);
                    let help = format!("fix the template, then: asterisk run --resume {} --migrate", self.run);
                    Diagnostic { severity: Severity::Warning, message, help: Some(help), ..why.clone() }
                }));
                Ok(None)
            }
            // Damage of a case that is reported as damaged is not noted again.
            Err(SessionError::Store(error)) if error.is_damage() && self.damaged => Ok(None),
            Err(SessionError::Store(error)) if error.is_damage() => {
                let message = format!("`{file}` of case `{}` is not written: {error}", self.case);
                self.notes.push(Diagnostic::error("store/damaged", message));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

fn project_case(
    (store, templates): (&Store, &KeptTemplates<'_>),
    dir: &OutDir,
    result: &RunResult,
    case: &CaseResult,
    events: &[Event],
    unwritten: &mut Unwritten<'_>,
) -> Result<(), SessionError> {
    let below = case_dir(&case.case.id);
    let mut visits: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut revision = FIRST;
    for event in events {
        if let EventBody::Upgraded { revision: newer, .. } = event.what {
            revision = newer;
        }
        let EventBody::NodeExit { node, artifact, params, template, .. } = &event.what else { continue };
        // A sub-pipeline has a directory of its own, named by its place (`3/court`).
        let (below, place) = (place_dir(&below, &event.path), place_of(&event.path));
        let visit = visits.entry((place, node)).or_default();
        *visit += 1;
        let Some(plan) = result.plan.of_path(&event.path) else { continue };
        let Some(ix) = plan.pipeline.node(node) else { continue };
        let spec = plan.pipeline.at(ix);
        let laid = StepFileNames::of(spec, None, *visit - 1);
        // A pending answer may have been written already.
        let awaited = case.state.waits().is_some_and(|open| open.node == *node && place_of(&open.path) == place);
        if !awaited && let Some(text) = unwritten.kept(&laid.artifact, store.needed(&artifact.hash()).map_err(Into::into))? {
            write(dir, &format!("{below}/{}", laid.artifact), &pretty(&text))?;
        }
        let (Some(params), Some(template)) = (params, template) else { continue };
        if let Some((_, text)) = unwritten.kept(&laid.prompt, templates.prompt(revision, *template, params))? {
            write(dir, &format!("{below}/{}", laid.prompt), &text)?;
        }
    }
    write(dir, &format!("{below}/state.json"), &pretty(&json!(CaseFile::of(result, case)).to_string()))
}

/// The names of the files of a step, in the directory of its walk.
pub(super) struct StepFileNames {
    pub(super) prompt: String,
    pub(super) artifact: String,
}

impl StepFileNames {
    /// The names for a visit of a node, counted from 0, or for the review of an advisor there.
    pub(super) fn of(node: &PipelineNode, advisor: Option<&Name>, visit: usize) -> Self {
        if let Some(advisor) = advisor {
            let review = OutDir::safe_name(&format!("{}-{advisor}", *node.name));
            return Self { prompt: format!("prompt-{review}.md"), artifact: format!("{review}.json") };
        }
        let family = OutDir::safe_name(&node.family);
        let prompt = if visit == 0 { format!("prompt-{family}.md") } else { format!("prompt-{family}-loop-{visit}.md") };
        let artifact = node.artifact.as_ref().map_or_else(|| format!("{}.json", *node.name), |name| name.value.clone());
        Self { prompt, artifact: OutDir::safe_name(&artifact) }
    }
}

/// The directory of one component of a step's path.
fn directory(part: &str) -> String {
    if part.starts_with(BRANCH) { part.to_owned() } else { OutDir::safe_name(part) }
}

/// The files of a run next to its case directories.
const RUN_FILES: &[&str] = &[
    "batch-manifest.json",
    "MANIFEST.txt",
    "SUMMARY.md",
    "briefing.md",
    "budget-status.json",
    "checkpoints.json",
    "dispatches.json",
    "events.jsonl",
    "jira",
    "manifest.json",
    "package.zip",
    "profile.html",
    "rca.json",
    "regression-report.md",
    "report.html",
    "report.md",
];

/// The place of the walk that a step belongs to; empty for the case's own walk.
fn place_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(place, _)| place)
}

/// The directory of the walk that a step belongs to, below that of its case.
pub(super) fn place_dir(below: &str, path: &str) -> String {
    let parts = path.rsplit_once('/').map(|(place, _)| place.split('/')).into_iter().flatten();
    parts.fold(below.to_owned(), |dir, part| format!("{dir}/{}", directory(part)))
}

/// The name of a case's directory, distinct from those of the run's own files.
pub(super) fn case_dir(id: &str) -> String {
    let name = OutDir::safe_name(id);
    if RUN_FILES.iter().any(|file| file.eq_ignore_ascii_case(&name)) { OutDir::safe_name(&format!("{id}/")) } else { name }
}

/// `state.json` of a case (`docs/decisions/0014-private-run-directories.md`).
#[derive(Serialize)]
struct CaseFile<'a> {
    case_id: &'a str,
    suite_id: &'a str,
    current_step: String,
    status: asterisk_walk::WalkStatus,
    loop_counts: &'a BTreeMap<String, i64>,
    history: Vec<HistoryEntry<'a>>,
}

#[derive(Serialize)]
struct HistoryEntry<'a> {
    step: String,
    outcome: &'a str,
    heuristic_id: &'a str,
    timestamp: Timestamp,
}

impl<'a> CaseFile<'a> {
    fn of(result: &'a RunResult, case: &'a CaseResult) -> Self {
        let pipeline = result.pipeline();
        let step = |node: &str| pipeline.node(node).map_or_else(|| node.to_uppercase(), |ix| pipeline.at(ix).step_name());
        let entry = |visit: &'a asterisk_walk::Visit| HistoryEntry {
            step: step(&visit.node),
            outcome: &visit.edge,
            heuristic_id: &visit.edge,
            timestamp: visit.at,
        };
        let current = match (&case.state.node, case.state.status) {
            (_, asterisk_walk::WalkStatus::Done) => "DONE".to_owned(),
            (Some(node), _) => step(node),
            // The first step is pending.
            (None, _) if case.state.waits().is_some() => pipeline.at(pipeline.start).step_name(),
            (None, _) => "INIT".to_owned(),
        };
        Self {
            case_id: &case.case.id,
            suite_id: &result.run,
            current_step: current,
            status: case.state.status,
            loop_counts: &case.state.loops,
            history: case.state.history.iter().map(entry).collect(),
        }
    }
}

pub(super) fn pretty(json: &str) -> String {
    let value: Value = serde_json::from_str(json).unwrap_or_default();
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.push('\n');
    text
}

fn write(dir: &OutDir, name: &str, text: &str) -> Result<(), SessionError> {
    let failed = |source| SessionError::Write { path: dir.path().join(name).display().to_string(), source };
    dir.write(name, text).map(|_| ()).map_err(failed)
}
