//! Tunes vars and weights on a scenario: measures a metric for each candidate value, on the tuning cases and on the held-out cases.

use super::report::{
    CalibrateListener, CalibrateSpec, Calibration, DIR, ScenarioSpec, ScriptPack, file_name, scenario_setup, write_failed,
};
use super::scenario::CalibrationScenario;
use super::scorecard::ScorecardMetric;
use asterisk_diag::{Diagnostic, Source, did_you_mean};
use asterisk_files::OutDir;
use asterisk_form::yaml;
use asterisk_project::{Project, Sources};
use asterisk_session::{RunSettings, Session, SessionError, Via};
use asterisk_walk::VerdictPlan;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The data file that holds learned weights.
const LEARNED: &str = "learned.yaml";
/// The id under which priors are addressed.
const PRIORS: &str = "priors";
/// The maximum number of passes over all settings during a search.
const PASSES: usize = 4;

/// What to tune, and on which scenario.
#[derive(Clone, Debug)]
pub struct TuneSpec {
    /// The scenario, without intervals.
    pub scenario: ScenarioSpec,
    /// Who answers the nodes.
    pub via: Via,
    /// The maximum number of cases walked concurrently.
    pub parallel: usize,
    /// The settings, each with its candidate values.
    pub settings: Vec<TunedSetting>,
    /// The id of the metric, or the primary metric if `None`.
    pub metric: Option<String>,
    /// Whether to search for the best combination by coordinate descent.
    pub search: bool,
}

/// A var, or a weight of the verdict (`RULE.DEFECT`, `SIGNATURE.DEFECT`, `priors.DEFECT`), with its candidate values.
#[derive(Clone, Debug, PartialEq)]
pub struct TunedSetting {
    pub name: String,
    pub values: Vec<Value>,
}

/// The value of a metric for each combination of settings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuneReport {
    /// The schema version.
    pub schema_version: u32,
    /// The name of the scenario.
    pub scenario: String,
    /// The id of the metric.
    pub metric: String,
    /// The display name of the metric.
    pub name: String,
    /// The number of cases, and how many of them are held out.
    pub cases: usize,
    pub held_out: usize,
    /// The points in the order they were measured.
    pub points: Vec<TunePoint>,
    /// The index of the best point on the tuning cases, or `None` for a metric without a direction. Ties go to the earliest point, so the
    /// current settings win if nothing beats them.
    pub best: Option<usize>,
}

/// The value of the metric for one combination of settings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TunePoint {
    /// The settings that differ from the current ones.
    pub settings: Map<String, Value>,
    /// The metric over the tuning cases, or null if it does not apply.
    pub value: Option<f64>,
    /// The metric over the held-out cases, or null if it does not apply.
    pub held_out: Option<f64>,
    /// Whether these are the current settings.
    pub current: bool,
}

/// Whether a file lists failures or labels, as opposed to canned walks and decisions.
pub fn is_scenario(source: &Source) -> bool {
    let Ok(tree) = yaml::parse(source) else { return false };
    let case = |list: &[yaml::Yaml]| {
        let keys = ["error_message", "log_snippet", "launch", "test_name", "label", "defect", "failure", "rca_id"];
        list.first().is_some_and(|case| keys.iter().any(|key| case.get(key).is_some()))
    };
    tree.as_list().or_else(|| tree.get("cases")?.as_list()).is_some_and(case)
}

