//! The auditor's log: JSON lines, each with the hash of the one before it, for the eyes of its owner alone and only ever appended to.

use crate::model::{Hash, canonical};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long another process may hold the log.
const LOCK_TIME: Duration = Duration::from_secs(5);
/// What the first entry follows.
const BEGINNING: &str = "";

/// The head of a log: how many entries it has, and the hash of the last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditHead {
    pub entries: u64,
    pub hash: String,
}

/// Where a log is broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BrokenLink {
    /// The line, from 1.
    pub line: u64,
    pub why: String,
}

/// A log that is being written.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    file: File,
    head: AuditHead,
    /// How much of the file was read.
    read: u64,
    /// The entries so far, by run, case, step and place in the step: the hashes of what they say.
    said: HashMap<String, Hash>,
}

/// What an entry says, and of which turn.
pub(super) struct NewEntry<'a> {
    pub(super) key: String,
    pub(super) at: String,
    pub(super) kind: &'a str,
    pub(super) body: Value,
}

impl AuditLog {
    /// Opens a log, or makes one. `each` is given what every entry says. A line that was not written to its end was never acknowledged, and
    /// goes, unless only its end of line is missing. A log that is broken, or that others may read or write, is an error.
    pub fn open(path: &Path, mut each: impl FnMut(&Value)) -> io::Result<Self> {
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir)?;
        }
        if path.is_symlink() {
            return Err(io::Error::other("it is a link"));
        }
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let file = options.open(path)?;
        check_private(&file)?;
        let path = path.canonicalize()?;
        let mut log = Self { path, file, head: AuditHead::default(), read: 0, said: HashMap::new() };
        log.locked(|log| log.catch_up(&mut each))?;
        Ok(log)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn head(&self) -> &AuditHead {
        &self.head
    }

    /// Whether it has an entry of a turn that says this.
    pub(super) fn says(&self, key: &str, body: &Value) -> bool {
        self.said.get(key).is_some_and(|said| *said == Hash::of_json(body))
    }

    /// Whether it has an entry of a turn.
    pub(super) fn has(&self, key: &str) -> bool {
        self.said.contains_key(key)
    }

    /// Appends entries, but for those that are there already: a step that is taken again after the program was killed.
    pub(super) fn append(&mut self, entries: Vec<NewEntry<'_>>) -> io::Result<()> {
        self.locked(|log| {
            log.catch_up(&mut |_| {})?;
            let mut text = String::new();
            let (mut head, mut new) = (log.head.clone(), Vec::new());
            for NewEntry { key, at, kind, body } in entries {
                let said = Hash::of_json(&body);
                if log.said.get(&key) == Some(&said) {
                    continue;
                }
                let mut entry = json!({
                    "n": head.entries + 1, "at": at, "turn": key, "kind": kind, "body": body, "prev": head.hash,
                });
                let hash = Hash::of_json(&entry).to_string();
                entry["hash"] = json!(hash);
                text.push_str(&entry.to_string());
                text.push('\n');
                head = AuditHead { entries: head.entries + 1, hash };
                new.push((key, said));
            }
            if new.is_empty() {
                return Ok(());
            }
            log.file.write_all(text.as_bytes())?;
            log.file.sync_data()?;
            log.read += text.len() as u64;
            log.head = head;
            log.said.extend(new);
            Ok(())
        })
    }

    /// Does something while no other process writes.
    fn locked<T>(&mut self, body: impl FnOnce(&mut Self) -> io::Result<T>) -> io::Result<T> {
        let begun = Instant::now();
        loop {
            match self.file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK_TIME => std::thread::sleep(Duration::from_millis(20)),
                Err(TryLockError::WouldBlock) => {
                    let message = format!("another process has held its lock for {} s", LOCK_TIME.as_secs());
                    return Err(io::Error::other(message));
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        let done = body(self);
        let unlocked = self.file.unlock();
        let done = done?;
        unlocked?;
        Ok(done)
    }

    /// Reads what others appended meanwhile.
    fn catch_up(&mut self, each: &mut dyn FnMut(&Value)) -> io::Result<()> {
        if !is_same(&std::fs::symlink_metadata(&self.path), &self.file.metadata()?) {
            return Err(io::Error::other("it was removed or replaced"));
        }
        check_private(&self.file)?;
        self.file.seek(SeekFrom::Start(self.read))?;
        let mut reader = BufReader::new(&self.file);
        let mut line = String::new();
        let (mut torn, mut unended) = (false, false);
        loop {
            line.clear();
            let bytes = reader.read_line(&mut line)?;
            if bytes == 0 {
                break;
            }
            let whole = line.strip_suffix('\n');
            let entry = match (link(whole.unwrap_or(&line), &self.head), whole) {
                (Ok(entry), Some(_)) => entry,
                (Ok(entry), None) => {
                    unended = true;
                    entry
                }
                (Err(_), None) => {
                    torn = true;
                    break;
                }
                (Err(why), Some(_)) => return Err(io::Error::other(format!("line {}: {why}", self.head.entries + 1))),
            };
            self.head = AuditHead { entries: self.head.entries + 1, hash: text_of(&entry, "hash").to_owned() };
            self.said.insert(text_of(&entry, "turn").to_owned(), Hash::of_json(&entry["body"]));
            self.read += bytes as u64;
            each(&entry);
        }
        drop(reader);
        if torn {
            self.file.set_len(self.read)?;
        }
        if unended {
            self.file.write_all(b"\n")?;
            self.read += 1;
        }
        if self.file.metadata()?.len() < self.read {
            return Err(io::Error::other("it is shorter than it was"));
        }
        Ok(())
    }
}

/// Verifies a log from its beginning: the number of its entries and the last hash, or the first line that is broken. `each` is given every
/// entry that is whole.
pub fn verify(path: &Path, mut each: impl FnMut(&Value)) -> io::Result<Result<AuditHead, BrokenLink>> {
    let file = File::open(path)?;
    if let Err(error) = check_private(&file) {
        return Ok(Err(BrokenLink { line: 0, why: error.to_string() }));
    }
    let mut head = AuditHead::default();
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(Ok(head));
        }
        let whole = line.strip_suffix(b"\n").ok_or_else(|| "its end is missing".to_owned());
        let text = whole.and_then(|line| std::str::from_utf8(line).map_err(|_| "it is no text".to_owned()));
        match text.and_then(|text| link(text, &head)) {
            Ok(entry) => {
                each(&entry);
                head = AuditHead { entries: head.entries + 1, hash: text_of(&entry, "hash").to_owned() };
            }
            Err(why) => return Ok(Err(BrokenLink { line: head.entries + 1, why })),
        }
    }
}

