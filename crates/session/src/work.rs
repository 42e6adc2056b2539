//! The cases of a run while it is executed: kept in memory, or, in a large run, read from the journal when needed.

use super::SessionError;
use super::finding::DAMAGED;
use super::run_batches::{phase_of, waves};
use super::run_settings::parse;
use asterisk_base::model::{Case, Kind};
use asterisk_script::View;
use asterisk_store::{Store, StoreError, StoreReading};
use asterisk_walk::{CaseParams, Content, Event, FailedRule, Failure, Name, Plan, TokenUsage, WalkState, WalkStatus};
use std::sync::{Arc, OnceLock};
use tracing::field::Empty;
use tracing::{Span, info_span};

/// A case with the state of its walk.
pub(super) type WalkedCase = (Case, WalkState);

/// A case of a run in progress.
#[derive(Debug)]
pub(super) struct CaseWork {
    pub(super) id: Name,
    /// 1 for the first case of its recall key, 2 for the others.
    pub(super) wave: u32,
    pub(super) status: WalkStatus,
    /// The phase of the next node, counted from 0; `None` if the walk is over.
    pub(super) phase: Option<u32>,
    /// Whether it was reopened: it walks outside of batches.
    pub(super) alone: bool,
    /// Whether this process left it as it was.
    pub(super) rested: bool,
    /// The case and its state, unless read from the journal on demand.
    pub(super) whole: Option<Box<WalkedCase>>,
    /// Its parameters, if they are kept from batch to batch.
    pub(super) params: Option<Box<OnceLock<CaseParams>>>,
    /// The span of its walk, from batch to batch. Boxed, since most runs have no subscriber.
    pub(super) span: Option<Box<Span>>,
    /// Details that only some cases have.
    pub(super) own: Option<Box<OutsideDetails>>,
}

/// Details of a case with external answers or a failure. Boxed, since a large run has many cases.
#[derive(Debug, Default)]
pub(super) struct OutsideDetails {
    /// The failure of its walk in this process.
    pub(super) failure: Option<Failure>,
    pub(super) tokens: TokenUsage,
    /// The answerer it is pending on.
    pub(super) waits: Option<Name>,
    /// The rules of verdict and root that failed.
    pub(super) failed_rules: Vec<FailedRule>,
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
            params: None,
            span: None,
            own: None,
            alone: false,
            rested: false,
        };
        cases.iter().zip(waves(keys)).map(work).collect()
    }

    /// A case to be read from the journal.
    pub(super) fn read(id: &str, wave: u32) -> Self {
        Self {
            id: id.into(),
            wave,
            status: WalkStatus::Running,
            phase: None,
            alone: false,
            rested: false,
            whole: None,
            params: None,
            span: None,
            own: None,
        }
    }

    /// The span of its walk, until that is over.
    pub(super) fn span(&mut self, case: &Case) -> Span {
        let new = || {
            info_span!(
                "case", otel.name = %format_args!("case {}", case.id), case = %case.id, title = %case.name, status = Empty,
                otel.status_code = Empty, otel.status_description = Empty,
            )
        };
        self.span.take().map_or_else(new, |span| *span)
    }

    /// Updates the progress of the walk.
    pub(super) fn note(&mut self, state: &WalkState, phase: Option<u32>) {
        (self.status, self.phase, self.alone) = (state.status, phase, state.reopened);
        let waits = state.waits().map(|open| open.via.clone());
        let failed_rules = state.failed_rules();
        if self.own.is_some() || waits.is_some() || !state.tokens.is_none() || !failed_rules.is_empty() {
            let own = self.own.get_or_insert_default();
            (own.tokens, own.waits, own.failed_rules) = (state.tokens, waits, failed_rules);
        }
    }

    /// Sets the failure of the walk.
    pub(super) fn fail(&mut self, failure: Failure) {
        self.own.get_or_insert_default().failure = Some(failure);
    }

    /// Takes the case and its state, from memory or else from the journal.
    pub(super) fn take(&mut self, read: &CaseReader<'_>) -> Result<Box<WalkedCase>, SessionError> {
        self.whole.take().map_or_else(|| read.whole(&self.id).map(Box::new), Ok)
    }
}

/// Reads the cases of a run from the journal.
#[derive(Clone, Copy)]
pub(super) struct CaseReader<'a> {
    pub(super) store: &'a Store,
    pub(super) run: &'a str,
    pub(super) plan: &'a Arc<Plan>,
}

