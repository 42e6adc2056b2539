//! Dispatches to the reader of each format.

use super::detect::LaunchFormat;
use super::room::TextRoom;
use super::{
    InputPart, allure, go_test, job_log, junit, libtest, nunit, reportportal, robot, surrogates, tap, testng, trx, xunit,
};
use asterisk_diag::counted;
use asterisk_diag::{Diagnostics, Source};
use std::io::BufRead;

/// Reads a text in memory.
pub(super) fn read(format: LaunchFormat, source: &Source, room: &TextRoom) -> Result<InputPart, Diagnostics> {
    let is_json =
        matches!(format, LaunchFormat::ReportPortal | LaunchFormat::Allure | LaunchFormat::GoTest | LaunchFormat::Libtest);
    let Some((text, count)) = is_json.then(|| surrogates::replace_lone(source.text())).flatten() else {
        return read_text(format, source, room);
    };
    let mut part = read_text(format, &Source::new(source.name(), text), room)?;
    let what = counted(count, "escape is half of a surrogate pair", "escapes are halves of surrogate pairs");
    part.launch.notes.push(format!("{what}; replaced by `\u{fffd}`"));
    Ok(part)
}

fn read_text(format: LaunchFormat, source: &Source, room: &TextRoom) -> Result<InputPart, Diagnostics> {
    match format {
        LaunchFormat::ReportPortal => reportportal::read(source, room),
        LaunchFormat::Allure => allure::read(source),
        _ => read_stream(format, source.text().trim_start_matches('\u{feff}').as_bytes(), source, room),
    }
}

/// Reads a stream; `source` is its text if in memory, else empty. An error may be empty: then the text is needed for a message.
pub(super) fn read_stream(
    format: LaunchFormat,
    mut input: impl BufRead,
    source: &Source,
    room: &TextRoom,
) -> Result<InputPart, Diagnostics> {
    match format {
        LaunchFormat::ReportPortal => reportportal::read_stream(source, &mut input, room),
        LaunchFormat::Junit => junit::read(input, source, room),
        LaunchFormat::Trx => trx::read(input, source, room),
        LaunchFormat::Nunit2 | LaunchFormat::Nunit3 => nunit::read(format, input, source, room),
        LaunchFormat::Xunit => xunit::read(input, source, room),
        LaunchFormat::Testng => testng::read(input, source, room),
        LaunchFormat::Robot => robot::read(input, source, room),
        // The file of one test is never this large.
        LaunchFormat::Allure => Err(Diagnostics::new()),
        LaunchFormat::GoTest => go_test::read(input, source, room),
        LaunchFormat::Libtest => libtest::read(input, source, room),
        LaunchFormat::Tap => tap::read(input, source, room),
        LaunchFormat::JobLog => job_log::read(input, source, room),
    }
}
