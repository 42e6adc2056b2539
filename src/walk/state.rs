//! The state of a walk: a fold over its events, and nothing else (`design.md` §2.2).

use super::agent::Tokens;
use super::asked::Open;
use super::content::Content;
use super::event::{Event, Name, Outcome, Reason, What};
use super::plans::FIRST;
use super::team::Moment;
use crate::clock::Timestamp;
use crate::script::View;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// How deep what edges add to the context may nest: a context is handed back to rules, and one that grew out of itself at
/// every turn could not be read again.
pub(super) const CONTEXT_DEPTH: usize = 32;
/// How large the context may grow, in characters of its JSON.
pub(super) const CONTEXT_SIZE: usize = 1 << 20;

/// How far a walk is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not over.
    #[default]
    Running,
    /// Stopped between two steps; it can be resumed.
    Paused,
    /// Over.
    Done,
    /// Failed.
    Error,
}

/// One transition of the past.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit {
    /// The node that was left.
    pub node: Name,
    /// The edge taken.
    pub edge: Name,
    /// Why.
    pub because: Reason,
    /// The advisories that spoke, each with its reason.
    pub advisories: Vec<(Name, Reason)>,
    /// When.
    pub at: Timestamp,
}

/// Where a walk is, and what it has been through.
#[derive(Clone, Debug)]
pub struct WalkState {
    /// The node to go on at; absent before the first step and after the last.
    pub node: Option<Name>,
    /// How far the walk is.
    pub status: Status,
    /// Why it failed: kind and message.
    pub error: Option<(String, String)>,
    /// Steps completed. The next step's number is one more.
    pub steps: u64,
    /// The nodes entered, in order.
    pub path: Vec<Name>,
    /// The transitions so far.
    pub history: Vec<Visit>,
    /// The counters taken; a counter never taken is 0 and absent here.
    pub loops: BTreeMap<String, i64>,
    /// What edges added, later keys winning.
    pub context: Map<String, Value>,
    /// The latest artifact's confidence.
    pub confidence: Option<f64>,
    /// Who took the last step, of a walk with a team.
    pub walker: Option<Name>,
    /// Steps given to another walker than the step before.
    pub handoffs: i64,
    /// The symbolic ids bound by effects.
    pub bindings: BTreeMap<String, i64>,
    /// The latest artifact of each node visited.
    pub prior: BTreeMap<Name, Content>,
    /// How often each node was entered to completion.
    pub visits: BTreeMap<Name, usize>,
    /// When the first step began.
    pub started_at: Option<Timestamp>,
    /// Which texts of the run the last step went by; 1 for those the run began with.
    pub generation: u64,
    /// How long the answers took so far, those of walks within this one too, in milliseconds.
    pub spent_ms: u64,
    /// How many answers there were, those of walks within this one too.
    pub answers: u64,
    /// What the answers took so far, those of walks within this one too.
    pub tokens: Tokens,
    /// What was asked outside of the process for the step to be taken, in order; see [`WalkState::waits`].
    pub asked: Vec<Open>,
    /// Whether it was over and goes on because somebody wants it to.
    pub reopened: bool,
    /// Of a walk within a walk: what the paths of its steps begin with (`3/court/`); nothing of a case's own walk.
    pub place: Name,
    /// The walk that goes on in the place of the node that the walk is at.
    pub inner: Option<Box<Self>>,
    /// What advisories said at the node in question.
    advice: Vec<(Name, Reason)>,
    views: Views,
}

/// The parts of the state that rules see, kept as shared views so that a step rebuilds only what changed.
#[derive(Clone, Debug)]
struct Views {
    history: View,
    loops: View,
    context: View,
}

impl Default for WalkState {
    fn default() -> Self {
        Self {
            node: None,
            status: Status::Running,
            error: None,
            steps: 0,
            path: Vec::new(),
            history: Vec::new(),
            loops: BTreeMap::new(),
            context: Map::new(),
            confidence: None,
            walker: None,
            handoffs: 0,
            bindings: BTreeMap::new(),
            prior: BTreeMap::new(),
            visits: BTreeMap::new(),
            started_at: None,
            generation: FIRST,
            spent_ms: 0,
            answers: 0,
            tokens: Tokens::default(),
            asked: Vec::new(),
            reopened: false,
            place: Name::default(),
            inner: None,
            advice: Vec::new(),
            views: Views {
                history: View::list("state.history", []),
                loops: loops_view(&BTreeMap::new()),
                context: context_view(&Map::new()),
            },
        }
    }
}

