//! Failpoints at the boundaries of write transactions: they block the writer at the n-th boundary, for tests of crashes and of concurrent
//! processes, or fail every write from there on, for tests of full or broken disks.
//!
//! A transaction has three boundaries: before it begins, after its rows are written and before they are committed, and after the commit and
//! before it is acknowledged. They are counted from 1 over the life of a store handle. Release builds contain no failpoints.

#[cfg(debug_assertions)]
pub(super) use armed::Failpoint;
#[cfg(not(debug_assertions))]
pub(super) use unarmed::Failpoint;

#[cfg(debug_assertions)]
mod armed {
    use crate::error::StoreError;
    use asterisk_base::environment::Variables;
    use rusqlite::ffi;
    use std::ffi::c_int;
    use std::path::PathBuf;
    use std::time::Duration;

    /// Where to block or fail, if anywhere.
    #[derive(Debug, Default)]
    pub(in super::super) struct Failpoint {
        passed: u64,
        at: Vec<u64>,
        file: PathBuf,
        /// The error that every boundary from the first of these on fails with, instead of blocking.
        fail: Option<c_int>,
    }

    impl Failpoint {
        /// Reads the variables: `ASTERISK_HALT_AT` has the numbers of one or several boundaries, separated by commas; when one is
        /// reached, a line is written to the file `ASTERISK_HALT_FILE`, and removing that file resumes the writer. With
        /// `ASTERISK_HALT_WITH`, the name of a `SQLite` error, nothing blocks; writes fail with that error from the boundary on, and the
        /// line is written all the same.
        pub(in super::super) fn of(variables: &Variables) -> Self {
            let text = variables.text("ASTERISK_HALT_AT").unwrap_or_default();
            let at = text.split(',').filter_map(|at| at.parse().ok()).collect();
            let file = variables.get("ASTERISK_HALT_FILE").map(PathBuf::from).unwrap_or_default();
            let fail = variables.text("ASTERISK_HALT_WITH").and_then(|name| {
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

        /// Counts a boundary, and blocks or fails at it.
        pub(in super::super) fn boundary(&mut self) -> Result<(), StoreError> {
            self.passed += 1;
            if let Some(code) = self.fail {
                let failed = self.at.first().is_some_and(|at| self.passed >= *at);
                if failed && !self.file.as_os_str().is_empty() {
                    std::fs::write(&self.file, format!("failed at boundary {}\n", self.passed)).unwrap_or_default();
                }
                let error = || rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
                return if failed { Err(error().into()) } else { Ok(()) };
            }
            if self.at.contains(&self.passed) {
                // If the file cannot be written, the failure cannot be reported.
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
    /// No-op in release builds.
    #[derive(Debug, Default)]
    pub(in super::super) struct Failpoint;

    impl Failpoint {
        pub(in super::super) fn of(_variables: &asterisk_base::environment::Variables) -> Self {
            Self
        }

        #[allow(clippy::unused_self, clippy::unnecessary_wraps)]
        pub(in super::super) fn boundary(&mut self) -> Result<(), crate::StoreError> {
            Ok(())
        }
    }
}
