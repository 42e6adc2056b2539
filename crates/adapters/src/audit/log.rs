//! The auditor's log: JSON lines, each with the hash of the one before it, for the eyes of its owner alone and only ever appended to. When a
//! run begins and the file is long, it is put to the older ones, and a new one begins with what the auditor knows: so no start reads the log as
//! a whole, and the chain goes on over all files.

use asterisk_base::model::{Hash, canonical};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long another process may hold the log.
const LOCK_TIME: Duration = Duration::from_secs(5);
/// What the first entry follows.
const BEGINNING: &str = "";
/// A longer file ends when the next run begins.
const LONG: u64 = 256 << 10;
/// The kind of the entry that a file begins with, but for the first: what the auditor knew then.
pub const KNOWN: &str = "known";

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
    /// The file at the path: the end of the log. What came before it is in older files.
    file: File,
    /// The number of the first entry of the file.
    first: u64,
    /// How much of the file was read.
    read: u64,
    head: AuditHead,
    /// When the last entry was written.
    last: String,
    /// What the turns of the run begin with that writes.
    own: String,
    /// The entries of the run, by case, step and place in the step: the hashes of what they say.
    said: HashMap<String, Hash>,
}

/// What an entry says, and of which turn.
pub(super) struct NewEntry<'a> {
    pub(super) key: String,
    pub(super) at: String,
    pub(super) kind: &'a str,
    pub(super) body: Value,
}

/// Reads a log that is opened.
pub(super) trait LogReader {
    /// Takes the next entry.
    fn read(&mut self, entry: &Value);
    /// The state after all entries, with which a new file begins; `None` if none is needed. `long`: the file has reached its size
    /// limit.
    fn known(&self, long: bool) -> Option<Value>;
}

impl<F: FnMut(&Value)> LogReader for F {
    fn read(&mut self, entry: &Value) {
        self(entry);
    }

    fn known(&self, _: bool) -> Option<Value> {
        None
    }
}

