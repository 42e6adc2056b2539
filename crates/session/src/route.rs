//! One routing decision, and one function call.

use super::{Session, SessionError};
use asterisk_base::clock::{Timestamp, chance};
use asterisk_diag::{Code, Diagnostics, did_you_mean};
use asterisk_pipeline::NodeIx;
use asterisk_project::Project;
use asterisk_script::{FunctionRef, View};
use asterisk_walk::{ConsideredEdge, Name, Plan, Reason, StepMoment, Visit, WalkState, decide, walker_view};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The state of a decision, as `asterisk eval route --state` takes it; absent parts are empty.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RouteState {
    /// The counters.
    pub loops: BTreeMap<String, i64>,
    /// The walk's context.
    pub context: Map<String, Value>,
    /// The transitions so far.
    pub history: Vec<RouteVisit>,
    /// The latest confidence.
    pub confidence: Option<f64>,
    /// The steps so far; the length of the history if absent.
    pub steps: Option<u64>,
    /// Seconds since the walk began.
    pub elapsed_s: f64,
    /// The changes of walker so far.
    pub handoffs: i64,
    /// The random number of the step, in `[0, 1)`.
    pub chance: Option<f64>,
    /// The node; overridden by the node of the request.
    pub node: Option<String>,
    /// The walker, as rules see it.
    pub walker: Option<Value>,
}

/// A past transition, as `asterisk eval route --state` takes it: a node's name, or a record with at least `node`.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum RouteVisit {
    Node(String),
    Record {
        /// The node that was left.
        #[serde(alias = "step")]
        node: String,
        /// The edge taken.
        #[serde(default, alias = "edge_id")]
        edge: String,
        /// The same, as rules see it.
        #[serde(default)]
        outcome: String,
        #[serde(default, alias = "timestamp")]
        at: Option<Timestamp>,
    },
}

/// A routing decision, in the JSON shape that other tools rely on.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Routed {
    /// An edge was chosen.
    Way {
        /// The edge taken, or `fallback`; null where the walk completes at a node without edges.
        edge: Option<Name>,
        /// The target; null where the walk completes at a node without edges.
        to: Option<String>,
        because: Reason,
        /// Context added by the edge and the advisories.
        context: Map<String, Value>,
        /// The advisories that fired.
        advisories: Vec<Name>,
        /// The counters after taking the edge.
        loops: BTreeMap<String, i64>,
        /// The edges, in the order considered.
        considered: Vec<ConsideredEdge>,
    },
    /// The decision failed.
    Lost {
        /// The kind of error.
        error: String,
        message: String,
        /// The edges, in the order considered.
        considered: Vec<ConsideredEdge>,
    },
}

impl Session {
    /// Evaluates the decision at a node.
    pub fn route(
        &self,
        project: &Project,
        node: &str,
        artifact: &Value,
        state: RouteState,
        vars: &Map<String, Value>,
    ) -> Result<(Routed, Diagnostics), SessionError> {
        let plan = project.plan_with(vars)?;
        let pipeline = &plan.pipeline;
        let Some(ix) = pipeline.resolve_target(node).and_then(as_node) else {
            let known = pipeline.nodes.iter().map(|node| node.name.as_str());
            let message = format!("no node `{node}` in the pipeline `{}`", *pipeline.name);
            return Err(SessionError::bad_request(Code::InputNoNode, message, did_you_mean(node, known)));
        };
        let artifact = plan.artifact(ix, artifact);
        let (walk, view) = state.at(&plan, Some(ix), &artifact, self.setup.clock.now());
        Ok(match decide(&plan, ix, &artifact, &view) {
            Ok(decision) => {
                let mut loops = walk.loops;
                let mut routed = (None, None, Reason::from("the node has no edges: the walk completes"), Map::new());
                if let Some(choice) = decision.choice {
                    let edge = choice.edge.map(|edge| pipeline.edge_at(edge)).filter(|edge| edge.looped);
                    if let Some(counter) = edge.and_then(|edge| edge.counter.clone()) {
                        *loops.entry(counter).or_default() += 1;
                    }
                    let to = pipeline.target_name(choice.to).to_owned();
                    routed = (Some(choice.name), Some(to), choice.because, choice.context);
                }
                let (edge, to, because, context) = routed;
                let (advisories, considered) = (decision.advisories, decision.considered);
                (Routed::Way { edge, to, because, context, advisories, loops, considered }, Diagnostics::new())
            }
            Err((considered, failure)) => {
                let (error, message) = (failure.kind.word().to_owned(), failure.diagnostic.message.clone());
                (Routed::Lost { error, message, considered }, Diagnostics::from(*failure.diagnostic))
            }
        })
    }

    /// Calls one script function with JSON arguments.
    pub fn call(&self, project: &Project, reference: &str, args: &[Value]) -> Result<Value, SessionError> {
        let call = || -> Result<Value, Box<asterisk_diag::Diagnostic>> {
            let reference = FunctionRef::parse(reference)?;
            project.library.function(&reference, args.len())?.call_json(args)
        };
        call().map_err(|diagnostic| SessionError::Texts(Diagnostics::from(*diagnostic)))
    }
}

impl RouteState {
    /// The described walk, and the state as rules see it at a node.
    pub fn at(self, plan: &Plan, node: Option<NodeIx>, artifact: &View, now: Timestamp) -> (WalkState, View) {
        let confidence = node.and_then(|ix| plan.pipeline.at(ix).confidence.as_ref());
        let confidence = confidence.and_then(|field| artifact.get(field)?.as_f64());
        let luck = self.chance.unwrap_or_else(|| chance(0, "", "1"));
        let walker = self.walker.as_ref().map(walker_view);
        let name = node.map_or_else(|| View::from(self.node.as_deref().unwrap_or_default()), |ix| plan.node(ix).view.clone());
        let walk = self.into_walk(now);
        let moment = StepMoment { now, chance: luck };
        let view = walk.view(&name, confidence, moment, walker.as_ref().unwrap_or(&plan.walker.view), walk.handoffs);
        (walk, view)
    }

    fn into_walk(self, now: Timestamp) -> WalkState {
        let visit = |visit: RouteVisit| match visit {
            RouteVisit::Node(node) => {
                Visit { node: node.into(), edge: "".into(), because: "".into(), advisories: Vec::new(), at: now }
            }
            RouteVisit::Record { node, edge, outcome, at } => {
                let edge = if edge.is_empty() { outcome } else { edge };
                Visit { node: node.into(), edge: edge.into(), because: "".into(), advisories: Vec::new(), at: at.unwrap_or(now) }
            }
        };
        let history: Vec<Visit> = self.history.into_iter().map(visit).collect();
        let mut walk = WalkState::with(self.loops, self.context, history);
        walk.confidence = self.confidence;
        walk.handoffs = self.handoffs;
        walk.steps = self.steps.unwrap_or(walk.steps);
        #[allow(clippy::cast_possible_truncation)]
        let elapsed = (self.elapsed_s * 1000.0) as i64;
        walk.started_at = Some(Timestamp::from_millis(now.millis().saturating_sub(elapsed)));
        walk
    }
}

fn as_node(target: asterisk_pipeline::EdgeTarget) -> Option<NodeIx> {
    match target {
        asterisk_pipeline::EdgeTarget::Node(ix) => Some(ix),
        asterisk_pipeline::EdgeTarget::Done => None,
    }
}
