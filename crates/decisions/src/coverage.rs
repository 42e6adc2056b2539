//! Coverage of the recorded decisions: how often each edge was evaluated, fired, failed, or was shadowed by another.

use super::recorded::{Decisions, RecordedDecision};
use super::root_coverage::RootRuleHistory;
use super::rule_tally::RuleTally;
use super::verdict_coverage::{VerdictRuleHistory, VerdictTally};
use asterisk_pipeline::{EdgeCondition, EdgeIx, EdgeOrigin, Pipeline};
use asterisk_project::Project;
use asterisk_script::RuleOutcome;
use asterisk_script::probe::Probes;
use asterisk_session::{Session, SessionError};
use asterisk_walk::{EdgeOutcome, FALLBACK};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Edge coverage of the decisions of runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DecisionHistory {
    /// The runs counted, newest first.
    pub runs: Vec<String>,
    pub decisions: u64,
    /// By pipeline, in order of their names.
    pub pipelines: Vec<PipelineHistory>,
    /// The number of verdicts: one a case.
    pub verdicts: u64,
    /// The rules of verdicts, in file order, then the signatures that matched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verdict_rules: Vec<VerdictRuleHistory>,
    /// The number of cases whose root was looked for.
    pub roots: u64,
    /// The rules of roots, in file order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub root_rules: Vec<RootRuleHistory>,
    /// Runs that could not be read, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<(String, String)>,
}

/// Edge coverage of a pipeline.
#[derive(Clone, Debug, Serialize)]
pub struct PipelineHistory {
    pub pipeline: String,
    /// The number of its runs.
    pub runs: u64,
    pub decisions: u64,
    /// Its edges, in file order.
    pub edges: Vec<EdgeHistory>,
}

/// How often an edge had each outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EdgeHistory {
    /// Its id, or `fallback`.
    pub edge: String,
    /// The node it leaves; `*` for a guard.
    pub from: String,
    /// The function or the condition that decides it; `None` if it always fires.
    pub rule: Option<String>,
    /// The decisions that considered it: evaluated or not reached.
    pub decisions: u64,
    /// Times evaluated: fired, refused or failed.
    #[serde(rename = "asked")]
    pub evaluated: u64,
    /// Times fired, as an edge or an advisory.
    pub fired: u64,
    /// Times its condition did not hold.
    #[serde(rename = "false")]
    pub refused: u64,
    /// Times its rule failed.
    pub error: u64,
    /// Times not evaluated, because another edge fired first or failed.
    pub not_reached: u64,
    /// Times not evaluated although it would have fired.
    pub shadowed: u64,
    /// Whether the pipeline of the newest of these runs lacks it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
}

/// How often an edge must have fired to be remarked on as always firing.
const OFTEN: u64 = 10;

impl EdgeHistory {
    /// A remark on suspicious counts, if any.
    pub fn remark(&self) -> Option<&'static str> {
        Some(match self {
            Self { gone: true, .. } => "gone",
            Self { decisions: 0, .. } => "not visited",
            Self { error: 1.., .. } => "fails",
            Self { edge, fired: 0, .. } if edge == FALLBACK => return None,
            Self { evaluated: 0, shadowed: 0, .. } => "never asked",
            Self { fired: 0, shadowed: 1.., .. } => "only shadowed",
            Self { fired: 0, .. } => "never fired",
            Self { rule: Some(_), refused: 0, not_reached: 0, decisions: OFTEN.., .. } => "always fires",
            _ => return None,
        })
    }
}

/// The counts of a pipeline in progress.
#[derive(Default)]
struct CoverageTally {
    runs: BTreeSet<String>,
    decisions: u64,
    /// The number of decisions at each node.
    nodes: BTreeMap<String, u64>,
    edges: BTreeMap<(String, String), EdgeHistory>,
    /// The edges in the order of the newest run.
    order: Vec<(String, String)>,
}

