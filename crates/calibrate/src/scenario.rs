//! Scenarios: cases with their truth, in the launches that they are walked in.

use super::keys::{CASE, SCENARIO};
use asterisk_base::model::{Case, Launch, recall_key};
use asterisk_diag::{Diagnostic, Diagnostics, Source, did_you_mean};
use asterisk_files::read_input;
use asterisk_form::yaml::{self, Yaml};
use asterisk_form::{FormReader, fill};
use asterisk_session::{CaseLocation, LocatedCase, Session, SessionError, alone, count_labelled, defect_code};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most notes on cases.
const MAX_NOTES: usize = 10;

/// Cases with their truth.
#[derive(Clone, Debug)]
pub(super) struct CalibrationScenario {
    pub(super) name: String,
    pub(super) description: String,
    /// The domain that its cases are of, if it names one.
    pub(super) domain: Option<String>,
    /// The repositories, as a session's workspace has them; `None` if it names none.
    pub(super) repositories: Option<Vec<Value>>,
    /// The metrics that are not judged with canned answers.
    pub(super) dry_capped: BTreeSet<String>,
    /// The launches, in the order in which they are walked.
    pub(super) units: Vec<ScenarioUnit>,
    /// The ids of cases that cannot be walked, with the reason.
    pub(super) left_out: Vec<(String, String)>,
}

/// A launch with the cases of it whose truth is known.
#[derive(Clone, Debug)]
pub(super) struct ScenarioUnit {
    /// Whose failures they are: cases of one project share a memory.
    pub(super) project: String,
    pub(super) launch: UnitLaunch,
    pub(super) cases: Vec<CalibrationCase>,
}

/// A launch to walk.
#[derive(Clone, Debug)]
pub(super) enum UnitLaunch {
    /// Made for a single case.
    Own(Arc<Launch>),
    File(PathBuf),
}

/// A case whose truth is known.
#[derive(Clone, Debug)]
pub(super) struct CalibrationCase {
    pub(super) id: String,
    /// Which failure of its launch it is, by id or name; the first if `None`.
    pub(super) wanted: Option<String>,
    /// What is true of it, as metrics read it.
    pub(super) truth: Value,
    /// The true cause.
    pub(super) cause: CauseIdentity,
    /// Whether the scenario expects it to be recognised as one with an earlier case.
    pub(super) recognised: bool,
    pub(super) held_out: bool,
}

/// The true cause of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CauseIdentity {
    /// Cases with this id have one cause.
    Known(String),
    /// It does not share a cause with any other case.
    Own,
    /// Any other case may have the same cause.
    Unknown,
}

impl CalibrationScenario {
    /// Reads a scenario, or labelled cases. `launches` is a directory with a launch per labelled case.
    pub(super) fn read(session: &Session, path: &Path, launches: Option<&Path>) -> Result<Self, SessionError> {
        let source = read_input(path, session.setup().environment.input())?;
        let name = || path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let text = source.text().trim_start_matches('\u{feff}').trim_start();
        let is_json = text.starts_with(['{', '[']);
        let tree = if text.starts_with('[') { None } else { Some(yaml::parse(&source).map_err(SessionError::Texts)?) };
        match tree.filter(|tree| !is_labelled(tree)) {
            Some(tree) => written(&source, &tree, path, is_json).map_err(SessionError::Texts),
            None => {
                let found = session.located(&source, path, launches)?;
                Ok(Self {
                    name: name(),
                    description: String::new(),
                    domain: None,
                    repositories: None,
                    dry_capped: BTreeSet::new(),
                    units: labelled(found.cases),
                    left_out: found.left_out,
                })
            }
        }
    }

    /// The cases, in the order of their launches.
    pub(super) fn cases(&self) -> impl Iterator<Item = &CalibrationCase> {
        self.units.iter().flat_map(|unit| &unit.cases)
    }

