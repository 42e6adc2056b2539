//! One routing decision: advisories, then the node's own edges in file order, then guards, then the fallback.

use super::because;
use super::error::{Failure, FailureKind};
use super::event::ConsideredEdge;
use super::name::{Name, Reason};
use super::outcome::EdgeOutcome;
use super::plan::{EdgeRule, Plan};
use asterisk_diag::{Diagnostic, did_you_mean};
use asterisk_pipeline::{Edge, EdgeIx, EdgeTarget, NodeIx, OnRuleError};
use asterisk_script::probe::frame;
use asterisk_script::{RuleOutcome, View};
use serde_json::{Map, Value};

/// The edge name recorded when no edge fires and the node has a fallback (`docs/decisions/0008-routing-and-step-cap.md`).
pub const FALLBACK: &str = "fallback";

/// The result of a decision.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Every edge considered, in order.
    pub considered: Vec<ConsideredEdge>,
    /// The edge taken; absent at a node without edges, where the walk completes (`docs/decisions/0008-routing-and-step-cap.md`).
    pub choice: Option<EdgeChoice>,
    /// The advisories that fired, in file order.
    pub advisories: Vec<Name>,
}

/// An edge taken.
#[derive(Clone, Debug)]
pub struct EdgeChoice {
    /// The edge; absent for the fallback.
    pub edge: Option<EdgeIx>,
    /// Its name, or [`FALLBACK`].
    pub name: Name,
    pub to: EdgeTarget,
    pub because: Reason,
    /// Context added by the edge and the advisories.
    pub context: Map<String, Value>,
    /// The other edges taken in parallel, with `parallel: true`.
    pub parallel: Vec<Self>,
}

/// Evaluates the edges of a node and chooses the next. Returns the edges considered even on failure.
pub fn decide(plan: &Plan, node: NodeIx, artifact: &View, state: &View) -> Result<Decision, (Vec<ConsideredEdge>, Failure)> {
    decide_with(plan, node, artifact, state, &mut |edge, rule| {
        frame("edge rule", &plan.edge_names[edge.0], || rule.function.decide(artifact, state, plan.vars()))
    })
}

/// [`decide`], with rules evaluated by `ask`, so that explanations can observe each of them.
pub fn decide_with(
    plan: &Plan,
    node: NodeIx,
    artifact: &View,
    state: &View,
    ask: &mut AskRule<'_>,
) -> Result<Decision, (Vec<ConsideredEdge>, Failure)> {
    let (considered, advisories) = (Vec::new(), Vec::new());
    let mut router = EdgeRouter { plan, artifact, state, ask, considered, context: Map::new(), advisories };
    match router.choose(node) {
        Ok(choice) => Ok(Decision { considered: router.considered, choice, advisories: router.advisories }),
        Err(failure) => Err((router.considered, failure)),
    }
}

/// Evaluates the rule of an edge.
pub type AskRule<'a> = dyn FnMut(EdgeIx, &EdgeRule) -> Result<RuleOutcome, Box<Diagnostic>> + 'a;

struct EdgeRouter<'a> {
    plan: &'a Plan,
    artifact: &'a View,
    state: &'a View,
    ask: &'a mut AskRule<'a>,
    considered: Vec<ConsideredEdge>,
    context: Map<String, Value>,
    advisories: Vec<Name>,
}

