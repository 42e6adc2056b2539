//! `asterisk show symptoms`, `symptom`, `rcas`, `rca`: the knowledge of the store across runs.

use crate::clock::Timestamp;
use crate::diag::{Diagnostic, did_you_mean};
use crate::model::counted;
use crate::session::{Session, SessionError, SymptomQuery};
use crate::store::{Occurrences, RcaFilter, RcaRow, SymptomRow, SymptomStatus};
use crate::ui::{OutputFormat, Ui};
use clap::Args;
use serde_json::json;

/// The statuses of symptoms.
const STATUSES: [(&str, SymptomStatus); 2] = [("active", SymptomStatus::Active), ("dormant", SymptomStatus::Dormant)];

/// Selects symptoms or root causes.
#[derive(Clone, Debug, Args)]
pub(super) struct KnowledgeFilter {
    /// For `symptoms` and `rcas`: only those of this run.
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// For `symptoms`: only `active` or `dormant` ones. For `rcas`: only those with this status (`open`, `resolved`, `verified`,
    /// `archived`).
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// For `rcas`: only those seen in this version.
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// For `symptoms` and `rcas`: the maximum number listed.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
}

pub(super) fn symptoms(ui: &Ui, session: &Session, which: &KnowledgeFilter) -> Result<(), SessionError> {
    let status = which.status.as_deref().map(status).transpose()?;
    let query = SymptomQuery { ids: None, run: which.run.clone(), status, limit: Some(which.limit) };
    let rows = session.knowledge()?.symptoms(query)?;
    if ui.format() == OutputFormat::Json {
        ui.json(&json!({ "schema_version": 1, "symptoms": rows }));
        return Ok(());
    }
    if rows.is_empty() {
        super::nothing_yet(ui, session, "no symptoms are known; runs find them: asterisk run");
        return Ok(());
    }
    let now = session.setup().clock.now();
    let mut table =
        ui.table(&["symptom", "test", "category", "seen", "versions", "first seen", "last seen", "status", "root cause"]);
    for row in rows {
        let cause = row.rcas.first().map_or(String::new(), |rca| rca.id.to_string());
        let SymptomRow { id, test, category, seen, status, .. } = row;
        let versions = versions(&seen.versions);
        let (first, last) = (age(seen.first_seen, now), age(seen.last_seen, now));
        table.row([id.to_string(), test, category, often(&seen), versions, first, last, word(status).into(), cause]);
    }
    ui.out(&table.text());
    Ok(())
}

pub(super) fn symptom(ui: &Ui, session: &Session, id: Option<&str>) -> Result<(), SessionError> {
    let knowledge = session.knowledge()?;
    let row = knowledge.symptom(number("symptom", id)?)?;
    let ids = row.rcas.iter().map(|rca| rca.id).collect();
    let causes = knowledge.rcas(&RcaFilter { ids: Some(ids), cases: 0, ..RcaFilter::default() })?;
    if ui.format() == OutputFormat::Json {
        ui.json(&json!({ "schema_version": 1, "symptom": row, "rcas": causes }));
        return Ok(());
    }
    let now = session.setup().clock.now();
    ui.out(&format!("symptom {}: {}", row.id, row.test));
    lines(ui, &[("error", row.error.as_str()), ("category", &row.category), ("component", &row.component)]);
    lines(ui, &[("status", &format!("{}, {}", word(row.status), counted(row.launches_since, "launch since", "launches since")))]);
    seen(ui, &row.seen, now);
    for link in &row.rcas {
        if let Some(cause) = causes.iter().find(|cause| cause.rca.id == link.id) {
            let rca = &cause.rca;
            ui.out(&format!(
                "  comes of   rca {} ({}, {}, sure to {}): {}",
                rca.id, rca.defect_type, rca.status, link.confidence, rca.title
            ));
        }
    }
    for over in &row.overturned {
        let how = if over.replaced { "put right" } else { "overturned" };
        ui.out(&format!("  not of     {} ({how} by {}, was rca {})", over.title, over.by, over.rca));
    }
    Ok(())
}

pub(super) fn rcas(ui: &Ui, session: &Session, which: &KnowledgeFilter) -> Result<(), SessionError> {
    let filter = RcaFilter {
        run: which.run.clone(),
        status: which.status.clone(),
        version: which.version.clone(),
        limit: which.limit,
        ..RcaFilter::default()
    };
    let rows = session.knowledge()?.rcas(&filter)?;
    if ui.format() == OutputFormat::Json {
        ui.json(&json!({ "schema_version": 1, "rcas": rows }));
        return Ok(());
    }
    if rows.is_empty() {
        super::nothing_yet(ui, session, "no such root causes are known; runs find them: asterisk run");
        return Ok(());
    }
    let now = session.setup().clock.now();
    let mut table =
        ui.table(&["root cause", "title", "type", "component", "seen", "versions", "first seen", "last seen", "status"]);
    for row in rows {
        let status = state(&row);
        let RcaRow { rca, seen, .. } = row;
        let (first, last) = (age(seen.first_seen, now), age(seen.last_seen, now));
        let versions = versions(&seen.versions);
        table.row([rca.id.to_string(), rca.title, rca.defect_type, rca.component, often(&seen), versions, first, last, status]);
    }
    ui.out(&table.text());
    Ok(())
}

