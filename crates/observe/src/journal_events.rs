//! The events of the journal as events of `tracing`: a sentence as the message, the data as fields. What is known only at the end of a step or
//! case is recorded in its span, which is the current one.

use super::answer_events::answering;
use super::name_table::{NameTable, words};
use super::observed::Observer;
use super::progress::{CaseProgress, duration, seconds};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::Case;
use asterisk_diag::counted;
use asterisk_session::StartedRun;
use asterisk_walk::{BRANCH, BranchKind, EdgeOutcome, Event, EventBody, WALK, WalkStatus, place_of};
use std::collections::{HashMap, HashSet};
use std::io;
use tracing::field::{DisplayValue, display};
use tracing::{Span, debug, error, info, trace, warn};

/// The target of these events.
pub(super) const TARGET: &str = "asterisk::journal";

/// Emits the events of a run.
#[derive(Default)]
pub(super) struct JournalEvents {
    names: NameTable,
    progress: CaseProgress,
    cases: HashMap<String, OpenCase>,
}

/// A case in progress.
#[derive(Default)]
struct OpenCase {
    steps: usize,
    /// How often each counter was incremented, by walk and counter.
    loops: HashMap<String, u64>,
    /// Why it failed.
    error: String,
    /// The paths of the steps with branches in progress.
    forked: HashSet<String>,
}

/// An event with the kind, case and path of one of the journal.
macro_rules! tell {
    ($level:ident, $event:expr, $($rest:tt)+) => {
        $level!(
            target: TARGET, event = %$event.what.name(), case = some(&$event.case), path = some(&$event.path), $($rest)+
        )
    };
}
pub(super) use tell;

impl JournalEvents {
    fn case(&mut self, event: &Event) -> &mut OpenCase {
        self.cases.entry(event.case.to_string()).or_default()
    }

    fn transition(&mut self, event: &Event) {
        let EventBody::Transition { from, to, edge, because, counter, .. } = &event.what else { return };
        let path = event.path.as_str();
        let (left, why) = (self.names.node(path, from), self.names.why(path, edge, because));
        let next = self.names.node(path, to);
        let count = counter.as_ref().map(|counter| {
            // Each walk has counters of its own.
            let count = self.case(event).loops.entry(format!("{}{counter}", place_of(path))).or_default();
            *count += 1;
            format!(" ({counter} {count})")
        });
        let went = match count {
            _ if self.names.is_done(path, to) => format!("ends at {left}"),
            Some(count) if from == to => format!("stays at {left}{count}"),
            Some(count) => format!("goes back from {left} to {next}{count}"),
            None => format!("goes from {left} to {next}"),
        };
        tell!(
            info, event, from = %from, to = %to, edge = %edge, counter = counter.as_ref().map(display), because = %because,
            "{} {went} {why}", subject(event)
        );
    }

    /// Which cases walk now, and how far.
    fn batch(&self, (wave, phase, turn): (u32, u32, u32)) {
        let Some((phases, nodes)) = self.names.phase(phase as usize) else { return };
        let words = if wave > 1 { "Similar cases follow, phase" } else { "Phase" };
        let waited = if turn > 1 { ", for cases that waited for a similar one" } else { "" };
        let text = format!("{words} {phase} of {phases}: {nodes}{waited}");
        if phases > 1 || wave > 1 || turn > 1 {
            info!(target: TARGET, event = %"barrier", wave, phase, turn, "{text}");
        } else {
            debug!(target: TARGET, event = %"barrier", wave, phase, turn, "{text}");
        }
    }

    /// The edges that a decision considered.
    fn considered(&self, event: &Event) {
        let EventBody::EdgeEvaluate { node, considered, .. } = &event.what else { return };
        for entry in considered {
            macro_rules! tell_edge {
                ($level:ident) => {
                    tell!(
                        $level, event, node = %node, edge = %entry.edge, outcome = %entry.outcome.word(),
                        because = entry.because.as_deref().map(display), error = entry.error.as_deref().map(display),
                        "{} considers {}: {}", subject(event), self.names.edge(&event.path, &entry.edge), entry.outcome.word()
                    )
                };
            }
            match entry.outcome {
                EdgeOutcome::Fired => tell_edge!(debug),
                EdgeOutcome::Advisory => tell_edge!(info),
                EdgeOutcome::Error => tell_edge!(warn),
                EdgeOutcome::False | EdgeOutcome::NotReached => tell_edge!(trace),
            }
        }
    }

