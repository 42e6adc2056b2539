//! A decision told of as it is made, for whoever tries things out.

use super::explanation::StepExplanation;
use super::page::{PageLine, TextPage};
use super::reevaluate;
use super::steps::{JournalStep, StepEnd};
use crate::clock::Timestamp;
use crate::model::Hash;
use crate::project::Project;
use crate::walk::RuleInputs;
use std::collections::BTreeSet;

/// Makes a decision and tells of it; the project must have been linked with all probes. `recorded` is the step it belongs to,
/// if it belongs to any.
pub fn look(again: &RuleInputs, project: &Project, recorded: Option<&JournalStep>) -> StepExplanation {
    let node = again.plan.node(again.node).name.clone();
    let mut step = recorded.cloned().unwrap_or_else(|| JournalStep {
        case: "".into(),
        path: "".into(),
        node,
        at: Timestamp::default(),
        generation: crate::walk::FIRST,
        manifest: Hash::of(b""),
        walker: None,
        masks: Vec::new(),
        by: None,
        call: None,
        inputs: None,
        considered: Vec::new(),
        went: StepEnd::Open,
        within: false,
    });
    (step.considered, step.went) = match again.decide() {
        Ok(decision) => {
            let went = decision.choice.map_or(StepEnd::Over, |choice| StepEnd::To {
                to: again.plan.pipeline.target_name(choice.to).into(),
                edge: choice.name,
                because: choice.because,
                context: choice.context,
            });
            (decision.considered, went)
        }
        Err((considered, failure)) => {
            let message = failure.diagnostic.message.clone();
            (considered, StepEnd::Failed { kind: failure.kind.word().to_owned(), message })
        }
    };
    reevaluate::decided(&step, again, project, &BTreeSet::new())
}

/// A step and what came of its edges, at most so many characters wide.
pub fn step_page(told: &StepExplanation, width: usize) -> Vec<PageLine> {
    let mut page = TextPage::new(width);
    page.brief(told);
    page.lines
}

/// Everything about one edge of a step; nothing if it has no such edge.
pub fn edge_page(told: &StepExplanation, edge: &str, width: usize) -> Vec<PageLine> {
    let mut page = TextPage::new(width);
    told.edges.iter().filter(|told| told.edge == edge).for_each(|told| page.edge(told));
    page.lines
}