/// Reads an entry that follows a head.
fn link(line: &str, head: &AuditHead) -> Result<Value, String> {
    let mut entry: Value = serde_json::from_str(line).map_err(|_| "it is no JSON".to_owned())?;
    if entry["n"].as_u64() != Some(head.entries + 1) {
        return Err(format!("it has the number {}, not {}", entry["n"], head.entries + 1));
    }
    let before = if head.entries == 0 { BEGINNING } else { &head.hash };
    if entry["prev"] != before {
        return Err("it does not follow the line before it".to_owned());
    }
    // Nothing but what was written reads as itself: no other spaces, order or doubled keys.
    if canonical(&entry) != line {
        return Err("it is not written as it was".to_owned());
    }
    let hash = entry.as_object_mut().and_then(|entry| entry.remove("hash")).unwrap_or_default();
    if hash != json!(Hash::of_json(&entry).to_string()) {
        return Err("what it says is not what was written".to_owned());
    }
    entry["hash"] = hash;
    Ok(entry)
}

fn text_of<'v>(entry: &'v Value, name: &str) -> &'v str {
    entry[name].as_str().unwrap_or_default()
}

/// Whether the file at a path is the one that is open.
#[cfg(unix)]
fn is_same(there: &io::Result<Metadata>, open: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    there.as_ref().is_ok_and(|there| (there.dev(), there.ino(), there.len()) == (open.dev(), open.ino(), open.len()))
}

