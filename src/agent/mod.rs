//! Who answers nodes: the zero-LLM responders, canned answers, and those outside of the process. Each implements the `Answer` port.
//!
//! ```text
//! script, stub                      answers from within the process
//! exec, process, warden             a command, running it, and ending it whatever happens
//! http                              a model behind HTTP
//! heard, found                      what they say: the JSON in it, as a reply or a complaint
//! file, signal, wrapper, tray       files: what is asked, the answer with its id, how far it is; the directory they are in
//! batch, manifest                   several requests at once, and how far each is
//! manual                            a person or agent who takes the prompt and brings the answer (`cursor`, `save`)
//! mcp, queue, gate                  workers who pull steps from a server and bring the answers
//! tools                             tools of MCP servers, as those who answer nodes that call one
//! router, retry, breaker, limit,    what stands around those outside: who is asked in which order, again, not at all, at once;
//! budget                            what may be spent
//! settings, tokens, artifact        how they are set up; what they take; what of theirs is accepted
//! ```

mod artifact;
mod batch;
mod breaker;
mod budget;
mod build;
mod exec;
mod family;
mod file;
mod found;
mod gate;
mod group;
mod heard;
mod http;
mod limit;
mod manifest;
mod manual;
mod mcp;
mod process;
mod queue;
mod retry;
mod router;
mod script;
mod settings;
mod signal;
mod stub;
mod tokens;
mod tools;
mod tray;
mod warden;
mod wrapper;

pub use artifact::{MOST_BYTES, is_too_deep, parse, signed, too_deep, too_long, unwrapped};
pub use batch::{BatchInfo, Brief, CLAIM};
pub use budget::{Budget, BudgetStatus};
pub use build::{Outside, Trays, build, manual_names, names};
pub use gate::Gate;
pub use group::end_all;
pub use manifest::{BRIEFING, BatchStatus, Entry, EntryStatus, MANIFEST, Manifest, batch_size};
pub use manual::{Bringing, Given, MANUAL};
pub use mcp::MCP;
pub use queue::{Brought, Closed, Health, Pull, Pulled, Queue, Submission, SubmitError, Task, Verdict};
pub use router::Router;
pub use script::Scripts;
pub use settings::{Agents, Bounds, BreakerSettings, Kind, Price, RetrySettings, Settings};
pub use signal::{SIGNAL, Signal, SignalStatus};
pub use stub::Stub;
pub use tools::{ServerSettings, Servers, Variable};
pub use tray::{Places, Tray};
pub use wrapper::{Opened, open};

/// What canned answers are called as those who answer.
pub const STUB: &str = "stub";
