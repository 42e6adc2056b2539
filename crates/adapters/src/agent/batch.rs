//! Batched requests: pending requests are published together, with a manifest and a briefing. The next batch is published when all requests
//! of the current one are answered or given up.

use super::budget::{SpentListener, TokenBudget};
use super::file::{FileAgent, PendingSignal, PublishError};
use super::manifest::{BRIEFING, BatchManifest, EntryStatus, ManifestEntry, batch_size};
use super::signal::AgentSignal;
use asterisk_base::clock::Clock;
use asterisk_walk::{AfterRefusal, Agent, Answerer, NodeAnswer, Refusal, Request};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a batch that is not full waits for more requests.
const GATHER: Duration = Duration::from_millis(200);
/// Interval at which threads waiting for a batch check its state.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Name of a claim file, before the request's id. It stays until the run ends, so that a late worker sees that the request is taken.
pub const CLAIM: &str = "claim-";
/// Phase of requests that are published one by one.
const SINGLE: &str = "single";

/// Input of a briefing.
#[derive(Clone, Debug)]
pub struct BatchInfo {
    /// Number of the batch.
    pub batch: u64,
    /// Phase: its name in the pipeline, or that of its last node.
    pub phase: String,
    /// Ids of the cases.
    pub cases: Vec<String>,
}

/// Renders the briefing of a batch.
pub type BriefingWriter<'a> = dyn Fn(&BatchInfo) -> String + Send + Sync + 'a;

/// An agent that answers requests in batches.
pub(super) struct BatchAgent<'a> {
    pub(super) file: FileAgent<'a>,
    pub(super) budget: &'a TokenBudget,
    /// Called when tokens were spent.
    pub(super) spent: std::sync::Arc<SpentListener<'a>>,
    pub(super) brief: std::sync::Arc<BriefingWriter<'a>>,
    pub(super) clock: &'a dyn Clock,
    pub(super) stop: &'a AtomicBool,
    pub(super) state: Mutex<BatchState>,
    pub(super) changed: Condvar,
}

/// The queue of the next batch, and the open batch.
#[derive(Default)]
pub(super) struct BatchState {
    queue: Vec<BatchMember>,
    /// When the last request was queued.
    came: Option<Instant>,
    out: Option<OpenBatch>,
    /// Number of the last published batch.
    last: Option<u64>,
}

/// A queued request.
struct BatchMember {
    id: i64,
    at: String,
    signal: AgentSignal,
    phase: String,
    /// The estimated number of tokens of its prompt.
    tokens: u64,
}

/// A published batch.
struct OpenBatch {
    manifest: BatchManifest,
    /// Request ids in the order of the manifest.
    ids: Vec<i64>,
    /// Number of requests without an answer.
    left: usize,
}