impl AuditLog {
    /// Opens a log, or creates one, and reads it from the last file on that begins with a known state ([`KNOWN`]) and has all
    /// entries after the first `since`. A line that was not written to completion was never acknowledged, and goes, unless only
    /// its end of line is missing. A log that is broken, or that others may read or write, is an error. `own` is what the turns
    /// of the run begin with that writes.
    pub(super) fn open(path: &Path, own: &str, since: u64, reader: &mut dyn LogReader) -> io::Result<Self> {
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir)?;
        }
        if path.is_symlink() {
            return Err(io::Error::other("it is a link"));
        }
        let file = locked_at(path)?;
        let path = path.canonicalize()?;
        let (head, own) = (AuditHead::default(), own.to_owned());
        let mut log = Self { path, file, first: 1, read: 0, head, last: String::new(), own, said: HashMap::new() };
        let begun = log.begin(since, reader);
        log.unlocked(begun)?;
        Ok(log)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn head(&self) -> &AuditHead {
        &self.head
    }

    /// Whether it has an entry of a turn of the run that says this.
    pub(super) fn says(&self, key: &str, body: &Value) -> bool {
        self.said.get(key).is_some_and(|said| *said == Hash::of_json(body))
    }

    /// Whether it has an entry of a turn of the run.
    pub(super) fn has(&self, key: &str) -> bool {
        self.said.contains_key(key)
    }

    /// Appends entries, but for those that are there already: a step that is taken again after the program was killed.
    pub(super) fn append(&mut self, entries: Vec<NewEntry<'_>>) -> io::Result<()> {
        self.locked(|log| {
            log.catch_up(&mut |_: &Value| {})?;
            let new = entries.into_iter().filter(|entry| !log.says(&entry.key, &entry.body)).collect();
            log.write(new)
        })
    }

    fn write(&mut self, entries: Vec<NewEntry<'_>>) -> io::Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        let (mut head, mut last, mut new) = (self.head.clone(), String::new(), Vec::new());
        for NewEntry { key, at, kind, body } in entries {
            let said = Hash::of_json(&body);
            let mut entry = json!({
                "n": head.entries + 1, "at": at, "turn": key, "kind": kind, "body": body, "prev": head.hash,
            });
            let hash = Hash::of_json(&entry).to_string();
            entry["hash"] = json!(hash);
            text.push_str(&entry.to_string());
            text.push('\n');
            head = AuditHead { entries: head.entries + 1, hash };
            last = at;
            new.push((key, said));
        }
        self.file.write_all(text.as_bytes())?;
        self.file.sync_data()?;
        self.read += text.len() as u64;
        (self.head, self.last) = (head, last);
        self.said.extend(new);
        Ok(())
    }

    /// Does something while no other process writes.
    fn locked<T>(&mut self, body: impl FnOnce(&mut Self) -> io::Result<T>) -> io::Result<T> {
        lock(&self.file)?;
        let current = self
            .file
            .metadata()
            .and_then(|open| if is_same(&fs::symlink_metadata(&self.path), &open) { Ok(()) } else { self.follow(&open) });
        let done = current.and_then(|()| body(self));
        self.unlocked(done)
    }

    fn unlocked<T>(&self, done: io::Result<T>) -> io::Result<T> {
        let unlocked = self.file.unlock();
        let done = done?;
        unlocked.map(|()| done)
    }

    /// Goes on with the file that another process has begun.
    fn follow(&mut self, open: &Metadata) -> io::Result<()> {
        if !older(&self.path)?.iter().any(|(_, file)| is_same(&fs::symlink_metadata(file), open)) {
            return Err(io::Error::other("it was removed or replaced"));
        }
        self.read_on(&mut |_: &Value| {})?;
        self.go_on()
    }

    /// Opens and locks the file at the path, when the one before it was read. Dropping that unlocks it.
    fn go_on(&mut self) -> io::Result<()> {
        self.file = locked_at(&self.path)?;
        let mut older = older(&self.path)?;
        older.retain(|(first, _)| *first > self.head.entries);
        self.read_older(&older, &mut |_: &Value| {})
    }

    /// Reads older files, up to the one at the path.
    fn read_older(&mut self, files: &[(u64, PathBuf)], each: &mut dyn FnMut(&Value)) -> io::Result<()> {
        for (_, file) in files {
            if self.read_file(&File::open(file)?, each)? != EndOfFile::Whole {
                return Err(io::Error::other(format!("line {}: its end is missing", self.head.entries + 1)));
            }
        }
        (self.first, self.read) = (self.head.entries + 1, 0);
        Ok(())
    }

    /// Reads what is there, and begins a new file if the reader wants that.
    fn begin(&mut self, since: u64, reader: &mut dyn LogReader) -> io::Result<()> {
        let older = older(&self.path)?;
        let mut at = older.len();
        while at > 0 {
            let first = first_entry(older.get(at).map_or(&self.path, |(_, file)| file))?;
            if first["kind"] == KNOWN && first["n"].as_u64().is_some_and(|n| n <= since.saturating_add(1)) {
                let entries = first["n"].as_u64().unwrap_or_default().saturating_sub(1);
                self.head = AuditHead { entries, hash: text_of(&first, "prev").to_owned() };
                break;
            }
            at -= 1;
        }
        self.read_older(&older[at..], &mut |entry| reader.read(entry))?;
        self.catch_up(&mut |entry| reader.read(entry))?;
        let begins = self.read == 0 && self.head.entries > 0;
        match reader.known(begins || self.read > LONG) {
            Some(known) => self.begin_file(known),
            None => Ok(()),
        }
    }

    /// Moves the file to the older ones, and starts another with the known entries.
    fn begin_file(&mut self, known: Value) -> io::Result<()> {
        if self.read > 0 {
            let dir = older_dir(&self.path);
            make_private(&dir)?;
            let kept = dir.join(format!("{:012}.jsonl", self.first));
            if kept.exists() {
                return Err(io::Error::other(format!("`{}` already exists", kept.display())));
            }
            fs::rename(&self.path, kept)?;
            self.go_on()?;
            self.catch_up(&mut |_: &Value| {})?;
        }
        // Another process may have been faster.
        if self.read > 0 {
            return Ok(());
        }
        let at = self.last.clone();
        self.write(vec![NewEntry { key: String::new(), at, kind: KNOWN, body: known }])
    }

    /// Reads what others appended meanwhile.
    fn catch_up(&mut self, each: &mut dyn FnMut(&Value)) -> io::Result<()> {
        if !is_same(&fs::symlink_metadata(&self.path), &self.file.metadata()?) {
            return Err(io::Error::other("it was removed or replaced"));
        }
        check_private(&self.file.metadata()?)?;
        self.read_on(each)
    }

    /// Reads the rest of the file. An incomplete end goes.
    fn read_on(&mut self, each: &mut dyn FnMut(&Value)) -> io::Result<()> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(self.read))?;
        match self.read_file(&file, each)? {
            EndOfFile::Whole => {}
            EndOfFile::Torn => self.file.set_len(self.read)?,
            EndOfFile::Unended => {
                self.file.write_all(b"\n")?;
                self.read += 1;
            }
        }
        if self.file.metadata()?.len() < self.read {
            return Err(io::Error::other("it is shorter than it was"));
        }
        Ok(())
    }

    /// Reads the entries of a file from where it stands.
    fn read_file(&mut self, file: &File, each: &mut dyn FnMut(&Value)) -> io::Result<EndOfFile> {
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let bytes = reader.read_until(b'\n', &mut line)?;
            if bytes == 0 {
                return Ok(EndOfFile::Whole);
            }
            let whole = line.strip_suffix(b"\n");
            let entry = match (link(whole.unwrap_or(&line), &self.head), whole) {
                (Ok(entry), _) => entry,
                (Err(_), None) => return Ok(EndOfFile::Torn),
                (Err(why), Some(_)) => return Err(io::Error::other(format!("line {}: {why}", self.head.entries + 1))),
            };
            self.head = AuditHead { entries: self.head.entries + 1, hash: text_of(&entry, "hash").to_owned() };
            text_of(&entry, "at").clone_into(&mut self.last);
            let turn = text_of(&entry, "turn");
            if turn.starts_with(&self.own) {
                self.said.insert(turn.to_owned(), Hash::of_json(&entry["body"]));
            }
            self.read += bytes as u64;
            each(&entry);
            if whole.is_none() {
                return Ok(EndOfFile::Unended);
            }
        }
    }
}

