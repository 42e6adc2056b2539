//! The texts of cases: those of launches, or the latest of the store.

use super::LaunchFiles;
use super::{Session, SessionError, input};
use asterisk_base::model::Case;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// The most cases, of the store those of the latest runs.
const MOST: usize = 200;

/// The most bytes of an error, and of a log.
const TEXT: usize = 2_000;

impl Session {
    /// Name and text (test, error, log) of the cases of these launches, or without any, of the latest in the store; empty
    /// without a store.
    pub fn case_texts(&self, launches: &[PathBuf]) -> Result<Vec<(String, String)>, SessionError> {
        if !launches.is_empty() {
            return Ok(input::launch(&LaunchFiles::of(launches), self.setup.environment.input(), &Arc::default())?
                .cases
                .iter()
                .take(MOST)
                .map(text)
                .collect());
        }
        let Some(store) = self.reader()? else { return Ok(Vec::new()) };
        let mut texts: Vec<(String, String)> = Vec::new();
        for run in store.runs()? {
            let known: BTreeSet<String> = texts.iter().map(|(_, text)| text.clone()).collect();
            for (id, _) in store.case_names(&run.run)? {
                if texts.len() >= MOST {
                    return Ok(texts);
                }
                let one = text(&store.case(&run.run, &id)?);
                // A failure of a launch that was analysed twice counts once.
                if !known.contains(&one.1) {
                    texts.push(one);
                }
            }
        }
        Ok(texts)
    }
}

fn text(case: &Case) -> (String, String) {
    let log = case.log_snippet.text_or_error();
    let (error, log) = (head(&case.error_message), head(&log));
    (case.id.clone(), format!("{}\n{error}\n{log}", case.name))
}

fn head(text: &str) -> &str {
    let end = (0..=TEXT.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}
