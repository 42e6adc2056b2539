//! Readers of launches: a text in, a [`Launch`] out, whichever tool wrote it.
//!
//! The format is told by content, never by a file's name: a ReportPortal launch (`failure_list`), ReportPortal items (a page
//! of the API or a bare list), or JUnit XML (nextest's, pytest's and what is near enough). Anything else is refused by the
//! name of what it looks like. Texts are cleaned of terminal escapes and markup, long ones are cut with the cut recorded,
//! and what was left out is told in [`Launch::notes`].
//!
//! ```text
//! bytes -decode-> Source -detect-> json | xml -reportportal, junit-> Launch -merge-> Launch
//! ```

mod attributes;
mod clean;
mod cut;
mod decode;
mod detect;
mod fields;
mod foreign;
mod item;
mod json_span;
mod junit;
mod junit_case;
mod markup;
mod merge;
mod reportportal;
mod texts;
mod times;
mod tree;
mod unique;
mod xml;

#[cfg(test)]
mod tests;

pub use decode::decode;
pub use merge::merge;

use crate::diag::{Diagnostics, Source};
use crate::model::Launch;
use detect::Format;

/// The largest text that is read, in bytes. Reports of test runs are far smaller; what is larger is something else.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// How much of a text a case keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes that a log or an error keeps; longer ones are cut.
    pub text: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { text: 16 * 1024 }
    }
}

/// Reads a launch. The error says everything that is wrong with the text, each finding at its place in it.
pub fn read(source: &Source) -> Result<Launch, Diagnostics> {
    read_with(source, Limits::default())
}

/// Reads a launch, keeping as much of its texts as `limits` allow.
pub fn read_with(source: &Source, limits: Limits) -> Result<Launch, Diagnostics> {
    match detect::detect(source)? {
        Format::ReportPortalLaunch(value) => reportportal::launch(source, &value, limits),
        Format::ReportPortalPage(value) => reportportal::page(source, &value, limits),
        Format::ReportPortalItems(value) => reportportal::items(source, &value, limits),
        Format::Junit => junit::launch(source, limits),
    }
}
