//! The port to those who answer nodes.

use super::agent::Agent;
use super::answer::{NodeAnswer, Refusal};
use super::request::Request;

/// Answers nodes: a script, a stub, a person, an agent behind files or a network. The walk knows no more of them. Whoever lets
/// anything out of the process says so before, with [`Request::ask`].
pub trait Answerer: Send + Sync {
    /// Its name, as `--via` and the journal have it.
    fn name(&self) -> &str;

    /// The artifact for a node.
    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal>;

    /// Is told that its answer to a request for that case was committed: it may tell whoever gave it.
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
