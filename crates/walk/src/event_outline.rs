//! Outlines of recorded events, without the parts that only explanations need: replay reads them several times faster than whole
//! events.

use super::event::EventBody;
use super::event_kind::EventKind;
use super::name::{Name, Reason};
use super::outcome::EdgeOutcome;
use asterisk_base::model::Hash;
use serde::Deserialize;
use serde_json::{Error, Map, Value};
use std::borrow::Cow;

/// The parts of an event that the fold needs, borrowed from its JSON.
#[derive(Debug)]
pub enum EventOutline<'r> {
    /// [`EventBody::NodeEnter`].
    NodeEnter(EnterOutline<'r>),
    /// [`EventBody::NodeExit`].
    NodeExit(ExitOutline<'r>),
    /// [`EventBody::Transition`].
    Transition(TransitionOutline),
    /// [`EventBody::WalkError`].
    WalkError(ErrorOutline<'r>),
    /// [`EventBody::WalkComplete`].
    WalkComplete,
    /// [`EventBody::EdgeEvaluate`], unparsed: most of a journal's text, of which the fold needs the advisories only.
    EdgeEvaluate(UnreadDecision<'r>),
    /// Any other event that the fold reads, whole.
    Whole(EventBody),
    /// An event that the fold ignores.
    Other,
}

#[derive(Debug, Deserialize)]
pub struct EnterOutline<'r> {
    #[serde(borrow)]
    pub node: Cow<'r, str>,
}

#[derive(Debug, Deserialize)]
pub struct ExitOutline<'r> {
    #[serde(borrow)]
    pub node: Cow<'r, str>,
    pub artifact: Hash,
    /// Who answered.
    #[serde(borrow)]
    pub by: Cow<'r, str>,
    #[serde(default)]
    pub confidence: Option<f64>,
    /// The parameters that the answerer saw, if it read any.
    #[serde(default)]
    pub params: Option<Hash>,
}

#[derive(Debug, Deserialize)]
pub struct TransitionOutline {
    /// The node entered, or the pipeline's done name.
    pub to: Name,
    pub edge: Name,
    pub because: Reason,
    /// The counter incremented by the edge.
    #[serde(default)]
    pub counter: Option<Name>,
    /// Context added to the walk.
    #[serde(default)]
    pub context: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
pub struct ErrorOutline<'r> {
    #[serde(borrow)]
    pub node: Cow<'r, str>,
    pub kind: String,
    pub message: String,
}

/// A recorded decision, parsed on demand.
#[derive(Clone, Copy, Debug)]
pub struct UnreadDecision<'r>(&'r str);

#[derive(Deserialize)]
struct Outcomes {
    considered: Vec<OnlyOutcome>,
}

#[derive(Deserialize)]
struct OnlyOutcome {
    outcome: EdgeOutcome,
}

impl<'r> EventOutline<'r> {
    /// Reads the outline of an event's JSON.
    pub fn of(json: &'r str) -> Result<Self, Error> {
        Ok(match EventKind::of(json) {
            Some(EventKind::NodeEnter) => Self::NodeEnter(serde_json::from_str(json)?),
            Some(EventKind::NodeExit) => Self::NodeExit(serde_json::from_str(json)?),
            Some(EventKind::Transition) => Self::Transition(serde_json::from_str(json)?),
            Some(EventKind::WalkError) => Self::WalkError(serde_json::from_str(json)?),
            Some(EventKind::WalkComplete) => Self::WalkComplete,
            Some(EventKind::EdgeEvaluate) => Self::EdgeEvaluate(UnreadDecision(json)),
            Some(EventKind::WalkerSwitch | EventKind::Fork | EventKind::Verdict | EventKind::BranchError) => {
                Self::Whole(serde_json::from_str(json)?)
            }
            _ => Self::Other,
        })
    }
}

impl UnreadDecision<'_> {
    /// Parses the decision if any advisory fired.
    pub fn advised(self) -> Result<Option<EventBody>, Error> {
        let outcomes: Outcomes = serde_json::from_str(self.0)?;
        let advisories_fired = outcomes.considered.iter().any(|entry| entry.outcome == EdgeOutcome::Advisory);
        advisories_fired.then(|| serde_json::from_str(self.0)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ConsideredEdge;
    use serde_json::json;

    #[test]
    fn outlines_agree_with_events() {
        let outline = |json: &Value| format!("{:?}", EventOutline::of(&json.to_string()).expect("an event"));
        // `type` is the first key of recorded events, and of these.
        let text = |event: &EventBody| serde_json::to_string(event).expect("it is JSON");
        let done = EventBody::WalkComplete { node: "n".into() };
        assert!(matches!(EventOutline::of(&text(&done)), Ok(EventOutline::WalkComplete)));
        let transition = EventBody::Transition {
            from: "a".into(),
            to: "b".into(),
            edge: "e".into(),
            because: "it \"is\"".into(),
            counter: Some("e".into()),
            context: Map::from_iter([("x".to_owned(), json!(1))]),
        };
        let EventOutline::Transition(read) = EventOutline::of(&text(&transition)).expect("an event") else {
            panic!("{transition:?}")
        };
        let TransitionOutline { to, edge, because, counter, context } = read;
        assert_eq!(transition, EventBody::Transition { from: "a".into(), to, edge, because, counter, context });
        let failed = EventBody::WalkError { node: "n".into(), kind: "limit".into(), message: "m\n".into() };
        let written = text(&failed);
        let EventOutline::WalkError(read) = EventOutline::of(&written).expect("an event") else { panic!("{failed:?}") };
        assert_eq!(failed, EventBody::WalkError { node: (*read.node).into(), kind: read.kind, message: read.message });
        assert_eq!(outline(&json!({ "node": "n", "type": "node_enter" })), "Other", "it is never written like this");
    }

    #[test]
    fn only_decisions_with_advisories_are_parsed() {
        let decision = |outcome: EdgeOutcome| {
            let content = crate::Content::from(Hash::of(b"x"));
            let entry = ConsideredEdge { edge: "outcome\":\"advisory".into(), outcome, because: None, error: None, script: None };
            let (artifact, state, vars) = (content.clone(), content.clone(), content);
            EventBody::EdgeEvaluate { node: "n".into(), artifact, state, vars, considered: vec![entry] }
        };
        for (outcome, advisories_fired) in [(EdgeOutcome::Advisory, true), (EdgeOutcome::Fired, false)] {
            let event = decision(outcome);
            let text = serde_json::to_string(&event).expect("it is JSON");
            let Ok(EventOutline::EdgeEvaluate(unread)) = EventOutline::of(&text) else { panic!("{text}") };
            assert_eq!(unread.advised().expect("an event"), Some(event).filter(|_| advisories_fired));
        }
    }

    #[test]
    fn every_kind_is_read_from_json() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::of(&json!({ "type": kind.name() }).to_string()), Some(kind));
        }
        assert_eq!((EventKind::of("{}"), EventKind::of(r#"{"type":"zz"}"#)), (None, None));
    }
}
