//! The promises of the program, held against the built binary: one hermetic harness, one module a promise.
#![allow(clippy::unwrap_used)]

mod cli;
mod examples;
mod fold;
mod harness;
mod kill;
mod readme;
mod routes;
mod run;
mod shared;
mod tidy;
mod two;
mod vectors;