/// Measures each candidate value on a scenario.
pub fn tune(session: &Session, spec: &TuneSpec, listener: &dyn CalibrateListener) -> Result<TuneReport, SessionError> {
    let mut scenario = CalibrationScenario::read(session, &spec.scenario.path, spec.scenario.launches.as_deref())?;
    let out = session.setup().root.join(DIR).join(file_name(&scenario.name)).join("tune");
    let calibrate = CalibrateSpec {
        scenario: spec.scenario.clone(),
        settings: RunSettings { via: spec.via.clone(), ..RunSettings::default() },
        runs: 1,
        parallel: spec.parallel,
        out: Some(out.clone()),
        keep: false,
        compare: None,
    };
    let pack = ScriptPack::link(scenario_setup(session, &scenario, &out), &calibrate, "")?;
    scenario.canonical(pack.project.data.files.all());
    let metric = metric(&pack.card.metrics, pack.card.primary, spec.metric.as_deref())?;
    let of_metric = &pack.card.metrics[metric];
    let direction = of_metric.direction.as_str();
    if spec.search && better(direction).is_none() {
        let message = format!("the metric `{}` has no direction, so it cannot be optimized", of_metric.id);
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

/// The index of the metric with this id or name, or of the primary metric.
fn metric(metrics: &[ScorecardMetric], primary: usize, id: Option<&str>) -> Result<usize, SessionError> {
    let Some(id) = id else { return Ok(primary) };
    metrics.iter().position(|metric| metric.id == id || metric.name == id).ok_or_else(|| {
        let known = metrics.iter().flat_map(|metric| [metric.id.as_str(), metric.name.as_str()]);
        SessionError::bad_request("tune/metric", format!("no metric `{id}` in the scorecard"), did_you_mean(id, known))
    })
}

/// The state of a tuning run.
struct Tuning<'a> {
    pack: &'a ScriptPack,
    calibration: &'a Calibration<'a>,
    scorecard: Option<&'a str>,
    metric: usize,
    points: Vec<TunePoint>,
}

impl Tuning<'_> {
    /// Measures a combination of settings unless that was done before. Returns the number of cases, and of those held out.
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

    /// Coordinate descent: varies one setting at a time, keeping the best value, until a pass brings no improvement.
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

/// Rejects a setting that the pipeline does not have.
fn check(project: &Project, name: &str) -> Result<(), Box<Diagnostic>> {
    if project.plan.var(name).is_some() {
        return Ok(());
    }
    let pipeline = &project.plan.pipeline.name;
    let Some((id, defect)) = name.rsplit_once('.') else {
        let message = format!("no var `{name}` in the pipeline `{}`", **pipeline);
        let help = did_you_mean(name, project.plan.var_names());
        return Err(Box::new(Diagnostic::error("tune/var", message).maybe_help(help)));
    };
    let nothing = || Box::new(Diagnostic::error("tune/weight", format!("the pipeline `{}` has no verdict", **pipeline)));
    let plan: &VerdictPlan = project.plan.verdict.as_ref().ok_or_else(nothing)?;
    let defects = || plan.priors.iter().map(|(defect, _)| defect.as_str());
    if !defects().any(|known| known == defect) {
        let message = format!("`{defect}` is not a defect of the verdict");
        return Err(Box::new(Diagnostic::error("tune/weight", message).maybe_help(did_you_mean(defect, defects()))));
    }
    let known = || plan.rules.iter().map(|rule| rule.id.as_str()).chain(plan.signatures.keys().map(String::as_str));
    if id == PRIORS || known().any(|known| known == id) {
        return Ok(());
    }
    let message = format!("unknown rule or signature `{id}`");
    Err(Box::new(Diagnostic::error("tune/weight", message).maybe_help(did_you_mean(id, known()))))
}

/// Returns the project with the values overridden: vars through its settings, weights through its learned weights.
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
    fn failure_scenarios_are_distinguished_from_walk_scenarios() {
        let is = |text: &str| is_scenario(&Source::new("a.yaml", text));
        assert!(is("name: a\ncases: [{ id: a, error_message: x }]\n") && is("- { id: a, label: d, launch: a.xml }\n"));
        assert!(!is("cases: [{ id: a, answers: { triage: [] } }]\n") && !is("decisions: [{ id: a }]\n") && !is("{"));
    }

    #[test]
    fn missing_values_are_never_better() {
        let higher = better("higher").unwrap();
        assert!(
            higher(Some(0.5), Some(0.4)) && !higher(Some(0.5), Some(0.5)) && higher(Some(0.1), None) && !higher(None, Some(0.1))
        );
        assert!(better("lower").unwrap()(Some(0.1), Some(0.2)) && better("shown").is_none());
    }

    #[test]
    fn a_tuned_weight_keeps_the_other_learned_weights() {
        let sources = |data: &[(&str, &str)]| Sources {
            data: data.iter().map(|(name, text)| Source::new(*name, *text)).collect(),
            scripts: Vec::new(),
            templates: Vec::new(),
            pipeline: Source::new("p.yaml", ""),
            subpipelines: std::collections::BTreeMap::new(),
            missing: std::collections::BTreeMap::new(),
            bundle: None,
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
