//! A recorded decision as a test of its rules, with as little of its inputs as it takes.

use super::asked::{Asked, Found, choose, find, refused};
use super::decisions::{Decision, Decisions};
use super::literal::{literal, quoted};
use super::shrink::shrink;
use super::steps::Went;
use crate::files::Area;
use crate::pipeline::When;
use crate::project::Project;
use crate::script::probe::Probes;
use crate::session::{RouteState, Routed, Session, SessionError};
use crate::walk::{self, Considered, Name};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A decision that became a test.
#[derive(Clone, Debug, Serialize)]
pub struct Saved {
    /// The file.
    pub file: PathBuf,
    /// The function.
    pub test: String,
    /// Its text.
    pub text: String,
    /// Whether the file is new.
    pub created: bool,
}

/// What a new file of such tests begins with.
const HEAD: &str = "//! Decisions of past runs, kept as tests.\n";

/// Where tests go that belong to no script.
const FILE: &str = "recorded_test.rhai";

/// Makes a test of the decision of a step, and adds it to a file (beside the rule that decided, if the project has a directory of
/// scripts, else `recorded_test.rhai`).
pub fn save_as_test(session: &Session, asked: &Asked, file: Option<&Path>) -> Result<Saved, SessionError> {
    let decisions = Decisions::open(session)?;
    let (run, case, steps) = match find(&decisions, asked)? {
        Found::Case { run, case, steps } => (run, case, steps),
        Found::Cases(list) => {
            let message = format!("the decision of which case? the run {} has {}", list.run, list.total);
            return Err(refused("input/which-case", message, Some("name one by --case ID".into())));
        }
    };
    let Some(last) = steps.last() else {
        return Err(refused("input/no-step", format!("the case `{case}` has not begun"), None));
    };
    let pipeline = decisions.project(&run, last, Probes::None)?.plan.pipeline.clone();
    let steps = choose(steps, asked, &pipeline)?;
    let mut found = decisions.decisions(&run, steps)?;
    let Some(decision) = found.pop().filter(|_| found.is_empty()) else {
        let several: Vec<String> = found.iter().map(|decision| decision.step.path.to_string()).collect();
        let (message, help) = if several.is_empty() {
            ("no edge was tried there, so nothing was decided".to_owned(), None)
        } else {
            ("the decision of which step?".to_owned(), Some("name one by --step PATH".to_owned()))
        };
        return Err(refused("input/which-step", message, help));
    };
    let project = decisions.project(&run, &decision.step, Probes::None)?;
    let fixture = Fixture::of(session, &decision, &project)?;
    let file = match file {
        Some(file) => file.to_owned(),
        None => default_file(session, &decision, &project),
    };
    if !Area::Tests.takes(&file.to_string_lossy()) || file.extension().is_none_or(|ending| ending != "rhai") {
        let message = format!("`{}` would be no file of tests", file.display());
        return Err(refused("test/no-file", message, Some("the name of a file of tests ends in `_test.rhai`".into())));
    }
    let before = std::fs::read_to_string(&file);
    let created = before.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    let before = match before {
        Ok(text) => text,
        Err(_) if created => HEAD.to_owned(),
        Err(source) => return Err(crate::files::FileError::Io { path: file, source }.into()),
    };
    let pipeline = pipeline_name(session, decisions.record().pipeline_asked(&run)?, &project);
    let test = free_name(&before, &fixture.name());
    let text = fixture.text(&test, pipeline.as_deref());
    write(&file, &format!("{}\n\n{text}", before.trim_end()))?;
    Ok(Saved { file, test, text, created })
}

/// What a test gives, and what must come of it.
struct Fixture {
    node: String,
    artifact: Value,
    state: Value,
    vars: Value,
    outcome: Outcome,
}

/// What came of a decision.
#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Way { edge: Value, to: Value },
    Lost { error: String },
}

