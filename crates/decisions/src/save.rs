//! Saves a recorded decision as a test of its rules, with minimal inputs.

use super::literal::{literal, quoted};
use super::recorded::Decisions;
use super::selection::{StepQuery, StepSelection, choose, find, refused};
use super::shrink::shrink;
use asterisk_files::Area;
use asterisk_pipeline::EdgeCondition;
use asterisk_project::Project;
use asterisk_script::probe::Probes;
use asterisk_session::{RouteState, Routed, RunOrigin, Session, SessionError};
use asterisk_walk::{self as walk, ConsideredEdge, Name};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A decision that was saved as a test.
#[derive(Clone, Debug, Serialize)]
pub struct SavedDecision {
    pub file: PathBuf,
    /// The name of the test function.
    pub test: String,
    /// The text of the test.
    pub text: String,
    /// Whether the file is new.
    pub created: bool,
    /// The directory of scripts that was named for the run only: the test needs it too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scripts: Option<PathBuf>,
}

impl SavedDecision {
    /// `written to FILE`, or `added to FILE`.
    pub fn location(&self) -> String {
        format!("{} {}", if self.created { "written to" } else { "added to" }, self.file.display())
    }
}

/// The head of a new file.
const HEAD: &str = "//! Decisions of past runs, kept as tests.\n";

/// The file of tests that belong to no script.
const FILE: &str = "recorded_test.rhai";

/// Saves the decision of a step as a test in a file: by default next to the rule that decided, if the project has a directory of
/// scripts, else `recorded_test.rhai`.
pub fn save_as_test(session: &Session, query: &StepQuery, file: Option<&Path>) -> Result<SavedDecision, SessionError> {
    let decisions = Decisions::open(session)?;
    let (run, case, steps) = match find(&decisions, query)? {
        StepSelection::Case { run, case, steps } => (run, case, steps),
        StepSelection::Cases(list) => {
            let message = format!("no case given; the run {} has {}", list.run, list.total);
            return Err(refused("input/which-case", message, Some("select one with --case ID".into())));
        }
    };
    let Some(last) = steps.last() else {
        return Err(refused("input/no-step", format!("the case `{case}` has not started"), None));
    };
    let pipeline = decisions.project(&run, last, Probes::None)?.plan.pipeline.clone();
    let steps = choose(steps, query, &pipeline)?;
    let mut found = decisions.decisions(&run, steps)?;
    let Some(decision) = found.pop().filter(|_| found.is_empty()) else {
        let several: Vec<String> = found.iter().map(|decision| decision.step.path.to_string()).collect();
        let (message, help) = if several.is_empty() {
            ("no edge was tried there, so no decision was made".to_owned(), None)
        } else {
            ("no step given".to_owned(), Some("select one with --step PATH".to_owned()))
        };
        return Err(refused("input/which-step", message, help));
    };
    let project = decisions.project(&run, &decision.step, Probes::None)?;
    let part = project.of_part(&decision.step.path);
    let project = part.as_ref().unwrap_or(&*project);
    let RunOrigin { session: origin, pipeline, .. } = session.origin(&run)?;
    let read = |text: &str| -> Value { serde_json::from_str(text).unwrap_or_default() };
    let made = DecisionMade {
        project,
        pipeline: Some(pipeline.as_str()).filter(|_| part.is_none()),
        node: &decision.step.node,
        artifact: read(&decision.artifact),
        state: read(&decision.state),
        vars: read(&decision.vars),
        considered: &decision.step.considered,
        changed: false,
    };
    let mut saved = made.save(&origin, file)?;
    // Tests use the current scripts and pipelines, from where the run took its own.
    saved.scripts = origin.setup().texts.scripts.clone().filter(|_| session.setup().texts.scripts.is_none());
    Ok(saved)
}

/// A decision with its texts and its inputs.
#[derive(Debug)]
pub struct DecisionMade<'a> {
    pub project: &'a Project,
    /// The requested name of the pipeline, if any.
    pub pipeline: Option<&'a str>,
    pub node: &'a str,
    pub artifact: Value,
    /// The recorded state.
    pub state: Value,
    /// All vars.
    pub vars: Value,
    /// The outcomes of the edges.
    pub considered: &'a [ConsideredEdge],
    /// Whether it is not as a run decided it: with other texts, vars or inputs.
    pub changed: bool,
}

