//! Vars and weights tried on a scenario: a metric for each value, on the cases that may be tuned on and on those held out.

use super::report::{
    CalibrateListener, CalibrateSpec, Calibration, DIR, ScenarioSpec, ScriptPack, file_name, scenario_setup, write_failed,
};
use super::scenario::CalibrationScenario;
use super::scorecard::ScorecardMetric;
use crate::diag::{Diagnostic, Source, did_you_mean};
use crate::files::OutDir;
use crate::form::yaml;
use crate::project::{Project, Sources};
use crate::session::{Session, SessionError, Via};
use crate::walk::VerdictPlan;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The data file with learned weights.
const LEARNED: &str = "learned.yaml";
/// What the id of priors is.
const PRIORS: &str = "priors";
/// How often a search goes over all settings, at most.
const PASSES: usize = 4;

/// What to try.
#[derive(Clone, Debug)]
pub struct TuneSpec {
    /// The scenario, without intervals.
    pub scenario: ScenarioSpec,
    /// The answerers.
    pub via: Via,
    /// The most cases walked concurrently.
    pub parallel: usize,
    /// The settings with their values.
    pub settings: Vec<TunedSetting>,
    /// The metric, by id; the primary one if `None`.
    pub metric: Option<String>,
    /// Whether the best values of all settings are searched, one setting after the other.
    pub search: bool,
}

/// A var, or a weight of the verdict (`RULE.DEFECT`, `SIGNATURE.DEFECT`, `priors.DEFECT`), with the values to try.
#[derive(Clone, Debug, PartialEq)]
pub struct TunedSetting {
    pub name: String,
    pub values: Vec<Value>,
}

/// A metric over values of settings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuneReport {
    /// The version of this shape.
    pub schema_version: u32,
    /// The name of the scenario.
    pub scenario: String,
    /// The id of the metric.
    pub metric: String,
    /// Its name.
    pub name: String,
    /// The number of cases, and how many of them are held out.
    pub cases: usize,
    pub held_out: usize,
    /// What was tried, in order.
    pub points: Vec<TunePoint>,
    /// The place of the best point, by the cases that are not held out; of equals the first, which is the present one if that is among
    /// them. Nothing if the metric has no good direction.
    pub best: Option<usize>,
}

/// Values of settings with the metric that they lead to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TunePoint {
    /// The settings that differ from now, or the swept one.
    pub settings: Map<String, Value>,
    /// The metric over the cases that are not held out; null if it does not apply.
    pub value: Option<f64>,
    /// The metric over those that are.
    pub held_out: Option<f64>,
    /// Whether this is how things are now.
    pub current: bool,
}

/// Whether a file is a scenario of failures or a file of labelled ones, rather than one of canned walks and decisions.
pub fn is_scenario(source: &Source) -> bool {
    let Ok(tree) = yaml::parse(source) else { return false };
    let case = |list: &[yaml::Yaml]| {
        let keys = ["error_message", "log_snippet", "launch", "test_name", "label", "defect", "failure", "rca_id"];
        list.first().is_some_and(|case| keys.iter().any(|key| case.get(key).is_some()))
    };
    tree.as_list().or_else(|| tree.get("cases")?.as_list()).is_some_and(case)
}

