//! A place to be killed at, or to fail: stops the writer at the n-th boundary of its transactions, for tests of crashes and of what
//! happens meanwhile, or has every write fail from there on, for tests of disks that are full or broken.
//!
//! There are three boundaries in a transaction: before it begins, after its rows are written but before they are committed,
//! and after the commit but before anyone is told. They are counted from 1 over the life of a store handle. Builds without
//! debug assertions have none of it.

#[cfg(debug_assertions)]
pub(super) use armed::Halt;
#[cfg(not(debug_assertions))]
pub(super) use unarmed::Halt;

#[cfg(debug_assertions)]
mod armed {
    use crate::store::error::StoreError;
    use rusqlite::ffi;
    use std::ffi::c_int;
    use std::path::PathBuf;
    use std::time::Duration;

    /// Where to stop, if anywhere.
    #[derive(Debug, Default)]
    pub(in super::super) struct Halt {
        passed: u64,
        at: Vec<u64>,
        file: PathBuf,
        /// The error that every boundary fails with from the first of those on, instead of stopping there.
        fail: Option<c_int>,
    }

    impl Halt {
        /// As the environment says: `ASTERISK_HALT_AT` has the number of the boundary, or of several with commas between them, `ASTERISK_HALT_FILE` takes a line once
        /// it is reached; whoever removes the file lets the writer go on. With `ASTERISK_HALT_WITH`, the name of an error of `SQLite`, nothing
        /// stops, but writes fail with it from that boundary on.
        pub(in super::super) fn from_env() -> Self {
            let text = std::env::var("ASTERISK_HALT_AT").unwrap_or_default();
            let at = text.split(',').filter_map(|at| at.parse().ok()).collect();
            let file = std::env::var_os("ASTERISK_HALT_FILE").map(PathBuf::from).unwrap_or_default();
            let fail = std::env::var("ASTERISK_HALT_WITH").ok().and_then(|name| {
                let known = [
                    ("full", ffi::SQLITE_FULL),
                    ("ioerr", ffi::SQLITE_IOERR_WRITE),
                    ("fsync", ffi::SQLITE_IOERR_FSYNC),
                    ("cantopen", ffi::SQLITE_CANTOPEN),
                    ("readonly", ffi::SQLITE_READONLY),
                    ("busy", ffi::SQLITE_BUSY),
                    ("nomem", ffi::SQLITE_NOMEM),
                ];
                known.into_iter().find(|(known, _)| *known == name).map(|(_, code)| code)
            });
            Self { passed: 0, at, file, fail }
        }

        /// One more boundary.
        pub(in super::super) fn boundary(&mut self) -> Result<(), StoreError> {
            self.passed += 1;
            if let Some(code) = self.fail {
                let failed = self.at.first().is_some_and(|at| self.passed >= *at);
                let error = || rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
                return if failed { Err(error().into()) } else { Ok(()) };
            }
            if self.at.contains(&self.passed) {
                // Nobody is left to be told that the line could not be written.
                std::fs::write(&self.file, format!("halted at boundary {}\n", self.passed)).unwrap_or_default();
                while self.file.exists() {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            Ok(())
        }
    }
}

#[cfg(not(debug_assertions))]
mod unarmed {
    /// Nothing.
    #[derive(Debug, Default)]
    pub(in super::super) struct Halt;

    impl Halt {
        /// Nothing.
        pub(in super::super) fn from_env() -> Self {
            Self
        }

        /// Nothing.
        #[allow(clippy::unused_self, clippy::unnecessary_wraps)]
        pub(in super::super) fn boundary(&mut self) -> Result<(), crate::store::StoreError> {
            Ok(())
        }
    }
}
