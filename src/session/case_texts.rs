//! The texts of cases: those of launches, or the latest of the store.

use super::{Session, SessionError, input};
use crate::model::Case;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The most cases that are read from the store, latest runs first.
const MOST: usize = 2_000;

impl Session {
    /// Name and text (test, error, log) of the cases of these launches, or without any, of the latest in the store; none if there
    /// is no store.
    pub fn case_texts(&self, launches: &[PathBuf]) -> Result<Vec<(String, String)>, SessionError> {
        let text = |case: &Case| (case.id.clone(), format!("{}\n{}\n{}", case.name, case.error_message, case.log_snippet.told()));
        if !launches.is_empty() {
            return Ok(input::launch(launches)?.cases.iter().map(text).collect());
        }
        let Some(store) = self.reader()? else { return Ok(Vec::new()) };
        let mut texts: Vec<(String, String)> = Vec::new();
        for run in store.runs()? {
            let known: BTreeSet<String> = texts.iter().map(|(_, text)| text.clone()).collect();
            for row in store.cases(&run.run)? {
                if texts.len() >= MOST {
                    return Ok(texts);
                }
                let one = text(&row.case);
                // The same failure of a launch that was run again is the same case.
                if !known.contains(&one.1) {
                    texts.push(one);
                }
            }
        }
        Ok(texts)
    }
}
