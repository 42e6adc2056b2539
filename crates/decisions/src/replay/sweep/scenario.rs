//! Scenarios: cases with canned answers, and single decisions, for sweeps without any run.

use super::super::base::ReplayProject;
use super::super::recorded_walk::RecordedWalk;
use super::super::replay_walk::{ReplayOutcome, ReplayWalk};
use super::point::{PointCount, PointTally, SweepReport};
use super::values::SweptVar;
use asterisk_base::model::{Hash, canonical};
use asterisk_diag::{Diagnostic, Diagnostics, Source, did_you_mean};
use asterisk_pipeline::{EdgeTarget, NodeIx, Pipeline};
use asterisk_session::{RouteState, Session, SessionError};
use asterisk_walk::{Name, Plan, decide};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A scenario file. Unknown keys are ignored: other tools have scenarios too.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Scenario {
    /// The pipeline, by path, stem or name.
    #[serde(default)]
    pub pipeline: Option<String>,
    /// Cases with their answers.
    #[serde(default)]
    pub cases: Vec<ScenarioCase>,
    /// Single decisions, in the format of `asterisk eval route --batch`.
    #[serde(default)]
    pub decisions: Vec<ScenarioDecision>,
}

/// A case of a scenario.
#[derive(Clone, Debug, Deserialize)]
pub struct ScenarioCase {
    pub id: String,
    /// By node, the artifact, or a list with one artifact per visit.
    #[serde(default)]
    pub answers: BTreeMap<String, Value>,
    /// `expected_NODE`, where NODE may be a prefix of a node's name, is an answer too.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A decision of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioDecision {
    #[serde(default)]
    pub id: Value,
    /// The node whose edges to evaluate, by name or code.
    pub node: String,
    #[serde(default)]
    pub artifact: Value,
    /// The state; absent parts are empty.
    #[serde(default)]
    pub state: RouteState,
    /// Vars set for this decision only.
    #[serde(default)]
    pub vars: Map<String, Value>,
}

/// The prefix of answers in a scenario.
const EXPECTED: &str = "expected_";

impl Scenario {
    /// Parses a scenario, YAML or JSON.
    pub fn parse(source: &Source) -> Result<Self, SessionError> {
        let help =
            "a scenario has `cases: [{id, answers: {NODE: [artifact, ...]}}]` or `decisions: [{node, artifact, state, vars}]`";
        let bad = |message: String| {
            let found =
                Diagnostic::error("sweep/scenario", format!("`{}` is not a scenario: {message}", source.name())).help(help);
            SessionError::Texts(Diagnostics::from(found))
        };
        let tree = asterisk_form::yaml::parse(source).map_err(SessionError::Texts)?;
        let scenario: Self = serde_json::from_value(tree.to_json()).map_err(|error| bad(error.to_string()))?;
        if scenario.cases.is_empty() && scenario.decisions.is_empty() {
            return Err(bad("it has neither cases nor decisions".into()));
        }
        Ok(scenario)
    }
}

/// Sweeps a var over a scenario: its cases are walked on their answers, its decisions evaluated, with every value.
pub fn sweep_scenario(
    session: &Session,
    scenario: &Scenario,
    pipeline: Option<&str>,
    var: SweptVar,
) -> Result<SweepReport, SessionError> {
    let pipeline = pipeline.or(scenario.pipeline.as_deref()).map(str::to_owned);
    let base = ReplayProject::link(session.clone(), pipeline)?;
    let plan = &base.project.plan;
    var.check(plan).map_err(SessionError::BadRequest)?;
    let current = plan.var(&var.name).cloned().unwrap_or_default();
    let var = var.with(&current);
    let plans = var.plans(&base)?;
    let mut counts = vec![PointCount::default(); plans.len()];
    for case in &scenario.cases {
        let canned = CannedAnswers::of(case, &plan.pipeline)?;
        let now = canned.walk(&base, plan, &case.id)?;
        for (plan, count) in plans.iter().zip(&mut counts) {
            let walk = canned.walk(&base, plan, &case.id)?;
            count.add(PointTally { flips: walk.flips_from(&now), ..PointTally::of(&walk) });
        }
    }
    for decision in &scenario.decisions {
        let now = decision.choice(&base, &Map::new())?;
        for (value, count) in var.values.iter().zip(&mut counts) {
            let choice = decision.choice(&base, &Map::from_iter([(var.name.clone(), value.clone())]))?;
            count.add(PointTally { flips: usize::from(choice != now), verdict: None, unknown: false, taken: vec![choice] });
        }
    }
    let cases = scenario.cases.len() + scenario.decisions.len();
    Ok(SweepReport { cases, ..SweepReport::new(&var, current, counts) })
}

