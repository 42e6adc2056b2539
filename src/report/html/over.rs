//! The launch beside those before it, as the page shows it.

use crate::model::counted;
use crate::report::causes::Cause;
use crate::report::regression::{Gone, Line, Place, Regression, State};
use serde::Serialize;

/// The most causes that are gone, by name.
const GONE: usize = 40;
/// The most lines of the matrix.
const LINES: usize = 40;

/// The section of the page.
#[derive(Debug, Serialize)]
pub(super) struct Over<'r> {
    /// How many earlier launches were looked at.
    earlier: usize,
    /// The last of them.
    last: String,
    /// The launches of the matrix, oldest first.
    columns: Vec<String>,
    lines: Vec<&'r Line>,
    /// How many lines are not shown.
    unlisted: usize,
    gone: Vec<Missing<'r>>,
    /// How many are not shown.
    ungone: usize,
    found: &'r Regression,
}

/// A cause that is gone.
#[derive(Debug, Serialize)]
struct Missing<'r> {
    #[serde(flatten)]
    gone: &'r Gone,
    since: String,
    last: String,
}

/// A cause's past in a card.
#[derive(Debug, Serialize)]
pub(super) struct Past {
    /// `new`, `recurring`, `regression` or `flaky`.
    kind: &'static str,
    /// What the badge says.
    badge: String,
    /// The other launches: what they are called, and how many failures they had.
    places: Vec<(String, usize)>,
}

impl<'r> Over<'r> {
    pub(super) fn of(found: &'r Regression) -> Self {
        let width = found.matrix.first().map_or(0, |line| line.cells.len());
        let columns = found.launches.iter().skip(found.launches.len().saturating_sub(width));
        let earlier = found.launches.len().saturating_sub(1);
        Self {
            earlier,
            last: earlier.checked_sub(1).and_then(|last| found.launches.get(last)).map_or(String::new(), Place::label),
            columns: columns.map(Place::label).collect(),
            lines: found.matrix.iter().take(LINES).collect(),
            unlisted: found.matrix.len().saturating_sub(LINES),
            gone: found.gone.iter().take(GONE).map(Missing::of).collect(),
            ungone: found.gone.len().saturating_sub(GONE),
            found,
        }
    }
}

impl<'r> Missing<'r> {
    fn of(gone: &'r Gone) -> Self {
        Self { since: gone.since.label(), last: gone.last.label(), gone }
    }
}

impl Past {
    /// The past of a cause; none if nothing identifies it or nothing was there to compare with.
    pub(super) fn of(cause: &Cause, first: bool) -> Option<Self> {
        let seen = &cause.seen;
        let since = seen.since.as_ref().map_or(String::new(), |place| format!(" since {}", place.label()));
        let launches = counted(seen.launches, "launch", "launches");
        let (kind, badge) = match seen.state? {
            State::New if first => return None,
            State::New => ("new", "new".to_owned()),
            State::Recurring => ("recurring", format!("known{since}, in {launches}")),
            State::Regression if seen.absent > 0 => {
                ("regression", format!("regression: known{since}, then not in {}", counted(seen.absent, "launch", "launches")))
            }
            State::Regression => ("regression", format!("regression: known{since}, was resolved")),
            State::Flaky if since.is_empty() => ("flaky", "flaky".to_owned()),
            State::Flaky => ("flaky", format!("flaky{since}, in {launches}")),
        };
        Some(Self { kind, badge, places: seen.elsewhere.iter().map(|place| (place.label(), place.failures)).collect() })
    }
}
