//! Creation of a run: everything it starts from is stored in one transaction.

use super::error::StoreError;
use super::journal::RunJournal;
use super::open::Store;
use super::outcomes::PackedOutcomes;
use super::step::{CaseIds, insert_blob, insert_blobs};
use crate::sql::{Connection, OptionalExtension, params};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Case, Hash, Launch, TestOutcomes, canonical};
use asterisk_walk::Blob;
use serde::Serialize;
use std::fmt::Write as _;

/// A run to create.
#[derive(Clone, Debug)]
pub struct NewRun<'a> {
    /// Id of the run, unique in the store.
    pub run: &'a str,
    /// Name of the pipeline.
    pub pipeline: &'a str,
    /// Start time.
    pub started_at: Timestamp,
    /// Settings of the run, as JSON.
    pub settings: Blob,
    /// Names and content addresses of the project's sources, as JSON.
    pub manifest: Blob,
    /// The sources named by the manifest, and any other content to store with the run.
    pub blobs: Vec<Blob>,
    /// The launch under investigation.
    pub launch: &'a Launch,
    /// The cases to walk, in order.
    pub cases: Vec<&'a Case>,
}

impl Store {
    /// Creates a run in one transaction. The returned journal holds the lease on the run; [`Store::journal`] acquires it later.
    pub fn begin_run(&self, new: &NewRun<'_>) -> Result<RunJournal, StoreError> {
        let writer = self.writer()?;
        let outcomes = PackedOutcomes::new(new.launch)?;
        let lease = self.lease(new.run).map_err(|error| match error {
            // Another process is creating or executing a run of that name.
            StoreError::Busy(_) => StoreError::RunExists(new.run.to_owned()),
            other => other,
        })?;
        let (run, cases) = writer.exclusively(|conn| {
            let launch = store_launch(conn, new.launch)?;
            for blob in [&new.settings, &new.manifest] {
                insert_blob(conn, &blob.hash, &blob.text)?;
            }
            insert_blobs(conn, &new.blobs)?;
            let run = insert_run(conn, new, launch)?;
            let launch = launch_row(conn, run, new)?;
            if let Some(outcomes) = &outcomes {
                outcomes.store(conn, launch, run, new.launch)?;
            }
            Ok((run, insert_cases(conn, run, launch, new)?))
        })?;
        Ok(RunJournal::new(self.clone(), new.run.to_owned(), (run, 0), cases, lease))
    }
}

fn insert_run(conn: &Connection, new: &NewRun<'_>, launch: Hash) -> Result<i64, StoreError> {
    let mut insert = conn.prepare_cached(
        "INSERT INTO runs (name, pipeline, status, started_at, start_seq, settings, manifest, launch) \
         VALUES (?1, ?2, 'running', ?3, (SELECT coalesce(max(seq), 0) FROM events), ?4, ?5, ?6) RETURNING id",
    )?;
    let values = params![
        new.run,
        new.pipeline,
        new.started_at.millis(),
        new.settings.hash.bytes(),
        new.manifest.hash.bytes(),
        launch.bytes(),
    ];
    match insert.query_row(values, |row| row.get(0)) {
        Err(error) if error.is_constraint() => Err(StoreError::RunExists(new.run.to_owned())),
        other => Ok(other?),
    }
}

