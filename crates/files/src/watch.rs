//! Watches directories and files for edits, and reports an edit once writing has paused and no file looks incomplete. Handles editors that
//! write by rename, and directories that appear later or are replaced as a whole.

use super::settle::{FileSnapshot, due};
use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Default debounce time: how long writing must pause before an edit is inspected.
pub const DEBOUNCE: Duration = Duration::from_millis(50);
/// Error of setting up the watcher.
#[derive(Debug, thiserror::Error)]
#[error("cannot watch `{}` for edits: {source}", path.display())]
pub struct WatchError {
    path: PathBuf,
    source: notify::Error,
}

/// Watches paths, including ones that do not exist yet.
pub struct Watcher {
    system: RecommendedWatcher,
    sender: Sender<WatchMessage>,
    messages: Receiver<WatchMessage>,
    debounce: Duration,
    /// Absolute paths.
    wanted: Vec<PathBuf>,
    watched: BTreeMap<PathBuf, RecursiveMode>,
    /// The files as last accepted.
    taken: FileSnapshot,
}

enum WatchMessage {
    Written(Vec<PathBuf>),
    /// The system lost events.
    Anything,
    Stop,
}

/// Stops a waiting [`Watcher`] from another thread.
#[derive(Clone)]
pub struct WatchStopper(Sender<WatchMessage>);

impl WatchStopper {
    /// Stops the watcher.
    pub fn stop(&self) {
        // The watcher may be gone already.
        drop(self.0.send(WatchMessage::Stop));
    }
}

impl Watcher {
    /// Watches files, and everything not hidden below directories.
    pub fn new(paths: &[PathBuf], debounce: Duration) -> Result<Self, WatchError> {
        let (sender, messages) = channel();
        let send = sender.clone();
        let handler = move |event: notify::Result<Event>| {
            let message = match event {
                Ok(event) if event.need_rescan() => WatchMessage::Anything,
                Ok(event) if writes(event.kind) => WatchMessage::Written(event.paths),
                Ok(_) => return,
                Err(_) => WatchMessage::Anything,
            };
            drop(send.send(message));
        };
        let first = || paths.first().cloned().unwrap_or_default();
        let system = notify::recommended_watcher(handler).map_err(|source| WatchError { path: first(), source })?;
        let mut watcher = Self {
            system,
            sender,
            messages,
            debounce,
            wanted: Vec::new(),
            watched: BTreeMap::new(),
            taken: FileSnapshot::default(),
        };
        watcher.watch(paths)?;
        Ok(watcher)
    }

    /// Replaces the watched paths.
    pub fn watch(&mut self, paths: &[PathBuf]) -> Result<(), WatchError> {
        self.wanted = paths.iter().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone())).collect();
        self.taken = FileSnapshot::at(&self.wanted, Some(&self.taken));
        self.refresh()
    }

    /// A handle that stops the watcher.
    pub fn stopper(&self) -> WatchStopper {
        WatchStopper(self.sender.clone())
    }

    /// Waits for an edit: until something was written, the debounce time has passed without another write, and no file looks incomplete.
    /// Returns false once stopped.
    pub fn changed(&mut self) -> bool {
        loop {
            let Ok(first) = self.messages.recv() else { return false };
            let (mut relevant, mut moved) = match self.classify(first) {
                None => return false,
                Some((false, _)) => continue,
                Some(weight) => weight,
            };
            let began = Instant::now();
            let (mut rested, mut last_check) = (began, began);
            let mut seen = FileSnapshot::at(&self.wanted, Some(&self.taken));
            loop {
                match self.messages.recv_timeout(self.debounce) {
                    Ok(more) => match self.classify(more) {
                        None => return false,
                        Some((false, _)) => continue,
                        Some((also, other)) => {
                            (relevant, moved) = (relevant | also, moved | other);
                            rested = Instant::now();
                            if last_check.elapsed() < self.debounce {
                                continue;
                            }
                        }
                    },
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return false,
                }
                let now = FileSnapshot::at(&self.wanted, Some(&seen));
                let state = now.state(&self.taken, &seen);
                last_check = Instant::now();
                if now != seen {
                    rested = last_check;
                }
                seen = now;
                if due(state, rested.elapsed(), began.elapsed(), self.debounce) {
                    break;
                }
            }
            self.taken = seen;
            if moved {
                // A path that cannot be watched now may become available; its parent reports that.
                drop(self.refresh());
            }
            if relevant {
                return true;
            }
        }
    }

    /// Whether the files are unchanged since [`Watcher::changed`] returned. Only then are reads in between consistent; otherwise
    /// `changed` will return again.
    pub fn is_current(&self) -> bool {
        FileSnapshot::at(&self.wanted, Some(&self.taken)) == self.taken
    }

    /// Classifies a message: whether it concerns watched paths, and whether it concerns whole directories among them. `None` to stop.
    fn classify(&self, message: WatchMessage) -> Option<(bool, bool)> {
        let paths = match message {
            WatchMessage::Stop => return None,
            WatchMessage::Anything => return Some((true, true)),
            WatchMessage::Written(paths) => paths,
        };
        let below =
            |path: &Path, wanted: &Path| path.strip_prefix(wanted).is_ok_and(|rest| !rest.components().any(|part| hidden(part)));
        let pairs = || paths.iter().flat_map(|path| self.wanted.iter().map(move |wanted| (path, wanted)));
        let moved = pairs().any(|(path, wanted)| wanted.starts_with(path));
        Some((moved || pairs().any(|(path, wanted)| below(path, wanted)), moved))
    }

    /// Watches each wanted directory recursively, and its parent, so that it may disappear and reappear; for a path that does not exist
    /// yet, the nearest existing directory above it.
    fn refresh(&mut self) -> Result<(), WatchError> {
        for path in std::mem::take(&mut self.watched).into_keys() {
            // The path may be gone.
            drop(self.system.unwatch(&path));
        }
        let mut places: BTreeMap<PathBuf, RecursiveMode> = BTreeMap::new();
        for wanted in &self.wanted {
            if wanted.is_dir() {
                places.insert(wanted.clone(), RecursiveMode::Recursive);
            }
            let above = wanted.ancestors().skip(1).find(|above| above.is_dir());
            if let Some(above) = above {
                places.entry(above.to_owned()).or_insert(RecursiveMode::NonRecursive);
            }
        }
        let mut refused = None;
        for (path, mode) in places {
            match self.system.watch(&path, mode) {
                Ok(()) => drop(self.watched.insert(path, mode)),
                Err(source) => refused = Some(WatchError { path, source }),
            }
        }
        refused.map_or(Ok(()), Err)
    }
}

