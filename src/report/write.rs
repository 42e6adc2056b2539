//! Writing a report into the directory of its run.

use super::issues::issues;
use super::{RunReport, html, markdown, over_time};
use crate::diag::Diagnostic;
use crate::files::OutDir;
use std::io::{self, Write};

/// The files of a report: what is written, and what `asterisk report` prints.
#[derive(Debug)]
pub struct Pages<'r> {
    report: &'r RunReport,
    /// Name below the run's directory, and what it holds.
    files: Vec<(String, FileContent)>,
}

/// What a file holds.
#[derive(Debug)]
enum FileContent {
    /// The data, as JSON.
    Data,
    /// The report as Markdown.
    Markdown,
    /// This text, which is bounded.
    Text(String),
}

impl<'r> Pages<'r> {
    /// All files of a report. Those that tell of every case are made when they are written.
    pub fn of(report: &'r RunReport) -> Result<Self, Box<Diagnostic>> {
        let page = FileContent::Text(html(report)?);
        let mut files = vec![("rca.json".to_owned(), FileContent::Data), ("report.html".to_owned(), page)];
        files.push(("report.md".to_owned(), FileContent::Markdown));
        files.extend(over_time(report).map(|text| ("regression-report.md".to_owned(), FileContent::Text(text))));
        files.extend(issues(report)?.into_iter().map(|(name, text)| (name, FileContent::Text(text))));
        Ok(Self { report, files })
    }

    /// The names of the files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(name, _)| name.as_str())
    }

    /// Writes the text of the file of that name, if there is one.
    pub fn print(&self, name: &str, out: &mut dyn Write) -> io::Result<()> {
        let page = self.files.iter().find(|(known, _)| known == name);
        page.map_or(Ok(()), |(_, page)| self.fill(page, out))
    }

    /// Writes all of them.
    pub fn write(&self, dir: &OutDir) -> io::Result<()> {
        self.files.iter().try_for_each(|(name, page)| dir.write_with(name, |out| self.fill(page, out)).map(drop))
    }

    fn fill(&self, page: &FileContent, out: &mut dyn Write) -> io::Result<()> {
        match page {
            FileContent::Data => {
                serde_json::to_writer_pretty(&mut *out, self.report)?;
                out.write_all(b"\n")
            }
            FileContent::Markdown => markdown(self.report, out),
            FileContent::Text(text) => out.write_all(text.as_bytes()),
        }
    }
}
