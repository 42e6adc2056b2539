//! `asterisk show`.

use super::show_flaky::ListedRunner;
use super::{
    FormatArg, GlobalArgs, ProjectArgs, show_evidence, show_flaky, show_policy, show_signatures, show_symptoms, show_walkers,
};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui};
use asterisk_base::model::shell;
use asterisk_files::FileOrigin;
use asterisk_project::domain::{DEFAULT_DOMAIN, ListedDomain};
use asterisk_session::{Session, SessionError};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

/// Show elements, personas, cycles, masks, pipelines and their policies, domains, signatures, data files, or data of the store:
/// the evidence of a case, flaky tests and symptoms.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk show elements\n  asterisk show personas herald\n  asterisk show domains\n  asterisk show data domain --domain ptp --format json\n  \
                  asterisk show flaky --format pytest\n  asterisk show symptoms --status active\n  \
                  asterisk show evidence latest --case 880501\n  asterisk show signatures connection-refused"
)]
pub(super) struct ShowArgs {
    /// What to show.
    #[arg(value_enum)]
    what: ShowTarget,
    /// For `elements`, `personas`, `masks` and `cycles`: only this one. For `data`: only this file, by its stem. For `symptom`:
    /// the id. For `signatures`: everything about this one. For `evidence`: the run [default: latest]. For `policy`: the
    /// pipeline.
    #[arg(allow_negative_numbers = true)]
    name: Option<String>,
    /// For `evidence`: the case; by default the only one, or a list of the cases if there are several.
    #[arg(long, value_name = "ID")]
    case: Option<String>,
    #[command(flatten)]
    which: show_symptoms::SymptomListArgs,
    #[command(flatten)]
    project: ProjectArgs,
    /// Output format; `pytest`, `junit`, `go` and `playwright` are for `flaky`: a list that excludes the tests from a test run.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: ShowFormat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ShowFormat {
    /// Text.
    #[default]
    Pretty,
    /// JSON.
    Json,
    /// Arguments for pytest, one a line: `pytest @FILE`.
    Pytest,
    /// Exclusions for Maven Surefire and Failsafe, one a line: `-Dsurefire.excludesFile=FILE`.
    Junit,
    /// A pattern for `go test -skip`.
    Go,
    /// A pattern for `playwright test --grep-invert`.
    Playwright,
}

