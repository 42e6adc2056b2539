//! Calibration as a whole: a scenario walked and scored, or results scored again.

use super::compare::{self, PackComparison};
use super::results::{self, StoredResults};
use super::scenario::{CalibrationScenario, CauseIdentity, ScenarioUnit};
use super::scoreboard::{BoardValues, MetricResult, Scoreboard, ScoredCase, TableResult, conclude};
use super::scorecard::Scorecard;
use super::walk::{ScenarioWalk, WalkedUnit, texts};
use asterisk_diag::counted;
use asterisk_files::OutDir;
use asterisk_project::{AnswererNames, CurrentProject, Project};
use asterisk_script::View;
use asterisk_session::{Record, RunSettings, Session, SessionError, Setup, WorkerPool};
use asterisk_walk::RuleFailures;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The directory of calibrations, below the project's.
pub(super) const DIR: &str = ".asterisk/calibrate";
/// The maximum number of ids listed in a note.
const NAMED: usize = 5;

/// A scenario to read.
#[derive(Clone, Debug)]
pub struct ScenarioSpec {
    /// Its file: a scenario, or labelled cases.
    pub path: PathBuf,
    /// A directory with a launch per labelled case.
    pub launches: Option<PathBuf>,
    /// The pipeline, the default one if none.
    pub pipeline: Option<String>,
    /// The scorecard, that of the pipeline if none.
    pub scorecard: Option<String>,
    /// The number of resamples that intervals are made of.
    pub resamples: usize,
}

/// How to calibrate.
#[derive(Clone, Debug)]
pub struct CalibrateSpec {
    pub scenario: ScenarioSpec,
    /// Of each launch; each further run of the scenario takes the next seed.
    pub settings: RunSettings,
    /// How often the scenario is walked; at least 1.
    pub runs: usize,
    /// The most cases walked concurrently; at least 1.
    pub parallel: usize,
    /// The directory of results and stores; one for the scenario below the project's, if `None`.
    pub out: Option<PathBuf>,
    /// Whether the stores of a scenario of several projects are kept.
    pub keep: bool,
    /// A directory of scripts to compare those of the project with.
    pub compare: Option<PathBuf>,
}

/// Results to score.
#[derive(Clone, Debug)]
pub struct ScoreSpec {
    pub scenario: ScenarioSpec,
    /// The files of results, one for each run.
    pub results: Vec<PathBuf>,
    /// Whether the results are of canned answers.
    pub canned: bool,
}

/// Hears how far a calibration is. Called from many threads.
pub trait CalibrateListener: Sync {
    /// The number of cases about to be walked.
    fn begin(&self, _cases: usize) {}
    /// A case was walked.
    fn walked(&self, _case: &str) {}
}

/// How good an analysis is on a scenario.
#[derive(Clone, Debug, Serialize)]
pub struct CalibrationReport {
    /// The version of this shape.
    pub schema_version: u32,
    /// The name of the scenario.
    pub scenario: String,
    /// What its cases have in common.
    pub description: String,
    /// The name of the pipeline.
    pub pipeline: String,
    /// The name of the domain, if there is one.
    pub domain: Option<String>,
    /// The name of the scorecard.
    pub scorecard: String,
    /// Who answered; empty for results that were scored again.
    pub via: String,
    /// How often the scenario was walked.
    pub runs: usize,
    /// How many cases were scored.
    pub scored: usize,
    /// How many of them were held out.
    pub held_out: usize,
    /// Whether no metric misses its threshold.
    pub pass: bool,
    /// The metrics, in the order of the scorecard.
    pub metrics: Vec<MetricResult>,
    /// The tables of the scorecard, of the first run.
    pub tables: Vec<TableResult>,
    /// The comparison with another pack of scripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<PackComparison>,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// The cases that were not scored, with the reason.
    pub left_out: Vec<UnscoredCase>,
    /// The rules that failed in the first run; absent if none did.
    #[serde(skip_serializing_if = "RuleFailures::is_empty")]
    pub failed_rules: RuleFailures,
    /// The cases of the first run.
    pub cases: StoredResults,
}

