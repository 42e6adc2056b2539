//! A scenario walked through the real pipeline, launch by launch.
//!
//! Each project of a scenario has its own, initially empty store. A case sees what earlier cases of its project left there, unless that
//! would reveal its cause: memory is disabled for a case that (possibly) shares its cause with an earlier case and that the scenario
//! does not expect to be recognised.

use super::results::whole;
use super::scenario::{CalibrationCase, CauseIdentity, ScenarioUnit, UnitLaunch};
use super::scorecard::Scorecard;
use asterisk_base::model::Launch;
use asterisk_diag::{Diagnostics, Source};
use asterisk_evidence::Masker;
use asterisk_project::{CurrentProject, Project};
use asterisk_script::View;
use asterisk_session::{CaseResult, Record, RunInputs, RunSettings, RunSpec, Session, SessionError, Setup, masked};
use asterisk_walk::RuleFailures;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How scenarios are walked.
pub(super) struct ScenarioWalk<'a> {
    pub(super) session: &'a Session,
    pub(super) current: &'a CurrentProject,
    pub(super) project: &'a Project,
    pub(super) card: &'a Scorecard,
    /// The project's data, as scripts see it.
    pub(super) data: View,
    pub(super) masker: Arc<Masker>,
    pub(super) settings: RunSettings,
    /// The most cases of a launch walked concurrently.
    pub(super) parallel: usize,
}

/// A launch that was walked.
#[derive(Debug, Default)]
pub(super) struct WalkedUnit {
    pub(super) cases: Vec<WalkedCaseResult>,
    /// The cases that were not found in the launch, with the reason.
    pub(super) left_out: Vec<(String, String)>,
    /// The rules that failed in the launch.
    pub(super) failed_rules: RuleFailures,
    /// Whether its cases have launches of their own, and are walked together to be answered in batches.
    pub(super) batched: bool,
}

/// A case of a scenario that was walked.
#[derive(Debug)]
pub(super) struct WalkedCaseResult {
    /// What is true of it.
    pub(super) truth: Value,
    /// What its walk came to.
    pub(super) result: Value,
    pub(super) held_out: bool,
    /// What it is resampled with.
    pub(super) cluster: String,
    /// The key under which memory knows the failure.
    pub(super) recall_key: String,
}

impl WalkedCaseResult {
    /// The id of the case.
    pub(super) fn id(&self) -> &str {
        self.result["case_id"].as_str().unwrap_or_default()
    }
}

/// What is remembered of the first case of each cause.
type FirstOfCause = BTreeMap<String, i64>;

