//! The current settings, from everywhere they may come from.

use super::origin::{Setting, SettingOrigin};
use super::project_file::{self, ProjectConfig};
use asterisk_base::clock::{Clock, FixedClock, SystemClock};
use asterisk_base::environment::{Environment, Variables};
use asterisk_base::model::job_url_of_environment;
use asterisk_diag::{Diagnostic, Source, Span};
use asterisk_files::{Area, FileError, UnsavedTexts, conventional, project_root, read_text_file};
use asterisk_lint as lint;
use asterisk_pipeline::Spanned;
use asterisk_project::domain::DEFAULT_DOMAIN;
use asterisk_project::{ProjectVar, ProjectVars, VarPlaces};
use asterisk_session::{AuditSettings, KEEP, SessionError, Setup, TextSettings, refuse_secret};
use asterisk_store::StoreLocation;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The domain, like `--domain`.
const DOMAIN: &str = "ASTERISK_DOMAIN";
/// Fixes the time, for tests and reproducible runs: an RFC 3339 instant, and behind a `/` by how many milliseconds it moves on
/// with each reading.
const CLOCK: &str = "ASTERISK_CLOCK";
/// The path of the auditor's log.
const AUDIT_LOG: &str = "ASTERISK_AUDIT_LOG";
/// The path of the user's auditor rules.
const AUDITOR: &str = "ASTERISK_AUDITOR";
/// The maximum seconds of a script call: to be raised on slow or busy machines.
const SCRIPT_SECONDS: &str = "ASTERISK_SCRIPT_SECONDS";
/// The maximum number of cases of a run kept in memory.
const KEEP_CASES: &str = "ASTERISK_KEEP_CASES";

/// Settings of the command line, or of the environment through it; absent ones are looked up further down.
#[derive(Clone, Debug, Default)]
pub struct CommandLine {
    /// `--store`.
    pub store: Option<PathBuf>,
    /// `--out`.
    pub out: Option<PathBuf>,
    /// `--scripts`.
    pub scripts: Option<PathBuf>,
    /// `--domain`.
    pub domain: Option<String>,
    /// `--set NAME=VALUE`, in order.
    pub set: Vec<String>,
    /// Texts that an editor has not saved.
    pub unsaved: Arc<UnsavedTexts>,
}

/// The current settings.
#[derive(Clone)]
pub struct ResolvedSettings {
    /// For a session.
    pub setup: Setup,
    /// Each of them, with its origin.
    pub settings: Vec<Setting>,
    /// The observers of every run: `KIND` or `KIND=FILE`, files relative to the project's directory.
    pub observers: Vec<String>,
    /// How scripts are linted.
    pub lint: lint::Config,
    /// The project's directory.
    pub root: PathBuf,
    /// The files searched for settings, and whether they exist.
    pub files: Vec<(PathBuf, bool)>,
}

/// A file of settings, or a placeholder for a missing one.
struct SettingsLayer {
    path: PathBuf,
    there: bool,
    source: Source,
    file: ProjectConfig,
}

impl SettingsLayer {
    fn read(path: PathBuf, name: &str, unsaved: &UnsavedTexts) -> Result<Self, SessionError> {
        match unsaved.get(&path).cloned().map_or_else(|| read_text_file(&path), Ok) {
            Ok(text) => {
                let source = Source::new(name, text);
                Ok(Self { path, there: true, file: project_file::read(&source)?, source })
            }
            Err(FileError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                Ok(Self { path, there: false, file: ProjectConfig::default(), source: Source::new(name, "") })
            }
            Err(error) => Err(error.into()),
        }
    }

    fn at(&self, span: Span) -> SettingOrigin {
        SettingOrigin::File { path: self.path.clone(), line: self.source.line_column(span.start).0 }
    }

    /// A path in the file, relative to the file. The address of a store stays what it is.
    fn below(&self, path: &str) -> PathBuf {
        if StoreLocation::is_address(path) {
            return path.into();
        }
        self.path.parent().unwrap_or(Path::new(".")).join(path)
    }
}

/// The user's own file: `asterisk/config.yaml` below `XDG_CONFIG_HOME`, or below `.config` in the home directory.
fn user_file(variables: &Variables) -> Option<PathBuf> {
    Some(base(variables, "XDG_CONFIG_HOME", ".config")?.join("asterisk/config.yaml"))
}

/// The history of typed lines: `asterisk/history` below `XDG_STATE_HOME`, or below `.local/state` in the home directory.
pub fn history_file(variables: &Variables) -> Option<PathBuf> {
    Some(base(variables, "XDG_STATE_HOME", ".local/state")?.join("asterisk/history"))
}

