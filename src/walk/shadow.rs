//! What candidate rules would have decided: asked beside every decision with the same inputs, recorded, and never acted on.

use super::error::Failure;
use super::event::{Considered, Name, What};
use super::plan::Plan;
use super::route::{Decision, decide};
use crate::pipeline::Target;
use crate::script::View;

/// What came of [`decide`].
type Decided = Result<Decision, (Vec<Considered>, Failure)>;

/// Where a decision leads.
#[derive(PartialEq)]
enum Way {
    /// By this edge to this node.
    By(Name, Name),
    /// Nowhere: the node has no edge, and the walk completes.
    Over,
    /// Nowhere, with an error of this kind.
    Lost(&'static str),
}

/// Asks the candidate rules of a node, given what the live ones decided. Nothing if the candidates' pipeline lacks the node, or
/// if it has no edge there.
pub(super) fn beside(candidate: &Plan, node: &Name, artifact: &View, state: &View, live: (&Plan, &Decided)) -> Option<What> {
    let decided = decide(candidate, candidate.pipeline.node(node)?, artifact, state);
    let differs = way(candidate, &decided) != way(live.0, live.1);
    let node = node.clone();
    let what = match decided {
        Ok(Decision { considered, choice: Some(choice), .. }) => {
            let to = Some(name(candidate, choice.to));
            What::Shadow { node, edge: Some(choice.name), to, because: Some(choice.because), error: None, differs, considered }
        }
        Ok(Decision { considered, .. }) => {
            What::Shadow { node, edge: None, to: None, because: None, error: None, differs, considered }
        }
        Err((considered, failure)) => {
            let error = Some(format!("{}: {}", failure.kind, failure.diagnostic.message));
            What::Shadow { node, edge: None, to: None, because: None, error, differs, considered }
        }
    };
    let asked = matches!(&what, What::Shadow { considered, .. } if !considered.is_empty());
    (asked || differs).then_some(what)
}

fn way(plan: &Plan, decided: &Decided) -> Way {
    match decided {
        Ok(Decision { choice: Some(choice), .. }) => Way::By(choice.name.clone(), name(plan, choice.to)),
        Ok(_) => Way::Over,
        Err((_, failure)) => Way::Lost(failure.kind.word()),
    }
}

fn name(plan: &Plan, target: Target) -> Name {
    match target {
        Target::Done => plan.done.clone(),
        Target::Node(node) => plan.node(node).name.clone(),
    }
}
