//! A request to somebody outside of the process that is not answered yet.

use super::event::{Event, EventBody};
use super::name::Name;
use crate::clock::Timestamp;
use crate::model::Hash;

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
