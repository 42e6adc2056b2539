//! A log: a line for each event, with time, level, case, path, and the rest as `key=value`.

use super::observed::Observer;
use super::out::{ObserverOutput, flat};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::Case;
use asterisk_session::StartedRun;
use asterisk_walk::{EdgeOutcome, Event, EventBody, WalkStatus};
use std::io;

/// The level of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// Writes lines up to a level.
pub(super) struct LogObserver<'o> {
    out: ObserverOutput<'o>,
    most: LogLevel,
}

impl<'o> LogObserver<'o> {
    /// `verbose`: 0 for the main events, 1 for every step, 2 for every edge considered.
    pub(super) fn new(out: ObserverOutput<'o>, verbose: u8) -> Self {
        let most = match verbose {
            0 => LogLevel::Info,
            1 => LogLevel::Debug,
            _ => LogLevel::Trace,
        };
        Self { out, most }
    }

    fn line(&mut self, at: Timestamp, level: LogLevel, words: &str, fields: &[(&str, &str)]) {
        if level > self.most {
            return;
        }
        let word = match level {
            LogLevel::Error => "ERROR",
            LogLevel::Warn => " WARN",
            LogLevel::Info => " INFO",
            LogLevel::Debug => "DEBUG",
            LogLevel::Trace => "TRACE",
        };
        let mut line = format!("{} {word} {words}", to_the_millisecond(at));
        for (key, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
            line.push(' ');
            line.push_str(key);
            line.push('=');
            let value = flat(value);
            if value.contains([' ', '"', '=']) {
                line.push_str(&serde_json::Value::from(value).to_string());
            } else {
                line.push_str(&value);
            }
        }
        self.out.line(&line);
    }

    /// Logs the edges that a decision considered.
    fn considered(&mut self, event: &Event) {
        let EventBody::EdgeEvaluate { node, considered, .. } = &event.what else { return };
        let (case, path) = (event.case.as_str(), event.path.as_str());
        for entry in considered {
            let level = match entry.outcome {
                EdgeOutcome::Fired => LogLevel::Debug,
                EdgeOutcome::Advisory => LogLevel::Info,
                EdgeOutcome::Error => LogLevel::Warn,
                EdgeOutcome::False | EdgeOutcome::NotReached => LogLevel::Trace,
            };
            let because = entry.because.as_deref().unwrap_or_default();
            let error = entry.error.as_deref().unwrap_or_default();
            let fields = [
                ("case", case),
                ("path", path),
                ("node", node.as_str()),
                ("edge", entry.edge.as_str()),
                ("outcome", entry.outcome.word()),
                ("because", because),
                ("error", error),
            ];
            self.line(event.at, level, "edge", &fields);
        }
    }
}

