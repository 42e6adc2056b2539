//! The report of a run: as data, Markdown, an HTML page, and rows of a table.

mod build;
mod case;
mod cases;
mod causes;
mod diff;
mod finding;
mod html;
mod identity;
mod issues;
mod make;
mod markdown;
mod over_time;
mod push;
mod regression;
mod text;
mod timeline;
mod write;

pub use build::{RunReport, build};
pub use case::{CaseReport, ReportTransition};
pub use cases::{CaseBrief, CaseConclusion, CaseReports};
pub use causes::Cause;
pub use diff::{CaseDiff, DiffedCase, RunDiff};
pub use finding::{AlternativeDefect, CaseFinding, DefectReason, Review, Section};
pub use html::html;
pub use issues::{Draft, IssueTracker, drafts};
pub use make::{of_run, pages, write};
pub use markdown::{confidence, markdown};
pub use over_time::over_time;
pub use push::{PushableReport, UnreviewedCase, passed, remarks};
pub use timeline::{CauseHistory, CauseState, CauseTimeline, LaunchOccurrence, Regression, VanishedCause};
pub use write::Pages;
