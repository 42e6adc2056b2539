//! Arguments of the MCP tools.

use super::fault::ToolFault;
use asterisk_session::RouteState;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Maximum length of a name of a worker, event or case.
const MAX_NAME: usize = 200;

/// One value or a list.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    One(String),
    All(Vec<String>),
}

impl OneOrMany {
    pub(super) fn all(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::All(all) => all,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct StartRun {
    pub(super) pipeline: Option<String>,
    pub(super) input: Option<OneOrMany>,
    pub(super) launch: Option<String>,
    pub(super) cases: Vec<String>,
    pub(super) via: Option<OneOrMany>,
    pub(super) via_nodes: BTreeMap<String, OneOrMany>,
    pub(super) set: Map<String, Value>,
    pub(super) parallel: Option<usize>,
    pub(super) desired_capacity: usize,
    pub(super) budget: Option<u64>,
    pub(super) seed: u64,
    pub(super) resume: Option<String>,
    pub(super) force: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct NextStep {
    pub(super) session_id: Option<String>,
    pub(super) worker: Option<String>,
    pub(super) timeout_ms: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ListReviews {
    pub(super) run: Option<String>,
    pub(super) limit: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReviewCase {
    pub(super) run: Option<String>,
    pub(super) case: String,
    pub(super) verdict: String,
    pub(super) to: Option<String>,
    pub(super) defect_type: Option<String>,
    pub(super) message: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Submit {
    #[serde(default)]
    pub(super) session_id: Option<String>,
    pub(super) dispatch_id: i64,
    pub(super) ticket: String,
    pub(super) artifact: Value,
    #[serde(default)]
    pub(super) tokens: TokenCounts,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TokenCounts {
    #[serde(rename = "in")]
    pub(super) prompt: Option<u64>,
    #[serde(rename = "out")]
    pub(super) answer: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct GetReport {
    pub(super) run: Option<String>,
    pub(super) format: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct EmitSignal {
    pub(super) session_id: Option<String>,
    pub(super) event: String,
    pub(super) agent: String,
    pub(super) case_id: Option<String>,
    pub(super) step: Option<String>,
    pub(super) meta: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct GetSignals {
    pub(super) session_id: Option<String>,
    pub(super) since: i64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OfSession {
    pub(super) session_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Explain {
    pub(super) run: Option<String>,
    pub(super) case: Option<String>,
    pub(super) step: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Route {
    pub(super) pipeline: Option<String>,
    pub(super) node: String,
    #[serde(default)]
    pub(super) artifact: Value,
    #[serde(default)]
    pub(super) state: RouteState,
    #[serde(default)]
    pub(super) vars: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LintScript {
    pub(super) path: String,
    pub(super) text: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Replay {
    pub(super) runs: Vec<String>,
    pub(super) pipeline: Option<String>,
    pub(super) set: Map<String, Value>,
}

/// Deserialises arguments.
pub(super) fn read<T: DeserializeOwned>(args: Option<Map<String, Value>>) -> Result<T, ToolFault> {
    serde_json::from_value(Value::Object(args.unwrap_or_default()))
        .map_err(|error| ToolFault::new("arguments", format!("invalid arguments: {error}")))
}

/// Checks that a name is not empty and not too long.
pub(super) fn name(what: &str, text: &str) -> Result<String, ToolFault> {
    let plain: String = text.trim().chars().filter(|c| !c.is_control()).collect();
    if plain.is_empty() {
        return Err(ToolFault::new("arguments", format!("`{what}` is empty")));
    }
    if plain.len() > MAX_NAME {
        return Err(ToolFault::new("arguments", format!("`{what}` is longer than {MAX_NAME} bytes")));
    }
    Ok(plain)
}
