//! When a rule fires, as a formula over what it compares: enough to say what is certain, and nothing else.
//!
//! `evaluate` reads a function as a formula; what it cannot read becomes an atom of which only the name is known, so a proof
//! that a formula never holds is a proof whatever those are, while an example of where it holds counts only without them.
//! Vars stand for their declared values where they are compared with an input; a comparison of vars alone decides nothing,
//! because it may be a switch that is meant to be off.

mod evaluate;
mod formula;
mod region;
mod solve;

pub(super) use evaluate::Reasoner;
pub(super) use formula::Formula;
pub(super) use solve::{Solver, Term, kind_at};
