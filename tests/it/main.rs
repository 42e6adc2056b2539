//! The promises of the program, held against the built binary: one hermetic harness, one module a promise.
#![allow(clippy::unwrap_used)]

#[global_allocator]
static MEMORY: asterisk::memory::Allocator = asterisk::memory::allocator();

mod batches;
mod bundled;
mod chaos;
mod cli;
mod court;
mod crew;
mod elements;
mod examples;
mod exec;
mod explain;
mod failures;
mod fan;
mod faults;
mod fold;
mod foreign;
mod front;
mod gallery;
mod growth;
mod hand;
mod harness;
mod http;
mod input;
mod kill;
mod lint;
mod mcp;
mod memory;
mod mutate;
mod new;
mod observe;
#[cfg(feature = "otel")]
mod otel;
mod output;
mod parts;
mod prompts;
mod rca_rules;
mod readme;
mod recall;
mod reload;
mod repl;
mod replay;
mod report;
mod reportportal;
mod rot;
mod routes;
mod run;
mod security;
mod series;
mod server;
mod shadow;
mod shared;
mod signals;
mod suite;
mod team;
mod terminal;
mod thermal;
mod tidy;
mod tools;
mod two;
mod vectors;
mod verdicts;
mod waves;
mod ways;
mod workspace;
