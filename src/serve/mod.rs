//! Serving workers over MCP: they start runs, pull steps, bring answers, and ask why. tokio is known here alone.
//!
//! ```text
//! handler                    what the protocol asks for, told to the others
//! tools, args, fault         the tools with their arguments; what went wrong, as data
//! registry, start, signals   the one run that is served; starting it; what happens, for whoever asks
//! steps                      pulling and submitting
//! reading, resources         what past runs say
//! paths                      paths in messages
//! lines                      standard input and output
//! http, guard, guests, body  the network, who is let in, how many, and for how long
//! ```

mod args;
mod body;
mod fault;
mod guard;
mod guests;
mod handler;
mod http;
mod lines;
mod paths;
mod reading;
mod registry;
mod resources;
mod signals;
mod start;
mod steps;
mod tools;

pub use guard::{NetworkGuard, Token};

use crate::diag::Diagnostic;
use crate::lint;
use crate::session::{Session, SessionError};
use crate::ui::Ui;
use handler::Handler;
use registry::SessionRegistry;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

/// How long nobody may be heard of before a run is aborted.
pub const IDLE: Duration = Duration::from_secs(300);
/// The most bytes of a message.
const MOST_BYTES: usize = 4 << 20;
/// Scripts are evaluated recursively.
const STACK: usize = 64 << 20;
/// How many tools that look something up work at once.
const READERS: usize = 16;

/// Where workers come from.
pub enum ServeMode {
    /// Standard input and output, until the input ends.
    Stdio,
    /// The network.
    Http(NetworkGuard),
}

/// Serves until there is nobody left to be served, or `end` is cancelled. A run that is under way is stopped then, and can be resumed.
pub fn serve(session: Session, lint: lint::Config, how: ServeMode, idle: Duration, ui: Ui) -> Result<(), SessionError> {
    let runtime = runtime().map_err(|error| failed(&format!("no threads to serve with: {error}")))?;
    let desk = Arc::new(SessionRegistry::new(session, lint, idle));
    let end = CancellationToken::new();
    let interrupted = end.clone();
    drop(ctrlc::set_handler(move || interrupted.cancel()));
    let served = runtime.block_on(async {
        let watch = tokio::spawn(Arc::clone(&desk).mind_idle());
        let served = match how {
            ServeMode::Stdio => stdio(Handler::new(Arc::clone(&desk)), &end).await,
            ServeMode::Http(door) => http::serve(&desk, door, &end, ui).await,
        };
        watch.abort();
        served
    });
    desk.close();
    // A read of standard input cannot be cancelled.
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
    // The SDK drops what is too long or no JSON without a word, and whoever asked waits.
    let transport = lines::MessageLines::new(read, write, MOST_BYTES + (64 << 10));
    match rmcp::service::serve_server_with_ct(handler, transport, end.clone()).await {
        Ok(running) => running.waiting().await.map(drop).map_err(|error| error.to_string()),
        // Whoever goes before a word was said wanted nothing.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_) | rmcp::service::ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(error.to_string()),
    }
}

fn failed(why: &str) -> SessionError {
    SessionError::Asked(Box::new(Diagnostic::error("serve/failed", why.to_owned())))
}
