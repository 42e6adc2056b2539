//! Events as JSON Lines, as they are recorded.

use super::kinds::ObserverOptions;
use super::observed::{MadeObserver, Observer};
use super::out::ObserverOutput;
use asterisk_base::clock::Timestamp;
use asterisk_session::StartedRun;
use asterisk_walk::Event;
use serde::Serialize;
use std::io::{self, Write as _};

/// Writes the format of `events.jsonl`, without the sequence numbers that the store assigns.
pub(super) struct Jsonl {
    out: ObserverOutput,
    run: String,
}

#[derive(Serialize)]
struct EventLine<'a> {
    run: &'a str,
    #[serde(flatten)]
    event: &'a Event,
}

pub(super) fn jsonl(out: ObserverOutput, _: &ObserverOptions) -> MadeObserver {
    (Box::new(Jsonl { out, run: String::new() }), None)
}

impl Observer for Jsonl {
    fn began(&mut self, begun: &StartedRun<'_>, _: Timestamp) {
        begun.run.clone_into(&mut self.run);
    }

    fn event(&mut self, event: &Event, _: Timestamp) {
        // Keys in alphabetical order, as everywhere.
        let line = serde_json::to_value(EventLine { run: &self.run, event }).unwrap_or_default();
        // The output reports its failure at the end.
        drop(writeln!(self.out, "{line}"));
    }

    fn end(&mut self, _: Timestamp) -> io::Result<()> {
        self.out.end()
    }
}
