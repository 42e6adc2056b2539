//! What an answerer is asked.

use super::params::Params;
use super::plan::Plan;
use crate::diag::Diagnostic;
use crate::model::Case;
use crate::pipeline::NodeIx;
use crate::prompt::Values;
use crate::script::View;
use std::cell::OnceCell;

/// A question to an answerer: the artifact of a node for a case. Parameters and prompt are made when asked for.
pub struct Request<'a> {
    /// The plan of the walk.
    pub plan: &'a Plan,
    /// The node.
    pub node: NodeIx,
    /// The run's id.
    pub run: &'a str,
    /// The case.
    pub case: &'a Case,
    /// The step's path.
    pub path: &'a str,
    /// Which visit of the node this is, from 0.
    pub visit: usize,
    make: &'a dyn Fn() -> Params,
    params: OnceCell<Params>,
}

impl<'a> Request<'a> {
    /// A question whose parameters `make` builds when they are first needed.
    pub fn new(
        (plan, node): (&'a Plan, NodeIx),
        (run, case, path): (&'a str, &'a Case, &'a str),
        visit: usize,
        make: &'a dyn Fn() -> Params,
    ) -> Self {
        Self { plan, node, run, case, path, visit, make, params: OnceCell::new() }
    }

    /// The node's name.
    pub fn node_name(&self) -> &str {
        &self.plan.nodes[self.node.0].name
    }

    /// What the answerer may know.
    pub fn params(&self) -> &View {
        &self.params.get_or_init(self.make).view
    }

    /// The parameters, if anyone asked for them.
    pub(super) fn seen(&self) -> Option<&Params> {
        self.params.get()
    }

    /// The rendered prompt of the node, if it has one.
    pub fn prompt(&self) -> Option<Result<String, Box<Diagnostic>>> {
        let template = self.plan.node(self.node).template.as_ref()?;
        Some(template.render(Values::of(self.params())))
    }
}
