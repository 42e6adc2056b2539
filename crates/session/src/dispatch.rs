//! The dispatch numbers of requests in the signal protocol: they count from 1 in a run, across its signal directories, and an open
//! request keeps its number when another process resumes the run.
//!
//! The journal's request ids derive from the request, so that they don't depend on the order of arrival; dispatch numbers are assigned
//! in the order in which requests are sent, and are stored next to the signals.

use super::projection::{case_dir, pretty};
use asterisk_files::OutDir;
use asterisk_walk::Request;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The file they are stored in.
pub(super) const DISPATCHES: &str = "dispatches.json";
/// The most bytes of it that are read.
const MOST: usize = 16 << 20;

/// The dispatch numbers of a run.
pub(super) struct Dispatches {
    dir: PathBuf,
    stored: Mutex<Option<KnownDispatches>>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct KnownDispatches {
    /// The last number assigned.
    last: i64,
    /// The numbers of open requests, by request id.
    open: BTreeMap<i64, i64>,
}

impl Dispatches {
    /// The numbers of the run that writes into this directory.
    pub(super) fn new(dir: PathBuf) -> Self {
        Self { dir: std::path::absolute(&dir).unwrap_or(dir), stored: Mutex::new(None) }
    }

    /// The number of a request; assigns a new one unless it is open.
    pub(super) fn number(&self, request: i64) -> io::Result<i64> {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = OutDir::private(&self.dir)?;
        let KnownDispatches { last, open } = known(&mut stored, &dir)?;
        if let Some(number) = open.get(&request) {
            return Ok(*number);
        }
        let number = last.saturating_add(1);
        open.insert(request, number);
        if let Err(error) = write(&dir, number, open) {
            open.remove(&request);
            return Err(error);
        }
        *last = number;
        Ok(number)
    }

    /// Closes a request, in the file too. Returns its number; `None` if it has none, as in a run that writes no files.
    pub(super) fn close(&self, request: i64) -> io::Result<Option<i64>> {
        if !self.dir.join(DISPATCHES).exists() {
            return Ok(None);
        }
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = OutDir::private(&self.dir)?;
        let KnownDispatches { last, open } = known(&mut stored, &dir)?;
        let Some(number) = open.remove(&request) else { return Ok(None) };
        write(&dir, *last, open)?;
        Ok(Some(number))
    }

    /// Closes a request. It is removed from the file with the next assignment.
    pub(super) fn settle(&self, request: i64) {
        if let Some(stored) = &mut *self.stored.lock().unwrap_or_else(PoisonError::into_inner) {
            stored.open.remove(&request);
        }
    }

    /// Writes the `state.json` of a case whose step becomes pending. A sub-pipeline leaves that to the enclosing step.
    pub(super) fn waits(&self, request: &Request<'_>) -> io::Result<()> {
        if request.path.contains('/') {
            return Ok(());
        }
        let state = request.params().get("state");
        let of = |key: &str| state.as_ref().and_then(|state| state.get(key)).map_or(Value::Null, |part| part.json());
        let step = |node: &Value| {
            let name = node.as_str().unwrap_or_default();
            let pipeline = &request.plan.pipeline;
            pipeline.node(name).map_or_else(|| name.to_uppercase(), |ix| pipeline.at(ix).step_name())
        };
        let visits = of("history").as_array().cloned().unwrap_or_default();
        let history: Vec<Value> = visits
            .iter()
            .map(|visit| {
                json!({
                    "step": step(&visit["node"]), "outcome": visit["outcome"], "heuristic_id": visit["edge"],
                    "timestamp": visit["at"],
                })
            })
            .collect();
        let file = json!({
            "case_id": request.case.id, "suite_id": request.run, "current_step": request.step_name(),
            "status": "running", "loop_counts": of("loops"), "history": history,
        });
        let name = format!("{}/state.json", case_dir(&request.case.id));
        OutDir::private(&self.dir)?.write(&name, &pretty(&file.to_string())).map(drop)
    }
}

/// The numbers that are stored, read once.
fn known<'s>(stored: &'s mut Option<KnownDispatches>, dir: &OutDir) -> io::Result<&'s mut KnownDispatches> {
    if stored.is_none() {
        let text = dir.read(DISPATCHES, MOST)?;
        *stored = Some(text.map_or_else(|| Ok(KnownDispatches::default()), |text| serde_json::from_slice(&text))?);
    }
    Ok(stored.get_or_insert_default())
}

fn write(dir: &OutDir, last: i64, open: &BTreeMap<i64, i64>) -> io::Result<()> {
    let next = json!({ "last": last, "open": open });
    dir.write(DISPATCHES, &format!("{next}\n")).map(drop)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn open_requests_keep_their_dispatch_number() {
        let dir = tempfile::tempdir().unwrap();
        let of = || Dispatches::new(dir.path().join("run"));
        let first = of();
        assert_eq!((first.number(77).unwrap(), first.number(5).unwrap(), first.number(77).unwrap()), (1, 2, 1));
        first.settle(77);
        assert_eq!(first.number(9).unwrap(), 3);
        let second = of();
        assert_eq!((second.number(5).unwrap(), second.number(77).unwrap(), second.number(9).unwrap()), (2, 4, 3));
        assert_eq!((second.close(5).unwrap(), second.close(5).unwrap(), of().close(9).unwrap()), (Some(2), None, Some(3)));
        assert_eq!(Dispatches::new(dir.path().join("none")).close(5).unwrap(), None);
        std::fs::write(dir.path().join("run").join(DISPATCHES), "{").unwrap();
        assert!(of().number(5).is_err());
    }
}
