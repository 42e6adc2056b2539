//! Applying masks: scripts around a step that rewrite its parameters and its artifact.

use super::answer::NodeAnswer;
use super::content::Content;
use super::error::{Failure, FailureKind};
use super::event::EventBody;
use super::mask::Mask;
use super::params::Params;
use super::plan::Plan;
use super::queries::Query;
use super::team_plan::TeamMember;
use asterisk_base::model;
use asterisk_diag::{Code, Diagnostic};
use asterisk_pipeline::NodeIx;
use asterisk_script::{ScriptFunction, View};
use std::sync::Arc;

/// The masks on a step, outermost first.
pub(super) struct Masks<'a> {
    plan: &'a Plan,
    node: NodeIx,
    all: Vec<&'a Mask>,
}

impl<'a> Masks<'a> {
    /// The masks of the node, then those of the walker. A sub-pipeline has none: its steps have theirs.
    pub(super) fn on(plan: &'a Plan, node: NodeIx, member: &'a TeamMember, walked: bool) -> Self {
        let linked = plan.node(node);
        let own = linked.masks.iter().map(|mask| &**mask);
        let brought = member.masks.iter().map(|mask| &**mask);
        let new = |mask: &&Mask| mask.fits(&linked.name) && !linked.masks.iter().any(|own| own.path == mask.path);
        let all = if walked { Vec::new() } else { own.chain(brought.filter(new)).collect() };
        Self { plan, node, all }
    }

    /// The queries of the node and of its masks, each once.
    pub(super) fn needs(&self) -> Vec<&'static Query> {
        let mut needs = self.plan.node(self.node).needs.clone();
        for need in self.all.iter().flat_map(|mask| &mask.needs) {
            if !needs.iter().any(|known| known.name == need.name) {
                needs.push(need);
            }
        }
        needs
    }

    /// Applies `pre` from the outermost mask to the innermost and returns the parameters; `None` without masks.
    pub(super) fn apply_pre(&self, make: &dyn Fn() -> Params) -> Result<Option<Params>, Failure> {
        if self.all.is_empty() {
            return Ok(None);
        }
        let mut params = make();
        for pre in self.all.iter().filter_map(|mask| mask.pre.as_ref()) {
            let changed = pre.before(&params.view).map_err(Failure::script)?;
            params = params.with(changed, &|name| self.plan.kind(name));
        }
        Ok(Some(params))
    }

    /// Applies `post` from the innermost mask to the outermost. Returns the event to record, if there are masks.
    pub(super) fn finish(&self, params: Option<&Params>, reply: &mut NodeAnswer) -> Result<Option<EventBody>, Failure> {
        let (Some(params), false) = (params, self.all.is_empty()) else { return Ok(None) };
        let linked = self.plan.node(self.node);
        let given = Arc::clone(&reply.artifact);
        for mask in self.all.iter().rev() {
            let Some(post) = &mask.post else { continue };
            let view = View::of(&reply.artifact, linked.answered(), "artifact");
            let Some(made) = post.after(&params.view, &view).map_err(Failure::script)? else { continue };
            if made != *reply.artifact {
                self.check(mask, post, &made, reply.checked)?;
                reply.artifact = Arc::new(made);
            }
        }
        let changed = !Arc::ptr_eq(&given, &reply.artifact);
        let answer = changed.then(|| Content::new(View::of(&given, &model::Kind::Any, "answer")));
        let masks = self.all.iter().map(|mask| mask.path.clone()).collect();
        Ok(Some(EventBody::Masked { node: linked.name.clone(), masks, answer }))
    }

    /// Validates the artifact made by a mask against the node's schema, if the answer was validated.
    fn check(&self, mask: &Mask, post: &ScriptFunction, made: &serde_json::Value, checked: bool) -> Result<(), Failure> {
        let node = self.plan.pipeline.at(self.node);
        let errors = node.schema.as_ref().filter(|_| checked).map(|shape| shape.check(made)).unwrap_or_default();
        if errors.is_empty() {
            return Ok(());
        }
        let list: Vec<String> = errors.iter().map(|error| format!("  {error}")).collect();
        let message =
            format!("the artifact of `{}`, as changed by the mask `{}`, does not match its schema", mask.path, *node.name);
        let mut diagnostic = Diagnostic::error(Code::WalkSchema, message).help(list.join("\n"));
        if let Some((source, span)) = post.definition() {
            diagnostic = diagnostic.label(&source, span, "changed here");
        }
        Err(Failure::new(FailureKind::Schema, diagnostic))
    }
}
