//! The port to whatever answers nodes.

use super::agent::Agent;
use super::answer::{NodeAnswer, Refusal};
use super::request::Request;

/// Answers nodes: a script, a stub, a person, an agent behind files or a network. An answerer that sends anything out of the
/// process records the request first, with [`Request::dispatch`].
pub trait Answerer: Send + Sync {
    /// The name used by `--via` and the journal.
    fn name(&self) -> &str;

    /// Returns the artifact of a node.
    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal>;

    /// Called after an answer to a request of that case was committed, to acknowledge it to the agent.
    fn recorded(&self, _case: &str, _agent: &Agent) {}
}

impl<A: Answerer + ?Sized> Answerer for std::sync::Arc<A> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        (**self).answer(request)
    }

    fn recorded(&self, case: &str, agent: &Agent) {
        (**self).recorded(case, agent);
    }
}
