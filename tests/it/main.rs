//! The promises of the program, held against the built binary: one hermetic harness, one module a promise.
#![allow(clippy::unwrap_used)]

mod bundled;
mod cli;
mod examples;
mod explain;
mod failures;
mod fold;
mod front;
mod gallery;
mod growth;
mod harness;
mod input;
mod kill;
mod lint;
mod mutate;
mod new;
mod parts;
mod prompts;
mod rca_rules;
mod readme;
mod recall;
mod reload;
mod repl;
mod replay;
mod report;
mod routes;
mod run;
mod series;
mod shadow;
mod shared;
mod suite;
mod tidy;
mod two;
mod vectors;
mod waves;
mod workspace;
