//! Spans in progress, and how their ids are derived.

use asterisk_base::clock::Timestamp;
use asterisk_base::model::Hash;
use opentelemetry::trace::{Event, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use std::time::{Duration, SystemTime};

/// A span in progress.
pub(super) struct OpenSpan {
    pub(super) id: SpanId,
    parent: SpanId,
    pub(super) name: String,
    pub(super) began: Timestamp,
    fields: Vec<KeyValue>,
    events: Vec<Event>,
    status: Status,
}

impl OpenSpan {
    pub(super) fn new(id: SpanId, parent: SpanId, name: String, began: Timestamp) -> Self {
        Self { id, parent, name, began, fields: Vec::new(), events: Vec::new(), status: Status::Unset }
    }

    /// Sets an attribute, replacing an earlier value.
    pub(super) fn set(&mut self, key: &'static str, value: impl Into<Value>) {
        self.fields.retain(|field| field.key.as_str() != key);
        self.fields.push(KeyValue::new(key, value));
    }

    /// Adds an event.
    pub(super) fn happened(&mut self, name: &'static str, at: Timestamp, fields: Vec<(&'static str, String)>) {
        let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
        let fields = fields.map(|(key, value)| KeyValue::new(key, value)).collect();
        self.events.push(Event::new(name, time(at), fields, 0));
    }

    /// Marks the span as failed.
    pub(super) fn fail(&mut self, message: &str) {
        self.status = Status::error(message.to_owned());
    }

    /// Ends the span.
    pub(super) fn end(self, trace: TraceId, at: Timestamp) -> SpanData {
        let mut events = SpanEvents::default();
        events.events = self.events;
        SpanData {
            span_context: SpanContext::new(trace, self.id, TraceFlags::SAMPLED, false, TraceState::default()),
            parent_span_id: self.parent,
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name: self.name.into(),
            start_time: time(self.began),
            end_time: time(at),
            attributes: self.fields,
            dropped_attributes_count: 0,
            events,
            links: SpanLinks::default(),
            status: self.status,
            instrumentation_scope: InstrumentationScope::builder("asterisk").with_version(env!("CARGO_PKG_VERSION")).build(),
        }
    }
}

/// The id of a run's trace.
pub(super) fn trace_id(run: &str) -> TraceId {
    let hash = Hash::of(run.as_bytes());
    TraceId::from_bytes(std::array::from_fn(|at| hash.bytes()[at]))
}

/// The id of a run's own span: a resumed run has another one in the same trace.
pub(super) fn run_id(run: &str, began: Timestamp) -> SpanId {
    hashed(&format!("{run} {}", began.millis()))
}

/// The id of a span below a run's, by case, or by case and path.
pub(super) fn id(run: SpanId, names: &[&str]) -> SpanId {
    hashed(&format!("{run} {}", names.join("/")))
}

fn hashed(text: &str) -> SpanId {
    let hash = Hash::of(text.as_bytes());
    SpanId::from_bytes(std::array::from_fn(|at| hash.bytes()[at]))
}

fn time(at: Timestamp) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(at.millis()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_derived() {
        let [run, later, other] = [("r", 7), ("r", 8), ("s", 7)].map(|(run, at)| run_id(run, Timestamp::from_millis(at)));
        let ids = [id(run, &["1"]), id(run, &["1", "2"]), id(later, &["1", "2"]), id(other, &["1", "2"]), run, later, other];
        assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), ids.len());
        assert_eq!((id(run, &["1", "2"]), trace_id("r")), (ids[1], trace_id("r")));
        assert_ne!(trace_id("r"), trace_id("s"));
    }

    #[test]
    fn attributes_are_replaced_and_failures_have_a_message() {
        let mut span = OpenSpan::new(SpanId::INVALID, SpanId::INVALID, "n".into(), Timestamp::from_millis(1));
        span.set("a", "x");
        span.set("a", 2);
        span.fail("no");
        span.happened("e", Timestamp::from_millis(2), vec![("k", "v".into()), ("none", String::new())]);
        let data = span.end(trace_id("r"), Timestamp::from_millis(3));
        assert_eq!((data.attributes, data.status), (vec![KeyValue::new("a", 2)], Status::error("no")));
        assert_eq!(data.events[0].attributes, [KeyValue::new("k", "v")]);
        assert_eq!(data.end_time, data.start_time + Duration::from_millis(2));
    }
}
