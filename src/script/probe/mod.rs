//! Watching an evaluation: which values its expressions had, and which ways it went.
//!
//! A library linked with [`Probes`] has a node in front of expressions that evaluates what is behind it and hands the value on
//! as it is: the scripts mean what they mean without, results, errors and limits alike. While a [`Recorder`] watches, each of
//! these nodes counts how often its value was true, false or something else, and, if asked to, the recorder keeps the whole
//! [`Evaluation`] as a tree: every call inside every expression, each with its value. What a node stands for is in the
//! [`ProbeTable`] of its text. Libraries of production are linked without probes and pay nothing.
//!
//! ```text
//! let library = Library::link(Inputs { probes: Probes::All, .. }, None)?;
//! let mut recorder = Recorder::new(Keep::Values);
//! let verdict = recorder.watch(|| rule.decide(&artifact, &state, &vars));
//! for (unit, table) in library.probed() { .. recorder.hits(table, id) .. }
//! for evaluation in recorder.evaluations() { .. }
//! ```
//!
//! Coverage counts ([`Probes::Decisions`] is enough for that); explanations and the values under a failed assertion read the
//! tree ([`Probes::All`]).

mod miss;
mod nodes;
mod outline;
mod recorder;
mod seen;
mod table;
#[cfg(test)]
mod tests;

pub use miss::Miss;
pub(crate) use nodes::Probed;
pub use outline::{Outline, OutlineLine, OutlineOutcome, clipped, telling};
pub use recorder::{Evaluation, Hits, Recorder, RecordingScope};
pub(crate) use recorder::{last_failed, register};
pub(crate) use seen::text_of;
pub use seen::{ObservedValue, text_of_view};
pub use table::{Logic, NodeRole, ProbeNode, ProbeTable};

/// How much of a library's scripts can be watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Probes {
    /// Nothing, at no cost: production.
    #[default]
    None,
    /// What coverage is about: functions, conditions and their operands, cases, results, the first value of each statement.
    Decisions,
    /// Every value that is not written out in the text.
    All,
}
