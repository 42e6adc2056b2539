//! The auditor: reads the messages between the roles of a goal, with rules of the operator, and writes a log that no role in the
//! loop can read, change or silence. It only observes; a run whose auditor cannot write stops.
//!
//! ```text
//! log      the hash-chained log
//! ```

mod log;

pub use log::{AuditHead, AuditLog, BrokenLink, KNOWN, has_other_names, older_dir, verify};

use self::log::{LogReader, NewEntry};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Effect, Hash};
use asterisk_diag::{Code, Diagnostic, Diagnostics, Source};
use asterisk_script::{FunctionRef, Library, LibraryInputs, ScriptFunction, ScriptLimits};
use asterisk_walk::{Commit, Event, EventBody, Journal, JournalError, Plan};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The rules' file among the bundled scripts; the operator's own takes its place.
pub const RULES: &str = "audit/rules.rhai";
/// What the rules call the pipeline of a goal.
const GOAL: &str = "goal";
/// Longer texts of a message are cut.
const TEXT_CHARS: usize = 200;
/// Of longer lists, what lies within the further items is left out. Their number stays as it is.
const LIST_ITEMS: usize = 100;
/// How many values the rules may have in one list or map: the messages of a round, however many sub-tasks it has. What they take in memory
/// is bounded as that of other scripts is.
const VALUES: usize = 1_000_000;
/// Deeper values of a message are left out.
const DEPTH: usize = 4;
/// The default of `period`, in seconds.
const PERIOD: f64 = 300.0;

/// The rules of an auditor.
struct AuditRules {
    /// Whether a pipeline is audited: `(pipeline)`.
    audits: ScriptFunction,
    /// The messages of a turn: `(turn)`.
    messages: ScriptFunction,
    /// What the auditor knows after a message, and what is wrong: `(state, message)`.
    observe: ScriptFunction,
    /// What the auditor reports: `(state)`.
    report: ScriptFunction,
    /// What the auditor knows after a report: `(state)`. Without it, a report changes nothing.
    reported: Option<ScriptFunction>,
    /// How long messages may go without a report, in milliseconds: `()`, in seconds. Without a limit if 0.
    period: i64,
    /// The address of their texts.
    texts: Hash,
}

/// A run that is to be audited.
pub struct AuditedRun<'a> {
    pub run: &'a str,
    pub plan: &'a Arc<Plan>,
    /// Whether it pursues a goal.
    pub goal: bool,
    /// How many entries the log had at the run's last commit; none of those before is written again.
    pub since: u64,
}

/// An auditor at work.
pub struct Auditor {
    rules: AuditRules,
    state: Mutex<AuditState>,
    plan: Arc<Plan>,
    run: String,
    /// Whether the run pursues a goal.
    goal: bool,
}

struct AuditState {
    log: AuditLog,
    progress: AuditProgress,
    /// The anomalies of the run's messages that the log had at the start, by turn.
    anomalies: HashMap<String, Vec<Value>>,
}

/// How far an auditor is.
#[derive(Clone)]
struct AuditProgress {
    /// The state of the rules.
    rules_state: Value,
    /// The time of the first message since the last report.
    unreported: Option<Timestamp>,
}

impl AuditProgress {
    fn start() -> Self {
        Self { rules_state: json!({}), unreported: None }
    }

    /// Reads what a file of the log begins with; `None` if other rules knew it.
    fn known(body: &Value, texts: Hash) -> Option<Self> {
        let unreported = body["unreported"].as_str().and_then(|at| at.parse().ok());
        (body["rules"] == texts.to_string()).then(|| Self { rules_state: body["state"].clone(), unreported })
    }
}

/// The result of reading a log.
struct LogReplay<'a> {
    rules: &'a AuditRules,
    /// What the turns of the run begin with.
    own: String,
    progress: AuditProgress,
    anomalies: HashMap<String, Vec<Value>>,
    /// Whether entries were read.
    begun: bool,
    /// Whether the log begins with what other rules knew.
    foreign: bool,
    failed: Option<Box<Diagnostic>>,
    /// Whether the log is read from its beginning because it began with what other rules knew.
    again: bool,
}

