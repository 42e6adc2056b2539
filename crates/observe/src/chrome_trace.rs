//! A run in Chrome's trace event format (for `chrome://tracing`, Perfetto, speedscope).
//!
//! Each case is a thread; each step a slice on it, with the steps of inner walks nested. Written incrementally.

use super::name_table::NameTable;
use super::observed::Observer;
use super::out::ObserverOutput;
use super::step_intervals::{Spans, StepInterval};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::Case;
use asterisk_session::StartedRun;
use asterisk_walk::{Event, EventBody, Name, WalkStatus};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;

/// Writes a trace.
pub(super) struct ChromeTrace<'o> {
    out: ObserverOutput<'o>,
    names: NameTable,
    began: Timestamp,
    written: bool,
    spans: Spans,
    /// The line of each case, and when it was first seen.
    cases: HashMap<Name, (usize, Timestamp)>,
    lines: usize,
}

impl<'o> ChromeTrace<'o> {
    pub(super) fn new(out: ObserverOutput<'o>) -> Self {
        let (names, began, spans) = (NameTable::default(), Timestamp::default(), Spans::default());
        Self { out, names, began, written: false, spans, cases: HashMap::new(), lines: 0 }
    }

    fn put(&mut self, entry: &Value) {
        let before = if self.written { ",\n" } else { "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" };
        self.written = true;
        self.out.write(&format!("{before}{entry}"));
    }

    /// Microseconds since the run began.
    fn micros(&self, at: Timestamp) -> i64 {
        (at.millis() - self.began.millis()) * 1000
    }

    fn step(&mut self, line: usize, span: &StepInterval, end: i64) {
        let (began, name) = (self.micros(span.began), self.names.node(&span.path, &span.node));
        let args = json!({"path": span.path, "by": span.by});
        self.put(&json!({
            "ph": "X", "pid": 1, "tid": line, "cat": "step", "name": name, "ts": began, "dur": end - began, "args": args,
        }));
    }

    /// The line of a case, named on first use.
    fn line(&mut self, case: &Name, at: Timestamp) -> usize {
        if let Some((line, _)) = self.cases.get(case) {
            return *line;
        }
        self.lines += 1;
        let line = self.lines;
        self.cases.insert(case.clone(), (line, at));
        let name = self.names.case(case).map_or_else(|| case.to_string(), |name| format!("{case} {name}"));
        self.put(&json!({"ph": "M", "pid": 1, "tid": line, "name": "thread_name", "args": {"name": name}}));
        self.put(&json!({"ph": "M", "pid": 1, "tid": line, "name": "thread_sort_index", "args": {"sort_index": line}}));
        line
    }
}

impl Observer for ChromeTrace<'_> {
    fn began(&mut self, begun: &StartedRun<'_>, now: Timestamp) {
        self.names.began(begun);
        self.began = now;
        let name = format!("{} {}", begun.plan.pipeline.name.value, begun.run);
        self.put(&json!({"ph": "M", "pid": 1, "name": "process_name", "args": {"name": name, "began": now}}));
    }

    fn event(&mut self, event: &Event, now: Timestamp) {
        let (path, ts) = (event.path.as_str(), self.micros(now));
        if event.case.is_empty() {
            if let EventBody::Barrier { .. } | EventBody::Reload { .. } = event.what {
                self.put(&json!({"ph": "i", "s": "g", "pid": 1, "tid": 0, "ts": ts, "name": event.what.name()}));
            }
            return;
        }
        let line = self.line(&event.case, event.at);
        if let Some(span) = self.spans.event(event) {
            self.step(line, &span, ts);
        }
        match &event.what {
            EventBody::Transition { from, to, edge, because, .. } => {
                let name = self.names.edge(path, edge);
                let args = json!({"path": path, "from": from, "to": to, "because": because});
                self.put(&json!({
                    "ph": "i", "s": "t", "pid": 1, "tid": line, "cat": "turn", "name": name, "ts": ts, "args": args,
                }));
            }
            EventBody::WalkError { kind, message, .. } => {
                let args = json!({"path": path, "message": message});
                self.put(&json!({
                    "ph": "i", "s": "t", "pid": 1, "tid": line, "cat": "error", "name": kind, "ts": ts, "args": args,
                }));
            }
            _ => {}
        }
    }

    fn case_over(&mut self, case: &Case, status: WalkStatus, now: Timestamp) {
        let open = self.spans.case_over(&case.id);
        let Some((line, began)) = self.cases.remove(case.id.as_str()) else { return };
        let (began, end) = (self.micros(began), self.micros(now));
        for span in &open {
            self.step(line, span, end);
        }
        self.put(&json!({
            "ph": "X", "pid": 1, "tid": line, "cat": "case", "name": format!("case {}", case.id), "ts": began,
            "dur": end - began, "args": {"status": status},
        }));
    }

    fn end(&mut self, _: Timestamp) -> io::Result<()> {
        if self.written {
            self.out.write("\n]}\n");
        }
        self.out.end()
    }
}
