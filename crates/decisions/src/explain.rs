//! Explains why a case took its path.

use super::explanation::CaseExplanation;
use super::recorded::Decisions;
use super::reevaluate;
use super::selection::{CaseList, StepQuery, StepSelection, choose, find, status};
use super::steps::JournalStep;
use asterisk_project::Project;
use asterisk_script::probe::Probes;
use asterisk_session::{Prompt, Session, SessionError};
use asterisk_walk::GateDecision;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The result of a request for an explanation.
#[derive(Clone, Debug)]
pub enum Explanation {
    Case(Box<CaseExplanation>),
    /// The cases of the run, one of which must be named.
    Cases(CaseList),
}

/// Explains the steps of a case: each decision is evaluated again on its recorded inputs, with probes.
pub fn explain(session: &Session, query: &StepQuery) -> Result<Explanation, SessionError> {
    let decisions = Decisions::open(session)?;
    let (run, case, steps) = match find(&decisions, query)? {
        StepSelection::Case { run, case, steps } => (run, case, steps),
        StepSelection::Cases(cases) => return Ok(Explanation::Cases(cases)),
    };
    let case_name = decisions.record().store().case(&run, &case)?.name;
    // Nodes are named as in the graph that the case used last.
    let last = steps.last().map(|step| decisions.project(&run, step, Probes::All)).transpose()?;
    let done = last.as_ref().map(|project| project.plan.done.to_string());
    let status = status(&steps, done.as_deref());
    let steps = match &last {
        Some(project) => choose(steps, query, &project.plan.pipeline)?,
        None => steps,
    };
    let changed = changed(&decisions, &run, &steps)?;
    let mut explanation = Vec::with_capacity(steps.len());
    for step in &steps {
        let project = decisions.project(&run, step, Probes::All)?;
        explanation.push(explain_step(&decisions, &run, step, &project, &changed)?);
    }
    Ok(Explanation::Case(Box::new(CaseExplanation {
        pipeline: last.map_or_else(String::new, |project| project.plan.pipeline.name.value.clone()),
        run,
        case,
        name: case_name,
        status,
        detailed: query.step.is_some(),
        changed: changed.into_iter().collect(),
        steps: explanation,
    })))
}

/// Returns the prompt of a step, or the run's cases if none was named and there are several.
pub fn prompt(session: &Session, query: &StepQuery) -> Result<Result<Prompt, CaseList>, SessionError> {
    match find(&Decisions::open(session)?, query)? {
        StepSelection::Case { run, case, .. } => session.prompt(&run, &case, query.step.as_deref()).map(Ok),
        StepSelection::Cases(cases) => Ok(Err(cases)),
    }
}

fn explain_step(
    decisions: &Decisions,
    run: &str,
    step: &JournalStep,
    project: &Arc<Project>,
    changed: &BTreeSet<String>,
) -> Result<super::explanation::StepExplanation, SessionError> {
    let mut explanation = match decisions.decisions(run, vec![step.clone()])?.pop() {
        Some(decision) => reevaluate::explain_decision(step, &decision.rule_inputs(project)?, project, changed),
        None => {
            let plan = project.plan.of_path(&step.path).unwrap_or_else(|| Arc::clone(&project.plan));
            let pipeline = &plan.pipeline;
            reevaluate::explain_undecided(step, pipeline.node(&step.node).map(|node| pipeline.at(node)))
        }
    };
    for attempt in &mut explanation.attempts {
        let Some(review) = attempt.review else { continue };
        let text = decisions.record().store().blob(&review)?;
        if let Some(decision) = text.and_then(|text| serde_json::from_str::<GateDecision>(&text).ok()) {
            attempt.message = decision.reasons();
        }
    }
    if let Some(call) = step.call {
        let text = decisions.record().store().blob(&call)?;
        explanation.call = text.and_then(|text| serde_json::from_str(&text).ok());
    }
    Ok(explanation)
}

