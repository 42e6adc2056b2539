//! The section of the page that compares the launch with earlier ones.

use crate::causes::Cause;
use crate::timeline::{CauseState, CauseTimeline, LaunchOccurrence, Regression, VanishedCause};
use asterisk_diag::counted;
use serde::Serialize;

/// Maximum number of vanished causes listed by name.
const MAX_VANISHED: usize = 40;
/// Maximum number of rows of the matrix.
const MAX_ROWS: usize = 40;

/// The section of the page.
#[derive(Debug, Serialize)]
pub(super) struct OverTimeSection<'r> {
    /// Number of earlier launches compared.
    earlier: usize,
    /// The latest of them.
    last: String,
    /// The launches of the matrix, oldest first.
    columns: Vec<String>,
    lines: Vec<&'r CauseTimeline>,
    /// Number of rows not shown.
    unlisted: usize,
    gone: Vec<GoneCause<'r>>,
    /// Number of vanished causes not shown.
    ungone: usize,
    found: &'r Regression,
}

/// A vanished cause.
#[derive(Debug, Serialize)]
struct GoneCause<'r> {
    #[serde(flatten)]
    gone: &'r VanishedCause,
    since: String,
    last: String,
}

/// History of a cause, shown in its card.
#[derive(Debug, Serialize)]
pub(super) struct CausePast {
    /// `new`, `recurring`, `regression` or `flaky`.
    kind: &'static str,
    /// Text of the badge.
    badge: String,
    /// The other launches: label and number of failures.
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
            lines: found.matrix.iter().take(MAX_ROWS).collect(),
            unlisted: found.matrix.len().saturating_sub(MAX_ROWS),
            gone: found.gone.iter().take(MAX_VANISHED).map(GoneCause::of).collect(),
            ungone: found.gone.len().saturating_sub(MAX_VANISHED),
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
    /// The history of a cause; `None` if it cannot be identified or there is nothing to compare with.
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