impl ScenarioWalk<'_> {
    /// Walks the launches of a project, in order, with a store that does not exist yet.
    pub(super) fn project(
        &self,
        units: &[&ScenarioUnit],
        store: PathBuf,
        take: &mut dyn FnMut(WalkedUnit) -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        let session = Session::new(Setup { store: store.into(), ..self.session.setup().clone() });
        let mut first: FirstOfCause = BTreeMap::new();
        if !self.session.setup().answers_in_batches(&self.settings.via) {
            return units.iter().try_for_each(|unit| take(self.unit(&session, unit, &mut first)?));
        }
        together(units).iter().try_for_each(|unit| {
            let walked = self.unit(&session, unit, &mut first)?;
            take(WalkedUnit { batched: unit.cases.len() > 1 && matches!(unit.launch, UnitLaunch::Own(_)), ..walked })
        })
    }

    fn unit(&self, session: &Session, unit: &ScenarioUnit, first: &mut FirstOfCause) -> Result<WalkedUnit, SessionError> {
        let mut walked = WalkedUnit::default();
        let launch = match &unit.launch {
            UnitLaunch::Own(launch) => {
                let cases = launch.cases.iter().map(|case| masked(case.clone(), &self.masker)).collect();
                Launch { cases, ..Launch::clone(launch) }
            }
            UnitLaunch::File(path) => match session.read_launch(std::slice::from_ref(path), &self.masker) {
                Ok(launch) => launch,
                Err(SessionError::Texts(found)) => {
                    let why = found.iter().next().map_or_else(String::new, |one| one.message.clone());
                    walked.left_out.extend(unit.cases.iter().map(|case| (case.id.clone(), why.clone())));
                    return Ok(walked);
                }
                Err(error) => return Err(error),
            },
        };
        let places = places(&launch, &unit.cases);
        let no_recall = !self.settings.via.is_stub() && unit.cases.iter().any(|case| would_be_recalled(case, first));
        let stub = if self.settings.via.is_stub() { Some(self.answers(&launch, unit, &places, first)?) } else { None };
        let spec = RunSpec {
            settings: RunSettings { no_recall, ..self.settings.clone() },
            stub,
            parallel: self.parallel,
            ..RunSpec::of(RunInputs::Given(Arc::new(launch)))
        };
        let run = session.run_by(self.current, &spec, &(), &AtomicBool::new(false))?;
        walked.failed_rules = run.failed_rules.clone();
        let record = session.record()?;
        let wanted: BTreeMap<usize, Vec<&CalibrationCase>> =
            places.iter().zip(&unit.cases).fold(BTreeMap::new(), |mut wanted, (place, case)| {
                match place {
                    Some(place) => wanted.entry(*place).or_default().push(case),
                    None => walked.left_out.push((case.id.clone(), "its launch does not contain the failure".to_owned())),
                }
                wanted
            });
        let mut at = 0;
        run.each(|result| {
            for case in wanted.get(&at).into_iter().flatten() {
                walked.cases.push(self.case(&record, &run.run, result, (case, unit), (first, no_recall))?);
            }
            at += 1;
            Ok(())
        })?;
        Ok(walked)
    }

    /// What the walk of a case came to, next to what is true of it.
    fn case(
        &self,
        record: &Record,
        run: &str,
        result: &CaseResult,
        (case, unit): (&CalibrationCase, &ScenarioUnit),
        (first, no_recall): (&mut FirstOfCause, bool),
    ) -> Result<WalkedCaseResult, SessionError> {
        let mut truth = case.truth.clone();
        let rcas = record.store().case_facts(run, &result.case.id)?.rcas;
        if let CauseIdentity::Known(cause) = &case.cause {
            let stored = rcas.last().map_or(0, |rca| rca.id);
            truth["is_first"] = json!(!first.contains_key(cause));
            truth["first_rca"] = json!(*first.entry(cause.clone()).or_insert(stored));
        }
        let walk = self.walk_of(result, &json!(rcas));
        let came_to = self.card.result.value(&[&View::plain(&walk, "walk"), &self.data]).map_err(texts)?;
        let mut line = came_to.as_object().cloned().unwrap_or_default();
        line.insert("case_id".to_owned(), json!(case.id));
        line.insert("run".to_owned(), json!(run));
        line.insert("status".to_owned(), json!(result.state.status));
        line.insert("error".to_owned(), result.error().map_or(Value::Null, |error| json!(error)));
        line.insert("memory".to_owned(), json!(if no_recall { "left aside" } else { "seen" }));
        line.insert("first_rca".to_owned(), truth["first_rca"].clone());
        line.insert("held_out".to_owned(), json!(case.held_out));
        line.insert("expected_path".to_owned(), truth["expected_path"].clone());
        line.insert("expected_defect_type".to_owned(), truth["cause"]["defect_type"].clone());
        let (cluster, recall_key) = (case.cluster(unit).to_owned(), result.case.recall_key.clone());
        Ok(WalkedCaseResult { truth, result: whole(Value::Object(line)), held_out: case.held_out, cluster, recall_key })
    }

    /// A walk, as the result function of the scorecard reads it.
    fn walk_of(&self, result: &CaseResult, rcas: &Value) -> Value {
        let state = &result.state;
        let pipeline = &self.project.plan.pipeline;
        let code = |name: &str| {
            let node = pipeline.node(name).map(|ix| pipeline.at(ix));
            node.and_then(|node| node.code.as_ref()).map_or_else(|| name.to_owned(), |code| code.value.clone())
        };
        let prior: Map<String, Value> =
            (state.prior.iter()).filter_map(|(name, artifact)| Some((name.to_string(), artifact.view()?.json()))).collect();
        json!({
            "status": state.status,
            "error": result.error(),
            "nodes": state.path.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "path": state.path.iter().map(|name| code(name)).collect::<Vec<_>>(),
            "edges": state.history.iter().map(|visit| visit.edge.to_string()).collect::<Vec<_>>(),
            "loops": state.loops,
            "context": state.context,
            "confidence": state.confidence,
            "prior": prior,
            "verdict": state.verdict.as_ref().and_then(|verdict| Some(verdict.content.view()?.json())),
            "finding": result.finding,
            "rcas": rcas,
            "tokens": state.tokens.total(),
        })
    }

    /// The canned answers of a launch's cases, as a file of them would be.
    fn answers(
        &self,
        launch: &Launch,
        unit: &ScenarioUnit,
        places: &[Option<usize>],
        first: &FirstOfCause,
    ) -> Result<Source, SessionError> {
        let Some(function) = &self.card.answers else {
            let message = format!("the scorecard `{}` defines no `answers`", self.card.name);
            let help = Some("name the function that makes answers from a case, or use --via script".to_owned());
            return Err(SessionError::bad_request("calibrate/no-answers", message, help));
        };
        let mut answers = Map::new();
        for (case, place) in unit.cases.iter().zip(places) {
            let Some(failure) = place.and_then(|place| launch.cases.get(place)) else { continue };
            let rca = if let CauseIdentity::Known(cause) = &case.cause { first.get(cause).copied() } else { None };
            let known = json!({ "rca": rca.unwrap_or_default() });
            let inputs = [View::plain(&case.truth, "truth"), View::plain(&known, "known")];
            answers.insert(failure.id.clone(), function.value(&[&inputs[0], &inputs[1]]).map_err(texts)?);
        }
        Ok(Source::new("canned answers", Value::Object(answers).to_string()))
    }
}