/// A case that was not scored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnscoredCase {
    /// Its id.
    pub case: String,
    /// Why.
    pub why: String,
}

/// A pack of scripts with its project.
pub(super) struct ScriptPack {
    pub(super) session: Session,
    pub(super) project: Arc<Project>,
    current: CurrentProject,
    pub(super) card: Scorecard,
    /// What its files are called after.
    suffix: &'static str,
}

/// Walks a scenario and scores it.
pub fn calibrate(
    session: &Session,
    spec: &CalibrateSpec,
    listener: &dyn CalibrateListener,
) -> Result<CalibrationReport, SessionError> {
    let mut scenario = CalibrationScenario::read(session, &spec.scenario.path, spec.scenario.launches.as_deref())?;
    let out = spec.out.clone().unwrap_or_else(|| session.setup().root.join(DIR).join(file_name(&scenario.name)));
    // Signals are at DIR/RUN/CASE.
    let signals = spec.out.clone().unwrap_or_else(|| session.setup().root.join(DIR));
    let setup = scenario_setup(session, &scenario, &signals);
    let pack = ScriptPack::link(setup.clone(), spec, "")?;
    let candidate = match &spec.compare {
        Some(dir) => Some(ScriptPack::link(setup.with_scripts(dir), spec, "-candidate")?),
        None => None,
    };
    scenario.canonical(pack.project.data.files.all());
    let dir = OutDir::private(&out).map_err(|source| write_failed(&out, source))?;
    let packs: Vec<&ScriptPack> = std::iter::once(&pack).chain(&candidate).collect();
    listener.begin(scenario.cases().count() * spec.runs * packs.len());
    let memory = if session.no_store_yet().is_some() { None } else { session.record().ok() };
    let calibration = Calibration { scenario: &scenario, spec, dir: &dir, listener, memory: memory.as_ref() };
    let capped = if spec.settings.via.is_stub() { scenario.dry_capped.clone() } else { BTreeSet::new() };
    let mut of_packs = Vec::new();
    for pack in packs {
        let runs = (0..spec.runs).map(|run| calibration.run(pack, run)).collect::<Result<Vec<CalibratedRun>, _>>()?;
        let mut values = Vec::new();
        let mut firsts = None;
        for run in runs {
            values.push(run.values);
            firsts.get_or_insert(run.outcome);
        }
        let metrics = conclude(&pack.card, &values, &capped).map_err(texts)?;
        of_packs.push((metrics, values, firsts));
    }
    let mut of_packs = of_packs.into_iter();
    let nothing = || SessionError::bad_request("calibrate/runs", "no runs to calibrate", None);
    let (metrics, values, first) = of_packs.next().ok_or_else(nothing)?;
    let first = first.ok_or_else(nothing)?;
    let comparison = match (of_packs.next(), &spec.compare) {
        (Some((others, their_values, Some(theirs))), Some(dir)) => {
            let of = |rights: &BTreeMap<String, bool>, case: &str| rights.get(case).copied().unwrap_or_default();
            let only = |these: &BTreeMap<String, bool>, those: &BTreeMap<String, bool>| {
                these.iter().filter(|(case, right)| **right && !of(those, case)).map(|(case, _)| case.clone()).collect()
            };
            Some(PackComparison {
                candidate: dir.display().to_string(),
                metrics: match (values.first(), their_values.first()) {
                    (Some(ours), Some(theirs)) => compare::metrics((&metrics, ours), (&others, theirs)),
                    _ => Vec::new(),
                },
                won: only(&theirs.right, &first.right),
                lost: only(&first.right, &theirs.right),
            })
        }
        _ => None,
    };
    let mut notes = scenario.notes();
    if first.left_aside > 0 {
        let cases = counted(first.left_aside, "case", "cases");
        notes.push(format!("memory was ignored for {cases}, because it could have revealed their cause"));
    }
    if first.batched > 0 {
        let launches = counted(first.batched, "launch", "launches");
        notes.push(format!("cases were walked together, as {launches}, because they are answered in batches"));
    }
    if first.known > 0 {
        let cases = counted(first.known, "case is a failure", "cases are failures");
        let named = first.first_known.join(", ");
        let more = if first.known > NAMED { ", ..." } else { "" };
        notes.push(format!(
            "{cases} known to the project's store ({named}{more}): anything learned or tuned from its reviews has seen them"
        ));
    }
    if first.broken > 0 {
        let walks = counted(first.broken, "walk", "walks");
        notes.push(format!("{walks} did not finish and are scored as they are; the first is {}", first.first_broken));
    }
    let left_out =
        scenario.left_out.iter().cloned().chain(first.left_out).map(|(case, why)| UnscoredCase { case, why }).collect();
    Ok(CalibrationReport {
        via: spec.settings.via.usual.join(","),
        runs: spec.runs,
        scored: first.cases,
        held_out: first.held_out,
        tables: first.tables,
        comparison,
        failed_rules: first.failed_rules,
        cases: first.results,
        ..report_of(&scenario, &pack.project, &pack.card, metrics, notes, left_out)
    })
}

