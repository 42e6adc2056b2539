//! What goals leave in the store: memories, listed, forgotten and consolidated; anchors of the auditor's log.

use super::{Session, SessionError};
use crate::clock::Timestamp;
use crate::diag::{Diagnostic, Diagnostics};
use crate::project::{AnswererNames, Project};
use crate::script::FunctionRef;
use crate::store::{AuditAnchor, DreamChanges, Durability, Megram, Store};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The function that says what a dream changes of the memories about one thing: `(megrams, now)`.
const CYCLE: &str = "lib/memory.rhai#cycle";
/// The pipeline whose project has it.
const PIPELINE: &str = "goal";
/// The var of a pipeline that has memories consolidated after its runs.
const VAR: &str = "dream";

/// What a dream did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DreamResult {
    /// The memories looked at.
    pub seen: usize,
    pub deleted: usize,
    pub changed: usize,
    pub distilled: usize,
}

impl Session {
    /// Memories, newest first; empty if there is no store yet.
    pub fn memories(&self, space: Option<&str>, limit: usize) -> Result<Vec<Megram>, SessionError> {
        let now = self.setup.clock.now();
        Ok(self.reader()?.map(|store| store.megrams(space, limit, now)).transpose()?.unwrap_or_default())
    }

    /// A memory.
    pub fn memory(&self, id: i64) -> Result<Megram, SessionError> {
        let now = self.setup.clock.now();
        let found = self.reader()?.map(|store| store.megram(id, now)).transpose()?.flatten();
        found.ok_or_else(|| {
            let error = Diagnostic::error("input/no-memory", format!("there is no memory {id}"));
            SessionError::BadRequest(Box::new(error.help("`asterisk memory list` lists them")))
        })
    }

    /// What the journal knows of an auditor's log; nothing if there is no store yet.
    pub fn audit_anchors(&self, log: &str) -> Result<Vec<AuditAnchor>, SessionError> {
        Ok(self.reader()?.map(|store| store.audit_anchors(log)).transpose()?.unwrap_or_default())
    }

    /// The goals in the store that an auditor's log does not have.
    pub fn unaudited_goals(&self, log: &str) -> Result<Vec<String>, SessionError> {
        Ok(self.reader()?.map(|store| store.unanchored_runs(PIPELINE, log)).transpose()?.unwrap_or_default())
    }

    /// Forgets a memory.
    pub fn forget(&self, id: i64) -> Result<Megram, SessionError> {
        let memory = self.memory(id)?;
        self.store(Durability::Step)?.forget_megram(id)?;
        Ok(memory)
    }

    /// Consolidates all memories. A second dream finds nothing to do.
    pub fn dream(&self) -> Result<DreamResult, SessionError> {
        let now = self.setup.clock.now();
        let store = self.store(Durability::Step)?;
        let project = self.project(Some(PIPELINE), AnswererNames::Others)?;
        consolidate(&store, &project, store.megrams(None, usize::MAX, now)?, now)
    }

    /// Consolidates the memories about what a run has written of, if its pipeline wants that (`dream`). Called when all is walked and
    /// recorded; a dream that fails is a note, and the next one does its work.
    pub(super) fn dream_after(&self, store: &Store, project: &Project, run: &str) -> Option<Diagnostic> {
        if project.plan.vars().json()[VAR] != true {
            return None;
        }
        let now = self.setup.clock.now();
        let dream = || {
            let mut memories = Vec::new();
            for space in store.spaces_of_run(run)? {
                memories.extend(store.megrams(Some(&space), usize::MAX, now)?);
            }
            consolidate(store, project, memories, now)
        };
        let error = dream().err()?;
        let note = Diagnostic::warning("goal/dream", format!("the memories were not consolidated: {error}"));
        Some(note.help("nothing is lost: `asterisk dream` does it"))
    }
}

/// Consolidates memories: what has faded goes, and what was met often enough is distilled, as the scripts decide. All of it is one transaction.
fn consolidate(store: &Store, project: &Project, memories: Vec<Megram>, now: Timestamp) -> Result<DreamResult, SessionError> {
    let failed = |diagnostic: Diagnostic| SessionError::Texts(Diagnostics::from(diagnostic));
    let mut result = DreamResult { seen: memories.len(), ..DreamResult::default() };
    // Memories of one space and entity are consolidated by themselves.
    let mut about: BTreeMap<(String, String), Vec<Value>> = BTreeMap::new();
    for memory in memories {
        about.entry((memory.space.clone(), memory.entity.clone())).or_default().push(json!(memory));
    }
    if about.is_empty() {
        return Ok(result);
    }
    let cycle = FunctionRef::parse(CYCLE).and_then(|reference| project.library.function(&reference, 2)).map_err(failed)?;
    let mut changes = DreamChanges::default();
    for memories in about.into_values() {
        let said = cycle.call_json(&[memories.into(), json!(now)]).map_err(|diagnostic| failed(*diagnostic))?;
        changes.extend(serde_json::from_value(said).map_err(|error| {
            let message = format!("`{CYCLE}` does not say what a dream changes: {error}");
            SessionError::Texts(Diagnostics::from(Diagnostic::error("script/dream", message)))
        })?);
    }
    (result.deleted, result.changed, result.distilled) = (changes.delete.len(), changes.update.len(), changes.add.len());
    if !changes.is_empty() {
        store.dream(&changes, now)?;
    }
    Ok(result)
}
