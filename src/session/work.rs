//! The cases of a run while it is walked: kept whole, or of a large run read again from the journal whenever they go on.

use super::SessionError;
use super::finding::DAMAGED;
use super::run_args::{parse, text};
use super::run_batches::{phase_of, waves};
use crate::model::{Case, Kind};
use crate::script::View;
use crate::store::{Store, StoreError};
use crate::walk::{Content, Event, Failure, Name, Plan, TokenUsage, WalkState, WalkStatus};
use std::sync::Arc;

/// A case with the state of its walk.
pub(super) type WalkedCase = (Case, WalkState);

/// A case of a run on its way.
#[derive(Debug)]
pub(super) struct CaseWork {
    pub(super) id: Name,
    /// 1 for the first case of its recall key, 2 for the others.
    pub(super) wave: u32,
    pub(super) status: WalkStatus,
    /// The phase of the node to go on at, counted from 0; none if the walk is over.
    pub(super) phase: Option<u32>,
    /// Whether it goes on after it was over: no other case waits for it, and it waits for none.
    pub(super) alone: bool,
    /// Whether it was left as it is by this process.
    pub(super) rested: bool,
    /// The case and its state, unless they are read from the journal when they are needed.
    pub(super) whole: Option<Box<WalkedCase>>,
    /// What can be said of some cases only.
    pub(super) own: Option<Box<OutsideDetails>>,
}

/// What can be said of a case that was answered from outside, or whose walk failed. Apart, since a large run has many cases.
#[derive(Debug, Default)]
pub(super) struct OutsideDetails {
    /// Why its walk failed, if it failed in this process.
    pub(super) failure: Option<Failure>,
    /// What its answers took.
    pub(super) tokens: TokenUsage,
    /// Whom it waits for.
    pub(super) waits: Option<Name>,
}

impl CaseWork {
    /// The cases of a launch before their first step.
    pub(super) fn fresh(cases: &[&Case], plan: &Plan, keep: bool) -> Vec<Self> {
        let state = WalkState::default();
        let (status, phase) = (state.status, phase_of(&state, &plan.pipeline));
        let keys = cases.iter().map(|case| case.recall_key.as_str());
        let work = |(case, wave): (&&Case, u32)| Self {
            id: case.id.as_str().into(),
            wave,
            status,
            phase,
            whole: keep.then(|| Box::new((Case::clone(case), WalkState::default()))),
            own: None,
            alone: false,
            rested: false,
        };
        cases.iter().zip(waves(keys)).map(work).collect()
    }

    /// A case of which nothing is known yet.
    pub(super) fn read(id: &str, wave: u32) -> Self {
        Self {
            id: id.into(),
            wave,
            status: WalkStatus::Running,
            phase: None,
            alone: false,
            rested: false,
            whole: None,
            own: None,
        }
    }

    /// Takes in how far the walk is.
    pub(super) fn note(&mut self, state: &WalkState, phase: Option<u32>) {
        (self.status, self.phase, self.alone) = (state.status, phase, state.reopened);
        let waits = state.waits().map(|open| open.via.clone());
        if self.own.is_some() || waits.is_some() || !state.tokens.is_none() {
            let own = self.own.get_or_insert_default();
            (own.tokens, own.waits) = (state.tokens, waits);
        }
    }

    /// Takes in why its walk failed.
    pub(super) fn fail(&mut self, failure: Failure) {
        self.own.get_or_insert_default().failure = Some(failure);
    }

    /// The case and its state, from memory or else from the journal.
    pub(super) fn take(&mut self, read: &CaseReader<'_>) -> Result<Box<WalkedCase>, SessionError> {
        self.whole.take().map_or_else(|| read.whole(&self.id).map(Box::new), Ok)
    }
}

/// From where the cases of a run are read again.
#[derive(Clone, Copy)]
pub(super) struct CaseReader<'a> {
    pub(super) store: &'a Store,
    pub(super) run: &'a str,
    pub(super) plan: &'a Arc<Plan>,
}

impl CaseReader<'_> {
    /// [`CaseReader::whole`]; of a case that is damaged in the store, what can still be read, with the damage as its error.
    pub(super) fn whole_if_sound(&self, id: &str) -> Result<WalkedCase, SessionError> {
        match self.whole(id) {
            Err(SessionError::Store(error)) if error.is_damage() => Ok(self.remains(id, &error)),
            other => other,
        }
    }

    /// [`CaseReader::folded`]; of a case that is damaged in the store, a state with the damage as its error.
    pub(super) fn folded_if_sound(&self, id: &str) -> Result<WalkState, SessionError> {
        match self.folded(id) {
            Err(SessionError::Store(error)) if error.is_damage() => Ok(self.remains(id, &error).1),
            other => other,
        }
    }

    /// What can be read of a case that is damaged. Its artifacts are left out: what is said of a case must not come of a part of them.
    fn remains(&self, id: &str, damage: &StoreError) -> WalkedCase {
        let unknown = || Case { id: id.into(), name: id.into(), ..Case::default() };
        let case = self.store.case(self.run, id).unwrap_or_else(|_| unknown());
        let mut state = self.folded(id).unwrap_or_default();
        state.prior.clear();
        state.inner.clear();
        state.status = WalkStatus::Error;
        state.error = Some((DAMAGED.into(), damage.to_string()));
        (case, state)
    }

    /// A case with the state of its walk: the fold of its events, with its latest artifacts.
    pub(super) fn whole(&self, id: &str) -> Result<WalkedCase, SessionError> {
        let mut state = self.folded(id)?;
        self.artifacts(&mut state)?;
        Ok((self.store.case(self.run, id)?, state))
    }

    /// Reads the latest artifacts of a walk, and of those that go on within it.
    fn artifacts(&self, state: &mut WalkState) -> Result<(), SessionError> {
        // The path of any step tells which walk it is of.
        let path = state.next_path();
        for (name, artifact) in &mut state.prior {
            let value: serde_json::Value = parse(&text(self.store, &artifact.hash())?)?;
            let kind = self.plan.kind_at(&path, name);
            *artifact = Content::new(View::of(&value, &kind.unwrap_or(Kind::Any), "artifact"));
        }
        state.inner.iter_mut().try_for_each(|inner| self.artifacts(inner))
    }

    /// The state of a walk without the contents of its artifacts.
    pub(super) fn folded(&self, id: &str) -> Result<WalkState, SessionError> {
        let events: Vec<Event> = self.store.events(self.run, id)?.into_iter().map(|(_, event)| event).collect();
        Ok(WalkState::fold(&events))
    }

    /// A case with its state, without the contents of its artifacts.
    pub(super) fn unread(&self, id: &str) -> Result<WalkedCase, SessionError> {
        let state = self.folded_if_sound(id)?;
        match self.store.case(self.run, id) {
            Ok(case) => Ok((case, state)),
            Err(error) if error.is_damage() => Ok(self.remains(id, &error)),
            Err(error) => Err(error.into()),
        }
    }
}

/// What is kept of a case whose walk is read from the journal.
#[derive(Debug)]
pub(super) struct StoredCaseBrief {
    pub(super) id: Name,
    pub(super) status: WalkStatus,
}