/// Tries values of settings on a scenario.
pub fn tune(session: &Session, spec: &TuneSpec, listener: &dyn CalibrateListener) -> Result<TuneReport, SessionError> {
    let mut scenario = CalibrationScenario::read(session, &spec.scenario.path, spec.scenario.launches.as_deref())?;
    let out = session.setup().root.join(DIR).join(file_name(&scenario.name)).join("tune");
    let calibrate = CalibrateSpec {
        scenario: spec.scenario.clone(),
        via: spec.via.clone(),
        runs: 1,
        parallel: spec.parallel,
        seed: 0,
        budget: None,
        out: Some(out.clone()),
        keep: false,
        compare: None,
    };
    let pack = ScriptPack::link(scenario_setup(session, &scenario, &out), &calibrate, "")?;
    scenario.canonical(&pack.project.data);
    let metric = metric(&pack.card.metrics, pack.card.primary, spec.metric.as_deref())?;
    let of_metric = &pack.card.metrics[metric];
    let direction = of_metric.direction.as_str();
    if spec.search && better(direction).is_none() {
        let message = format!("the metric `{}` has no direction, so no value of it is best", of_metric.id);
        let directed = pack.card.metrics.iter().filter(|metric| better(&metric.direction).is_some());
        let known: Vec<&str> = directed.map(|metric| metric.id.as_str()).collect();
        return Err(SessionError::bad_request(
            "tune/direction",
            message,
            Some(format!("--metric names one of {}", known.join(", "))),
        ));
    }
    for setting in &spec.settings {
        check(&pack.project, &setting.name).map_err(SessionError::BadRequest)?;
    }
    let dir = OutDir::private(&out).map_err(|source| write_failed(&out, source))?;
    let calibration = Calibration { scenario: &scenario, spec: &calibrate, dir: &dir, listener, memory: None };
    let mut tuning = Tuning {
        pack: &pack,
        calibration: &calibration,
        scorecard: spec.scenario.scorecard.as_deref(),
        metric,
        points: Vec::new(),
    };
    let (cases, held_out) = tuning.try_values(Map::new())?;
    tuning.points[0].current = true;
    let best = better(direction);
    if let (true, Some(better)) = (spec.search, best) {
        tuning.search(&spec.settings, better)?;
    } else {
        for setting in &spec.settings {
            for value in &setting.values {
                tuning.try_values(Map::from_iter([(setting.name.clone(), value.clone())]))?;
            }
        }
    }
    let points = tuning.points;
    let best = best
        .map(|better| (0..points.len()).fold(0, |best, at| if better(points[at].value, points[best].value) { at } else { best }));
    Ok(TuneReport {
        schema_version: 1,
        scenario: scenario.name.clone(),
        metric: of_metric.id.clone(),
        name: of_metric.name.clone(),
        cases,
        held_out,
        points,
        best,
    })
}

/// Whether the first value is better than the second.
type Better = fn(Option<f64>, Option<f64>) -> bool;

fn better(direction: &str) -> Option<Better> {
    fn compared(one: Option<f64>, other: Option<f64>, more: impl Fn(f64, f64) -> bool) -> bool {
        match (one, other) {
            (Some(one), Some(other)) => more(one, other),
            (one, other) => one.is_some() && other.is_none(),
        }
    }
    match direction {
        "higher" => Some(|one, other| compared(one, other, |one, other| one > other + 1e-12)),
        "lower" => Some(|one, other| compared(one, other, |one, other| one < other - 1e-12)),
        _ => None,
    }
}

/// The place of a metric; the primary one without an id.
fn metric(metrics: &[ScorecardMetric], primary: usize, id: Option<&str>) -> Result<usize, SessionError> {
    let Some(id) = id else { return Ok(primary) };
    metrics.iter().position(|metric| metric.id == id || metric.name == id).ok_or_else(|| {
        let known = metrics.iter().flat_map(|metric| [metric.id.as_str(), metric.name.as_str()]);
        SessionError::bad_request("tune/metric", format!("the scorecard has no metric `{id}`"), did_you_mean(id, known))
    })
}

/// Settings that are tried.
struct Tuning<'a> {
    pack: &'a ScriptPack,
    calibration: &'a Calibration<'a>,
    scorecard: Option<&'a str>,
    metric: usize,
    points: Vec<TunePoint>,
}

impl Tuning<'_> {
    /// Walks the scenario with other values, unless they were tried before. Returns the numbers of cases, and of those held out.
    fn try_values(&mut self, settings: Map<String, Value>) -> Result<(usize, usize), SessionError> {
        if self.points.iter().any(|point| point.settings == settings) {
            return Ok((0, 0));
        }
        let project = with(&self.pack.project, &settings)?;
        let run = self.calibration.run(&self.pack.with(project, self.scorecard)?, 0)?;
        let (value, held_out) = run.values.apart(self.metric);
        self.points.push(TunePoint { settings, value, held_out, current: false });
        Ok((run.outcome.cases, run.outcome.held_out))
    }

    /// Goes over the settings and keeps the best value of each, the others staying where they are, until nothing gets better.
    fn search(&mut self, settings: &[TunedSetting], better: Better) -> Result<(), SessionError> {
        let mut best = 0;
        for _ in 0..PASSES {
            let before = best;
            for setting in settings {
                let at = self.points[best].settings.clone();
                for value in &setting.values {
                    let mut tried = at.clone();
                    tried.insert(setting.name.clone(), value.clone());
                    self.try_values(tried)?;
                }
                best = (0..self.points.len())
                    .fold(best, |best, at| if better(self.points[at].value, self.points[best].value) { at } else { best });
            }
            if best == before {
                break;
            }
        }
        Ok(())
    }
}