impl WalkState {
    /// The state after all of these events, from the beginning.
    pub fn fold<'e>(events: impl IntoIterator<Item = &'e Event>) -> Self {
        let mut state = Self::default();
        for event in events {
            state.apply(event);
        }
        state
    }

    /// The path of the next step, or of the one being taken.
    pub fn next_path(&self) -> Name {
        compact_str::format_compact!("{}{}", self.place, self.steps + 1)
    }

    /// The walk that goes on: this one, or the innermost within it that is not over.
    pub fn ongoing(&self) -> &Self {
        self.inner.as_ref().filter(|inner| inner.status != Status::Done).map_or(self, |inner| inner.ongoing())
    }

    /// The request that the walk waits for an answer to, if any.
    pub fn waits(&self) -> Option<&Open> {
        if matches!(self.status, Status::Done | Status::Error) { None } else { self.ongoing().asked.last() }
    }

    /// The last artifact.
    pub fn last_artifact(&self) -> Option<&Content> {
        self.path.last().and_then(|node| self.prior.get(node))
    }

    /// How a walk begins that goes on in the place of a node of this one: it knows what this one knows. What it counts and adds
    /// to the context is its own.
    #[must_use]
    pub fn within(&self, node: &Name, path: &Name) -> Self {
        let own = compact_str::format_compact!("{node}/");
        let earlier = |(name, visits): (&Name, &usize)| Some((Name::from(name.strip_prefix(own.as_str())?), *visits));
        let mut inner = Self::with(self.loops.clone(), self.context.clone(), Vec::new());
        inner.place = compact_str::format_compact!("{path}/{node}/");
        inner.confidence = self.confidence;
        inner.bindings.clone_from(&self.bindings);
        inner.prior.clone_from(&self.prior);
        inner.visits = self.visits.iter().filter_map(earlier).collect();
        inner.generation = self.generation;
        inner
    }

    /// What stays of a walk that went on in the place of a node: its artifacts, how often its nodes were visited, what its effects
    /// bound.
    fn after(&mut self, node: &Name, inner: Self) {
        let own = |name: &Name| compact_str::format_compact!("{node}/{name}");
        for name in &inner.path {
            if let Some(artifact) = inner.prior.get(name) {
                self.prior.insert(own(name), artifact.clone());
            }
        }
        self.visits.extend(inner.visits.iter().map(|(name, visits)| (own(name), *visits)));
        self.bindings.extend(inner.bindings);
    }

    /// Takes one event in.
    pub fn apply(&mut self, event: &Event) {
        if let What::NodeExit { took_ms, agent, .. } = &event.what {
            self.spent_ms += took_ms;
            self.answers += 1;
            if let Some(tokens) = agent.as_ref().and_then(|agent| agent.tokens.as_ref()) {
                self.tokens.add(tokens);
            }
        }
        if let Some(inner) = &mut self.inner
            && event.path.starts_with(inner.place.as_str())
        {
            inner.apply(event);
            self.generation = inner.generation;
            if inner.status == Status::Error {
                self.status = Status::Error;
                self.error.clone_from(&inner.error);
            }
            return;
        }
        match &event.what {
            What::SubWalk { node, .. } => self.inner = Some(Box::new(self.within(node, &event.path))),
            What::NodeEnter { node } => {
                self.node = Some(node.clone());
                self.path.push(node.clone());
                self.status = Status::Running;
                self.error = None;
                self.started_at.get_or_insert(event.at);
            }
            What::NodeExit { node, artifact, confidence, bindings, .. } => {
                if let Some(inner) = self.inner.take() {
                    self.after(node, *inner);
                }
                self.asked.clear();
                self.confidence = confidence.or(self.confidence);
                self.bindings.extend(bindings.iter().map(|(name, id)| (name.clone(), *id)));
                self.prior.insert(node.clone(), artifact.clone());
                *self.visits.entry(node.clone()).or_default() += 1;
                self.steps += 1;
            }
            What::EdgeEvaluate { considered, .. } => {
                let spoke = considered.iter().filter(|entry| entry.outcome == Outcome::Advisory);
                self.advice.extend(spoke.map(|entry| (entry.edge.clone(), entry.because.clone().unwrap_or_default())));
            }
            What::Transition { from, to, edge, because, counter, context } => {
                if let Some(counter) = counter {
                    *self.loops.entry(counter.to_string()).or_default() += 1;
                    self.views.loops = loops_view(&self.loops);
                }
                if !context.is_empty() {
                    self.context.extend(context.iter().map(|(key, value)| (key.clone(), value.clone())));
                    self.views.context = context_view(&self.context);
                }
                let visit = Visit {
                    node: from.clone(),
                    edge: edge.clone(),
                    because: because.clone(),
                    advisories: std::mem::take(&mut self.advice),
                    at: event.at,
                };
                self.views.history = self.views.history.with(visit_view(&visit));
                self.history.push(visit);
                self.node = Some(to.clone());
            }
            What::Adopt { generation, .. } => self.generation = *generation,
            What::WalkerSwitch { from, to, .. } => {
                self.handoffs += i64::from(from.is_some());
                self.walker = Some(to.clone());
            }
            What::Asked { .. } | What::Complained { .. } => Open::take(&mut self.asked, event),
            What::Reopened { node, .. } => {
                self.status = Status::Running;
                self.node = Some(node.clone());
                self.error = None;
                self.asked.clear();
                self.inner = None;
                self.reopened = true;
            }
            What::Unanswered { .. }
            | What::Barrier { .. }
            | What::Reload { .. }
            | What::Shadow { .. }
            | What::Masked { .. }
            | What::ThermalWarning { .. } => {}
            What::WalkComplete { .. } => {
                self.status = Status::Done;
                self.node = None;
            }
            What::WalkError { node, kind, message } => {
                self.asked.clear();
                self.status = Status::Error;
                self.node = Some(node.clone());
                self.error = Some((kind.clone(), message.clone()));
            }
        }
    }

    /// The state as rules see it at a node (`design.md` §5): `confidence` is that of the artifact in question if it has one.
    pub fn view(&self, node: &Name, confidence: Option<f64>, now: Timestamp, chance: f64, walker: &View) -> View {
        self.view_by(node, confidence, (now, chance), (walker, self.handoffs))
    }

    /// The same in a step that begins with a change of walkers: with the handoffs that there are then.
    pub(super) fn view_by(
        &self,
        node: &Name,
        confidence: Option<f64>,
        (now, chance): Moment,
        (walker, handoffs): (&View, i64),
    ) -> View {
        let elapsed = self.started_at.map_or(0.0, |start| now.seconds_since(start));
        View::object(
            "state",
            [
                ("chance", View::from(chance)),
                ("confidence", View::from(confidence.or(self.confidence).unwrap_or(0.0))),
                ("context", self.views.context.clone()),
                ("elapsed_s", View::from(elapsed)),
                ("handoffs", View::from(handoffs)),
                ("history", self.views.history.clone()),
                ("loops", self.views.loops.clone()),
                ("node", View::from(&**node)),
                ("steps", View::from(i64::try_from(self.steps).unwrap_or(i64::MAX))),
                ("walker", walker.clone()),
            ],
        )
    }

    /// A state with these counters, context and history (for `route`: absent parts are empty).
    pub fn with(loops: BTreeMap<String, i64>, context: Map<String, Value>, history: Vec<Visit>) -> Self {
        let mut state = Self::default();
        state.views.loops = loops_view(&loops);
        state.views.context = context_view(&context);
        state.views.history = View::list("state.history", history.iter().map(visit_view));
        state.steps = history.len() as u64;
        (state.loops, state.context, state.history) = (loops, context, history);
        state
    }
}