    /// A step: its walker, its parts, its artifact.
    fn step(&mut self, event: &Event) {
        let path = event.path.as_str();
        let subject = subject(event);
        match &event.what {
            EventBody::NodeEnter { node } => {
                let name = self.names.node(path, node);
                self.case(event).steps += usize::from(!path.contains('/'));
                if path == "1" {
                    let case = self.names.case(&event.case).map_or(String::new(), |name| format!(", {name},"));
                    tell!(info, event, node = %node, "{subject}{case} begins at {name}");
                } else {
                    tell!(debug, event, node = %node, "{subject} enters {name}");
                }
            }
            EventBody::WalkerSwitch { from, to, because, .. } => {
                let text = match from {
                    Some(from) => format!("{from} hands over to {to}, {}", subject.replacen('C', "c", 1)),
                    None => format!("{to} walks {}", subject.replacen('C', "c", 1)),
                };
                tell!(info, event, from = from.as_ref().map(display), to = %to, because = %because, "{text}");
            }
            EventBody::SubWalk { node, pipeline } => {
                let (name, walk) = (self.names.node(path, node), words(pipeline));
                tell!(info, event, node = %node, pipeline = %pipeline, "{walk} begins on case {} at {name}", event.case);
            }
            EventBody::Fork { by, branches, .. } => {
                let mut nodes: Vec<String> = branches.iter().map(|branch| self.names.node(path, &branch.node)).collect();
                let text = if *by == BranchKind::Items {
                    self.case(event).forked.insert(path.to_owned());
                    nodes.truncate(1);
                    format!("takes {} in {}", nodes.concat(), counted(branches.len(), "branch", "branches"))
                } else {
                    format!("goes on to {}{}", nodes.join(", "), if nodes.len() > 1 { ", in parallel" } else { "" })
                };
                tell!(info, event, branches = branches.len(), "{subject} {text}");
            }
            EventBody::Join { to } => {
                let next = to.as_ref().filter(|to| !self.names.is_done(path, to));
                let at = next.map_or(String::new(), |to| format!(" at {}", self.names.node(path, to)));
                tell!(info, event, to = to.as_ref().map(display), "{subject} joins its branches{at}");
            }
            EventBody::BranchError { node, kind, message, .. } => {
                let name = self.names.node(path, node);
                tell!(
                    warn, event, node = %node, kind = %kind, error = %message,
                    "{subject} loses a branch at {name}, {kind}: {message}"
                );
            }
            EventBody::NodeExit { node, by, confidence, .. } => {
                let name = self.names.node(path, node);
                if by != WALK {
                    return tell!(debug, event, node = %node, by = %by, confidence, "{subject} is answered at {name} by {by}");
                }
                let text = if self.case(event).forked.remove(path) {
                    format!("{subject} has merged the branches at {name}")
                } else {
                    let walk = words(&self.names.pipeline(&format!("{path}/{node}/")));
                    format!("{walk} ends on case {}: {name} is answered", event.case)
                };
                tell!(info, event, node = %node, by = %by, confidence, "{text}");
            }
            EventBody::WalkComplete { node } => tell!(debug, event, node = %node, "{subject} is complete"),
            EventBody::WalkError { node, kind, message } => {
                let name = self.names.node(path, node);
                self.case(event).error.clone_from(message);
                tell!(error, event, node = %node, kind = %kind, error = %message, "{subject} fails at {name}, {kind}: {message}");
            }
            _ => {}
        }
    }
}

impl Observer for JournalEvents {
    fn began(&mut self, begun: &StartedRun<'_>, now: Timestamp) {
        self.names.began(begun);
        self.progress = CaseProgress::new(begun, now);
        let many = counted(begun.cases, "case goes", "cases go");
        let before = if begun.over > 0 { format!("; {} are already complete", begun.over) } else { String::new() };
        let (run, pipeline) = (begun.run, &begun.plan.pipeline.name.value);
        info!(
            target: TARGET, event = %"run", run = %run, pipeline = %pipeline, cases = begun.cases, over = begun.over,
            "Run {run}: {many} through {pipeline}{before}"
        );
        self.batch(begun.stands);
    }

