//! Runs, prompts and artifacts as MCP resources.

use super::fault::ToolFault;
use super::reading;
use asterisk_session::{Session, SessionError};
use asterisk_walk::EventBody;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::json;

const SCHEME: &str = "asterisk://";
/// Maximum number of runs listed.
const MAX_RUNS: usize = 100;
/// Characters escaped in a segment of a URI.
const SEGMENT: &AsciiSet = &CONTROLS.add(b' ').add(b'/').add(b'?').add(b'#').add(b'%').add(b'"').add(b'<').add(b'>');

const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";

/// The runs, newest first.
pub(super) fn list(session: &Session) -> Result<Vec<Resource>, SessionError> {
    let mut found =
        vec![Resource::new(format!("{SCHEME}runs"), "runs").with_description("all runs of the store").with_mime_type(JSON)];
    for row in session.runs()?.into_iter().take(MAX_RUNS) {
        let description = format!("{}, {} cases, {}", row.pipeline, row.cases, row.status.name());
        let run = utf8_percent_encode(&row.run, SEGMENT).to_string();
        found.push(Resource::new(format!("{SCHEME}runs/{run}"), run.as_str()).with_description(description).with_mime_type(JSON));
        let report = Resource::new(format!("{SCHEME}runs/{run}/report"), format!("report of {run}"));
        found.push(report.with_mime_type(MARKDOWN));
    }
    Ok(found)
}

/// URI templates of the resources.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let one = |path: &str, name: &str, description: &str, kind: &str| {
        ResourceTemplate::new(format!("{SCHEME}{path}"), name).with_description(description).with_mime_type(kind)
    };
    vec![
        one("runs/{run}", "run", "the results of a run, by case", JSON),
        one("runs/{run}/report", "report", "the report of a run", MARKDOWN),
        one("runs/{run}/cases/{case}", "case", "the steps of a case: path, node, answerer", JSON),
        one("runs/{run}/cases/{case}/prompt/{+path}", "prompt", "the prompt of a step", MARKDOWN),
        one("runs/{run}/cases/{case}/artifact/{+path}", "artifact", "the artifact of a step", JSON),
    ]
}

/// Reads a resource: its text and MIME type; `None` if the URI denotes none.
pub(super) fn read(session: &Session, uri: &str) -> Result<Option<(String, &'static str)>, ToolFault> {
    let Some(path) = uri.strip_prefix(SCHEME) else { return Ok(None) };
    let parts: Option<Vec<String>> =
        path.split('/').map(|part| Some(percent_decode_str(part).decode_utf8().ok()?.into_owned())).collect();
    let Some(parts) = parts else { return Ok(None) };
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let pretty = |value: &serde_json::Value| serde_json::to_string_pretty(value).unwrap_or_default();
    Ok(Some(match parts.as_slice() {
        ["runs"] => {
            let one = |row: asterisk_store::RunRow| {
                json!({
                    "run": row.run, "pipeline": row.pipeline, "status": row.status.name(), "started_at": row.started_at,
                    "cases": row.cases, "done": row.done,
                })
            };
            (pretty(&session.runs()?.into_iter().map(one).collect()), JSON)
        }
        ["runs", run] => (pretty(&serde_json::to_value(session.result(run)?.summary()).unwrap_or_default()), JSON),
        ["runs", run, "report"] => (reading::page(session, run, "report.md")?, MARKDOWN),
        ["runs", run, "cases", case] => (pretty(&steps(session, run, case)?), JSON),
        ["runs", run, "cases", case, "prompt", path @ ..] if !path.is_empty() => {
            let record = session.record()?;
            let run = record.run(run)?;
            let case = record.case(&run, case)?;
            (session.prompt(&run, &case, Some(&path.join("/")))?.text, MARKDOWN)
        }
        ["runs", run, "cases", case, "artifact", path @ ..] if !path.is_empty() => {
            let Some(text) = artifact(session, run, case, &path.join("/"))? else { return Ok(None) };
            (text, JSON)
        }
        _ => return Ok(None),
    }))
}

fn steps(session: &Session, run: &str, case: &str) -> Result<serde_json::Value, SessionError> {
    let record = session.record()?;
    let run = record.run(run)?;
    let events = record.store().events(&run, case)?;
    let steps = events.iter().filter_map(|(_, event)| match &event.what {
        EventBody::NodeExit { node, by, .. } => Some(json!({ "path": event.path, "node": node, "by": by })),
        _ => None,
    });
    Ok(json!({ "run": run, "case": case, "steps": steps.collect::<Vec<_>>() }))
}

fn artifact(session: &Session, run: &str, case: &str, path: &str) -> Result<Option<String>, SessionError> {
    let record = session.record()?;
    let run = record.run(run)?;
    let events = record.store().events(&run, case)?;
    let hash = events.iter().rev().find_map(|(_, event)| match &event.what {
        EventBody::NodeExit { artifact, .. } if *event.path == *path => Some(artifact.hash()),
        _ => None,
    });
    let Some(hash) = hash else { return Ok(None) };
    Ok(record.store().blob(&hash)?.map(|text| text.to_string()))
}
