//! The edges of the RCA pipeline: a table of decisions, and the published vectors if available.

use crate::shared::shared_json;
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Kind, Shape};
use asterisk_pipeline::Pipeline;
use asterisk_project::Project;
use asterisk_script::View;
use asterisk_walk::{Plan, StepMoment, Visit, WalkState, decide};
use serde_json::{Map, Value, json};
use std::sync::Arc;

fn project() -> Project {
    crate::bundled::project(&Value::Null)
}

/// One decision, as `edge -> target`, or the kind of its error; with its additions to the context and its advisories.
fn route(plan: &Plan, node: &str, artifact: &Value, state: &Value) -> (String, Map<String, Value>, Vec<String>) {
    let pipeline: &Pipeline = &plan.pipeline;
    let ix = pipeline.node(node).unwrap();
    let kind = pipeline.at(ix).schema.as_ref().map_or(Kind::Any, |shape: &Arc<Shape>| Kind::Object(Arc::clone(shape)));
    let artifact = View::of(artifact, &kind, "artifact");
    let loops = state["loops"].as_object().into_iter().flatten().map(|(name, count)| (name.clone(), count.as_i64().unwrap()));
    let context = state["context"].as_object().cloned().unwrap_or_default();
    let visit = |entry: &Value| Visit {
        node: entry["node"].as_str().unwrap().into(),
        edge: entry["edge"].as_str().unwrap_or_default().into(),
        because: "".into(),
        advisories: Vec::new(),
        at: Timestamp::from_millis(0),
    };
    let history = state["history"].as_array().into_iter().flatten().map(visit).collect();
    let walk = WalkState::with(loops.collect(), context, history);
    let moment = StepMoment { now: Timestamp::from_millis(0), chance: 0.5 };
    let view = walk.view(&node.into(), None, moment, &View::null(), 0);
    match decide(plan, ix, &artifact, &view) {
        Ok(decision) => {
            let choice = decision.choice.unwrap();
            let way = format!("{} -> {}", choice.name, pipeline.target_name(choice.to));
            (way, choice.context, decision.advisories.iter().map(ToString::to_string).collect())
        }
        Err((_, failure)) => (failure.kind.word().into(), Map::new(), Vec::new()),
    }
}

#[test]
fn the_table_of_edges() {
    let project = project();
    let none = json!({});
    let recalled = json!({"history": [{"node": "recall", "edge": "H1"}]});
    let investigated = json!({"history": [{"node": "recall"}, {"node": "triage"}, {"node": "investigate"}]});
    let looped = json!({"loops": {"investigate": 2}});
    for (node, artifact, state, expected) in [
        ("recall", json!({"match": true, "confidence": 0.8}), &none, "H1 -> review"),
        ("recall", json!({"match": true, "confidence": 1}), &none, "H1 -> review"),
        ("recall", json!({"match": true, "confidence": 0.799_999_999_9}), &none, "H3 -> triage"),
        ("recall", json!({"match": true, "confidence": 0.4}), &none, "H3 -> triage"),
        ("recall", json!({"match": true}), &none, "H2 -> triage"),
        ("recall", json!({"match": false, "confidence": 0.99}), &none, "H2 -> triage"),
        ("recall", json!({"match": null, "confidence": null}), &none, "H2 -> triage"),
        ("recall", json!(null), &none, "H2 -> triage"),
        ("triage", json!({"symptom_category": "infra"}), &none, "H4 -> review"),
        ("triage", json!({"symptom_category": "infra", "skip_investigation": true}), &none, "H4 -> review"),
        ("triage", json!({"symptom_category": "Infra"}), &none, "H6 -> resolve"),
        ("triage", json!({"symptom_category": "flake"}), &none, "H5 -> review"),
        (
            "triage",
            json!({"symptom_category": "crash", "skip_investigation": true, "candidate_repos": ["a"]}),
            &none,
            "H18 -> review",
        ),
        ("triage", json!({"candidate_repos": ["a"]}), &none, "H7 -> investigate"),
        ("triage", json!({"candidate_repos": ["a", "b"]}), &none, "H6 -> resolve"),
        ("triage", json!({"candidate_repos": []}), &none, "H6 -> resolve"),
        ("triage", json!(null), &none, "H6 -> resolve"),
        ("resolve", json!({"selected_repos": [{"name": "a"}, {"name": "b"}]}), &none, "H8 -> investigate"),
        ("resolve", json!(null), &none, "H8 -> investigate"),
        ("investigate", json!({"convergence_score": 0.7}), &none, "H9 -> correlate"),
        ("investigate", json!({"convergence_score": 0.699, "evidence_refs": ["e"]}), &none, "H10 -> resolve"),
        ("investigate", json!({"convergence_score": 0.699, "evidence_refs": ["e"]}), &looped, "H11 -> review"),
        ("investigate", json!({"convergence_score": 0.699}), &looped, "H10a -> correlate"),
        ("investigate", json!(null), &none, "H10a -> correlate"),
        ("correlate", json!({"is_duplicate": true, "confidence": 0.8}), &none, "H15 -> _done"),
        ("correlate", json!({"is_duplicate": true, "confidence": 0.79}), &none, "H15b -> review"),
        ("correlate", json!({"is_duplicate": false, "confidence": 0.99}), &none, "H15b -> review"),
        ("correlate", json!(null), &none, "H15b -> review"),
        ("review", json!({"decision": "approve"}), &none, "H12 -> report"),
        ("review", json!({"decision": "approve "}), &none, "no_edge"),
        ("review", json!({"decision": "defer"}), &none, "review-defer -> report"),
        ("review", json!({"decision": "defer", "by": "agent"}), &recalled, "review-defer -> report"),
        ("review", json!({"decision": "reassess"}), &none, "H13 -> resolve"),
        ("review", json!({"decision": "reassess", "loop_target": ""}), &none, "H13 -> resolve"),
        ("review", json!({"decision": "reassess", "loop_target": "F1"}), &none, "H13 -> triage"),
        ("review", json!({"decision": "reassess", "loop_target": "F3_INVESTIGATE"}), &none, "H13 -> investigate"),
        ("review", json!({"decision": "reassess", "loop_target": "investigate"}), &none, "H13 -> investigate"),
        ("review", json!({"decision": "reassess", "loop_target": "F9_NOWHERE"}), &none, "node_not_found"),
        ("review", json!({"decision": "reassess", "loop_target": "report"}), &none, "node_not_found"),
        ("review", json!({"decision": "overturn"}), &none, "H14 -> report"),
        ("review", json!({"decision": "overturn"}), &recalled, "review-overturn-recall -> triage"),
        ("review", json!({"decision": "overturn", "human_override": {}}), &recalled, "review-overturn-recall -> triage"),
        ("review", json!({"decision": "overturn", "human_override": {"defect_type": "pb001"}}), &recalled, "H14 -> report"),
        ("review", json!({"decision": "overturn"}), &investigated, "H14 -> report"),
        ("review", json!({}), &none, "no_edge"),
        ("review", json!(null), &none, "no_edge"),
        ("report", json!(null), &none, "H16 -> _done"),
        ("report", json!({"anything": 1}), &none, "H16 -> _done"),
    ] {
        assert_eq!(route(&project.plan, node, &artifact, state).0, expected, "{node} {artifact} {state}");
    }
}

