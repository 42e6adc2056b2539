//! Queue of steps for pulling workers: the oldest step goes to the worker that waits longest, and answers are matched by id.
//!
//! An assigned step belongs to the holder of its ticket until its lease expires; then it returns to the queue. Pulling and submitting are
//! plain futures, so that a server can await many at once on any runtime; the walk's thread blocks.

mod futures;
mod messages;
mod offer;
#[cfg(test)]
mod tests;

use super::in_flight::InFlightGate;
use super::settings::AgentSettings;
pub use futures::{PullFuture, SubmitFuture};
pub(super) use messages::{Dispatch, StepEvent};
pub use messages::{PullResult, QueueClosed, SubmitError, SubmitOutcome, SubmittedArtifact, Task, WorkerHealth};
pub(super) use offer::Offer;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

/// Maximum number of distinct workers in the statistics.
const WORKERS: usize = 4096;

#[derive(Debug)]
struct Worker {
    last_contact: Instant,
    waiting: usize,
    holding: usize,
    pulled: usize,
    accepted: usize,
    refused: usize,
    lost: usize,
}

/// The steps of a run that wait for workers.
#[derive(Debug)]
pub struct StepQueue {
    inner: Mutex<QueueState>,
}

#[derive(Debug)]
struct QueueState {
    /// Sequence number of steps, pulls and submissions.
    count: u64,
    /// The last sequence number of requests, in a run without files.
    dispatches: i64,
    steps: HashMap<i64, QueuedStep>,
    /// Unassigned steps, by age.
    ready: BTreeMap<u64, i64>,
    /// Waiting workers, by age.
    pullers: BTreeMap<u64, Puller>,
    /// Waiters for the result of a submission, by sequence number.
    acks: HashMap<u64, Ack>,
    /// Answered requests.
    answered: HashSet<i64>,
    /// Accepted answers that are not recorded yet, by request id, with the case and the waiter for the result.
    unrecorded: HashMap<i64, (String, u64)>,
    workers: BTreeMap<String, Worker>,
    gate: InFlightGate,
    closed: Option<QueueClosed>,
}

#[derive(Debug)]
struct QueuedStep {
    age: u64,
    task: Task,
    lease: Duration,
    at: StepLocation,
    bell: Arc<Condvar>,
    /// The next event for the walk.
    event: Option<StepEvent>,
}

/// State of a step.
#[derive(Debug, PartialEq)]
enum StepLocation {
    /// Unassigned.
    Ready,
    /// Assigned to a worker, until its lease expires.
    Held(String, Instant),
    /// A submitted answer is being validated.
    Answered(String, u64),
}

#[derive(Debug)]
struct Puller {
    worker: String,
    waker: Option<Waker>,
    /// A step assigned to it but not taken yet.
    got: Option<(i64, Option<String>)>,
}

#[derive(Debug, Default)]
struct Ack {
    verdict: Option<SubmitOutcome>,
    waker: Option<Waker>,
}

impl StepQueue {
    /// An empty queue. `desired` is the requested number of concurrent workers.
    pub fn new(desired: usize) -> Arc<Self> {
        let inner = QueueState {
            count: 0,
            dispatches: 0,
            steps: HashMap::new(),
            ready: BTreeMap::new(),
            pullers: BTreeMap::new(),
            acks: HashMap::new(),
            answered: HashSet::new(),
            unrecorded: HashMap::new(),
            workers: BTreeMap::new(),
            gate: InFlightGate::new(desired),
            closed: None,
        };
        Arc::new(Self { inner: Mutex::new(inner) })
    }

    fn inner(&self) -> MutexGuard<'_, QueueState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Pulls a step. Dropping the future gives up; a step just assigned to it goes to the next worker.
    pub fn pull(self: &Arc<Self>, worker: &str) -> PullFuture {
        let mut inner = self.inner();
        let key = inner.next();
        inner.touch_worker(worker, |worker| worker.waiting += 1);
        inner.gate.wait();
        inner.pullers.insert(key, Puller { worker: worker.to_owned(), waker: None, got: None });
        inner.pair();
        drop(inner);
        PullFuture { queue: Arc::clone(self), key: Some(key) }
    }

