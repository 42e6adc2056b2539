//! Blame: the rule, line, text revision and commit behind each decision of a case, its verdict included.

use super::explain::changed;
use super::recorded::{Decisions, RecordedDecision};
use super::reevaluate::{self, file_of, is_changed};
use super::selection::{CaseList, StepQuery, StepSelection, choose, find, status};
use super::steps::{JournalStep, StepEnd};
use asterisk_adapters::workspace::{Committed, committed};
use asterisk_base::model::Hash;
use asterisk_diag::{Source, Span};
use asterisk_pipeline::{EdgeIx, NodeIx};
use asterisk_project::Project;
use asterisk_script::probe::{Outline, Probes};
use asterisk_session::{Session, SessionError};
use asterisk_walk::{EdgeOutcome, FALLBACK, WalkStatus};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What decided the steps of a case.
#[derive(Clone, Debug, Serialize)]
pub struct CaseBlame {
    pub run: String,
    pub pipeline: String,
    /// The case's id.
    pub case: String,
    pub name: String,
    pub status: WalkStatus,
    /// Whether whole functions are included.
    #[serde(skip)]
    pub detailed: bool,
    /// The steps with a decision.
    pub steps: Vec<StepBlame>,
    /// What decided the verdict; `None` if none was recorded, or if only one step was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictBlame>,
}

/// What decided a verdict.
#[derive(Clone, Debug, Serialize)]
pub struct VerdictBlame {
    /// The path of the step that it was made for.
    pub step: String,
    /// The defect that it says.
    pub defect: String,
    /// The probability of the most probable defect, from 0 to 1.
    pub probability: f64,
    /// The rules and signatures that counted, in the order of the verdict.
    pub rules: Vec<SpokenBlame>,
}

/// A rule or signature that counted in a verdict.
#[derive(Clone, Debug, Serialize)]
pub struct SpokenBlame {
    pub id: String,
    pub name: String,
    /// What it added to the log-odds of each defect.
    pub added: BTreeMap<String, f64>,
    /// Where its weights are written: `file:line`.
    pub weights: String,
    /// Its function, or the entry of the signature; `None` if its text is gone.
    #[serde(flatten)]
    pub place: Option<DecidingText>,
}

/// What decided a step.
#[derive(Clone, Debug, Serialize)]
pub struct StepBlame {
    pub path: String,
    pub node: String,
    /// The edge that was taken, or failed.
    pub edge: String,
    /// The target; `None` if the edge failed.
    pub to: Option<String>,
    /// The reason, or the error's message.
    pub because: String,
    #[serde(flatten)]
    pub place: DecidingText,
}

/// The text that decided something, as it was then.
#[derive(Clone, Debug, Serialize)]
pub struct DecidingText {
    /// The function's reference; `None` for a condition, and for an edge without a rule.
    pub rule: Option<String>,
    pub file: String,
    /// The line that decided, from 1.
    pub line: usize,
    /// The address of the file's recorded text in the store.
    pub text_hash: Hash,
    /// Whether the file, or one it imports, has changed since.
    pub changed: bool,
    /// Where the file is; `None` for one that is bundled or gone.
    pub path_on_disk: Option<String>,
    /// The commits it came from; `None` for one that is not on disk.
    pub committed: Option<Committed>,
    /// The lines of the function, or only the one that decided.
    pub text: Vec<CodeLine>,
}

/// A line of a recorded text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CodeLine {
    /// Its number, from 1.
    pub line: usize,
    pub text: String,
    /// Whether it decided.
    pub decided: bool,
}

/// The most lines of a function that is shown whole.
const LONGEST: usize = 60;

/// Returns what decided the steps of a case, or the run's cases if none was named and there are several.
pub fn blame(session: &Session, query: &StepQuery) -> Result<Result<CaseBlame, CaseList>, SessionError> {
    let decisions = Decisions::open(session)?;
    let (run, case, steps) = match find(&decisions, query)? {
        StepSelection::Case { run, case, steps } => (run, case, steps),
        StepSelection::Cases(cases) => return Ok(Err(cases)),
    };
    let name = decisions.record().store().case(&run, &case)?.name;
    let last = steps.last().map(|step| decisions.project(&run, step, Probes::All)).transpose()?;
    let status = status(&steps, last.as_ref().map(|project| &*project.plan.done));
    let (pipeline, steps) = match &last {
        Some(project) => {
            let pipeline = &project.plan.pipeline;
            (pipeline.name.value.clone(), choose(steps, query, pipeline)?)
        }
        None => (String::new(), steps),
    };
    let changed = changed(&decisions, &run, &steps)?;
    let verdict = if query.step.is_none() { of_verdict(&decisions, &run, &case, &steps, &changed)? } else { None };
    let mut blamed = Vec::new();
    for decision in decisions.decisions(&run, steps)? {
        let project = decisions.project(&run, &decision.step, Probes::All)?;
        blamed.extend(of(&decisions, &run, &decision, &project, &changed, query.step.is_some())?);
    }
    Ok(Ok(CaseBlame { run, pipeline, case, name, status, detailed: query.step.is_some(), steps: blamed, verdict }))
}

