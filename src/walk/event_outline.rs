//! Recorded events without what only explanations need: what deciding history again reads, many times as fast as whole events.

use super::event::EventBody;
use super::event_kind::EventKind;
use super::name::{Name, Reason};
use super::outcome::EdgeOutcome;
use crate::model::Hash;
use serde::Deserialize;
use serde_json::{Error, Map, Value};
use std::borrow::Cow;

/// The parts of an event that a walk is folded of. They borrow the event's JSON.
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
    /// [`EventBody::EdgeEvaluate`], unread: most of a journal's text, of which a fold needs what advisories said.
    EdgeEvaluate(UnreadDecision<'r>),
    /// Any other event that the fold takes in, whole.
    Whole(EventBody),
    /// Any other event.
    Other,
}

/// A node that was entered.
#[derive(Debug, Deserialize)]
pub struct EnterOutline<'r> {
    /// The node.
    #[serde(borrow)]
    pub node: Cow<'r, str>,
}

/// A node that has its artifact.
#[derive(Debug, Deserialize)]
pub struct ExitOutline<'r> {
    /// The node.
    #[serde(borrow)]
    pub node: Cow<'r, str>,
    /// The artifact's address.
    pub artifact: Hash,
    /// Who decided.
    #[serde(borrow)]
    pub by: Cow<'r, str>,
    /// The artifact's confidence.
    #[serde(default)]
    pub confidence: Option<f64>,
}

/// Where a walk moved on to.
#[derive(Debug, Deserialize)]
pub struct TransitionOutline {
    /// The node entered, or the pipeline's done name.
    pub to: Name,
    /// The edge taken.
    pub edge: Name,
    /// Why.
    pub because: Reason,
    /// The counter that taking the edge added one to.
    #[serde(default)]
    pub counter: Option<Name>,
    /// What was added to the walk's context.
    #[serde(default)]
    pub context: Map<String, Value>,
}

/// Why a walk failed.
#[derive(Debug, Deserialize)]
pub struct ErrorOutline<'r> {
    /// Where.
    #[serde(borrow)]
    pub node: Cow<'r, str>,
    /// The error's kind.
    pub kind: String,
    /// What is wrong.
    pub message: String,
}

/// A recorded decision that is read when it is asked for.
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
    /// Reads the outline of an event that was written as JSON.
    pub fn of(json: &'r str) -> Result<Self, Error> {
        Ok(match EventKind::of(json) {
            Some(EventKind::NodeEnter) => Self::NodeEnter(serde_json::from_str(json)?),
            Some(EventKind::NodeExit) => Self::NodeExit(serde_json::from_str(json)?),
            Some(EventKind::Transition) => Self::Transition(serde_json::from_str(json)?),
            Some(EventKind::WalkError) => Self::WalkError(serde_json::from_str(json)?),
            Some(EventKind::WalkComplete) => Self::WalkComplete,
            Some(EventKind::EdgeEvaluate) => Self::EdgeEvaluate(UnreadDecision(json)),
            Some(EventKind::WalkerSwitch | EventKind::Fork) => Self::Whole(serde_json::from_str(json)?),
            _ => Self::Other,
        })
    }
}

impl UnreadDecision<'_> {
    /// The whole decision, if advisories spoke at it.
    pub fn advised(self) -> Result<Option<EventBody>, Error> {
        let outcomes: Outcomes = serde_json::from_str(self.0)?;
        let spoke = outcomes.considered.iter().any(|entry| entry.outcome == EdgeOutcome::Advisory);
        spoke.then(|| serde_json::from_str(self.0)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::ConsideredEdge;
    use serde_json::json;

    #[test]
    fn an_outline_says_what_the_event_says() {
        let outline = |json: &Value| format!("{:?}", EventOutline::of(&json.to_string()).expect("an event"));
        // `type` is the first key of what is written, and of these.
        let text = |event: &EventBody| serde_json::to_string(event).expect("it is JSON");
        let done = EventBody::WalkComplete { node: "n".into() };
        assert!(matches!(EventOutline::of(&text(&done)), Ok(EventOutline::WalkComplete)));
        let way = EventBody::Transition {
            from: "a".into(),
            to: "b".into(),
            edge: "e".into(),
            because: "it \"is\"".into(),
            counter: Some("e".into()),
            context: Map::from_iter([("x".to_owned(), json!(1))]),
        };
        let EventOutline::Transition(read) = EventOutline::of(&text(&way)).expect("an event") else { panic!("{way:?}") };
        let TransitionOutline { to, edge, because, counter, context } = read;
        assert_eq!(way, EventBody::Transition { from: "a".into(), to, edge, because, counter, context });
        let failed = EventBody::WalkError { node: "n".into(), kind: "limit".into(), message: "m\n".into() };
        let written = text(&failed);
        let EventOutline::WalkError(read) = EventOutline::of(&written).expect("an event") else { panic!("{failed:?}") };
        assert_eq!(failed, EventBody::WalkError { node: (*read.node).into(), kind: read.kind, message: read.message });
        assert_eq!(outline(&json!({ "node": "n", "type": "node_enter" })), "Other", "nobody writes it so");
    }

    #[test]
    fn of_decisions_those_are_read_at_which_advisories_spoke() {
        let decision = |outcome: EdgeOutcome| {
            let content = crate::walk::Content::from(Hash::of(b"x"));
            let entry = ConsideredEdge { edge: "outcome\":\"advisory".into(), outcome, because: None, error: None, script: None };
            let (artifact, state, vars) = (content.clone(), content.clone(), content);
            EventBody::EdgeEvaluate { node: "n".into(), artifact, state, vars, considered: vec![entry] }
        };
        for (outcome, spoke) in [(EdgeOutcome::Advisory, true), (EdgeOutcome::Fired, false)] {
            let event = decision(outcome);
            let text = serde_json::to_string(&event).expect("it is JSON");
            let Ok(EventOutline::EdgeEvaluate(unread)) = EventOutline::of(&text) else { panic!("{text}") };
            assert_eq!(unread.advised().expect("an event"), Some(event).filter(|_| spoke));
        }
    }

    #[test]
    fn every_kind_is_known_by_what_is_written() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::of(&json!({ "type": kind.name() }).to_string()), Some(kind));
        }
        assert_eq!((EventKind::of("{}"), EventKind::of(r#"{"type":"zz"}"#)), (None, None));
    }
}
