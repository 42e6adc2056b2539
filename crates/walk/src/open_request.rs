//! External requests without an answer yet.

use super::event::{Event, EventBody};
use super::name::Name;
use asterisk_base::clock::Timestamp;
use asterisk_base::model::Hash;

/// An external request without an answer yet.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenRequest {
    pub id: i64,
    /// The node whose artifact is requested.
    pub node: Name,
    /// The step's path.
    pub path: Name,
    /// The advisor whose review is requested instead, if any.
    pub advisor: Option<Name>,
    /// The answerer.
    pub via: Name,
    /// The address of the prompt.
    pub prompt: Hash,
    /// When the step began.
    pub at: Timestamp,
    /// The validation errors of the last answer; empty before the first.
    pub errors: Vec<String>,
}

impl OpenRequest {
    /// The name of what is requested: the node, or with an advisor `NODE/ADVISOR`.
    pub fn name(&self) -> Name {
        requested(&self.node, self.advisor.as_ref())
    }

    /// Applies an event: a request that is opened, an answer that was rejected, an answer, or an attempt that did not pass.
    pub(super) fn take(open_requests: &mut Vec<Self>, event: &Event) {
        match &event.what {
            EventBody::Requested { id, node, advisor, via, prompt, .. } => open_requests.push(Self {
                id: *id,
                node: node.clone(),
                path: event.path.clone(),
                advisor: advisor.clone(),
                via: via.clone(),
                prompt: *prompt,
                at: event.at,
                errors: Vec::new(),
            }),
            EventBody::Rejected { id, errors, .. } => {
                if let Some(open) = open_requests.iter_mut().rfind(|open| open.id == *id) {
                    open.errors.clone_from(errors);
                }
            }
            // What follows is another request.
            EventBody::StepRetry { .. } | EventBody::Answered { .. } => open_requests.clear(),
            EventBody::AdvisorReview { advisor, .. } => open_requests.retain(|open| open.advisor.as_ref() != Some(advisor)),
            _ => {}
        }
    }
}

/// The name of what is requested of a node: its artifact, or the review of an advisor.
pub(super) fn requested(node: &Name, advisor: Option<&Name>) -> Name {
    advisor.map_or_else(|| node.clone(), |advisor| compact_str::format_compact!("{node}/{advisor}"))
}
