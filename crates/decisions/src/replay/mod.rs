//! Replay: what past runs would have done with edited rules.
//!
//! Each case is walked again on its recorded answers, with the decision that live steps end with
//! ([`DecisionStep`](asterisk_walk::DecisionStep)), and its state is folded as theirs is. While it follows the recorded path, the
//! recorded answers are its own. Where it diverges, each later node takes the answer recorded for the same visit of that node, if
//! its answerer would have had the same inputs ([`AnswerInputs`](answer_inputs::AnswerInputs)).
//!
//! Answers of scripts, and the verdict of the case, are made again where something that they depend on has changed: code, data,
//! vars, the catalogue of signatures ([`AnswerCheck`](answer_check::AnswerCheck)), or the artifacts and the state before them. The
//! results of queries are the recorded ones. What depends on an answer of an agent that has other inputs now, or on a query that
//! was not recorded, is unknown, and so is everything beyond.
//!
//! A recorded decision is reused where nothing that it depends on has changed: its edges, the code their rules may run and the
//! vars they read ([`ReuseCheck`](reuse_check::ReuseCheck)), on a walk with the same state as the recorded one.
//!
//! Gates are re-evaluated on the recorded reviews ([`gates`]).
//!
//! The effects that edited effect scripts return are compared with the recorded ones ([`ChangedEffects`]). What cases would have
//! learned of each other is not followed: the query results of a step are the recorded ones, as its answer is.

mod answer_check;
mod answer_inputs;
mod answer_maker;
mod base;
mod branches;
mod case_record;
mod effects;
#[cfg(test)]
mod equivalence;
mod gates;
mod pass;
mod recorded_walk;
mod replay_report;
mod replay_walk;
mod reuse_check;
mod run;
mod scripted_answers;
pub mod sweep;
mod verdicts;

pub use replay_report::{ChangedAnswer, ChangedEffects, ChangedVerdict, Flip, ReplayReport, RuleTotal, UnknownOutcome};
pub use run::{ReplaySpec, replay};
pub(crate) use verdicts::recorded_verdicts;
