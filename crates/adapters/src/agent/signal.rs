//! The signal of a request (`signal.json`): the request, the paths of its prompt and answer, and its status.

use super::run_dir::RunDir;
use asterisk_base::clock::Timestamp;
use serde::{Deserialize, Serialize};
use std::io;

/// File name of the signal.
pub const SIGNAL: &str = "signal.json";
/// Maximum size of a signal, in bytes.
const MAX_FILE_BYTES: usize = 64 << 10;

/// Status of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignalStatus {
    /// The answer is awaited.
    Waiting,
    /// The answer is accepted.
    Processing,
    /// The answer is recorded.
    Done,
    /// The request failed without an answer.
    Error,
    /// The run is over.
    Complete,
}

/// A request as published to other programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSignal {
    /// Status of the request.
    pub status: SignalStatus,
    /// Sequence number of the request, from 1 in each run; repeated in the answer's wrapper.
    pub dispatch_id: i64,
    /// Id of the case.
    #[serde(default)]
    pub case_id: String,
    /// Name of the step (`F0_RECALL`).
    #[serde(default)]
    pub step: String,
    /// Path of the prompt.
    #[serde(default)]
    pub prompt_path: String,
    /// Path for the answer.
    #[serde(default)]
    pub artifact_path: String,
    /// Creation time of the signal.
    #[serde(default)]
    pub timestamp: Timestamp,
    /// Error message; empty without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
}

impl AgentSignal {
    /// Reads a signal file; `None` if it is missing or incomplete, since others may be writing it.
    pub fn read(run_dir: &dyn RunDir, name: &str) -> Option<Self> {
        let text = run_dir.read(name, MAX_FILE_BYTES).ok()??;
        Self::parse(&text)
    }

    /// Parses a signal.
    pub fn parse(text: &[u8]) -> Option<Self> {
        if let Ok(signal) = serde_json::from_slice(text) {
            return Some(signal);
        }
        // A program that reports an error may omit the time, or write it in another format.
        let mut value: serde_json::Value = serde_json::from_slice(text).ok()?;
        value.as_object_mut()?.remove("timestamp");
        serde_json::from_value(value).ok()
    }

    /// Writes the signal.
    pub fn write(&self, run_dir: &dyn RunDir, name: &str) -> io::Result<()> {
        run_dir.write(name, &self.text())
    }

    /// The signal as JSON text.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}