    /// Submits the answer to a step. The future resolves to the result; the answer is processed whether or not it is awaited.
    pub fn submit(self: &Arc<Self>, id: i64, ticket: &str, submitted: SubmittedArtifact) -> Result<SubmitFuture, SubmitError> {
        let mut inner = self.inner();
        if let Some(QueueClosed::Aborted(why)) = &inner.closed {
            return Err(SubmitError::Aborted(why.clone()));
        }
        let InFlightGate { desired, in_flight, .. } = inner.gate;
        let open = inner.gate.is_open();
        let key = inner.next();
        let answered = inner.answered.contains(&id);
        let Some(step) = inner.steps.get_mut(&id) else {
            return Err(if answered { SubmitError::AlreadySubmitted(id) } else { SubmitError::Unknown(id) });
        };
        let worker = match &step.at {
            StepLocation::Answered(..) => return Err(SubmitError::AlreadySubmitted(id)),
            _ if step.task.ticket.is_empty() || step.task.ticket != ticket => return Err(SubmitError::NotYours(id)),
            // The lease has expired, but no other worker has the step.
            StepLocation::Ready => None,
            StepLocation::Held(worker, _) => Some(worker.clone()),
        };
        if !open {
            return Err(SubmitError::Gate(desired, in_flight));
        }
        let name = worker.clone().unwrap_or_default();
        step.at = StepLocation::Answered(name, key);
        step.event = Some(StepEvent::Submitted(submitted));
        step.bell.notify_all();
        let age = step.age;
        inner.ready.remove(&age);
        if let Some(worker) = worker {
            inner.touch_worker(&worker, |worker| worker.holding = worker.holding.saturating_sub(1));
            inner.gate.release();
        }
        inner.acks.insert(key, Ack::default());
        drop(inner);
        Ok(SubmitFuture { queue: Arc::clone(self), key })
    }

    /// Reports that the answer to a request is recorded.
    pub fn recorded(&self, id: i64) {
        let mut inner = self.inner();
        if let Some((_, key)) = inner.unrecorded.remove(&id) {
            inner.resolve(key, SubmitOutcome::Accepted);
        }
    }

    /// Reports that the walk of a case has stopped: all its answers are recorded.
    pub fn case_stopped(&self, case: &str) {
        let inner = self.inner();
        let mut ids: Vec<i64> = inner.unrecorded.iter().filter(|(_, (of, _))| of == case).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        drop(inner);
        for id in ids {
            self.recorded(id);
        }
    }

    /// Closes the queue and wakes all waiters with the reason. Only the first call counts.
    pub fn close(&self, why: &QueueClosed) {
        let mut inner = self.inner();
        if inner.closed.is_some() {
            return;
        }
        inner.closed = Some(why.clone());
        #[expect(clippy::iter_over_hash_type, reason = "all are notified equally")]
        for step in inner.steps.values_mut() {
            step.event.get_or_insert_with(|| StepEvent::Closed(why.clone()));
            step.bell.notify_all();
        }
        inner.pullers.values_mut().filter_map(|puller| puller.waker.take()).for_each(Waker::wake);
    }

    /// Reports the end of the run, and whether all its answers are recorded.
    pub fn end(&self, why: &QueueClosed, recorded: bool) {
        self.close(why);
        let mut inner = self.inner();
        let mut waiting: Vec<u64> = inner.unrecorded.drain().map(|(_, (_, key))| key).collect();
        waiting.sort_unstable();
        for key in waiting {
            inner.resolve(key, if recorded { SubmitOutcome::Accepted } else { SubmitOutcome::Lost(why.clone()) });
        }
    }

    /// Why the queue is closed, if it is.
    pub fn closed(&self) -> Option<QueueClosed> {
        self.inner().closed.clone()
    }

    /// Health of the workers, by name.
    pub fn health(&self) -> Vec<WorkerHealth> {
        let inner = self.inner();
        let health = |(name, worker): (&String, &Worker)| WorkerHealth {
            worker: name.clone(),
            state: match worker {
                Worker { holding: 1.., .. } => "working",
                Worker { waiting: 1.., .. } => "waiting",
                _ => "idle",
            },
            holding: worker.holding,
            pulled: worker.pulled,
            accepted: worker.accepted,
            refused: worker.refused,
            lost: worker.lost,
            silent_seconds: worker.last_contact.elapsed().as_secs(),
        };
        inner.workers.iter().map(health).collect()
    }