impl ShowFormat {
    /// The runner whose list it is, if it is one.
    fn runner(self) -> Option<ListedRunner> {
        match self {
            Self::Pretty | Self::Json => None,
            Self::Pytest => Some(ListedRunner::Pytest),
            Self::Junit => Some(ListedRunner::Junit),
            Self::Go => Some(ListedRunner::Go),
            Self::Playwright => Some(ListedRunner::Playwright),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShowTarget {
    /// The elements and their traits.
    Elements,
    /// The personas: walkers for teams.
    Personas,
    /// The masks: scripts around a step.
    Masks,
    /// Which element strengthens or overcomes which.
    Cycles,
    /// The available pipelines.
    Pipelines,
    /// The effective policy of a pipeline, with the origin of each value.
    Policy,
    /// The domains.
    Domains,
    /// The data files of the scripts.
    Data,
    /// The signatures of the domain, and in how many recorded failures each matched.
    Signatures,
    /// The evidence extracted from the texts of a recorded case.
    Evidence,
    /// The tests that pass and fail without a change.
    Flaky,
    /// The known symptoms.
    Symptoms,
    /// One symptom.
    Symptom,
}

pub(super) fn show(global: &GlobalArgs, args: &ShowArgs) -> Result<Exit, SessionError> {
    let format = if args.format == ShowFormat::Json { OutputFormat::Json } else { OutputFormat::Pretty };
    let ui = &global.ui(FormatArg { format });
    let session = global.session(&args.project, None)?;
    if let Some(runner) = args.format.runner() {
        if args.what != ShowTarget::Flaky {
            let help = "omit it, or use: asterisk show flaky";
            return Err(SessionError::bad_request(
                "input/format",
                "lists for test runners contain flaky tests only",
                Some(help.into()),
            ));
        }
        show_flaky::quarantine(ui, &session, runner)?;
        return Ok(Exit::Ok);
    }
    match args.what {
        ShowTarget::Pipelines => {
            let listed = session.pipelines()?;
            if ui.format() == OutputFormat::Json {
                let list: Vec<Value> = listed
                    .iter()
                    .map(|entry| json!({ "name": entry.name, "stem": entry.stem, "origin": origin(&entry.origin) }))
                    .collect();
                ui.json(&json!({ "schema_version": 1, "pipelines": list }));
            } else {
                let mut table = ui.table(&["name", "file stem", "origin"]);
                for entry in listed {
                    table.row([entry.name.unwrap_or_default(), entry.stem, origin(&entry.origin)]);
                }
                ui.out(&table.text());
            }
        }
        ShowTarget::Domains => domains(ui, &session)?,
        ShowTarget::Policy => show_policy::policy(ui, &session, args.name.as_deref())?,
        ShowTarget::Flaky => show_flaky::flaky(ui, &session)?,
        ShowTarget::Symptoms => show_symptoms::symptoms(ui, &session, &args.which)?,
        ShowTarget::Symptom => show_symptoms::symptom(ui, &session, args.name.as_deref())?,
        ShowTarget::Elements => show_walkers::elements(ui, &session, args.name.as_deref())?,
        ShowTarget::Personas => show_walkers::personas(ui, &session, args.name.as_deref())?,
        ShowTarget::Masks => show_walkers::masks(ui, &session, args.name.as_deref())?,
        ShowTarget::Cycles => show_walkers::cycles(ui, &session, args.name.as_deref())?,
        ShowTarget::Signatures => show_signatures::signatures(ui, &session, args.name.as_deref())?,
        ShowTarget::Evidence => show_evidence::evidence(ui, &session, args.name.as_deref(), args.case.as_deref())?,
        ShowTarget::Data => match &args.name {
            Some(name) => one(ui, name, &session.data()?)?,
            None if ui.format() == OutputFormat::Json => ui.json(&json!({ "schema_version": 1, "data": session.data()? })),
            None => {
                let mut table = ui.table(&["data", "entries", "show with"]);
                for (name, value) in session.data()? {
                    let entries = value.as_object().map_or(0, Map::len).to_string();
                    let command = format!("asterisk show data {}", shell(&name));
                    table.row([name, entries, command]);
                }
                ui.out(&table.text());
            }
        },
    }
    Ok(Exit::Ok)
}

fn origin(origin: &FileOrigin) -> String {
    match origin {
        FileOrigin::Embedded => "bundled".to_owned(),
        FileOrigin::File(path) => path.display().to_string(),
    }
}

fn domains(ui: &Ui, session: &Session) -> Result<(), SessionError> {
    let listed = session.domains()?;
    let used = session.setup().texts.domain.as_deref().unwrap_or(DEFAULT_DOMAIN);
    if ui.format() == OutputFormat::Json {
        let entry = |(entry, from): &(ListedDomain, FileOrigin)| {
            json!({
                "name": entry.name, "description": entry.description, "extends": entry.extends, "origin": origin(from),
                "used": entry.name == used,
            })
        };
        ui.json(&json!({ "schema_version": 1, "domains": listed.iter().map(entry).collect::<Vec<_>>() }));
        return Ok(());
    }
    let mut table = ui.table(&["domain", "extends", "for", "origin"]);
    for (entry, from) in listed {
        let mark = if entry.name == used { " (used)" } else { "" };
        table.row([format!("{}{mark}", entry.name), entry.extends, entry.description, origin(&from)]);
    }
    ui.out(&table.text());
    Ok(())
}

/// Prints one data file: a table for each of its maps of records, the rest as JSON.
fn one(ui: &Ui, name: &str, data: &Map<String, Value>) -> Result<(), SessionError> {
    let Some(value) = data.get(name) else {
        let hint = asterisk_diag::did_you_mean(name, data.keys().map(String::as_str));
        let diagnostic = asterisk_diag::Diagnostic::error("input/no-data", format!("unknown data file `{name}`"));
        return Err(SessionError::BadRequest(Box::new(diagnostic.maybe_help(hint))));
    };
    if ui.format() == OutputFormat::Json {
        ui.json(&json!({ "schema_version": 1, name: value.get(name).unwrap_or(value) }));
        return Ok(());
    }
    for (key, part) in value.as_object().into_iter().flatten() {
        match records(part) {
            Some((columns, rows)) => {
                let mut head = vec![key.as_str()];
                head.extend(columns);
                let mut table = ui.table(&head);
                for row in rows {
                    table.row(row);
                }
                ui.out(&table.text());
            }
            None => ui.out(&format!("{key}: {}", text(part))),
        }
    }
    Ok(())
}

/// The columns and rows of a map of maps, or a list of maps.
fn records(part: &Value) -> Option<(Vec<&str>, Vec<Vec<String>>)> {
    let entries: Vec<(String, &Map<String, Value>)> = match part {
        Value::Object(map) => map.iter().map(|(key, value)| Some((key.clone(), value.as_object()?))).collect::<Option<_>>()?,
        Value::Array(list) => {
            list.iter().enumerate().map(|(i, value)| Some(((i + 1).to_string(), value.as_object()?))).collect::<Option<_>>()?
        }
        _ => return None,
    };
    let mut columns: Vec<&str> = Vec::new();
    for key in entries.iter().flat_map(|(_, record)| record.keys()) {
        if !columns.contains(&key.as_str()) {
            columns.push(key);
        }
    }
    let row = |(name, record): (String, &Map<String, Value>)| {
        std::iter::once(name).chain(columns.iter().map(|column| record.get(*column).map_or(String::new(), text))).collect()
    };
    let rows = entries.into_iter().map(row).collect();
    Some((columns, rows))
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(list) => list.iter().map(text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
