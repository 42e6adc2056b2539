//! Steps that wait for whoever pulls them: the oldest goes to whoever waits longest, and answers come back by id.
//!
//! A step that was taken belongs to whoever has its ticket, for as long as its lease lasts; then it is given back. Pulling and
//! submitting are plain futures, so that a server can wait for many at once with any runtime; the walk's thread blocks.

mod messages;
mod offer;
#[cfg(test)]
mod tests;
mod waiting;

use super::in_flight::InFlightGate;
use super::settings::AgentSettings;
pub(super) use messages::StepNews;
pub use messages::{PullResult, QueueClosed, SubmitError, SubmitOutcome, SubmittedArtifact, Task, WorkerHealth};
pub(super) use offer::Offer;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};
pub use waiting::{PullFuture, SubmitFuture};

/// How many workers are told apart.
const WORKERS: usize = 4096;

#[derive(Debug)]
struct Worker {
    heard: Instant,
    waiting: usize,
    holding: usize,
    pulled: usize,
    accepted: usize,
    refused: usize,
    lost: usize,
}

/// The steps of a run that wait for somebody to answer them.
#[derive(Debug)]
pub struct StepQueue {
    inner: Mutex<QueueState>,
}

#[derive(Debug)]
struct QueueState {
    /// Counts steps, pulls and submissions.
    count: u64,
    steps: HashMap<i64, QueuedStep>,
    /// Those that nobody has, by age.
    ready: BTreeMap<u64, i64>,
    /// Those who wait for a step, by age.
    pullers: BTreeMap<u64, Puller>,
    /// Those who wait for what becomes of their answer, by the request.
    acks: HashMap<u64, Ack>,
    /// What was answered.
    answered: HashSet<i64>,
    /// Answers that are not recorded yet, with the case and who waits to be told.
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
    /// What the walk is to see next.
    news: Option<StepNews>,
}

/// Where a step is.
#[derive(Debug, PartialEq)]
enum StepLocation {
    /// With nobody.
    Ready,
    /// With a worker, until then.
    Held(String, Instant),
    /// An answer is being looked at.
    Answered(String, u64),
}

#[derive(Debug)]
struct Puller {
    worker: String,
    waker: Option<Waker>,
    /// What it got and has not taken yet.
    got: Option<(i64, Option<String>)>,
}

#[derive(Debug, Default)]
struct Ack {
    verdict: Option<SubmitOutcome>,
    waker: Option<Waker>,
}