pub(super) fn rca(ui: &Ui, session: &Session, id: Option<&str>) -> Result<(), SessionError> {
    let row = session.knowledge()?.rca(number("rca", id)?)?;
    if ui.format() == OutputFormat::Json {
        ui.json(&json!({ "schema_version": 1, "rca": row }));
        return Ok(());
    }
    let now = session.setup().clock.now();
    let rca = &row.rca;
    ui.out(&format!("root cause {}: {}", rca.id, rca.title));
    lines(ui, &[("cause", rca.message.as_str()), ("type", &rca.defect_type), ("component", &rca.component)]);
    lines(ui, &[("status", &state(&row)), ("sure to", &row.confidence.to_string())]);
    if let Some(change) = &rca.status_change {
        let why = if change.message.is_empty() { String::new() } else { format!(": {}", change.message) };
        lines(ui, &[("said", &format!("{} by {}, {}{why}", change.status, change.by, age(change.at, now)))]);
    }
    seen(ui, &row.seen, now);
    for symptom in &row.symptoms {
        let over = symptom.overturned_by.as_ref().map_or(String::new(), |by| format!(", overturned by {by}"));
        ui.out(&format!("  symptom    {} (sure to {}{over})", symptom.id, symptom.confidence));
    }
    let mut table = ui.table(&["run", "launch", "version", "began", "case", "test"]);
    for case in row.cases {
        table.row([case.run, case.launch, case.version, case.at.to_string(), case.case, case.test]);
    }
    ui.out(&table.text());
    Ok(())
}

fn seen(ui: &Ui, seen: &Occurrences, now: Timestamp) {
    let often =
        format!("{} in {} by {}", often(seen), counted(seen.launches, "launch", "launches"), counted(seen.runs, "run", "runs"));
    let first = format!("{} ({})", seen.first_seen, age(seen.first_seen, now));
    let last = format!("{} ({})", seen.last_seen, age(seen.last_seen, now));
    lines(ui, &[("seen", &often), ("versions", &seen.versions.join(", ")), ("first seen", &first), ("last seen", &last)]);
}

/// Prints names and values, except empty ones.
fn lines(ui: &Ui, lines: &[(&str, &str)]) {
    for (name, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        let value = value.lines().collect::<Vec<_>>().join("\n             ");
        ui.out(&format!("  {name:<10} {value}"));
    }
}

fn state(row: &RcaRow) -> String {
    if row.reappeared { format!("{}, came back", row.rca.status) } else { row.rca.status.clone() }
}

fn word(status: SymptomStatus) -> &'static str {
    STATUSES.iter().find(|(_, other)| *other == status).map_or("", |(word, _)| word)
}

fn status(text: &str) -> Result<SymptomStatus, SessionError> {
    if let Some((_, status)) = STATUSES.iter().find(|(word, _)| *word == text) {
        return Ok(*status);
    }
    let help = did_you_mean(text, STATUSES.iter().map(|(word, _)| *word)).unwrap_or_else(|| "it is `active` or `dormant`".into());
    Err(bad_request("input/status", format!("`{text}` is no status of a symptom"), help))
}

fn number(what: &str, id: Option<&str>) -> Result<i64, SessionError> {
    let list = format!("asterisk show {what}s lists what there is");
    let Some(text) = id else { return Err(bad_request("input/no-id", format!("which {what}?"), list)) };
    text.parse().map_err(|_| bad_request("input/no-id", format!("`{text}` is no id of a {what}; ids are whole numbers"), list))
}

fn bad_request(code: &'static str, message: String, help: String) -> SessionError {
    SessionError::BadRequest(Box::new(Diagnostic::error(code, message).help(help)))
}

fn often(seen: &Occurrences) -> String {
    counted(seen.occurrences, "time", "times")
}

/// The versions; of many, the first and the last.
fn versions(versions: &[String]) -> String {
    match versions {
        [first, .., last] if versions.len() > 3 => format!("{first} … {last} ({})", versions.len()),
        few => few.join(", "),
    }
}

/// The age of a time, in whole days, hours or minutes.
fn age(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.seconds_since(at);
    if seconds < 0.0 {
        return at.to_string();
    }
    let units = [(86_400.0, "day"), (3600.0, "hour"), (60.0, "minute")];
    units.iter().find(|(unit, _)| seconds >= *unit).map_or_else(
        || "just now".into(),
        |(unit, name)| {
            let count = (seconds / unit).floor();
            format!("{count:.0} {name}{} ago", if count >= 2.0 { "s" } else { "" })
        },
    )
}