impl EdgeRouter<'_> {
    fn choose(&mut self, node: NodeIx) -> Result<Option<EdgeChoice>, Failure> {
        let pipeline = &*self.plan.pipeline;
        let spec = &pipeline.nodes[node.0];
        self.considered.reserve(spec.advisories.len() + spec.edges.len() + pipeline.guards.len());
        for &edge in &spec.advisories {
            self.advise(edge)?;
        }
        let own = self.first(&spec.edges)?;
        let done = own.as_ref().is_some_and(|choice| choice.to == EdgeTarget::Done);
        let guard = if done {
            self.not_reached(&pipeline.guards);
            None
        } else {
            self.first(&pipeline.guards)?
        };
        let choice = guard.or(own).or_else(|| self.fall_back(node));
        match choice {
            Some(mut choice) => {
                let mut context = std::mem::take(&mut self.context);
                context.append(&mut choice.context);
                choice.context = context;
                Ok(Some(choice))
            }
            None if spec.edges.is_empty() => Ok(None),
            None => Err(self.no_edge(node)),
        }
    }

    /// Evaluates an advisory: it may add context, and never routes.
    fn advise(&mut self, edge: EdgeIx) -> Result<(), Failure> {
        let name = self.plan.edge_names[edge.0].clone();
        if let Some(fired) = self.evaluate(edge, EdgeOutcome::Advisory)? {
            self.context.extend(fired.context);
            self.advisories.push(name);
        }
        Ok(())
    }

    /// Returns the first edge that fires; the rest is recorded as not reached.
    fn first(&mut self, edges: &[EdgeIx]) -> Result<Option<EdgeChoice>, Failure> {
        for (index, &edge) in edges.iter().enumerate() {
            let Some(fired) = self.evaluate(edge, EdgeOutcome::Fired)? else { continue };
            let to = self.target(edge, fired.to.as_deref())?;
            let parallel = self.parallel(edge, to, &edges[index + 1..])?;
            let name = self.plan.edge_names[edge.0].clone();
            return Ok(Some(EdgeChoice { edge: Some(edge), name, to, because: fired.because, context: fired.context, parallel }));
        }
        Ok(None)
    }

    /// Returns the edges after `first` that are taken in parallel with it; the others are recorded as not reached.
    fn parallel(&mut self, first: EdgeIx, first_to: EdgeTarget, rest: &[EdgeIx]) -> Result<Vec<EdgeChoice>, Failure> {
        let pipeline = &*self.plan.pipeline;
        let mut parallel: Vec<EdgeChoice> = Vec::new();
        for &edge in rest {
            // An edge to the end, or to the target of another one, makes no branch of its own.
            let fits = pipeline.edge_at(first).parallel && pipeline.edge_at(edge).parallel && first_to != EdgeTarget::Done;
            let fired = if fits { self.evaluate(edge, EdgeOutcome::Fired)? } else { None };
            let Some(fired) = fired else {
                if !fits {
                    self.not_reached(&[edge]);
                }
                continue;
            };
            let to = self.target(edge, fired.to.as_deref())?;
            if to == EdgeTarget::Done || to == first_to || parallel.iter().any(|other| other.to == to) {
                let spec = pipeline.edge_at(edge);
                let chosen = pipeline.target_name(to);
                return Err(self.bad_target(
                    spec,
                    chosen,
                    "is parallel, but leads to the target of another parallel edge, or to the end",
                ));
            }
            let name = self.plan.edge_names[edge.0].clone();
            parallel.push(EdgeChoice {
                edge: Some(edge),
                name,
                to,
                because: fired.because,
                context: fired.context,
                parallel: Vec::new(),
            });
        }
        Ok(parallel)
    }

    fn evaluate(&mut self, edge: EdgeIx, fires_as: EdgeOutcome) -> Result<Option<Fired>, Failure> {
        let spec = self.plan.pipeline.edge_at(edge);
        let name = self.plan.edge_names[edge.0].clone();
        let rule = self.plan.rule(edge);
        let verdict = match rule {
            None => Ok(RuleOutcome::Yes { to: None, because: None, context: Map::new() }),
            Some(rule) => (self.ask)(edge, rule),
        };
        let script = rule.map(|rule| rule.script);
        let mut entry = ConsideredEdge { edge: name, outcome: EdgeOutcome::False, because: None, error: None, script };
        let fired = match verdict {
            Ok(RuleOutcome::No) => None,
            Ok(RuleOutcome::Yes { to, because, context: ruled }) => {
                let because: Reason = because.unwrap_or_else(|| self.reason(edge)).into();
                let mut context = spec.context.clone();
                context.extend(ruled);
                entry.outcome = fires_as;
                entry.because = Some(because.clone());
                Some(Fired { to, because, context })
            }
            Err(diagnostic) => {
                entry.outcome = EdgeOutcome::Error;
                entry.error = Some(diagnostic.to_string());
                let skip = self.plan.pipeline.on_rule_error == OnRuleError::Skip;
                self.considered.push(entry);
                return if skip { Ok(None) } else { Err(Failure::script(diagnostic)) };
            }
        };
        self.considered.push(entry);
        Ok(fired)
    }

    fn reason(&self, edge: EdgeIx) -> String {
        match self.plan.rule(edge) {
            Some(rule) => because::fields(&rule.reads, self.artifact, self.state, self.plan.vars()),
            None => "it has no condition".into(),
        }
    }

    fn not_reached(&mut self, edges: &[EdgeIx]) {
        for edge in edges {
            self.considered.push(ConsideredEdge {
                edge: self.plan.edge_names[edge.0].clone(),
                outcome: EdgeOutcome::NotReached,
                because: None,
                error: None,
                script: None,
            });
        }
    }

    /// The target of an edge: the rule's choice among the declared targets, else the edge's `to`.
    fn target(&self, edge: EdgeIx, chosen: Option<&str>) -> Result<EdgeTarget, Failure> {
        let pipeline = &*self.plan.pipeline;
        let spec = &pipeline.edges[edge.0];
        let Some(chosen) = chosen else {
            return spec.to.ok_or_else(|| self.bad_target(spec, "", "names no target, and its rule chose none"));
        };
        match (pipeline.resolve_choice(spec, chosen), pipeline.resolve_target(chosen)) {
            (Some(target), _) => Ok(target),
            (None, Some(_)) => Err(self.bad_target(spec, chosen, "chose a target that its `targets` do not list")),
            (None, None) => Err(self.bad_target(spec, chosen, "chose an unknown target")),
        }
    }

    fn bad_target(&self, edge: &Edge, chosen: &str, fault: &str) -> Failure {
        let pipeline = &*self.plan.pipeline;
        let message = if chosen.is_empty() {
            format!("the edge `{}` {fault}", *edge.id)
        } else {
            format!("the edge `{}` {fault}: `{chosen}`", edge.id)
        };
        let known = edge.choices().map(|target| pipeline.target_name(target));
        let diagnostic = Diagnostic::error("walk/unknown-target", message)
            .label(&pipeline.source, edge.spans.whole, "this edge")
            .maybe_help(did_you_mean(chosen, known));
        Failure::new(FailureKind::NodeNotFound, diagnostic)
    }

    fn fall_back(&mut self, node: NodeIx) -> Option<EdgeChoice> {
        let to = self.plan.pipeline.nodes[node.0].fallback?;
        let because: Reason = "no edge fired".into();
        self.considered.push(ConsideredEdge {
            edge: FALLBACK.into(),
            outcome: EdgeOutcome::Fired,
            because: Some(because.clone()),
            error: None,
            script: None,
        });
        Some(EdgeChoice { edge: None, name: FALLBACK.into(), to, because, context: Map::new(), parallel: Vec::new() })
    }

    /// Lists every edge tried and why it did not fire (`docs/decisions/0008-routing-and-step-cap.md`).
    fn no_edge(&self, node: NodeIx) -> Failure {
        let pipeline = &*self.plan.pipeline;
        let spec = &pipeline.nodes[node.0];
        let tried: Vec<String> = spec
            .edges
            .iter()
            .map(|edge| {
                let id = &pipeline.edges[edge.0].id;
                let error = self.considered.iter().find(|entry| *entry.edge == *id.value).and_then(|entry| entry.error.clone());
                match error {
                    Some(error) => format!("  {} threw: {error}", **id),
                    None => format!("  {} did not fire: {}", **id, self.reason(*edge)),
                }
            })
            .collect();
        let message = format!("no edge of `{}` fired", *spec.name);
        let diagnostic = Diagnostic::error("walk/no-edge", message)
            .label(&pipeline.source, spec.name.span, "the walk stops here")
            .help(format!("tried in this order:\n{}\nadd an edge for this case, or a `fallback:` to the node", tried.join("\n")));
        Failure::new(FailureKind::NoEdge, diagnostic)
    }
}

struct Fired {
    to: Option<String>,
    because: Reason,
    context: Map<String, Value>,
}
