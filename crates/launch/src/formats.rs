//! The table of formats: how each is recognised by its first bytes, and its reader.

use super::head_keys::HeadKeys;
use super::launch_builder::LaunchBuilder;
use super::room::TextRoom;
use super::{
    InputPart, allure, bazel, catch2, ctest, ctrf, cucumber, cucumber_messages, go_test, googletest, jest, job_log, junit, k6,
    karate, libtest, mocha, mochawesome, newman, nunit, playwright, playwright_blob, pytest_log, pytest_report, reportportal,
    robot, rspec, surrogates, tap, testcafe, testng, trx, xcresult, xunit,
};
use asterisk_diag::counted;
use asterisk_diag::{Diagnostics, Source};
use serde_json::Value;
use std::io::BufRead;

/// All formats; of several that fit, the first counts.
static FORMATS: [LaunchFormat; 32] = [
    &reportportal::FORMAT,
    &junit::FORMAT,
    &trx::FORMAT,
    &nunit::FORMAT_2,
    &nunit::FORMAT_3,
    &xunit::FORMAT,
    &testng::FORMAT,
    &robot::FORMAT,
    &allure::FORMAT,
    &go_test::FORMAT,
    &libtest::FORMAT,
    &tap::FORMAT,
    &jest::FORMAT,
    &playwright::FORMAT,
    &mocha::FORMAT,
    &mochawesome::FORMAT,
    &googletest::FORMAT,
    &pytest_report::FORMAT,
    &pytest_log::FORMAT,
    &ctest::FORMAT,
    &catch2::FORMAT,
    &cucumber::FORMAT,
    &cucumber_messages::FORMAT,
    &rspec::FORMAT,
    &playwright_blob::FORMAT,
    &bazel::FORMAT,
    &xcresult::FORMAT,
    &ctrf::FORMAT,
    &k6::FORMAT,
    &newman::FORMAT,
    &testcafe::FORMAT,
    &karate::FORMAT,
];

/// The reader of XML that no row of the table recognises: its errors say what the document looks like.
pub(super) const OTHER_XML: LaunchFormat = &junit::FORMAT;

/// The reader of JSON that no row of the table recognises.
pub(super) const OTHER_JSON: LaunchFormat = &reportportal::FORMAT;

/// The reader of what a job printed, which no single line shows: the CI system or the output of tools.
pub(super) const JOB_LOG: LaunchFormat = &job_log::FORMAT;

/// A row of the table.
pub(super) type LaunchFormat = &'static FormatRow;

/// A format of test reports.
#[derive(Debug)]
pub(super) struct FormatRow {
    /// Its name in reports.
    pub(super) name: &'static str,
    /// How it is recognised: one of these suffices.
    pub(super) signs: &'static [FormatSign],
    /// Whether its texts are JSON, where escapes may be halves of surrogate pairs.
    pub(super) is_json: bool,
    pub(super) read: fn(ReportInput<'_>) -> Result<InputPart, Diagnostics>,
}

/// A property of the first bytes of a format. In a list of keys or attributes, `a|b` means `a` or `b`.
#[derive(Debug)]
pub(super) enum FormatSign {
    /// The root element of XML, and attributes that it has.
    Root(&'static str, &'static [&'static str]),
    /// A JSON object with these keys, at most two levels deep: `stats.passes`. Lists stand for their first element.
    Keys(&'static [&'static str]),
    /// A JSON list whose first element has these keys.
    Element(&'static [&'static str]),
    /// A line that is a JSON object.
    Event(fn(&Value) -> bool),
    /// A line of text, without blanks at its ends.
    Line(fn(&[u8]) -> bool),
}

impl FormatSign {
    fn is_root(&self, element: &str, attributes: &[String]) -> bool {
        let has = |names: &&str| names.split('|').any(|name| attributes.iter().any(|attribute| attribute == name));
        matches!(self, Self::Root(root, wanted) if *root == element && wanted.iter().all(has))
    }

    fn is_json(&self, keys: &HeadKeys) -> bool {
        match self {
            Self::Keys(wanted) => !keys.is_list && keys.has_all(wanted),
            Self::Element(wanted) => keys.is_list && keys.has_all(wanted),
            _ => false,
        }
    }
}

fn find(fits: impl Fn(&FormatSign) -> bool) -> Option<LaunchFormat> {
    FORMATS.into_iter().find(|format| format.signs.iter().any(&fits))
}

/// The format of XML with this root element.
pub(super) fn of_root(element: &str, attributes: &[String]) -> Option<LaunchFormat> {
    find(|sign| sign.is_root(element, attributes))
}

/// The format of a JSON object or list with these keys.
pub(super) fn of_keys(keys: &HeadKeys) -> Option<LaunchFormat> {
    find(|sign| sign.is_json(keys))
}

/// The format that has this JSON object as a line.
pub(super) fn of_event(event: &Value) -> Option<LaunchFormat> {
    find(|sign| matches!(sign, FormatSign::Event(fits) if fits(event)))
}

/// The format that has this line of text.
pub(super) fn of_line(line: &[u8]) -> Option<LaunchFormat> {
    find(|sign| matches!(sign, FormatSign::Line(fits) if fits(line)))
}

/// What a reader gets.
pub(super) struct ReportInput<'i> {
    /// The bytes after a byte order mark.
    pub(super) stream: &'i mut dyn BufRead,
    /// The same text if it is in memory, else empty: then an error may be empty, and the text is read to get its message.
    pub(super) source: &'i Source,
    pub(super) room: &'i TextRoom,
    pub(super) format: LaunchFormat,
}

impl<'i> ReportInput<'i> {
    /// An empty launch of this format.
    pub(super) fn builder(&self) -> LaunchBuilder {
        LaunchBuilder::new(self.room, self.format.name)
    }

    /// Whether the text is in memory.
    pub(super) fn is_held(&self) -> bool {
        !self.source.text().is_empty()
    }

    /// The text, if it is in memory.
    pub(super) fn into_held(self) -> Option<&'i Source> {
        self.is_held().then_some(self.source)
    }
}

/// Reads a text in memory.
pub(super) fn read(format: LaunchFormat, source: &Source, room: &TextRoom) -> Result<InputPart, Diagnostics> {
    let Some((text, count)) = format.is_json.then(|| surrogates::replace_lone(source.text())).flatten() else {
        return read_text(format, source, room);
    };
    let mut part = read_text(format, &Source::new(source.name(), text), room)?;
    let what = counted(count, "escape is half of a surrogate pair", "escapes are halves of surrogate pairs");
    part.launch.notes.push(format!("{what}; replaced by `\u{fffd}`"));
    Ok(part)
}

fn read_text(format: LaunchFormat, source: &Source, room: &TextRoom) -> Result<InputPart, Diagnostics> {
    let mut stream = source.text().trim_start_matches('\u{feff}').as_bytes();
    (format.read)(ReportInput { stream: &mut stream, source, room, format })
}

/// Reads a stream; `source` has its name and no text.
pub(super) fn read_stream(
    format: LaunchFormat,
    stream: &mut dyn BufRead,
    source: &Source,
    room: &TextRoom,
) -> Result<InputPart, Diagnostics> {
    (format.read)(ReportInput { stream, source, room, format })
}