/// The answers of a case.
struct CannedAnswers {
    recorded_walk: RecordedWalk,
    artifacts: BTreeMap<Hash, Value>,
}

impl CannedAnswers {
    fn of(case: &ScenarioCase, pipeline: &Pipeline) -> Result<Self, SessionError> {
        let mut artifacts = BTreeMap::new();
        let mut steps: Vec<(Name, Hash)> = Vec::new();
        let expected = case.more.iter().filter_map(|(key, value)| Some((key.strip_prefix(EXPECTED)?, value)));
        let expected = expected.filter_map(|(name, value)| Some((begins(pipeline, name)?, value)));
        let answers = case.answers.iter().map(|(name, value)| Ok((node_of(pipeline, name)?, value)));
        for answer in answers.chain(expected.map(Ok)) {
            let (node, value): (NodeIx, &Value) = answer.map_err(SessionError::BadRequest)?;
            let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            for artifact in list {
                let hash = Hash::of(canonical(artifact).as_bytes());
                artifacts.insert(hash, artifact.clone());
                steps.push((pipeline.at(node).name.as_str().into(), hash));
            }
        }
        Ok(Self { recorded_walk: RecordedWalk::of_answers(steps), artifacts })
    }

    fn walk(&self, base: &ReplayProject, plan: &Plan, case: &str) -> Result<ReplayOutcome, SessionError> {
        let mut artifact = |hash: &Hash, plan: &Plan, node: NodeIx| {
            let value = self.artifacts.get(hash).unwrap_or(&Value::Null);
            Ok(plan.artifact(node, value))
        };
        ReplayWalk {
            plan,
            same: &base.same,
            reuse: None,
            answers: None,
            seed: 0,
            case,
            inherited: None,
            needs: &[],
            follow: false,
        }
        .case(&self.recorded_walk, &mut artifact)
    }
}

impl ScenarioDecision {
    /// The edge taken and its target.
    fn choice(&self, base: &ReplayProject, set: &Map<String, Value>) -> Result<(String, Option<String>), SessionError> {
        let mut vars = self.vars.clone();
        vars.extend(set.iter().map(|(name, value)| (name.clone(), value.clone())));
        let plan: Arc<Plan> = base.project.plan_with(&vars)?;
        let node = node_of(&plan.pipeline, &self.node).map_err(SessionError::BadRequest)?;
        let artifact = plan.artifact(node, &self.artifact);
        let (_, state) = self.state.clone().at(&plan, Some(node), &artifact, asterisk_base::clock::Timestamp::default());
        Ok(match decide(&plan, node, &artifact, &state) {
            Ok(decision) => decision.choice.map_or_else(
                || ("end".to_owned(), None),
                |choice| (choice.name.as_str().to_owned(), Some(plan.pipeline.target_name(choice.to).to_owned())),
            ),
            Err((_, failure)) => (failure.kind.word().to_owned(), None),
        })
    }
}

/// Resolves a node's name or code.
fn node_of(pipeline: &Pipeline, name: &str) -> Result<NodeIx, Box<Diagnostic>> {
    match pipeline.resolve_target(name) {
        Some(EdgeTarget::Node(node)) => Ok(node),
        _ => {
            let message =
                format!("the scenario has an answer for `{name}`, which is not a node of the pipeline `{}`", *pipeline.name);
            let known = pipeline.nodes.iter().map(|node| node.name.as_str());
            Err(Box::new(Diagnostic::error("sweep/scenario", message).maybe_help(did_you_mean(name, known))))
        }
    }
}

/// The only node whose name has that prefix.
fn begins(pipeline: &Pipeline, name: &str) -> Option<NodeIx> {
    let mut found = pipeline.nodes.iter().enumerate().filter(|(_, node)| node.name.starts_with(name));
    found.next().filter(|_| !name.is_empty()).map(|(at, _)| NodeIx(at)).filter(|_| found.next().is_none())
}