impl<'a> LogReplay<'a> {
    fn new(rules: &'a AuditRules, run: &str, again: bool) -> Self {
        let (own, progress) = (format!("{run}/"), AuditProgress::start());
        Self { rules, own, progress, anomalies: HashMap::new(), begun: false, foreign: false, failed: None, again }
    }
}

impl LogReader for LogReplay<'_> {
    fn read(&mut self, entry: &Value) {
        if self.failed.is_some() || self.foreign {
            return;
        }
        let begins = !std::mem::replace(&mut self.begun, true);
        if entry["kind"] == KNOWN {
            match AuditProgress::known(&entry["body"], self.rules.texts) {
                Some(known) => self.progress = known,
                None => self.foreign = begins,
            }
            return;
        }
        match (self.rules.replay(&mut self.progress, entry), entry["turn"].as_str()) {
            (Ok(found), Some(turn)) if !found.is_empty() && turn.starts_with(&self.own) => {
                self.anomalies.insert(turn.to_owned(), found);
            }
            (Ok(_), _) => {}
            (Err(diagnostic), _) => self.failed = Some(diagnostic),
        }
    }

    fn known(&self, long: bool) -> Option<Value> {
        let whole = self.failed.is_none() && !self.foreign;
        let AuditProgress { rules_state, unreported } = &self.progress;
        let known = || json!({ "rules": self.rules.texts.to_string(), "state": rules_state, "unreported": unreported });
        (whole && (long || self.again)).then(known)
    }
}

/// Why a report is written.
#[derive(Clone, Copy)]
enum ReportReason {
    /// A goal is over.
    End,
    Anomaly,
    /// The last one is long ago.
    Period,
}

impl ReportReason {
    fn word(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Anomaly => "anomaly",
            Self::Period => "period",
        }
    }
}

impl AuditRules {
    /// Links the rules: the bundled scripts, with the operator's own text in place of the bundled rules.
    fn link(bundled: Vec<Source>, own: Option<Source>) -> Result<Self, Diagnostics> {
        let replaced = own.is_some();
        let own = own.map(|own| Source::new(RULES, own.text()));
        let used =
            bundled.into_iter().filter(|script| script.name().starts_with("lib/") || (script.name() == RULES && !replaced));
        let scripts: Vec<Source> = used.chain(own).collect();
        let texts: Vec<(&str, &str)> = scripts.iter().map(|script| (script.name(), script.text())).collect();
        let texts = Hash::of_json(&json!(texts));
        let limits = ScriptLimits { array: VALUES, map: VALUES, ..ScriptLimits::default() };
        let library = Library::link(LibraryInputs { scripts, limits, ..LibraryInputs::default() }, None)?;
        let function = |name: &str, arity: usize| {
            let reference = FunctionRef { file: RULES.into(), function: name.into() };
            library.function(&reference, arity).map_err(Diagnostics::from)
        };
        let optional = |name: &str, arity: usize| {
            let missing = |found: &Diagnostics| found.iter().all(|one| one.is(Code::ScriptUnknownFunction));
            function(name, arity).map(Some).or_else(|found| if missing(&found) { Ok(None) } else { Err(found) })
        };
        let period = optional("period", 0)?;
        let period = period.map(|period| period.call_json(&[])).transpose().map_err(|why| Diagnostics::from(*why))?;
        let seconds = period.map_or(Some(PERIOD), |said| said.as_f64().filter(|seconds| (0.0..=1e9).contains(seconds)));
        let seconds = seconds.ok_or_else(|| {
            let error = Diagnostic::error("script/audit-period", format!("`period` of `{RULES}` does not return seconds"));
            Diagnostics::from(error.help("return a number from 0 (no periodic reports) to 1000000000"))
        })?;
        Ok(Self {
            audits: function("audits", 1)?,
            messages: function("messages", 1)?,
            observe: function("observe", 2)?,
            report: function("report", 1)?,
            reported: optional("reported", 1)?,
            #[expect(clippy::cast_possible_truncation, reason = "at most 1e12")]
            period: (seconds * 1000.0) as i64,
            texts,
        })
    }

