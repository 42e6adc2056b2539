//! Shadow decisions: candidate rules evaluated on the inputs of live decisions, recorded, and never acted on.

use super::error::Failure;
use super::event::{ConsideredEdge, EventBody};
use super::name::Name;
use super::plan::Plan;
use super::route::{Decision, decide};
use asterisk_pipeline::EdgeTarget;
use asterisk_script::View;

/// The result of [`decide`].
type Decided = Result<Decision, (Vec<ConsideredEdge>, Failure)>;

/// Where a decision leads.
#[derive(PartialEq)]
enum ShadowChoice {
    /// By this edge to this node.
    By(Name, Name),
    /// At a node without edges, the walk completes.
    Over,
    /// Fails with an error of this kind.
    Lost(&'static str),
}

/// Evaluates the candidate rules of a node next to the live decision. `None` if the candidate pipeline lacks the node
/// or its edges.
pub(super) fn evaluate(
    candidate: &Plan,
    node: &Name,
    artifact: &View,
    state: &View,
    live: (&Plan, &Decided),
) -> Option<EventBody> {
    let decided = decide(candidate, candidate.pipeline.node(node)?, artifact, state);
    let differs = choice(candidate, &decided) != choice(live.0, live.1);
    let node = node.clone();
    let what = match decided {
        Ok(Decision { considered, choice: Some(choice), .. }) => {
            let to = Some(name(candidate, choice.to));
            EventBody::Shadow {
                node,
                edge: Some(choice.name),
                to,
                because: Some(choice.because),
                verdict: None,
                error: None,
                differs,
                considered,
            }
        }
        Ok(Decision { considered, .. }) => {
            EventBody::Shadow { node, edge: None, to: None, because: None, verdict: None, error: None, differs, considered }
        }
        Err((considered, failure)) => {
            let error = Some(format!("{}: {}", failure.kind, failure.diagnostic.message));
            EventBody::Shadow { node, edge: None, to: None, because: None, verdict: None, error, differs, considered }
        }
    };
    let evaluated = matches!(&what, EventBody::Shadow { considered, .. } if !considered.is_empty());
    (evaluated || differs).then_some(what)
}

/// The verdict of candidate rules next to the live one.
pub(super) fn verdict(node: &Name, defect: Name, live: &Name) -> EventBody {
    let differs = defect != *live;
    let (edge, to, because, error) = (None, None, None, None);
    EventBody::Shadow { node: node.clone(), edge, to, because, verdict: Some(defect), error, differs, considered: Vec::new() }
}

fn choice(plan: &Plan, decided: &Decided) -> ShadowChoice {
    match decided {
        Ok(Decision { choice: Some(choice), .. }) => ShadowChoice::By(choice.name.clone(), name(plan, choice.to)),
        Ok(_) => ShadowChoice::Over,
        Err((_, failure)) => ShadowChoice::Lost(failure.kind.word()),
    }
}

fn name(plan: &Plan, target: EdgeTarget) -> Name {
    match target {
        EdgeTarget::Done => plan.done.clone(),
        EdgeTarget::Node(node) => plan.node(node).name.clone(),
    }
}
