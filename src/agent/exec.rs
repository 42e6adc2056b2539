//! A command that answers: the prompt on its standard input, JSON on its standard output.

use super::artifact::too_long;
use super::heard::Ear;
use super::process::{self, Ended, Said};
use super::settings::{Bounds, Settings};
use crate::diag::Diagnostic;
use crate::net::Secret;
use crate::walk::{Answer, Asking, Name, Refusal, Reply, Request};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command.
pub(super) struct Exec {
    name: Name,
    settings: Settings,
    root: PathBuf,
    /// The variables of others' secrets.
    withheld: BTreeSet<String>,
}

impl Exec {
    pub(super) fn new(name: &str, settings: &Settings, root: &Path, secrets: &BTreeSet<String>) -> Self {
        let mut withheld = secrets.clone();
        if let Some(Secret::Env(own)) = &settings.secret {
            withheld.remove(own);
        }
        Self { name: name.into(), settings: settings.clone(), root: root.to_owned(), withheld }
    }

    fn command(&self, request: &Request<'_>, asking: &Asking) -> Option<Command> {
        let mut command = process::command(&self.settings.command, &self.root, &self.withheld)?;
        command.env("ASTERISK_REQUEST", asking.id.to_string()).env("ASTERISK_RUN", request.run);
        command
            .env("ASTERISK_CASE", &request.case.id)
            .env("ASTERISK_STEP", request.path)
            .env("ASTERISK_NODE", request.node_name());
        Some(command)
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
        let Bounds { timeout, max_bytes, .. } = self.settings.bounds;
        let ear = Ear { name: &self.name, settings: &self.settings };
        let Said { stdout, stderr, ended, left } = match process::run(command, asking.prompt.as_bytes(), timeout, max_bytes) {
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
        if !left.is_empty() {
            let pids: Vec<String> = left.iter().map(ToString::to_string).collect();
            let why = format!("it left processes behind that cannot be ended: {}", pids.join(", "));
            let refusal = self.failed(request, &why, &stderr);
            return Err(Refusal::failed(refusal.diagnostic));
        }
        match ended {
            Ended::Well => {}
            Ended::TooMuch => return Err(ear.complain(request, too_long(max_bytes))),
            Ended::Late => {
                return Err(self.failed(request, &format!("it took longer than {} s", timeout.as_secs_f64()), &stderr));
            }
            Ended::Badly(how) => return Err(self.failed(request, &how, &stderr)),
        }
        ear.reply(request, &asking, &String::from_utf8_lossy(&stdout))
    }
}
