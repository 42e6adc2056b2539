//! The store: the journal of all runs and the knowledge accumulated across them, in an `SQLite` file, in memory, or as a project of a
//! PostgreSQL server.
//!
//! ```text
//! location, open, role                    where a store is: opening it; what roles of a server may do
//! sql, transaction                        the port to a database: `SQLite` and PostgreSQL
//! connection, migrations, private         the file: format versions, permissions
//! server, cache                           the server: projects, migrations, leases; what its connections cache
//! durability, writer, step, journal       writing: steps, group commit, the journal of a run
//! packing                                 texts as they lie in the file, each for itself: packed, or plain
//! recorded, addresses, dictionary         contents and events there: rows for addresses, dictionaries of the store's own
//! begin, runs, lease, clean               runs: creation, end, resumption, exclusive execution, retention
//! effects                                 facts written by steps: symptoms, root causes, cases
//! megrams, audit_anchors                  memories of the goal loop, heads of its auditor's log
//! reviews, root_words, overturned         statements of people outside of runs; revoked links
//! read, reading, content, bad_content     reading events and contents, with integrity checks
//! knowledge, history                      current knowledge and its history
//! outcomes, test_names, flaky             the outcomes of all tests of a launch; names of those that failed; how steady tests are
//! needs                                   the bounded queries that nodes declare
//! jobs                                    cases handed out to workers
//! copy, sync                              copying a store, adding its runs to another one
//! terms                                   the index of symptoms by the words of failure texts
//! figures                                 what a store holds, in numbers
//! check                                   health check of a file
//! failpoint                               blocking or failing at transaction boundaries, for tests
//! ```
//!
//! **Concurrency and crashes.** A step is one transaction: its events, the contents they refer to, its effects. The [`Durability`] level
//! defines what an acknowledged commit survives; a killed process loses nothing acknowledged at either level. Two processes may use one
//! store at once: writers wait for each other (five seconds, then [`StoreError::Busy`]), and a run is executed by one process at a time.
//!
//! **Two tiers.** The journal records what happened. Symptoms, root causes, triages and statuses are facts written by steps, each stamped
//! with the number of the commit's last event and never changed: the current state is computed from the facts visible to a reader. A run's
//! queries see the facts up to the last event before the run began, also after a resume, and those of the run's own earlier cases up to its
//! last barrier, ordered by run, case and id, never by arrival; so results are the same at any parallelism.

mod addresses;
mod answers;
mod audit_anchors;
mod bad_content;
mod begin;
mod cache;
mod check;
mod clean;
mod connection;
mod content;
mod copy;
mod dictionary;
mod durability;
mod effects;
mod error;
mod failpoint;
mod figures;
mod findings;
mod flaky;
mod history;
mod jobs;
mod journal;
mod knowledge;
mod lease;
mod location;
mod megrams;
mod migrations;
mod needs;
mod open;
mod outcomes;
mod overturned;
mod packing;
mod private;
mod read;
mod readers;
mod reading;
mod recorded;
mod reviews;
mod role;
mod root_words;
mod runs;
#[cfg(feature = "postgres")]
mod server;
mod sql;
mod step;
mod sync;
mod terms;
mod test_names;
mod transaction;
mod writer;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod measure;
#[cfg(test)]
mod processes;
mod pushes;
#[cfg(all(test, feature = "postgres"))]
mod server_tests;

pub use audit_anchors::AuditAnchor;
pub use bad_content::{BadContent, Fault, Owner};
pub use begin::NewRun;
pub use check::{Depth, StoreHealth, health};
pub use clean::{Cleaned, Retention};
pub use copy::{CopiedStore, VerifiedStore};
pub use durability::Durability;
pub use error::StoreError;
pub use figures::StoreFigures;
pub use findings::RunFindings;
pub use flaky::TestStability;
pub use history::{
    Dormancy, KnownHistory, Occurrences, PastCase, PastLaunch, RcaFilter, RcaOf, RcaRow, RowIds, SeenCase, SymptomFilter,
    SymptomOf, SymptomRow, SymptomStatus,
};
pub use jobs::{DeadJob, JOB_LEASE, JobFigures, TakenJob, WorkerRow, WorkerState};
pub use journal::RunJournal;
pub use knowledge::{CaseFacts, Rca, RcaStatusChange, Triage};
pub use location::{ServerAddress, StoreLocation};
pub use megrams::{ChangedMegram, DistilledMegram, DreamChanges, Megram, MegramOrigin};
pub use needs::WalkerAccuracy;
pub use needs::{SiblingScope, StoreQueries};
pub use open::Store;
pub use overturned::OverturnedLink;
pub use read::StoredEvent;
pub use reading::StoreReading;
pub use recorded::recorded_texts;
pub use role::StoreRole;
pub use root_words::{RootWord, RootWordDone};
pub use runs::{RunCase, RunRecord, RunRow, RunStatus};
pub use sync::SyncedStore;
