//! Time, ids and chance as inputs: nothing below this module reads the machine's clock or its randomness.

mod chance;
mod deadline;
mod time;

pub use chance::{chance, derived_id};
pub use deadline::Deadline;
pub use time::{Clock, FixedClock, SystemClock, Timestamp};
