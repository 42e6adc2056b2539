//! The program: the command line, the REPL, the MCP server and what they print.
//!
//! Everything else is in `crates/`, along the layers; `ARCHITECTURE.md` is the map.

pub mod cli;
pub mod config;
pub mod exit;
pub mod repl;
pub mod serve;
pub mod ui;

#[cfg(test)]
#[global_allocator]
static MEMORY: asterisk_base::memory::Allocator = asterisk_base::memory::allocator();