    /// Observes a message. Returns its anomalies.
    fn observe(
        &self,
        progress: &mut AuditProgress,
        message: &Value,
        at: Option<Timestamp>,
    ) -> Result<Vec<Value>, Box<Diagnostic>> {
        let mut said = self.observe.call_json(&[progress.rules_state.clone(), message.clone()])?;
        progress.rules_state = said["state"].take();
        progress.unreported = progress.unreported.or(at);
        Ok(said["anomalies"].as_array().cloned().unwrap_or_default())
    }

    /// A report of what was observed.
    fn report(&self, progress: &AuditProgress) -> Result<Value, Box<Diagnostic>> {
        self.report.call_json(std::slice::from_ref(&progress.rules_state))
    }

    /// Goes on after a report.
    fn reported(&self, progress: &mut AuditProgress) -> Result<(), Box<Diagnostic>> {
        if let Some(reported) = &self.reported {
            progress.rules_state = reported.call_json(std::slice::from_ref(&progress.rules_state))?;
        }
        progress.unreported = None;
        Ok(())
    }

    /// Observes an entry of the log again. Returns its anomalies if it is a message.
    fn replay(&self, progress: &mut AuditProgress, entry: &Value) -> Result<Vec<Value>, Box<Diagnostic>> {
        match entry["kind"].as_str() {
            Some("message") => {
                let at = entry["at"].as_str().and_then(|at| at.parse().ok());
                self.observe(progress, &entry["body"], at)
            }
            Some("report") => self.reported(progress).map(|()| Vec::new()),
            _ => Ok(Vec::new()),
        }
    }
}

