//! What a store holds, in numbers.

use super::error::StoreError;
use super::migrations::{STEPS, newest};
use super::open::Store;
use super::runs::RunStatus;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a store holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StoreFigures {
    /// Format version of the store.
    pub format: i64,
    /// Number of runs by their status (`running`, `paused`, `done`, `error`).
    pub runs: BTreeMap<String, u64>,
    /// Number of cases of all runs.
    pub cases: u64,
    /// Number of events.
    pub events: u64,
    /// Number of contents.
    pub contents: u64,
    /// Number of known symptoms.
    pub symptoms: u64,
    /// Number of known root causes.
    pub rcas: u64,
    /// Size in bytes, with indices; on a server that of the project's tables.
    pub bytes: u64,
}

impl Store {
    /// What the store holds.
    pub fn figures(&self) -> Result<StoreFigures, StoreError> {
        let mut figures = StoreFigures { format: newest(STEPS), ..StoreFigures::default() };
        for status in [RunStatus::Running, RunStatus::Paused, RunStatus::Done, RunStatus::Error] {
            figures.runs.insert(status.name().to_owned(), 0);
        }
        for run in self.runs()? {
            *figures.runs.entry(run.status.name().to_owned()).or_default() += 1;
        }
        self.read(|conn| {
            let count = |table: &str| -> Result<u64, StoreError> {
                let count: i64 = conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
                Ok(count.unsigned_abs())
            };
            figures.cases = count("run_cases")?;
            figures.events = count("events")?;
            figures.contents = count("blobs")?;
            figures.symptoms = count("symptoms")?;
            figures.rcas = count("rcas")?;
            let bytes = match conn.file() {
                Some(file) => {
                    file.query_row("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()", [], |row| {
                        row.get::<_, i64>(0)
                    })?
                }
                None => conn.query_row(
                    "SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS BIGINT) FROM pg_class c \
                     JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND c.relkind = 'r'",
                    [],
                    |row| row.get::<_, i64>(0),
                )?,
            };
            figures.bytes = bytes.unsigned_abs();
            Ok(())
        })?;
        Ok(figures)
    }
}