/// How a file ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EndOfFile {
    Whole,
    /// In the middle of an entry.
    Torn,
    /// Without the end of its last line.
    Unended,
}

/// Verifies a log from its beginning: the number of its entries and the last hash, or the first line that is broken. Lines are counted over
/// all of its files. `each` is given every entry that is whole.
pub fn verify(path: &Path, mut each: impl FnMut(&Value)) -> io::Result<Result<AuditHead, BrokenLink>> {
    let mut head = AuditHead::default();
    let older = match older(path) {
        Ok(older) => older,
        Err(error) => return Ok(Err(BrokenLink { line: 0, why: error.to_string() })),
    };
    for file in older.iter().map(|(_, file)| file.as_path()).chain([path]) {
        let file = match File::open(file) {
            // The program was killed when it began another file.
            Err(error) if error.kind() == io::ErrorKind::NotFound && head.entries > 0 => break,
            file => file?,
        };
        if let Err(error) = check_private(&file.metadata()?) {
            return Ok(Err(BrokenLink { line: 0, why: error.to_string() }));
        }
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            line.clear();
            if reader.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            let whole = line.strip_suffix(b"\n").ok_or_else(|| "its end is missing".to_owned());
            match whole.and_then(|line| link(line, &head)) {
                Ok(entry) => {
                    each(&entry);
                    head = AuditHead { entries: head.entries + 1, hash: text_of(&entry, "hash").to_owned() };
                }
                Err(why) => return Ok(Err(BrokenLink { line: head.entries + 1, why })),
            }
        }
    }
    Ok(Ok(head))
}

/// Whether the file of a log, if there is one, has a name that is not known: a second link, over which others could use it.
pub fn has_other_names(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && links(&file) > 1)
}

/// The directory of the files that a log had before.
pub fn older_dir(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".d");
    name.into()
}

