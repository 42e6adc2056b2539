//! Tools for workers: pulling steps, submitting answers, signals and health.

use super::args::{EmitSignal, GetSignals, NextStep, OfSession, Submit, name};
use super::fault::ToolFault;
use super::registry::{RunPhase, ServedRun, SessionRegistry};
use asterisk_adapters::agent::{self, PullResult, QueueClosed, SubmitError, SubmitOutcome, SubmittedArtifact, Task};
use serde_json::{Value, json};
use std::time::Duration;

/// Default time that a worker waits for a step.
const WAIT_MS: u64 = 10_000;
/// Maximum waiting time: many clients abandon a call after a minute, and the step would be lost on them.
const MOST_WAIT_MS: u64 = 30_000;
/// Default name of a worker.
const ANONYMOUS: &str = "worker";
/// Maximum number of metadata entries of a signal, and maximum size of one in bytes.
const META: (usize, usize) = (32, 2_000);

/// Pulls the next step, waiting until there is one.
pub(super) async fn next_step(registry: &SessionRegistry, args: NextStep) -> Result<Value, ToolFault> {
    let served = registry.served(args.session_id.as_deref())?;
    let worker = name("worker", args.worker.as_deref().unwrap_or(ANONYMOUS))?;
    let wait = Duration::from_millis(args.timeout_ms.filter(|ms| *ms > 0).unwrap_or(WAIT_MS).min(MOST_WAIT_MS));
    let Ok(pulled) = tokio::time::timeout(wait, served.queue.pull(&worker)).await else {
        let response = json!({ "done": false, "available": false, "message": "no step is ready yet: call get_next_step again" });
        return Ok(capacity(&served, response));
    };
    Ok(match pulled {
        PullResult::Task(task, warning) => {
            let mut response = step(&task);
            (response["done"], response["available"]) = (false.into(), true.into());
            if let Some(warning) = warning {
                response["capacity_warning"] = warning.into();
            }
            capacity(&served, response)
        }
        PullResult::Over(closed) => {
            let mut response = json!({ "done": true, "available": false });
            match closed {
                QueueClosed::Over => response["message"] = "the run is over: stop; get_report returns the report".into(),
                QueueClosed::Cancelled => response["error"] = "cancelled: the run was stopped".into(),
                QueueClosed::Aborted(why) => response["error"] = format!("aborted: {why}").into(),
            }
            response
        }
    })
}

fn step(task: &Task) -> Value {
    serde_json::to_value(task).unwrap_or_default()
}

/// Adds the actual and the requested concurrency to a response.
fn capacity(served: &ServedRun, mut response: Value) -> Value {
    let (unassigned, gate) = served.queue.standing();
    response["waiting"] = unassigned.into();
    response["in_flight"] = gate.in_flight.into();
    response["desired_capacity"] = gate.desired.into();
    response
}

/// Submits an answer; returns the result once it is recorded.
pub(super) async fn submit(registry: &SessionRegistry, args: Submit) -> Result<Value, ToolFault> {
    let served = registry.served(args.session_id.as_deref())?;
    let text = match args.artifact {
        Value::String(text) => text,
        other => other.to_string(),
    };
    let (wrapped, artifact) = agent::unwrapped(agent::parse(&text).map_err(|why| {
        ToolFault::new("artifact", format!("the artifact was not accepted: {why}"))
            .help("the step is still yours: fix the artifact and submit it again")
    })?);
    if let Some(other) = wrapped.filter(|id| *id != args.dispatch_id) {
        return Err(ToolFault::new("stale", format!("the artifact answers {other}, not {}", args.dispatch_id)));
    }
    let submission = SubmittedArtifact { artifact, tokens: (args.tokens.prompt, args.tokens.answer) };
    let submitted = served.queue.submit(args.dispatch_id, args.ticket.trim(), submission).map_err(|error| refused(&error))?;
    let verdict = submitted.await;
    served.touch();
    match verdict {
        SubmitOutcome::Accepted => Ok(json!({ "accepted": true, "dispatch_id": args.dispatch_id })),
        SubmitOutcome::Refused(complaints, again) => {
            let fault =
                ToolFault::new("complaints", "the artifact does not fit the schema of its step").with("complaints", complaints);
            Err(match again {
                Some(task) => fault
                    .help("the step is yours again, under a new dispatch_id and ticket: fix the artifact and submit all of it")
                    .with("next", step(&task)),
                None => fault.help("this was the last attempt; the step has failed"),
            })
        }
        SubmitOutcome::Lost(closed) => {
            Err(ToolFault::new("lost", format!("the run ended before the answer was recorded ({closed:?})")))
        }
    }
}

fn refused(error: &SubmitError) -> ToolFault {
    let (code, help) = match error {
        SubmitError::Unknown(_) => ("unknown_id", "use the ids from get_next_step; steps of a stopped run are withdrawn"),
        SubmitError::AlreadySubmitted(_) => ("already_submitted", "continue with get_next_step"),
        SubmitError::NotYours(_) => {
            ("not_yours", "pass the ticket of the step; if its lease has expired, another worker has it now")
        }
        SubmitError::Gate(..) => ("capacity", "let the other workers call get_next_step first, then submit this again"),
        SubmitError::Aborted(_) => ("aborted", "start_run with resume continues it"),
    };
    ToolFault::new(code, error.to_string()).help(help)
}

/// Appends a signal to the event log.
pub(super) fn emit(registry: &SessionRegistry, args: EmitSignal) -> Result<Value, ToolFault> {
    let served = registry.served(args.session_id.as_deref())?;
    let (event, agent) = (name("event", &args.event)?, name("agent", &args.agent)?);
    let of = |what: &str, text: Option<String>| text.map(|text| name(what, &text)).transpose();
    let (most, bytes) = META;
    if args.meta.len() > most || args.meta.iter().any(|(key, value)| key.len() + value.len() > bytes) {
        return Err(ToolFault::new("arguments", format!("`meta` has at most {most} entries of {bytes} bytes")));
    }
    let index = served.add_signal((&event, &agent), (of("case_id", args.case_id)?, of("step", args.step)?), args.meta);
    Ok(json!({ "index": index }))
}

/// Reads the event log.
pub(super) fn signals(registry: &SessionRegistry, args: &GetSignals) -> Result<Value, ToolFault> {
    let served = registry.served(args.session_id.as_deref())?;
    let (signals, total) = served.signals().since(args.since);
    Ok(json!({ "signals": signals, "total": total }))
}

/// Health of the workers.
pub(super) fn health(registry: &SessionRegistry, args: &OfSession) -> Result<Value, ToolFault> {
    let served = registry.served(args.session_id.as_deref())?;
    let phase = served.phase();
    let mut response = json!({
        "run": served.run, "state": phase.name(), "cases": served.cases, "parallel": served.parallel,
        "workers": served.queue.health(),
    });
    if let RunPhase::Error(why, _) = phase {
        response["error"] = why.into();
    }
    Ok(capacity(&served, response))
}
