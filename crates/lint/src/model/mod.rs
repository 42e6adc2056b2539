//! The condition under which a rule fires, as a formula over its comparisons: enough for findings that are certain, and nothing
//! more.
//!
//! `evaluate` translates a function into a formula; what it cannot analyse becomes an unknown atom. A proof that a formula never
//! holds is valid for any value of the unknowns; an example of where it holds is used only if there are none. Vars have their
//! declared values where they are compared with an input; a comparison of vars alone is unknown, since it may be a switch that is
//! off by default.

mod evaluate;
mod formula;
mod region;
mod solve;

pub(super) use evaluate::Reasoner;
pub(super) use formula::Formula;
pub(super) use solve::{Solver, Term, kind_at};