impl DecisionMade<'_> {
    /// Saves the decision as a test, as [`save_as_test`] does.
    pub fn save(&self, session: &Session, file: Option<&Path>) -> Result<SavedDecision, SessionError> {
        let fixture = SavedTest::of(session, self)?;
        let file = match file {
            Some(file) => file.to_owned(),
            None => default_file(session, self),
        };
        if !Area::Tests.takes(&file.to_string_lossy()) || file.extension().is_none_or(|ending| ending != "rhai") {
            let message = format!("`{}` is not a test file", file.display());
            return Err(refused("test/no-file", message, Some("names of test files end in `_test.rhai`".into())));
        }
        let before = std::fs::read_to_string(&file);
        let created = before.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
        let before = match before {
            Ok(text) => text,
            Err(_) if created => HEAD.to_owned(),
            Err(source) => return Err(asterisk_files::FileError::Io { path: file, source }.into()),
        };
        let pipeline = pipeline_name(session, self.pipeline, self.project);
        let test = free_name(&before, &fixture.name());
        let text = fixture.text(&test, pipeline.as_deref());
        write(&file, &format!("{}\n\n{text}", before.trim_end()))?;
        Ok(SavedDecision { file, test, text, created, scripts: None })
    }
}

/// The inputs and the expected outcome of a test.
struct SavedTest {
    node: String,
    artifact: Value,
    state: Value,
    vars: Value,
    changed: bool,
    outcome: ExpectedOutcome,
}

/// The outcome of a decision.
#[derive(Clone, Debug, PartialEq)]
enum ExpectedOutcome {
    Way { edge: Value, to: Value },
    Lost { error: String },
}

impl SavedTest {
    /// The smallest test on which the recorded texts decide as they did.
    fn of(session: &Session, made: &DecisionMade<'_>) -> Result<Self, SessionError> {
        let (project, node, vars) = (made.project, made.node, &made.vars);
        let decide = |given: &Value, vars: &Value| {
            let state: RouteState = serde_json::from_value(given["state"].clone()).ok()?;
            let none = Map::new();
            let vars = vars.as_object().unwrap_or(&none);
            let (routed, _) = session.route(project, node, &given["artifact"], state, vars).ok()?;
            Some(match routed {
                Routed::Way { edge, to, considered, .. } => {
                    (ExpectedOutcome::Way { edge: json!(edge), to: json!(to) }, outcomes(&considered))
                }
                Routed::Lost { error, considered, .. } => (ExpectedOutcome::Lost { error }, outcomes(&considered)),
            })
        };
        let mut given = json!({ "artifact": made.artifact, "state": state(&made.state) });
        let first = decide(&given, vars).filter(|(_, came)| *came == outcomes(made.considered));
        let Some(decided) = first else {
            return Err(refused("test/not-recorded", "this decision cannot be saved as a test".into(), None));
        };
        let kept = read_values(made, &given);
        shrink(&mut given, &mut |given| {
            let same = || kept.iter().all(|(path, value)| given.pointer(path) == Some(value));
            // The artifact and the state stay maps.
            let whole = || given.get("artifact").is_some_and(|part| !part.is_array()) && given.get("state").is_some();
            same() && whole() && decide(given, vars).as_ref() == Some(&decided)
        });
        // Vars with the pipeline's current values need not be set.
        let pipeline = &project.plan.pipeline;
        let now = session.pipeline(pipeline.source.name()).ok().and_then(|source| asterisk_pipeline::parse(&source).ok());
        let defaults = now.as_ref().unwrap_or(pipeline).vars_json();
        let set = vars.as_object().into_iter().flatten().filter(|(name, value)| defaults.get(*name) != Some(value));
        let mut vars: Value = set.map(|(name, value)| (name.clone(), value.clone())).collect();
        shrink(&mut vars, &mut |vars| vars.is_object() && decide(&given, vars).as_ref() == Some(&decided));
        let (artifact, state) = (given["artifact"].take(), given["state"].take());
        Ok(Self { node: node.to_owned(), artifact, state, vars, changed: made.changed, outcome: decided.0 })
    }

