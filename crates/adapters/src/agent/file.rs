//! Answers through files: a signal file announces a request and its prompt, and the agent writes the answer to the path that the signal
//! names. The directory is polled; change notifications only shorten the delay.

use super::artifact::checked;
use super::concurrency::stopped;
use super::run_dir::{RunDir, StepFiles};
use super::settings::AgentSettings;
use super::signal::{AgentSignal, SIGNAL, SignalStatus};
use super::tokens::{estimate, taken};
use super::wrapper::{UnwrappedAnswer, open};
use asterisk_base::clock::Clock;
use asterisk_base::model::Hash;
use asterisk_diag::{Code, Diagnostic};
use asterisk_walk::{AfterRefusal, Agent, Answerer, Name, NodeAnswer, PromptRequest, Refusal, Request};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Interval at which a waiting thread checks whether the run stops.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// An agent that answers through files.
pub(super) struct FileAgent<'a> {
    pub(super) name: Name,
    pub(super) settings: AgentSettings,
    /// Directory of the files; `None` if the run writes no files.
    pub(super) run_dir: Option<Arc<dyn RunDir>>,
    pub(super) clock: &'a dyn Clock,
    pub(super) stop: &'a AtomicBool,
    /// Signals whose answers are accepted but not recorded yet, by request.
    pub(super) accepted: Mutex<BTreeMap<i64, (String, AgentSignal)>>,
}

/// A pending request.
pub(super) struct PendingSignal<'w> {
    pub(super) run_dir: &'w dyn RunDir,
    pub(super) places: StepFiles,
    /// Path of its signal.
    pub(super) at: String,
    pub(super) signal: AgentSignal,
    /// The estimated number of tokens of its prompt.
    pub(super) tokens: u64,
    /// Number of answers to other requests seen so far.
    stale: u64,
    last_stale: Option<Hash>,
    /// Since when the present answer cannot be parsed.
    invalid: Option<Instant>,
}

impl PendingSignal<'_> {
    /// Updates the status. A failed write is ignored: it must not lose an answer.
    fn set(&mut self, status: SignalStatus, error: String) {
        self.signal.status = status;
        self.signal.error = error;
        drop(self.signal.write(self.run_dir, &self.at));
    }
}

/// Why a request was not published.
pub(super) enum PublishError {
    /// Its files cannot be written.
    Io(io::Error),
    Refused(Refusal),
}

impl From<io::Error> for PublishError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Result of a poll.
enum SignalPoll {
    /// The answer: its artifact and the surrounding text.
    Answer(Value, String),
    /// An answer that cannot be accepted.
    Bad(String),
    /// There will be no answer.
    Failed(String),
    Nothing,
}

impl<'a> FileAgent<'a> {
    pub(super) fn new(
        name: &str,
        settings: &AgentSettings,
        run_dir: Option<Arc<dyn RunDir>>,
        clock: &'a dyn Clock,
        stop: &'a AtomicBool,
    ) -> Self {
        Self { name: name.into(), settings: settings.clone(), run_dir, clock, stop, accepted: Mutex::default() }
    }

