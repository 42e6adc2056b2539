//! The parameters of a step, as a test gives them: what it leaves out is as in an empty case.

use super::test_project::known_keys;
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Case, Kind, Launch};
use asterisk_diag::{Code, Diagnostic};
use asterisk_pipeline::NodeIx;
use asterisk_script::View;
use asterisk_session::RouteState;
use asterisk_walk::{
    CaseParams, Content, FieldGroup, GROUPS, NEEDS, Plan, PlanNode, Query, StepContext, StepMoment, unknown_code, unknown_history,
};
use serde_json::{Value, json};

type DiagnosticResult<T> = Result<T, Box<Diagnostic>>;

/// The parameters at a node, with the given ones overlaid on those of an empty case.
pub(super) fn params(plan: &Plan, node: NodeIx, given: &Value, now: Timestamp) -> DiagnosticResult<View> {
    known_keys("the params", given, GROUPS.iter().map(|group| group.name))?;
    let state = state(&given["state"])?;
    let (mut walk, view) = state.at(plan, Some(node), &View::null(), now);
    let names = names(plan);
    known_keys("the params' `prior`", &given["prior"], names.iter().map(String::as_str))?;
    for (name, artifact) in given["prior"].as_object().into_iter().flatten() {
        let Some(kind) = plan.kind(name) else { continue };
        check(&kind, artifact, name)?;
        walk.prior.insert(name.as_str().into(), Content::new(View::of(artifact, &kind, &format!("params.prior.{name}"))));
    }
    for (name, id) in given["bindings"].as_object().into_iter().flatten() {
        walk.bindings.insert(name.clone(), id.as_i64().unwrap_or_default());
    }
    let needs = needs(&given["needs"])?;
    let failure = |key: &str| given["failure"][key].as_str().unwrap_or_default().to_owned();
    let given_attributes = given["failure"]["attributes"].as_object().into_iter().flatten();
    let attributes = given_attributes.map(|(name, value)| (name.as_str(), value.as_str().unwrap_or_default()));
    let case = Case {
        id: "case-1".into(),
        name: failure("name"),
        suite: failure("suite"),
        error_message: failure("error_message"),
        log_snippet: failure("log_snippet").into(),
        status: failure("status"),
        file: given["failure"]["file"].as_str().map(str::to_owned),
        duration_s: given["failure"]["duration_s"].as_f64(),
        source_defect: given["failure"]["source_defect"].as_str().map(str::to_owned),
        recall_key: failure("recall_key"),
        attributes: attributes.collect(),
        ..Case::default()
    };
    let launch = Launch::default();
    let moment = StepMoment { now, chance: 0.0 };
    let step =
        StepContext { plan, node, walk: &walk, path: "1", moment, member: plan.member(None, None), handoffs: walk.handoffs };
    let queries = |wanted: &[&'static Query]| {
        let named = |name: &str| wanted.iter().any(|query| query.field() == name);
        needs.iter().filter(|(name, _)| named(name)).cloned().collect()
    };
    let all = CaseParams::new("run", &launch, &case).for_step(&case, &step, &view, &needs, &queries).view;
    let groups = GROUPS.iter().map(|FieldGroup { name, fields, .. }| {
        let own = all.get(name).unwrap_or_else(View::null);
        let given = match (*name, &given[*name]) {
            // These are made above.
            ("state" | "prior" | "bindings" | "needs" | "history", _) | (_, Value::Null) => return Ok((*name, own)),
            (_, given) => given,
        };
        if !fields.is_empty() {
            known_keys(&format!("the params' `{name}`"), given, fields.iter().map(|field| field.name))?;
        }
        let mut value = own.json();
        merge(&mut value, given);
        Ok((*name, View::of(&value, &Kind::Any, &format!("params.{name}"))))
    });
    Ok(View::object("params", groups.collect::<DiagnosticResult<Vec<_>>>()?))
}

/// What artifacts are known by: the nodes of a plan, and those of the walks within it (`court/indict`).
fn names(plan: &Plan) -> Vec<String> {
    let of_node = |node: &PlanNode| {
        let within = node.subpipeline.iter().flat_map(|part| names(part)).map(|name| format!("{}/{name}", node.name));
        std::iter::once(node.name.to_string()).chain(within.collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    plan.nodes.iter().flat_map(of_node).collect()
}

/// The state that a test gives, as `asterisk eval route --state` takes it.
pub(super) fn state(given: &Value) -> DiagnosticResult<RouteState> {
    if given.is_null() {
        return Ok(RouteState::default());
    }
    serde_json::from_value(given.clone()).map_err(|error| {
        let help =
            "a state is `#{ loops, context, history, confidence, steps, elapsed_s, handoffs, chance, walker }`, all optional";
        Box::new(Diagnostic::error("test/inputs", format!("this is not a state: {error}")).help(help))
    })
}

/// Refuses an artifact that no node of that form would ever hand on. What is required may be missing, as it may where a walk
/// is asked with `asterisk eval route`: rules read it as the zero of its type.
pub(super) fn check(kind: &Kind, artifact: &Value, whose: &str) -> DiagnosticResult<()> {
    let (Kind::Object(shape), false) = (kind, artifact.is_null()) else { return Ok(()) };
    let complaints = shape.check(artifact);
    let Some(complaint) = complaints.iter().find(|complaint| !complaint.missing) else {
        return Ok(());
    };
    let message = format!("this is not an artifact of `{whose}`: {complaint}");
    Err(Box::new(Diagnostic::error(Code::TestArtifact, message).help("see `schema:` of the node in the pipeline")))
}

fn needs(given: &Value) -> DiagnosticResult<Vec<(String, View)>> {
    let names: Vec<String> = NEEDS.iter().map(Query::field).collect();
    known_keys("the params' `needs`", given, names.iter().map(String::as_str))?;
    let answer = |name: String| {
        let mut answer = match name.as_str() {
            "cluster" => json!({}),
            "tests_history" => unknown_history(),
            "workspace_code" => unknown_code(),
            _ => json!([]),
        };
        if let Some(given) = given.get(&name) {
            merge(&mut answer, given);
        }
        let view = View::of(&answer, &Kind::Any, &format!("params.needs.{name}"));
        (name, view)
    };
    Ok(names.into_iter().map(answer).collect())
}

/// Lays a value over another: maps by their keys, everything else whole.
fn merge(under: &mut Value, over: &Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                merge(under.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over.clone(),
    }
}
