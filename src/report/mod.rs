//! The report of a run: what a person acts on, as data, as Markdown, as a page, and as rows of a table.

mod build;
mod cases;
mod causes;
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
mod write;

pub use build::{CaseReport, Report, Turn, build};
pub use cases::{CaseBrief, CaseReports, Told};
pub use causes::Cause;
pub use finding::{Finding, Review, Section};
pub use html::html;
pub use issues::{Draft, Form, drafts};
pub use make::{of_run, pages, write};
pub use markdown::{confidence, markdown};
pub use over_time::over_time;
pub use push::{Passed, Waiting, passed, remarks};
pub use regression::{Gone, Line, Place, Regression, Seen, State};
pub use write::Pages;
