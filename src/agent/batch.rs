//! Requests that go out together: those that wait at the same time are one batch, which has a manifest and a briefing. The next goes out when
//! all of one are answered or given up.

use super::budget::TokenBudget;
use super::file::{FileAgent, PendingSignal};
use super::manifest::{BRIEFING, BatchManifest, EntryStatus, ManifestEntry, batch_size};
use super::signal::AgentSignal;
use crate::clock::Clock;
use crate::walk::{AfterRefusal, Agent, Answerer, NodeAnswer, Refusal, Request};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a batch that is not full waits for others.
const GATHER: Duration = Duration::from_millis(200);
/// How often somebody who waits for a batch looks.
const LOOK: Duration = Duration::from_millis(20);
/// What the name of a claim begins with, before the request's id. It stays until the run is over: whoever comes late sees that it is taken.
pub const CLAIM: &str = "claim-";
/// The phase of requests that go out one by one.
const SINGLE: &str = "single";

/// What a briefing is made for.
#[derive(Clone, Debug)]
pub struct BatchInfo {
    /// The batch's number.
    pub batch: u64,
    /// The phase, by its name in the pipeline or that of its last node.
    pub phase: String,
    /// The cases.
    pub cases: Vec<String>,
}

/// Writes the briefing of a batch.
pub type BriefingWriter<'a> = dyn Fn(&BatchInfo) -> String + Send + Sync + 'a;

/// Somebody who takes requests by the batch.
pub(super) struct BatchAgent<'a> {
    pub(super) file: FileAgent<'a>,
    pub(super) budget: &'a TokenBudget,
    pub(super) brief: std::sync::Arc<BriefingWriter<'a>>,
    pub(super) clock: &'a dyn Clock,
    pub(super) stop: &'a AtomicBool,
    pub(super) state: Mutex<BatchState>,
    pub(super) turned: Condvar,
}

/// Who waits for a batch, and the batch that is out.
#[derive(Default)]
pub(super) struct BatchState {
    queue: Vec<BatchMember>,
    /// When the last of the queue came.
    came: Option<Instant>,
    out: Option<OpenBatch>,
    /// The number of the batch that went out last.
    last: Option<u64>,
}

/// A request that is to go out.
struct BatchMember {
    id: i64,
    at: String,
    signal: AgentSignal,
    phase: String,
}

/// A batch that is out.
struct OpenBatch {
    manifest: BatchManifest,
    /// The requests in the order of the manifest.
    ids: Vec<i64>,
    /// How many of them are waited for.
    left: usize,
}

impl BatchAgent<'_> {
    fn state(&self) -> MutexGuard<'_, BatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the request has gone out with a batch, which whoever sees that it is time sends.
    fn enter(&self, waiting: &PendingSignal<'_>, phase: &str) -> io::Result<()> {
        let PendingSignal { at, signal, .. } = waiting;
        let id = signal.dispatch_id;
        let mut state = self.state();
        state.queue.push(BatchMember { id, at: at.clone(), signal: signal.clone(), phase: phase.to_owned() });
        state.came = Some(Instant::now());
        loop {
            if state.out.as_ref().is_some_and(|out| out.ids.contains(&id)) {
                return Ok(());
            }
            if state.queue.iter().all(|member| member.id != id) {
                return Err(io::Error::other("its batch could not be sent"));
            }
            if self.stop.load(Ordering::Relaxed) {
                state.queue.retain(|member| member.id != id);
                return signal.write(waiting.tray, at);
            }
            let size = batch_size(self.file.settings.size, self.budget.status().map(|status| status.percent_used));
            let gathered = state.came.is_none_or(|came| came.elapsed() >= GATHER);
            if state.out.is_none() && (state.queue.len() >= size || gathered) {
                let sent = self.send(&mut state, size, waiting);
                self.turned.notify_all();
                sent?;
                continue;
            }
            state = self.turned.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Sends the first of those that wait.
    fn send(&self, state: &mut BatchState, size: usize, waiting: &PendingSignal<'_>) -> io::Result<()> {
        let tray = waiting.tray;
        let many = size.min(state.queue.len());
        let members: Vec<BatchMember> = state.queue.drain(..many).collect();
        let Some(phase) = members.first().map(|member| member.phase.clone()) else { return Ok(()) };
        let batch = state.last.or_else(|| Some(BatchManifest::read(tray).ok()?.batch_id)).unwrap_or(0).saturating_add(1);
        for member in &members {
            member.signal.write(tray, &member.at)?;
        }
        let single = self.file.settings.size == 1;
        let mut briefing = String::new();
        if !single {
            let cases = members.iter().map(|member| member.signal.case_id.clone()).collect();
            tray.write(BRIEFING, &(self.brief)(&BatchInfo { batch, phase: phase.clone(), cases }))?;
            briefing = tray.path(BRIEFING);
        }
        let entry = |member: &BatchMember| ManifestEntry {
            case_id: member.signal.case_id.clone(),
            signal_path: tray.path(&member.at),
            status: EntryStatus::Pending,
        };
        let entries = members.iter().map(entry).collect();
        let phase = if single { SINGLE } else { &phase };
        let manifest = BatchManifest::new(batch, phase, self.clock.now(), briefing, entries);
        manifest.write(tray)?;
        state.last = Some(batch);
        state.out = Some(OpenBatch { manifest, ids: members.iter().map(|member| member.id).collect(), left: many });
        Ok(())
    }

    /// Notes how far a request of the batch that is out is. A manifest that cannot be written is nothing to lose an answer for.
    fn note(&self, id: i64, status: EntryStatus) {
        let mut state = self.state();
        let Some(out) = &mut state.out else { return };
        let Some(index) = out.ids.iter().position(|member| *member == id) else { return };
        if out.manifest.signals.get(index).is_some_and(|entry| entry.status != status) {
            out.manifest.note(index, status, self.clock.now());
            if let Some(tray) = &self.file.tray {
                drop(out.manifest.write(&**tray));
            }
        }
    }

    /// That a request is not waited for any more.
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
        self.turned.notify_all();
    }

    /// Sees whether somebody has claimed the request, or has for too long.
    fn claims(&self, waiting: &PendingSignal<'_>, since: &mut Option<Instant>) {
        let id = waiting.signal.dispatch_id;
        let name = format!("{}/{CLAIM}{id}", waiting.places.dir);
        // Whatever is there, a file or a directory, claims it.
        let there = !matches!(waiting.tray.read(&name, 0), Ok(None));
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
                drop(waiting.tray.remove(&name));
            }
            Some(_) => {}
        }
    }
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
            |waiting| {
                entered = Some(waiting.signal.dispatch_id);
                self.enter(waiting, request.plan.pipeline.phase_name(request.node))
            },
            |waiting| self.claims(waiting, &mut claimed),
        );
        if let Some(id) = entered {
            let status = match &reply {
                Ok(reply) if request.validate(&reply.artifact).is_empty() => Some(EntryStatus::Done),
                // It goes on when the run does.
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