/// The auditor's files: its log and rules, which belong to the user rather than the project. Without a home directory, the log is kept
/// next to the store.
fn audit(variables: &Variables, root: &Path) -> AuditSettings {
    let log = path(variables, AUDIT_LOG)
        .or_else(|| Some(base(variables, "XDG_STATE_HOME", ".local/state")?.join("asterisk/audit.jsonl")));
    let rules = path(variables, AUDITOR).or_else(|| {
        Some(base(variables, "XDG_CONFIG_HOME", ".config")?.join("asterisk/auditor.rhai")).filter(|file| file.exists())
    });
    AuditSettings { log: log.unwrap_or_else(|| root.join(".asterisk/audit.jsonl")), rules }
}

/// A base directory of the user: that of the variable, or otherwise the one below the home directory.
fn base(variables: &Variables, name: &str, below_home: &str) -> Option<PathBuf> {
    // A relative one is to be ignored, says the XDG base directory specification.
    path(variables, name).filter(|path| path.is_absolute()).or_else(|| Some(path(variables, "HOME")?.join(below_home)))
}

/// Where the store is, as `--store` names it. The setting that is shown is without the password.
fn location(named: &Path, settings: &mut [Setting], variables: &Variables) -> Result<StoreLocation, SessionError> {
    let location = store_location(named, variables)?;
    if let (StoreLocation::Server(_), Some(setting)) = (&location, settings.iter_mut().find(|setting| setting.name == "store")) {
        setting.value = json!(location.to_string());
    }
    Ok(location)
}

/// Where a store is that is named on the command line. An address without a password has that of `PGPASSWORD`.
pub fn store_location(named: &Path, variables: &Variables) -> Result<StoreLocation, SessionError> {
    let Some(text) = named.to_str().filter(|text| StoreLocation::is_address(text)) else { return Ok(named.into()) };
    let location: StoreLocation = text.parse().map_err(|why: String| {
        let help = "--store postgres://USER@HOST/DATABASE?project=NAME".to_owned();
        SessionError::bad_request("config/store", format!("the address of the store cannot be used: {why}"), Some(help))
    })?;
    Ok(match (location, variables.text("PGPASSWORD")) {
        (StoreLocation::Server(address), Some(password)) => StoreLocation::Server(address.with_password(&password)),
        (location, _) => location,
    })
}

