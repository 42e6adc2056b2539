//! Writing a report into the directory of its run.

use super::{Report, markdown};
use crate::files::OutDir;
use std::io;
use std::path::PathBuf;

/// Writes `report.md` and `rca.json`; returns the path of the former.
pub fn write(report: &Report, dir: &OutDir) -> io::Result<PathBuf> {
    let mut json = serde_json::to_string_pretty(report)?;
    json.push('\n');
    dir.write("rca.json", &json)?;
    dir.write("report.md", &markdown(report))
}
