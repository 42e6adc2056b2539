//! Types of the report for causes over launches and versions.

use asterisk_base::clock::Timestamp;
use serde::Serialize;

/// Novelty of a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CauseState {
    /// Seen in no earlier launch.
    New,
    /// Also seen in the previous launch.
    Recurring,
    /// Seen before, then resolved or absent, and now back.
    Regression,
    /// Comes and goes without a change.
    Flaky,
}

/// Occurrences of a cause in other launches.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CauseHistory {
    /// Novelty; absent if the cause cannot be identified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<CauseState>,
    /// Number of launches, including this one.
    pub launches: usize,
    /// Versions, in the order of the launches.
    pub versions: Vec<String>,
    /// First occurrence, if it is not this launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<LaunchOccurrence>,
    /// Number of launches of this name without it between its previous occurrence and now.
    pub absent: usize,
    /// The other launches with it, the latest first.
    pub elsewhere: Vec<LaunchOccurrence>,
    /// Root causes of the store that constitute it.
    pub rcas: Vec<i64>,
    /// Symptoms of the store that it explains.
    pub symptoms: Vec<i64>,
}

/// A launch, and the number of occurrences in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaunchOccurrence {
    /// Id of the launch in its source.
    pub launch: String,
    /// Name of the launch.
    pub name: String,
    /// Number of the launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
    /// Version under test; empty if unknown.
    pub version: String,
    /// Start time.
    pub at: Timestamp,
    /// Number of failures.
    pub failures: usize,
}

/// Comparison of a launch with earlier ones of the same name.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Regression {
    /// The launches compared, oldest first, with the numbers of their analysed failures; the last one is this one.
    pub launches: Vec<LaunchOccurrence>,
    /// Numbers of the causes never seen before.
    pub new: Vec<usize>,
    /// Numbers of the causes that also occurred in the previous launch.
    pub recurring: Vec<usize>,
    /// Numbers of the causes that are back.
    pub regressions: Vec<usize>,
    /// Numbers of the flaky causes.
    pub flaky: Vec<usize>,
    /// Causes of earlier launches that are absent from this one, the last seen first; empty if only some failures of this launch were
    /// analysed.
    pub gone: Vec<VanishedCause>,
    /// A row for each cause that occurs in more than one launch, those with most versions first.
    pub matrix: Vec<CauseTimeline>,
}

/// A cause that no longer occurs.
#[derive(Clone, Debug, Serialize)]
pub struct VanishedCause {
    /// Title.
    pub title: String,
    /// Defect type code, if it was investigated.
    pub defect_type: String,
    /// Component at fault, if known.
    pub component: String,
    /// Category of the failure.
    pub category: String,
    /// The tests that showed it, at most ten.
    pub tests: Vec<String>,
    /// First occurrence.
    pub since: LaunchOccurrence,
    /// Last occurrence.
    pub last: LaunchOccurrence,
    /// Number of launches with it.
    pub launches: usize,
    /// Number of launches of this name without it since, including this one.
    pub absent: usize,
    /// Root causes of the store that constitute it.
    pub rcas: Vec<i64>,
    /// Symptoms of the store that it explains.
    pub symptoms: Vec<i64>,
}

/// A cause over the launches.
#[derive(Clone, Debug, Serialize)]
pub struct CauseTimeline {
    /// Number in this report; absent if it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<usize>,
    /// Title.
    pub title: String,
    /// Number of versions with it (of launches, if their versions are unknown).
    pub versions: usize,
    /// Whether it occurs in several versions and is not flaky.
    pub serial: bool,
    /// Number of failures it explains in each of the latest launches (the last twelve of [`Regression::launches`], at most).
    pub cells: Vec<usize>,
}

impl LaunchOccurrence {
    /// Label of the launch: its version, or else its name and number.
    pub fn label(&self) -> String {
        launch_label(&self.version, &self.name, self.number, &self.launch)
    }
}

/// The version of a launch, or else its name with its number or id.
pub(super) fn launch_label(version: &str, name: &str, number: Option<i64>, id: &str) -> String {
    match (version, number) {
        ("", Some(number)) => format!("{name} #{number}"),
        ("", None) => format!("{name} {id}"),
        (version, _) => version.to_owned(),
    }
}
