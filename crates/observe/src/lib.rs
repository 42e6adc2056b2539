//! Observers: they watch a run and write what happens.
//!
//! An observer receives the events of the journal once they are recorded, and the ends of walks, or it is a layer of `tracing`, which the run
//! reports its spans and the events of the journal to. It cannot affect the run. The registry is [`KINDS`]; [`ObserverFanout`] stands between
//! the session and a front end, and is only made if there is an observer.

mod answer_events;
mod chrome;
mod journal_events;
mod jsonl;
mod kinds;
mod metrics;
mod name_table;
mod observed;
#[cfg(feature = "otel")]
mod otlp;
mod out;
mod progress;
mod step_intervals;
mod text;

pub use kinds::{DefaultOutput, KINDS, MakeObserver, ObserverKind, ObserverOptions, parse};
pub use metrics::MetricsText;
pub use observed::{Attached, MadeObserver, Observer, ObserverFanout, TracingLayer, TriedObserver};
pub use out::ObserverOutput;
