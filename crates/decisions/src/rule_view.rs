//! Explaining a decision while it is evaluated, for interactive use.

use super::explanation::StepExplanation;
use super::page::{PageLine, TextPage};
use super::reevaluate;
use super::steps::{JournalStep, StepEnd};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::Hash;
use asterisk_project::Project;
use asterisk_walk::RuleInputs;
use std::collections::BTreeSet;

/// Evaluates and explains a decision; the project must be linked with all probes. `recorded` is its recorded step, if any.
pub fn look(inputs: &RuleInputs, project: &Project, recorded: Option<&JournalStep>) -> StepExplanation {
    let node = inputs.plan.node(inputs.node).name.clone();
    let mut step = recorded.cloned().unwrap_or_else(|| JournalStep {
        case: "".into(),
        path: "".into(),
        node,
        at: Timestamp::default(),
        revision: asterisk_walk::FIRST,
        manifest: Hash::of(b""),
        walker: None,
        masks: Vec::new(),
        by: None,
        call: None,
        inputs: None,
        considered: Vec::new(),
        attempts: Vec::new(),
        end: StepEnd::Open,
        within: false,
    });
    (step.considered, step.end) = match inputs.decide() {
        Ok(decision) => {
            let end = decision.choice.map_or(StepEnd::Over, |choice| StepEnd::To {
                to: inputs.plan.pipeline.target_name(choice.to).into(),
                edge: choice.name,
                because: choice.because,
                context: choice.context,
            });
            (decision.considered, end)
        }
        Err((considered, failure)) => {
            let message = failure.diagnostic.message.clone();
            (considered, StepEnd::Failed { kind: failure.kind.word().to_owned(), message })
        }
    };
    reevaluate::explain_decision(&step, inputs, project, &BTreeSet::new())
}

/// A step and the outcomes of its edges, at most `width` characters wide.
pub fn step_page(explanation: &StepExplanation, width: usize) -> Vec<PageLine> {
    let mut page = TextPage::new(width);
    page.brief(explanation);
    page.lines
}

/// The details of one edge of a step; empty if the step lacks this edge.
pub fn edge_page(explanation: &StepExplanation, edge: &str, width: usize) -> Vec<PageLine> {
    let mut page = TextPage::new(width);
    explanation.edges.iter().filter(|explanation| explanation.edge == edge).for_each(|explanation| page.edge(explanation));
    page.lines
}