    /// Replaces aliases of defects by their codes.
    pub(super) fn canonical(&mut self, data: &Map<String, Value>) {
        for case in self.units.iter_mut().flat_map(|unit| &mut unit.cases) {
            let label = &mut case.truth["cause"]["defect_type"];
            if let Some(code) = label.as_str().and_then(|label| defect_code(data, label)) {
                *label = json!(code);
            }
        }
    }

    /// Warnings about the cases: those that cannot be distinguished although their causes differ.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut alike: BTreeMap<&str, Vec<&CalibrationCase>> = BTreeMap::new();
        for unit in &self.units {
            if let (UnitLaunch::Own(launch), [case]) = (&unit.launch, unit.cases.as_slice())
                && let [failure] = launch.cases.as_slice()
                && !failure.error_message.trim().is_empty()
            {
                alike.entry(failure.error_message.trim()).or_default().push(case);
            }
        }
        let differ = |cases: &&Vec<&CalibrationCase>| {
            let mut causes = cases.iter().map(|case| &case.cause);
            let first = causes.next();
            causes.any(|cause| Some(cause) != first)
        };
        let ids = |cases: &Vec<&CalibrationCase>| cases.iter().map(|case| case.id.as_str()).collect::<Vec<_>>().join(", ");
        let note = |cases: &Vec<&CalibrationCase>| format!("the same error, but not the same cause: {}", ids(cases));
        alike.values().filter(differ).take(MAX_NOTES).map(note).collect()
    }

    /// The units of each project, the projects in the order of their first unit.
    pub(super) fn projects(&self) -> Vec<Vec<&ScenarioUnit>> {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut projects: Vec<Vec<&ScenarioUnit>> = Vec::new();
        for unit in &self.units {
            let place = *places.entry(&unit.project).or_insert(projects.len());
            if place == projects.len() {
                projects.push(Vec::new());
            }
            projects[place].push(unit);
        }
        projects
    }
}

impl CalibrationCase {
    /// The cases that are resampled together, as they are alike: those of one cause, or of one project.
    pub(super) fn cluster<'a>(&'a self, unit: &'a ScenarioUnit) -> &'a str {
        match &self.cause {
            CauseIdentity::Known(cause) => cause,
            _ if unit.project.is_empty() => &self.id,
            _ => &unit.project,
        }
    }
}

/// The number of cases of a scenario. The error says where the file is wrong.
pub fn count_cases(source: &Source) -> Result<usize, SessionError> {
    let tree = yaml::parse(source).map_err(SessionError::Texts)?;
    if is_labelled(&tree) {
        return count_labelled(source);
    }
    let scenario = written(source, &tree, Path::new(""), false).map_err(SessionError::Texts)?;
    Ok(scenario.cases().count())
}

/// Rejects a file that is not a scenario. Unknown keys are ignored in JSON.
pub(super) fn check(source: &Source, tree: &Yaml, path: &Path) -> Result<(), SessionError> {
    let is_json = source.text().trim_start_matches('\u{feff}').trim_start().starts_with('{');
    written(source, tree, path, is_json).map(drop).map_err(SessionError::Texts)
}

/// Whether cases are labelled in the form that `learn` reads.
fn is_labelled(tree: &Yaml) -> bool {
    let first = |list: &[Yaml]| list.first().is_some_and(|case| case.get("label").is_some() || case.get("defect").is_some());
    tree.as_list().is_some() || tree.get("cases").and_then(Yaml::as_list).is_some_and(first)
}