/// The older files of a log, oldest first, by the number of their first entry.
fn older(path: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let dir = older_dir(path);
    let entries = match fs::read_dir(&dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    if dir.is_symlink() {
        return Err(io::Error::other(format!("`{}` is a link", dir.display())));
    }
    let mut found = Vec::new();
    for entry in entries {
        let file = entry?.path();
        let name = file.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".jsonl"));
        let Some(first) = name.and_then(|name| name.parse().ok()) else { continue };
        let meta = file.symlink_metadata()?;
        let unusable = |why: &dyn std::fmt::Display| io::Error::other(format!("`{}`: {why}", file.display()));
        if !meta.is_file() {
            return Err(unusable(&"it is not a regular file"));
        }
        check_private(&meta).map_err(|why| unusable(&why))?;
        found.push((first, file));
    }
    found.sort();
    Ok(found)
}

/// The first entry of a file; null if it has none.
fn first_entry(path: &Path) -> io::Result<Value> {
    let mut line = String::new();
    BufReader::new(File::open(path)?).read_line(&mut line)?;
    Ok(serde_json::from_str(&line).unwrap_or_default())
}

/// Opens the file at a path, or makes it, and locks it.
fn locked_at(path: &Path) -> io::Result<File> {
    loop {
        let file = appended(path)?;
        check_private(&file.metadata()?)?;
        lock(&file)?;
        // Another process may have begun a new one meanwhile.
        if is_same(&fs::symlink_metadata(path), &file.metadata()?) {
            return Ok(file);
        }
    }
}