/// The report of a log as it stands, on demand. Nothing is written. Fails at the first broken line.
pub fn report(bundled: Vec<Source>, own: Option<Source>, log: &Path) -> Result<Value, AuditError> {
    let rules = AuditRules::link(bundled, own).map_err(AuditError::Rules)?;
    let (mut progress, mut failed) = (AuditProgress::start(), None);
    let verified = verify(log, |entry| {
        if failed.is_none() {
            failed = rules.replay(&mut progress, entry).err();
        }
    });
    match (failed, verified) {
        (Some(diagnostic), _) => Err(AuditError::Rule(diagnostic)),
        (None, Ok(Err(broken))) => Err(AuditError::Log(io::Error::other(format!("line {}: {}", broken.line, broken.why)))),
        (None, Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(AuditError::Log(error)),
        (None, _) => rules.report(&progress).map_err(AuditError::Rule),
    }
}

impl Auditor {
    /// The auditor of a run; `None` if it pursues no goal and the rules do not audit its pipeline. A goal is audited whatever its pipeline
    /// calls itself. What the log says already is read first: from its last file on that begins with what these rules knew.
    pub fn new(
        bundled: Vec<Source>,
        own: Option<Source>,
        log: &Path,
        audited: &AuditedRun<'_>,
    ) -> Result<Option<Self>, AuditError> {
        let AuditedRun { run, plan, goal, since } = *audited;
        let rules = AuditRules::link(bundled, own).map_err(AuditError::Rules)?;
        let audits = || rules.audits.call_json(&[json!(plan.pipeline.name.as_str())]).map_err(AuditError::rule);
        if !goal && audits()? != json!(true) {
            return Ok(None);
        }
        let read = |since, again| {
            let mut replay = LogReplay::new(&rules, run, again);
            let log = AuditLog::open(log, &format!("{run}/"), since, &mut replay);
            (log, replay)
        };
        let (mut log, mut replay) = read(since, false);
        if replay.foreign {
            (log, replay) = read(0, true);
        }
        let LogReplay { progress, anomalies, failed, .. } = replay;
        if let Some(diagnostic) = failed {
            return Err(AuditError::rule(diagnostic));
        }
        let log = log.map_err(AuditError::Log)?;
        let state = Mutex::new(AuditState { log, progress, anomalies });
        Ok(Some(Self { rules, state, plan: Arc::clone(plan), run: run.to_owned(), goal }))
    }

    /// Writes what a commit says between roles, before it is committed. Returns the head of the log then, if there is anything to say.
    fn read(&self, commit: &Commit) -> Result<Option<(AuditHead, String)>, AuditError> {
        let turns = self.turns(&commit.events);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let due = |progress: &AuditProgress, at: Timestamp| {
            self.rules.period > 0 && progress.unreported.is_some_and(|since| at.millis() - since.millis() >= self.rules.period)
        };
        let last = commit.events.last().filter(|last| !turns.is_empty() || due(&state.progress, last.at));
        let Some(last) = last else { return Ok(None) };
        let mut progress = state.progress.clone();
        let (mut entries, mut number) = (Vec::new(), 0);
        for (event, turn) in turns {
            let messages = self.rules.messages.call_json(&[turn]).map_err(AuditError::rule)?;
            for message in messages.as_array().into_iter().flatten() {
                let key = |number: usize| format!("{}/{}/{}#{number}", self.run, event.case, event.path);
                // A step that is taken again, because the program was killed before its commit, was observed before.
                let again = state.log.says(&key(number), message);
                let anomalies = if again {
                    state.anomalies.get(&key(number)).cloned().unwrap_or_default()
                } else {
                    self.rules.observe(&mut progress, message, Some(event.at)).map_err(AuditError::rule)?
                };
                let reason = if message["to"] == "User" {
                    Some(ReportReason::End)
                } else {
                    (!anomalies.is_empty()).then_some(ReportReason::Anomaly)
                };
                let mut add = |kind, body| {
                    entries.push(NewEntry { key: key(number), at: event.at.to_string(), kind, body });
                    number += 1;
                };
                add("message", message.clone());
                for anomaly in anomalies {
                    add("anomaly", anomaly);
                }
                if let Some(reason) = reason {
                    if again && state.log.has(&key(number)) {
                        number += 1;
                    } else {
                        let report = self.reported(&mut progress, reason)?;
                        entries.push(NewEntry { key: key(number), at: event.at.to_string(), kind: "report", body: report });
                        number += 1;
                    }
                }
            }
        }
        if due(&progress, last.at) {
            let key = format!("{}/{}/{}#period", self.run, last.case, last.path);
            let body = self.reported(&mut progress, ReportReason::Period)?;
            entries.push(NewEntry { key, at: last.at.to_string(), kind: "report", body });
        }
        if entries.is_empty() {
            return Ok(None);
        }
        state.log.append(entries).map_err(AuditError::Log)?;
        state.progress = progress;
        Ok(Some((state.log.head().clone(), state.log.path().display().to_string())))
    }

    /// A report, after which the next one begins.
    fn reported(&self, progress: &mut AuditProgress, reason: ReportReason) -> Result<Value, AuditError> {
        let mut report = self.rules.report(progress).map_err(AuditError::rule)?;
        if let Value::Object(report) = &mut report {
            report.insert("on".into(), reason.word().into());
        }
        self.rules.reported(progress).map_err(AuditError::rule)?;
        Ok(report)
    }

    /// The turns among the events of a commit: an edge that was taken, or branches that begin.
    fn turns<'e>(&self, events: &'e [Event]) -> Vec<(&'e Event, Value)> {
        let mut turns = Vec::new();
        for event in events {
            let Some(plan) = self.plan.of_path(&event.path) else { continue };
            let code = |name: &str| {
                let node = plan.pipeline.node(name).map(|node| plan.pipeline.at(node));
                node.and_then(|node| node.code.as_ref()).map_or("", |code| code.as_str()).to_owned()
            };
            let name = if self.goal && Arc::ptr_eq(&plan, &self.plan) { GOAL } else { plan.pipeline.name.as_str() };
            let turn = |node: &str, to: &str, edge: &str, payload: Value| {
                json!({
                    "pipeline": name, "edge": edge, "from_node": node, "to_node": to,
                    "from": code(node), "to": code(to), "item": &*event.case, "step": &*event.path, "run": self.run, "payload": payload,
                })
            };
            match &event.what {
                EventBody::Transition { from, to, edge, .. } => {
                    let artifact = events.iter().rev().find_map(|other| match &other.what {
                        EventBody::NodeExit { node, artifact, .. } if node == from => {
                            artifact.view().map(asterisk_script::View::json)
                        }
                        _ => None,
                    });
                    turns.push((event, turn(from, to, edge, shortened(&artifact.unwrap_or_default(), DEPTH))));
                }
                EventBody::Fork { node: Some(node), branches, .. } => {
                    for branch in branches {
                        let item = branch.item.as_ref().map_or(Value::Null, |item| shortened(item, DEPTH));
                        turns.push((event, turn(node, node, "fork", item)));
                    }
                }
                _ => {}
            }
        }
        turns
    }
}

