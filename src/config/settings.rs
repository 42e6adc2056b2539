//! The settings in force, from everywhere they may come from.

use super::project_file::{self, ProjectFile};
use crate::clock::{Clock, FixedClock, SystemClock};
use crate::diag::{Diagnostic, Source};
use crate::files::{FileError, project_root};
use crate::session::{SessionError, Setup};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Fixes the time, for tests and reproducible runs: an RFC 3339 instant.
const CLOCK: &str = "ASTERISK_CLOCK";
/// The seconds that one call of a script may take: more than the default for a machine that is slow or has much else to do.
const SCRIPT_SECONDS: &str = "ASTERISK_SCRIPT_SECONDS";

/// What the command line (or, through it, the environment) says; what is absent is looked up further down.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// `--store`.
    pub store: Option<PathBuf>,
    /// `--out`.
    pub out: Option<PathBuf>,
    /// `--scripts`.
    pub scripts: Option<PathBuf>,
    /// `--domain`.
    pub domain: Option<String>,
    /// `--set NAME=VALUE`, in order.
    pub set: Vec<String>,
}

/// The settings for a session started in `here`.
pub fn resolve(given: Given, here: &Path) -> Result<Setup, SessionError> {
    let root = project_root(here);
    let file = match std::fs::read_to_string(root.join("asterisk.yaml")) {
        Ok(text) => project_file::read(&Source::new("asterisk.yaml", text))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => ProjectFile::default(),
        Err(source) => return Err(FileError::Io { path: root.join("asterisk.yaml"), source }.into()),
    };
    let below = |path: Option<String>| path.map(|path| root.join(path));
    Ok(Setup {
        store: given.store.or_else(|| below(file.store)).unwrap_or_else(|| root.join(".asterisk/asterisk.db")),
        out: given.out.unwrap_or_else(|| root.join(".asterisk/investigations")),
        scripts: given.scripts.or_else(|| below(file.scripts)),
        pipelines: below(file.pipelines),
        templates: below(file.templates),
        vars: parse_set(&given.set)?,
        project_vars: file.vars,
        workspace: json!({ "repositories": file.repositories }),
        domain: given.domain.or(file.domain),
        script_time: script_time()?,
        clock: clock()?,
        root,
    })
}

fn clock() -> Result<Arc<dyn Clock>, SessionError> {
    let Some(text) = std::env::var_os(CLOCK) else { return Ok(Arc::new(SystemClock)) };
    match text.to_str().and_then(|text| text.parse().ok()) {
        Some(at) => Ok(Arc::new(FixedClock::new(at, 0))),
        None => {
            let message = format!("{CLOCK} is not an RFC 3339 instant: {}", text.to_string_lossy());
            Err(SessionError::Asked(Box::new(Diagnostic::error("config/clock", message))))
        }
    }
}

fn script_time() -> Result<Option<Duration>, SessionError> {
    let Some(text) = std::env::var_os(SCRIPT_SECONDS) else { return Ok(None) };
    let seconds = text.to_str().and_then(|text| text.parse().ok()).filter(|seconds| *seconds > 0.0);
    match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(time) => Ok(Some(time)),
        None => {
            let message = format!("{SCRIPT_SECONDS} is not a number of seconds: {}", text.to_string_lossy());
            Err(SessionError::Asked(Box::new(Diagnostic::error("config/script-seconds", message))))
        }
    }
}

/// `name=value` settings: the value is JSON if it reads as JSON, else a text.
fn parse_set(set: &[String]) -> Result<Map<String, Value>, SessionError> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
            Ok((name.trim().to_owned(), value))
        }
        _ => {
            let message = format!("`--set {text}` is not NAME=VALUE");
            let diagnostic = Diagnostic::error("config/set", message).help("write for example --set recall_hit=0.9");
            Err(SessionError::Asked(Box::new(diagnostic)))
        }
    };
    set.iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_json_or_text() {
        let set = ["a=0.9", "b=true", "c=word", "d={\"x\":1}", "e="].map(str::to_owned);
        let vars = parse_set(&set).expect("settings");
        assert_eq!(Value::Object(vars), json!({"a": 0.9, "b": true, "c": "word", "d": {"x": 1}, "e": ""}));
        assert!(parse_set(&["x".to_owned()]).is_err());
    }
}