/// The state as rules saw it, of its record: what [`WalkState::view`] made, and its canonical text.
pub fn recorded_state(recorded: &Value) -> View {
    let entries = |value: &Value, part: &dyn Fn(&str, &Value) -> View| {
        let fields = value.as_object().into_iter().flatten();
        fields.map(|(name, value)| (name.clone(), part(name, value))).collect::<Vec<_>>()
    };
    let any = |value: &Value| View::of(value, &crate::model::Kind::Any, "context");
    let walker = |value: &Value| {
        let part = |name: &str, value: &Value| match name {
            "traits" => View::map("state.walker.traits", entries(value, &|_, value| any(value)), View::null()),
            _ => View::plain(value, "state.walker"),
        };
        View::object("state.walker", entries(value, &part))
    };
    let part = |name: &str, value: &Value| match name {
        "context" => View::map("state.context", entries(value, &|_, value| any(value)), View::null()),
        "history" => {
            let visit = |visit: &Value| View::object("visit", entries(visit, &|name, value| View::plain(value, name)));
            View::list("state.history", value.as_array().into_iter().flatten().map(visit))
        }
        "loops" => View::map("state.loops", entries(value, &|name, value| View::plain(value, name)), View::from(0)),
        "walker" => walker(value),
        name => View::plain(value, name),
    };
    View::object("state", entries(recorded, &part))
}

fn visit_view(visit: &Visit) -> View {
    let edge = View::from(&*visit.edge);
    View::object(
        "visit",
        [("at", View::from(visit.at.to_string())), ("edge", edge.clone()), ("node", View::from(&*visit.node)), ("outcome", edge)],
    )
}

fn loops_view(loops: &BTreeMap<String, i64>) -> View {
    View::map("state.loops", loops.iter().map(|(name, count)| (name.as_str(), View::from(*count))), View::from(0))
}

fn context_view(context: &Map<String, Value>) -> View {
    let entries = context.iter().map(|(name, value)| (name.as_str(), View::of(value, &crate::model::Kind::Any, "context")));
    View::map("state.context", entries, View::null())
}
