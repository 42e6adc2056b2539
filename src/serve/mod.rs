//! MCP server for workers: they start runs, pull steps, submit answers and request explanations. The only module that uses tokio, besides
//! `agent/tools`.
//!
//! ```text
//! handler                    the protocol
//! tools, args, fault         tools, their arguments, and errors
//! registry, start, signals   the run being served; starting it; its event log
//! steps                      pulling and submitting steps
//! reading, resources         data of past runs
//! paths                      validation of paths in messages
//! lines                      transport over standard input and output
//! http, guard, connections, body  transport over the network: access, limits and timeouts
//! health                     the health and the metrics of a worker of runs
//! ```

mod args;
mod body;
mod connections;
mod fault;
mod guard;
mod handler;
mod health;
mod http;
mod lines;
mod paths;
mod reading;
mod registry;
mod resources;
mod reviews;
mod signals;
mod start;
mod steps;
mod tools;

pub use guard::{NetworkGuard, Token};
pub use health::{HealthSource, serve_health};

use crate::ui::Ui;
use asterisk_diag::Diagnostic;
use asterisk_lint as lint;
use asterisk_session::{Session, SessionError};
use handler::Handler;
use registry::SessionRegistry;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

/// How long no client may make contact before a run is aborted.
pub const IDLE: Duration = Duration::from_secs(300);
/// Maximum size of a message, in bytes.
const MAX_BYTES: usize = 4 << 20;
/// Stack size of worker threads: scripts are evaluated recursively.
const STACK: usize = 64 << 20;
/// Maximum number of concurrent read-only tool calls.
const READERS: usize = 16;

/// Transport of the server.
pub enum ServeMode {
    /// Standard input and output, until the end of input.
    Stdio,
    /// Streamable HTTP.
    Http(NetworkGuard),
}

/// Serves until all clients are gone or `end` is cancelled. A run in progress is stopped then and can be resumed.
pub fn serve(session: Session, lint: lint::Config, how: ServeMode, idle: Duration, ui: &Ui) -> Result<(), SessionError> {
    let runtime = runtime().map_err(|error| failed(&format!("cannot start the server threads: {error}")))?;
    let registry = Arc::new(SessionRegistry::new(session, lint, idle));
    let end = CancellationToken::new();
    let interrupted = end.clone();
    ui.environment().on_interrupt(move || interrupted.cancel());
    let served = runtime.block_on(async {
        let watch = tokio::spawn(Arc::clone(&registry).watch_idle());
        let served = match how {
            ServeMode::Stdio if !ui.environment().owns_process() => {
                Err("the standard streams of the process already serve another client".to_owned())
            }
            ServeMode::Stdio => stdio(Handler::new(Arc::clone(&registry)), &end).await,
            ServeMode::Http(door) => http::serve(&registry, door, &end, ui).await,
        };
        watch.abort();
        served
    });
    registry.close();
    // A pending read of standard input cannot be cancelled.
    runtime.shutdown_background();
    served.map_err(|why| failed(&why))
}

fn runtime() -> std::io::Result<Runtime> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(4);
    Builder::new_multi_thread()
        .worker_threads(threads)
        .max_blocking_threads(READERS)
        .thread_stack_size(STACK)
        .enable_all()
        .build()
}

async fn stdio(handler: Handler, end: &CancellationToken) -> Result<(), String> {
    let (read, write) = rmcp::transport::io::stdio_pipes();
    // The SDK silently drops messages that are too long or no JSON, which leaves their senders waiting.
    let transport = lines::MessageLines::new(read, write, MAX_BYTES + (64 << 10));
    match rmcp::service::serve_server_with_ct(handler, transport, end.clone()).await {
        Ok(running) => running.waiting().await.map(drop).map_err(|error| error.to_string()),
        // A client that disconnects before its first message is not an error.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_) | rmcp::service::ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(error.to_string()),
    }
}

fn failed(why: &str) -> SessionError {
    SessionError::BadRequest(Box::new(Diagnostic::error("serve/failed", why.to_owned())))
}