fn insert_cases(conn: &Connection, run: i64, launch: i64, new: &NewRun<'_>) -> Result<CaseIds, StoreError> {
    let mut find = conn.prepare_cached("SELECT id FROM cases WHERE launch = ?1 AND item = ?2")?;
    let mut make = conn.prepare_cached("INSERT INTO cases (launch, item, test) VALUES (?1, ?2, ?3) RETURNING id")?;
    let mut insert = conn.prepare_cached(
        "INSERT INTO run_cases (run, item, known, recall_key, status, content) VALUES (?1, ?2, ?3, ?4, 'waiting', ?5) RETURNING id",
    )?;
    let mut cases = CaseIds::with_capacity(new.cases.len());
    for case in &new.cases {
        if case.id.is_empty() || cases.contains_key(case.id.as_str()) {
            return Err(StoreError::Refused(format!("the id `{}` is not unique", case.id)));
        }
        let content = json_blob(case)?;
        insert_blob(conn, &content.hash, &content.text)?;
        let known: i64 = match find.query_row(params![launch, case.id], |row| row.get(0)).optional()? {
            Some(known) => known,
            None => make.query_row(params![launch, case.id, case.name], |row| row.get(0))?,
        };
        let values: &[&dyn rusqlite::ToSql] = params![run, case.id, known, case.recall_key, content.hash.bytes()];
        let row: i64 = insert.query_row(values, |row| row.get(0))?;
        cases.insert(case.id.as_str().into(), row);
    }
    Ok(cases)
}

fn launch_row(conn: &Connection, run: i64, new: &NewRun<'_>) -> Result<i64, StoreError> {
    let launch = new.launch;
    let identity = params![launch.name, launch.run_id, launch.number];
    let mut find = conn.prepare_cached(
        "SELECT id FROM launches WHERE name = ?1 AND external = ?2 AND coalesce(number, -1) = coalesce(?3, -1)",
    )?;
    if let Some(row) = find.query_row(identity, |row| row.get(0)).optional()? {
        return Ok(row);
    }
    let began = launch.started_at.unwrap_or(new.started_at).millis();
    let mut make = conn.prepare_cached(
        "INSERT INTO launches (name, external, number, version, at, run) VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id",
    )?;
    let values = params![launch.name, launch.run_id, launch.number, launch.version(), began, run];
    Ok(make.query_row(values, |row| row.get(0))?)
}

fn store_launch(conn: &Connection, launch: &Launch) -> Result<Hash, StoreError> {
    let mut cases = Vec::with_capacity(launch.cases.len());
    for case in &launch.cases {
        let blob = json_blob(case)?;
        insert_blob(conn, &blob.hash, &blob.text)?;
        cases.push(blob.hash);
    }
    let header = Launch {
        run_id: launch.run_id.clone(),
        name: launch.name.clone(),
        number: launch.number,
        status: launch.status.clone(),
        started_at: launch.started_at,
        ended_at: launch.ended_at,
        attributes: launch.attributes.clone(),
        totals: launch.totals.clone(),
        git: launch.git.clone(),
        cases: Vec::new(),
        left_out: 0,
        notes: launch.notes.clone(),
        gaps: launch.gaps.clone(),
        outcomes: TestOutcomes::default(),
    };
    let blob = stored(&header, &cases)?;
    insert_blob(conn, &blob.hash, &blob.text)?;
    Ok(blob.hash)
}

/// Writes a `StoredLaunch` as canonical JSON incrementally: a `Value` of a hundred thousand addresses takes six times the memory of their
/// text.
fn stored(header: &Launch, cases: &[Hash]) -> Result<Blob, StoreError> {
    let header = json_blob(header)?;
    let mut text = String::with_capacity(cases.len() * 67 + header.text.len() + 32);
    text.push_str("{\"cases\":[");
    for (index, case) in cases.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(text, "{comma}\"{case}\"");
    }
    let _ = write!(text, "],\"launch\":{}}}", header.text);
    Ok(Blob::new(text))
}

fn json_blob(value: &impl Serialize) -> Result<Blob, StoreError> {
    let value = serde_json::to_value(value).map_err(|error| StoreError::Refused(error.to_string()))?;
    Ok(Blob::new(canonical(&value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::StoredLaunch;

    #[test]
    fn a_launch_is_stored_as_its_canonical_json() {
        let mut launch = crate::fixture::launch(2);
        launch.cases.clear();
        for cases in [vec![], vec![Hash::of(b"a")], vec![Hash::of(b"a"), Hash::of(b"b")]] {
            let blob = stored(&launch, &cases).expect("a launch");
            let whole = json_blob(&StoredLaunch { launch: launch.clone(), cases }).expect("a launch");
            assert_eq!(blob.text, whole.text);
        }
    }
}