/// The path in a variable.
fn path(variables: &Variables, name: &str) -> Option<PathBuf> {
    variables.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The settings for a session started in `here`.
pub fn resolve(given: CommandLine, here: &Path, environment: &Environment) -> Result<ResolvedSettings, SessionError> {
    let variables = environment.variables();
    let root = project_root(here);
    let mut layers = vec![SettingsLayer::read(root.join(super::PROJECT_FILE), super::PROJECT_FILE, &given.unsaved)?];
    if let Some(path) = user_file(variables) {
        let name = path.display().to_string();
        layers.push(SettingsLayer::read(path, &name, &given.unsaved)?);
    }
    let mut settings = Vec::new();
    let mut path = |name: &str, given: Option<PathBuf>, from: [&'static str; 2], key: PathSetting, default: Option<PathBuf>| {
        let by_file = || layers.iter().find_map(|layer| key(&layer.file).map(|text| (layer.below(text), layer.at(text.span))));
        let by_caller = given.map(|path| {
            let by_variable = variables.says(from[1], &path);
            (path, if by_variable { SettingOrigin::Variable(from[1]) } else { SettingOrigin::Flag(from[0]) })
        });
        let (path, origin) = match by_caller.or_else(by_file) {
            Some((path, origin)) => (Some(path), origin),
            None => (default, SettingOrigin::Default),
        };
        settings.push(Setting { name: name.to_owned(), value: json!(path), origin });
        path
    };
    let none: PathSetting = |_| None;
    let usual = root.join(".asterisk/asterisk.db");
    let store = path("store", given.store, ["--store", "ASTERISK_STORE"], |file| file.store.as_ref(), Some(usual.clone()));
    let runs = root.join(".asterisk/investigations");
    let out = path("out", given.out, ["--out", "ASTERISK_OUT"], none, Some(runs.clone()));
    let scripts = path("scripts", given.scripts, ["--scripts", "ASTERISK_SCRIPTS"], |file| file.scripts.as_ref(), None);
    let pipelines = path("pipelines", None, ["", ""], |file| file.pipelines.as_ref(), None);
    let templates = path("templates", None, ["", ""], |file| file.templates.as_ref(), None);
    let [scripts, pipelines, templates] = [(Area::Scripts, scripts), (Area::Pipelines, pipelines), (Area::Templates, templates)]
        .map(|(area, named)| {
            named.or_else(|| {
                let dir = conventional(area, &root, here)?;
                let setting = settings.iter_mut().find(|setting| setting.name == area.name())?;
                (setting.value, setting.origin) = (json!(dir), SettingOrigin::Convention);
                Some(dir)
            })
        });
    let by_caller = given.domain.map(|name| {
        let by_variable = variables.says(DOMAIN, &name);
        (name, if by_variable { SettingOrigin::Variable(DOMAIN) } else { SettingOrigin::Flag("--domain") })
    });
    let by_file =
        || layers.iter().find_map(|layer| layer.file.domain.as_ref().map(|text| (text.value.clone(), layer.at(text.span))));
    let (domain, origin) =
        by_caller.or_else(by_file).map_or((None, SettingOrigin::Default), |(name, origin)| (Some(name), origin));
    let in_force = domain.as_deref().unwrap_or(DEFAULT_DOMAIN);
    settings.push(Setting { name: "domain".into(), value: json!(in_force), origin });
    let (set, set_places) = parse_set(&given.set)?;
    let mut project_vars = ProjectVars::new();
    for layer in layers.iter().rev() {
        project_vars.extend(layer.file.vars.iter().map(|(name, var)| {
            let place = (layer.source.clone(), var.span);
            let own = layer.path.parent() == Some(&root);
            (name.clone(), ProjectVar { value: var.value.clone(), place, own, elsewhere: false })
        }));
    }
    let by_flag = set.iter().map(|(name, value)| (name, value, SettingOrigin::Flag("--set")));
    let by_file =
        project_vars.iter().filter(|(name, _)| !set.contains_key(*name)).filter_map(|(name, ProjectVar { value, .. })| {
            let at = layers.iter().find_map(|layer| Some(layer.at(layer.file.vars.get(name)?.span)))?;
            Some((name, value, at))
        });
    let vars = by_flag.chain(by_file);
    settings.extend(vars.map(|(name, value, origin)| Setting { name: format!("vars.{name}"), value: value.clone(), origin }));
    let repositories = layers.iter().find_map(|layer| {
        let said = layer.file.repositories.as_ref()?;
        let mut list = said.value.clone();
        // The project's paths are relative to its directory, as the session takes them; others to where they are written.
        if layer.path.parent() != Some(&root) {
            for path in list.iter_mut().filter_map(|one| one.get_mut("path")) {
                let whole = path.as_str().filter(|path| !path.is_empty()).map(|path| json!(layer.below(path)));
                *path = whole.unwrap_or(json!(""));
            }
        }
        Some((json!(list), layer.at(said.span)))
    });
    let (repositories, origin) = repositories.unwrap_or((json!([]), SettingOrigin::Default));
    settings.push(Setting { name: "workspace.repositories".into(), value: repositories.clone(), origin });
    let said = layers.iter().find_map(|layer| layer.file.lint.as_ref().map(|said| (said.value.clone(), layer.at(said.span))));
    let (lint, origin) = said.unwrap_or((lint::Config::default(), SettingOrigin::Default));
    let shown = lint.shown();
    for name in ["levels", "options"] {
        settings.push(Setting { name: format!("lint.{name}"), value: shown[name].clone(), origin: origin.clone() });
    }
    let said = layers.iter().find_map(|layer| {
        let said = layer.file.observers.as_ref()?;
        Some((said.value.clone(), layer.at(said.span)))
    });
    let (observers, origin) = said.unwrap_or((Vec::new(), SettingOrigin::Default));
    settings.push(Setting { name: "observers".into(), value: json!(observers), origin });
    let mut agents = asterisk_adapters::agent::Agents::new();
    for layer in layers.iter().rev() {
        agents.extend(super::agents::plain(&layer.file.agents));
    }
    for (name, set_up) in &agents {
        let at = layers.iter().find_map(|layer| Some(layer.at(layer.file.agents.get(name)?.span)));
        let origin = at.unwrap_or(SettingOrigin::Default);
        settings.push(Setting { name: format!("agents.{name}"), value: json!(set_up), origin });
    }
    let said: Vec<_> = layers.iter().map(|layer| &layer.file.reportportal).collect();
    let (reportportal, shown) = super::reportportal::settled(variables, &said, &|file, span| layers[file].at(span));
    settings.extend(shown);
    let mut servers = asterisk_adapters::agent::Servers::new();
    for layer in layers.iter().rev() {
        servers.extend(super::servers::plain(&layer.file.servers));
    }
    for (name, set_up) in &servers {
        let at = layers.iter().find_map(|layer| Some(layer.at(layer.file.servers.get(name)?.span)));
        let origin = at.unwrap_or(SettingOrigin::Default);
        settings.push(Setting { name: format!("mcp_servers.{name}"), value: json!(set_up), origin });
    }
    for name in [CLOCK, SCRIPT_SECONDS, KEEP_CASES] {
        if let Some(value) = variables.get(name) {
            settings.push(Setting {
                name: name.into(),
                value: json!(value.to_string_lossy()),
                origin: SettingOrigin::Variable(name),
            });
        }
    }
    let store = location(&store.unwrap_or(usual), &mut settings, variables)?;
    let setup = Setup {
        root: root.clone(),
        store,
        out: out.unwrap_or(runs),
        pipelines,
        templates,
        texts: TextSettings { scripts, vars: set, domain, ..TextSettings::default() },
        set_places,
        project_vars,
        workspace: json!({ "repositories": repositories }),
        agents,
        reportportal,
        servers,
        script_time: script_time(variables)?,
        keep: keep(variables)?,
        job_url: job_url_of_environment(|name| variables.text(name)),
        clock: clock(variables)?,
        unsaved: given.unsaved,
        audit: audit(variables, &root),
        environment: environment.clone(),
    };
    let files = layers.into_iter().map(|layer| (layer.path, layer.there)).collect();
    Ok(ResolvedSettings { setup, settings, observers, lint, root, files })
}

/// A key of a file of settings that holds a path.
type PathSetting = fn(&ProjectConfig) -> Option<&Spanned<String>>;

fn clock(variables: &Variables) -> Result<Arc<dyn Clock>, SessionError> {
    let Some(text) = variables.get(CLOCK) else { return Ok(Arc::new(SystemClock)) };
    let read = |text: &str| {
        let (at, step) = text.split_once('/').unwrap_or((text, "0"));
        Some(FixedClock::new(at.parse().ok()?, step.parse::<u32>().ok()?.into()))
    };
    match text.to_str().and_then(read) {
        Some(clock) => Ok(Arc::new(clock)),
        None => {
            let message = format!("{CLOCK} is not an RFC 3339 instant: {}", text.to_string_lossy());
            let help = "append `/` and the milliseconds to advance on each reading: 2026-02-14T21:21:09Z/10";
            Err(SessionError::BadRequest(Box::new(Diagnostic::error("config/clock", message).help(help))))
        }
    }
}

fn script_time(variables: &Variables) -> Result<Option<Duration>, SessionError> {
    let Some(text) = variables.get(SCRIPT_SECONDS) else { return Ok(None) };
    let seconds = text.to_str().and_then(|text| text.parse().ok()).filter(|seconds| *seconds > 0.0);
    match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(time) => Ok(Some(time)),
        None => {
            let message = format!("{SCRIPT_SECONDS} is not a number of seconds: {}", text.to_string_lossy());
            Err(SessionError::BadRequest(Box::new(Diagnostic::error("config/script-seconds", message))))
        }
    }
}