/// Whether an event reports a write, creation, move or removal, not a read.
fn writes(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}

fn hidden(part: Component<'_>) -> bool {
    part.as_os_str().to_str().is_some_and(|name| name.starts_with('.'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::fs;
    use std::sync::mpsc;
    use std::thread;

    /// A watcher on a thread of its own, with a channel of its reports.
    struct WatchThread {
        rounds: Receiver<()>,
        stopper: WatchStopper,
    }

    const DEBOUNCE: Duration = Duration::from_millis(30);

    impl WatchThread {
        fn of(paths: &[PathBuf]) -> Self {
            Self::with(paths, DEBOUNCE)
        }

        fn with(paths: &[PathBuf], debounce: Duration) -> Self {
            let mut watcher = Watcher::new(paths, debounce).unwrap();
            let stopper = watcher.stopper();
            let (send, rounds) = mpsc::channel();
            thread::spawn(move || {
                while watcher.changed() {
                    send.send(()).unwrap_or_default();
                }
            });
            Self { rounds, stopper }
        }

        #[track_caller]
        fn expect_edit(&self) {
            self.rounds.recv_timeout(Duration::from_secs(180)).expect("told of it");
        }

        fn expect_none(&self) {
            assert!(self.rounds.recv_timeout(Duration::from_millis(200)).is_err(), "nothing to report");
        }
    }

    impl Drop for WatchThread {
        fn drop(&mut self) {
            self.stopper.stop();
        }
    }

    #[test]
    fn each_edit_is_reported_once_however_written() {
        let dir = tempfile::tempdir().unwrap();
        let (scripts, file) = (dir.path().join("scripts"), dir.path().join("scripts/rules/a.rhai"));
        fs::create_dir_all(scripts.join("rules")).unwrap();
        fs::write(&file, "1").unwrap();
        // Three writes are one edit if they fall within the debounce time, which a loaded machine may miss.
        let once = [30, 300, 3_000].map(Duration::from_millis).into_iter().any(|debounce| {
            let watching = WatchThread::with(std::slice::from_ref(&scripts), debounce);
            for text in ["2", "3", "4"] {
                fs::write(&file, text).unwrap();
            }
            watching.expect_edit();
            watching.rounds.recv_timeout(debounce * 5).is_err()
        });
        assert!(once, "reported more than once");
        let watching = WatchThread::of(std::slice::from_ref(&scripts));
        // Like an editor that writes a temporary file and renames it.
        fs::write(scripts.join("rules/.a.rhai.swp"), "5").unwrap();
        watching.expect_none();
        fs::rename(scripts.join("rules/.a.rhai.swp"), &file).unwrap();
        watching.expect_edit();
        fs::read(&file).unwrap();
        fs::write(dir.path().join("other"), "no part of it").unwrap();
        watching.expect_none();
    }

    #[test]
    fn directories_may_appear_later_go_and_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let scripts = dir.path().join("packs/mine/scripts");
        let watching = WatchThread::of(std::slice::from_ref(&scripts));
        let write = |text: &str| {
            fs::create_dir_all(scripts.join("rules/deep")).unwrap();
            fs::write(scripts.join("rules/deep/a.rhai"), text).unwrap();
        };
        for round in ["1", "2"] {
            write(round);
            watching.expect_edit();
            while watching.rounds.recv_timeout(Duration::from_millis(200)).is_ok() {}
            fs::write(scripts.join("rules/deep/a.rhai"), "again").unwrap();
            watching.expect_edit();
            fs::rename(&scripts, dir.path().join(format!("old{round}"))).unwrap();
            watching.expect_edit();
            while watching.rounds.recv_timeout(Duration::from_millis(200)).is_ok() {}
        }
    }

    /// Like an editor that truncates a file first and writes slowly: the intermediate state may link.
    #[test]
    fn a_file_that_is_half_written_waits_for_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.rhai");
        fs::write(&file, "fn a() { 1 }\nfn b() { 2 }\n").unwrap();
        let watching = WatchThread::of(std::slice::from_ref(&file));
        for half in ["", "fn a() { 3 }\nfn b()", "fn a() { 3 }\nfn b() { 4"] {
            fs::write(&file, half).unwrap();
            watching.expect_none();
        }
        fs::write(&file, "fn a() { 3 }\nfn b() { 4 }\n").unwrap();
        watching.expect_edit();
        watching.expect_none();
    }

    #[test]
    fn an_endlessly_written_file_is_accepted_eventually() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.yaml");
        let watching = WatchThread::of(std::slice::from_ref(&file));
        let end = Instant::now() + Duration::from_secs(180);
        while watching.rounds.try_recv().is_err() {
            fs::write(&file, "x").unwrap();
            thread::sleep(Duration::from_millis(5));
            assert!(Instant::now() < end, "never told");
        }
    }
}
