//! The report of a run: as data, Markdown, an HTML page, and rows of a table.
//!
//! ```text
//! build, make, write                   builds the report of a run and writes its pages
//! case, cases, finding                 the part about one case; all cases, in memory or in a file
//! causes, identity, excerpt            cases grouped by cause, with the texts of one of them
//! regression, over_time, timeline      comparisons with earlier launches
//! queue, push, issues, gate            what needs review, what may be pushed, issue drafts, gates of CI
//! markdown, html, csv, ci_summary      renderings for people
//! annotations, sarif                   renderings for CI systems
//! diff                                 two runs compared
//! text                                 cleans foreign text
//! ```

mod annotations;
mod build;
mod case;
mod cases;
mod causes;
mod ci_summary;
mod csv;
mod diff;
mod excerpt;
mod finding;
mod gate;
mod html;
mod identity;
mod issues;
mod make;
mod markdown;
mod over_time;
mod push;
mod queue;
mod regression;
mod sarif;
mod text;
mod timeline;
mod write;

pub use annotations::{Annotation, annotations, causes_sarif, code_quality, github_command};
pub use build::{RunReport, build};
pub use case::{CaseReport, ReportTransition};
pub use cases::{CaseBrief, CaseConclusion, CaseReports};
pub use causes::Cause;
pub use ci_summary::{COMMENT_MARK, SummarySize, ci_comment, ci_summary};
pub use csv::csv;
pub use diff::{CaseDiff, DiffedCase, RunDiff};
pub use finding::{AlternativeDefect, AnnotationLevel, CaseFinding, CodeLocation, Curve, DefectReason, Review, Section};
pub use gate::{FIGURES, FIGURES_BY_WORD, Gate};
pub use html::{html, page};
pub use issues::{Draft, IssueTracker, drafts};
pub use make::{of_run, pages, write};
pub use markdown::{confidence, markdown};
pub use over_time::over_time;
pub use push::{PushableReport, UnreviewedCase, passed, remarks};
pub use queue::QueuedReview;
pub use sarif::{sarif_log, sarif_uri};
pub use timeline::{CauseHistory, CauseState, CauseTimeline, LaunchOccurrence, Regression, VanishedCause};
pub use write::Pages;

#[cfg(test)]
#[global_allocator]
static MEMORY: asterisk_base::memory::Allocator = asterisk_base::memory::allocator();
