//! Reads a report that is a stream of JSON objects, one on each line.

use super::launch_builder::LaunchBuilder;
use super::lines::LineReader;
use asterisk_diag::Diagnostics;
use serde::de::DeserializeOwned;
use std::io::BufRead;

/// Passes the events of a stream to `take`; other lines are skipped, and a damaged event is noted. Returns the number of the line in
/// which the stream is cut off, if it is.
pub(super) fn read<T: DeserializeOwned>(
    stream: impl BufRead,
    builder: &mut LaunchBuilder,
    mut take: impl FnMut(T, &mut LaunchBuilder),
) -> Result<Option<usize>, Diagnostics> {
    let mut lines = LineReader::new(stream);
    let mut cut = None;
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        if !text.starts_with('{') {
            continue;
        }
        match serde_json::from_str(text) {
            Ok(event) => take(event, builder),
            Err(_) if !line.is_whole => cut = Some(line.number),
            Err(error) => builder.damage.add(line.number, format!("the event could not be read: {error}")),
        }
    }
    Ok(cut)
}
