//! Investigating a launch for a goal: the default pipeline by its scripts, in memory.

use super::run::{LaunchFiles, RunInputs, RunSpec};
use super::{RunSettings, Session, SessionError};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The maximum number of characters of the summary of a case.
const SAID_CHARS: usize = 300;

/// The findings of each case, as JSON: `{cases: [{id, name, defect, confidence, root, component, because, missing}]}`. Fails if
/// it takes longer than `time`.
pub(super) fn investigate(
    session: &Session,
    launch: &Path,
    cases: &[String],
    vars: &Map<String, Value>,
    time: Duration,
) -> Result<String, String> {
    let late = AtomicBool::new(false);
    let found = std::thread::scope(|scope| {
        let (ended, end) = channel::<()>();
        let late = &late;
        scope.spawn(move || late.store(end.recv_timeout(time) == Err(RecvTimeoutError::Timeout), Ordering::Relaxed));
        let found = found(session, launch, cases, vars, late);
        drop(ended);
        found
    });
    if late.load(Ordering::Relaxed) {
        return Err(format!("it took longer than {} s", time.as_secs()));
    }
    found.map_err(|error| error.to_string())
}

fn found(
    session: &Session,
    launch: &Path,
    cases: &[String],
    vars: &Map<String, Value>,
    stop: &AtomicBool,
) -> Result<String, SessionError> {
    let mut setup = session.setup().clone();
    setup.texts.vars.clone_from(vars);
    let spec = RunSpec {
        cases: cases.to_vec(),
        dry_run: true,
        settings: RunSettings { no_recall: true, ..RunSettings::default() },
        ..RunSpec::of(RunInputs::Files(LaunchFiles::of(&[launch.to_owned()])))
    };
    let result = Session::new(setup).run(&spec, &(), stop)?;
    let mut all = Vec::new();
    result.each(|case| {
        let found = case.finding.clone().unwrap_or_default();
        let missing: Vec<&Value> = found["gaps"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|gap| if gap.is_object() { &gap["description"] } else { gap })
            .collect();
        all.push(json!({
            "id": case.case.id, "name": case.case.name, "defect": found["defect_type"], "confidence": found["confidence"],
            "root": found["root"]["at"], "component": found["component"], "because": shortened(&found["summary"]), "missing": missing,
            "error": case.error().map(|error| error.message),
        }));
        Ok(())
    })?;
    Ok(json!({ "cases": all }).to_string())
}

/// The beginning of a text.
fn shortened(text: &Value) -> String {
    let text = text.as_str().unwrap_or_default();
    match text.char_indices().nth(SAID_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
