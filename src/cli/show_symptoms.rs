//! `asterisk show symptoms` and `asterisk show symptom`: the symptoms of all runs.

use crate::ui::{OutputFormat, Ui};
use asterisk_base::clock::Timestamp;
use asterisk_diag::counted;
use asterisk_diag::{Diagnostic, did_you_mean};
use asterisk_session::{Session, SessionError, SymptomQuery};
use asterisk_store::{Occurrences, RcaFilter, SymptomRow, SymptomStatus};
use clap::Args;
use serde_json::json;

/// The statuses of symptoms.
const STATUSES: [(&str, SymptomStatus); 2] = [("active", SymptomStatus::Active), ("dormant", SymptomStatus::Dormant)];

/// Selects symptoms.
#[derive(Clone, Debug, Args)]
pub(super) struct SymptomListArgs {
    /// For `symptoms`: only those of this run.
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// For `symptoms`: only those with this status: `active`, `dormant`.
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// For `symptoms`: the maximum number listed.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
}

pub(super) fn symptoms(ui: &Ui, session: &Session, which: &SymptomListArgs) -> Result<(), SessionError> {
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
    let row = knowledge.symptom(number(id)?)?;
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
                "  cause      rca {} ({}, {}, confidence {}): {}",
                rca.id, rca.defect_type, rca.status, link.confidence, rca.title
            ));
        }
    }
    for over in &row.overturned {
        let how = if over.replaced { "corrected" } else { "overturned" };
        ui.out(&format!("  excluded   {} ({how} by {}, was rca {})", over.title, over.by, over.rca));
    }
    Ok(())
}

pub(super) fn seen(ui: &Ui, seen: &Occurrences, now: Timestamp) {
    let often =
        format!("{} in {} by {}", often(seen), counted(seen.launches, "launch", "launches"), counted(seen.runs, "run", "runs"));
    let first = format!("{} ({})", seen.first_seen, age(seen.first_seen, now));
    let last = format!("{} ({})", seen.last_seen, age(seen.last_seen, now));
    lines(ui, &[("seen", &often), ("versions", &seen.versions.join(", ")), ("first seen", &first), ("last seen", &last)]);
}

/// Prints names and values, except empty ones.
pub(super) fn lines(ui: &Ui, lines: &[(&str, &str)]) {
    for (name, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        let value = value.lines().collect::<Vec<_>>().join("\n             ");
        ui.out(&format!("  {name:<10} {value}"));
    }
}

fn word(status: SymptomStatus) -> &'static str {
    STATUSES.iter().find(|(_, other)| *other == status).map_or("", |(word, _)| word)
}

fn status(text: &str) -> Result<SymptomStatus, SessionError> {
    if let Some((_, status)) = STATUSES.iter().find(|(word, _)| *word == text) {
        return Ok(*status);
    }
    let help = did_you_mean(text, STATUSES.iter().map(|(word, _)| *word))
        .unwrap_or_else(|| "the statuses are `active` and `dormant`".into());
    Err(bad_request("input/status", format!("`{text}` is not a status of a symptom"), help))
}

fn number(id: Option<&str>) -> Result<i64, SessionError> {
    let list = "asterisk show symptoms lists them".to_owned();
    let Some(text) = id else { return Err(bad_request("input/no-id", "which symptom?".into(), list)) };
    text.parse().map_err(|_| bad_request("input/no-id", format!("`{text}` is not the id of a symptom; ids are integers"), list))
}

fn bad_request(code: &'static str, message: String, help: String) -> SessionError {
    SessionError::BadRequest(Box::new(Diagnostic::error(code, message).help(help)))
}

pub(super) fn often(seen: &Occurrences) -> String {
    counted(seen.occurrences, "time", "times")
}

/// The versions; of many, the first and the last.
pub(super) fn versions(versions: &[String]) -> String {
    match versions {
        [first, .., last] if versions.len() > 3 => format!("{first} … {last} ({})", versions.len()),
        few => few.join(", "),
    }
}

/// The age of a time, in whole days, hours or minutes.
pub(super) fn age(at: Timestamp, now: Timestamp) -> String {
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