/// Scores results again, without walking.
pub fn score(session: &Session, spec: &ScoreSpec) -> Result<CalibrationReport, SessionError> {
    let mut scenario = CalibrationScenario::read(session, &spec.scenario.path, spec.scenario.launches.as_deref())?;
    let setup = scenario_setup(session, &scenario, &session.setup().out);
    let session = Session::new(setup);
    let project = session.whole_project(spec.scenario.pipeline.as_deref(), AnswererNames::Others)?;
    let card = Scorecard::find(&project, spec.scenario.scorecard.as_deref())?;
    scenario.canonical(project.data.files.all());
    let capped = if spec.canned { scenario.dry_capped.clone() } else { BTreeSet::new() };
    let mut values = Vec::new();
    let mut first: Option<RescoredRun> = None;
    let mut notes = scenario.notes();
    for path in &spec.results {
        let results = results::read(path, session.setup().environment.input())?;
        let mut board = Scoreboard::new(&card, spec.scenario.resamples);
        let Rescored { missing, unknown, lines } = rescore(&scenario, &results, &mut board)?;
        if !unknown.is_empty() {
            notes.push(format!("`{}` has results of cases that are not in the scenario: {}", path.display(), unknown.join(", ")));
        }
        values.push(board.values().map_err(texts)?);
        if first.is_none() {
            let tables = board.tables().map_err(texts)?;
            let results = StoredResults::given(path.clone(), lines);
            first = Some(RescoredRun { cases: board.cases, held_out: board.held_out, tables, missing, results });
        }
    }
    let Some(first) = first else {
        let help = Some("name the result files of `asterisk calibrate`: results.jsonl".to_owned());
        return Err(SessionError::bad_request("score/nothing", "no results to score", help));
    };
    let metrics = conclude(&card, &values, &capped).map_err(texts)?;
    let left_out = first.missing.into_iter().map(|case| UnscoredCase { case, why: "missing result".to_owned() }).collect();
    Ok(CalibrationReport {
        runs: values.len(),
        scored: first.cases,
        held_out: first.held_out,
        tables: first.tables,
        cases: first.results,
        ..report_of(&scenario, &project, &card, metrics, notes, left_out)
    })
}

/// What is kept of the first file of results.
struct RescoredRun {
    cases: usize,
    held_out: usize,
    tables: Vec<TableResult>,
    /// The cases without a result.
    missing: Vec<String>,
    results: StoredResults,
}

/// Results that were taken into a board.
#[derive(Default)]
struct Rescored {
    /// The cases without a result.
    missing: Vec<String>,
    /// The results without a case.
    unknown: Vec<String>,
    /// The results of cases, with what is true of each.
    lines: Vec<Value>,
}