    /// Writes the prompt. An answer that exists already belongs to another request, unless the existing signal is for this very request:
    /// then the process that made it is gone, and this one takes over.
    fn write_prompt<'w>(
        &self,
        request: &Request<'_>,
        prompt_request: &PromptRequest,
        run_dir: &'w dyn RunDir,
    ) -> io::Result<PendingSignal<'w>> {
        let places = run_dir.places(request);
        let at = format!("{}/{SIGNAL}", places.dir);
        let id = run_dir.dispatch_id(prompt_request.id)?;
        let there = AgentSignal::read(run_dir, &at).filter(|there| there.dispatch_id == id);
        let adopted =
            there.as_ref().is_some_and(|there| matches!(there.status, SignalStatus::Waiting | SignalStatus::Processing));
        let late = || self.answered(run_dir, &places, id);
        if !adopted && !late() {
            run_dir.remove(&places.artifact)?;
        }
        run_dir.write(&places.prompt, &prompt_request.prompt)?;
        run_dir.mark_pending(request)?;
        let signal = AgentSignal {
            status: SignalStatus::Waiting,
            dispatch_id: id,
            case_id: request.case.id.clone(),
            step: request.step_name(),
            prompt_path: run_dir.path(&places.prompt),
            artifact_path: run_dir.path(&places.artifact),
            timestamp: there.map_or_else(|| self.clock.now(), |there| there.timestamp),
            error: String::new(),
        };
        let tokens = estimate(&prompt_request.prompt);
        Ok(PendingSignal { run_dir, places, at, signal, tokens, stale: 0, last_stale: None, invalid: None })
    }

    /// Reads and unwraps the answer file.
    fn read_answer(&self, run_dir: &dyn RunDir, places: &StepFiles, id: i64) -> io::Result<Option<(UnwrappedAnswer, Vec<u8>)>> {
        Ok(run_dir.read(&places.artifact, self.settings.bounds.max_bytes)?.map(|text| (open(&text, id), text)))
    }

    /// Whether the answer to this request exists.
    fn answered(&self, run_dir: &dyn RunDir, places: &StepFiles, id: i64) -> bool {
        matches!(self.read_answer(run_dir, places, id), Ok(Some((UnwrappedAnswer::Mine(_), _))))
    }

    /// Polls once: first the signal, then the answer.
    fn poll(&self, pending: &mut PendingSignal<'_>) -> SignalPoll {
        let PendingSignal { run_dir, places, at, signal, .. } = pending;
        let id = signal.dispatch_id;
        if let Some(there) = AgentSignal::read(*run_dir, at)
            && (there.dispatch_id, there.status) == (id, SignalStatus::Error)
        {
            let why = if there.error.is_empty() { "no reason given" } else { &there.error };
            return SignalPoll::Failed(format!("responder error: {why}"));
        }
        let why = match self.read_answer(*run_dir, places, id) {
            Ok(None) => {
                pending.invalid = None;
                return SignalPoll::Nothing;
            }
            Ok(Some((UnwrappedAnswer::Mine(data), text))) => {
                return match checked(data) {
                    Ok(data) => SignalPoll::Answer(data, String::from_utf8_lossy(&text).into_owned()),
                    Err(why) => SignalPoll::Bad(why),
                };
            }
            Ok(Some((UnwrappedAnswer::Empty, _))) => return SignalPoll::Failed("the artifact has no `data`".to_owned()),
            Ok(Some((UnwrappedAnswer::Stale, text))) => {
                pending.invalid = None;
                let hash = Some(Hash::of(&text));
                if pending.last_stale != hash {
                    pending.stale += 1;
                    pending.last_stale = hash;
                }
                return SignalPoll::Nothing;
            }
            Ok(Some((UnwrappedAnswer::Invalid(why), _))) => why,
            Err(error) => error.to_string(),
        };
        // The file may be incomplete: it is read once more.
        match pending.invalid {
            Some(since) if since.elapsed() >= self.settings.poll => {
                SignalPoll::Failed(format!("the artifact cannot be read: {why}"))
            }
            _ => {
                pending.invalid.get_or_insert_with(Instant::now);
                SignalPoll::Nothing
            }
        }
    }

    /// Polls until there is a result. `each` is called on every poll.
    pub(super) fn await_answer(
        &self,
        request: &Request<'_>,
        pending: &mut PendingSignal<'_>,
        prompt_request: &PromptRequest,
        mut each: impl FnMut(&PendingSignal<'_>),
    ) -> Result<NodeAnswer, Refusal> {
        let AgentSettings { poll, price, .. } = self.settings;
        let timeout = request.time(self.settings.bounds.timeout);
        let deadline = Instant::now() + timeout;
        loop {
            let change_count = pending.run_dir.change_count();
            match self.poll(pending) {
                SignalPoll::Answer(artifact, text) => {
                    let complaints = request.validate(&artifact);
                    if complaints.is_empty() {
                        pending.set(SignalStatus::Processing, String::new());
                        let accepted = (pending.at.clone(), pending.signal.clone());
                        self.accepted.lock().unwrap_or_else(PoisonError::into_inner).insert(prompt_request.id, accepted);
                    } else {
                        pending.set(SignalStatus::Error, not_accepted(&complaints.join("; ")));
                        pending.run_dir.mark_answered(prompt_request.id);
                    }
                    let tokens = Some(taken(&prompt_request.prompt, &text, (None, None), price));
                    let agent = Agent { stale: pending.stale, ..Agent::new(self.name.clone(), prompt_request.id, tokens) };
                    return Ok(NodeAnswer {
                        artifact: Arc::new(artifact),
                        by: "agent",
                        checked: true,
                        agent: Some(Box::new(agent)),
                    });
                }
                SignalPoll::Bad(why) => {
                    pending.set(SignalStatus::Error, not_accepted(&why));
                    let message = format!("the answer of `{}` to `{}` was not accepted: {why}", self.name, request.name());
                    request.reject(&self.name, vec![why])?;
                    pending.run_dir.mark_answered(prompt_request.id);
                    return Err(Refusal::again(Diagnostic::error(Code::AgentAnswer, message)));
                }
                SignalPoll::Failed(why) => return Err(self.failed(request, pending, &why)),
                SignalPoll::Nothing => {}
            }
            each(pending);
            if self.stop.load(Ordering::Relaxed) {
                return Err(stopped());
            }
            let now = Instant::now();
            if now >= deadline {
                let why = format!("timeout: no answer within {} s", timeout.as_secs_f64());
                let mut late = self.failed(request, pending, &why);
                if late.next == AfterRefusal::GiveUp {
                    late.diagnostic.code = Code::AgentLate.into();
                }
                return Err(late);
            }
            let until = (now + poll).min(deadline);
            loop {
                let remaining = until.saturating_duration_since(Instant::now());
                if remaining.is_zero() || self.stop.load(Ordering::Relaxed) || pending.run_dir.change_count() != change_count {
                    break;
                }
                pending.run_dir.wait(change_count, remaining.min(POLL_INTERVAL));
            }
        }
    }

    /// Refusal without retry: a request through files is made once; other answerers of the chain may be tried.
    fn failed(&self, request: &Request<'_>, pending: &mut PendingSignal<'_>, why: &str) -> Refusal {
        let stale = match pending.stale {
            0 => String::new(),
            1 => " (an answer to another request was ignored)".to_owned(),
            many => format!(" ({many} answers to other requests were ignored)"),
        };
        let why = format!("{why}{stale}");
        pending.set(SignalStatus::Error, why.clone());
        if let Err(refusal) = request.unanswered(&self.name, &why) {
            return refusal;
        }
        let message = format!("`{}` did not answer `{}`: {why}", self.name, request.name());
        let help = format!("its signal: {}", pending.run_dir.path(&pending.at));
        Refusal::failed(Diagnostic::error("agent/file", message).help(help))
    }

    /// Requests an answer and waits for it. `published` announces the request once its prompt is written.
    pub(super) fn ask(
        &self,
        request: &Request<'_>,
        published: impl FnOnce(&PendingSignal<'_>) -> Result<(), PublishError>,
        each: impl FnMut(&PendingSignal<'_>),
    ) -> Result<NodeAnswer, Refusal> {
        let Some(run_dir) = self.run_dir.as_deref() else {
            let message = format!("`{}` answers through files, but this run writes none", self.name);
            return Err(Refusal::failed(Diagnostic::error("agent/file", message)));
        };
        let prompt_request = request.dispatch(&self.name)?;
        let prepared = self.write_prompt(request, &prompt_request, run_dir).map_err(PublishError::from).and_then(|pending| {
            // A request with an answer is not published again.
            if !self.answered(run_dir, &pending.places, pending.signal.dispatch_id) {
                published(&pending)?;
            }
            Ok(pending)
        });
        let mut pending = prepared.map_err(|error| match error {
            PublishError::Refused(refusal) => refusal,
            PublishError::Io(error) => {
                let message = format!("the prompt of `{}` cannot be laid out for `{}`: {error}", request.name(), self.name);
                Refusal::failed(Diagnostic::error("agent/file", message))
            }
        })?;
        self.await_answer(request, &mut pending, &prompt_request, each)
    }
}

impl Answerer for FileAgent<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        self.ask(request, |pending| Ok(pending.signal.write(pending.run_dir, &pending.at)?), |_| {})
    }

    fn recorded(&self, _case: &str, agent: &Agent) {
        let accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner).remove(&agent.request);
        if let (Some((at, mut signal)), Some(run_dir)) = (accepted, &self.run_dir) {
            signal.status = SignalStatus::Done;
            drop(signal.write(&**run_dir, &at));
            run_dir.mark_answered(agent.request);
        }
    }
}

fn not_accepted(why: &str) -> String {
    format!("the artifact was not accepted: {why}")
}
