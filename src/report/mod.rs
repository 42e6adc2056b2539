//! The report of a run: what a person acts on, as data, as Markdown, and as rows of a table.

mod build;
mod finding;
mod markdown;
mod write;

pub use build::{CaseReport, Cause, Report, Turn, build};
pub use finding::Finding;
pub use markdown::{confidence, markdown};
pub use write::write;
