//! Answers through files: a signal file announces a request and its prompt, and the agent writes the answer to the path that the signal
//! names. The directory is polled; change notifications only shorten the delay.

use super::artifact::checked;
use super::concurrency::stopped;
use super::run_dir::{RunDir, StepFiles};
use super::settings::AgentSettings;
use super::signal::{AgentSignal, SIGNAL, SignalStatus};
use super::tokens::taken;
use super::wrapper::{UnwrappedAnswer, open};
use crate::clock::Clock;
use crate::diag::Diagnostic;
use crate::model::Hash;
use crate::walk::{Agent, Answerer, Name, NodeAnswer, PromptRequest, Refusal, Request};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Interval at which a waiting thread checks whether the run stops.
const LOOK: Duration = Duration::from_millis(100);

/// An agent that answers through files.
pub(super) struct FileAgent<'a> {
    pub(super) name: Name,
    pub(super) settings: AgentSettings,
    /// Directory of the files; `None` if the run writes no files.
    pub(super) tray: Option<Arc<dyn RunDir>>,
    pub(super) clock: &'a dyn Clock,
    pub(super) stop: &'a AtomicBool,
    /// Signals whose answers are accepted but not recorded yet, by request.
    pub(super) accepted: Mutex<BTreeMap<i64, (String, AgentSignal)>>,
}

/// A pending request.
pub(super) struct PendingSignal<'w> {
    pub(super) tray: &'w dyn RunDir,
    pub(super) places: StepFiles,
    /// Path of its signal.
    pub(super) at: String,
    pub(super) signal: AgentSignal,
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
        drop(self.signal.write(self.tray, &self.at));
    }
}