fn of(
    decisions: &Decisions,
    run: &str,
    decision: &RecordedDecision,
    project: &Project,
    changed: &BTreeSet<String>,
    detailed: bool,
) -> Result<Option<StepBlame>, SessionError> {
    let step = &decision.step;
    let Some((edge, to, because)) = taken(step) else { return Ok(None) };
    let inputs = decision.rule_inputs(project)?;
    let pipeline = &inputs.plan.pipeline;
    let ix = pipeline.edge(&edge);
    let rule = ix.and_then(|ix| inputs.plan.rule(ix));
    let function = rule.map(|rule| &rule.function);
    let (source, span) = match ix {
        Some(ix) => place(&inputs, ix, project),
        None => (pipeline.source.clone(), fallback(pipeline, inputs.node)),
    };
    let (line, _) = source.line_column(span.start);
    let begins =
        function.and_then(asterisk_script::ScriptFunction::definition).map_or(line, |(of, at)| of.line_column(at.start).0);
    let script = function.and_then(|function| function.file());
    let whole = script.map_or(source.text(), |name| file_of(project, name));
    let changed = is_changed(project, pipeline, function, changed);
    let on_disk = file_on_disk(decisions, run, script, &source)?;
    let text = lines(&source, begins.min(line), line, detailed && script.is_some());
    let rule = function.filter(|function| !function.is_condition()).map(asterisk_script::ScriptFunction::key);
    let place = DecidingText::new(rule, &source, line, whole, changed, on_disk, text).with_history(decisions, &source);
    Ok(Some(StepBlame { path: step.path.to_string(), node: step.node.to_string(), edge, to, because, place }))
}

/// Where the text of a script, or else of a pipeline, is; `None` for one that is bundled or gone.
fn file_on_disk(
    decisions: &Decisions,
    run: &str,
    script: Option<&str>,
    source: &Source,
) -> Result<Option<PathBuf>, SessionError> {
    match script {
        Some(name) => decisions.record().script_file(run, name),
        None => decisions.record().pipeline_file(run, source.name()),
    }
}

impl DecidingText {
    fn new(
        rule: Option<String>,
        source: &Source,
        line: usize,
        whole: &str,
        changed: bool,
        on_disk: Option<PathBuf>,
        text: Vec<CodeLine>,
    ) -> Self {
        Self {
            rule,
            file: source.name().to_owned(),
            line,
            text_hash: Hash::of(whole.as_bytes()),
            changed,
            committed: None,
            path_on_disk: on_disk.map(|file| file.display().to_string()),
            text,
        }
    }

    /// Adds the commits behind the line, if the text is in a file.
    fn with_history(mut self, decisions: &Decisions, source: &Source) -> Self {
        let variables = decisions.record().variables();
        let line = u32::try_from(self.line).unwrap_or(u32::MAX);
        let file = self.path_on_disk.as_deref().map(Path::new);
        self.committed = file.map(|file| committed(variables, file, source.text(), line));
        self
    }
}