/// Refuses a setting that there is not.
fn check(project: &Project, name: &str) -> Result<(), Box<Diagnostic>> {
    if project.plan.var(name).is_some() {
        return Ok(());
    }
    let pipeline = &project.plan.pipeline.name;
    let Some((id, defect)) = name.rsplit_once('.') else {
        let message = format!("the pipeline `{}` has no var `{name}`", **pipeline);
        let help = did_you_mean(name, project.plan.var_names());
        return Err(Box::new(Diagnostic::error("tune/var", message).maybe_help(help)));
    };
    let nothing = || Box::new(Diagnostic::error("tune/weight", format!("the pipeline `{}` has no verdict", **pipeline)));
    let plan: &VerdictPlan = project.plan.verdict.as_ref().ok_or_else(nothing)?;
    let defects = || plan.priors.iter().map(|(defect, _)| defect.as_str());
    if !defects().any(|known| known == defect) {
        let message = format!("the verdict does not decide about `{defect}`");
        return Err(Box::new(Diagnostic::error("tune/weight", message).maybe_help(did_you_mean(defect, defects()))));
    }
    let known = || plan.rules.iter().map(|rule| rule.id.as_str()).chain(plan.signatures.keys().map(String::as_str));
    if id == PRIORS || known().any(|known| known == id) {
        return Ok(());
    }
    let message = format!("the verdict has no rule and the domain no signature `{id}`");
    Err(Box::new(Diagnostic::error("tune/weight", message).maybe_help(did_you_mean(id, known()))))
}

/// The project with other values: of vars by its settings, of weights by its learned ones.
fn with(project: &Project, values: &Map<String, Value>) -> Result<Project, SessionError> {
    let mut settings = project.settings.clone();
    let mut sources = project.sources.clone();
    for (name, value) in values {
        match name.rsplit_once('.').filter(|_| project.plan.var(name).is_none()) {
            None => drop(settings.vars.insert(name.clone(), value.clone())),
            Some((id, defect)) => sources = with_weight(&sources, (id, defect), value)?,
        }
    }
    Ok(Project::relink(sources, settings, Some(project))?)
}

fn with_weight(sources: &Sources, (id, defect): (&str, &str), value: &Value) -> Result<Sources, SessionError> {
    let (learned, mut data): (Vec<Source>, Vec<Source>) =
        sources.data.iter().cloned().partition(|source| source.name() == LEARNED);
    let mut tree = match learned.first() {
        Some(source) => yaml::parse(source).map_err(SessionError::Texts)?.to_json(),
        None => json!({}),
    };
    let of = if id == PRIORS { &mut tree[PRIORS] } else { &mut tree["weights"][id] };
    if of.is_null() {
        *of = json!({});
    }
    of[defect] = value.clone();
    data.push(Source::new(LEARNED, tree.to_string()));
    Ok(Sources { data, ..sources.clone() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn scenarios_of_failures_are_told_from_those_of_walks() {
        let is = |text: &str| is_scenario(&Source::new("a.yaml", text));
        assert!(is("name: a\ncases: [{ id: a, error_message: x }]\n") && is("- { id: a, label: d, launch: a.xml }\n"));
        assert!(!is("cases: [{ id: a, answers: { triage: [] } }]\n") && !is("decisions: [{ id: a }]\n") && !is("{"));
    }

    #[test]
    fn values_that_do_not_apply_are_never_better() {
        let higher = better("higher").unwrap();
        assert!(
            higher(Some(0.5), Some(0.4)) && !higher(Some(0.5), Some(0.5)) && higher(Some(0.1), None) && !higher(None, Some(0.1))
        );
        assert!(better("lower").unwrap()(Some(0.1), Some(0.2)) && better("shown").is_none());
    }

    #[test]
    fn a_weight_is_set_beside_learned_ones() {
        let sources = |data: &[(&str, &str)]| Sources {
            data: data.iter().map(|(name, text)| Source::new(*name, *text)).collect(),
            scripts: Vec::new(),
            templates: Vec::new(),
            pipeline: Source::new("p.yaml", ""),
            subpipelines: std::collections::BTreeMap::new(),
            missing: std::collections::BTreeMap::new(),
        };
        let learned = |sources: &Sources, of: (&str, &str)| {
            let made = with_weight(sources, of, &json!(1.5)).unwrap();
            serde_json::from_str::<Value>(made.data.last().unwrap().text()).unwrap()
        };
        assert_eq!(learned(&sources(&[]), ("priors", "d1")), json!({ "priors": { "d1": 1.5 } }));
        let some = sources(&[("learned.yaml", "weights: { V1: { d1: 1, d2: 2 } }\n")]);
        assert_eq!(learned(&some, ("V1", "d2")), json!({ "weights": { "V1": { "d1": 1, "d2": 1.5 } } }));
    }
}
