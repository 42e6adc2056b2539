//! The file of results: a line of JSON per case. It is written while a scenario is walked, and read again for reports and scores.

use super::keys::RESULT;
use asterisk_base::environment::InputStream;
use asterisk_diag::{Diagnostic, Source, Span};
use asterisk_files::read_input;
use asterisk_form::fill;
use asterisk_session::SessionError;
use serde::ser::{Error as _, SerializeSeq as _};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

/// What a file of results is, for errors.
const HELP: &str = "results are lines of JSON, a list, or a map with `cases` (or `results`); each has a `case_id`";

/// The results of a run in their file. Serialises as the list of them, read one at a time.
#[derive(Clone, Debug)]
pub struct StoredResults {
    path: PathBuf,
    /// The results, if they were read already.
    given: Option<Vec<Value>>,
}

impl StoredResults {
    /// Results in that file, a line each.
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path, given: None }
    }

    /// Results that were read from that file.
    pub(super) fn given(path: PathBuf, results: Vec<Value>) -> Self {
        Self { path, given: Some(results) }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Visits each result in order.
    pub fn each(&self, mut visit: impl FnMut(&Value)) -> io::Result<()> {
        if let Some(given) = &self.given {
            given.iter().for_each(visit);
            return Ok(());
        }
        for line in BufReader::new(File::open(&self.path)?).lines() {
            let line = line?;
            if !line.trim().is_empty() {
                visit(&serde_json::from_str(&line)?);
            }
        }
        Ok(())
    }
}

impl Serialize for StoredResults {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let mut refused = None;
        let read = self.each(|result| {
            refused = refused.take().or_else(|| list.serialize_element(result).err());
        });
        match (refused, read) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(S::Error::custom(error)),
            (None, Ok(())) => list.end(),
        }
    }
}

/// Fills the keys that a result lacks, so that metrics can read them.
pub(super) fn whole(mut result: Value) -> Value {
    fill(&mut result, &RESULT);
    result
}

/// Reads a file of results, each with all keys.
pub(super) fn read(path: &Path, input: &InputStream) -> Result<Vec<Value>, SessionError> {
    parse(&read_input(path, input)?)
}

/// The number of results of a file. The error says where the file is wrong.
pub fn count_results(source: &Source) -> Result<usize, SessionError> {
    parse(source).map(|results| results.len())
}

fn parse(source: &Source) -> Result<Vec<Value>, SessionError> {
    let text = source.text().trim_start_matches('\u{feff}');
    let list = match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(list)) => list,
        Ok(Value::Object(mut map)) if map.contains_key("cases") || map.contains_key("results") => {
            match map.remove("cases").or_else(|| map.remove("results")) {
                Some(Value::Array(list)) => list,
                _ => return Err(wrong(source, 0, "`cases` is not a list")),
            }
        }
        Ok(other @ Value::Object(_)) => vec![other],
        Ok(_) => return Err(wrong(source, 0, "it is neither a list nor a map")),
        Err(_) => lines(source)?,
    };
    let filled = |(number, result): (usize, Value)| {
        if result["case_id"].as_str().is_none_or(str::is_empty) {
            return Err(wrong(source, 0, &format!("result {} is missing `case_id`", number + 1)));
        }
        Ok(whole(without_nulls(result)))
    };
    list.into_iter().enumerate().map(filled).collect()
}

fn lines(source: &Source) -> Result<Vec<Value>, SessionError> {
    let mut at = 0;
    let mut found = Vec::new();
    for line in source.text().split_inclusive('\n') {
        if !line.trim().is_empty() {
            let parsed = serde_json::from_str(line);
            found.push(parsed.map_err(|error| wrong(source, at, &format!("this line is not valid JSON: {error}")))?);
        }
        at += line.len();
    }
    Ok(found)
}

/// The keys that are null are absent.
fn without_nulls(result: Value) -> Value {
    match result {
        Value::Object(map) => Value::Object(map.into_iter().filter(|(_, value)| !value.is_null()).collect()),
        other => other,
    }
}

fn wrong(source: &Source, at: usize, reason: &str) -> SessionError {
    let error = Diagnostic::error("score/results", format!("`{}` has no results: {reason}", source.name()));
    let end = (at + 1).min(source.text().len());
    SessionError::Texts(error.label(source, Span::new(at.min(end), end), "here").help(HELP).into())
}
