//! `--mem`, `--preset`, `--fail-fast` and `--no-cache`: shorthands for policy settings.

use asterisk_diag::Diagnostic;
use asterisk_project::{MEMORY_PREFIX, POLICY_PREFIX};
use asterisk_session::SessionError;
use clap::Args;
use serde_json::{Value, json};
use std::path::Path;

/// Flags of policy pipelines.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct PolicyArgs {
    /// Set a value that tasks refer to as `{NAME}`. VALUE is JSON, or otherwise a string; `@FILE` reads a file. One argument may
    /// set several: 'a="x" b="y"'. The same as --set mem.NAME=VALUE.
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "resume")]
    mem: Vec<String>,
    /// A preset of `data/policy.yaml`, or a policy file, that overrides the pipeline's settings.
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "resume")]
    preset: Option<String>,
    /// Stop at the first failed node instead of running the nodes that do not depend on it.
    #[arg(long, conflicts_with = "resume")]
    fail_fast: bool,
    /// Do not use cached answers.
    #[arg(long, conflicts_with = "resume")]
    no_cache: bool,
}

impl PolicyArgs {
    /// Returns the flags as `--set` arguments.
    pub(super) fn settings(&self) -> Result<Vec<String>, SessionError> {
        let mut set = Vec::new();
        for text in &self.mem {
            for (name, value) in pairs(text)? {
                set.push(format!("{MEMORY_PREFIX}{name}={value}"));
            }
        }
        if let Some(preset) = &self.preset {
            let value =
                if Path::new(preset).is_file() { json!({ "name": preset, "text": read(preset)? }) } else { json!(preset) };
            set.push(format!("{POLICY_PREFIX}preset={value}"));
        }
        set.extend(self.fail_fast.then(|| format!("{POLICY_PREFIX}fail_fast=true")));
        set.extend(self.no_cache.then(|| format!("{POLICY_PREFIX}cache=false")));
        Ok(set)
    }
}

fn read(path: &str) -> Result<String, SessionError> {
    std::fs::read_to_string(path).map_err(|error| {
        let message = format!("`{path}` cannot be read: {error}");
        SessionError::BadRequest(Box::new(Diagnostic::error("input/file", message)))
    })
}

/// Splits an argument into pairs. A quoted value may be followed by further pairs.
fn pairs(text: &str) -> Result<Vec<(String, Value)>, SessionError> {
    let refused = || {
        let message = format!("`--mem {text}` is not NAME=VALUE");
        SessionError::bad_request("input/mem", message, Some("write for example --mem product_idea=\"Todo App\"".into()))
    };
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, value) = rest.split_once('=').ok_or_else(refused)?;
        let name = name.trim();
        if name.is_empty() || (name.contains(char::is_whitespace) && value.starts_with('"')) {
            return Err(refused());
        }
        let mut quoted = serde_json::Deserializer::from_str(value).into_iter::<Value>();
        if let Some(Ok(Value::String(first))) = quoted.next().filter(|_| value.starts_with('"')) {
            let after = &value[quoted.byte_offset()..];
            if after.is_empty() || after.starts_with(char::is_whitespace) {
                found.push((name.to_owned(), Value::String(first)));
                rest = after.trim();
                continue;
            }
        }
        let value = match value.strip_prefix('@') {
            Some(path) => Value::String(read(path)?),
            None => serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned())),
        };
        found.push((name.to_owned(), value));
        break;
    }
    if found.is_empty() { Err(refused()) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mem_takes_json_text_or_several_quoted_values() {
        let of = |text: &str| pairs(text).map_or(Value::Null, |pairs| json!(pairs));
        assert_eq!(of("idea=Todo App"), json!([["idea", "Todo App"]]));
        assert_eq!(of("idea=\"Todo App\""), json!([["idea", "Todo App"]]));
        assert_eq!(of("n=3"), json!([["n", 3]]));
        assert_eq!(of("a=\"x y\" b=\"#0ea5e9\" c=z"), json!([["a", "x y"], ["b", "#0ea5e9"], ["c", "z"]]));
        assert_eq!(of("a=b=c"), json!([["a", "b=c"]]));
        assert_eq!(of("a=\"x\"y"), json!([["a", "\"x\"y"]]));
        assert_eq!((of("a"), of("=x"), of("")), (Value::Null, Value::Null, Value::Null));
    }
}