#[test]
fn edges_write_the_context_of_later_steps() {
    let plan = project().plan;
    let context = |node: &str, artifact: Value, state: Value| Value::Object(route(&plan, node, &artifact, &state).1);
    let candidate = json!({"match": true, "confidence": 0.5, "prior_rca_id": 5});
    assert_eq!(context("recall", candidate.clone(), json!({})), json!({ "recall_candidate": candidate }));
    assert_eq!(context("triage", json!({"candidate_repos": ["a"]}), json!({})), json!({"selected_repos": [{"name": "a"}]}));
    let exhausted = json!({"convergence_score": 0.1, "evidence_refs": ["e"]});
    assert_eq!(context("investigate", exhausted, json!({"loops": {"investigate": 2}})), json!({"defect_type": "ti001"}));
    assert_eq!(context("review", json!({"decision": "overturn"}), json!({})), json!({"human_override": {}}));
    let third = json!({"loops": {"reassess": 2}});
    assert!(context("review", json!({"decision": "reassess"}), third)["reassess_warning"].as_str().unwrap().contains("3 times"));
    assert_eq!(context("review", json!({"decision": "reassess"}), json!({"loops": {"reassess": 1}})), json!({}));
    let (way, context, advisories) =
        route(&plan, "triage", &json!({"symptom_category": "flake", "clock_skew_suspected": true}), &json!({}));
    assert_eq!((way.as_str(), advisories), ("H5 -> review", vec!["H17".to_owned()]));
    assert!(context.contains_key("clock_skew_advisory"));
}

#[test]
fn a_cap_stops_agents_and_scripts_but_not_people() {
    let mut set = Map::new();
    set.insert("max_reassess".into(), json!(1));
    let plan = project().plan_with(&set).unwrap();
    let state = json!({"loops": {"reassess": 1}});
    assert_eq!(route(&plan, "review", &json!({"decision": "reassess", "by": "script"}), &state).0, "review-defer -> report");
    assert_eq!(route(&plan, "review", &json!({"decision": "reassess"}), &state).0, "review-defer -> report");
    assert_eq!(route(&plan, "review", &json!({"decision": "reassess", "by": "human"}), &state).0, "H13 -> resolve");
    assert_eq!(route(&plan, "review", &json!({"decision": "reassess"}), &json!({})).0, "H13 -> resolve");
}

#[test]
fn the_published_vectors() {
    let Some(vectors) = shared_json("vectors/rca_routes.json") else { return };
    let project = project();
    for vector in vectors["vectors"].as_array().unwrap() {
        let plan = project.plan_with(vector["vars"].as_object().unwrap()).unwrap();
        let (way, context, advisories) = route(&plan, vector["node"].as_str().unwrap(), &vector["artifact"], &vector["state"]);
        let decided = &vector["decided"];
        let expected = match decided["error"].as_str() {
            Some(kind) => kind.to_owned(),
            None => format!("{} -> {}", decided["edge"].as_str().unwrap(), decided["to"].as_str().unwrap()),
        };
        assert_eq!(way, expected, "{}", vector["id"]);
        assert_eq!(json!(advisories), *decided.get("advisories").unwrap_or(&json!([])), "{}", vector["id"]);
        for (key, value) in vector["expect"]["context_values"].as_object().into_iter().flatten() {
            assert_eq!(context.get(key), Some(value), "{}", vector["id"]);
        }
    }
}
