//! A debugger of recorded decisions, over the Debug Adapter Protocol.
//!
//! A decision is a pure function of recorded inputs. So nothing is halted: each evaluation is traced once, statement by statement, and
//! moving on and back is moving along these traces. Variables are read by evaluating once more up to a statement.
//!
//! ```text
//! wire, protocol     messages on a stream, and their types
//! server             the requests of a client
//! fault              their errors
//! text_book          the texts shown to a client: where they are on disk, and places in them
//! case, unit         the steps of a case with their evaluations: nodes, rules, edges
//! timeline           the moments of a case, and moving between them
//! breakable          where breakpoints can be
//! breakpoints, break_condition  which of them a moment hits
//! debug_session      a case at a moment: moving, stopping, reporting
//! frames, variables  the stack, its scopes, and the values in them
//! expressions        expressions of the client
//! live               walks a launch that was not investigated yet
//! ```

mod break_condition;
mod breakable;
mod breakpoints;
mod case;
mod debug_session;
mod expressions;
mod fault;
mod frames;
mod live;
mod protocol;
mod server;
#[cfg(test)]
mod tests;
mod text_book;
mod timeline;
mod unit;
mod variables;
mod wire;

pub use server::{DebugServer, OpenProject, ProjectChoice, serve};

#[cfg(test)]
#[global_allocator]
static MEMORY: asterisk_base::memory::Allocator = asterisk_base::memory::allocator();
