//! The lease on a run: at most one process executes a run at a time.
//!
//! The lease on a run of a file is a lock on a small file next to the store. The operating system releases it when the process ends, however it ends.
//! The file is removed with the lease; one left behind by a killed process is ignored.

use super::error::StoreError;
use super::private::open_file;
#[cfg(feature = "postgres")]
use super::server::ServerLease;
use asterisk_base::model::Hash;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait for a process that only probes a lease.
const PROBE_TIMEOUT: Duration = Duration::from_millis(200);

/// Separates the store's name from the run's in the name of a lease file.
const RUN_INFIX: &str = "-run-";

/// The right to execute a run, released on drop.
#[derive(Debug)]
pub(super) enum Lease {
    File(#[allow(dead_code)] FileLease),
    #[cfg(feature = "postgres")]
    Server(#[allow(dead_code)] ServerLease),
}

/// The right to execute a run of a file.
#[derive(Debug)]
pub(super) struct FileLease {
    path: PathBuf,
    /// Locked as long as it is open.
    _file: File,
}

impl FileLease {
    /// Acquires the lease on a run of the store at `store`; fails as busy while another holder lives.
    pub(super) fn take(store: &Path, run: &str) -> Result<Self, StoreError> {
        let path = place(store, run);
        let deadline = Instant::now() + PROBE_TIMEOUT;
        loop {
            let file = open_file(&path)?;
            match file.try_lock() {
                // The last holder may have removed the file between opening and locking it.
                Ok(()) if still_there(&file, &path) => return Ok(Self { path, _file: file }),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
                Err(TryLockError::WouldBlock) => return Err(StoreError::Busy(format!("run `{run}`"))),
                Err(TryLockError::Error(source)) => return Err(StoreError::io(&path, source)),
            }
        }
    }

    /// Lease files next to a store that no process holds.
    pub(super) fn left_behind(store: &Path) -> Vec<PathBuf> {
        let Some(name) = store.file_name() else { return Vec::new() };
        let mut begins = name.to_owned();
        begins.push(RUN_INFIX);
        let dir = store.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
        let of_a_lease = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            let rest = name.strip_prefix(begins.as_encoded_bytes());
            rest.is_some_and(|rest| rest.len() == 12 && rest.iter().all(u8::is_ascii_hexdigit))
        };
        let free = |path: &PathBuf| File::open(path).is_ok_and(|file| file.try_lock_shared().is_ok());
        entries.flatten().map(|entry| entry.path()).filter(of_a_lease).filter(free).collect()
    }

    /// Removes lease files that no process holds.
    pub(super) fn sweep(store: &Path) {
        for path in Self::left_behind(store) {
            // Only the holder of the lock may remove the file, so that a concurrent holder does not lock a removed file.
            let file = open_file(&path).ok().filter(|file| file.try_lock().is_ok() && still_there(file, &path));
            drop(file.map(|file| Self { path, _file: file }));
        }
    }

    /// Whether any process holds the lease on a run.
    pub(super) fn is_held(store: &Path, run: &str) -> bool {
        File::open(place(store, run)).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

impl Drop for FileLease {
    fn drop(&mut self) {
        // Only where `still_there` can detect a removed file; elsewhere the empty file stays.
        if cfg!(unix) {
            // A file that cannot be removed does no harm.
            std::fs::remove_file(&self.path).unwrap_or_default();
        }
    }
}

fn place(store: &Path, run: &str) -> PathBuf {
    let mut path = store.as_os_str().to_owned();
    path.push(format!("{RUN_INFIX}{}", Hash::of(run.as_bytes()).short()));
    path.into()
}

#[cfg(unix)]
fn still_there(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |data: std::fs::Metadata| (data.dev(), data.ino());
    match (file.metadata().map(identity), std::fs::metadata(path).map(identity)) {
        (Ok(ours), Ok(there)) => ours == there,
        _ => false,
    }
}

#[cfg(not(unix))]
fn still_there(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_lease_excludes_until_it_is_given_back() {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("s.db");
        assert!(!FileLease::is_held(&store, "r"));
        let lease = FileLease::take(&store, "r").unwrap();
        assert!(FileLease::is_held(&store, "r"));
        assert!(FileLease::take(&store, "r").is_err_and(|error| error.is_busy() && error.to_string().contains("`r`")));
        let other = FileLease::take(&store, "another").unwrap();
        drop(lease);
        assert!(!FileLease::is_held(&store, "r"));
        drop(FileLease::take(&store, "r").unwrap());
        drop(other);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), usize::from(!cfg!(unix)) * 2);
    }

    #[test]
    fn at_any_time_at_most_one_of_many_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("s.db");
        let inside = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        if let Ok(lease) = FileLease::take(&store, "r") {
                            assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                            inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                            drop(lease);
                        }
                    }
                });
            }
        });
    }
}
