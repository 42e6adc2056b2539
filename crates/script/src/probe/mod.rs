//! Observing an evaluation: the values of its expressions, and the paths it took.
//!
//! A library linked with [`Probes`] has a node in front of expressions that evaluates the expression behind it and passes its value
//! on: scripts behave the same as without, including results, errors and limits. While a [`Recorder`] is active, each of these
//! nodes counts how often its value was true, false or something else, and, on request, the recorder keeps the whole
//! [`Evaluation`] as a tree: every call inside every expression, each with its value. The expressions of the nodes are in the
//! [`ProbeTable`] of their text. Production libraries are linked without probes, at no cost.
//!
//! ```text
//! let library = Library::link(LibraryInputs { probes: Probes::All, .. }, None)?;
//! let mut recorder = Recorder::new(RecordingScope::Values);
//! let outcome = recorder.watch(|| rule.decide(&artifact, &state, &vars));
//! for (unit, table) in library.probed() { .. recorder.hits(table, node) .. }
//! for evaluation in recorder.evaluations() { .. }
//! ```
//!
//! Coverage uses the counts (for which [`Probes::Decisions`] is enough), a [`Profiler`] the times ([`Probes::Statements`]); explanations and the values under a failed assertion use
//! the tree ([`Probes::All`]). A debugger uses an [`EvaluationTrace`] of the statements ([`Probes::Steps`]), and looks into values
//! ([`InspectedValue`]).

mod inspect;
mod miss;
mod nodes;
mod outline;
mod profile;
mod recorder;
mod seen;
mod table;
#[cfg(test)]
mod tests;
mod trace;

pub use inspect::{InspectedValue, ValueShape};
pub use miss::Miss;
pub(crate) use nodes::Probed;
pub use outline::{Outline, OutlineLine, OutlineOutcome, clipped, explanatory};
pub use profile::{Cost, FrameCost, LineCost, Profile, ProfileFrame, Profiler, ThreadContext, frame};
pub(crate) use profile::{is_profiled, name_table, note_reused};
pub use recorder::{Evaluation, Hits, Recorder, RecordingScope};
pub(crate) use recorder::{last_failed, register};
pub(crate) use seen::text_of;
pub use seen::{ObservedValue, text_of_view};
pub use table::{Logic, NodeRole, ProbeNode, ProbeTable};
pub use trace::{EvaluationTrace, ScopeVariable, TracedCall, TracedStatement};

/// The part of a library's scripts that can be observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Probes {
    /// Nothing, at no cost: production.
    #[default]
    None,
    /// The subject of profiles: functions, the first value of each statement.
    Statements,
    /// The subject of debugging: functions, and every statement, also those without a value that could be observed otherwise.
    Steps,
    /// The subject of coverage: functions, conditions and their operands, cases, results, the first value of each statement.
    Decisions,
    /// Every value that is not a literal.
    All,
}