    fn event(&mut self, event: &Event, _: Timestamp) {
        record(event, &Span::current());
        match &event.what {
            EventBody::Transition { .. } => self.transition(event),
            EventBody::EdgeEvaluate { .. } => self.considered(event),
            EventBody::Barrier { wave, phase, turn, .. } => self.batch((*wave, *phase, *turn)),
            EventBody::Masked { node, masks, .. } => {
                let masks = masks.join(" ");
                tell!(debug, event, node = %node, masks = %masks, "{} is masked by {masks}", subject(event));
            }
            EventBody::Verdict { node, defect, probability, .. } => {
                tell!(
                    debug, event, node = %node, defect = %defect, probability,
                    "{} has the verdict {defect}, with probability {probability}", subject(event)
                );
            }
            EventBody::Root { node, rule, key, .. } => {
                tell!(debug, event, node = %node, rule = %rule, key = %key, "{} has the root `{key}`", subject(event));
            }
            EventBody::ThermalWarning { spent_ms, ceiling_ms, .. } => {
                let ceiling = ceiling_ms.map_or(String::new(), |ceiling| format!(" of {}", duration(seconds(ceiling))));
                tell!(
                    warn,
                    event,
                    spent_ms,
                    ceiling_ms,
                    "The answers of case {} took {}{ceiling} so far",
                    event.case,
                    duration(seconds(*spent_ms))
                );
            }
            EventBody::Reopened { node, by } => {
                tell!(info, event, node = %node, by = %by, "{} is reopened at {}", subject(event), self.names.node(&event.path, node));
            }
            EventBody::Reload { revision, changed, .. } => {
                let texts = changed.iter().map(|change| change.what.as_str()).collect::<Vec<_>>().join(", ");
                tell!(info, event, revision, "The sources were reloaded ({texts}): revision {revision} is now current");
            }
            EventBody::Upgraded { revision, .. } => {
                tell!(debug, event, revision, "{} continues with revision {revision}", subject(event));
            }
            EventBody::Shadow { node, edge, verdict, differs, .. } => {
                let (edge, verdict) = (edge.as_ref().map(display), verdict.as_ref().map(display));
                if *differs {
                    tell!(info, event, node = %node, edge, verdict, differs, "{} differs in the shadow", subject(event));
                } else {
                    tell!(trace, event, node = %node, edge, verdict, differs, "{} is the same in the shadow", subject(event));
                }
            }
            _ => {
                self.step(event);
                answering(event, &self.names);
            }
        }
    }

    fn case_over(&mut self, case: &Case, status: WalkStatus, now: Timestamp) {
        let OpenCase { steps, error, .. } = self.cases.remove(&case.id).unwrap_or_default();
        let steps = counted(steps, "step", "steps");
        let (word, text) = match status {
            WalkStatus::Done => ("done", format!("is done after {steps}")),
            WalkStatus::Error => ("error", format!("has failed after {steps}")),
            WalkStatus::Running | WalkStatus::Paused => ("paused", "stops here, and can be resumed".into()),
        };
        let span = Span::current();
        span.record("status", display(word));
        if status == WalkStatus::Error {
            span.record("otel.status_description", display(error));
        }
        info!(target: TARGET, event = %"case", case = %case.id, status = %word, "Case {} {text}", case.id);
        if word != "paused"
            && let Some(text) = self.progress.over(status, now)
        {
            info!(target: TARGET, event = %"progress", "{text}");
        }
    }

    fn end(&mut self, _: Timestamp) -> io::Result<()> {
        Ok(())
    }
}

/// Records in the span of a step what an event tells of it.
fn record(event: &Event, span: &Span) {
    match &event.what {
        EventBody::WalkerSwitch { to, .. } => drop(span.record("walker", display(to))),
        EventBody::SubWalk { pipeline, .. } => drop(span.record("pipeline", display(pipeline))),
        EventBody::Fork { branches, .. } => drop(span.record("branches", branches.len())),
        EventBody::NodeExit { by, confidence, agent, .. } => {
            span.record("by", display(by)).record("confidence", *confidence);
            if let Some(agent) = agent {
                span.record("via", display(&agent.via));
                if let Some(tokens) = agent.tokens {
                    span.record("gen_ai.usage.input_tokens", tokens.prompt);
                    span.record("gen_ai.usage.output_tokens", tokens.answer).record("cost_usd", tokens.cost);
                }
            }
        }
        EventBody::Transition { to, edge, because, counter, .. } => {
            span.record("to", display(to)).record("edge", display(edge)).record("because", display(because));
            span.record("counter", counter.as_ref().map(display));
        }
        EventBody::WalkError { message, .. } => drop(span.record("otel.status_description", display(message))),
        _ => {}
    }
}

pub(super) fn some(text: &str) -> Option<DisplayValue<&str>> {
    (!text.is_empty()).then(|| display(text))
}

/// `Case 4`, or in a sub-pipeline `Case 4 (in Court)`.
pub(super) fn subject(event: &Event) -> String {
    match event.path.rsplit_once('/') {
        Some((place, _)) => {
            let place = place.rsplit('/').next().unwrap_or(place);
            let branch = place.strip_prefix(BRANCH).map(|number| format!("branch {}", number.trim_end_matches(']')));
            format!("Case {} (in {})", event.case, branch.unwrap_or_else(|| words(place)))
        }
        None => format!("Case {}", event.case),
    }
}