impl BatchAgent<'_> {
    fn state(&self) -> MutexGuard<'_, BatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues the request and waits until it is published; whichever thread finds a batch due publishes it.
    fn enter(&self, pending: &PendingSignal<'_>, phase: &str) -> Result<(), PublishError> {
        let PendingSignal { at, signal, .. } = pending;
        let id = signal.dispatch_id;
        let mut state = self.state();
        state.queue.push(BatchMember {
            id,
            at: at.clone(),
            signal: signal.clone(),
            phase: phase.to_owned(),
            tokens: pending.tokens,
        });
        state.came = Some(Instant::now());
        loop {
            if state.out.as_ref().is_some_and(|out| out.ids.contains(&id)) {
                return Ok(());
            }
            if state.queue.iter().all(|member| member.id != id) {
                return Err(io::Error::other("its batch could not be sent").into());
            }
            if self.stop.load(Ordering::Relaxed) {
                state.queue.retain(|member| member.id != id);
                return Ok(signal.write(pending.run_dir, at)?);
            }
            let size = batch_size(self.file.settings.size, self.budget.status().map(|status| status.percent_used));
            let gathered = state.came.is_none_or(|came| came.elapsed() >= GATHER);
            if state.out.is_none() && (state.queue.len() >= size || gathered) {
                // The answers of the last batch may have spent the rest.
                if let Err(refusal) = self.budget.check() {
                    state.queue.retain(|member| member.id != id);
                    return Err(PublishError::Refused(refusal));
                }
                let sent = self.send(&mut state, size, pending);
                self.changed.notify_all();
                sent?;
                continue;
            }
            state = self.changed.wait_timeout(state, POLL_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Publishes a batch of the first queued requests.
    fn send(&self, state: &mut BatchState, size: usize, pending: &PendingSignal<'_>) -> io::Result<()> {
        let run_dir = pending.run_dir;
        let left = self.budget.status().map(|status| u64::try_from(status.remaining).unwrap_or(0));
        let many = affordable(state.queue.iter().take(size).map(|member| member.tokens), left).min(state.queue.len());
        let members: Vec<BatchMember> = state.queue.drain(..many).collect();
        let Some(phase) = members.first().map(|member| member.phase.clone()) else { return Ok(()) };
        let batch = state.last.or_else(|| Some(BatchManifest::read(run_dir).ok()?.batch_id)).unwrap_or(0).saturating_add(1);
        for member in &members {
            member.signal.write(run_dir, &member.at)?;
        }
        let single = self.file.settings.size == 1;
        let mut briefing = String::new();
        if !single {
            let cases = members.iter().map(|member| member.signal.case_id.clone()).collect();
            run_dir.write(BRIEFING, &(self.brief)(&BatchInfo { batch, phase: phase.clone(), cases }))?;
            briefing = run_dir.path(BRIEFING);
        }
        let entry = |member: &BatchMember| ManifestEntry {
            case_id: member.signal.case_id.clone(),
            signal_path: run_dir.path(&member.at),
            status: EntryStatus::Pending,
        };
        let entries = members.iter().map(entry).collect();
        let phase = if single { SINGLE } else { &phase };
        let manifest = BatchManifest::new(batch, phase, self.clock.now(), briefing, entries);
        manifest.write(run_dir)?;
        state.last = Some(batch);
        state.out = Some(OpenBatch { manifest, ids: members.iter().map(|member| member.id).collect(), left: many });
        Ok(())
    }

    /// Updates the status of a request in the manifest. A failed write is ignored: it must not lose an answer.
    fn note(&self, id: i64, status: EntryStatus) {
        let mut state = self.state();
        let Some(out) = &mut state.out else { return };
        let Some(index) = out.ids.iter().position(|member| *member == id) else { return };
        if out.manifest.signals.get(index).is_some_and(|entry| entry.status != status) {
            out.manifest.note(index, status, self.clock.now());
            if let Some(run_dir) = &self.file.run_dir {
                drop(out.manifest.write(&**run_dir));
            }
        }
    }

    /// Removes a request that is no longer pending from the queue or the open batch.
    fn leave(&self, id: i64, status: Option<EntryStatus>) {
        if let Some(status) = status {
            self.note(id, status);
        }
        let mut state = self.state();
        state.queue.retain(|member| member.id != id);
        let Some(out) = state.out.as_mut().filter(|out| out.ids.contains(&id)) else { return };
        out.left -= 1;
        if out.left == 0 {
            state.out = None;
        }
        self.changed.notify_all();
    }

    /// Detects a claim on the request, and a claim that has expired.
    fn claims(&self, pending: &PendingSignal<'_>, since: &mut Option<Instant>) {
        let id = pending.signal.dispatch_id;
        let name = format!("{}/{CLAIM}{id}", pending.places.dir);
        // Any entry of that name, a file or a directory, is a claim.
        let there = !matches!(pending.run_dir.read(&name, 0), Ok(None));
        match since {
            _ if !there => {
                if since.take().is_some() {
                    self.note(id, EntryStatus::Pending);
                }
            }
            None => {
                *since = Some(Instant::now());
                self.note(id, EntryStatus::Claimed);
            }
            Some(began) if began.elapsed() >= self.file.settings.claim => {
                drop(pending.run_dir.remove(&name));
            }
            Some(_) => {}
        }
    }
}

/// How many of the requests, in order, have prompts that the rest of the budget pays for; at least one.
fn affordable(tokens: impl Iterator<Item = u64>, left: Option<u64>) -> usize {
    let mut sum = 0_u64;
    let pays = |tokens: &u64| {
        sum = sum.saturating_add(*tokens);
        left.is_none_or(|left| sum <= left)
    };
    tokens.take_while(pays).count().max(1)
}

impl Answerer for BatchAgent<'_> {
    fn name(&self) -> &str {
        &self.file.name
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        let mut entered = None;
        let mut claimed = None;
        let reply = self.file.ask(
            request,
            |pending| {
                entered = Some(pending.signal.dispatch_id);
                self.enter(pending, request.plan.pipeline.phase_name(request.node))
            },
            |pending| self.claims(pending, &mut claimed),
        );
        if let Ok(reply) = &reply {
            // Before it leaves: then the next batch may be due.
            self.budget.add(reply, &*self.spent);
        }
        if let Some(id) = entered {
            let status = match &reply {
                Ok(reply) if request.validate(&reply.artifact).is_empty() => Some(EntryStatus::Done),
                // The request stays open until the run is resumed.
                Err(Refusal { next: AfterRefusal::Wait, .. }) => None,
                _ => Some(EntryStatus::Error),
            };
            self.leave(id, status);
        }
        reply
    }

    fn recorded(&self, case: &str, agent: &Agent) {
        self.file.recorded(case, agent);
    }
}

#[cfg(test)]
mod tests {
    use super::affordable;

    #[test]
    fn a_batch_has_no_more_prompts_than_the_budget_pays_for() {
        let of = |left| affordable([10, 20, 30].into_iter(), left);
        assert_eq!((of(None), of(Some(60)), of(Some(59)), of(Some(10)), of(Some(0))), (3, 3, 2, 1, 1));
    }
}
