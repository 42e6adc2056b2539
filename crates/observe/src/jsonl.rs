//! Events as JSON Lines, as they are recorded.

use super::observed::Observer;
use super::out::ObserverOutput;
use asterisk_base::clock::Timestamp;
use asterisk_session::StartedRun;
use asterisk_walk::Event;
use serde::Serialize;
use std::io;

/// Writes the format of `events.jsonl`, without the sequence numbers that the store assigns.
pub(super) struct Jsonl<'o> {
    out: ObserverOutput<'o>,
    run: String,
}

#[derive(Serialize)]
struct EventLine<'a> {
    run: &'a str,
    #[serde(flatten)]
    event: &'a Event,
}

impl<'o> Jsonl<'o> {
    pub(super) fn new(out: ObserverOutput<'o>) -> Self {
        Self { out, run: String::new() }
    }
}

impl Observer for Jsonl<'_> {
    fn began(&mut self, begun: &StartedRun<'_>, _: Timestamp) {
        begun.run.clone_into(&mut self.run);
    }

    fn event(&mut self, event: &Event, _: Timestamp) {
        // Keys in alphabetical order, as everywhere.
        let line = serde_json::to_value(EventLine { run: &self.run, event }).unwrap_or_default();
        self.out.line(&line.to_string());
    }

    fn end(&mut self, _: Timestamp) -> io::Result<()> {
        self.out.end()
    }
}