/// A value without what is long or deep.
fn shortened(value: &Value, depth: usize) -> Value {
    match value {
        Value::String(text) if text.chars().count() > TEXT_CHARS => {
            let cut: String = text.chars().take(TEXT_CHARS).collect();
            (cut + "...").into()
        }
        Value::Array(_) | Value::Object(_) if depth == 0 => Value::Null,
        Value::Array(items) => {
            let depth_at = |at| if at < LIST_ITEMS { depth - 1 } else { (depth - 1).min(1) };
            items.iter().enumerate().map(|(at, item)| shortened(item, depth_at(at))).collect()
        }
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), shortened(value, depth - 1))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// Why an auditor cannot do its work.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error("the auditor's rules do not compile")]
    Rules(Diagnostics),
    #[error("the auditor's rules failed: {}", .0.message)]
    Rule(Box<Diagnostic>),
    #[error("the auditor's log cannot be used: {0}")]
    Log(std::io::Error),
}

impl AuditError {
    fn rule(diagnostic: Box<Diagnostic>) -> Self {
        Self::Rule(diagnostic)
    }
}

/// A journal whose commits the auditor reads first. The head of its log is stored with each of them, so that a log which is rewritten as a
/// whole does not fit the journal.
pub struct AuditedJournal<'a> {
    pub journal: &'a dyn Journal,
    pub auditor: &'a Auditor,
}

impl Journal for AuditedJournal<'_> {
    fn commit(&self, mut commit: Commit) -> Result<(), JournalError> {
        let head = self.auditor.read(&commit).map_err(|error| JournalError::Audit(error.to_string()))?;
        if let Some((AuditHead { entries, hash }, log)) = head {
            commit.effects.push(Effect::Anchor { entries, head: hash, log });
        }
        self.journal.commit(commit)
    }

    fn keeps(&self) -> bool {
        self.journal.keeps()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// The bundled rules.
    fn rules() -> AuditRules {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts");
        let source = |name: &str| Source::new(name, std::fs::read_to_string(scripts.join(name)).unwrap());
        AuditRules::link(["audit/rules.rhai", "lib/auditor.rhai", "lib/goal.rhai"].map(source).into(), None).unwrap()
    }

    #[test]
    fn a_round_may_have_thousands_of_sub_tasks() {
        let outcome = |n: usize| json!({ "id": format!("s{n}"), "status": "completed", "corrections": 1, "failure_class": "", "failure_reason": "" });
        let outcomes: Vec<Value> = (0..5000).map(outcome).collect();
        let turn = json!({
            "pipeline": "goal", "edge": "outcomes-in", "from": "R4a", "to": "R4b", "item": "goal", "step": "4", "run": "r",
            "payload": shortened(&json!({ "outcomes": outcomes }), DEPTH),
        });
        let (rules, mut progress) = (rules(), AuditProgress::start());
        let messages = rules.messages.call_json(&[turn]).unwrap();
        assert_eq!(messages.as_array().unwrap().len(), 5000);
        for message in messages.as_array().unwrap() {
            assert_eq!(rules.observe(&mut progress, message, None).unwrap(), Vec::<Value>::new());
        }
    }
}