/// Counts the decisions of runs; of all runs of the store if none is named.
pub fn coverage(session: &Session, runs: &[String]) -> Result<DecisionHistory, SessionError> {
    let decisions = Decisions::open(session)?;
    let mut history = DecisionHistory { runs: decisions.record().runs(runs)?, ..DecisionHistory::default() };
    let mut tallies: BTreeMap<String, CoverageTally> = BTreeMap::new();
    let (mut verdicts, mut roots) = (VerdictTally::default(), RuleTally::<RootRuleHistory>::default());
    for run in &history.runs {
        verdicts.add(&decisions, run)?;
        roots.add(&decisions, run)?;
        let mut failed = None;
        decisions.each(run, |decision| match one(&decisions, run, &decision, &mut tallies) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        })?;
        match failed {
            None => {}
            // This version may refuse what an older one linked.
            Some(SessionError::Texts(problems)) => {
                let why = problems.iter().next().map_or_else(String::new, ToString::to_string);
                history.passed_over.push((run.clone(), format!("its recorded sources no longer link: {why}")));
            }
            Some(error) => return Err(error),
        }
    }
    (history.verdicts, history.verdict_rules) = verdicts.finish();
    (history.roots, history.root_rules) = roots.finish();
    history.decisions = tallies.values().map(|tally| tally.decisions).sum();
    history.pipelines = tallies.into_iter().map(|(pipeline, tally)| tally.finish(pipeline)).collect();
    Ok(history)
}

fn one(
    decisions: &Decisions,
    run: &str,
    decision: &RecordedDecision,
    tallies: &mut BTreeMap<String, CoverageTally>,
) -> Result<(), SessionError> {
    let project = decisions.project(run, &decision.step, Probes::None)?;
    let Some(plan) = project.plan.of_path(&decision.step.path) else { return Ok(()) };
    let pipeline = Arc::clone(&plan.pipeline);
    let tally = match tallies.get_mut(pipeline.name.as_str()) {
        Some(tally) => tally,
        None => tallies.entry(pipeline.name.value.clone()).or_insert_with(|| CoverageTally::of(&pipeline)),
    };
    if !tally.runs.contains(run) {
        tally.runs.insert(run.to_owned());
    }
    tally.add(decision, &project, &pipeline)
}

/// The source node and the id of an edge. The fallback has none and is added where it is needed.
fn key(pipeline: &Pipeline, ix: EdgeIx) -> (String, String) {
    let edge = pipeline.edge_at(ix);
    let from = match edge.from {
        EdgeOrigin::Node(node) => pipeline.at(node).name.value.clone(),
        EdgeOrigin::Any => "*".to_owned(),
    };
    (from, edge.id.value.clone())
}