impl StepQueue {
    /// An empty one. `desired`: how many are to be at work at once.
    pub fn new(desired: usize) -> Arc<Self> {
        let inner = QueueState {
            count: 0,
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

    /// Asks for a step. Dropping this before it is ready gives up; a step that was just about to be had goes to the next.
    pub fn pull(self: &Arc<Self>, worker: &str) -> PullFuture {
        let mut inner = self.inner();
        let key = inner.next();
        inner.heard(worker, |worker| worker.waiting += 1);
        inner.gate.wait();
        inner.pullers.insert(key, Puller { worker: worker.to_owned(), waker: None, got: None });
        inner.pair();
        drop(inner);
        PullFuture { queue: Arc::clone(self), key: Some(key) }
    }

    /// Takes the answer to a step. What becomes of it is known when the future is; it is looked at whether that is awaited or not.
    pub fn submit(self: &Arc<Self>, id: i64, ticket: &str, brought: SubmittedArtifact) -> Result<SubmitFuture, SubmitError> {
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
            // It is late, but nobody else has begun.
            StepLocation::Ready => None,
            StepLocation::Held(worker, _) => Some(worker.clone()),
        };
        if !open {
            return Err(SubmitError::Gate(desired, in_flight));
        }
        let name = worker.clone().unwrap_or_default();
        step.at = StepLocation::Answered(name, key);
        step.news = Some(StepNews::Brought(brought));
        step.bell.notify_all();
        let age = step.age;
        inner.ready.remove(&age);
        if let Some(worker) = worker {
            inner.heard(&worker, |worker| worker.holding = worker.holding.saturating_sub(1));
            inner.gate.land();
        }
        inner.acks.insert(key, Ack::default());
        drop(inner);
        Ok(SubmitFuture { queue: Arc::clone(self), key })
    }

    /// Says that the answer to a request is recorded.
    pub fn recorded(&self, id: i64) {
        let mut inner = self.inner();
        if let Some((_, key)) = inner.unrecorded.remove(&id) {
            inner.tell(key, SubmitOutcome::Accepted);
        }
    }

    /// Says that the walk of a case has got as far as it goes: whatever it was answered is recorded.
    pub fn went(&self, case: &str) {
        let inner = self.inner();
        let mut ids: Vec<i64> = inner.unrecorded.iter().filter(|(_, (of, _))| of == case).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        drop(inner);
        for id in ids {
            self.recorded(id);
        }
    }

    /// Gives out no more steps; whoever waits is told why. Only the first word counts.
    pub fn close(&self, why: &QueueClosed) {
        let mut inner = self.inner();
        if inner.closed.is_some() {
            return;
        }
        inner.closed = Some(why.clone());
        #[expect(clippy::iter_over_hash_type, reason = "all are told the same")]
        for step in inner.steps.values_mut() {
            step.news.get_or_insert_with(|| StepNews::Closed(why.clone()));
            step.bell.notify_all();
        }
        inner.pullers.values_mut().filter_map(|puller| puller.waker.take()).for_each(Waker::wake);
    }

    /// Says that the run has ended, and whether all that it answered is recorded.
    pub fn end(&self, why: &QueueClosed, recorded: bool) {
        self.close(why);
        let mut inner = self.inner();
        let mut waiting: Vec<u64> = inner.unrecorded.drain().map(|(_, (_, key))| key).collect();
        waiting.sort_unstable();
        for key in waiting {
            inner.tell(key, if recorded { SubmitOutcome::Accepted } else { SubmitOutcome::Lost(why.clone()) });
        }
    }

    /// Why it gives out no more steps, if it does not.
    pub fn closed(&self) -> Option<QueueClosed> {
        self.inner().closed.clone()
    }

    /// How the workers do, by name.
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
            silent_seconds: worker.heard.elapsed().as_secs(),
        };
        inner.workers.iter().map(health).collect()
    }

    /// How many steps wait for a worker, and how the gate stands.
    pub fn standing(&self) -> (usize, InFlightGate) {
        let inner = self.inner();
        (inner.ready.len(), inner.gate.clone())
    }

    /// Offers a step. It is withdrawn when what this returns is dropped.
    pub(super) fn offer(&self, task: Task, settings: &AgentSettings) -> Offer<'_> {
        let mut inner = self.inner();
        let (id, age) = (task.dispatch_id, inner.next());
        let news = inner.closed.clone().map(StepNews::Closed);
        let bell = Arc::new(Condvar::new());
        inner.answered.remove(&id);
        inner.steps.insert(
            id,
            QueuedStep { age, task, lease: settings.bounds.timeout, at: StepLocation::Ready, bell: Arc::clone(&bell), news },
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

    fn heard(&mut self, name: &str, note: impl FnOnce(&mut Worker)) {
        let new = || Worker { heard: Instant::now(), waiting: 0, holding: 0, pulled: 0, accepted: 0, refused: 0, lost: 0 };
        if self.workers.len() >= WORKERS && !self.workers.contains_key(name) {
            return;
        }
        let worker = self.workers.entry(name.to_owned()).or_insert_with(new);
        worker.heard = Instant::now();
        note(worker);
    }

    /// Gives the oldest steps to those who wait longest.
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

    /// Has a worker have a step.
    fn give(&mut self, id: i64, worker: &str) {
        let Some(step) = self.steps.get_mut(&id) else { return };
        step.task.ticket = ticket();
        step.at = StepLocation::Held(worker.to_owned(), Instant::now() + step.lease);
        // The walk's thread minds the lease.
        step.bell.notify_all();
        self.gate.give();
        self.heard(worker, |worker| {
            worker.holding += 1;
            worker.pulled += 1;
        });
    }

    /// Takes a step from whoever has it, and gives it to nobody.
    fn take_back(&mut self, id: i64) {
        let Some(step) = self.steps.get_mut(&id) else { return };
        let StepLocation::Held(worker, _) = &step.at else { return };
        let worker = worker.clone();
        step.at = StepLocation::Ready;
        self.gate.land();
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.holding = worker.holding.saturating_sub(1);
        }
    }

    /// Has a step that nobody has in its old place again.
    fn put_back(&mut self, id: i64) {
        let Some(step) = self.steps.get(&id).filter(|step| step.at == StepLocation::Ready) else { return };
        self.ready.insert(step.age, id);
        self.pair();
    }

    fn tell(&mut self, key: u64, verdict: SubmitOutcome) {
        if let Some(ack) = self.acks.get_mut(&key) {
            ack.verdict = Some(verdict);
            if let Some(waker) = ack.waker.take() {
                waker.wake();
            }
        }
    }
}

/// What nobody can guess.
fn ticket() -> String {
    let mut bytes = [0_u8; 32];
    // Without chance from the system nothing is given out that could be guessed.
    if getrandom::fill(&mut bytes).is_err() {
        return String::new();
    }
    blake3::Hash::from(bytes).to_hex()[..32].to_owned()
}
