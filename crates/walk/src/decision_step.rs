//! The decision at the end of a step: evaluates the rules on its artifact and records the transition.
//!
//! Live and replayed steps share it: it is the only path from an artifact to the next node.

use super::bounds::check_context;
use super::branch::{Branch, BranchKind};
use super::content::Content;
use super::error::{Failure, FailureKind};
use super::event::EventBody;
use super::name::Name;
use super::plan::Plan;
use super::route::{self, Decision, EdgeChoice};
use super::shadow;
use super::step_context::StepContext;
use asterisk_diag::Diagnostic;
use asterisk_pipeline::EdgeTarget;
use asterisk_script::View;
use serde_json::{Map, Value};

#[derive(Clone, Copy)]
pub struct DecisionStep<'a> {
    pub step: StepContext<'a>,
    /// Candidate rules, evaluated for comparison only.
    pub shadow: Option<&'a Plan>,
}

impl DecisionStep<'_> {
    /// Evaluates the decision and returns its events, in order: edges with outcomes, shadow results, transition.
    pub fn take(
        &self,
        artifact: &View,
        content: Content,
        confidence: Option<f64>,
        mut log: impl FnMut(EventBody),
    ) -> Result<(), Failure> {
        let StepContext { plan, node, .. } = self.step;
        let name = plan.node(node).name.clone();
        let state = self.step.state(confidence);
        let decided = route::decide(plan, node, artifact, &state);
        let ask = |candidate| shadow::evaluate(candidate, &name, artifact, &state, (plan, &decided));
        let shadowed = self.shadow.and_then(ask);
        let (considered, decided) = match decided {
            Ok(Decision { considered, choice, .. }) => (considered, Ok(choice)),
            Err((considered, failure)) => (considered, Err(failure)),
        };
        if !considered.is_empty() {
            let (state, vars) = (Content::new(state), plan.vars_content.clone());
            log(EventBody::EdgeEvaluate { node: name.clone(), artifact: content, state, vars, considered });
        }
        if let Some(event) = shadowed {
            log(event);
        }
        let Some(choice) = decided? else {
            log(EventBody::WalkComplete { node: name });
            return Ok(());
        };
        self.check_context(&choice.context)?;
        let counter = |choice: &EdgeChoice| {
            let looped = choice.edge.map(|edge| plan.pipeline.edge_at(edge)).filter(|edge| edge.looped);
            looped.and_then(|edge| edge.counter.as_deref()).map(Name::from)
        };
        if !choice.parallel.is_empty() {
            let mut branches = Vec::with_capacity(1 + choice.parallel.len());
            for choice in std::iter::once(&choice).chain(&choice.parallel) {
                self.check_context(&choice.context)?;
                let EdgeTarget::Node(to) = choice.to else { continue };
                branches.push(Branch {
                    node: plan.node(to).name.clone(),
                    item: None,
                    sequence: 0,
                    edge: Some(choice.name.clone()),
                    because: Some(choice.because.clone()),
                    counter: counter(choice),
                    context: choice.context.clone(),
                });
            }
            log(EventBody::Fork { by: BranchKind::Edges, node: Some(name), branches });
            return Ok(());
        }
        let counter = counter(&choice);
        let (to, over) = match choice.to {
            EdgeTarget::Done => (plan.done.clone(), true),
            EdgeTarget::Node(to) => (plan.node(to).name.clone(), false),
        };
        log(EventBody::Transition {
            from: name.clone(),
            to,
            edge: choice.name,
            because: choice.because,
            counter,
            context: choice.context,
        });
        if over {
            log(EventBody::WalkComplete { node: name });
        }
        Ok(())
    }

    /// Checks the context additions against their limits.
    fn check_context(&self, added: &Map<String, Value>) -> Result<(), Failure> {
        check_context(added, &self.step.walk.context).map_err(|message| {
            let help = "add only what later rules need, not data that already exists";
            Failure::new(FailureKind::Limit, Diagnostic::error("walk/context", message).help(help))
        })
    }
}