/// Takes results into a board.
fn rescore(scenario: &CalibrationScenario, results: &[Value], board: &mut Scoreboard<'_>) -> Result<Rescored, SessionError> {
    let id = |result: &Value| result["case_id"].as_str().unwrap_or_default().to_owned();
    let by_id: BTreeMap<String, &Value> = results.iter().map(|result| (id(result), result)).collect();
    let mut first: BTreeMap<&str, i64> = BTreeMap::new();
    let mut rescored = Rescored::default();
    for unit in &scenario.units {
        let (mut truths, mut found) = (Vec::new(), Vec::new());
        for case in &unit.cases {
            let Some(result) = by_id.get(&case.id) else {
                rescored.missing.push(case.id.clone());
                continue;
            };
            let mut truth = case.truth.clone();
            if let CauseIdentity::Known(cause) = &case.cause {
                let stored = result["actual_rca_id"].as_i64().unwrap_or_default();
                truth["is_first"] = json!(!first.contains_key(cause.as_str()));
                truth["first_rca"] = json!(*first.entry(cause).or_insert(stored));
            }
            let cluster = case.cluster(unit);
            let right = board.case(ScoredCase { truth: &truth, result, held_out: case.held_out, cluster }).map_err(texts)?;
            let mut line = (*result).clone();
            line["right"] = json!(right);
            line["held_out"] = json!(case.held_out);
            line["expected_path"] = truth["expected_path"].clone();
            line["expected_defect_type"] = truth["cause"]["defect_type"].clone();
            rescored.lines.push(line);
            truths.push(truth);
            found.push((*result).clone());
        }
        if truths.len() > 1 {
            board.launch(&json!(truths), &json!(found), &unit.project).map_err(texts)?;
        }
    }
    let known: BTreeSet<&str> = scenario.cases().map(|case| case.id.as_str()).collect();
    for (id, result) in by_id.iter().filter(|(id, _)| !known.contains(id.as_str())) {
        board.unknown(&whole_truth(), result, id).map_err(texts)?;
        rescored.unknown.push(id.clone());
    }
    Ok(rescored)
}

/// The truth of a case of which nothing is known.
fn whole_truth() -> Value {
    let mut truth = json!({ "id": "" });
    asterisk_form::fill(&mut truth, &super::keys::CASE);
    truth
}

fn report_of(
    scenario: &CalibrationScenario,
    project: &Project,
    card: &Scorecard,
    metrics: Vec<MetricResult>,
    notes: Vec<String>,
    left_out: Vec<UnscoredCase>,
) -> CalibrationReport {
    CalibrationReport {
        schema_version: 1,
        scenario: scenario.name.clone(),
        description: scenario.description.clone(),
        pipeline: project.plan.pipeline.name.value.clone(),
        domain: project.plan.domain.clone(),
        scorecard: card.name.clone(),
        via: String::new(),
        runs: 1,
        scored: 0,
        held_out: 0,
        pass: metrics.iter().all(|metric| metric.pass != Some(false)),
        metrics,
        tables: Vec::new(),
        comparison: None,
        notes,
        left_out,
        failed_rules: RuleFailures::default(),
        cases: StoredResults::at(PathBuf::new()),
    }
}

/// The setup of a session with the scenario's domain and repositories.
pub(super) fn scenario_setup(session: &Session, scenario: &CalibrationScenario, out: &Path) -> Setup {
    let mut setup = session.setup().clone();
    out.clone_into(&mut setup.out);
    setup.texts.domain = setup.texts.domain.or_else(|| scenario.domain.clone());
    if let Some(repositories) = &scenario.repositories {
        setup.workspace = json!({ "repositories": repositories });
    }
    setup
}

impl ScriptPack {
    /// Returns the pack linked to another project.
    pub(super) fn with(&self, project: Project, scorecard: Option<&str>) -> Result<Self, SessionError> {
        let card = Scorecard::find(&project, scorecard)?;
        let project = Arc::new(project);
        let (session, current) = (self.session.clone(), CurrentProject::new(Arc::clone(&project)));
        Ok(Self { session, project, current, card, suffix: self.suffix })
    }

