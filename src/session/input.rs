//! The launch to analyse, from files and directories.

use super::SessionError;
use crate::diag::{Diagnostic, Diagnostics};
use crate::evidence::Masker;
use crate::files::{FileError, InputFile, list_inputs};
use crate::ingest::{InputError, LaunchMerger, TextLimits, is_no_launch};
use crate::model::Launch;
use std::path::PathBuf;
use std::sync::Arc;

/// The most files that a note on ignored files names.
const MAX_NAMED: usize = 5;

/// Reads all of them as one launch. A file that was named must be a launch; of those found in a directory, others are skipped
/// with a note. A launch that is damaged is an error either way: its failures would be missed.
pub(super) fn launch(paths: &[PathBuf], masker: &Arc<Masker>) -> Result<Launch, SessionError> {
    let listed = list_inputs(paths)?;
    let mut gather = LaunchMerger::new(TextLimits::default()).masking(Arc::clone(masker));
    let mut found = Diagnostics::new();
    let mut others = Vec::new();
    let mut gaps = listed.gaps;
    for input in &listed.inputs {
        match gather.add_input(&input.name, input.size, || input.open()) {
            Ok(()) => {}
            Err(InputError::Io(error)) if input.below => gaps.push(format!("`{}` cannot be read ({error})", input.name)),
            Err(InputError::Io(source)) => return Err(FileError::Io { path: input.path.clone(), source }.into()),
            Err(InputError::Wrong(wrong)) if input.below && is_no_launch(&wrong) => others.push(other(input, &wrong)),
            Err(InputError::Wrong(wrong)) => found.extend(wrong),
        }
    }
    if found.is_empty() && gather.is_empty() {
        let dirs: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
        let help = if !gaps.is_empty() {
            gaps.truncate(MAX_NAMED);
            gaps.join("; ")
        } else if others.is_empty() {
            "launches are `.xml`, `.json`, `.jsonl`, `.ndjson`, `.trx` and `.tap` files; hidden files and directories are passed over".to_owned()
        } else {
            format!("what is there is none: {}", shortened(std::mem::take(&mut others)).join("; "))
        };
        let message = format!("there is no launch in {}", dirs.join(", "));
        found.push(Diagnostic::error("input/nothing", message).help(help));
    }
    let mut launch = found.into_result(gather.finish())?;
    launch.notes.extend(listed.notes);
    for gap in gaps {
        launch.gap(gap);
    }
    launch.notes.extend(shortened(others).into_iter().map(|other| format!("left out: {other}")));
    Ok(launch)
}

/// Describes what a file is instead of a launch.
fn other(input: &InputFile, wrong: &Diagnostics) -> String {
    wrong.iter().next().map_or_else(|| input.name.clone(), |first| first.message.clone())
}

fn shortened(mut names: Vec<String>) -> Vec<String> {
    let more = names.len().saturating_sub(MAX_NAMED);
    names.truncate(MAX_NAMED);
    if more > 0 {
        names.push(format!("{more} more files that are no launch"));
    }
    names
}