    /// The name of the test: its node and the expected outcome.
    fn name(&self) -> String {
        let said = match &self.outcome {
            ExpectedOutcome::Way { edge: Value::String(edge), .. } => format!("takes_{edge}"),
            ExpectedOutcome::Way { .. } => "ends".to_owned(),
            ExpectedOutcome::Lost { error } => format!("fails_with_{error}"),
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
            ExpectedOutcome::Way { edge, to } => format!(
                "    let got = decide({node}, {});\n    assert_eq([got.edge, got.to], {});\n",
                inputs(4),
                literal(&json!([edge, to]), 4)
            ),
            // A rule that fails fails the test there.
            ExpectedOutcome::Lost { error } if error == "rule_error" => {
                format!("    assert_throws(|| decide({node}, {}));\n", inputs(4))
            }
            ExpectedOutcome::Lost { error } => {
                format!("    let got = decide({node}, {});\n    assert_eq(got.error, {});\n", inputs(4), quoted(error))
            }
        };
        format!(
            "/// {}.\nfn {name}() {{\n{body}}}\n",
            if self.changed { "As decided with changed inputs, vars or texts" } else { "As a run decided it" }
        )
    }
}

/// The outcomes of the edges.
fn outcomes(considered: &[ConsideredEdge]) -> Vec<(Name, walk::EdgeOutcome)> {
    considered.iter().map(|entry| (entry.edge.clone(), entry.outcome)).collect()
}

/// The numbers, strings and booleans that the evaluated rules may have read, with their paths in the test's inputs. They are
/// kept, or the test would cover another decision as soon as a threshold moves.
fn read_values(made: &DecisionMade<'_>, given: &Value) -> Vec<(String, Value)> {
    let plan = &made.project.plan;
    let query = made.considered.iter().filter(|entry| entry.outcome != walk::EdgeOutcome::NotReached);
    let rules = query.filter_map(|entry| plan.rule(plan.pipeline.edge(&entry.edge)?));
    let pointer = |read: &str| format!("/{}", read.split("[]").next().unwrap_or(read).replace('.', "/"));
    let paths: BTreeSet<String> = rules.flat_map(|rule| rule.reads.iter().map(|read| pointer(read))).collect();
    let value = |path: String| {
        let value = given.pointer(&path).filter(|value| !value.is_array() && !value.is_object())?.clone();
        Some((path, value))
    };
    paths.into_iter().filter_map(value).collect()
}

/// A recorded state in the form that tests take.
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

/// The file next to the rule that decided, apart from tests written by hand and not overlaying a bundled file of tests; without a
/// directory of scripts, `recorded_test.rhai`.
fn default_file(session: &Session, made: &DecisionMade<'_>) -> PathBuf {
    let Some(dir) = session.setup().texts.scripts.clone() else { return PathBuf::from(FILE) };
    let pipeline = &made.project.plan.pipeline;
    let edge = |entry: &ConsideredEdge| pipeline.edge(&entry.edge).map(|ix| pipeline.edge_at(ix));
    let (fired, query) = (walk::EdgeOutcome::Fired, made.considered.iter().rev());
    let query = query.filter(|entry| entry.outcome != walk::EdgeOutcome::NotReached);
    let taken = made.considered.iter().rev().filter(|entry| entry.outcome == fired);
    let mut edges = taken.chain(query).filter_map(edge);
    let script = edges.find_map(|edge| if let EdgeCondition::Rule(rule) = &edge.when { rule.split_once(".rhai#") } else { None });
    dir.join(script.map_or_else(|| FILE.to_owned(), |(stem, _)| format!("{stem}_recorded_test.rhai")))
}

/// The pipeline's name in a test; `None` for the default one.
fn pipeline_name(session: &Session, query: Option<&str>, project: &Project) -> Option<String> {
    let name = project.plan.pipeline.name.as_str();
    let is_default = session
        .pipeline(asterisk_session::DEFAULT_PIPELINE)
        .is_ok_and(|source| asterisk_pipeline::parse(&source).is_ok_and(|pipeline| pipeline.name.as_str() == name));
    if is_default {
        return None;
    }
    let Some(query) = query.filter(|_| session.pipeline(name).is_err()) else { return Some(name.to_owned()) };
    // A path is relative to the project's directory.
    let path = Path::new(query);
    Some(path.strip_prefix(&session.setup().root).unwrap_or(path).display().to_string())
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
