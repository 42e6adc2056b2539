//! The report of a run: what a person acts on, as data, as Markdown, as a page, and as rows of a table.

mod build;
mod causes;
mod finding;
mod html;
mod markdown;
mod text;
mod write;

pub use build::{CaseReport, Report, Turn, build};
pub use causes::Cause;
pub use finding::{Finding, Review};
pub use html::html;
pub use markdown::{confidence, markdown};
pub use write::Pages;