impl CaseReader<'_> {
    /// [`CaseReader::whole`]; for a damaged case, what is still readable, with the damage as its error.
    pub(super) fn whole_if_sound(&self, id: &str) -> Result<WalkedCase, SessionError> {
        match self.whole(id) {
            Err(SessionError::Store(error)) if error.is_damage() => Ok(self.remains(id, &error)),
            other => other,
        }
    }

    /// [`CaseReader::folded`]; for a damaged case, a state with the damage as its error.
    pub(super) fn folded_if_sound(&self, id: &str) -> Result<WalkState, SessionError> {
        match self.folded(id) {
            Err(SessionError::Store(error)) if error.is_damage() => Ok(self.remains(id, &error).1),
            other => other,
        }
    }

    /// What is readable of a damaged case, without its artifacts: no conclusions must be drawn from part of them.
    fn remains(&self, id: &str, damage: &StoreError) -> WalkedCase {
        let unknown = || Case { id: id.into(), name: id.into(), ..Case::default() };
        let case = self.store.case(self.run, id).unwrap_or_else(|_| unknown());
        let mut state = self.folded(id).unwrap_or_default();
        state.prior.clear();
        state.passed.clear();
        state.failed.clear();
        state.attempts.clear();
        state.answered = None;
        state.inner.clear();
        state.status = WalkStatus::Error;
        state.error = Some((DAMAGED.into(), damage.to_string()));
        (case, state)
    }

    /// A case with the state of its walk: the fold of its events, with its latest artifacts.
    pub(super) fn whole(&self, id: &str) -> Result<WalkedCase, SessionError> {
        let mut state = self.folded(id)?;
        let case = self.store.reading(self.run, |reading| {
            self.artifacts(reading, &mut state)?;
            Ok::<_, SessionError>(reading.case(id)?)
        })?;
        Ok((case, state))
    }

    /// Reads the latest artifacts of a walk and of its inner walks.
    fn artifacts(&self, reading: &StoreReading<'_>, state: &mut WalkState) -> Result<(), SessionError> {
        // The path of any step identifies its walk.
        let path = state.next_path();
        for (name, artifact) in &mut state.prior {
            let value: serde_json::Value = parse(&reading.needed(&artifact.hash())?)?;
            let kind = self.plan.kind_at(&path, name);
            *artifact = Content::new(View::of(&value, &kind.unwrap_or(Kind::Any), "artifact"));
        }
        if let Some(verdict) = &mut state.verdict {
            let value: serde_json::Value = parse(&reading.needed(&verdict.content.hash())?)?;
            verdict.content = Content::new(View::of(&value, &Kind::Any, "params.verdict"));
        }
        if let Some(root) = &mut state.root {
            let value: serde_json::Value = parse(&reading.needed(&root.content.hash())?)?;
            root.content = Content::new(View::of(&value, &Kind::Any, "params.root"));
        }
        let read = |content: &mut Content, name: &str| -> Result<(), SessionError> {
            let value: serde_json::Value = parse(&reading.needed(&content.hash())?)?;
            *content = Content::new(View::of(&value, &Kind::Any, name));
            Ok(())
        };
        for passed in state.passed.values_mut() {
            passed.review.as_mut().map_or(Ok(()), |review| read(review, "params.review"))?;
            passed.previous.as_mut().map_or(Ok(()), |previous| read(previous, "artifact"))?;
        }
        for failed in state.failed.values_mut() {
            failed.review.as_mut().map_or(Ok(()), |review| read(review, "params.review"))?;
        }
        for attempt in &mut state.attempts {
            attempt.review.as_mut().map_or(Ok(()), |review| read(review, "params.review"))?;
            attempt.output.as_mut().map_or(Ok(()), |output| read(output, "artifact"))?;
        }
        if let Some(answered) = &mut state.answered {
            read(&mut answered.artifact, "artifact")?;
        }
        state.inner.iter_mut().try_for_each(|inner| self.artifacts(reading, inner))
    }

    /// The state of a walk without the contents of its artifacts.
    pub(super) fn folded(&self, id: &str) -> Result<WalkState, SessionError> {
        let events: Vec<Event> = self.store.events(self.run, id)?.into_iter().map(|(_, event)| event).collect();
        Ok(WalkState::fold(&events))
    }

    /// A case with its state, without the contents of its artifacts, and its events with their numbers; of a damaged case none.
    pub(super) fn unread(&self, id: &str) -> Result<(WalkedCase, Vec<(i64, Event)>), SessionError> {
        let read = || {
            let events = self.store.events(self.run, id)?;
            Ok((self.store.case(self.run, id)?, events))
        };
        match read() {
            Ok((case, events)) => Ok(((case, WalkState::fold(events.iter().map(|(_, event)| event))), events)),
            Err(error) if StoreError::is_damage(&error) => Ok((self.remains(id, &error), Vec::new())),
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
