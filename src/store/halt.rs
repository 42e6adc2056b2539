//! A place to be killed at: stops the writer at the n-th boundary of its transactions, for tests of crashes and of what happens
//! meanwhile.
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
    use std::path::PathBuf;
    use std::time::Duration;

    /// Where to stop, if anywhere.
    #[derive(Debug, Default)]
    pub(in super::super) struct Halt {
        passed: u64,
        at: Vec<u64>,
        file: PathBuf,
    }

    impl Halt {
        /// As the environment says: `ASTERISK_HALT_AT` has the number of the boundary, or of several with commas between them, `ASTERISK_HALT_FILE` takes a line once
        /// it is reached; whoever removes the file lets the writer go on.
        pub(in super::super) fn from_env() -> Self {
            let text = std::env::var("ASTERISK_HALT_AT").unwrap_or_default();
            let at = text.split(',').filter_map(|at| at.parse().ok()).collect();
            let file = std::env::var_os("ASTERISK_HALT_FILE").map(PathBuf::from).unwrap_or_default();
            Self { passed: 0, at, file }
        }

        /// One more boundary.
        pub(in super::super) fn boundary(&mut self) {
            self.passed += 1;
            if self.at.contains(&self.passed) {
                // Nobody is left to be told that the line could not be written.
                std::fs::write(&self.file, format!("halted at boundary {}\n", self.passed)).unwrap_or_default();
                while self.file.exists() {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
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
        #[allow(clippy::unused_self)]
        pub(in super::super) fn boundary(&mut self) {}
    }
}
