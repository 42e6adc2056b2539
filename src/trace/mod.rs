//! What past runs decided, and why.
//!
//! A recorded decision has everything it was made on, so it can be made again, by the evaluator that made it
//! ([`Decision::again`]): watched, to be explained; by other scripts or vars, to see what would change.

mod decisions;
pub mod replay;
mod steps;
#[cfg(test)]
mod testing;

pub use decisions::{Again, Decision, Decisions};
pub use steps::{Step, Went};