impl Fixture {
    /// The smallest one on which the recorded texts decide as they did.
    fn of(session: &Session, decision: &Decision, project: &Project) -> Result<Self, SessionError> {
        let read = |text: &str| -> Value { serde_json::from_str(text).unwrap_or_default() };
        let node = decision.step.node.to_string();
        let vars = read(&decision.vars);
        let decide = |given: &Value, vars: &Value| {
            let state: RouteState = serde_json::from_value(given["state"].clone()).ok()?;
            let none = Map::new();
            let vars = vars.as_object().unwrap_or(&none);
            let (routed, _) = session.route(project, &node, &given["artifact"], state, vars).ok()?;
            Some(match routed {
                Routed::Way { edge, to, considered, .. } => {
                    (Outcome::Way { edge: json!(edge), to: json!(to) }, outcomes(&considered))
                }
                Routed::Lost { error, considered, .. } => (Outcome::Lost { error }, outcomes(&considered)),
            })
        };
        let mut given = json!({ "artifact": read(&decision.artifact), "state": state(&read(&decision.state)) });
        let first = decide(&given, &vars).filter(|(_, came)| *came == outcomes(&decision.step.considered));
        let Some(decided) = first else {
            return Err(refused("test/not-recorded", "this decision cannot be given to a test".into(), None));
        };
        let kept = read_values(decision, project, &given);
        shrink(&mut given, &mut |given| {
            let same = || kept.iter().all(|(path, value)| given.pointer(path) == Some(value));
            // The artifact and the state stay maps.
            let whole = || given.get("artifact").is_some_and(|part| !part.is_array()) && given.get("state").is_some();
            same() && whole() && decide(given, &vars).as_ref() == Some(&decided)
        });
        // Vars that are as the pipeline of now has them need not be set.
        let pipeline = &project.plan.pipeline;
        let now = session.pipeline(pipeline.source.name()).ok().and_then(|source| crate::pipeline::parse(&source).ok());
        let defaults = now.as_ref().unwrap_or(pipeline).vars_json();
        let set = vars.as_object().into_iter().flatten().filter(|(name, value)| defaults.get(*name) != Some(value));
        let mut vars: Value = set.map(|(name, value)| (name.clone(), value.clone())).collect();
        shrink(&mut vars, &mut |vars| vars.is_object() && decide(&given, vars).as_ref() == Some(&decided));
        let (artifact, state) = (given["artifact"].take(), given["state"].take());
        Ok(Self { node, artifact, state, vars, outcome: decided.0 })
    }

    /// What the test is called: where it is and what comes of it.
    fn name(&self) -> String {
        let said = match &self.outcome {
            Outcome::Way { edge: Value::String(edge), .. } => format!("takes_{edge}"),
            Outcome::Way { .. } => "ends".to_owned(),
            Outcome::Lost { error } => format!("fails_with_{error}"),
        };
        let word = |text: &str| -> String {
            text.chars().map(|ch| if ch.is_ascii_alphanumeric() { ch.to_ascii_lowercase() } else { '_' }).collect()
        };
        format!("test_{}_{}", word(&self.node), word(&said))
    }

    fn text(&self, name: &str, pipeline: Option<&str>) -> String {
        let mut inputs = Map::new();
        inputs.insert("artifact".into(), self.artifact.clone());
        for (key, value) in [("state", &self.state), ("vars", &self.vars)] {
            if value.as_object().is_some_and(|fields| !fields.is_empty()) {
                inputs.insert(key.into(), value.clone());
            }
        }
        if let Some(pipeline) = pipeline {
            inputs.insert("pipeline".into(), pipeline.into());
        }
        let inputs = |indent| literal(&Value::Object(inputs.clone()), indent);
        let node = quoted(&self.node);
        let body = match &self.outcome {
            Outcome::Way { edge, to } => format!(
                "    let got = decide({node}, {});\n    assert_eq([got.edge, got.to], {});\n",
                inputs(4),
                literal(&json!([edge, to]), 4)
            ),
            // A rule that fails fails the test there.
            Outcome::Lost { error } if error == "rule_error" => format!("    assert_throws(|| decide({node}, {}));\n", inputs(4)),
            Outcome::Lost { error } => {
                format!("    let got = decide({node}, {});\n    assert_eq(got.error, {});\n", inputs(4), quoted(error))
            }
        };
        format!("/// As a run decided it.\nfn {name}() {{\n{body}}}\n")
    }
}

