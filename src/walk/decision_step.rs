//! The turn at the end of a step: the rules are asked about its artifact, and the walk goes where they say.
//!
//! A live step ends with it, and history is decided again by it: there is no second way to get from an artifact to the next node.

use super::branch::{Branch, BranchKind};
use super::content::Content;
use super::error::{Failure, FailureKind};
use super::event::{EventBody, Name};
use super::plan::Plan;
use super::route::{self, Decision, EdgeChoice};
use super::shadow;
use super::state::{CONTEXT_DEPTH, CONTEXT_SIZE, WalkState};
use crate::clock::Timestamp;
use crate::diag::Diagnostic;
use crate::pipeline::{EdgeTarget, NodeIx};
use crate::script::View;
use serde_json::{Map, Value};

/// A turn to be taken.
#[derive(Clone, Copy)]
pub struct DecisionStep<'a> {
    /// What to go by.
    pub plan: &'a Plan,
    /// Candidate rules that are asked as well.
    pub shadow: Option<&'a Plan>,
    /// The node to leave.
    pub node: NodeIx,
    /// The walk before the step.
    pub state: &'a WalkState,
    /// Who takes the step, as rules see it.
    pub walker: &'a View,
    /// The handoffs so far, that to this walker among them.
    pub handoffs: i64,
    /// When the step began.
    pub now: Timestamp,
    /// The number in [0, 1) of the step.
    pub chance: f64,
}

impl DecisionStep<'_> {
    /// The artifact's confidence, if the node names the field that holds it.
    pub fn confidence(&self, artifact: &View) -> Option<f64> {
        let field = self.plan.pipeline.at(self.node).confidence.as_ref()?;
        artifact.get(field)?.as_f64()
    }

    /// What the decision leaves in the record, in order: the edges with their outcomes, what candidates say, the way taken.
    pub fn take(
        &self,
        artifact: &View,
        content: Content,
        confidence: Option<f64>,
        mut log: impl FnMut(EventBody),
    ) -> Result<(), Failure> {
        let Self { plan, node, .. } = *self;
        let name = plan.node(node).name.clone();
        let state = self.state.view_by(&plan.node(node).view, confidence, (self.now, self.chance), (self.walker, self.handoffs));
        let decided = route::decide(plan, node, artifact, &state);
        let ask = |candidate| shadow::beside(candidate, &name, artifact, &state, (plan, &decided));
        let beside = self.shadow.and_then(ask);
        let (considered, decided) = match decided {
            Ok(Decision { considered, choice, .. }) => (considered, Ok(choice)),
            Err((considered, failure)) => (considered, Err(failure)),
        };
        if !considered.is_empty() {
            let (state, vars) = (Content::new(state), plan.vars_content.clone());
            log(EventBody::EdgeEvaluate { node: name.clone(), artifact: content, state, vars, considered });
        }
        if let Some(beside) = beside {
            log(beside);
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
        if !choice.beside.is_empty() {
            let mut branches = Vec::with_capacity(1 + choice.beside.len());
            for choice in std::iter::once(&choice).chain(&choice.beside) {
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

    /// What edges add stays within bounds, or the walk stops here.
    fn check_context(&self, added: &Map<String, Value>) -> Result<(), Failure> {
        let deep = added.values().map(depth).max().unwrap_or(0) >= CONTEXT_DEPTH;
        let size = |context: &Map<String, Value>| context.values().map(weight).sum::<usize>();
        if !deep && (added.is_empty() || size(added) + size(&self.state.context) <= CONTEXT_SIZE) {
            return Ok(());
        }
        let message = if deep {
            format!("what an edge adds to the context nests deeper than {CONTEXT_DEPTH} levels")
        } else {
            format!("the context would be larger than {CONTEXT_SIZE} characters")
        };
        let help = "add what the next rules need, not the whole of what is there already";
        Err(Failure::new(FailureKind::Limit, Diagnostic::error("walk/context", message).help(help)))
    }
}

/// What the items of branches hold stays within the bounds of a context; else says why not.
pub(super) fn check_size(items: &[Value]) -> Result<(), String> {
    check_bounds(items, "an item of `foreach`", "the items of `foreach`")
}

/// The same of values that are called `one` and `all`.
pub(super) fn check_bounds(items: &[Value], one: &str, all: &str) -> Result<(), String> {
    if items.iter().any(|item| depth(item) >= CONTEXT_DEPTH) {
        return Err(format!("{one} nests deeper than {CONTEXT_DEPTH} levels"));
    }
    let size: usize = items.iter().map(weight).sum();
    if size > CONTEXT_SIZE { Err(format!("{all} have more than {CONTEXT_SIZE} characters")) } else { Ok(()) }
}

/// How deep a value nests.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// About how many characters of JSON a value takes.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| 1 + weight(item)).sum::<usize>(),
        Value::Object(fields) => 2 + fields.iter().map(|(key, field)| 4 + key.len() + weight(field)).sum::<usize>(),
        _ => 5,
    }
}