/// Reads the form of scenarios. Of JSON, which other programs write, unknown keys are ignored.
fn written(source: &Source, tree: &Yaml, path: &Path, is_json: bool) -> Result<CalibrationScenario, Diagnostics> {
    let mut check: FormReader<'_> = FormReader::new(source, "scenario");
    let mut file = check.file(tree, &SCENARIO, None);
    let mut found = Diagnostics::new();
    let ignored = |one: &Diagnostic| is_json && one.code.ends_with("/unknown-key");
    check.finish().into_iter().filter(|one| !ignored(one)).for_each(|one| found.push(one));
    let cases = tree.get("cases").and_then(Yaml::as_list).unwrap_or_default();
    if cases.is_empty() {
        let error = Diagnostic::error("scenario/empty", "the scenario has no cases").label(source, tree.head(source), "here");
        found.push(error.help("list them under `cases:`, each with an `id` and an `error_message` or a `launch`"));
    }
    let causes: BTreeMap<String, Value> = list(&file["rcas"]).map(|cause| (text(cause, "id"), cause.clone())).collect();
    let beside = path.parent().unwrap_or(Path::new(""));
    for case in cases {
        let named = |key: &str| case.get(key).and_then(Yaml::text);
        if let Some(cause) = named("rca_id").filter(|cause| !causes.contains_key(&cause.value)) {
            let message = format!("unknown root cause `{}`", *cause);
            let error = Diagnostic::error("scenario/unknown-cause", message).label(source, cause.span, "here");
            let known = did_you_mean(&cause, causes.keys().map(String::as_str));
            found.push(error.help(known.unwrap_or_else(|| "root causes are listed under `rcas:`".to_owned())));
        }
        if let Some(launch) = named("launch").filter(|launch| !beside.join(&launch.value).is_file()) {
            let error = Diagnostic::error("scenario/no-launch", format!("the file `{}` does not exist", *launch));
            found.push(error.label(source, launch.span, "here").help("`launch` is a path relative to the scenario's file"));
        }
    }
    found.into_result(())?;
    default_true(&mut file);
    fill(&mut file, &SCENARIO);
    let repositories: Vec<Value> = list(&file["workspace"]["repos"]).map(repository).collect();
    let herrings: Vec<String> = list(&file["workspace"]["repos"])
        .filter(|repository| repository["is_red_herring"] == true)
        .map(|repository| text(repository, "name"))
        .collect();
    let mut empty_cause = json!({ "id": "", "defect_type": "" });
    fill_cause(&mut empty_cause);
    let causes: BTreeMap<String, Value> = list(&file["rcas"]).map(|cause| (text(cause, "id"), cause.clone())).collect();
    let name = text(&file, "name");
    let mut units: Vec<ScenarioUnit> = Vec::new();
    let mut files: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let written = file["cases"].take();
    for case in written.as_array().into_iter().flatten() {
        let id = text(case, "id");
        let of = text(case, "rca_id");
        let cause = causes.get(&of).cloned().unwrap_or_else(|| own_cause(case, &empty_cause));
        let mut truth = case.clone();
        truth["is_first"] = json!(true);
        truth["cause"] = cause;
        truth["red_herrings"] = json!(herrings);
        truth["first_rca"] = json!(0);
        let scenario_case = CalibrationCase {
            id,
            wanted: Some(text(case, "case")).filter(|wanted| !wanted.is_empty()),
            truth,
            cause: match () {
                () if !of.is_empty() => CauseIdentity::Known(of),
                () if causes.is_empty() => CauseIdentity::Unknown,
                () => CauseIdentity::Own,
            },
            recognised: case["expect_recall_hit"] == true || case["expected_correlate"]["is_duplicate"] == true,
            held_out: case["hold_out"] == true,
        };
        let project = text(case, "project");
        let launch = text(case, "launch");
        if launch.is_empty() {
            let launch = UnitLaunch::Own(Arc::new(launch_of(case, &name)));
            units.push(ScenarioUnit { project, launch, cases: vec![scenario_case] });
            continue;
        }
        let path = beside.join(launch);
        match files.get(&path) {
            Some(unit) => units[*unit].cases.push(scenario_case),
            None => {
                files.insert(path.clone(), units.len());
                units.push(ScenarioUnit { project, launch: UnitLaunch::File(path), cases: vec![scenario_case] });
            }
        }
    }
    Ok(CalibrationScenario {
        name,
        description: text(&file, "description"),
        domain: Some(text(&file, "domain")).filter(|domain| !domain.is_empty()),
        repositories: (!repositories.is_empty()).then_some(repositories),
        dry_capped: list(&file["dry_capped_metrics"]).filter_map(Value::as_str).map(str::to_owned).collect(),
        units,
        left_out: Vec::new(),
    })
}

