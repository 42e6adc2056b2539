//! History decided again: what past runs would have done by edited rules.
//!
//! The walk of each case is walked again on the answers that were recorded, by the decision that live steps end with
//! ([`DecisionStep`](crate::walk::DecisionStep)), its state folded as theirs is. As long as it goes the recorded way, the recorded answers are its own,
//! whatever made them. Where it turns off, each node further on takes the answer that the case recorded for the same visit of that
//! node, if whoever gave it would have been told the same ([`AnswerInputs`](answer_inputs::AnswerInputs)); else all beyond is unknown.
//!
//! A decision is taken as it was recorded where nothing that it depends on is other: its edges, what their rules may run and the
//! vars they read ([`ReuseCheck`](reuse_check::ReuseCheck)), on a walk that knows what the recorded one knew.
//!
//! What steps would have written to the store by edited effect scripts is compared with what they wrote ([`ChangedEffects`]). What cases
//! would have learned of each other by it is not followed: the reads of a step are the recorded ones, as its answer is.

mod answer_inputs;
mod base;
mod branches;
mod effects;
#[cfg(test)]
mod equivalence;
mod pass;
mod recorded_walk;
mod replay_report;
mod replay_walk;
mod reuse_check;
mod run;
pub mod sweep;

pub use replay_report::{ChangedEffects, Flip, ReplayReport, RuleTotal, UnknownOutcome};
pub use run::{ReplaySpec, replay};
