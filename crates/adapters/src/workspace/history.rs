//! Finds the commits that gave a text its recorded form.

use super::blame;
use super::checkout::date;
use super::git::GitProgram;
use super::text::line;
use asterisk_base::environment::Variables;
use serde::Serialize;
use std::io::Write as _;
use std::path::Path;

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GitCommit {
    /// Full object name.
    pub commit: String,
    /// Commit date.
    pub date: String,
    /// Name of the author.
    pub author: String,
    /// First line of the message.
    pub subject: String,
}

/// The commits behind a line of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Committed {
    /// The latest commit that gave the file this text.
    pub version: Option<GitCommit>,
    /// The commit that last changed the line.
    pub line: Option<GitCommit>,
    /// What is missing, if anything: no git, no checkout, never committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Maximum number of commits inspected for a text.
const LIMIT: &str = "20";

/// Finds the commits behind a line (from 1) of a text that a file once had. Problems are returned as a note.
pub fn committed(variables: &Variables, file: &Path, text: &str, at: u32) -> Committed {
    let mut found = Committed::default();
    match find(variables, file, text, at, &mut found) {
        Ok(()) => {}
        Err(note) => found.note = Some(note),
    }
    found
}

fn find(variables: &Variables, file: &Path, text: &str, at: u32, found: &mut Committed) -> Result<(), String> {
    let git = GitProgram::find(variables).ok_or("git is not installed")?;
    let (Some(dir), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
        return Err("its name cannot be given to git".into());
    };
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    if !dir.is_dir() || git.line(dir, &["rev-parse", "--is-inside-work-tree"])?.as_deref() != Some("true") {
        return Err("it is not in a git checkout".into());
    }
    // git computes the object name of files only.
    let mut copy = tempfile::NamedTempFile::new().map_err(|error| format!("no temporary file: {error}"))?;
    copy.write_all(text.as_bytes()).map_err(|error| format!("no temporary file: {error}"))?;
    let path = copy.path().to_str().ok_or("no temporary file")?;
    let blob = git.line(dir, &["hash-object", "--no-filters", "--", path])?.ok_or("git cannot hash the text")?;
    let find = format!("--find-object={blob}");
    let format = "--format=%H%x00%ct%x00%an%x00%s";
    let output = git.run(dir, &["log", "-n", LIMIT, &find, format, "HEAD", "--", name])?;
    let output = String::from_utf8_lossy(&output.text).into_owned();
    for row in output.lines() {
        let [commit, seconds, author, subject] = row.split('\0').collect::<Vec<_>>()[..] else { continue };
        // The log also contains commits that removed the text.
        let there = git.line(dir, &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{commit}:./{name}")])?;
        if there.as_deref() == Some(&blob) {
            let (author, subject) = (line(author), line(subject));
            found.version = Some(GitCommit { commit: commit.to_owned(), date: date(seconds), author, subject });
            break;
        }
    }
    let Some(version) = &found.version else { return Err("this text was never committed".into()) };
    found.line = blame::line_of(&git, dir, &version.commit, name, at)?.map(|of| {
        let text = |key: &str| of[key].as_str().unwrap_or_default().to_owned();
        GitCommit { commit: text("commit"), date: text("date"), author: text("author"), subject: text("subject") }
    });
    Ok(())
}
