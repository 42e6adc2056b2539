//! Writes a report into the directory of its run.

use super::issues::issues;
use super::{RunReport, html, markdown, over_time};
use asterisk_diag::Diagnostic;
use asterisk_files::OutDir;
use std::io::{self, Write};

/// The files of a report, as written to disk and printed by `asterisk report`.
#[derive(Debug)]
pub struct Pages<'r> {
    report: &'r RunReport,
    /// File name below the run's directory, and content.
    files: Vec<(String, FileContent)>,
}

/// Content of a file.
#[derive(Debug)]
enum FileContent {
    /// The report data as JSON.
    Data,
    /// The report as Markdown.
    Markdown,
    /// A rendered text of bounded size.
    Text(String),
}

impl<'r> Pages<'r> {
    /// All files of a report. Those that cover every case are rendered when they are written.
    pub fn of(report: &'r RunReport) -> Result<Self, Box<Diagnostic>> {
        let page = FileContent::Text(html(report)?);
        let mut files = vec![("rca.json".to_owned(), FileContent::Data), ("report.html".to_owned(), page)];
        files.push(("report.md".to_owned(), FileContent::Markdown));
        files.extend(over_time(report).map(|text| ("regression-report.md".to_owned(), FileContent::Text(text))));
        files.extend(issues(report)?.into_iter().map(|(name, text)| (name, FileContent::Text(text))));
        Ok(Self { report, files })
    }

    /// The file names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(name, _)| name.as_str())
    }

    /// Writes the content of a file to `out`; does nothing if the file does not exist.
    pub fn print(&self, name: &str, out: &mut dyn Write) -> io::Result<()> {
        let page = self.files.iter().find(|(known, _)| known == name);
        page.map_or(Ok(()), |(_, page)| self.fill(page, out))
    }

    /// Writes all files.
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
