//! Asterisk: a host for investigation pipelines.
//!
//! A pipeline is a graph in YAML; a walk moves along it; each node yields a JSON artifact; each choice of the next edge is a
//! small rule in Rhai. The layers, lowest first; a module imports from lower layers and its own children only:
//!
//! | layer | modules |
//! |---|---|
//! | 0 base | [`diag`], [`model`], [`clock`], [`memory`], [`environment`] |
//! | 1 forms | [`form`] |
//! | 2 languages | [`pipeline`], [`script`], [`prompt`] |
//! | 3 core | [`walk`] |
//! | 4 project | [`project`] |
//! | 5 adapters | [`net`], [`store`], [`agent`], [`audit`], [`ingest`], [`reportportal`], [`files`], [`workspace`] |
//! | 6 session | [`session`], [`reload`] |
//! | 7 tools | [`lint`], [`observe`], [`report`], [`script_tests`], [`decisions`], [`learn`], [`calibrate`] |
//! | 8 front | [`ui`], [`exit`], [`config`], [`cli`], [`repl`], [`serve`] |

pub mod agent;
pub mod audit;
pub mod calibrate;
pub mod cli;
pub mod clock;
pub mod config;
pub mod decisions;
pub mod diag;
pub mod environment;
pub mod evidence;
pub mod exit;
pub mod files;
pub mod form;
pub mod ingest;
pub mod learn;
pub mod lint;
pub mod memory;
pub mod model;
pub mod net;
pub mod observe;
pub mod pipeline;
pub mod project;
pub mod prompt;
pub mod reload;
pub mod repl;
pub mod report;
pub mod reportportal;
pub mod script;
pub mod script_tests;
pub mod serve;
pub mod session;
pub mod store;
pub mod ui;
pub mod walk;
pub mod workspace;

#[cfg(test)]
#[global_allocator]
static MEMORY: memory::Allocator = memory::allocator();
