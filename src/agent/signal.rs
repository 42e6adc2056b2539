//! The signal of a request (`signal.json`): what is asked, where its prompt is and its answer belongs, and how far it is.

use super::run_dir::RunDir;
use crate::clock::Timestamp;
use serde::{Deserialize, Serialize};
use std::io;

/// The name of its file.
pub const SIGNAL: &str = "signal.json";
/// The most bytes of one that are read.
const MOST: usize = 64 << 10;

/// How far a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignalStatus {
    /// Its answer is waited for.
    Waiting,
    /// The answer is accepted.
    Processing,
    /// The answer is recorded.
    Done,
    /// There is no answer.
    Error,
    /// The run is over.
    Complete,
}

/// A request, as others see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSignal {
    /// How far it is.
    pub status: SignalStatus,
    /// The request's number, which counts up from 1 in the run: it belongs in the answer's wrapper.
    pub dispatch_id: i64,
    /// The case.
    #[serde(default)]
    pub case_id: String,
    /// The step (`F0_RECALL`).
    #[serde(default)]
    pub step: String,
    /// Where the prompt is.
    #[serde(default)]
    pub prompt_path: String,
    /// Where the answer belongs.
    #[serde(default)]
    pub artifact_path: String,
    /// When the signal was made.
    #[serde(default)]
    pub timestamp: Timestamp,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
}

impl AgentSignal {
    /// The signal in a file, if one can be read there: others may be writing it.
    pub fn read(tray: &dyn RunDir, name: &str) -> Option<Self> {
        let text = tray.read(name, MOST).ok()??;
        Self::parse(&text)
    }

    /// The signal in a text.
    pub fn parse(text: &[u8]) -> Option<Self> {
        if let Ok(signal) = serde_json::from_slice(text) {
            return Some(signal);
        }
        // Whoever reports an error may have left out the time, or written it otherwise.
        let mut value: serde_json::Value = serde_json::from_slice(text).ok()?;
        value.as_object_mut()?.remove("timestamp");
        serde_json::from_value(value).ok()
    }

    /// Writes it.
    pub fn write(&self, tray: &dyn RunDir, name: &str) -> io::Result<()> {
        tray.write(name, &self.text())
    }

    /// Its text.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}
