//! The parameter groups of nodes with a policy: the task, what earlier stages left, memory, and the feedback on an attempt.

use super::content::Content;
use super::name::Name;
use super::policy::{StepPolicy, TaskPlan};
use super::state::WalkState;
use super::step_context::StepContext;
use crate::node_view::TemplateView;
use asterisk_diag::Diagnostic;
use asterisk_pipeline::{TaskPart, stage_reference};
use asterisk_prompt::Values;
use asterisk_script::View;
use serde_json::json;

/// Makes the groups.
pub(super) fn groups(step: &StepContext<'_>, policy: &StepPolicy) -> Vec<(&'static str, View, Content)> {
    let (walk, name) = (step.walk, &step.plan.node(step.node).name);
    let own = |view: View| (view.clone(), Content::own(view));
    let stages = stages(walk, policy);
    let memory = memory(step);
    let last = walk.attempts.last();
    let kept = |content: Option<&Content>| content.and_then(|content| content.view().cloned()).unwrap_or_else(View::null);
    let stage = View::object(
        "params.stage",
        [
            ("attempt", View::from(i64::try_from(walk.attempts.len() + 1).unwrap_or(i64::MAX))),
            ("category", View::from(policy.category.as_str())),
            ("name", View::from(name.as_str())),
        ],
    );
    let task = rendered(step, policy).unwrap_or_default();
    let parts = stages.iter().map(|(name, _, content)| (name.clone(), content.clone()));
    let stages_content = Content::own_of_parts(parts);
    let stages_view =
        View::map("params.stages", stages.iter().map(|(name, view, _)| (name.as_str(), view.clone())), View::null());
    let previous = kept(last.and_then(|last| last.output.as_ref())).get("content").unwrap_or_else(View::null);
    [
        ("memory", (memory.clone(), memory_content(step))),
        ("previous_content", own(previous)),
        ("review", own(feedback(step.walk))),
        ("stage", own(stage)),
        ("stages", (stages_view, stages_content)),
        ("task", own(View::from(task.as_str()))),
    ]
    .into_iter()
    .map(|(name, (view, content))| (name, view, content))
    .collect()
}

/// What was wrong with the last attempt: the decision of the gate, or why there was none; `()` at the first attempt.
fn feedback(walk: &WalkState) -> View {
    let Some(last) = walk.attempts.last() else { return View::null() };
    match last.review.as_ref().and_then(Content::view) {
        Some(review) => review.clone(),
        None => {
            let review = json!({
                "score": 0.0, "approved": false, "summary": last.message, "suggestions": [], "critical_issues": [last.message],
                "severity": "high", "reason": last.reason,
            });
            View::of(&review, &asterisk_base::model::Kind::Any, "params.review")
        }
    }
}

fn memory(step: &StepContext<'_>) -> View {
    let memory = step.plan.policy.as_ref().and_then(|policy| policy.memory.view().cloned());
    memory.unwrap_or_else(|| View::map("params.memory", std::iter::empty::<(&str, View)>(), View::null()))
}

fn memory_content(step: &StepContext<'_>) -> Content {
    step.plan.policy.as_ref().map_or_else(|| Content::own(memory(step)), |policy| policy.memory.clone())
}

/// What the nodes that a step sees left.
fn stages(walk: &WalkState, policy: &StepPolicy) -> Vec<(Name, View, Content)> {
    let of = |name: &Name| {
        let view = stage(walk, name)?;
        Some((name.clone(), view.clone(), Content::new(view)))
    };
    policy.sees.iter().filter_map(of).collect()
}

