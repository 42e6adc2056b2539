//! Counts and durations in Prometheus' text format, written when the run ends.

use super::kinds::ObserverOptions;
use super::name_table::NameTable;
use super::observed::{MadeObserver, Observer};
use super::out::ObserverOutput;
use super::step_intervals::StepIntervals;
use asterisk_base::clock::Timestamp;
use asterisk_base::model::Case;
use asterisk_session::StartedRun;
use asterisk_walk::{Event, EventBody, WalkStatus};
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::io::{self, Write as _};

/// The upper bounds of the histogram of step durations, in seconds.
const BOUNDS: [f64; 14] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0, 60.0, 300.0];

/// Metrics with labels: name, help, type.
const METRICS: &[(&str, &str, &str)] = &[
    ("steps_total", "Answered steps, by answerer.", "counter"),
    ("transitions_total", "Transitions, by edge.", "counter"),
    ("loops_total", "Transitions that increment a counter.", "counter"),
    ("errors_total", "Walks that failed, by kind of error.", "counter"),
    ("rule_errors_total", "Rules that threw, by edge.", "counter"),
    (
        "walker_switches_total",
        "Steps assigned to another walker than the previous step, including the first of a walk.",
        "counter",
    ),
    ("handoffs_total", "Handoffs between walkers.", "counter"),
    ("masked_total", "Masked steps.", "counter"),
    ("thermal_warnings_total", "Thermal warnings of cases.", "counter"),
    ("reloads_total", "Reloads of the sources.", "counter"),
    ("cache_hits_total", "Answers from the cache.", "counter"),
    ("retries_total", "Failed attempts at nodes that were retried.", "counter"),
    ("failed_steps_total", "Failed nodes with a policy.", "counter"),
    ("cases", "Cases by status.", "gauge"),
];

/// A text in Prometheus' format.
#[derive(Debug, Default)]
pub struct MetricsText(String);

impl MetricsText {
    /// Begins a metric: its name without the prefix of the program, and its type.
    pub fn metric(&mut self, name: &str, help: &str, kind: &str) {
        _ = write!(self.0, "# HELP asterisk_{name} {help}\n# TYPE asterisk_{name} {kind}\n");
    }

    /// Adds a sample with labels.
    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.labelled(name, &written(labels), value);
    }

    fn labelled(&mut self, name: &str, labels: &str, value: impl Display) {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        _ = writeln!(self.0, "asterisk_{name}{labels} {value}");
    }

    /// The text.
    pub fn finish(self) -> String {
        self.0
    }
}