    /// Number of unassigned steps, and the state of the gate.
    pub fn standing(&self) -> (usize, InFlightGate) {
        let inner = self.inner();
        (inner.ready.len(), inner.gate.clone())
    }

    /// The next sequence number of requests, in a run without files.
    pub(super) fn next_dispatch(&self) -> i64 {
        let mut inner = self.inner();
        inner.dispatches += 1;
        inner.dispatches
    }

    /// Offers a step. It is withdrawn when the returned guard is dropped.
    pub(super) fn offer(&self, task: Task, settings: &AgentSettings) -> Offer<'_> {
        let mut inner = self.inner();
        let (id, age) = (task.dispatch_id, inner.next());
        let event = inner.closed.clone().map(StepEvent::Closed);
        let bell = Arc::new(Condvar::new());
        inner.answered.remove(&id);
        inner.steps.insert(
            id,
            QueuedStep { age, task, lease: settings.bounds.timeout, at: StepLocation::Ready, bell: Arc::clone(&bell), event },
        );
        inner.ready.insert(age, id);
        inner.pair();
        drop(inner);
        Offer { queue: self, id, bell }
    }
}

impl QueueState {
    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    fn touch_worker(&mut self, name: &str, note: impl FnOnce(&mut Worker)) {
        let new = || Worker { last_contact: Instant::now(), waiting: 0, holding: 0, pulled: 0, accepted: 0, refused: 0, lost: 0 };
        if self.workers.len() >= WORKERS && !self.workers.contains_key(name) {
            return;
        }
        let worker = self.workers.entry(name.to_owned()).or_insert_with(new);
        worker.last_contact = Instant::now();
        note(worker);
    }

    /// Assigns the oldest steps to the workers that wait longest.
    fn pair(&mut self) {
        while self.closed.is_none() {
            let Some((&age, &id)) = self.ready.first_key_value() else { return };
            let Some((worker, waker)) = self.pullers.values_mut().find(|puller| puller.got.is_none()).map(|puller| {
                puller.got = Some((id, None));
                (puller.worker.clone(), puller.waker.take())
            }) else {
                return;
            };
            self.ready.remove(&age);
            self.give(id, &worker);
            let warning = self.gate.warning();
            if let Some(puller) = self.pullers.values_mut().find(|puller| puller.got.as_ref().is_some_and(|(got, _)| *got == id))
            {
                puller.got = Some((id, warning));
            }
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    /// Assigns a step to a worker.
    fn give(&mut self, id: i64, worker: &str) {
        let Some(step) = self.steps.get_mut(&id) else { return };
        step.task.ticket = ticket();
        step.at = StepLocation::Held(worker.to_owned(), Instant::now() + step.lease);
        // The walk's thread watches the lease.
        step.bell.notify_all();
        self.gate.give();
        self.touch_worker(worker, |worker| {
            worker.holding += 1;
            worker.pulled += 1;
        });
    }

    /// Withdraws a step from its worker and leaves it unassigned.
    fn take_back(&mut self, id: i64) {
        let Some(step) = self.steps.get_mut(&id) else { return };
        let StepLocation::Held(worker, _) = &step.at else { return };
        let worker = worker.clone();
        step.at = StepLocation::Ready;
        self.gate.release();
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.holding = worker.holding.saturating_sub(1);
        }
    }

    /// Returns an unassigned step to its old position in the queue.
    fn put_back(&mut self, id: i64) {
        let Some(step) = self.steps.get(&id).filter(|step| step.at == StepLocation::Ready) else { return };
        self.ready.insert(step.age, id);
        self.pair();
    }

    fn resolve(&mut self, key: u64, verdict: SubmitOutcome) {
        if let Some(ack) = self.acks.get_mut(&key) {
            ack.verdict = Some(verdict);
            if let Some(waker) = ack.waker.take() {
                waker.wake();
            }
        }
    }
}

/// An unguessable ticket.
fn ticket() -> String {
    let mut bytes = [0_u8; 32];
    // Without system randomness no ticket is issued: it could be guessed.
    if getrandom::fill(&mut bytes).is_err() {
        return String::new();
    }
    blake3::Hash::from(bytes).to_hex()[..32].to_owned()
}
