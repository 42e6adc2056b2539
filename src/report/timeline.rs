//! Causes over launches and versions, as a report says them.

use crate::clock::Timestamp;
use serde::Serialize;

/// Whether a cause was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CauseState {
    /// Seen in no earlier launch.
    New,
    /// Seen in the launch before, too.
    Recurring,
    /// Seen before, then resolved or not seen, and back now.
    Regression,
    /// It comes and goes by itself.
    Flaky,
}

/// Where a cause was seen besides this run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CauseHistory {
    /// Whether it was there before; absent where nothing identifies it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<CauseState>,
    /// In how many launches, this one included.
    pub launches: usize,
    /// In which versions, in the order of the launches.
    pub versions: Vec<String>,
    /// Where it was first seen, if that is not here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<LaunchOccurrence>,
    /// In how many launches of this name it was not seen between the last time and now.
    pub absent: usize,
    /// The other launches it was seen in, the latest first.
    pub elsewhere: Vec<LaunchOccurrence>,
    /// The root causes of the store that it is.
    pub rcas: Vec<i64>,
    /// The symptoms of the store that come of it.
    pub symptoms: Vec<i64>,
}

/// A launch, and how often something was seen in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaunchOccurrence {
    /// The launch's id where it came from.
    pub launch: String,
    /// Its name.
    pub name: String,
    /// Its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
    /// The version it tested; empty if it tells none.
    pub version: String,
    /// When it began.
    pub at: Timestamp,
    /// How many failures.
    pub failures: usize,
}

/// A launch beside those of the same name before it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Regression {
    /// The launches that were looked at, oldest first; the last one is this one. Each with all its analysed failures.
    pub launches: Vec<LaunchOccurrence>,
    /// The numbers of causes that were never seen before.
    pub new: Vec<usize>,
    /// Those that were there the last time, too.
    pub recurring: Vec<usize>,
    /// Those that are back.
    pub regressions: Vec<usize>,
    /// Those that come and go.
    pub flaky: Vec<usize>,
    /// What earlier launches had and this one has not, what was seen last first; nothing where only some failures of this
    /// launch were analysed.
    pub gone: Vec<VanishedCause>,
    /// One line for each cause that more than one launch has, those of most versions first.
    pub matrix: Vec<CauseTimeline>,
}

/// A cause that is not seen any more.
#[derive(Clone, Debug, Serialize)]
pub struct VanishedCause {
    /// What it was.
    pub title: String,
    /// Its defect code, if it was investigated.
    pub defect_type: String,
    /// The component at fault, if known.
    pub component: String,
    /// What kind of failure it was.
    pub category: String,
    /// The tests that showed it, at most ten.
    pub tests: Vec<String>,
    /// Where it was first seen.
    pub since: LaunchOccurrence,
    /// Where it was last seen.
    pub last: LaunchOccurrence,
    /// In how many launches it was seen.
    pub launches: usize,
    /// How many launches of this name have been without it, this one included.
    pub absent: usize,
    /// The root causes of the store that it was.
    pub rcas: Vec<i64>,
    /// The symptoms of the store that came of it.
    pub symptoms: Vec<i64>,
}

/// A cause over the launches.
#[derive(Clone, Debug, Serialize)]
pub struct CauseTimeline {
    /// Its number in this report; absent if it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<usize>,
    /// What it is.
    pub title: String,
    /// How many versions have it (launches, where they tell no version).
    pub versions: usize,
    /// Whether it is one cause over several versions that does not come and go by itself.
    pub serial: bool,
    /// How many failures of each of the latest launches ([`Regression::launches`], at most twelve from the end) it explains.
    pub cells: Vec<usize>,
}

impl LaunchOccurrence {
    /// What people call the launch: its version, or else its name and number.
    pub fn label(&self) -> String {
        launch_label(&self.version, &self.name, self.number, &self.launch)
    }
}

/// A launch's version, or else its name with its number or its id.
pub(super) fn launch_label(version: &str, name: &str, number: Option<i64>, id: &str) -> String {
    match (version, number) {
        ("", Some(number)) => format!("{name} #{number}"),
        ("", None) => format!("{name} {id}"),
        (version, _) => version.to_owned(),
    }
}