/// The texts that have changed since these steps used them.
pub(super) fn changed(decisions: &Decisions, run: &str, steps: &[JournalStep]) -> Result<BTreeSet<String>, SessionError> {
    let mut found = BTreeSet::new();
    for texts in decisions.texts(run)? {
        if steps.iter().any(|step| step.manifest == texts.address) {
            let changes = decisions.record().changed_since(run, &texts.manifest)?;
            // Only scripts and pipelines can change a decision.
            let decides = |what: &String| what.starts_with("scripts/") || what.starts_with("pipelines/");
            found.extend(changes.into_iter().map(|change| change.what).filter(decides));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::testing::TraceFixture;
    use super::super::{markdown, page};
    use super::*;
    use proptest::prelude::*;
    use std::fmt::Write as _;

    fn query(case: &str) -> StepQuery {
        StepQuery { run: "latest".into(), case: Some(case.into()), step: None }
    }

    fn explained(ground: &TraceFixture, query: &StepQuery) -> CaseExplanation {
        match explain(&ground.session, query).unwrap() {
            Explanation::Case(explanation) => *explanation,
            Explanation::Cases(list) => panic!("{list:?}"),
        }
    }

    /// Explains a case with every query, and compares the outcomes with the record.
    fn verify(ground: &TraceFixture, case: &str) -> usize {
        let decisions = Decisions::open(&ground.session).unwrap();
        let run = decisions.record().run("latest").unwrap();
        let recorded = decisions.steps(&run, case).unwrap();
        for detailed in [false, true] {
            let mut explanation = explained(ground, &query(case));
            explanation.detailed = detailed;
            assert_eq!(explanation.steps.len(), recorded.len());
            for (step, recorded) in explanation.steps.iter().zip(&recorded) {
                assert!(!step.differs, "{step:?}");
                for entry in &recorded.considered {
                    let edge = step.edges.iter().find(|edge| edge.edge == *entry.edge).unwrap();
                    assert_eq!(edge.outcome, entry.outcome);
                    assert_eq!(edge.error.is_some(), entry.error.is_some());
                }
            }
            for width in [20, 80] {
                let lines = page(&explanation, width);
                assert!(lines.iter().all(|line| line.text.chars().count() <= width.max(40)), "{lines:?}");
            }
            assert!(!markdown(&explanation).is_empty() && serde_json::to_value(&explanation).is_ok());
        }
        recorded.len()
    }

    #[test]
    fn explaining_the_bundled_launch_changes_no_outcome() {
        let ground = TraceFixture::with(&[]);
        let run = ground.run_example();
        let ids: Vec<String> = run.launch.cases.iter().map(|case| case.id.clone()).collect();
        let steps: usize = ids.iter().map(|id| verify(&ground, id)).sum();
        assert!(steps > 50, "{steps}");
    }

    /// Conditions of all kinds: those that hold, that do not, and that fail.
    fn condition() -> impl Strategy<Value = String> {
        let atom = prop_oneof![
            (0..6_i64, prop_oneof![Just(">"), Just("<="), Just("=="), Just("!=")]).prop_map(|(n, op)| format!("n {op} {n}")),
            Just("flag".to_owned()),
            Just("!flag".to_owned()),
            Just("label == \"a\"".to_owned()),
            Just("label.len() > 1".to_owned()),
            Just("items.any(|item| item > n)".to_owned()),
            Just("items[0] == n".to_owned()),
            Just("items.filter(|item| item != 2).len() >= vars.least".to_owned()),
            Just("state.loops.turn < vars.least".to_owned()),
            Just("parse_int(label) > 1".to_owned()),
            Just("{ let big = n > 2; if big { return flag; } label != \"b\" }".to_owned()),
            Just("switch label { \"a\" => flag, _ => n > 1 }".to_owned()),
        ];
        atom.prop_recursive(3, 8, 3, |inner| {
            (proptest::collection::vec(inner, 2..4), any::<bool>())
                .prop_map(|(parts, all)| format!("({})", parts.join(if all { " && " } else { " || " })))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn explaining_random_pipelines_changes_no_outcome(
            conditions in proptest::collection::vec((condition(), 0..6_u8), 1..7),
            artifacts in proptest::collection::vec((0..6_i64, any::<bool>(), "[ab0-9]{0,2}", proptest::collection::vec(0..5_i64, 0..4)), 4),
            skip in any::<bool>(),
        ) {
            let mut text = String::from("pipeline: p\nvars: { least: 2 }\n");
            text.push_str(if skip { "on_rule_error: skip\n" } else { "" });
            text.push_str("nodes:\n  - name: a\n    fallback: _done\n    schema: { n: int, flag: bool, label: string, items: [int] }\nedges:\n");
            for (at, (condition, kind)) in conditions.iter().enumerate() {
                let condition = condition.replace('\'', "''");
                let way = match kind {
                    0 => "from: a, advisory: true".to_owned(),
                    1 => "from: \"*\", to: _done".to_owned(),
                    2 => "from: a, to: _done".to_owned(),
                    _ => "from: a, to: a, loop: true, counter: turn".to_owned(),
                };
                let _ = writeln!(text, "  - {{ id: E{at}, {way}, condition: '{condition}' }}");
            }
            text.push_str("  - { id: last, from: a, to: _done }\nmax_steps: 4\nstart: a\ndone: _done\n");
            let answers: Vec<_> = artifacts
                .iter()
                .map(|(n, flag, label, items)| serde_json::json!({ "n": n, "flag": flag, "label": label, "items": items }))
                .collect();
            let ground = TraceFixture::with(&[("pipelines/p.yaml", &text)]);
            ground.run_stub("p", &serde_json::json!({ "*": { "a": answers } }).to_string());
            prop_assert!(verify(&ground, "case-1") > 0);
        }
    }
}