/// Opens a file to append to it, or makes it.
fn appended(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes a directory for its owner alone, unless it is there.
fn make_private(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Waits for the lock of a file.
fn lock(file: &File) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK_TIME => std::thread::sleep(Duration::from_millis(20)),
            Err(TryLockError::WouldBlock) => {
                let message = format!("another process has held its lock for {} s", LOCK_TIME.as_secs());
                return Err(io::Error::other(message));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Reads an entry that follows a head.
fn link(line: &[u8], head: &AuditHead) -> Result<Value, String> {
    let line = std::str::from_utf8(line).map_err(|_| "it is not UTF-8 text".to_owned())?;
    let mut entry: Value = serde_json::from_str(line).map_err(|_| "it is not valid JSON".to_owned())?;
    if entry["n"].as_u64() != Some(head.entries + 1) {
        return Err(format!("it has the number {}, not {}", entry["n"], head.entries + 1));
    }
    let before = if head.entries == 0 { BEGINNING } else { &head.hash };
    if entry["prev"] != before {
        return Err("it does not follow the line before it".to_owned());
    }
    // Nothing but what was written reads as itself: no other spaces, order or doubled keys.
    if canonical(&entry) != line {
        return Err("its formatting was changed".to_owned());
    }
    let hash = entry.as_object_mut().and_then(|entry| entry.remove("hash")).unwrap_or_default();
    if hash != json!(Hash::of_json(&entry).to_string()) {
        return Err("its content was changed".to_owned());
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

/// How many names a file has.
#[cfg(unix)]
fn links(file: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(file)
}

#[cfg(not(unix))]
fn links(_file: &Metadata) -> u64 {
    1
}

/// Checks that others cannot use a file, whatever name they know.
fn check_private(file: &Metadata) -> io::Result<()> {
    if links(file) > 1 {
        return Err(io::Error::other("it has another name (a hard link): remove that"));
    }
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o777;
        if mode & 0o077 != 0 {
            return Err(io::Error::other(format!("others may use it (mode {mode:03o}): `chmod 600` it")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn entry(key: &str, said: i64) -> NewEntry<'static> {
        NewEntry { key: key.into(), at: "2026-01-01T00:00:00Z".into(), kind: "message", body: json!({ "said": said }) }
    }

    fn open(path: &Path) -> io::Result<AuditLog> {
        AuditLog::open(path, "", u64::MAX, &mut |_: &Value| {})
    }

    fn written(path: &Path) -> AuditHead {
        let mut log = open(path).unwrap();
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
        assert_eq!(open(&path).unwrap().head().entries, 3);
        assert!(verify(&path, |_| {}).unwrap().is_ok());
        broken(&[lines[0], lines[1], "x"]);
        assert!(open(&path).unwrap_err().to_string().contains("line 3"));
    }

    #[test]
    fn a_repeated_step_adds_no_entry_and_a_torn_line_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        let head = written(&path);
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"n\":4").unwrap();
        let mut log = open(&path).unwrap();
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
        let mut log = open(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert!(append(&mut log).unwrap_err().contains("666"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::copy(&path, dir.path().join("copy")).unwrap();
        std::fs::rename(dir.path().join("copy"), &path).unwrap();
        assert!(append(&mut log).unwrap_err().contains("replaced"));
        // Held by another process.
        let mut log = open(&path).unwrap();
        let other = File::open(&path).unwrap();
        other.lock().unwrap();
        assert!(append(&mut log).unwrap_err().contains("lock"));
        other.unlock().unwrap();
        append(&mut log).unwrap();
    }

    /// Knows how many entries it has read.
    #[derive(Default)]
    struct Counting {
        read: Vec<u64>,
        long: bool,
    }

    impl LogReader for Counting {
        fn read(&mut self, entry: &Value) {
            self.read.extend(entry["n"].as_u64());
        }

        fn known(&self, long: bool) -> Option<Value> {
            (self.long || long).then(|| json!({ "read": self.read.len() }))
        }
    }

    /// Opens a log to begin a new file. Returns which entries were read.
    fn cut(path: &Path, own: &str, since: u64) -> (AuditLog, Vec<u64>) {
        let mut reader = Counting { long: true, ..Counting::default() };
        let log = AuditLog::open(path, own, since, &mut reader).unwrap();
        (log, reader.read)
    }

    #[test]
    fn a_start_reads_the_last_file_alone_and_the_chain_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        written(&path);
        let (mut log, read) = cut(&path, "", u64::MAX);
        assert_eq!((read, log.head().entries), (vec![1, 2, 3], 4));
        log.append(vec![entry("d", 4)]).unwrap();
        let (log, read) = cut(&path, "", u64::MAX);
        assert_eq!((read, log.head().entries, log.has("c"), log.has("d")), (vec![4, 5], 6, false, true));
        drop(log);
        // The entries of a run from its last commit on.
        for (since, from) in [(u64::MAX, 6), (5, 6), (4, 4), (3, 4), (2, 1), (0, 1)] {
            let mut reader = Counting::default();
            let log = AuditLog::open(&path, "", since, &mut reader).unwrap();
            assert_eq!((reader.read, log.head().entries), ((from..=6).collect(), 6), "{since}");
        }
        let mut all = Vec::new();
        assert_eq!(verify(&path, |entry| all.push(entry["n"].clone())).unwrap().unwrap().entries, 6);
        assert_eq!(all, (1..=6).map(Value::from).collect::<Vec<_>>());
        // A long file ends by itself.
        let mut log = open(&path).unwrap();
        let text = "x".repeat(usize::try_from(LONG).unwrap());
        log.append(vec![NewEntry { body: json!({ "said": text }), ..entry("e", 5) }]).unwrap();
        let long = AuditLog::open(&path, "", u64::MAX, &mut Counting::default()).unwrap();
        assert!(long.head().entries == 8 && std::fs::metadata(&path).unwrap().len() < 1000);
        assert_eq!(older(&path).unwrap().len(), 3);
    }

    #[test]
    fn every_change_of_an_older_file_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        written(&path);
        cut(&path, "", u64::MAX).0.append(vec![entry("d", 4)]).unwrap();
        cut(&path, "", u64::MAX).0.append(vec![entry("e", 5)]).unwrap();
        let files: Vec<PathBuf> = older(&path).unwrap().into_iter().map(|(_, file)| file).collect();
        let broken = || verify(&path, |_| {}).unwrap().map_err(|broken| broken.line).err();
        assert_eq!(broken(), None);
        for (file, line) in [(&files[0], 3), (&files[1], 5), (&path, 7)] {
            let text = std::fs::read_to_string(file).unwrap();
            std::fs::write(file, text.replacen("message", "massage", 9)).unwrap();
            assert!(broken().is_some_and(|broken| broken <= line), "{}", file.display());
            // Without the last line.
            std::fs::write(file, text.trim_end().rsplit_once('\n').unwrap().0.to_owned() + "\n").unwrap();
            assert_eq!(broken(), (*file != path).then_some(line));
            std::fs::write(file, text).unwrap();
        }
        for (at, line) in [(0, 1), (1, 4)] {
            let text = std::fs::read(&files[at]).unwrap();
            std::fs::remove_file(&files[at]).unwrap();
            assert_eq!(broken(), Some(line), "removed");
            // Nothing is hidden by another name either.
            std::fs::write(older_dir(&path).join("000000000009.jsonl"), &text).unwrap();
            assert!(broken().is_some(), "renamed");
            std::fs::remove_file(older_dir(&path).join("000000000009.jsonl")).unwrap();
            std::fs::write(&files[at], text).unwrap();
            #[cfg(unix)]
            std::fs::set_permissions(&files[at], std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        }
        assert_eq!(broken(), None);
    }

    #[test]
    fn processes_that_write_at_once_go_on_in_the_new_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        written(&path);
        let mut other = open(&path).unwrap();
        let (mut log, _) = cut(&path, "", u64::MAX);
        other.append(vec![entry("d", 4)]).unwrap();
        log.append(vec![entry("e", 5)]).unwrap();
        // Twice, and once before it is read.
        log.append(vec![entry("f", 6)]).unwrap();
        drop(cut(&path, "", u64::MAX));
        drop(cut(&path, "", u64::MAX));
        other.append(vec![entry("g", 7)]).unwrap();
        assert_eq!(verify(&path, |_| {}).unwrap(), Ok(other.head().clone()));
        assert!(other.head().entries == 10 && other.has("g"), "{other:?}");
        std::thread::scope(|scope| {
            for one in ["x", "y", "z"] {
                let path = &path;
                scope.spawn(move || {
                    for number in 0..20 {
                        let (mut log, _) = cut(path, "", u64::MAX);
                        log.append(vec![entry(&format!("{one}{number}"), number)]).unwrap();
                    }
                });
            }
        });
        other.append(vec![entry("h", 8)]).unwrap();
        let mut turns = Vec::new();
        let head = verify(&path, |entry| turns.push(text_of(entry, "turn").to_owned())).unwrap().unwrap();
        assert_eq!(&head, other.head());
        assert_eq!(turns.iter().filter(|turn| turn.starts_with(['x', 'y', 'z'])).count(), 60);
    }

    #[test]
    fn a_file_that_was_not_begun_is_begun_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        written(&path);
        drop(cut(&path, "", u64::MAX));
        for left in ["", "{\"at\":\"2026"] {
            std::fs::write(&path, left).unwrap();
            let mut reader = Counting::default();
            let log = AuditLog::open(&path, "", u64::MAX, &mut reader).unwrap();
            assert_eq!((reader.read, log.head().entries), (vec![1, 2, 3], 4));
            assert_eq!(verify(&path, |_| {}).unwrap(), Ok(log.head().clone()));
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!(verify(&path, |_| {}).unwrap().unwrap().entries, 3);
        assert_eq!(cut(&path, "", u64::MAX).0.head().entries, 4);
    }

    #[cfg(unix)]
    #[test]
    fn a_second_name_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("audit.jsonl"), dir.path().join("other"));
        written(&path);
        let mut log = open(&path).unwrap();
        std::fs::hard_link(&path, &other).unwrap();
        assert!(has_other_names(&path));
        for error in [open(&path).unwrap_err(), log.append(vec![entry("d", 4)]).unwrap_err()] {
            assert!(error.to_string().contains("another name"), "{error}");
        }
        assert!(verify(&path, |_| {}).unwrap().unwrap_err().why.contains("another name"));
        std::fs::remove_file(&other).unwrap();
        log.append(vec![entry("d", 4)]).unwrap();
        drop(cut(&path, "", u64::MAX));
        std::fs::hard_link(&older(&path).unwrap()[0].1, &other).unwrap();
        assert!(open(&path).unwrap_err().to_string().contains("another name"));
        assert!(verify(&path, |_| {}).unwrap().unwrap_err().why.contains("another name"));
        std::fs::remove_file(&other).unwrap();
        // The older files are in a directory, not behind a link.
        std::fs::rename(older_dir(&path), &other).unwrap();
        std::os::unix::fs::symlink(&other, older_dir(&path)).unwrap();
        assert!(open(&path).is_err() && verify(&path, |_| {}).unwrap().is_err());
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
        assert!(open(&path).is_err());
        assert!(verify(&path, |_| {}).unwrap().is_err());
    }
}
