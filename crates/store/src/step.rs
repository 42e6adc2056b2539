//! Prepares the commit of a step outside the writer's lock, and writes it.

use super::addresses::{prefetch, row_of};
use super::cache;
use super::effects::{EffectContext, apply};
use super::error::StoreError;
use super::jobs::holds_job;
use super::packing::StoredText;
use super::recorded::{record, renew_dictionary};
use crate::sql::{Connection, params};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Effect, Hash, Hasher};
use asterisk_walk::{Blob, Commit};
use asterisk_walk::{Event, EventBody, Name};
use std::collections::HashMap;
use std::sync::Arc;

/// Row ids of the cases of a run by their ids in the run.
pub(super) type CaseIds = HashMap<Box<str>, i64>;

/// A commit ready to be written.
#[derive(Debug)]
pub(super) struct StoredCommit {
    run: i64,
    events: Vec<EventRow>,
    blobs: Vec<Blob>,
    effects: Vec<Effect<i64>>,
    /// The case that the effects belong to.
    effect_case: Option<i64>,
    /// Answerer that decided them.
    by: Name,
    /// Answers to keep for later runs.
    answers: Vec<(Hash, i64, Arc<str>)>,
    /// New statuses of the walks of cases.
    statuses: Vec<(i64, &'static str)>,
    /// What has to be true for it to be written.
    pub(super) claim: Claim,
}

/// What the writer of a commit must be sure of within its transaction: another process may have taken over what it works on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Claim {
    #[default]
    None,
    /// It is the one that took the lease on the run last. Of a file, the operating system takes care.
    Run { holder: i64 },
    /// It holds the job of the case.
    Job { rc: i64, fence: i64 },
}

impl Claim {
    /// Fails if another process has taken over the run or the case.
    pub(super) fn expect(self, conn: &Connection, run: i64) -> Result<(), StoreError> {
        let holds = match self {
            Self::None => true,
            Self::Run { .. } if conn.file().is_some() => true,
            Self::Run { holder } => {
                conn.prepare_cached("SELECT 1 FROM runs WHERE id = ?1 AND holder = ?2")?.exists([run, holder])?
            }
            Self::Job { rc, fence } => holds_job(conn, rc, fence)?,
        };
        if holds {
            return Ok(());
        }
        let name = conn.query_row("SELECT name FROM runs WHERE id = ?1", [run], |row| row.get(0))?;
        Err(StoreError::TakenOver(name))
    }
}

#[derive(Debug)]
struct EventRow {
    case: Option<i64>,
    path: Name,
    at: i64,
    body: String,
    sum: i64,
}

impl StoredCommit {
    /// Prepares a commit. Refuses events of cases that the run does not have, effects that do not belong to exactly one case, and numbers
    /// that JSON cannot represent.
    pub(super) fn new(run: i64, cases: &CaseIds, commit: Commit) -> Result<Self, StoreError> {
        let mut step = Self {
            run,
            events: Vec::with_capacity(commit.events.len()),
            blobs: commit.blobs,
            effect_case: None,
            effects: commit.effects,
            by: Name::default(),
            answers: Vec::new(),
            statuses: Vec::new(),
            claim: Claim::None,
        };
        let mut several = false;
        let mut answer = None;
        for event in commit.events {
            let case = match &*event.case {
                "" => None,
                id => Some(*cases.get(id).ok_or_else(|| StoreError::Refused(format!("no case `{id}` in the run")))?),
            };
            several |= case.is_some() && step.effect_case.is_some_and(|other| Some(other) != case);
            step.effect_case = step.effect_case.or(case);
            if let (Some(case), Some(status)) = (case, walk_status(&event)) {
                step.statuses.retain(|(other, _)| *other != case);
                step.statuses.push((case, status));
            }
            if let EventBody::NodeExit { effects, by, .. } = &event.what {
                step.by.clone_from(by);
                effects.iter().try_for_each(check_numbers)?;
            }
            match &event.what {
                EventBody::NodeExit { artifact, .. } => answer = artifact.text(),
                EventBody::StepComplete { key: Some(key), .. } => {
                    step.answers.extend(answer.take().map(|answer| (*key, event.at.millis(), answer)));
                }
                _ => {}
            }
            let body = serde_json::to_string(&event.what)
                .map_err(|error| StoreError::Refused(format!("an event cannot be written as JSON: {error}")))?;
            let at = event.at.millis();
            let sum = sum(run, case, &event.path, at, &body);
            step.events.push(EventRow { case, path: event.path, at, body, sum });
        }
        step.effects.iter().try_for_each(check_numbers)?;
        if !step.effects.is_empty() && (several || step.effect_case.is_none()) {
            return Err(StoreError::Refused("effects need events of exactly one case".into()));
        }
        Ok(step)
    }

    /// The case of its events, if it is one.
    pub(super) fn case(&self) -> Option<i64> {
        self.effect_case
    }