fn rule(pipeline: &Pipeline, ix: EdgeIx) -> Option<String> {
    match &pipeline.edge_at(ix).when {
        EdgeCondition::Always => None,
        EdgeCondition::Rule(reference) => Some(reference.value.clone()),
        EdgeCondition::Condition(text) => Some(text.text().split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}

impl CoverageTally {
    /// The edges of a pipeline, with counts of zero.
    fn of(pipeline: &Pipeline) -> Self {
        let mut tally = Self::default();
        for at in 0..pipeline.edges.len() {
            let key = key(pipeline, EdgeIx(at));
            tally.edge(&key).rule = rule(pipeline, EdgeIx(at));
            tally.order.push(key);
        }
        for node in pipeline.nodes.iter().filter(|node| node.fallback.is_some()) {
            let key = (node.name.value.clone(), FALLBACK.to_owned());
            tally.edge(&key);
            tally.order.push(key);
        }
        tally
    }

    fn edge(&mut self, key: &(String, String)) -> &mut EdgeHistory {
        self.edges.entry(key.clone()).or_insert_with(|| EdgeHistory {
            from: key.0.clone(),
            edge: key.1.clone(),
            ..EdgeHistory::default()
        })
    }

    fn add(&mut self, decision: &RecordedDecision, project: &Project, pipeline: &Pipeline) -> Result<(), SessionError> {
        let step = &decision.step;
        self.decisions += 1;
        *self.nodes.entry(step.node.to_string()).or_default() += 1;
        let Some(node) = pipeline.node(&step.node) else { return Ok(()) };
        let spec = pipeline.at(node);
        let mut inputs = None;
        for &ix in spec.edges.iter().chain(&spec.advisories).chain(&pipeline.guards) {
            let id = pipeline.edge_at(ix).id.as_str();
            let outcome =
                step.considered.iter().find(|entry| entry.edge == id).map_or(EdgeOutcome::NotReached, |entry| entry.outcome);
            let mut shadowed = false;
            if outcome == EdgeOutcome::NotReached {
                let inputs = match &inputs {
                    Some(inputs) => inputs,
                    None => inputs.insert(decision.rule_inputs(project)?),
                };
                shadowed = match inputs.plan.rule(ix) {
                    None => true,
                    Some(rule) => {
                        let said = rule.function.decide(&inputs.artifact, &inputs.state, inputs.plan.vars());
                        matches!(said, Ok(RuleOutcome::Yes { .. }))
                    }
                };
            }
            let edge = self.edge(&key(pipeline, ix));
            edge.decisions += 1;
            match outcome {
                EdgeOutcome::Fired | EdgeOutcome::Advisory => edge.fired += 1,
                EdgeOutcome::False => edge.refused += 1,
                EdgeOutcome::Error => edge.error += 1,
                EdgeOutcome::NotReached => edge.not_reached += 1,
            }
            edge.evaluated += u64::from(outcome != EdgeOutcome::NotReached);
            edge.shadowed += u64::from(shadowed);
        }
        if spec.fallback.is_some() {
            let fired = step.considered.iter().any(|entry| entry.edge == FALLBACK);
            let edge = self.edge(&(spec.name.value.clone(), FALLBACK.to_owned()));
            edge.decisions += 1;
            let count = if fired { &mut edge.fired } else { &mut edge.not_reached };
            *count += 1;
            edge.evaluated += u64::from(fired);
        }
        Ok(())
    }

    fn finish(mut self, pipeline: String) -> PipelineHistory {
        let mut edges: Vec<EdgeHistory> = self.order.iter().filter_map(|key| self.edges.remove(key)).collect();
        edges.extend(self.edges.into_values().map(|edge| EdgeHistory { gone: true, ..edge }));
        let runs = self.runs.len() as u64;
        PipelineHistory { pipeline, runs, decisions: self.decisions, edges }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::testing::TraceFixture;
    use super::*;

    const PIPELINE: &str = "pipeline: p\nnodes:\n  - { name: a, fallback: b }\n  - { name: b }\n  - { name: c }\nedges:\n\
         \x20 - { id: E1, from: a, to: b, condition: \"n > 1\" }\n\
         \x20 - { id: E2, from: a, to: b, condition: \"n > 2\" }\n\
         \x20 - { id: E3, from: a, to: b, condition: \"zz > 9\" }\n\
         \x20 - { id: E4, from: b, to: _done }\n\
         \x20 - { id: E5, from: c, to: _done }\n\
         \x20 - { id: G, from: \"*\", to: _done, condition: \"m == 7\" }\nstart: a\ndone: _done\non_rule_error: skip\n";

    #[test]
    fn edges_are_counted_per_decision_of_their_node() {
        let ground = TraceFixture::with(&[("pipelines/p.yaml", PIPELINE)]);
        for n in [0, 2, 3] {
            ground.run_stub("p", &format!(r#"{{"*": {{"a": [{{"n": {n}, "m": 0, "zz": 0}}], "b": [{{"m": 0}}]}}}}"#));
        }
        ground.run_stub("p", r#"{"*": {"a": [{"n": 0, "m": 7}]}}"#);
        let history = coverage(&ground.session, &[]).unwrap();
        assert_eq!((history.runs.len(), history.decisions, history.pipelines.len()), (4, 7, 1));
        let finish = |edge: &EdgeHistory| {
            let EdgeHistory { edge: id, decisions, evaluated, fired, refused, error, not_reached, shadowed, .. } = edge;
            format!(
                "{id} {decisions}/{evaluated}: {fired} {refused} {error} {not_reached} {shadowed} {}",
                edge.remark().unwrap_or_default()
            )
        };
        let finish: Vec<String> = history.pipelines[0].edges.iter().map(finish).collect();
        assert_eq!(
            finish,
            [
                "E1 4/4: 2 2 0 0 0 ",
                "E2 4/2: 0 2 0 2 1 only shadowed",
                "E3 4/2: 0 1 1 2 0 fails",
                "E4 3/3: 3 0 0 0 0 ",
                "E5 0/0: 0 0 0 0 0 not visited",
                "G 7/4: 1 3 0 3 0 ",
                "fallback 4/1: 1 0 0 3 0 ",
            ]
        );
        let latest = coverage(&ground.session, &["latest".into()]).unwrap();
        assert_eq!((latest.runs.len(), latest.decisions), (1, 1));
    }
}
