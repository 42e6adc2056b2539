//! What an answerer is asked.

use super::answer::Refusal;
use super::bare_prompt::{bare, called};
use super::content::Content;
use super::event::EventBody;
use super::name::Name;
use super::params::Params;
use super::plan::Plan;
use super::request_log::RequestLog;
use super::tool::Call;
use crate::clock::derived_id;
use crate::diag::Diagnostic;
use crate::model::{Case, Hash, visible};
use crate::pipeline::NodeIx;
use crate::prompt::Values;
use crate::script::View;
use serde_json::Value;
use std::cell::OnceCell;

/// What somebody is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptRequest {
    /// The request's id: the same whenever the same is asked again.
    pub id: i64,
    /// The prompt, with the complaints about the answer before.
    pub prompt: String,
}

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
    /// Who is to answer, in the order to be tried: as the node says, or else the walker; empty if neither does.
    pub via: &'a [Name],
    pub(super) log: &'a RequestLog<'a>,
    pub(super) make: &'a dyn Fn() -> Params,
    pub(super) params: OnceCell<Params>,
}

impl Request<'_> {
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

    /// Their address.
    pub(super) fn content(&self) -> Content {
        self.params.get_or_init(self.make).content.clone()
    }

    /// What somebody outside of the process is told: the prompt, or for a node without one what it is and all that is known.
    pub fn text(&self) -> Result<String, Box<Diagnostic>> {
        if let Some(call) = self.call() {
            return call.map(|call| called(self.plan, self.node, &call));
        }
        self.prompt().unwrap_or_else(|| Ok(bare(self.plan, self.node, &self.params().json())))
    }

    /// The tool that is to be called, with its arguments, if the node is a tool's.
    pub fn call(&self) -> Option<Result<Call, Box<Diagnostic>>> {
        let tool = self.plan.node(self.node).tool.as_ref()?;
        Some(tool.call(self.params(), self.plan.vars()))
    }

    /// What is wrong with an artifact, by the schema of the node.
    pub fn complaints(&self, artifact: &Value) -> Vec<String> {
        complaints(self.plan, self.node, artifact)
    }

    /// That the artifact of the node from `via` does not fit.
    pub fn misfit(&self, via: &str, complaints: &[String]) -> Diagnostic {
        misfit(self.plan, self.node, via, complaints)
    }

    /// The rendered prompt of the node, if it has one.
    pub fn prompt(&self) -> Option<Result<String, Box<Diagnostic>>> {
        let template = self.plan.node(self.node).template.as_ref()?;
        Some(template.render(Values::of(self.params())))
    }

    /// Records that `via` is asked, unless that is so already, and says what. Called before anything leaves the process.
    pub fn ask(&self, via: &str) -> Result<PromptRequest, Refusal> {
        let text = self.text().map_err(Refusal::failed)?;
        let prompt = Hash::of(text.as_bytes());
        let (last, asks) = {
            let asked = self.log.open.borrow();
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
                self.log.record(EventBody::Asked { id, node, via: via.into(), prompt, params, template, call })?;
                id
            }
        };
        Ok(PromptRequest { id, prompt: with_complaints(text, &complaints) })
    }

    /// Records what is wrong with the answer to the last request to `via`; the next prompt says so.
    pub fn complain(&self, via: &str, complaints: Vec<String>) -> Result<(), Refusal> {
        let Some(id) = self.last(via) else { return Ok(()) };
        self.log.record(EventBody::Complained { id, via: via.into(), complaints })
    }

    /// Records that an attempt to have the last request to `via` answered failed.
    pub fn unanswered(&self, via: &str, message: &str) -> Result<(), Refusal> {
        let Some(id) = self.last(via) else { return Ok(()) };
        self.log.record(EventBody::Unanswered { id, via: via.into(), message: message.to_owned() })
    }

    /// How often `via` was told that its answer to this is no good.
    pub fn rounds(&self, via: &str) -> usize {
        self.log.open.borrow().iter().filter(|open| open.via == via && !open.complaints.is_empty()).count()
    }

    /// Who was asked last, if anybody outside of the process was.
    pub fn asked_last(&self) -> Option<Name> {
        self.log.open.borrow().last().map(|open| open.via.clone())
    }

    fn last(&self, via: &str) -> Option<i64> {
        self.log.open.borrow().iter().rfind(|open| open.via == via).map(|open| open.id)
    }
}

/// What is wrong with an artifact, by the schema of a node.
pub fn complaints(plan: &Plan, node: NodeIx, artifact: &Value) -> Vec<String> {
    let schema = plan.pipeline.at(node).schema.as_ref();
    schema.map(|shape| shape.check(artifact).iter().map(ToString::to_string).collect()).unwrap_or_default()
}

/// That an artifact does not fit the schema of its node.
pub fn misfit(plan: &Plan, node: NodeIx, via: &str, complaints: &[String]) -> Diagnostic {
    let node = plan.pipeline.at(node);
    let said: Vec<String> = complaints.iter().map(|complaint| format!("  {complaint}")).collect();
    let message = format!("the artifact of `{}` from `{via}` does not fit its schema", *node.name);
    Diagnostic::error("walk/schema", message)
        .label(&plan.pipeline.source, node.name.span, "the node's `schema` says what is accepted")
        .help(said.join("\n"))
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
