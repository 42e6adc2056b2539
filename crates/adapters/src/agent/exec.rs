//! An agent that is a command: the prompt on standard input, JSON on standard output.

use super::artifact::too_long;
use super::context::ExternalContext;
use super::guard::guarded;
use super::output_reader::OutputReader;
use super::process::{self, CommandEnd, CommandOutput};
use super::settings::{AgentBounds, AgentSettings};
use crate::net::SecretSource;
use asterisk_base::environment::Variables;
use asterisk_diag::{Code, Diagnostic};
use asterisk_walk::{Answerer, Name, NodeAnswer, PromptRequest, Refusal, Request};
use std::path::PathBuf;
use std::process::Command;

/// An agent that runs a command for each request.
pub(super) struct ExecAgent {
    name: Name,
    settings: AgentSettings,
    root: PathBuf,
    /// This program's file, which guards the command.
    program: PathBuf,
    variables: Variables,
    /// The run's directory, if the run writes files.
    run_dir: Option<PathBuf>,
}

impl ExecAgent {
    pub(super) fn new(name: &str, settings: &AgentSettings, outside: &ExternalContext<'_>) -> Self {
        let own = if let Some(SecretSource::Env(own)) = &settings.secret { Some(own.as_str()) } else { None };
        Self {
            name: name.into(),
            settings: settings.clone(),
            root: outside.root.to_owned(),
            program: outside.program.to_owned(),
            variables: outside.variables(own),
            run_dir: outside.run_files.clone(),
        }
    }

    fn command(&self, request: &Request<'_>, prompt_request: &PromptRequest) -> Option<Command> {
        let mut command = process::command(&self.settings.command, &self.root, &self.variables)?;
        if let Some(dir) = &self.run_dir {
            command.env("ASTERISK_RUN_DIR", dir);
        }
        command.env("ASTERISK_REQUEST", prompt_request.id.to_string()).env("ASTERISK_RUN", request.run);
        command
            .env("ASTERISK_CASE", &request.case.id)
            .env("ASTERISK_MODEL", self.settings.model_named(request.model).map_or("", String::as_str))
            .env("ASTERISK_STEP", request.path)
            .env("ASTERISK_NODE", request.name().as_str());
        Some(command)
    }

    /// Refusal: the command failed, with the end of its standard error.
    fn failed(&self, request: &Request<'_>, why: &str, stderr: &str) -> Refusal {
        let message =
            format!("`{}` (`{}`) did not answer `{}`: {why}", self.name, self.settings.command.join(" "), request.name());
        let error = Diagnostic::error("agent/exec", message);
        let stderr = stderr.trim();
        Refusal::again(if stderr.is_empty() { error } else { error.help(format!("the end of its standard error:\n{stderr}")) })
    }
}

impl Answerer for ExecAgent {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        let prompt_request = request.dispatch(&self.name)?;
        let Some(command) = self.command(request, &prompt_request) else {
            return Err(Refusal::failed(Diagnostic::error("agent/exec", format!("`{}` lacks a command", self.name))));
        };
        let AgentBounds { timeout, max_bytes, .. } = self.settings.bounds;
        let timeout = request.time(timeout);
        let reader = OutputReader { name: &self.name, settings: &self.settings };
        let CommandOutput { stdout, stderr, ended, left } = match guarded(&self.program, &command)
            .and_then(|command| process::run(command, prompt_request.prompt.as_bytes(), timeout, max_bytes))
        {
            Ok(output) => output,
            Err(error) => {
                let refusal = self.failed(request, &format!("it cannot be started: {error}"), "");
                // Retrying does not help if the program does not exist.
                return Err(if error.kind() == std::io::ErrorKind::NotFound {
                    Refusal::failed(refusal.diagnostic)
                } else {
                    refusal
                });
            }
        };
        if !left.is_empty() {
            let pids: Vec<String> = left.iter().map(ToString::to_string).collect();
            let why = format!("it left processes behind that cannot be killed: {}", pids.join(", "));
            let refusal = self.failed(request, &why, &stderr);
            return Err(Refusal::failed(refusal.diagnostic));
        }
        match ended {
            CommandEnd::Success => {}
            CommandEnd::OutputLimit => return Err(reader.complain(request, too_long(max_bytes))),
            CommandEnd::TimedOut => {
                let mut late = self.failed(request, &format!("it took longer than {} s", timeout.as_secs_f64()), &stderr);
                late.diagnostic.code = Code::AgentLate.into();
                return Err(late);
            }
            CommandEnd::Failure(how) => return Err(self.failed(request, &how, &stderr)),
        }
        reader.reply(request, &prompt_request, &String::from_utf8_lossy(&stdout))
    }
}
