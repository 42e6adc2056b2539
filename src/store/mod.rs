//! The store: one `SQLite` file that holds the journal of all runs and what is known across them.
//!
//! ```text
//! open, connection, migrations, private   the file: opening it, its format's versions, who may read it
//! durability, writer, step, journal       writing: steps, group commit, one run's journal
//! begin, runs, lease, clean               runs: beginning, ending, going on; one process at a time; retention
//! effects                                 symptoms, root causes and cases: facts written by steps
//! reviews, overturned                     what people say outside of runs, what they took back
//! read, reading, content, bad_content     reading back: events, contents (each compared with its address)
//! knowledge, history                      what is known
//! needs                                   the bounded queries that nodes declare
//! words, terms                            what is compared of a failure's text; the index of symptoms by it
//! check                                   looking a file over
//! failpoint                               a place to be killed at, for tests
//! ```
//!
//! **What is safe when.** A step is one transaction: its events, the contents they refer to, its effects. What an
//! acknowledged commit survives is the [`Durability`] level's business; a killed process loses nothing acknowledged at either
//! level. Two processes may use one store at once: writers wait for each other (five seconds, then
//! [`StoreError::Busy`]), and a run is executed by one process at a time.
//!
//! **Two tiers.** The journal says what happened. Symptoms, root causes, triages and statuses are facts that steps wrote,
//! each stamped with the number of the commit's last event and never changed: what is current is computed from the facts
//! that a reader may see. A run's queries see the facts up to the event that was last when the run began, also after a
//! resume, and those that the run's own earlier cases wrote before its last barrier, and order them by run, case and id, never by arrival; so they return the same at any
//! parallelism.

mod bad_content;
mod begin;
mod check;
mod clean;
mod connection;
mod content;
mod durability;
mod effects;
mod error;
mod failpoint;
mod history;
mod journal;
mod knowledge;
mod lease;
mod migrations;
mod needs;
mod open;
mod overturned;
mod private;
mod read;
mod readers;
mod reading;
mod reviews;
mod runs;
mod step;
mod terms;
mod words;
mod writer;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod measure;
#[cfg(test)]
mod processes;
mod pushes;

pub use bad_content::{BadContent, Fault, Owner};
pub use begin::NewRun;
pub use check::{Depth, StoreHealth, health};
pub use clean::{Cleaned, Retention};
pub use durability::Durability;
pub use error::StoreError;
pub use history::{
    Dormancy, KnownHistory, Occurrences, PastCase, PastLaunch, RcaFilter, RcaOf, RcaRow, RowIds, SeenCase, SymptomFilter,
    SymptomOf, SymptomRow, SymptomStatus,
};
pub use journal::RunJournal;
pub use knowledge::{CaseFacts, Rca, RcaWord, Triage};
pub use needs::{SiblingScope, StoreQueries};
pub use open::Store;
pub use overturned::OverturnedLink;
pub use read::StoredEvent;
pub use reading::StoreReading;
pub use runs::{RunCase, RunRecord, RunRow, RunStatus};
