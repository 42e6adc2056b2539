//! `asterisk test`: tests of scripts, written as scripts.
//!
//! A test is a function `test_..()` of a file `.._test.rhai`. It may import what rules import, make assertions, and ask rules,
//! decisions, responders and effects as a walk does (`asterisk doc tests`, `asterisk doc asking`). The scripts run without
//! probes; a test that fails runs again with them, to show the values under its assertion, and `--coverage` runs with as many
//! as it needs.
//!
//! | file | what |
//! |---|---|
//! | `select` | the available and the requested tests |
//! | `test_project` | the libraries and projects that tests run on |
//! | `test_host`, `params` | answering what a test asks the host |
//! | `run`, `result` | running tests, several at once, and the result of them |
//! | `mutate` | scripts changed in one place, and whether a test notices |
//! | `blame` | a failed assertion, with the values it was about |
//! | `coverage`, `lcov`, `listing` | what of the scripts the tests went through |

mod blame;
mod coverage;
mod lcov;
mod listing;
pub mod mutate;
mod params;
mod result;
mod run;
mod select;
mod test_host;
mod test_project;

pub use coverage::{Coverage, CoverageGap, CoverageKind, CoveragePoint, CoverageShare, FileCoverage, FunctionCoverage};
pub use lcov::lcov;
pub use listing::{ListingLine, listing};
pub use result::{TestFailure, TestResult, TestResults};
pub use run::{TestSpec, list, run};
pub use select::SelectedFile;

#[cfg(test)]
#[global_allocator]
static MEMORY: asterisk_base::memory::Allocator = asterisk_base::memory::allocator();