/// Collects the metrics of a run.
struct Metrics {
    out: ObserverOutput,
    names: NameTable,
    run: Vec<(&'static str, String)>,
    began: Timestamp,
    /// By metric and labels.
    counts: BTreeMap<(&'static str, String), u64>,
    times: BTreeMap<String, TimeHistogram>,
    steps: StepIntervals,
}

#[derive(Default)]
struct TimeHistogram {
    buckets: [u64; BOUNDS.len()],
    count: u64,
    /// In milliseconds.
    sum: i64,
}

impl TimeHistogram {
    fn add(&mut self, began: Timestamp, ended: Timestamp) {
        let seconds = ended.seconds_since(began);
        self.buckets.iter_mut().zip(BOUNDS).filter(|(_, bound)| seconds <= *bound).for_each(|(bucket, _)| *bucket += 1);
        self.count += 1;
        self.sum += ended.millis() - began.millis();
    }
}

pub(super) fn metrics(out: ObserverOutput, _: &ObserverOptions) -> MadeObserver {
    let metrics = Metrics {
        out,
        names: NameTable::default(),
        run: Vec::new(),
        began: Timestamp::default(),
        counts: BTreeMap::new(),
        times: BTreeMap::new(),
        steps: StepIntervals::default(),
    };
    (Box::new(metrics), None)
}

impl Metrics {
    fn count(&mut self, metric: &'static str, labels: &[(&str, &str)]) {
        *self.counts.entry((metric, written(labels))).or_default() += 1;
    }

    fn text(&self, now: Timestamp) -> String {
        let mut out = MetricsText::default();
        let run: Vec<(&str, &str)> = self.run.iter().map(|(key, value)| (*key, value.as_str())).collect();
        out.metric("run_info", "The run.", "gauge");
        out.sample("run_info", &run, 1);
        out.metric("run_seconds", "The time spent walking it in this process.", "gauge");
        out.sample("run_seconds", &[], now.seconds_since(self.began));
        for (name, help, kind) in METRICS {
            let mut of = self.counts.iter().filter(|((metric, _), _)| metric == name).peekable();
            if of.peek().is_some() {
                out.metric(name, help, kind);
            }
            for ((_, labels), count) in of {
                out.labelled(name, labels, count);
            }
        }
        if !self.times.is_empty() {
            out.metric("step_seconds", "The time from the beginning of a step until it was recorded, by node.", "histogram");
        }
        for (labels, times) in &self.times {
            for (bucket, bound) in times.buckets.iter().zip(BOUNDS) {
                out.labelled("step_seconds_bucket", &format!("{labels},le=\"{bound}\""), bucket);
            }
            out.labelled("step_seconds_bucket", &format!("{labels},le=\"+Inf\""), times.count);
            let sum = Timestamp::from_millis(times.sum).seconds_since(Timestamp::default());
            out.labelled("step_seconds_sum", labels, sum);
            out.labelled("step_seconds_count", labels, times.count);
        }
        out.finish()
    }
}

impl Observer for Metrics {
    fn began(&mut self, begun: &StartedRun<'_>, now: Timestamp) {
        self.names.began(begun);
        self.began = now;
        self.run = vec![("pipeline", begun.plan.pipeline.name.value.clone()), ("run", begun.run.to_owned())];
        if begun.over > 0 {
            self.counts.insert(("cases", written(&[("status", "over_before")])), begun.over as u64);
        }
    }

    fn event(&mut self, event: &Event, now: Timestamp) {
        let pipeline = self.names.pipeline(&event.path);
        let pipeline = pipeline.as_str();
        if let Some((node, began)) = self.steps.event(event) {
            let labels = written(&[("node", &node), ("pipeline", pipeline)]);
            self.times.entry(labels).or_default().add(began, now);
        }
        match &event.what {
            EventBody::NodeExit { node, by, .. } => {
                self.count("steps_total", &[("by", by), ("node", node), ("pipeline", pipeline)]);
            }
            EventBody::EdgeEvaluate { considered, .. } => {
                for entry in considered.iter().filter(|entry| entry.error.is_some()) {
                    self.count("rule_errors_total", &[("edge", &entry.edge), ("pipeline", pipeline)]);
                }
            }
            EventBody::Transition { from, to, edge, counter, .. } => {
                self.count("transitions_total", &[("edge", edge), ("from", from), ("pipeline", pipeline), ("to", to)]);
                if let Some(counter) = counter {
                    self.count("loops_total", &[("counter", counter), ("pipeline", pipeline)]);
                }
            }
            EventBody::WalkError { node, kind, .. } => {
                self.count("errors_total", &[("kind", kind), ("node", node), ("pipeline", pipeline)]);
            }
            EventBody::WalkerSwitch { from, to, .. } => {
                self.count("walker_switches_total", &[("pipeline", pipeline), ("to", to)]);
                if let Some(from) = from {
                    self.count("handoffs_total", &[("from", from), ("pipeline", pipeline), ("to", to)]);
                }
            }
            EventBody::Masked { node, masks, .. } => {
                for mask in masks {
                    self.count("masked_total", &[("mask", mask), ("node", node), ("pipeline", pipeline)]);
                }
            }
            EventBody::Requested { via, .. } => self.count("requests_total", &[("via", via)]),
            EventBody::Rejected { via, .. } => self.count("complaints_total", &[("via", via)]),
            EventBody::Unanswered { via, .. } => self.count("request_failures_total", &[("via", via)]),
            EventBody::ThermalWarning { .. } => self.count("thermal_warnings_total", &[]),
            EventBody::Reload { .. } => self.count("reloads_total", &[]),
            EventBody::CacheHit { node, .. } => self.count("cache_hits_total", &[("node", node), ("pipeline", pipeline)]),
            EventBody::StepRetry { node, reason, .. } => {
                self.count("retries_total", &[("node", node), ("pipeline", pipeline), ("reason", reason)]);
            }
            EventBody::StepError { node, reason, .. } => {
                self.count("failed_steps_total", &[("node", node), ("pipeline", pipeline), ("reason", reason)]);
            }
            _ => {}
        }
    }

    fn case_over(&mut self, case: &Case, status: WalkStatus, _: Timestamp) {
        self.steps.case_over(&case.id);
        let status = serde_json::to_value(status).unwrap_or_default();
        self.count("cases", &[("status", status.as_str().unwrap_or_default())]);
    }

    fn end(&mut self, now: Timestamp) -> io::Result<()> {
        let text = self.text(now);
        drop(self.out.write_all(text.as_bytes()));
        self.out.end()
    }
}

/// Formats labels.
fn written(labels: &[(&str, &str)]) -> String {
    let escape = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escape(value))).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        assert_eq!(written(&[("a", "x\"y\\z\n"), ("b", "")]), r#"a="x\"y\\z\n",b="""#);
    }

    #[test]
    fn buckets_add_up() {
        let mut times = TimeHistogram::default();
        for millis in [0, 20, 9_000, 1_000_000] {
            times.add(Timestamp::default(), Timestamp::from_millis(millis));
        }
        assert_eq!((times.buckets[0], times.buckets[3], times.buckets[13], times.count), (1, 2, 3, 4));
        assert_eq!(times.sum, 1_009_020);
    }
}