fn keep(variables: &Variables) -> Result<usize, SessionError> {
    let Some(text) = variables.get(KEEP_CASES) else { return Ok(KEEP) };
    text.to_str().and_then(|text| text.parse().ok()).ok_or_else(|| {
        let message = format!("{KEEP_CASES} is not a number of cases: {}", text.to_string_lossy());
        SessionError::BadRequest(Box::new(Diagnostic::error("config/keep-cases", message)))
    })
}

/// `name=value` settings, with the places of the values: each is JSON if it parses as JSON, otherwise a string.
fn parse_set(set: &[String]) -> Result<(Map<String, Value>, VarPlaces), SessionError> {
    let mut places = VarPlaces::new();
    let mut pair = |text: &String| match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            refuse_secret(name, value)?;
            let written = format!("--set {text}");
            let span = Span::new(written.len() - value.len(), written.len());
            places.insert(name.trim().to_owned(), (Source::new("the command line", written), span));
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
            Ok((name.trim().to_owned(), value))
        }
        _ => {
            let message = format!("`--set {text}` is not NAME=VALUE");
            let diagnostic = Diagnostic::error("config/set", message).help("for example --set recall_hit=0.9");
            Err(SessionError::BadRequest(Box::new(diagnostic)))
        }
    };
    let vars = set.iter().map(&mut pair).collect::<Result<_, _>>()?;
    Ok((vars, places))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_json_or_text() {
        let set = ["a=0.9", "b=true", "c=word", "d={\"x\":1}", "e="].map(str::to_owned);
        let (vars, places) = parse_set(&set).expect("settings");
        let place = |name: &str| places.get(name).map(|(source, span)| source.slice(*span));
        assert_eq!((place("a"), place("c")), (Some("0.9"), Some("word")));
        assert_eq!(Value::Object(vars), json!({"a": 0.9, "b": true, "c": "word", "d": {"x": 1}, "e": ""}));
        assert!(parse_set(&["x".to_owned()]).is_err());
    }
}
