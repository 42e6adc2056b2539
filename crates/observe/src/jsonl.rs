//! Events as JSON Lines, as they are recorded.

use super::kinds::ObserverOptions;
use super::observed::{MadeObserver, Observer};
use super::out::ObserverOutput;
use asterisk_base::clock::Timestamp;
use asterisk_session::StartedRun;
use asterisk_walk::{Event, EventLines};
use std::io::{self, Write as _};

/// Writes the format of `events.jsonl`, without the sequence numbers that the store assigns.
pub(super) struct Jsonl {
    out: ObserverOutput,
    lines: EventLines,
}

pub(super) fn jsonl(out: ObserverOutput, _: &ObserverOptions) -> MadeObserver {
    (Box::new(Jsonl { out, lines: EventLines::default() }), None)
}

impl Observer for Jsonl {
    fn began(&mut self, begun: &StartedRun<'_>, _: Timestamp) {
        self.lines = EventLines::new(begun.run);
    }

    fn event(&mut self, event: &Event, _: Timestamp) {
        // The output reports its failure at the end.
        drop(writeln!(self.out, "{}", self.lines.line(None, event)));
    }

    fn end(&mut self, _: Timestamp) -> io::Result<()> {
        self.out.end()
    }
}
