//! `foreach` nodes: forking a branch for each item of a list, and merging the branches' artifacts.

use super::because::short;
use super::bounds::check_size;
use super::branch::{Branch, BranchKind, ITEM};
use super::error::{Failure, FailureKind};
use super::foreach_plan::{ForeachPlan, MergePlan};
use super::name::Name;
use super::plan::{Plan, PlanNode};
use super::state::{WalkState, WalkStatus};
use super::views::value_of_params;
use asterisk_base::model::Kind;
use asterisk_diag::Diagnostic;
use asterisk_pipeline::NodeIx;
use asterisk_script::View;
use serde_json::{Value, json};

/// The most branches of a node.
const MOST_BRANCHES: usize = 10_000;

impl ForeachPlan {
    /// Makes the branches of a node, one for each item. `None` if the script returns `()`: then the node is taken once, without
    /// an item.
    pub(super) fn branches(&self, node: &Name, params: &View, vars: &View) -> Result<Option<Vec<Branch>>, Failure> {
        let items = match value_of_params(&self.items, params, vars).map_err(Failure::script)? {
            Value::Array(items) => items,
            Value::Null => return Ok(None),
            other => {
                let other = short(&View::plain(&other, "items"));
                let message = format!("`foreach` of `{node}` gave {other}, not a list");
                return Err(self.failure(
                    FailureKind::RuleError,
                    message,
                    "return a list, or `()` to run the node once without an item",
                ));
            }
        };
        if items.len() > MOST_BRANCHES {
            let message = format!("`foreach` of `{node}` gave {} items, more than {MOST_BRANCHES}", items.len());
            return Err(self.failure(FailureKind::Limit, message, "group them"));
        }
        check_size(&items)
            .map_err(|detail| self.failure(FailureKind::Limit, detail, "return only the data that distinguishes the items"))?;
        let branch = |item: Value| {
            let sequence = item.get("sequence").and_then(Value::as_i64).unwrap_or(0);
            Branch { node: node.clone(), sequence, item: Some(item), ..Branch::default() }
        };
        Ok(Some(items.into_iter().map(branch).collect()))
    }

    /// Whether the node can be taken without an item: it has an answerer, and its artifact has the same schema then.
    pub(super) fn allows_no_item(&self, node: &PlanNode) -> bool {
        node.subpipeline.is_none() && !matches!(self.merge, MergePlan::Append)
    }

    /// Merges the artifacts of the branches. If all failed, returns the failure of the first; but a script may say what it means that an
    /// answerer gave no valid answer, or that a limit was exceeded.
    pub fn merged(&self, plan: &Plan, node: NodeIx, branches: &[WalkState]) -> Result<Value, Failure> {
        let whole = || branches.iter().filter(|branch| branch.status == WalkStatus::Done);
        let artifact =
            |branch: &WalkState| branch.last_artifact().and_then(|last| last.view().map(View::json)).unwrap_or_default();
        let unanswered = [FailureKind::Limit, FailureKind::Schema, FailureKind::AgentError].map(FailureKind::word);
        let is_unanswered =
            |branch: &WalkState| branch.error.as_ref().is_some_and(|(kind, _)| unanswered.contains(&kind.as_str()));
        let says = self.merge.script().is_some() && branches.iter().all(is_unanswered);
        if let (Some(first), None, false) = (branches.first(), whole().next(), says) {
            let (kind, message) = first.error.clone().unwrap_or_default();
            let kind = serde_json::from_value(Value::String(kind)).unwrap_or(FailureKind::AgentError);
            let detail = format!("every branch of `{}` failed, the first with: {message}", plan.node(node).name);
            return Err(self.failure(kind, detail, "`asterisk explain` shows each of them"));
        }
        let field = plan.pipeline.at(node).confidence.as_ref();
        let confidence = |artifact: &Value| field.and_then(|field| artifact.get(field.as_str())?.as_f64());
        match &self.merge {
            MergePlan::Append => Ok(whole().map(artifact).collect()),
            MergePlan::First => Ok(whole().next().map(artifact).unwrap_or_default()),
            MergePlan::Latest => Ok(whole().next_back().map(artifact).unwrap_or_default()),
            MergePlan::Best => {
                let mut best: Option<(f64, Value)> = None;
                for artifact in whole().map(artifact) {
                    let sure = confidence(&artifact).unwrap_or(f64::NEG_INFINITY);
                    if best.as_ref().is_none_or(|(most, _)| sure > *most) {
                        best = Some((sure, artifact));
                    }
                }
                Ok(best.map(|(_, artifact)| artifact).unwrap_or_default())
            }
            MergePlan::Script(function) => {
                let describe = |(index, branch): (usize, &WalkState)| {
                    let (kind, message) = branch.error.clone().unwrap_or_default();
                    let failed = branch.status == WalkStatus::Error;
                    let artifact = if failed { Value::Null } else { artifact(branch) };
                    json!({
                        "branch": index + 1,
                        "item": branch.context.get(ITEM),
                        "confidence": confidence(&artifact),
                        "error": if failed { json!({ "kind": kind, "message": message }) } else { Value::Null },
                        "artifact": artifact,
                    })
                };
                let branches: Value = branches.iter().enumerate().map(describe).collect();
                let branches = View::of(&branches, &Kind::Any, "branches");
                function.value(&[&branches, plan.vars()]).map_err(Failure::script)
            }
        }
    }

    fn failure(&self, kind: FailureKind, message: String, help: &str) -> Failure {
        let (source, span) = &self.place;
        Failure::new(kind, Diagnostic::error("walk/foreach", message).label(source, *span, "for each of these").help(help))
    }
}

/// The node where branches of parallel edges join, or the done name; fails if they lead to different ones.
pub fn joined(branches: &[WalkState]) -> Result<Option<Name>, Failure> {
    let mut found: Option<(&WalkState, &Name)> = None;
    for branch in branches {
        let Some(origin) = &branch.origin else { continue };
        if origin.by != BranchKind::Edges {
            return Ok(None);
        }
        let at = |branch: &WalkState| branch.path.last().cloned().unwrap_or_default();
        let Some(to) = &origin.to else {
            let message = format!("the branch at `{}` leads nowhere, so the other branches cannot join it", at(branch));
            return Err(apart(message));
        };
        match found {
            Some((first, other)) if other != to => {
                let message =
                    format!("branches lead to different nodes: `{}` to `{other}`, `{}` to `{to}`", at(first), at(branch));
                return Err(apart(message));
            }
            _ => found = Some((branch, to)),
        }
    }
    Ok(found.map(|(_, to)| to.clone()))
}

fn apart(message: String) -> Failure {
    let help = "the nodes after `parallel: true` edges must all lead to the same node";
    Failure::new(FailureKind::FanOutMerge, Diagnostic::error("walk/fan-out-merge", message).help(help))
}
