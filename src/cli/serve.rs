//! `asterisk serve`.

use super::{GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::serve::{IDLE, NetworkGuard, ServeMode, Token, serve as served};
use crate::ui::OutputFormat;
use asterisk_base::environment::Variables;
use asterisk_diag::Diagnostic;
use asterisk_files::read_secret;
use asterisk_session::{Session, SessionError};
use clap::{Args, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The environment variable with the token.
const TOKEN: &str = "ASTERISK_TOKEN";

/// Serve agents over MCP: they can start runs, pull steps, submit answers, read reports, and query decisions.
#[derive(Debug, Args)]
#[command(
    after_help = "An agent's settings name the program: {\"command\": \"asterisk\", \"args\": [\"serve\", \"--mcp\", \"stdio\"]}.\n\
                  The tools: start_run, get_next_step, submit_artifact, get_report, emit_signal, get_signals, get_worker_health,\n\
                  explain, route, lint_script, replay. The prompt `worker` instructs an agent.\n\n\
                  Examples:\n  asterisk serve\n  asterisk serve --mcp http --http 127.0.0.1:8700\n  \
                  asterisk serve --mcp http --http 0.0.0.0:8700 --allow-host ci.example.com --token-file token"
)]
pub(super) struct ServeArgs {
    /// The transport: standard input and output, or HTTP.
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    mcp: Transport,
    /// The address to listen on. On any but the loopback interface, clients need a token: that of the variable `ASTERISK_TOKEN`,
    /// or of --token-file.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8700")]
    http: SocketAddr,
    /// A file with the token, not readable by others (mode 0600).
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// An accepted host name of this server, besides those of the loopback.
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// An origin whose pages may send requests, besides those of this machine.
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// The maximum number of connections; others wait until one ends or becomes idle.
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u16).range(1..))]
    connections: u16,
    /// The maximum number of connections from one address [default: half of all; all for this machine].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    connections_per_peer: Option<u16>,
    /// A run is aborted after this many seconds without a message from any agent; it can be resumed.
    #[arg(long, value_name = "SECONDS", default_value_t = IDLE.as_secs_f64())]
    idle: f64,
    #[command(flatten)]
    project: ProjectArgs,
    /// The output directory of runs [default: .asterisk/investigations in the project's directory].
    #[arg(id = "ASTERISK_OUT", long = "out", value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Transport {
    #[default]
    Stdio,
    Http,
}

pub(super) fn serve(global: &GlobalArgs, args: &ServeArgs) -> Result<Exit, SessionError> {
    let ui = &global.printer(OutputFormat::Pretty);
    let idle = Duration::try_from_secs_f64(args.idle).ok().filter(|idle| !idle.is_zero()).ok_or_else(|| {
        SessionError::bad_request(
            "serve/idle",
            format!("`--idle {}` is not a duration", args.idle),
            Some("use a number of seconds above 0".into()),
        )
    })?;
    let resolved = global.resolve(&args.project, args.out.clone())?;
    let how = match args.mcp {
        Transport::Stdio => ServeMode::Stdio,
        Transport::Http => ServeMode::Http(network_guard(global.variables(), args)?),
    };
    served(Session::new(resolved.setup), resolved.lint, how, idle, ui)?;
    Ok(Exit::Ok)
}

fn network_guard(variables: &Variables, args: &ServeArgs) -> Result<NetworkGuard, SessionError> {
    let token = token(variables, args)?;
    if token.is_none() && !args.http.ip().is_loopback() {
        let message = format!("`{}` is reachable from other machines, so clients must present a token", args.http);
        let help = format!("set {TOKEN}, or pass a file of mode 0600 with --token-file");
        return Err(SessionError::bad_request("serve/token", message, Some(help)));
    }
    Ok(NetworkGuard {
        at: args.http,
        token,
        hosts: args.allow_host.clone(),
        origins: args.allow_origin.clone(),
        connections: args.connections.into(),
        from_one: args.connections_per_peer.map(usize::from),
    })
}

fn token(variables: &Variables, args: &ServeArgs) -> Result<Option<Token>, SessionError> {
    let (secret, from) = match &args.token_file {
        Some(path) => (Some(read_secret(path)?), format!("`{}`", path.display())),
        None => (variables.text(TOKEN).filter(|secret| !secret.is_empty()), format!("${TOKEN}")),
    };
    let Some(secret) = secret else { return Ok(None) };
    Token::new(secret.trim()).map(Some).ok_or_else(|| {
        let message = format!("the token of {from} is shorter than {} bytes", Token::LEAST);
        SessionError::BadRequest(Box::new(Diagnostic::error("serve/token", message).help("for example: openssl rand -hex 32")))
    })
}