impl Observer for LogObserver<'_> {
    fn began(&mut self, begun: &StartedRun<'_>, now: Timestamp) {
        let (cases, over) = (begun.cases.to_string(), begun.over.to_string());
        let fields = [("run", begun.run), ("pipeline", begun.plan.pipeline.name.as_str()), ("cases", &*cases), ("over", &*over)];
        self.line(now, LogLevel::Info, "run", &fields);
    }

    fn event(&mut self, event: &Event, _: Timestamp) {
        let (at, case, path) = (event.at, event.case.as_str(), event.path.as_str());
        let subject = [("case", case), ("path", path)];
        let mut line = |level: LogLevel, fields: &[(&str, &str)]| {
            let all: Vec<_> = subject.iter().chain(fields).copied().collect();
            self.line(at, level, event.what.name(), &all);
        };
        match &event.what {
            EventBody::NodeEnter { node } | EventBody::WalkComplete { node } => line(LogLevel::Debug, &[("node", node)]),
            EventBody::SubWalk { node, pipeline } => line(LogLevel::Info, &[("node", node), ("pipeline", pipeline)]),
            EventBody::Fork { branches, .. } => line(LogLevel::Info, &[("branches", &branches.len().to_string())]),
            EventBody::Join { to } => line(LogLevel::Info, &[("to", to.as_deref().unwrap_or_default())]),
            EventBody::BranchError { node, kind, message, .. } => {
                line(LogLevel::Warn, &[("node", node), ("kind", kind), ("message", message)]);
            }
            EventBody::NodeExit { node, by, confidence, .. } => {
                let confidence = confidence.map_or(String::new(), |confidence| confidence.to_string());
                line(LogLevel::Debug, &[("node", node), ("by", by), ("confidence", &confidence)]);
            }
            EventBody::ThermalWarning { spent_ms, ceiling_ms, .. } => {
                let ceiling = ceiling_ms.map_or(String::new(), |ceiling| ceiling.to_string());
                line(LogLevel::Warn, &[("spent_ms", &spent_ms.to_string()), ("ceiling_ms", &ceiling)]);
            }
            EventBody::WalkerSwitch { from, to, because, .. } => {
                let from = from.as_deref().unwrap_or_default();
                line(LogLevel::Info, &[("from", from), ("to", to), ("because", because)]);
            }
            EventBody::Masked { node, masks, .. } => line(LogLevel::Debug, &[("node", node), ("masks", &masks.join(" "))]),
            EventBody::Verdict { node, defect, probability, .. } => {
                line(LogLevel::Debug, &[("node", node), ("defect", defect), ("probability", &probability.to_string())]);
            }
            EventBody::Root { node, rule, key, .. } => line(LogLevel::Debug, &[("node", node), ("rule", rule), ("key", key)]),
            EventBody::Requested { id, node, via, .. } => {
                line(LogLevel::Info, &[("node", node), ("via", via), ("request", &id.to_string())]);
            }
            EventBody::Rejected { id, via, errors } => {
                let errors = errors.join("; ");
                line(LogLevel::Warn, &[("via", via), ("request", &id.to_string()), ("complaints", &errors)]);
            }
            EventBody::Unanswered { id, via, message } => {
                line(LogLevel::Warn, &[("via", via), ("request", &id.to_string()), ("message", message)]);
            }
            EventBody::StepStart { node, agent, category, .. } => {
                line(LogLevel::Info, &[("node", node), ("agent", agent), ("category", category)]);
            }
            EventBody::StepAttempt { node, attempt, .. } => {
                line(LogLevel::Debug, &[("node", node), ("attempt", &attempt.to_string())]);
            }
            EventBody::CacheHit { node, agent } => line(LogLevel::Info, &[("node", node), ("agent", agent)]),
            EventBody::Answered { node, by, .. } => line(LogLevel::Debug, &[("node", node), ("by", by)]),
            EventBody::AdvisorReview { node, advisor, score, approved, .. } => {
                let (score, approved) = (score.to_string(), approved.to_string());
                line(LogLevel::Info, &[("node", node), ("advisor", advisor), ("score", &score), ("approved", &approved)]);
            }
            EventBody::StepRetry { node, attempt, reason, message, .. } => {
                let attempt = attempt.to_string();
                line(LogLevel::Warn, &[("node", node), ("attempt", &attempt), ("reason", reason), ("message", message)]);
            }
            EventBody::StepComplete { node, score, attempts, .. } => {
                let score = score.map_or(String::new(), |score| score.to_string());
                line(LogLevel::Info, &[("node", node), ("score", &score), ("attempts", &attempts.to_string())]);
            }
            EventBody::StepError { node, reason, message, .. } => {
                line(LogLevel::Error, &[("node", node), ("reason", reason), ("message", message)]);
            }
            EventBody::StepSkipped { node, because } => line(LogLevel::Warn, &[("node", node), ("because", because)]),
            EventBody::Reopened { node, by } => line(LogLevel::Info, &[("node", node), ("by", by)]),
            EventBody::EdgeEvaluate { .. } => self.considered(event),
            EventBody::Transition { from, to, edge, because, counter, .. } => {
                let counter = counter.as_deref().unwrap_or_default();
                line(LogLevel::Info, &[("from", from), ("to", to), ("edge", edge), ("counter", counter), ("because", because)]);
            }
            EventBody::WalkError { node, kind, message } => {
                line(LogLevel::Error, &[("node", node), ("kind", kind), ("message", message)]);
            }
            EventBody::Barrier { wave, phase, turn, .. } => {
                let numbers = [wave, phase, turn].map(ToString::to_string);
                line(LogLevel::Info, &[("wave", &numbers[0]), ("phase", &numbers[1]), ("turn", &numbers[2])]);
            }
            EventBody::Reload { revision, .. } => line(LogLevel::Info, &[("generation", &revision.to_string())]),
            EventBody::Upgraded { revision, .. } => line(LogLevel::Debug, &[("generation", &revision.to_string())]),
            EventBody::Shadow { node, edge, verdict, differs, .. } => {
                let level = if *differs { LogLevel::Info } else { LogLevel::Trace };
                let edge = edge.as_deref().unwrap_or_default();
                let differs = differs.to_string();
                match verdict {
                    Some(defect) => line(level, &[("node", node), ("defect", defect), ("differs", &differs)]),
                    None => line(level, &[("node", node), ("edge", edge), ("differs", &differs)]),
                }
            }
        }
    }

    fn case_over(&mut self, case: &Case, status: WalkStatus, now: Timestamp) {
        let status = serde_json::to_value(status).unwrap_or_default();
        self.line(now, LogLevel::Info, "case", &[("case", &case.id), ("status", status.as_str().unwrap_or_default())]);
    }

    fn end(&mut self, _: Timestamp) -> io::Result<()> {
        self.out.end()
    }
}

/// Formats an instant with exactly three decimals, so that lines are aligned.
fn to_the_millisecond(at: Timestamp) -> String {
    let text = at.to_string();
    let (seconds, fraction) = text.trim_end_matches('Z').split_once('.').unwrap_or((text.trim_end_matches('Z'), ""));
    format!("{seconds}.{fraction:0<3}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_of_one_width() {
        let shown =
            [0, 10, 1_771_104_069_100, 1_771_104_069_123].map(|millis| to_the_millisecond(Timestamp::from_millis(millis)));
        assert_eq!(
            shown,
            ["1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.010Z", "2026-02-14T21:21:09.100Z", "2026-02-14T21:21:09.123Z"]
        );
    }
}
