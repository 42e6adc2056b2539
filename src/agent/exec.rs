//! A command that answers: the prompt on its standard input, JSON on its standard output.

use super::artifact::checked;
use super::found;
use super::process::{self, Ended, Said};
use super::settings::Settings;
use super::tokens::{Measured, taken};
use crate::diag::Diagnostic;
use crate::walk::{Agent, Answer, Asking, Name, Refusal, Reply, Request};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// How much of what it says is shown where it is no answer.
const SHOWN: usize = 300;

/// A command.
pub(super) struct Exec {
    name: Name,
    settings: Settings,
    root: PathBuf,
}

impl Exec {
    pub(super) fn new(name: &str, settings: &Settings, root: &Path) -> Self {
        Self { name: name.into(), settings: settings.clone(), root: root.to_owned() }
    }

    fn command(&self, request: &Request<'_>, asking: &Asking) -> Option<Command> {
        let (program, args) = self.settings.command.split_first()?;
        // A program named with a directory is looked for from the project's.
        let path = Path::new(program);
        let program = if program.contains('/') && path.is_relative() { self.root.join(path) } else { path.to_owned() };
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.root);
        command.env("ASTERISK_REQUEST", asking.id.to_string()).env("ASTERISK_RUN", request.run);
        command
            .env("ASTERISK_CASE", &request.case.id)
            .env("ASTERISK_STEP", request.path)
            .env("ASTERISK_NODE", request.node_name());
        Some(command)
    }

    /// The artifact in what it said, with how many tokens it says that it took.
    fn found(&self, said: &str) -> Result<(Value, Measured), String> {
        let none = || format!("there is no JSON object in it: {}", shown(said));
        let whole = found::object(said);
        let number = |path: &str| whole.as_ref().and_then(|whole| found::part(whole, path)?.as_u64());
        let tokens = self.settings.tokens.as_ref().map_or((None, None), |(prompt, answer)| (number(prompt), number(answer)));
        let Some(path) = &self.settings.answer else { return Ok((checked(whole.ok_or_else(none)?)?, tokens)) };
        let whole = whole.as_ref().ok_or_else(none)?;
        let artifact = match found::part(whole, path) {
            Some(Value::String(text)) => {
                found::object(text).ok_or_else(|| format!("there is no JSON object in its `{path}`: {}", shown(text)))?
            }
            Some(value) => value.clone(),
            None => return Err(format!("it has no `{path}`, where the answer is to stand: {}", shown(said))),
        };
        Ok((checked(artifact)?, tokens))
    }

    /// Says what is wrong with an answer, which is told to whoever is asked again.
    fn complain(&self, request: &Request<'_>, why: String) -> Refusal {
        let message = format!("the answer of `{}` to `{}` was not accepted: {why}", self.name, request.node_name());
        let refusal = Refusal::again(Diagnostic::error("agent/answer", message));
        request.complain(&self.name, vec![why]).err().unwrap_or(refusal)
    }

    /// That it could not answer, with the end of what it wrote to its standard error.
    fn failed(&self, request: &Request<'_>, why: &str, stderr: &str) -> Refusal {
        let message =
            format!("`{}` (`{}`) did not answer `{}`: {why}", self.name, self.settings.command.join(" "), request.node_name());
        let error = Diagnostic::error("agent/exec", message);
        let stderr = stderr.trim();
        Refusal::again(if stderr.is_empty() { error } else { error.help(format!("the end of its standard error:\n{stderr}")) })
    }
}

impl Answer for Exec {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&self, request: &Request<'_>) -> Result<Reply, Refusal> {
        let asking = request.ask(&self.name)?;
        let Some(command) = self.command(request, &asking) else {
            return Err(Refusal::failed(Diagnostic::error("agent/exec", format!("`{}` has no command", self.name))));
        };
        let Settings { timeout, max_bytes, price, .. } = self.settings;
        let Said { stdout, stderr, ended } = match process::run(command, asking.prompt.as_bytes(), timeout, max_bytes) {
            Ok(said) => said,
            Err(error) => {
                let refusal = self.failed(request, &format!("it cannot be started: {error}"), "");
                // A program that is not there does not come by waiting.
                return Err(if error.kind() == std::io::ErrorKind::NotFound {
                    Refusal::failed(refusal.diagnostic)
                } else {
                    refusal
                });
            }
        };
        match ended {
            Ended::Well => {}
            Ended::TooMuch => return Err(self.complain(request, format!("it is longer than {max_bytes} bytes"))),
            Ended::Late => {
                return Err(self.failed(request, &format!("it took longer than {} s", timeout.as_secs_f64()), &stderr));
            }
            Ended::Badly(how) => return Err(self.failed(request, &how, &stderr)),
        }
        let said = String::from_utf8_lossy(&stdout);
        let (artifact, measured) = self.found(&said).map_err(|why| self.complain(request, why))?;
        let tokens = Some(taken(&asking.prompt, &said, measured, price));
        let agent = Agent::new(self.name.clone(), asking.id, tokens);
        Ok(Reply { artifact: Arc::new(artifact), by: "agent", checked: true, agent: Some(Box::new(agent)) })
    }
}

/// The beginning of a text, on one line.
fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return "it says nothing".to_owned();
    }
    let cut: String = line.chars().take(SHOWN).collect();
    if cut.len() < line.len() { format!("\"{cut}...\"") } else { format!("\"{cut}\"") }
}
