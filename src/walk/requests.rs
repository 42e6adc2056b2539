//! Requests to those who answer from outside of the process: recorded before anything leaves it, and adopted again by whoever goes on
//! with the walk.

use super::content::Content;
use super::drive::Walker;
use super::event::{Event, EventBody, Name};
use super::ports::{Commit, JournalError, Refusal};
use super::request::Request;
use crate::clock::{Timestamp, derived_id};
use crate::diag::Diagnostic;
use crate::model::{Hash, visible};
use crate::script::View;
use std::cell::RefCell;

/// A request that is not answered yet.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenRequest {
    /// Its id.
    pub id: i64,
    /// The node whose artifact is asked for.
    pub node: Name,
    /// The step's path.
    pub path: Name,
    /// Who is asked.
    pub via: Name,
    /// The address of the prompt.
    pub prompt: Hash,
    /// When the step began.
    pub at: Timestamp,
    /// What was wrong with the answer; nothing as long as there is none.
    pub complaints: Vec<String>,
}

/// What somebody is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptRequest {
    /// The request's id: the same whenever the same is asked again.
    pub id: i64,
    /// The prompt, with the complaints about the answer before.
    pub prompt: String,
}

impl OpenRequest {
    /// Takes in that somebody was asked, or told that the answer is no good.
    pub(super) fn take(asked: &mut Vec<Self>, event: &Event) {
        match &event.what {
            EventBody::Asked { id, node, via, prompt, .. } => asked.push(Self {
                id: *id,
                node: node.clone(),
                path: event.path.clone(),
                via: via.clone(),
                prompt: *prompt,
                at: event.at,
                complaints: Vec::new(),
            }),
            EventBody::Complained { id, complaints, .. } => {
                if let Some(open) = asked.iter_mut().rfind(|open| open.id == *id) {
                    open.complaints.clone_from(complaints);
                }
            }
            _ => {}
        }
    }
}

/// What of a step is recorded while it is being taken.
pub(super) struct RequestLog<'a> {
    walker: &'a Walker<'a>,
    case: Name,
    path: Name,
    at: Timestamp,
    asked: RefCell<Vec<OpenRequest>>,
    left: RefCell<StepRemainder>,
}

/// What is left of a step that was being taken, beside its events.
#[derive(Debug, Default)]
pub(super) struct StepRemainder {
    /// The events that are recorded already.
    pub(super) recorded: Vec<Event>,
    /// Why one of them could not be recorded.
    pub(super) broken: Option<JournalError>,
    /// Whether the step waits for an answer.
    pub(super) waits: bool,
}

impl<'a> RequestLog<'a> {
    pub(super) fn new(walker: &'a Walker<'a>, (case, path): (Name, Name), at: Timestamp, asked: &[OpenRequest]) -> Self {
        Self { walker, case, path, at, asked: RefCell::new(asked.to_vec()), left: RefCell::default() }
    }

    pub(super) fn left(self) -> StepRemainder {
        self.left.into_inner()
    }

    pub(super) fn wait(&self) {
        self.left.borrow_mut().waits = true;
    }

    /// Records an event at once.
    fn record(&self, what: EventBody) -> Result<(), Refusal> {
        let event = Event { case: self.case.clone(), path: self.path.clone(), at: self.at, what };
        let mut left = self.left.borrow_mut();
        if self.walker.journal.keeps()
            && let Err(error) = self.walker.journal.commit(Commit::of(vec![event.clone()]))
        {
            let refusal = Refusal::wait(Diagnostic::error("walk/journal", error.to_string()));
            left.broken = Some(error);
            return Err(refusal);
        }
        OpenRequest::take(&mut self.asked.borrow_mut(), &event);
        if let Some(watch) = self.walker.watch {
            watch(&event);
        }
        left.recorded.push(event);
        Ok(())
    }
}

impl Request<'_> {
    /// Records that `via` is asked, unless that is so already, and says what. Called before anything leaves the process.
    pub fn ask(&self, via: &str) -> Result<PromptRequest, Refusal> {
        let text = self.text().map_err(Refusal::failed)?;
        let prompt = Hash::of(text.as_bytes());
        let (last, asks) = {
            let asked = self.desk.asked.borrow();
            let mine = || asked.iter().filter(|open| open.via == via);
            (mine().next_back().cloned(), mine().count())
        };
        let complaints = last.as_ref().map(|last| last.complaints.clone()).unwrap_or_default();
        let id = match last {
            Some(open) if open.complaints.is_empty() && open.prompt == prompt => open.id,
            _ => {
                let id = derived_id(&["request", self.run, &self.case.id, self.path, via, &asks.to_string()]);
                let template = self.plan.node(self.node).template.as_ref().map(|template| template.hash());
                let node = self.plan.node(self.node).name.clone();
                let params = self.content();
                let call = self.call().and_then(Result::ok).and_then(|call| serde_json::to_value(call).ok());
                let call = call.map(|call| Content::new(View::plain(&call, "call")));
                self.desk.record(EventBody::Asked { id, node, via: via.into(), prompt, params, template, call })?;
                id
            }
        };
        Ok(PromptRequest { id, prompt: with_complaints(text, &complaints) })
    }

    /// Records what is wrong with the answer to the last request to `via`; the next prompt says so.
    pub fn complain(&self, via: &str, complaints: Vec<String>) -> Result<(), Refusal> {
        let Some(id) = self.last(via) else { return Ok(()) };
        self.desk.record(EventBody::Complained { id, via: via.into(), complaints })
    }

    /// Records that an attempt to have the last request to `via` answered failed.
    pub fn unanswered(&self, via: &str, message: &str) -> Result<(), Refusal> {
        let Some(id) = self.last(via) else { return Ok(()) };
        self.desk.record(EventBody::Unanswered { id, via: via.into(), message: message.to_owned() })
    }

    /// How often `via` was told that its answer to this is no good.
    pub fn rounds(&self, via: &str) -> usize {
        self.desk.asked.borrow().iter().filter(|open| open.via == via && !open.complaints.is_empty()).count()
    }

    /// Who was asked last, if anybody outside of the process was.
    pub fn asked_last(&self) -> Option<Name> {
        self.desk.asked.borrow().last().map(|open| open.via.clone())
    }

    fn last(&self, via: &str) -> Option<i64> {
        self.desk.asked.borrow().iter().rfind(|open| open.via == via).map(|open| open.id)
    }
}

/// A prompt with what was wrong with the answer before.
pub(super) fn with_complaints(mut prompt: String, complaints: &[String]) -> String {
    if !complaints.is_empty() {
        prompt.push_str("\n\n## Your last answer was not accepted\n\n");
        for complaint in complaints {
            // They repeat what was answered.
            prompt.push_str("- ");
            prompt.push_str(&visible(complaint).replace('\n', " "));
            prompt.push('\n');
        }
        prompt.push_str("\nAnswer again, with all of that mended: one JSON object, whole.\n");
    }
    prompt
}