/// What decided the last verdict of a case.
fn of_verdict(
    decisions: &Decisions,
    run: &str,
    case: &str,
    steps: &[JournalStep],
    changed: &BTreeSet<String>,
) -> Result<Option<VerdictBlame>, SessionError> {
    let Some((path, verdict)) = decisions.recorded_verdict(run, case)? else { return Ok(None) };
    let Some(step) = steps.iter().find(|step| *step.path == *path) else { return Ok(None) };
    let project = decisions.project(run, step, Probes::All)?;
    let texts = decisions.texts(run)?;
    let manifest = texts.iter().find(|texts| texts.address == step.manifest).map(|texts| &texts.manifest);
    let of_step = project.plan.of_path(&step.path);
    let plan = of_step.as_ref().and_then(|plan| plan.verdict.as_ref());
    let mut rules = Vec::new();
    for spoken in verdict.spoke.iter().filter(|spoken| spoken.counted) {
        let function = plan.and_then(|plan| plan.rules.iter().find(|rule| rule.id == spoken.id)).map(|rule| &rule.function);
        let place = match function.and_then(|function| Some((function, function.definition()?))) {
            Some((function, (source, span))) => {
                let (line, _) = source.line_column(span.start);
                let whole = function.file().map_or(source.text(), |name| file_of(&project, name));
                let changed = is_changed(&project, &project.plan.pipeline, Some(function), changed);
                let on_disk = file_on_disk(decisions, run, function.file(), &source)?;
                let (rule, shown) = (Some(function.key()), lines(&source, line, line, false));
                let place = DecidingText::new(rule, &source, line, whole, changed, on_disk, shown);
                Some(place.with_history(decisions, &source))
            }
            None => match (spoken.at.rsplit_once(':'), manifest) {
                (Some((file, line)), Some(manifest)) => {
                    let stored = manifest.data.get(file.strip_prefix("data/").unwrap_or(file));
                    let text = match stored.map(|hash| (hash, manifest.bundled_text(hash))) {
                        Some((_, Some(source))) => Some(source.text().into()),
                        Some((hash, None)) => decisions.record().store().blob(hash)?,
                        None => None,
                    };
                    let on_disk = decisions.record().script_file(run, file)?;
                    text.map(|text| {
                        let source = Source::new(file, text.to_string());
                        let line = line.parse().unwrap_or(1);
                        let changed = changed.contains(&format!("scripts/{file}"));
                        let shown = lines(&source, line, line, false);
                        let place = DecidingText::new(None, &source, line, source.text(), changed, on_disk, shown);
                        place.with_history(decisions, &source)
                    })
                }
                _ => None,
            },
        };
        let added = spoken.weights.keys().map(|defect| (defect.to_string(), spoken.contribution(defect))).collect();
        let (id, name, weights) = (spoken.id.to_string(), spoken.name.to_string(), spoken.at.to_string());
        rules.push(SpokenBlame { id, name, added, weights, place });
    }
    let defect = if verdict.decided { &verdict.defect } else { &verdict.undecided };
    let (step, defect, probability) = (path.to_string(), defect.to_string(), verdict.probability);
    Ok(Some(VerdictBlame { step, defect, probability, rules }))
}

/// The edge that was taken or that failed, its target, and the reason.
fn taken(step: &JournalStep) -> Option<(String, Option<String>, String)> {
    match &step.end {
        StepEnd::To { to, edge, because, .. } => Some((edge.to_string(), Some(to.to_string()), because.to_string())),
        StepEnd::Failed { message, .. } => {
            let failed = step.considered.iter().rev().find(|entry| entry.outcome == EdgeOutcome::Error)?;
            Some((failed.edge.to_string(), None, message.clone()))
        }
        StepEnd::Over | StepEnd::Open => None,
    }
    .filter(|(edge, ..)| !edge.is_empty())
}

/// The place of an edge's outcome: the expression that its rule returned, or where it failed, or the edge itself.
fn place(inputs: &asterisk_walk::RuleInputs, ix: EdgeIx, project: &Project) -> (Source, Span) {
    let reevaluated = reevaluate::observe(inputs);
    let outline = Outline::new(project.library.probed());
    let observed = reevaluated.observed.get(&ix);
    let failed = observed.and_then(|observed| observed.error.as_ref()?.primary().map(|label| (label.source.clone(), label.span)));
    let answer = || outline.answer(observed?.recorder.evaluations().first()?);
    let defined = || inputs.plan.rule(ix)?.function.definition();
    let pipeline = &inputs.plan.pipeline;
    failed.or_else(answer).or_else(defined).unwrap_or_else(|| (pipeline.source.clone(), pipeline.edge_at(ix).spans.whole))
}

fn fallback(pipeline: &asterisk_pipeline::Pipeline, node: NodeIx) -> Span {
    let name = pipeline.at(node).name.span;
    let text = pipeline.source.text();
    // `fallback:` stands after the node's name.
    let found = text.get(name.end..).and_then(|rest| rest.find(FALLBACK)).map(|at| name.end + at);
    found.map_or(name, |at| Span::new(at, at + FALLBACK.len()))
}

/// The line that decided, or its whole function.
fn lines(source: &Source, begins: usize, decided: usize, whole: bool) -> Vec<CodeLine> {
    let all: Vec<&str> = source.text().lines().collect();
    let line = |number: usize| CodeLine {
        line: number,
        text: all.get(number - 1).copied().unwrap_or_default().trim_end().to_owned(),
        decided: number == decided,
    };
    if !whole {
        return vec![line(decided)];
    }
    let is_end = |number: &usize| all.get(number - 1).is_some_and(|text| text.starts_with('}')) && *number >= decided;
    let end = (begins..=all.len()).find(is_end).unwrap_or(decided).min(begins + LONGEST).max(decided);
    (begins..=end).map(line).collect()
}
