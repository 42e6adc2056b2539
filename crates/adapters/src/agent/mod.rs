//! Answerers of nodes: responder scripts, canned answers, and external agents and tools. Each implements the `Answerer` port.
//!
//! ```text
//! script, stub                      answers from within the process
//! exec, process, group, family,     commands: running them, and terminating everything they started,
//! guard                             even if this process is killed
//! http                              a model behind HTTP
//! output_reader, find_json          extraction of artifacts from output; validation errors
//! file, signal, wrapper, run_dir    requests and answers through files; the directory that holds them
//! batch, manifest                   batched requests and their status
//! manual                            answers submitted by a person or agent (`cursor`, `save`)
//! mcp, queue, in_flight             workers that pull steps from a server and submit answers
//! tools                             tools of MCP servers as answerers
//! workdir                           calls in the working directory of a goal, each judged before it is made
//! router, retry, circuit_breaker,   fallback chains, retries, circuit breaking, concurrency limit,
//! concurrency, budget               token budget
//! build, context, settings          assembly of the answerers of a run from the settings
//! stage_files, package              artifacts of stages: files, hashes, archives; answers from the cache
//! tokens, artifact                  token usage; acceptance of artifacts
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
mod guard;
mod http;
mod in_flight;
mod manifest;
mod manual;
mod mcp;
mod output_reader;
mod package;
mod process;
mod queue;
mod retry;
mod router;
mod run_dir;
mod script;
mod settings;
mod signal;
mod stage_files;
mod stub;
mod tokens;
mod tools;
#[cfg(unix)]
mod workdir;
mod wrapper;

pub use artifact::{MAX_BYTES, is_too_deep, parse, set_author, too_deep, too_long, unwrapped};
pub use batch::{BatchInfo, BriefingWriter, CLAIM};
pub use budget::{BudgetStatus, TokenBudget};
pub use build::{build, manual_names, names};
pub use context::{Approve, ExternalContext, Investigate, RunDirFactory};
pub use family::adopt_orphans;
pub use guard::become_guard;
pub use in_flight::InFlightGate;
pub use manifest::{BRIEFING, BatchManifest, BatchStatus, EntryStatus, MANIFEST, ManifestEntry, batch_size};
pub use manual::{MANUAL, SubmittedAnswer, SubmittedAnswers};
pub use mcp::MCP;
pub use package::pack;
pub use queue::{
    PullFuture, PullResult, QueueClosed, StepQueue, SubmitError, SubmitFuture, SubmitOutcome, SubmittedArtifact, Task,
    WorkerHealth,
};
pub use router::AnswerRouter;
pub use run_dir::{RunDir, StepFiles};
pub use script::ScriptAnswerer;
pub use settings::{AgentBounds, AgentSettings, Agents, AnswererKind, BreakerSettings, Price, RetrySettings};
pub use signal::{AgentSignal, SIGNAL, SignalStatus};
pub use stage_files::{AnswerCache, StageAnswerer, StageFiles, stored_bytes};
pub use stub::StubAnswers;
pub use tools::{ServerSettings, Servers, Variable};
#[cfg(unix)]
pub use workdir::{SandboxGaps, become_confined};
pub use wrapper::{UnwrappedAnswer, open};

/// Name of the answerer with canned answers.
pub const STUB: &str = "stub";