/// Cases are decidable unless they say otherwise.
fn default_true(file: &mut Value) {
    for case in file["cases"].as_array_mut().into_iter().flatten() {
        if let Some(case) = case.as_object_mut() {
            case.entry("decidable").or_insert(json!(true));
        }
    }
}

/// Labelled cases: those of one launch are walked together.
fn labelled(cases: Vec<LocatedCase>) -> Vec<ScenarioUnit> {
    let mut units: Vec<ScenarioUnit> = Vec::new();
    let mut files: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for LocatedCase { id, label, project, cause, group, decidable, texts, .. } in cases {
        let mut truth = json!({ "id": id, "decidable": decidable.unwrap_or(true), "group": group.unwrap_or_default() });
        fill(&mut truth, &CASE);
        let mut of = json!({ "id": cause, "defect_type": label });
        fill_cause(&mut of);
        truth["rca_id"] = json!(cause.clone().unwrap_or_default());
        truth["is_first"] = json!(true);
        truth["cause"] = of;
        truth["red_herrings"] = json!([]);
        truth["first_rca"] = json!(0);
        let cause = cause.map_or(CauseIdentity::Unknown, CauseIdentity::Known);
        let case = |wanted| CalibrationCase { id: id.clone(), wanted, truth, cause, recognised: false, held_out: false };
        match texts {
            CaseLocation::Own(own) => {
                let launch = Launch { cases: vec![with_key(*own)], ..alone() };
                units.push(ScenarioUnit { project, launch: UnitLaunch::Own(Arc::new(launch)), cases: vec![case(None)] });
            }
            CaseLocation::Launch { path, wanted } => match files.get(&path) {
                Some(unit) => units[*unit].cases.push(case(wanted)),
                None => {
                    files.insert(path.clone(), units.len());
                    units.push(ScenarioUnit { project, launch: UnitLaunch::File(path), cases: vec![case(wanted)] });
                }
            },
        }
    }
    units
}

/// The cause of a case that names none of the scenario.
fn own_cause(case: &Value, empty: &Value) -> Value {
    let mut cause = empty.clone();
    for key in ["defect_type", "component", "category"] {
        cause[key] = case[key].clone();
    }
    cause
}

/// Fills the keys that a cause lacks.
fn fill_cause(cause: &mut Value) {
    let mut whole = json!({ "rcas": [cause.take()] });
    fill(&mut whole, &SCENARIO);
    *cause = whole["rcas"][0].take();
}

/// A repository as a session's workspace has it: with its path where that exists.
fn repository(written: &Value) -> Value {
    let mut repository = json!({ "name": written["name"] });
    for key in ["path", "purpose", "branch"] {
        let value = text(written, key);
        if !value.is_empty() && (key != "path" || Path::new(&value).is_dir()) {
            repository[key] = json!(value);
        }
    }
    repository
}

/// The launch of a case that is written with its texts.
fn launch_of(written: &Value, scenario: &str) -> Launch {
    let id = text(written, "id");
    let name = [text(written, "test_name"), text(written, "test_id"), id.clone()].into_iter().find(|name| !name.is_empty());
    let case = Case {
        id: id.clone(),
        name: name.unwrap_or_default(),
        suite: text(written, "suite"),
        status: "FAILED".to_owned(),
        error_message: text(written, "error_message"),
        log_snippet: text(written, "log_snippet").into(),
        ..Case::default()
    };
    let attributes = ["version", "job"].map(|key| (key.to_owned(), text(written, key)));
    let attributes = attributes.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    Launch { run_id: id, name: scenario.to_owned(), attributes, cases: vec![with_key(case)], ..Launch::default() }
}

fn with_key(case: Case) -> Case {
    Case { recall_key: recall_key(&case.name, &case.error_message), ..case }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}