    /// Writes the commit, inside a transaction.
    pub(super) fn store(&self, conn: &Connection) -> Result<(), StoreError> {
        self.claim.expect(conn, self.run)?;
        let texts = self.events.iter().map(|event| event.body.as_str()).chain(self.blobs.iter().map(|blob| &*blob.text));
        prefetch(conn, self.blobs.iter().map(|blob| blob.hash), texts)?;
        insert_blobs(conn, &self.blobs)?;
        let mut insert =
            conn.prepare_cached("INSERT INTO events (seq, run, rc, path, at, body, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
        self.answers.iter().try_for_each(|(key, at, answer)| keep_answer(conn, key, *at, answer))?;
        let mut stamp = if self.events.is_empty() { 0 } else { last_event(conn)? };
        for event in &self.events {
            let body = record(conn, &event.body)?;
            stamp += 1;
            insert.send(params![stamp, self.run, event.case, event.path.as_str(), event.at, body, event.sum])?;
        }
        if let Some(more) = i64::try_from(self.events.len()).ok().filter(|count| *count > 0) {
            cache::note_events(conn, (stamp - more + 1, stamp), false);
        }
        if !self.statuses.is_empty() {
            let mut update = conn.prepare_cached("UPDATE run_cases SET status = ?2 WHERE id = ?1 AND status <> ?2")?;
            for (case, status) in &self.statuses {
                update.send(params![case, status])?;
            }
        }
        if let Some(case) = self.effect_case {
            let context = EffectContext { run: self.run, case, stamp, by: &self.by };
            self.effects.iter().try_for_each(|effect| apply(conn, &context, effect))?;
        }
        if stamp > 0 { renew_dictionary(conn, stamp) } else { Ok(()) }
    }
}

/// The number of the last event. Numbers follow the order of commits, since writers wait for each other.
pub(super) fn last_event(conn: &Connection) -> Result<i64, StoreError> {
    if let Some(now) = cache::standing(conn)? {
        return Ok(now.last_event);
    }
    Ok(conn.prepare_cached("SELECT coalesce(max(seq), 0) FROM events")?.query_row([], |row| row.get(0))?)
}

/// Appends an event of no run, such as what a person said outside of any; returns its number.
pub(super) fn append_statement(conn: &Connection, at: Timestamp, body: &str) -> Result<i64, StoreError> {
    let stamp = last_event(conn)? + 1;
    let mut insert = conn.prepare_cached("INSERT INTO events (seq, run, rc, path, at, body) VALUES (?1, 0, NULL, '', ?2, ?3)")?;
    insert.send(params![stamp, at.millis(), StoredText::new(body)])?;
    cache::note_events(conn, (stamp, stamp), true);
    Ok(stamp)
}

/// Keeps an answer for later runs, instead of an earlier one.
fn keep_answer(conn: &Connection, key: &Hash, at: i64, answer: &str) -> Result<(), StoreError> {
    let mut insert = conn.prepare_cached(
        "INSERT INTO answers (key, at, answer) VALUES (?1, ?2, ?3) \
         ON CONFLICT (key) DO UPDATE SET at = excluded.at, answer = excluded.answer",
    )?;
    insert.send(params![key.bytes(), at, answer])?;
    Ok(())
}

/// Checksum of an event's row, compared when it is read.
pub(super) fn sum(run: i64, case: Option<i64>, path: &str, at: i64, body: &str) -> i64 {
    let mut hasher = Hasher::default();
    // Row ids start at 1.
    for number in [run, case.unwrap_or(0), at] {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(path.as_bytes());
    hasher.update(&[0]);
    hasher.update(body.as_bytes());
    let hash = hasher.finish();
    hash.bytes().first_chunk().map_or(0, |first| i64::from_le_bytes(*first))
}

/// Stores the contents that are not stored yet. Parts stand behind what they are parts of and are stored first, so that they have rows
/// to be named by.
pub(super) fn insert_blobs(conn: &Connection, blobs: &[Blob]) -> Result<(), StoreError> {
    blobs.iter().rev().try_for_each(|blob| insert_blob(conn, &blob.hash, &blob.text))
}

/// Stores a content unless it is stored already, like most contents of a step: those are not packed again.
pub(super) fn insert_blob(conn: &Connection, hash: &Hash, text: &str) -> Result<(), StoreError> {
    if row_of(conn, hash)?.is_none() {
        let text = record(conn, text)?;
        let row = cache::next_blob(conn)?;
        conn.prepare_cached("INSERT INTO blobs (id, hash, text) VALUES (?1, ?2, ?3)")?.send(params![row, hash.bytes(), text])?;
        if row.is_some() {
            cache::note_row(conn, hash, row);
        }
    }
    Ok(())
}

/// The status that an event gives the walk of its case. Events of sub-walks and branches, whose paths have several parts, count only if
/// they are failures.
pub(super) fn walk_status(event: &Event) -> Option<&'static str> {
    match event.what {
        EventBody::WalkError { .. } => Some("error"),
        EventBody::Reopened { .. } => Some("running"),
        _ if event.path.contains('/') => None,
        EventBody::NodeEnter { .. } | EventBody::Fork { .. } => Some("running"),
        EventBody::WalkComplete { .. } => Some("done"),
        EventBody::Barrier { .. }
        | EventBody::Reload { .. }
        | EventBody::Upgraded { .. }
        | EventBody::SubWalk { .. }
        | EventBody::Join { .. }
        | EventBody::BranchError { .. }
        | EventBody::WalkerSwitch { .. }
        | EventBody::Requested { .. }
        | EventBody::Rejected { .. }
        | EventBody::Unanswered { .. }
        | EventBody::Masked { .. }
        | EventBody::Verdict { .. }
        | EventBody::Root { .. }
        | EventBody::NodeExit { .. }
        | EventBody::StepStart { .. }
        | EventBody::StepAttempt { .. }
        | EventBody::CacheHit { .. }
        | EventBody::Answered { .. }
        | EventBody::AdvisorReview { .. }
        | EventBody::StepRetry { .. }
        | EventBody::StepComplete { .. }
        | EventBody::StepError { .. }
        | EventBody::StepSkipped { .. }
        | EventBody::ThermalWarning { .. }
        | EventBody::EdgeEvaluate { .. }
        | EventBody::Shadow { .. }
        | EventBody::Transition { .. } => None,
    }
}

/// JSON writes a number that is not finite as `null`, and an event with one could not be read again.
fn check_numbers(effect: &Effect<i64>) -> Result<(), StoreError> {
    let (name, number) = match effect {
        Effect::CreateRca { convergence, .. } => ("convergence", *convergence),
        Effect::LinkSymptomRca { confidence, .. } => ("confidence", *confidence),
        _ => return Ok(()),
    };
    if number.is_finite() { Ok(()) } else { Err(StoreError::Refused(format!("the {name} of an effect is {number}"))) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::RunStatus;
    use crate::fixture::{Backend, StoreFixture, effects, enter, event, launch, rca};
    use asterisk_walk::{Journal, JournalError};
    use rstest::rstest;

    #[rstest]
    fn the_walks_status_follows_the_events_of_the_top_level(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(1));
        let status = || fixture.store.cases("r").unwrap()[0].status;
        let after = |path: &str, what: EventBody| {
            journal.commit(Commit { events: vec![event("c1", path, what)], ..Commit::default() }).unwrap();
            status()
        };
        assert_eq!(status(), RunStatus::Waiting);
        assert_eq!(after("1", EventBody::NodeEnter { node: "n".into() }), RunStatus::Running);
        assert_eq!(after("1/court/1", EventBody::WalkComplete { node: "n".into() }), RunStatus::Running);
        assert_eq!(after("2", EventBody::NodeEnter { node: "n".into() }), RunStatus::Running);
        let failed = EventBody::WalkError { node: "n".into(), kind: "no_edge".into(), message: "m".into() };
        assert_eq!(after("2", failed), RunStatus::Error);
        assert_eq!(after("", EventBody::WalkComplete { node: "n".into() }), RunStatus::Done);
        assert_eq!(fixture.store.runs().unwrap()[0].done, 1);
    }

    #[rstest]
    fn what_cannot_be_stored_truly_is_refused_whole(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(2));
        let note = || Effect::Note { text: "n".into() };
        let mut nan = rca(1, "m");
        if let Effect::CreateRca { convergence, .. } = &mut nan {
            *convergence = f64::NAN;
        }
        let two = Commit { events: vec![enter("c1", "1"), enter("c2", "1")], effects: vec![note()], ..Commit::default() };
        for (commit, why) in [
            (effects("c9", vec![]), "no case `c9`"),
            (effects("", vec![note()]), "exactly one case"),
            (Commit { effects: vec![note()], ..Commit::default() }, "exactly one case"),
            (two, "exactly one case"),
            (effects("c1", vec![nan]), "convergence of an effect is NaN"),
        ] {
            match journal.commit(commit) {
                Err(JournalError::Refused(text)) => assert!(text.contains(why), "{text}"),
                other => panic!("{why}: {other:?}"),
            }
        }
        assert!(fixture.store.all_events("r").unwrap().is_empty());
    }

    #[rstest]
    fn a_content_is_stored_once(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(1));
        for _ in 0..3 {
            journal.commit(Commit { blobs: vec![Blob::new("same"), Blob::new("same")], ..Commit::default() }).unwrap();
        }
        assert_eq!(fixture.value::<i64>("SELECT count(*) FROM blobs WHERE text = ?1", params!["same"]), 1);
    }
}
