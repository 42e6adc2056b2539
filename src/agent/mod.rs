//! Who answers nodes: the zero-LLM responders, canned answers, and those outside of the process. Each implements the `Answerer` port.
//!
//! ```text
//! script, stub                      answers from within the process
//! exec, process, group, family,     a command, running it, and ending it with all it started
//! watchdog                          even if this process is killed
//! http                              a model behind HTTP
//! output_reader, find_json          what they say: the JSON in it, as a reply or a complaint
//! file, signal, wrapper, run_dir    files: what is asked, the answer with its id, how far it is; the directory they are in
//! batch, manifest                   several requests at once, and how far each is
//! manual                            a person or agent who takes the prompt and brings the answer (`cursor`, `save`)
//! mcp, queue, in_flight             workers who pull steps from a server and bring the answers
//! tools                             tools of MCP servers, as those who answer nodes that call one
//! router, retry, circuit_breaker, concurrency,  what stands around those outside: who is asked in which order, again, not at all, at once;
//! budget                            what may be spent
//! build, context, settings          putting together who answers a run, from how they are set up
//! tokens, artifact                  what they take; what of theirs is accepted
//! ```

mod artifact;
mod batch;
mod budget;
mod build;
mod circuit_breaker;
mod concurrency;
mod context;
mod exec;
mod family;
mod file;
mod find_json;
mod group;
mod http;
mod in_flight;
mod manifest;
mod manual;
mod mcp;
mod output_reader;
mod process;
mod queue;
mod retry;
mod router;
mod run_dir;
mod script;
mod settings;
mod signal;
mod stub;
mod tokens;
mod tools;
mod watchdog;
mod wrapper;

pub use artifact::{MOST_BYTES, is_too_deep, parse, signed, too_deep, too_long, unwrapped};
pub use batch::{BatchInfo, BriefingWriter, CLAIM};
pub use budget::{BudgetStatus, TokenBudget};
pub use build::{build, manual_names, names};
pub use context::{ExternalContext, RunDirFactory};
pub use group::end_all;
pub use in_flight::InFlightGate;
pub use manifest::{BRIEFING, BatchManifest, BatchStatus, EntryStatus, MANIFEST, ManifestEntry, batch_size};
pub use manual::{MANUAL, SubmittedAnswer, SubmittedAnswers};
pub use mcp::MCP;
pub use queue::{
    PullFuture, PullResult, QueueClosed, StepQueue, SubmitError, SubmitFuture, SubmitOutcome, SubmittedArtifact, Task,
    WorkerHealth,
};
pub use router::AnswerRouter;
pub use run_dir::{RunDir, StepFiles};
pub use script::ScriptAnswerer;
pub use settings::{AgentBounds, AgentSettings, Agents, AnswererKind, BreakerSettings, Price, RetrySettings};
pub use signal::{AgentSignal, SIGNAL, SignalStatus};
pub use stub::StubAnswers;
pub use tools::{ServerSettings, Servers, Variable};
pub use wrapper::{UnwrappedAnswer, open};

/// What canned answers are called as those who answer.
pub const STUB: &str = "stub";
