//! The bundled pipeline with canned answers: seven steps, fifteen edge evaluations.

#![allow(dead_code, reason = "not every bench uses everything")]

use asterisk_base::clock::{FixedClock, Timestamp};
use asterisk_base::model::{Case, Launch};
use asterisk_project::AnswererNames;
use asterisk_session::{Session, Setup};
use asterisk_store::{NewRun, RunJournal, Store};
use asterisk_walk::{Answerer, Blob, Journal, NodeAnswer, NullQueries, Plan, Refusal, Request, WalkEnd, WalkState, Walker};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The edges of the path that the canned answers produce.
pub(crate) const EDGES: [&str; 7] = ["H2", "H6", "H8", "H9", "H15b", "H12", "H16"];

/// The setup of a session with only the bundled files.
pub(crate) fn setup() -> Setup {
    Setup::bare(PathBuf::from("unused"), Arc::new(clock()))
}

/// Links the bundled project.
pub(crate) fn plan() -> Plan {
    let project = Session::new(setup()).project(None, AnswererNames::Others).expect("the bundled project links");
    Plan::clone(&project.plan)
}

/// The plan without queries, masks, effects and item lists: only the walk and its decisions.
pub(crate) fn decisions_only(mut plan: Plan) -> Plan {
    for node in &mut plan.nodes {
        node.needs.clear();
        node.masks.clear();
        node.effect = None;
        node.foreach = None;
    }
    plan
}

/// A stopped clock.
pub(crate) fn clock() -> FixedClock {
    FixedClock::new(Timestamp::from_millis(1_771_104_069_000), 0)
}

/// A launch with the given number of cases.
pub(crate) fn launch(cases: usize) -> Launch {
    let case = |n: usize| Case {
        id: format!("case-{n}"),
        name: format!("suite/test {n} keeps its offset"),
        status: "FAILED".into(),
        error_message: format!("Expected offset {n} to be below 100"),
        ..Case::default()
    };
    Launch { run_id: "1".into(), name: "nightly".into(), cases: (1..=cases).map(case).collect(), ..Launch::default() }
}

/// Answers every node of a case with a prepared artifact.
pub(crate) struct Canned(Vec<Vec<(&'static str, Arc<Value>)>>);

impl Canned {
    /// Prepares answers for the given number of cases.
    pub(crate) fn new(cases: usize) -> Self {
        Self((1..=cases).map(|n| artifacts(n).into_iter().map(|(node, value)| (node, Arc::new(value))).collect()).collect())
    }
}

impl Answerer for Canned {
    fn name(&self) -> &'static str {
        "stub"
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        let case: usize = request.case.id["case-".len()..].parse().expect("cases are numbered");
        let artifacts = &self.0[case - 1];
        let (_, artifact) = artifacts.iter().find(|(node, _)| *node == request.node_name()).expect("an answer for each node");
        Ok(NodeAnswer::own(Arc::clone(artifact), "stub", false))
    }
}

/// Answers every request with the same artifact.
pub(crate) struct Same(pub(crate) Arc<Value>);

impl Answerer for Same {
    fn name(&self) -> &'static str {
        "same"
    }

    fn answer(&self, _: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        Ok(NodeAnswer::own(Arc::clone(&self.0), "stub", false))
    }
}

/// Begins a run over the cases of a launch.
pub(crate) fn begin(store: &Store, run: &str, launch: &Launch) -> RunJournal {
    let new = NewRun {
        run,
        pipeline: "bench",
        started_at: Timestamp::default(),
        settings: Blob::new("{}"),
        manifest: Blob::new("{ }"),
        blobs: Vec::new(),
        launch,
        cases: launch.cases.iter().collect(),
    };
    store.begin_run(&new).expect("a run")
}

/// The canned answers: artifacts of typical size.
pub(crate) fn artifacts(n: usize) -> [(&'static str, Value); 7] {
    let why = format!("case {n}: the offset rises right after the clock servo was restarted, as in the two runs before this one");
    [
        ("recall", json!({ "match": false, "confidence": 0.21, "reasoning": why, "is_regression": false })),
        (
            "triage",
            json!({
                "symptom_category": "product", "severity": "high", "defect_type_hypothesis": "pb001", "skip_investigation": false,
                "candidate_repos": ["clock-operator", "clock-daemon"], "clock_skew_suspected": false, "reasoning": why,
            }),
        ),
        (
            "resolve",
            json!({
                "selected_repos": [{ "name": "clock-daemon", "path": "src/clock-daemon", "reason": why }],
                "cross_ref_strategy": "blame the servo first",
            }),
        ),
        (
            "investigate",
            json!({
                "rca_message": why, "defect_type": "pb001", "convergence_score": 0.85, "component": "servo",
                "evidence_refs": ["src/servo.c:120", "src/servo.c:188"], "case_ids": [format!("case-{n}")],
            }),
        ),
        ("correlate", json!({ "is_duplicate": false, "confidence": 0.3, "reasoning": why })),
        ("review", json!({ "decision": "approve", "reasoning": why, "by": "agent" })),
        ("report", json!({ "title": format!("Offset of case {n}"), "summary": why, "labels": ["clock", "servo"] })),
    ]
}

/// Walks one case from the first node to the end.
pub(crate) fn walk(plan: &Plan, answer: &dyn Answerer, journal: &dyn Journal, launch: &Launch, case: usize) -> WalkState {
    let (clock, stop) = (clock(), AtomicBool::new(false));
    let walker = Walker {
        plan,
        plans: None,
        shadow: None,
        answer,
        needs: &NullQueries,
        journal,
        clock: &clock,
        since: asterisk_base::clock::Timestamp::default(),
        run: "run",
        seed: 0,
        launch,
        stop: &stop,
        inherited: None,
        until: usize::MAX,
        parallel: 4,
        watch: None,
    };
    let mut state = WalkState::default();
    let end = walker.walk(&launch.cases[case], &mut state).expect("the journal takes everything");
    assert!(matches!(end, WalkEnd::Done), "{end:?}");
    state
}