    pub(super) fn link(setup: Setup, spec: &CalibrateSpec, suffix: &'static str) -> Result<Self, SessionError> {
        let session = Session::new(setup);
        let project = Arc::new(session.whole_project(spec.scenario.pipeline.as_deref(), spec.settings.via.answers())?);
        let card = Scorecard::find(&project, spec.scenario.scorecard.as_deref())?;
        Ok(Self { current: CurrentProject::new(Arc::clone(&project)), session, project, card, suffix })
    }
}

/// What all runs of a calibration share.
pub(super) struct Calibration<'a> {
    pub(super) scenario: &'a CalibrationScenario,
    pub(super) spec: &'a CalibrateSpec,
    pub(super) dir: &'a OutDir,
    pub(super) listener: &'a dyn CalibrateListener,
    /// Recall keys of the failures in the project's own store, if it has one.
    pub(super) memory: Option<&'a Record>,
}

/// A run over the scenario.
pub(super) struct CalibratedRun {
    pub(super) values: BoardValues,
    pub(super) outcome: RunOutcome,
}

/// What is kept of the first run.
pub(super) struct RunOutcome {
    pub(super) cases: usize,
    pub(super) held_out: usize,
    tables: Vec<TableResult>,
    results: StoredResults,
    left_out: Vec<(String, String)>,
    failed_rules: RuleFailures,
    left_aside: usize,
    /// How many launches consist of several cases that have launches of their own.
    batched: usize,
    /// The number of cases that the project's own store already knows, and the first few of them.
    known: usize,
    first_known: Vec<String>,
    /// How many walks did not reach their end, and the first of them with what happened.
    broken: usize,
    first_broken: String,
    /// Whether each case is right; only kept to compare packs.
    right: BTreeMap<String, bool>,
}

