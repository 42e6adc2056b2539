//! `asterisk config`.

use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::config::{Setting, SettingOrigin};
use crate::exit::Exit;
use crate::ui::{OutputFormat, plain};
use asterisk_session::SessionError;
use clap::{Args, ValueEnum as _};
use serde_json::{Value, json};

/// Show the effective settings and where each comes from.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk config\n  asterisk config --origin --set recall_hit=0.9")]
pub(super) struct ConfigArgs {
    /// Also show where each value comes from: a flag, a variable, a line of a file, or the program.
    #[arg(long)]
    origin: bool,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn config(global: &GlobalArgs, args: &ConfigArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let resolved = global.resolve(&args.project, None)?;
    let mut settings = resolved.settings;
    settings.push(colour(global));
    if ui.format() == OutputFormat::Json {
        let files = resolved.files.iter().map(|(path, exists)| json!({ "file": path, "exists": exists }));
        let settings = settings.iter().map(|one| json!({ "name": one.name, "value": one.shown(), "origin": one.origin.json() }));
        ui.json(&json!({
            "schema_version": 1, "root": resolved.root, "files": files.collect::<Vec<Value>>(),
            "settings": settings.collect::<Vec<Value>>(),
        }));
        return Ok(Exit::Ok);
    }
    let mut table = ui.table(if args.origin { &["setting", "value", "from"] } else { &["setting", "value"] });
    for setting in &settings {
        let mut row = vec![setting.name.clone(), text(&setting.shown())];
        row.extend(args.origin.then(|| setting.origin.to_string()));
        table.row(row);
    }
    ui.out(&table.text());
    for (path, exists) in &resolved.files {
        let missing = if *exists { "" } else { " (missing)" };
        ui.note(&plain(&format!("read: {}{missing}", path.display())));
    }
    Ok(Exit::Ok)
}

fn colour(global: &GlobalArgs) -> Setting {
    const NAME: &str = "ASTERISK_COLOR";
    let word = global.color.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned());
    let by_variable = global.variables().says(NAME, &word);
    let origin = match global.color {
        _ if by_variable => SettingOrigin::Variable(NAME),
        crate::ui::Colour::Auto => SettingOrigin::Default,
        _ => SettingOrigin::Flag("--color"),
    };
    Setting { name: "color".into(), value: json!(word), origin }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "(bundled)".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(list) if list.is_empty() => "(none)".to_owned(),
        Value::Array(list) => {
            list.iter().map(|item| item["name"].as_str().map_or(item.to_string(), str::to_owned)).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}
