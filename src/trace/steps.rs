//! The steps of walks, put together from the events of their record.

use super::crew::{Crew, Walked};
use crate::clock::Timestamp;
use crate::model::Hash;
use crate::store::StoreError;
use crate::walk::{Branch, By, Considered, Content, Event, FIRST, Name, Reason, What};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

/// A step of a walk, as it was recorded.
#[derive(Clone, Debug)]
pub struct Step {
    /// The case.
    pub case: Name,
    /// The step's hierarchical path.
    pub path: Name,
    /// The node.
    pub node: Name,
    /// When.
    pub at: Timestamp,
    /// Which texts of the run it went by.
    pub generation: u64,
    /// The address of the list of those texts.
    pub manifest: Hash,
    /// Who took it, of a team.
    pub walker: Option<Walked>,
    /// The masks that were on it, the outermost first.
    pub masks: Vec<Name>,
    /// Who answered: `script`, `stub`, `agent`, `human`; nothing if the step failed before.
    pub by: Option<Name>,
    /// The address of the tool's call that answered it, if one was made.
    pub call: Option<Hash>,
    /// The addresses of the artifact, the state and the vars that its edges were decided on, if they were.
    pub inputs: Option<[Hash; 3]>,
    /// Every edge considered, in the order considered.
    pub considered: Vec<Considered>,
    /// Where the walk went from there.
    pub went: Went,
    /// Whether it is of a walk in the place of a node, or of a branch for one of a node's items.
    pub within: bool,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Went {
    /// The walk goes on, or is over with the pipeline's done name.
    To {
        /// The node entered, or the done name.
        to: Name,
        /// The edge taken, or `fallback`.
        edge: Name,
        /// Why.
        because: Reason,
        /// What was added to the walk's context.
        context: Map<String, Value>,
    },
    /// The walk is over, for want of any edge.
    Over,
    /// The walk failed.
    Failed {
        /// The error's kind.
        kind: String,
        /// What is wrong.
        message: String,
    },
    /// The record ends here.
    Open,
}

/// Puts steps together from events in their order.
#[derive(Debug)]
pub(super) struct Steps {
    began: Hash,
    /// Of cases that go by other texts than those the run began with.
    adopted: HashMap<Name, (u64, Hash)>,
    open: Option<Step>,
    /// Steps of nodes that are being walked, each under its case and path: they end after what is walked in their place.
    walked: BTreeMap<(Name, Name), Step>,
    crew: Crew,
    /// Calls that were made, under the case and path of the step that they are for: they are recorded ahead of it.
    called: BTreeMap<(Name, Name), Hash>,
}

impl Steps {
    /// Of a run that began with these texts.
    pub(super) fn new(began: Hash) -> Self {
        Self {
            began,
            adopted: HashMap::new(),
            open: None,
            walked: BTreeMap::new(),
            crew: Crew::default(),
            called: BTreeMap::new(),
        }
    }

    /// Takes an event, and gives the step that it shows to be complete.
    pub(super) fn take(&mut self, event: Event) -> Option<Step> {
        let same = self.open.as_ref().is_some_and(|step| step.case == event.case && step.path == event.path);
        let done = if same { None } else { self.open.take() };
        let Event { case, path, at, what } = event;
        match what {
            What::Adopt { generation, manifest } => {
                self.adopted.insert(case, (generation, manifest));
            }
            What::NodeEnter { node } => {
                // The same step again: it was stopped between the two.
                let done = done.or_else(|| self.open.take());
                self.open = Some(self.begun(case, path, at, node));
                return done;
            }
            What::WalkerSwitch { to, because, .. } => self.crew.switch(&case, &path, to, because),
            What::Asked { call: Some(call), .. } => {
                self.called.insert((case, path), call.hash());
            }
            What::Masked { masks, .. } => self.change(|step| step.masks = masks),
            What::SubWalk { .. } | What::Fork { by: By::Items, .. } => {
                if let Some(step) = self.open.take() {
                    self.walked.insert((case, path), step);
                }
            }
            What::NodeExit { by, .. } => {
                self.open = self.walked.remove(&(case, path)).or_else(|| self.open.take());
                self.change(|step| step.by = Some(by));
            }
            What::EdgeEvaluate { artifact, state, vars, considered, .. } => self.change(|step| {
                step.inputs = Some([&artifact, &state, &vars].map(Content::hash));
                step.considered = considered;
            }),
            What::Transition { to, edge, because, context, .. } => {
                self.change(|step| step.went = Went::To { to, edge, because, context });
            }
            What::Fork { by: By::Edges, branches, .. } => {
                let went = apart(&branches);
                self.change(|step| step.went = went);
            }
            What::WalkComplete { .. } => self.change(|step| {
                if step.went == Went::Open {
                    step.went = Went::Over;
                }
            }),
            What::WalkError { node, kind, message } | What::BranchError { node, kind, message, .. } => {
                // A walk that could not even begin its step has no other event of it.
                if self.open.is_none() {
                    self.open = Some(self.begun(case, path, at, node));
                }
                self.change(|step| step.went = Went::Failed { kind, message });
            }
            What::Fork { .. }
            | What::Join { .. }
            | What::Barrier { .. }
            | What::Reload { .. }
            | What::Shadow { .. }
            | What::ThermalWarning { .. }
            | What::Asked { .. }
            | What::Complained { .. }
            | What::Unanswered { .. }
            | What::Reopened { .. } => {}
        }
        done
    }

    /// The steps that are not complete when there are no more events.
    pub(super) fn end(self) -> impl Iterator<Item = Step> {
        self.open.into_iter().chain(self.walked.into_values().rev())
    }

    fn begun(&mut self, case: Name, path: Name, at: Timestamp, node: Name) -> Step {
        let (generation, manifest) = self.adopted.get(&case).copied().unwrap_or((FIRST, self.began));
        let walker = self.crew.at(&case, &path);
        let call = self.called.remove(&(case.clone(), path.clone()));
        let (masks, by, inputs, considered) = (Vec::new(), None, None, Vec::new());
        let within = path.match_indices('/').any(|(at, _)| self.walked.contains_key(&(case.clone(), path[..at].into())));
        Step { case, path, node, at, generation, manifest, walker, masks, by, call, inputs, considered, went: Went::Open, within }
    }

    fn change(&mut self, change: impl FnOnce(&mut Step)) {
        if let Some(step) = &mut self.open {
            change(step);
        }
    }
}

impl Step {
    /// Whether it is of the case's own walk, and not of one in the place of a node.
    pub fn is_own(&self) -> bool {
        !self.within
    }
}

/// Where a walk goes by several edges at once.
pub(super) fn apart(branches: &[Branch]) -> Went {
    let all = |text: &dyn Fn(&Branch) -> String| branches.iter().map(text).collect::<Vec<_>>().join(" & ");
    let because = |branch: &Branch| branch.because.as_deref().unwrap_or_default().to_owned();
    let mut context = Map::new();
    for branch in branches {
        context.extend(branch.context.clone());
    }
    Went::To {
        to: all(&|branch| branch.node.to_string()).into(),
        edge: all(&|branch| branch.edge.as_deref().unwrap_or_default().to_owned()).into(),
        because: all(&because).into(),
        context,
    }
}

/// A record that contradicts itself.
pub(super) fn damaged(what: String) -> crate::session::SessionError {
    StoreError::Damaged(what).into()
}
