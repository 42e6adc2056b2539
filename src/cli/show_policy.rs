//! `asterisk show policy`: the effective policy of a pipeline, with the origin of each value.

use crate::ui::{OutputFormat, Ui};
use asterisk_project::AnswererNames;
use asterisk_session::{Session, SessionError};
use asterisk_walk::{AdvisorPlan, Plan, PlanNode, StepPolicy};
use serde_json::{Value, json};

/// Shows the policy settings of a pipeline and their effective values per node.
pub(super) fn policy(ui: &Ui, session: &Session, pipeline: Option<&str>) -> Result<(), SessionError> {
    let Some(pipeline) = pipeline else {
        let help = "name it: asterisk show policy PIPELINE";
        return Err(SessionError::bad_request("input/pipeline", "a policy belongs to a pipeline", Some(help.into())));
    };
    let project = session.project(Some(pipeline), AnswererNames::Others)?;
    let plan = &project.plan;
    let Some(whole) = &plan.policy else {
        let message = format!("the pipeline `{}` does not have a policy", *plan.pipeline.name);
        let help = "policies apply to pipelines with `stages:`, or with `gate:`, `retry:`, `timeout:` or `cache:` in nodes";
        return Err(SessionError::bad_request("input/no-policy", message, Some(help.into())));
    };
    if ui.format() == OutputFormat::Json {
        let settings =
            whole.settings.iter().map(|(path, setting)| json!({ "setting": path, "value": setting.value, "from": setting.from }));
        let nodes = with_policy(plan).map(|(node, policy)| node_json(node, policy));
        ui.json(&json!({
            "schema_version": 1, "pipeline": *plan.pipeline.name, "settings": settings.collect::<Vec<_>>(),
            "nodes": nodes.collect::<Vec<Value>>(),
        }));
        return Ok(());
    }
    if !whole.settings.is_empty() {
        let mut table = ui.table(&["setting", "value", "from"]);
        for (path, setting) in &whole.settings {
            table.row([path.clone(), setting.value.to_string(), setting.from.to_string()]);
        }
        ui.out(&table.text());
    }
    let mut table = ui.table(&["node", "category", "what", "value", "from"]);
    for (node, policy) in with_policy(plan) {
        let mut head = [node.name.to_string(), policy.category.to_string()];
        for (what, value, from) in rows(policy) {
            let [name, category] = std::mem::take(&mut head);
            table.row([name, category, what.to_owned(), value, from]);
        }
    }
    ui.out(&table.text());
    Ok(())
}

fn with_policy(plan: &Plan) -> impl Iterator<Item = (&PlanNode, &StepPolicy)> {
    plan.nodes.iter().filter_map(|node| Some((node, node.policy.as_deref()?)))
}

/// Returns name, value and origin of each setting of a node.
fn rows(policy: &StepPolicy) -> Vec<(&'static str, String, String)> {
    let mut rows = Vec::new();
    if let Some(gate) = &policy.gate {
        rows.push(("threshold", gate.threshold.value.to_string(), gate.threshold.from.to_string()));
        let by = |advisor: &AdvisorPlan| match advisor.via.join(", ") {
            via if via.is_empty() || via == *advisor.name => advisor.name.to_string(),
            via => format!("{} by {via}", advisor.name),
        };
        let names = gate.advisors.iter().map(by).collect::<Vec<_>>().join(", ");
        let decision = gate.council.as_ref().map_or(String::new(), |council| format!(" ({})", council.decision.word()));
        rows.push(("advisors", format!("{names}{decision}"), gate.from.to_string()));
    }
    rows.push(("retries", policy.max_retries.value.to_string(), policy.max_retries.from.to_string()));
    rows.push(("timeout", format!("{} s", policy.timeout.value), policy.timeout.from.to_string()));
    if !policy.cache.value {
        rows.push(("cache", "false".to_owned(), policy.cache.from.to_string()));
    }
    rows
}

fn node_json(node: &PlanNode, policy: &StepPolicy) -> Value {
    let gate = policy.gate.as_ref().map(|gate| {
        let advisors =
            gate.advisors.iter().map(|advisor| json!({ "name": advisor.name, "weight": advisor.weight, "via": advisor.via }));
        json!({
            "threshold": gate.threshold.value, "threshold_from": gate.threshold.from, "advisors_from": gate.from,
            "advisors": advisors.collect::<Vec<_>>(), "decision": gate.council.as_ref().map(|council| council.decision.word()),
        })
    });
    json!({
        "node": node.name, "category": policy.category, "agent": policy.agent, "gate": gate,
        "max_retries": policy.max_retries.value, "max_retries_from": policy.max_retries.from,
        "timeout": policy.timeout.value, "timeout_from": policy.timeout.from, "cache": policy.cache.value,
    })
}