/// What came of each edge.
fn outcomes(considered: &[Considered]) -> Vec<(Name, walk::Outcome)> {
    considered.iter().map(|entry| (entry.edge.clone(), entry.outcome)).collect()
}

/// The numbers, texts and truth values that the rules which were asked may have read: where they stand in what is given to a
/// test, and which they are. They stay, or the test would be about another decision as soon as a threshold moves.
fn read_values(decision: &Decision, project: &Project, given: &Value) -> Vec<(String, Value)> {
    let asked = decision.step.considered.iter().filter(|entry| entry.outcome != walk::Outcome::NotReached);
    let rules = asked.filter_map(|entry| project.plan.rule(project.plan.pipeline.edge(&entry.edge)?));
    let pointer = |read: &str| format!("/{}", read.split("[]").next().unwrap_or(read).replace('.', "/"));
    let paths: BTreeSet<String> = rules.flat_map(|rule| rule.reads.iter().map(|read| pointer(read))).collect();
    let value = |path: String| {
        let value = given.pointer(&path).filter(|value| !value.is_array() && !value.is_object())?.clone();
        Some((path, value))
    };
    paths.into_iter().filter_map(value).collect()
}

/// A recorded state as tests take one.
fn state(recorded: &Value) -> Value {
    let mut state = recorded.clone();
    if let Some(fields) = state.as_object_mut() {
        fields.remove("node");
        for visit in fields.get_mut("history").and_then(Value::as_array_mut).into_iter().flatten() {
            visit.as_object_mut().map(|visit| visit.remove("outcome"));
        }
    }
    state
}

/// Beside the rule that decided; without a directory of scripts, in the one that one is in.
fn default_file(session: &Session, decision: &Decision, project: &Project) -> PathBuf {
    let Some(dir) = session.setup().scripts.clone() else { return PathBuf::from(FILE) };
    let pipeline = &project.plan.pipeline;
    let edge = |name: &str| pipeline.edge(name).map(|ix| pipeline.edge_at(ix));
    let asked = decision.step.considered.iter().rev().filter(|entry| entry.outcome != walk::Outcome::NotReached);
    let taken = if let Went::To { edge, .. } = &decision.step.went { Some(&**edge) } else { None };
    let mut edges = taken.into_iter().chain(asked.map(|entry| &*entry.edge)).filter_map(edge);
    let script = edges.find_map(|edge| if let When::Rule(rule) = &edge.when { rule.split_once(".rhai#") } else { None });
    dir.join(script.map_or_else(|| FILE.to_owned(), |(stem, _)| format!("{stem}_test.rhai")))
}

/// How a test names the pipeline, if it must: the default one is meant without.
fn pipeline_name(session: &Session, asked: Option<String>, project: &Project) -> Option<String> {
    let name = project.plan.pipeline.name.as_str();
    let is_default = session
        .pipeline(crate::session::DEFAULT_PIPELINE)
        .is_ok_and(|source| crate::pipeline::parse(&source).is_ok_and(|pipeline| pipeline.name.as_str() == name));
    if is_default {
        return None;
    }
    if session.pipeline(name).is_ok() { Some(name.to_owned()) } else { asked.or_else(|| Some(name.to_owned())) }
}

/// A name that no function of the text has.
fn free_name(text: &str, name: &str) -> String {
    let taken = |name: &str| text.contains(&format!("fn {name}("));
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken(name)).unwrap_or_default()
}

fn write(file: &Path, text: &str) -> Result<(), SessionError> {
    let made = file.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(file, text));
    made.map_err(|source| SessionError::Write { path: file.display().to_string(), source })
}
