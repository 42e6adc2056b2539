//! The steps of walks, put together from the events of their record.

use super::walker_assignments::{StepWalker, WalkerAssignments};
use crate::clock::Timestamp;
use crate::model::Hash;
use crate::store::StoreError;
use crate::walk::{Branch, BranchKind, ConsideredEdge, Content, Event, EventBody, FIRST, Name, Reason};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

/// A step of a walk, as it was recorded.
#[derive(Clone, Debug)]
pub struct JournalStep {
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
    pub walker: Option<StepWalker>,
    /// The masks that were on it, the outermost first.
    pub masks: Vec<Name>,
    /// Who answered: `script`, `stub`, `agent`, `human`; nothing if the step failed before.
    pub by: Option<Name>,
    /// The address of the tool's call that answered it, if one was made.
    pub call: Option<Hash>,
    /// The addresses of the artifact, the state and the vars that its edges were decided on, if they were.
    pub inputs: Option<[Hash; 3]>,
    /// Every edge considered, in the order considered.
    pub considered: Vec<ConsideredEdge>,
    /// Where the walk went from there.
    pub went: StepEnd,
    /// Whether it is of a walk in the place of a node, or of a branch for one of a node's items.
    pub within: bool,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum StepEnd {
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
pub(super) struct StepAssembler {
    began: Hash,
    /// Of cases that go by other texts than those the run began with.
    adopted: HashMap<Name, (u64, Hash)>,
    open: Option<JournalStep>,
    /// Steps of nodes that are being walked, each under its case and path: they end after what is walked in their place.
    walked: BTreeMap<(Name, Name), JournalStep>,
    crew: WalkerAssignments,
    /// Calls that were made, under the case and path of the step that they are for: they are recorded ahead of it.
    called: BTreeMap<(Name, Name), Hash>,
}

impl StepAssembler {
    /// Of a run that began with these texts.
    pub(super) fn new(began: Hash) -> Self {
        Self {
            began,
            adopted: HashMap::new(),
            open: None,
            walked: BTreeMap::new(),
            crew: WalkerAssignments::default(),
            called: BTreeMap::new(),
        }
    }

    /// Takes an event, and gives the step that it shows to be complete.
    pub(super) fn take(&mut self, event: Event) -> Option<JournalStep> {
        let same = self.open.as_ref().is_some_and(|step| step.case == event.case && step.path == event.path);
        let done = if same { None } else { self.open.take() };
        let Event { case, path, at, what } = event;
        match what {
            EventBody::Adopt { generation, manifest } => {
                self.adopted.insert(case, (generation, manifest));
            }
            EventBody::NodeEnter { node } => {
                // The same step again: it was stopped between the two.
                let done = done.or_else(|| self.open.take());
                self.open = Some(self.begun(case, path, at, node));
                return done;
            }
            EventBody::WalkerSwitch { to, because, .. } => self.crew.switch(&case, &path, to, because),
            EventBody::Asked { call: Some(call), .. } => {
                self.called.insert((case, path), call.hash());
            }
            EventBody::Masked { masks, .. } => self.change(|step| step.masks = masks),
            EventBody::SubWalk { .. } | EventBody::Fork { by: BranchKind::Items, .. } => {
                if let Some(step) = self.open.take() {
                    self.walked.insert((case, path), step);
                }
            }
            EventBody::NodeExit { by, .. } => {
                self.open = self.walked.remove(&(case, path)).or_else(|| self.open.take());
                self.change(|step| step.by = Some(by));
            }
            EventBody::EdgeEvaluate { artifact, state, vars, considered, .. } => self.change(|step| {
                step.inputs = Some([&artifact, &state, &vars].map(Content::hash));
                step.considered = considered;
            }),
            EventBody::Transition { to, edge, because, context, .. } => {
                self.change(|step| step.went = StepEnd::To { to, edge, because, context });
            }
            EventBody::Fork { by: BranchKind::Edges, branches, .. } => {
                let went = apart(&branches);
                self.change(|step| step.went = went);
            }
            EventBody::WalkComplete { .. } => self.change(|step| {
                if step.went == StepEnd::Open {
                    step.went = StepEnd::Over;
                }
            }),
            EventBody::WalkError { node, kind, message } | EventBody::BranchError { node, kind, message, .. } => {
                // A walk that could not even begin its step has no other event of it.
                if self.open.is_none() {
                    self.open = Some(self.begun(case, path, at, node));
                }
                self.change(|step| step.went = StepEnd::Failed { kind, message });
            }
            EventBody::Fork { .. }
            | EventBody::Join { .. }
            | EventBody::Barrier { .. }
            | EventBody::Reload { .. }
            | EventBody::Shadow { .. }
            | EventBody::ThermalWarning { .. }
            | EventBody::Asked { .. }
            | EventBody::Complained { .. }
            | EventBody::Unanswered { .. }
            | EventBody::Reopened { .. } => {}
        }
        done
    }

    /// The steps that are not complete when there are no more events.
    pub(super) fn end(self) -> impl Iterator<Item = JournalStep> {
        self.open.into_iter().chain(self.walked.into_values().rev())
    }

    fn begun(&mut self, case: Name, path: Name, at: Timestamp, node: Name) -> JournalStep {
        let (generation, manifest) = self.adopted.get(&case).copied().unwrap_or((FIRST, self.began));
        let walker = self.crew.at(&case, &path);
        let call = self.called.remove(&(case.clone(), path.clone()));
        let (masks, by, inputs, considered) = (Vec::new(), None, None, Vec::new());
        let within = path.match_indices('/').any(|(at, _)| self.walked.contains_key(&(case.clone(), path[..at].into())));
        JournalStep {
            case,
            path,
            node,
            at,
            generation,
            manifest,
            walker,
            masks,
            by,
            call,
            inputs,
            considered,
            went: StepEnd::Open,
            within,
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut JournalStep)) {
        if let Some(step) = &mut self.open {
            change(step);
        }
    }
}

impl JournalStep {
    /// Whether it is of the case's own walk, and not of one in the place of a node.
    pub fn is_own(&self) -> bool {
        !self.within
    }
}

/// Where a walk goes by several edges at once.
pub(super) fn apart(branches: &[Branch]) -> StepEnd {
    let all = |text: &dyn Fn(&Branch) -> String| branches.iter().map(text).collect::<Vec<_>>().join(" & ");
    let because = |branch: &Branch| branch.because.as_deref().unwrap_or_default().to_owned();
    let mut context = Map::new();
    for branch in branches {
        context.extend(branch.context.clone());
    }
    StepEnd::To {
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