/// Whether two launches differ in their failures only.
fn alike(one: &Launch, other: &Launch) -> bool {
    let bare = |launch: &Launch| Launch { run_id: String::new(), cases: Vec::new(), ..launch.clone() };
    bare(one) == bare(other)
}

/// The units, with consecutive cases that have launches of their own in one launch, so that their requests form batches. A case stays in the
/// next one if the scenario expects that it is recognised, or if memory is to be ignored for it alone.
fn together(units: &[&ScenarioUnit]) -> Vec<ScenarioUnit> {
    let mut seen: FirstOfCause = BTreeMap::new();
    let mut found: Vec<(bool, ScenarioUnit)> = Vec::new();
    for unit in units {
        let apart = unit.cases.iter().any(|case| would_be_recalled(case, &seen));
        let recognised = unit.cases.iter().any(|case| case.recognised);
        for case in &unit.cases {
            if let CauseIdentity::Known(cause) = &case.cause {
                seen.entry(cause.clone()).or_default();
            }
        }
        let own = |unit: &ScenarioUnit| match (&unit.launch, unit.cases.as_slice()) {
            (UnitLaunch::Own(launch), [case]) => launch.cases.first().map(|failure| (failure.clone(), case.clone())),
            _ => None,
        };
        if let (Some((failure, mut case)), Some((of_last, last))) = (own(unit), found.last_mut())
            && (apart, false) == (*of_last, recognised)
            && let (UnitLaunch::Own(launch), UnitLaunch::Own(own)) = (&mut last.launch, &unit.launch)
            && launch.cases.iter().all(|known| known.id != failure.id)
            && alike(launch, own)
        {
            case.wanted = Some(failure.id.clone());
            let launch = Arc::make_mut(launch);
            launch.run_id.clone_from(&launch.name);
            launch.cases.push(failure);
            last.cases.push(case);
            continue;
        }
        let mut unit = ScenarioUnit::clone(unit);
        if let Some((failure, _)) = own(&unit) {
            unit.cases[0].wanted = Some(failure.id);
        }
        found.push((apart, unit));
    }
    found.into_iter().map(|(_, unit)| unit).collect()
}

/// Whether memory would reveal the cause of a case: an earlier case has it, or may have it.
fn would_be_recalled(case: &CalibrationCase, first: &FirstOfCause) -> bool {
    match &case.cause {
        _ if case.recognised => false,
        CauseIdentity::Known(cause) => first.contains_key(cause),
        CauseIdentity::Own => false,
        CauseIdentity::Unknown => true,
    }
}

/// Where in the launch each case is: by id or name, or the only failure whose name is a part of it or the other way round.
fn places(launch: &Launch, cases: &[CalibrationCase]) -> Vec<Option<usize>> {
    let mut taken = vec![false; launch.cases.len()];
    let mut places = Vec::with_capacity(cases.len());
    for case in cases {
        let free = |at: &usize| !taken[*at];
        let found = match &case.wanted {
            None => (!launch.cases.is_empty()).then_some(0),
            Some(wanted) => {
                let all = || (0..launch.cases.len()).filter(free);
                let exact = |at: &usize| launch.cases[*at].id == *wanted || launch.cases[*at].name == *wanted;
                let near = |at: &usize| {
                    let name = &launch.cases[*at].name;
                    !name.is_empty() && (name.contains(wanted.as_str()) || wanted.contains(name.as_str()))
                };
                all().find(exact).or_else(|| all().find(near))
            }
        };
        if let Some(place) = found {
            taken[place] = true;
        }
        places.push(found);
    }
    places
}

/// The error of a script.
#[allow(clippy::boxed_local, clippy::needless_pass_by_value)] // as scripts return it
pub(super) fn texts(diagnostic: Box<asterisk_diag::Diagnostic>) -> SessionError {
    SessionError::Texts(Diagnostics::from(*diagnostic))
}