/// What a finished node left, as tasks and agents see it.
fn stage(walk: &WalkState, name: &Name) -> Option<View> {
    let artifact = walk.prior.get(name)?.view()?.clone();
    let passed = walk.passed.get(name);
    let review = passed.and_then(|passed| passed.review.as_ref()).and_then(|review| review.view().cloned());
    let part = |view: &View, field: &str| view.present(field).cloned();
    let empty_list = || View::list("params.stages[].artifacts", []);
    let empty_map = || View::map("params.stages[].metadata", std::iter::empty::<(&str, View)>(), View::null());
    let previous = passed.and_then(|passed| passed.previous.as_ref()).and_then(|previous| part(previous.view()?, "content"));
    let of_review = |field: &str| review.as_ref().and_then(|review| part(review, field));
    Some(View::object(
        "params.stages[]",
        [
            ("approved", of_review("approved").unwrap_or_else(|| View::from(true))),
            ("artifacts", part(&artifact, "artifacts").unwrap_or_else(empty_list)),
            ("content", part(&artifact, "content").unwrap_or_else(|| View::from(""))),
            ("metadata", part(&artifact, "metadata").unwrap_or_else(empty_map)),
            ("previous_content", previous.unwrap_or_else(|| View::from(""))),
            ("review", review.clone().unwrap_or_else(View::null)),
            ("score", of_review("score").unwrap_or_else(View::null)),
        ],
    ))
}

/// The text of the task of a step. What is filled in is not looked at again.
pub fn rendered(step: &StepContext<'_>, policy: &StepPolicy) -> Result<String, Box<Diagnostic>> {
    match &policy.task {
        None => Ok(String::new()),
        Some(TaskPlan::Parts(parts)) => Ok(filled(step, policy, parts)),
        Some(TaskPlan::Template(template)) => {
            let memory = memory(step);
            let stages = stages(step.walk, policy);
            let stages = View::map("stages", stages.iter().map(|(name, view, _)| (name.as_str(), view.clone())), View::null());
            let values = memory.entries().map(|(name, value)| (name.to_owned(), value.clone()));
            let values: Vec<(String, View)> =
                values.chain([("stages".to_owned(), stages), ("memory".to_owned(), memory.clone())]).collect();
            template.render(Values::of(&TemplateView(View::object("task", values))))
        }
    }
}

fn filled(step: &StepContext<'_>, policy: &StepPolicy, parts: &[TaskPart]) -> String {
    let memory = memory(step);
    let own = &step.plan.node(step.node).name;
    let mut text = String::new();
    for part in parts {
        match part {
            TaskPart::Text(copied) => text.push_str(copied),
            TaskPart::Reference(name) => match reference(step, policy, &memory, own, name) {
                Some(value) => text.push_str(&value),
                None => {
                    text.push('{');
                    text.push_str(name);
                    text.push('}');
                }
            },
        }
    }
    text
}

/// The value of a name between braces: of memory, or a field of a stage; nothing if there is none.
fn reference(step: &StepContext<'_>, policy: &StepPolicy, memory: &View, own: &Name, name: &str) -> Option<String> {
    if let Some(value) = memory.present(name) {
        return Some(text_of(value));
    }
    let names = policy.sees.iter().chain([own]).map(Name::as_str);
    let (stage_name, path) = stage_reference(name, names)?;
    let path: Vec<&str> = path.split('.').collect();
    if stage_name == own.as_str() {
        let last = step.walk.attempts.last();
        let output = last.and_then(|last| last.output.as_ref()).and_then(Content::view);
        let value = match path.as_slice() {
            ["previous_content"] => output.and_then(|output| output.present("content").cloned()),
            ["review", rest @ ..] => last.and_then(|_| feedback(step.walk).path(rest)),
            _ => None,
        };
        return Some(value.map_or(String::new(), |value| text_of(&value)));
    }
    let stage = stage(step.walk, &Name::from(stage_name))?;
    Some(stage.path(&path).map_or(String::new(), |value| text_of(&value)))
}

/// A value as inserted: a string unchanged, anything else as JSON.
fn text_of(value: &View) -> String {
    if value.is_null() {
        return String::new();
    }
    value.as_str().map_or_else(|| value.json().to_string(), str::to_owned)
}
