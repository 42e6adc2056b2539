//! The launch beside those before it, as the page shows it.

use crate::model::counted;
use crate::report::causes::Cause;
use crate::report::timeline::{CauseState, CauseTimeline, LaunchOccurrence, Regression, VanishedCause};
use serde::Serialize;

/// The most causes that are gone, by name.
const GONE: usize = 40;
/// The most lines of the matrix.
const LINES: usize = 40;

/// The section of the page.
#[derive(Debug, Serialize)]
pub(super) struct OverTimeSection<'r> {
    /// How many earlier launches were looked at.
    earlier: usize,
    /// The last of them.
    last: String,
    /// The launches of the matrix, oldest first.
    columns: Vec<String>,
    lines: Vec<&'r CauseTimeline>,
    /// How many lines are not shown.
    unlisted: usize,
    gone: Vec<GoneCause<'r>>,
    /// How many are not shown.
    ungone: usize,
    found: &'r Regression,
}

/// A cause that is gone.
#[derive(Debug, Serialize)]
struct GoneCause<'r> {
    #[serde(flatten)]
    gone: &'r VanishedCause,
    since: String,
    last: String,
}

/// A cause's past in a card.
#[derive(Debug, Serialize)]
pub(super) struct CausePast {
    /// `new`, `recurring`, `regression` or `flaky`.
    kind: &'static str,
    /// What the badge says.
    badge: String,
    /// The other launches: what they are called, and how many failures they had.
    places: Vec<(String, usize)>,
}

impl<'r> OverTimeSection<'r> {
    pub(super) fn of(found: &'r Regression) -> Self {
        let width = found.matrix.first().map_or(0, |line| line.cells.len());
        let columns = found.launches.iter().skip(found.launches.len().saturating_sub(width));
        let earlier = found.launches.len().saturating_sub(1);
        Self {
            earlier,
            last: earlier.checked_sub(1).and_then(|last| found.launches.get(last)).map_or(String::new(), LaunchOccurrence::label),
            columns: columns.map(LaunchOccurrence::label).collect(),
            lines: found.matrix.iter().take(LINES).collect(),
            unlisted: found.matrix.len().saturating_sub(LINES),
            gone: found.gone.iter().take(GONE).map(GoneCause::of).collect(),
            ungone: found.gone.len().saturating_sub(GONE),
            found,
        }
    }
}

impl<'r> GoneCause<'r> {
    fn of(gone: &'r VanishedCause) -> Self {
        Self { since: gone.since.label(), last: gone.last.label(), gone }
    }
}

impl CausePast {
    /// The past of a cause; none if nothing identifies it or nothing was there to compare with.
    pub(super) fn of(cause: &Cause, first: bool) -> Option<Self> {
        let seen = &cause.seen;
        let since = seen.since.as_ref().map_or(String::new(), |place| format!(" since {}", place.label()));
        let launches = counted(seen.launches, "launch", "launches");
        let (kind, badge) = match seen.state? {
            CauseState::New if first => return None,
            CauseState::New => ("new", "new".to_owned()),
            CauseState::Recurring => ("recurring", format!("known{since}, in {launches}")),
            CauseState::Regression if seen.absent > 0 => {
                ("regression", format!("regression: known{since}, then not in {}", counted(seen.absent, "launch", "launches")))
            }
            CauseState::Regression => ("regression", format!("regression: known{since}, was resolved")),
            CauseState::Flaky if since.is_empty() => ("flaky", "flaky".to_owned()),
            CauseState::Flaky => ("flaky", format!("flaky{since}, in {launches}")),
        };
        Some(Self { kind, badge, places: seen.elsewhere.iter().map(|place| (place.label(), place.failures)).collect() })
    }
}