/// Result of a poll.
enum SignalLook {
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
        tray: Option<Arc<dyn RunDir>>,
        clock: &'a dyn Clock,
        stop: &'a AtomicBool,
    ) -> Self {
        Self { name: name.into(), settings: settings.clone(), tray, clock, stop, accepted: Mutex::default() }
    }

    /// Writes the prompt. An answer that exists already belongs to another request, unless the existing signal is for this very request:
    /// then the process that made it is gone, and this one takes over.
    fn lay_out<'w>(&self, request: &Request<'_>, asking: &PromptRequest, tray: &'w dyn RunDir) -> io::Result<PendingSignal<'w>> {
        let places = tray.places(request);
        let at = format!("{}/{SIGNAL}", places.dir);
        let id = tray.number(asking.id)?;
        let there = AgentSignal::read(tray, &at).filter(|there| there.dispatch_id == id);
        let adopted =
            there.as_ref().is_some_and(|there| matches!(there.status, SignalStatus::Waiting | SignalStatus::Processing));
        let late = || self.answered(tray, &places, id);
        if !adopted && !late() {
            tray.remove(&places.artifact)?;
        }
        tray.write(&places.prompt, &asking.prompt)?;
        tray.waits(request)?;
        let signal = AgentSignal {
            status: SignalStatus::Waiting,
            dispatch_id: id,
            case_id: request.case.id.clone(),
            step: request.plan.pipeline.at(request.node).step_name(),
            prompt_path: tray.path(&places.prompt),
            artifact_path: tray.path(&places.artifact),
            timestamp: there.map_or_else(|| self.clock.now(), |there| there.timestamp),
            error: String::new(),
        };
        Ok(PendingSignal { tray, places, at, signal, stale: 0, last_stale: None, invalid: None })
    }

    /// Reads and unwraps the answer file.
    fn left(&self, tray: &dyn RunDir, places: &StepFiles, id: i64) -> io::Result<Option<(UnwrappedAnswer, Vec<u8>)>> {
        Ok(tray.read(&places.artifact, self.settings.bounds.max_bytes)?.map(|text| (open(&text, id), text)))
    }

    /// Whether the answer to this request exists.
    fn answered(&self, tray: &dyn RunDir, places: &StepFiles, id: i64) -> bool {
        matches!(self.left(tray, places, id), Ok(Some((UnwrappedAnswer::Mine(_), _))))
    }

    /// Polls once: first the signal, then the answer.
    fn look(&self, waiting: &mut PendingSignal<'_>) -> SignalLook {
        let PendingSignal { tray, places, at, signal, .. } = waiting;
        let id = signal.dispatch_id;
        if let Some(there) = AgentSignal::read(*tray, at)
            && (there.dispatch_id, there.status) == (id, SignalStatus::Error)
        {
            let why = if there.error.is_empty() { "it does not say what went wrong" } else { &there.error };
            return SignalLook::Failed(format!("responder error: {why}"));
        }
        let why = match self.left(*tray, places, id) {
            Ok(None) => {
                waiting.invalid = None;
                return SignalLook::Nothing;
            }
            Ok(Some((UnwrappedAnswer::Mine(data), text))) => {
                return match checked(data) {
                    Ok(data) => SignalLook::Answer(data, String::from_utf8_lossy(&text).into_owned()),
                    Err(why) => SignalLook::Bad(why),
                };
            }
            Ok(Some((UnwrappedAnswer::Empty, _))) => return SignalLook::Failed("the artifact has no `data`".to_owned()),
            Ok(Some((UnwrappedAnswer::Stale, text))) => {
                waiting.invalid = None;
                let hash = Some(Hash::of(&text));
                if waiting.last_stale != hash {
                    waiting.stale += 1;
                    waiting.last_stale = hash;
                }
                return SignalLook::Nothing;
            }
            Ok(Some((UnwrappedAnswer::Invalid(why), _))) => why,
            Err(error) => error.to_string(),
        };
        // The file may be incomplete: it is read once more.
        match waiting.invalid {
            Some(since) if since.elapsed() >= self.settings.poll => {
                SignalLook::Failed(format!("the artifact cannot be read: {why}"))
            }
            _ => {
                waiting.invalid.get_or_insert_with(Instant::now);
                SignalLook::Nothing
            }
        }
    }

    /// Polls until there is a result. `each` is called on every poll.
    pub(super) fn await_answer(
        &self,
        request: &Request<'_>,
        waiting: &mut PendingSignal<'_>,
        asking: &PromptRequest,
        mut each: impl FnMut(&PendingSignal<'_>),
    ) -> Result<NodeAnswer, Refusal> {
        let AgentSettings { poll, price, .. } = self.settings;
        let timeout = self.settings.bounds.timeout;
        let deadline = Instant::now() + timeout;
        loop {
            let seen = waiting.tray.seen();
            match self.look(waiting) {
                SignalLook::Answer(artifact, text) => {
                    let complaints = request.complaints(&artifact);
                    if complaints.is_empty() {
                        waiting.set(SignalStatus::Processing, String::new());
                        let kept = (waiting.at.clone(), waiting.signal.clone());
                        self.accepted.lock().unwrap_or_else(PoisonError::into_inner).insert(asking.id, kept);
                    } else {
                        waiting.set(SignalStatus::Error, not_accepted(&complaints.join("; ")));
                        waiting.tray.settle(asking.id);
                    }
                    let tokens = Some(taken(&asking.prompt, &text, (None, None), price));
                    let agent = Agent { stale: waiting.stale, ..Agent::new(self.name.clone(), asking.id, tokens) };
                    return Ok(NodeAnswer {
                        artifact: Arc::new(artifact),
                        by: "agent",
                        checked: true,
                        agent: Some(Box::new(agent)),
                    });
                }
                SignalLook::Bad(why) => {
                    waiting.set(SignalStatus::Error, not_accepted(&why));
                    let message = format!("the answer of `{}` to `{}` was not accepted: {why}", self.name, request.node_name());
                    request.complain(&self.name, vec![why])?;
                    waiting.tray.settle(asking.id);
                    return Err(Refusal::again(Diagnostic::error("agent/answer", message)));
                }
                SignalLook::Failed(why) => return Err(self.failed(request, waiting, &why)),
                SignalLook::Nothing => {}
            }
            each(waiting);
            if self.stop.load(Ordering::Relaxed) {
                return Err(stopped());
            }
            let now = Instant::now();
            if now >= deadline {
                let why = format!("timeout: there was no answer within {} s", timeout.as_secs_f64());
                return Err(self.failed(request, waiting, &why));
            }
            let until = (now + poll).min(deadline);
            loop {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() || self.stop.load(Ordering::Relaxed) || waiting.tray.seen() != seen {
                    break;
                }
                waiting.tray.wait(seen, left.min(LOOK));
            }
        }
    }

    /// Refusal without retry: a request through files is made once; other answerers of the chain may be tried.
    fn failed(&self, request: &Request<'_>, waiting: &mut PendingSignal<'_>, why: &str) -> Refusal {
        let stale = match waiting.stale {
            0 => String::new(),
            1 => " (an answer to another request was left alone)".to_owned(),
            many => format!(" ({many} answers to other requests were left alone)"),
        };
        let why = format!("{why}{stale}");
        waiting.set(SignalStatus::Error, why.clone());
        if let Err(refusal) = request.unanswered(&self.name, &why) {
            return refusal;
        }
        let message = format!("`{}` did not answer `{}`: {why}", self.name, request.node_name());
        let help = format!("its signal: {}", waiting.tray.path(&waiting.at));
        Refusal::failed(Diagnostic::error("agent/file", message).help(help))
    }

    /// Requests an answer and waits for it. `published` announces the request once its prompt is written.
    pub(super) fn ask(
        &self,
        request: &Request<'_>,
        published: impl FnOnce(&PendingSignal<'_>) -> io::Result<()>,
        each: impl FnMut(&PendingSignal<'_>),
    ) -> Result<NodeAnswer, Refusal> {
        let Some(tray) = self.tray.as_deref() else {
            let message = format!("`{}` answers through files, and this run writes none", self.name);
            return Err(Refusal::failed(Diagnostic::error("agent/file", message)));
        };
        let asking = request.ask(&self.name)?;
        let laid = self.lay_out(request, &asking, tray).and_then(|waiting| {
            // A request with an answer is not published again.
            if !self.answered(tray, &waiting.places, waiting.signal.dispatch_id) {
                published(&waiting)?;
            }
            Ok(waiting)
        });
        let mut waiting = laid.map_err(|error| {
            let message = format!("the prompt of `{}` cannot be laid out for `{}`: {error}", request.node_name(), self.name);
            Refusal::failed(Diagnostic::error("agent/file", message))
        })?;
        self.await_answer(request, &mut waiting, &asking, each)
    }
}

impl Answerer for FileAgent<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        self.ask(request, |waiting| waiting.signal.write(waiting.tray, &waiting.at), |_| {})
    }

    fn recorded(&self, _case: &str, agent: &Agent) {
        let accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner).remove(&agent.request);
        if let (Some((at, mut signal)), Some(tray)) = (accepted, &self.tray) {
            signal.status = SignalStatus::Done;
            drop(signal.write(&**tray, &at));
            tray.settle(agent.request);
        }
    }
}

fn not_accepted(why: &str) -> String {
    format!("the artifact was not accepted: {why}")
}
