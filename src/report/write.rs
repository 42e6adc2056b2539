//! Writing a report into the directory of its run.

use super::issues::issues;
use super::{Report, html, markdown, over_time};
use crate::diag::Diagnostic;
use crate::files::OutDir;
use std::io;

/// The files of a report, in memory: what is written, and what `asterisk report` prints.
#[derive(Clone, Debug)]
pub struct Pages {
    /// Name below the run's directory, and text.
    files: Vec<(String, String)>,
}

impl Pages {
    /// All files of a report.
    pub fn of(report: &Report) -> Result<Self, Box<Diagnostic>> {
        let mut json = serde_json::to_string_pretty(report).unwrap_or_default();
        json.push('\n');
        let mut files = vec![("rca.json", json), ("report.html", html(report)?), ("report.md", markdown(report))];
        files.extend(over_time(report).map(|text| ("regression-report.md", text)));
        let mut files: Vec<(String, String)> = files.into_iter().map(|(name, text)| (name.to_owned(), text)).collect();
        files.extend(issues(report)?);
        Ok(Self { files })
    }

    /// The text of the file of that name.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.files.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }

    /// The names of the files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(name, _)| name.as_str())
    }

    /// Writes all of them.
    pub fn write(&self, dir: &OutDir) -> io::Result<()> {
        self.files.iter().try_for_each(|(name, text)| dir.write(name, text).map(drop))
    }
}
