//! Observers: they watch a run and write what happens in a format of their own.
//!
//! An observer receives the events of the journal once they are recorded, and the ends of walks. It cannot affect the run. The registry is
//! [`KINDS`]; [`ObserverFanout`] stands between the session and a front end, and is only made if there is an observer.

mod chrome_trace;
mod jsonl;
mod kinds;
mod log;
mod metrics;
mod name_table;
mod narration;
mod observed;
#[cfg(feature = "otel")]
mod otlp;
mod out;
mod step_intervals;

pub use kinds::{DefaultOutput, KINDS, MakeObserver, ObserverKind, ObserverOptions, parse};
pub use observed::{Attached, MadeObserver, Observer, ObserverFanout};
pub use out::ObserverOutput;
