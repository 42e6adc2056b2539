//! What goals leave in the store: memories, listed, forgotten and consolidated; anchors of the auditor's log.

use super::knowledge::Knowledge;
use super::{Session, SessionError};
use asterisk_base::clock::Timestamp;
use asterisk_diag::{Diagnostic, Diagnostics};
use asterisk_project::Project;
use asterisk_script::FunctionRef;
use asterisk_store::{AuditAnchor, DreamChanges, Durability, Megram, Store};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The function that says what a dream changes of the memories about one thing: `(megrams, now)`.
const CYCLE: &str = "lib/memory.rhai#cycle";
/// The pipeline whose project has it.
pub(super) const PIPELINE: &str = "goal";
/// The function that says whether there is a dream after a run: `(vars)`.
const DREAMS: &str = "lib/memory.rhai#dreams";

impl Knowledge<'_> {
    /// Memories, newest first.
    pub fn memories(&self, space: Option<&str>, limit: usize) -> Result<Vec<Megram>, SessionError> {
        self.read(|store| store.megrams(space, limit, self.now()))
    }

    /// A memory.
    pub fn memory(&self, id: i64) -> Result<Megram, SessionError> {
        self.read(|store| store.megram(id, self.now()))?.ok_or_else(|| {
            let error = Diagnostic::error("input/no-memory", format!("unknown memory {id}"));
            SessionError::BadRequest(Box::new(error.help("`asterisk goal memory list` lists them")))
        })
    }

    /// What the journal knows of an auditor's log.
    pub fn audit_anchors(&self, log: &str) -> Result<Vec<AuditAnchor>, SessionError> {
        self.read(|store| store.audit_anchors(log))
    }

    /// The goals in the store that an auditor's log does not have.
    pub fn unaudited_goals(&self, log: &str) -> Result<Vec<String>, SessionError> {
        self.read(|store| store.unanchored_runs(PIPELINE, log))
    }

    /// Forgets a memory.
    pub fn forget(&self, id: i64) -> Result<Megram, SessionError> {
        let memory = self.memory(id)?;
        self.session.store(Durability::Step)?.forget_megram(id)?;
        Ok(memory)
    }
}

impl Session {
    /// Consolidates the memories about what a run has written of, if the scripts want that. Called when all is walked and recorded; a dream
    /// that fails is a note, and the next one does its work.
    pub(super) fn dream_after(&self, store: &Store, project: &Project, run: &str) -> Option<Diagnostic> {
        let now = self.setup.clock.now();
        let dream = || -> Result<(), SessionError> {
            let spaces = store.spaces_of_run(run)?;
            if spaces.is_empty() || asked(project, DREAMS, &[project.plan.vars().json()])? != true {
                return Ok(());
            }
            let mut memories = Vec::new();
            for space in spaces {
                memories.extend(store.megrams(Some(&space), usize::MAX, now)?);
            }
            consolidate(store, &changes(project, memories, now)?, now)
        };
        let error = dream().err()?;
        let note = Diagnostic::warning("goal/dream", format!("the memories were not consolidated: {error}"));
        Some(note.help("nothing is lost: `asterisk goal dream` does it"))
    }
}

/// What a function of a project's scripts says.
fn asked(project: &Project, function: &str, arguments: &[Value]) -> Result<Value, SessionError> {
    let failed = |diagnostic: Diagnostic| SessionError::Texts(Diagnostics::from(diagnostic));
    let function = FunctionRef::parse(function)
        .and_then(|reference| project.library.function(&reference, arguments.len()))
        .map_err(failed)?;
    function.call_json(arguments).map_err(|diagnostic| failed(*diagnostic))
}

/// The changes of memories by the scripts: faded ones are removed, and recurring ones are distilled.
pub(super) fn changes(project: &Project, memories: Vec<Megram>, now: Timestamp) -> Result<DreamChanges, SessionError> {
    // Memories of one space and entity are consolidated by themselves.
    let mut about: BTreeMap<(String, String), Vec<Value>> = BTreeMap::new();
    for memory in memories {
        about.entry((memory.space.clone(), memory.entity.clone())).or_default().push(json!(memory));
    }
    let mut changes = DreamChanges::default();
    for memories in about.into_values() {
        let said = asked(project, CYCLE, &[memories.into(), json!(now)])?;
        changes.extend(serde_json::from_value(said).map_err(|error| {
            let message = format!("`{CYCLE}` returned invalid changes: {error}");
            SessionError::Texts(Diagnostics::from(Diagnostic::error("script/dream", message)))
        })?);
    }
    Ok(changes)
}

/// Makes changes, all in one transaction.
pub(super) fn consolidate(store: &Store, changes: &DreamChanges, now: Timestamp) -> Result<(), SessionError> {
    if !changes.is_empty() {
        store.dream(changes, now)?;
    }
    Ok(())
}
