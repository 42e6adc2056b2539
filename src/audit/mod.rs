//! The auditor: reads what the roles of a goal say to one another, by rules of the operator's own, and writes a log that nobody in the loop
//! can read, change or silence. It only observes; a run whose auditor cannot write stops.
//!
//! ```text
//! log      the hash-chained log
//! ```

mod log;

pub use log::{AuditHead, AuditLog, BrokenLink, verify};

use self::log::NewEntry;
use crate::diag::{Diagnostic, Diagnostics, Source};
use crate::model::Effect;
use crate::script::{FunctionRef, Library, LibraryInputs, ScriptFunction};
use crate::walk::{Commit, Event, EventBody, Journal, JournalError, Plan};
use serde_json::{Map, Value, json};
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
/// Deeper values of a message are left out.
const DEPTH: usize = 4;

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
    /// What the rules know.
    known: Value,
}

impl AuditRules {
    /// Links the rules: the bundled scripts, with the operator's own text in place of the bundled rules.
    fn link(bundled: Vec<Source>, own: Option<Source>) -> Result<Self, Diagnostics> {
        let replaced = own.is_some();
        let own = own.map(|own| Source::new(RULES, own.text()));
        let used =
            bundled.into_iter().filter(|script| script.name().starts_with("lib/") || (script.name() == RULES && !replaced));
        let scripts = used.chain(own).collect();
        let library = Library::link(LibraryInputs { scripts, ..LibraryInputs::default() }, None)?;
        let function = |name: &str, arity: usize| {
            let reference = FunctionRef { file: RULES.into(), function: name.into() };
            library.function(&reference, arity).map_err(Diagnostics::from)
        };
        Ok(Self {
            audits: function("audits", 1)?,
            messages: function("messages", 1)?,
            observe: function("observe", 2)?,
            report: function("report", 1)?,
        })
    }

    fn observed(&self, known: &Value, message: &Value) -> Result<(Value, Vec<Value>), Box<Diagnostic>> {
        let mut said = self.observe.call_json(&[known.clone(), message.clone()])?;
        let anomalies = said["anomalies"].as_array().cloned().unwrap_or_default();
        Ok((said["state"].take(), anomalies))
    }
}

impl Auditor {
    /// The auditor of a run; `None` if it pursues no goal and the rules do not audit its pipeline. A goal is audited whatever its pipeline
    /// calls itself. What the log says already is read first.
    pub fn new(
        bundled: Vec<Source>,
        own: Option<Source>,
        log: &Path,
        (run, plan, goal): (&str, &Arc<Plan>, bool),
    ) -> Result<Option<Self>, AuditError> {
        let rules = AuditRules::link(bundled, own).map_err(AuditError::Rules)?;
        let audits = || rules.audits.call_json(&[json!(plan.pipeline.name.as_str())]).map_err(AuditError::rule);
        if !goal && audits()? != json!(true) {
            return Ok(None);
        }
        let mut known = json!({});
        let mut failed = None;
        let log = AuditLog::open(log, |entry| {
            if entry["kind"] == "message" && failed.is_none() {
                match rules.observed(&known, &entry["body"]) {
                    Ok((state, _)) => known = state,
                    Err(diagnostic) => failed = Some(diagnostic),
                }
            }
        });
        if let Some(diagnostic) = failed {
            return Err(AuditError::rule(diagnostic));
        }
        let log = log.map_err(AuditError::Log)?;
        let state = Mutex::new(AuditState { log, known });
        Ok(Some(Self { rules, state, plan: Arc::clone(plan), run: run.to_owned(), goal }))
    }

    /// Writes what a commit says between roles, before it is committed. Returns the head of the log then, if there is anything to say.
    fn read(&self, commit: &Commit) -> Result<Option<(AuditHead, String)>, AuditError> {
        let turns = self.turns(&commit.events);
        if turns.is_empty() {
            return Ok(None);
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = state.known.clone();
        let mut entries = Vec::new();
        for (event, turn) in turns {
            let messages = self.rules.messages.call_json(&[turn]).map_err(AuditError::rule)?;
            for message in messages.as_array().into_iter().flatten() {
                let mut add = |kind, body| {
                    let key = format!("{}/{}/{}#{}", self.run, event.case, event.path, entries.len());
                    entries.push(NewEntry { key, at: event.at.to_string(), kind, body });
                };
                let (after, anomalies) = self.rules.observed(&known, message).map_err(AuditError::rule)?;
                known = after;
                add("message", message.clone());
                let ends = message["to"] == "User";
                let reports = ends || !anomalies.is_empty();
                for anomaly in anomalies {
                    add("anomaly", anomaly);
                }
                if reports {
                    add("report", self.rules.report.call_json(&[known.clone()]).map_err(AuditError::rule)?);
                }
            }
        }
        if entries.is_empty() {
            return Ok(None);
        }
        state.log.append(entries).map_err(AuditError::Log)?;
        state.known = known;
        Ok(Some((state.log.head().clone(), state.log.path().display().to_string())))
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
                            artifact.view().map(crate::script::View::json)
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
