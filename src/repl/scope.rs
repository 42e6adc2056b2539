//! The scope of a session's position: a node with its artifact, state and vars, for decisions and expressions.

use super::bind;
use asterisk_base::model::Kind;
use asterisk_decisions::JournalStep;
use asterisk_diag::{Diagnostic, Diagnostics, MappedText, Severity, Source, Span};
use asterisk_pipeline::{EdgeIx, NodeIx};
use asterisk_project::{LinkScope, Project, fields, input_kinds};
use asterisk_script::check::CheckedParameter;
use asterisk_script::{Condition, Library, LibraryInputs, ScriptFunction, View};
use asterisk_session::SessionError;
use asterisk_walk::{ConsideredEdge, Decision, Failure, Plan, decide};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The inputs of decisions and expressions at a position.
#[derive(Clone)]
pub(super) struct EvalScope {
    pub(super) project: Arc<Project>,
    /// The project's plan with the vars in effect.
    pub(super) plan: Arc<Plan>,
    /// `None` for an artifact of no node.
    pub(super) node: Option<NodeIx>,
    pub(super) artifact: View,
    pub(super) state: View,
    /// The recorded step, if there is one.
    pub(super) step: Option<JournalStep>,
    /// Whether it differs from what was recorded: other vars, scripts, artifact or state.
    pub(super) changed: bool,
    /// Other names in expressions: bound names, the last result and parameters.
    pub(super) locals: Vec<(String, View)>,
}

fn names_of(locals: &[(String, View)]) -> Vec<String> {
    locals.iter().map(|(name, _)| name.clone()).collect()
}

/// The key of the typed expression among the conditions of its library.
const TYPED: &str = "typed";
/// An error of rules that does not apply to expressions, which may have any value.
const VERDICT: &str = "rule/return";

impl EvalScope {
    /// The node's name; empty without a node.
    pub(super) fn node_name(&self) -> &str {
        self.node.map_or("", |node| &self.plan.node(node).name)
    }

    /// The inputs of rules, by name.
    pub(super) fn inputs(&self) -> [(&'static str, View); 3] {
        [("artifact", self.artifact.clone()), ("state", self.state.clone()), ("vars", self.plan.vars().clone())]
    }

    /// The types of the inputs of rules.
    pub(super) fn kinds(&self) -> [(&'static str, Kind); 3] {
        input_kinds(&self.plan, self.node)
    }

    /// Evaluates the decision.
    pub(super) fn decide(&self) -> Result<Result<Decision, (Vec<ConsideredEdge>, Failure)>, SessionError> {
        Ok(decide(&self.plan, self.at_node()?, &self.artifact, &self.state))
    }

    /// The node to decide; an error without one.
    pub(super) fn at_node(&self) -> Result<NodeIx, SessionError> {
        self.node.ok_or_else(|| {
            let help = "choose a node with `:at NODE`; `:graph` lists them".to_owned();
            SessionError::bad_request("repl/no-node", "no decision here: the artifact belongs to no node", Some(help))
        })
    }

    /// The edge with a name, if it is considered here.
    pub(super) fn edge(&self, text: &Source, name: &str, at: usize) -> Result<EdgeIx, SessionError> {
        let pipeline = &self.plan.pipeline;
        let found = self.edges().into_iter().find(|edge| *pipeline.edge_at(*edge).id.value == *name);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.edges().into_iter().map(|edge| pipeline.edge_at(edge).id.as_str()).collect();
            let elsewhere = pipeline.edges.iter().any(|edge| *edge.id.value == *name);
            let message = if elsewhere {
                format!("the edge `{name}` does not leave `{}`", self.node_name())
            } else {
                format!("unknown edge `{name}`")
            };
            let help = match asterisk_diag::did_you_mean(name, known.iter().copied()) {
                Some(help) if !elsewhere => help,
                _ if known.is_empty() => "no edge is considered here".to_owned(),
                _ => format!("considered here: {}", known.join(", ")),
            };
            let diagnostic = Diagnostic::error("repl/edge", message).label(text, Span::new(at, at + name.len()), "");
            SessionError::BadRequest(Box::new(diagnostic.help(help)))
        })
    }

    /// The edges that are considered here, in that order.
    pub(super) fn edges(&self) -> Vec<EdgeIx> {
        let Some(node) = self.node else { return Vec::new() };
        let node = self.plan.pipeline.at(node);
        node.advisories.iter().chain(&node.edges).chain(&self.plan.pipeline.guards).copied().collect()
    }

    /// Compiles a part of a typed text like a rule; errors are labelled there. `_` is the last result, and `more` is text
    /// appended to the part.
    pub(super) fn compile(&self, text: &Source, start: usize, part: &str, more: &str) -> Result<ScriptFunction, SessionError> {
        let end = start + part.len();
        // Each byte of a character maps to the character.
        let (mut written, mut offsets) = (String::with_capacity(part.len() + more.len()), Vec::with_capacity(part.len()));
        let mut add = |piece: &str, at: usize| {
            written.push_str(piece);
            offsets.extend(std::iter::repeat_n(at, piece.len()));
        };
        let results = bind::results(part);
        for (at, c) in part.char_indices() {
            let own = c.encode_utf8(&mut [0; 4]).to_owned();
            add(if results.contains(&at) { bind::LAST } else { &own }, start + at);
        }
        add(more, end.saturating_sub(1));
        let mapped = MappedText::new(written, offsets, text.clone(), Span::new(start, end));
        let mut names: BTreeSet<String> = fields(&self.plan.pipeline);
        names.extend(self.artifact.entries().map(|(name, _)| name.to_owned()));
        let inputs = LibraryInputs {
            scripts: self.project.sources.scripts.clone(),
            conditions: vec![Condition { key: TYPED.to_owned(), text: mapped, locals: names_of(&self.locals) }],
            fields: names,
            limits: self.project.settings.limits.clone(),
            probes: self.project.settings.probes,
            reached: None,
            trusted: self.project.settings.scope != LinkScope::Checked,
        };
        let library = Library::link(inputs, Some(&self.project.library))?;
        let Some(function) = library.condition(TYPED) else {
            return Err(SessionError::bad_request("repl/empty", "the expression is empty", None));
        };
        let kinds = self.kinds();
        let inputs = kinds.iter().map(|(name, kind)| CheckedParameter { name, kind });
        let locals = self.locals.iter().map(|(name, _)| CheckedParameter { name, kind: &Kind::Any });
        let analysis = library.check(&function, &inputs.chain(locals).collect::<Vec<_>>());
        let wrong = |found: &Diagnostic| found.severity == Severity::Error && found.code != VERDICT;
        let found: Diagnostics = analysis.diagnostics.into_iter().filter(wrong).collect();
        Ok(found.into_result(function)?)
    }

    /// Evaluates a compiled expression.
    pub(super) fn evaluate(&self, function: &ScriptFunction) -> Result<Value, SessionError> {
        let locals = self.locals.iter().map(|(_, view)| view.clone());
        let args: Vec<View> = self.inputs().into_iter().map(|(_, view)| view).chain(locals).collect();
        let value = function.call(&args).and_then(|value| function.data(&value, "repl/value"));
        value.map_err(|diagnostic| SessionError::Texts(Diagnostics::from(*diagnostic)))
    }
}
