//! Reads launches of test results: a text in, a [`Launch`] out, whichever tool wrote it.
//!
//! The format is detected by content, never by a file's name (`detect`), with the table in `formats`: ReportPortal, JUnit XML in
//! its dialects, and the reports of some twenty-five other tools. The log of a CI job is read by `job_log`. For anything else, the error names the format it looks like.
//! Texts are cleaned of terminal escapes and markup, long ones are cut with the cut recorded, and [`Launch::notes`] lists what was
//! left out. XML and streams of events are read test by test, so that only the failures are held in memory; of a JSON report, only
//! the fields that are needed.
//!
//! # Example
//!
#![doc = "```"]
#![doc = include_str!("../examples/failures.rs")]
#![doc = "```"]

mod allure;
mod attempts;
mod attributes;
mod bazel;
mod catch2;
mod clean;
mod ctest;
mod ctrf;
mod cucumber;
mod cucumber_message;
mod cucumber_messages;
mod cut;
mod damage;
mod decode;
mod detect;
mod fields;
mod foreign;
mod formats;
mod gather;
mod go_test;
mod googletest;
mod head_keys;
mod item;
mod items;
mod jest;
mod job_log;
mod json_events;
mod json_report;
mod json_span;
mod json_stream;
mod junit;
mod junit_case;
mod junit_failure;
mod junit_repeat;
mod junit_retry;
mod junit_title;
mod k6;
mod karate;
mod launch_builder;
mod libtest;
mod lines;
mod logs;
mod loose;
mod markup;
mod merge;
mod mocha;
mod mochawesome;
mod newman;
mod nunit;
mod outcome_counts;
mod part;
mod playwright;
mod playwright_blob;
mod pytest_log;
mod pytest_report;
mod reportportal;
mod rerun;
mod robot;
mod room;
mod rspec;
mod stream;
mod surrogates;
mod tap;
mod tap_diagnostics;
mod tap_lines;
mod testcafe;
mod testng;
mod texts;
mod times;
mod tree;
mod trx;
mod unique;
mod xcresult;
mod xml;
mod xunit;

#[cfg(test)]
mod tests;

pub use decode::decode;
pub use gather::{InputError, LaunchMerger, MAX_BYTES, is_not_a_launch};

use asterisk_base::model::Launch;
use asterisk_diag::{Diagnostics, Source};
use asterisk_evidence::Masker;
use part::InputPart;
use std::sync::Arc;

/// The limits of texts of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLimits {
    /// The maximum bytes of a log or an error; longer ones are cut.
    pub text: usize,
    /// The total bytes of all errors of an input: the less is left, the less an error may keep.
    pub errors: usize,
    /// The total bytes of all logs; these need not stay in memory.
    pub logs: usize,
}

impl Default for TextLimits {
    fn default() -> Self {
        Self { text: 16 << 10, errors: 32 << 20, logs: 256 << 20 }
    }
}

/// Reads a launch with secrets and personal data masked.
///
/// # Errors
/// As for [`read`].
pub fn read_masked(source: &Source, masker: &Arc<Masker>) -> Result<Launch, Diagnostics> {
    let mut gather = LaunchMerger::default().masking(Arc::clone(masker));
    gather.add(source)?;
    Ok(gather.finish())
}

/// Reads a launch. The error lists everything that is wrong with the text, each problem with its location.
pub fn read(source: &Source) -> Result<Launch, Diagnostics> {
    let mut gather = LaunchMerger::default();
    gather.add(source)?;
    Ok(gather.finish())
}