impl Calibration<'_> {
    /// Walks the scenario once and takes its results in as they come.
    pub(super) fn run(&self, pack: &ScriptPack, run: usize) -> Result<CalibratedRun, SessionError> {
        let name = |what: &str, ending: &str| match run {
            0 => format!("{what}{}.{ending}", pack.suffix),
            run => format!("{what}{}-{}.{ending}", pack.suffix, run + 1),
        };
        let mut board = Scoreboard::new(&pack.card, self.spec.scenario.resamples);
        let mut outcome = RunOutcome {
            cases: 0,
            held_out: 0,
            tables: Vec::new(),
            results: StoredResults::at(self.dir.path().join(name("results", "jsonl"))),
            left_out: Vec::new(),
            failed_rules: RuleFailures::default(),
            left_aside: 0,
            batched: 0,
            known: 0,
            first_known: Vec::new(),
            broken: 0,
            first_broken: String::new(),
            right: BTreeMap::new(),
        };
        let mut failed = None;
        let written = self.dir.write_with(&name("results", "jsonl"), |file| {
            let mut take = |unit: WalkedUnit| self.take(unit, &mut board, &mut outcome, file);
            self.walk(pack, run, &name("store", "db"), &mut take).map_err(|error| {
                let message = error.to_string();
                failed = Some(error);
                io::Error::other(message)
            })
        });
        if let Some(error) = failed {
            return Err(error);
        }
        written.map_err(|source| write_failed(self.dir.path(), source))?;
        outcome.cases = board.cases;
        outcome.held_out = board.held_out;
        outcome.tables = board.tables().map_err(texts)?;
        Ok(CalibratedRun { values: board.values().map_err(texts)?, outcome })
    }

    fn walk(
        &self,
        pack: &ScriptPack,
        run: usize,
        store: &str,
        take: &mut dyn FnMut(WalkedUnit) -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        let projects = self.scenario.projects();
        let alone = projects.len() == 1;
        let settings = &self.spec.settings;
        let walk = ScenarioWalk {
            session: &pack.session,
            current: &pack.current,
            project: &pack.project,
            card: &pack.card,
            data: View::plain(&Value::Object(pack.project.data.files.all().clone()), "data"),
            masker: Arc::new(pack.project.masker()),
            settings: RunSettings {
                pipeline: self.spec.scenario.pipeline.clone(),
                seed: settings.seed.wrapping_add(run as u64),
                ..settings.clone()
            },
            parallel: if alone { self.spec.parallel } else { 1 },
        };
        let heard = |unit: &WalkedUnit| unit.cases.iter().for_each(|case| self.listener.walked(case.id()));
        let path = |project: usize| {
            let name = if alone { store.to_owned() } else { format!("{}-{store}", project + 1) };
            self.dir.path().join(name)
        };
        let whole = |(place, units): &(usize, Vec<&ScenarioUnit>),
                     take: &mut dyn FnMut(WalkedUnit) -> Result<(), SessionError>| {
            let store = path(*place);
            remove_store(&store)?;
            walk.project(units, store.clone(), take)?;
            if alone || self.spec.keep { Ok(()) } else { remove_store(&store) }
        };
        let projects: Vec<(usize, Vec<&ScenarioUnit>)> = projects.into_iter().enumerate().collect();
        if alone {
            return projects.iter().try_for_each(|project| {
                whole(project, &mut |unit| {
                    heard(&unit);
                    take(unit)
                })
            });
        }
        let each = |project: &(usize, Vec<&ScenarioUnit>)| {
            let mut walked = Vec::new();
            whole(project, &mut |unit| {
                heard(&unit);
                walked.push(unit);
                Ok(())
            })?;
            Ok(walked)
        };
        WorkerPool::new(self.spec.parallel)
            .in_order(&projects, each, |walked: Vec<WalkedUnit>| walked.into_iter().try_for_each(&mut *take))
    }

    /// Takes in a launch: into the board, and into the file.
    fn take(
        &self,
        unit: WalkedUnit,
        board: &mut Scoreboard<'_>,
        outcome: &mut RunOutcome,
        file: &mut dyn Write,
    ) -> Result<(), SessionError> {
        outcome.left_out.extend(unit.left_out);
        outcome.batched += usize::from(unit.batched);
        outcome.failed_rules.extend(unit.failed_rules);
        for case in &unit.cases {
            let scored = ScoredCase { truth: &case.truth, result: &case.result, held_out: case.held_out, cluster: &case.cluster };
            let right = board.case(scored).map_err(texts)?;
            let mut line = case.result.clone();
            line["right"] = json!(right);
            outcome.left_aside += usize::from(line["memory"] == "left aside");
            if let Some(memory) = self.memory
                && memory.store().knows_failure(&case.recall_key)?
            {
                outcome.known += 1;
                if outcome.first_known.len() < NAMED {
                    outcome.first_known.push(case.id().to_owned());
                }
            }
            if line["status"] != "done" {
                outcome.broken += 1;
                if outcome.broken == 1 {
                    let what = line["error"]["message"].as_str().unwrap_or("it waits for an answer");
                    outcome.first_broken = format!("{}: {what}", case.id());
                }
            }
            if let (Some(right), Some(_)) = (right, &self.spec.compare) {
                outcome.right.insert(case.id().to_owned(), right);
            }
            serde_json::to_writer(&mut *file, &line)
                .map_err(io::Error::from)
                .and_then(|()| file.write_all(b"\n"))
                .map_err(|source| write_failed(self.dir.path(), source))?;
        }
        if let [first, _, ..] = unit.cases.as_slice() {
            let truths: Vec<&Value> = unit.cases.iter().map(|case| &case.truth).collect();
            let results: Vec<&Value> = unit.cases.iter().map(|case| &case.result).collect();
            board.launch(&json!(truths), &json!(results), &first.cluster).map_err(texts)?;
        }
        Ok(())
    }
}

/// Removes a store of an earlier calibration.
fn remove_store(store: &Path) -> Result<(), SessionError> {
    for ending in ["", "-wal", "-shm"] {
        let mut path = store.as_os_str().to_owned();
        path.push(ending);
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(write_failed(store, source)),
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn write_failed(path: &Path, source: io::Error) -> SessionError {
    SessionError::Write { path: path.display().to_string(), source }
}

/// A scenario's name as a directory's.
pub(super) fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
    let name: String = name.chars().take(64).map(plain).collect();
    if name.is_empty() { "scenario".to_owned() } else { name }
}