#[cfg(not(unix))]
fn is_same(there: &io::Result<Metadata>, open: &Metadata) -> bool {
    there.as_ref().is_ok_and(|there| there.len() == open.len())
}

#[cfg(unix)]
fn check_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = file.metadata()?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(io::Error::other(format!("others may use it (mode {mode:03o}): `chmod 600` it")));
    }
    Ok(())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it has the form that it has on Unix")]
fn check_private(_file: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn entry(key: &str, said: i64) -> NewEntry<'static> {
        NewEntry { key: key.into(), at: "2026-01-01T00:00:00Z".into(), kind: "message", body: json!({ "said": said }) }
    }

    fn written(path: &Path) -> AuditHead {
        let mut log = AuditLog::open(path, |_| {}).unwrap();
        log.append(vec![entry("a", 1), entry("b", 2)]).unwrap();
        log.append(vec![entry("c", 3)]).unwrap();
        log.head().clone()
    }

    #[test]
    fn every_change_is_seen_at_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        let head = written(&path);
        assert_eq!(verify(&path, |_| {}).unwrap(), Ok(head));
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let broken = |lines: &[&str]| {
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            verify(&path, |_| {}).unwrap().map_err(|broken| broken.line).unwrap_err()
        };
        let edited = lines[1].replace("\"said\":2", "\"said\":9");
        assert_eq!(broken(&[lines[0], &edited, lines[2]]), 2);
        assert_eq!(broken(&[lines[0], lines[2]]), 2);
        assert_eq!(broken(&[lines[1], lines[2]]), 1);
        assert_eq!(broken(&[lines[0], lines[1], "x"]), 3);
        // The same to a reader of JSON, but not what was written.
        for other in [format!(" {}", lines[1]), format!("{}\r", lines[1]), lines[1].replacen('{', "{\"at\":\"1999\",", 1)] {
            assert_eq!(broken(&[lines[0], &other, lines[2]]), 2);
        }
        std::fs::write(&path, text.trim_end()).unwrap();
        assert_eq!(verify(&path, |_| {}).unwrap().map_err(|broken| broken.line), Err(3));
        assert_eq!(AuditLog::open(&path, |_| {}).unwrap().head().entries, 3);
        assert!(verify(&path, |_| {}).unwrap().is_ok());
        broken(&[lines[0], lines[1], "x"]);
        assert!(AuditLog::open(&path, |_| {}).unwrap_err().to_string().contains("line 3"));
    }

    #[test]
    fn a_step_taken_again_says_nothing_new_and_a_torn_line_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        let head = written(&path);
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"n\":4").unwrap();
        let mut log = AuditLog::open(&path, |_| {}).unwrap();
        log.append(vec![entry("a", 1), entry("c", 3)]).unwrap();
        assert_eq!(log.head(), &head);
        log.append(vec![entry("c", 4)]).unwrap();
        assert_eq!(verify(&path, |_| {}).unwrap(), Ok(AuditHead { entries: 4, hash: log.head().hash.clone() }));
    }

    #[cfg(unix)]
    #[test]
    fn what_happens_to_the_file_meanwhile_is_seen() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        written(&path);
        let append = |log: &mut AuditLog| log.append(vec![entry("d", 4)]).map_err(|error| error.to_string());
        let mut log = AuditLog::open(&path, |_| {}).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert!(append(&mut log).unwrap_err().contains("666"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::copy(&path, dir.path().join("copy")).unwrap();
        std::fs::rename(dir.path().join("copy"), &path).unwrap();
        assert!(append(&mut log).unwrap_err().contains("replaced"));
        // Held by another process.
        let mut log = AuditLog::open(&path, |_| {}).unwrap();
        let other = File::open(&path).unwrap();
        other.lock().unwrap();
        assert!(append(&mut log).unwrap_err().contains("lock"));
        other.unlock().unwrap();
        append(&mut log).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn it_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        written(&path);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(AuditLog::open(&path, |_| {}).is_err());
        assert!(verify(&path, |_| {}).unwrap().is_err());
    }
}
