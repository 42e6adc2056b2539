//! Property test: replays of the bundled launch with edited vars and rules agree with fresh walks.
#![allow(clippy::unwrap_used)]

use super::answer_check::AnswerCheck;
use super::answer_inputs::AnswerInputs;
use super::answer_maker::{AnswerMaker, ScriptedAnswers};
use super::case_record::CaseRecord;
use super::recorded_walk::{AdvisedNodes, RecordedWalk};
use super::replay_walk::{ReplayOutcome, ReplayWalk};
use super::reuse_check::{ReuseCheck, TextComparison};
use crate::StepEnd;
use crate::testing::TraceFixture;
use asterisk_adapters::agent::{ScriptAnswerer, StubAnswers};
use asterisk_base::clock::{FixedClock, Timestamp};
use asterisk_base::model::{Hash, Launch};
use asterisk_diag::Source;
use asterisk_pipeline::NodeIx;
use asterisk_project::{AnswererNames, Project};
use asterisk_script::View;
use asterisk_session::{Session, SessionError};
use asterisk_store::Store;
use asterisk_walk::{
    Answerer, EventBody, NullJournal, NullQueries, Plan, Queries, QuerySubject, WalkEnd, WalkState, Walker, assemble,
    assemble_part,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

/// The rules that are edited.
const RULES: &str = include_str!("../../../../scripts/rules/rca.rhai");

/// A recorded run, to be replayed and walked afresh.
struct Run {
    launch: Launch,
    tapes: Vec<RecordedWalk>,
    stub: StubAnswers,
    /// The results of queries by case and name; nothing where they differ between the steps of a case.
    needs: RecordedQueries,
    /// The edges taken, by case.
    edges: Vec<Vec<String>>,
}

/// Answers queries from the record.
#[derive(Default)]
struct RecordedQueries(BTreeMap<(String, String), Option<Value>>);

impl RecordedQueries {
    fn add(&mut self, case: &str, needs: &Value) {
        for (name, value) in needs.as_object().into_iter().flatten() {
            let known = self.0.entry((case.to_owned(), name.clone())).or_insert_with(|| Some(value.clone()));
            if known.as_ref() != Some(value) {
                *known = None;
            }
        }
    }

    /// Whether every query has one result for a case.
    fn is_clear(&self, case: &str) -> bool {
        self.0.iter().filter(|((of, _), _)| of == case).all(|(_, value)| value.is_some())
    }
}

impl Queries for RecordedQueries {
    fn query(&self, name: &str, about: &QuerySubject<'_>) -> Result<Value, String> {
        // Decisions on roots are part of the recorded root; none are made here.
        if name == "roots.said" {
            return NullQueries.query(name, about);
        }
        let key = (about.case.id.clone(), name.replace('.', "_"));
        self.0.get(&key).cloned().flatten().ok_or_else(|| format!("`{name}` was not recorded"))
    }
}

struct World {
    ground: TraceFixture,
    scripts: tempfile::TempDir,
    base: Project,
    artifacts: BTreeMap<Hash, Value>,
    runs: Vec<Run>,
    /// The names of the runs.
    names: Vec<String>,
    edits: Vec<String>,
}

/// The rules with one edit each: a reversed comparison, or a negated condition.
fn edits() -> Vec<String> {
    let mut edits = Vec::new();
    let other = [(" >= ", " < "), (" < ", " >= "), (" != ", " == "), (" == ", " != "), (" || ", " && "), (" && ", " || ")];
    let code = RULES.find("\nfn ").unwrap();
    for (from, to) in other {
        let found = RULES[code..].match_indices(from).map(|(at, _)| code + at);
        // Texts in strings are not comparisons.
        let said = |at: usize| RULES[..at].rsplit('\n').next().is_some_and(|line| line.contains('`') || line.contains("///"));
        edits.extend(found.filter(|at| !said(*at)).map(|at| format!("{}{to}{}", &RULES[..at], &RULES[at + from.len()..])));
    }
    for (at, _) in RULES.match_indices("    if ") {
        let (from, to) = (at + 7, at + RULES[at..].find(" {").unwrap());
        edits.push(format!("{}!({}){}", &RULES[..from], &RULES[from..to], &RULES[to..]));
    }
    edits
}

impl World {
    fn new() -> Self {
        let ground = TraceFixture::with(&[]);
        // The second run sees the findings of the first.
        let runs = [ground.run_example().run, ground.run_example().run];
        let store = Store::read_only(&ground.session.setup().store).unwrap();
        let mut artifacts = BTreeMap::new();
        let names = runs.to_vec();
        let runs = runs.map(|run| Run::read(&store, &run, &mut artifacts)).into();
        let base = ground.session.project(None, AnswererNames::Others).unwrap();
        Self { ground, scripts: tempfile::tempdir().unwrap(), base, artifacts, runs, names, edits: edits() }
    }

    /// The project with these rules; `None` if they do not link.
    fn linked(&self, rules: &str) -> Option<Project> {
        let dir = self.scripts.path();
        std::fs::create_dir_all(dir.join("rules")).unwrap();
        std::fs::write(dir.join("rules/rca.rhai"), rules).unwrap();
        let session = Session::new(self.ground.session.setup().clone().with_scripts(dir));
        session.project_after(None, AnswererNames::Others, Some(&self.base)).ok()
    }

    fn again(&self, run: &Run, plan: &Plan, same: &AnswerInputs, reuse: Option<&ReuseCheck>, at: usize) -> ReplayOutcome {
        let mut artifact = |hash: &Hash, plan: &Plan, node: NodeIx| {
            Ok::<_, SessionError>(View::of(&self.artifacts[hash], &plan.node(node).kind, "artifact"))
        };
        let case = &run.launch.cases[at].id;
        ReplayWalk { plan, same, reuse, answers: None, seed: 0, case, inherited: None, needs: &[], follow: true }
            .case(&run.tapes[at], &mut artifact)
            .unwrap()
    }
}

impl Run {
    fn read(store: &Store, run: &str, artifacts: &mut BTreeMap<Hash, Value>) -> Self {
        let launch = store.launch(run, |_, case| Some(case)).unwrap();
        let mut stub = json!({});
        let mut edges: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut needs = RecordedQueries::default();
        let text = |hash: &Hash| Ok::<_, ()>(store.blob(hash).unwrap().unwrap().to_string());
        for (_, event) in store.all_events(run).unwrap() {
            match event.what {
                EventBody::Verdict { needs: Some(read), .. } => {
                    needs.add(&event.case, &assemble(&text(&read.hash()).unwrap(), &mut |hash| text(hash)).unwrap());
                }
                EventBody::NodeExit { node, artifact, params, .. } => {
                    if let Some(params) = params {
                        let read = assemble_part(&text(&params.hash()).unwrap(), "needs", &mut |hash| text(hash)).unwrap();
                        needs.add(&event.case, &read.unwrap());
                    }
                    let hash = artifact.hash();
                    let value: Value = serde_json::from_str(&store.blob(&hash).unwrap().unwrap()).unwrap();
                    let answers = &mut stub[&*event.case][&*node];
                    match answers.as_array_mut() {
                        Some(list) => list.push(value.clone()),
                        None => *answers = json!([value]),
                    }
                    artifacts.insert(hash, value);
                }
                EventBody::Transition { edge, .. } => edges.entry(event.case.to_string()).or_default().push(edge.to_string()),
                _ => {}
            }
        }
        let read = |reading: &asterisk_store::StoreReading<'_>| {
            launch
                .cases
                .iter()
                .map(|case| RecordedWalk::read(reading, &case.id, &AdvisedNodes::Any))
                .collect::<Result<_, SessionError>>()
        };
        Self {
            tapes: store.reading(run, read).unwrap(),
            edges: launch.cases.iter().map(|case| edges.remove(&case.id).unwrap()).collect(),
            needs,
            stub: StubAnswers::parse(&Source::new("answers", stub.to_string())).unwrap(),
            launch,
        }
    }

    /// A fresh walk of a case on its recorded answers, which have passed their masks.
    fn fresh(&self, plan: &Plan, at: usize) -> (WalkState, WalkEnd) {
        let mut plan = plan.clone();
        plan.nodes.iter_mut().for_each(|node| {
            node.needs.clear();
            node.masks.clear();
        });
        self.walk(plan, at, &self.stub, &NullQueries)
    }

    /// A fresh walk of a case by the scripts, on its recorded queries.
    fn scripted(&self, plan: &Plan, at: usize) -> (WalkState, WalkEnd) {
        self.walk(plan.clone(), at, &ScriptAnswerer, &self.needs)
    }

    fn walk(&self, mut plan: Plan, at: usize, answer: &dyn Answerer, needs: &dyn Queries) -> (WalkState, WalkEnd) {
        plan.nodes.iter_mut().for_each(|node| node.effect = None);
        let (clock, stop) = (FixedClock::new(Timestamp::from_millis(1_700_000_000_000), 0), AtomicBool::new(false));
        let walker = Walker {
            plan: &plan,
            plans: None,
            shadow: None,
            answer,
            needs,
            journal: &NullJournal,
            clock: &clock,
            since: asterisk_base::clock::Timestamp::default(),
            run: "anew",
            seed: 0,
            launch: &self.launch,
            stop: &stop,
            inherited: None,
            until: usize::MAX,
            parallel: 1,
            watch: None,
        };
        let mut state = WalkState::default();
        let end = walker.walk(&self.launch.cases[at], &mut state).unwrap();
        (state, end)
    }
}

/// Compares a replayed case with a fresh walk, as far as answers are known. Returns the number of flips.
fn verify(again: &ReplayOutcome, recorded: &[String], state: &WalkState, end: &WalkEnd) -> Result<usize, TestCaseError> {
    let edges: Vec<&str> = state.history.iter().map(|visit| &*visit.edge).collect();
    let nodes: Vec<&str> = state.path.iter().map(|node| &**node).collect();
    let made: Vec<_> = again.decisions.iter().filter(|decision| decision.place.is_some()).collect();
    for (at, decision) in made.iter().enumerate() {
        prop_assert_eq!(nodes.get(at).copied(), Some(&*decision.node));
        match &decision.now {
            StepEnd::To { edge, .. } => prop_assert_eq!(edges.get(at).copied(), Some(&**edge)),
            StepEnd::Over => prop_assert!(at + 1 == nodes.len() && matches!(end, WalkEnd::Done), "{:?}", end),
            StepEnd::Failed { kind, .. } => {
                let WalkEnd::Failed(failure) = end else { panic!("{end:?}") };
                prop_assert_eq!((at + 1, kind.as_str()), (nodes.len(), failure.kind.word()));
            }
            StepEnd::Open => panic!("{decision:?}"),
        }
    }
    match &again.unknown {
        Some((node, _)) => prop_assert_eq!(nodes.get(made.len()).copied(), Some(&**node)),
        None => prop_assert_eq!(made.len(), nodes.len()),
    }
    // The first flip is where the edges first differ, if the answers reach so far.
    let differ = (0..made.len()).find(|at| edges.get(*at).copied() != recorded.get(*at).map(String::as_str));
    prop_assert_eq!(again.decisions.iter().position(super::replay_walk::ReplayedDecision::flipped), differ);
    Ok(again.decisions.iter().filter(|decision| decision.flipped()).count())
}

/// The path of a walk, step by step.
fn path_of(walked: &ReplayOutcome) -> Vec<(&str, &str, Option<StepEnd>)> {
    let result = |decision: &super::replay_walk::ReplayedDecision| match &decision.now {
        // Reused decisions are recorded without reasons.
        StepEnd::To { to, edge, context, .. } => {
            StepEnd::To { to: to.clone(), edge: edge.clone(), because: "".into(), context: context.clone() }
        }
        end => end.clone(),
    };
    let unknown = walked.unknown.iter().map(|(node, path)| (node.as_str(), path.as_str(), None));
    let made = walked.decisions.iter().map(|decision| (decision.node.as_str(), decision.path.as_str(), Some(result(decision))));
    made.chain(unknown).collect()
}

fn vars() -> impl Strategy<Value = Map<String, Value>> {
    let share = || (0..=20_u8).prop_map(|n| json!(f64::from(n) / 20.0));
    let one = prop_oneof![
        (prop::sample::select(vec!["recall_hit", "recall_uncertain", "convergence_sufficient", "correlate_dup"]), share()),
        (prop::sample::select(vec!["max_investigate_loops", "max_reassess"]), (0..4_u8).prop_map(|n| json!(n))),
    ];
    prop::collection::vec(one, 0..3).prop_map(|set| set.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

#[test]
fn replays_with_edits_agree_with_fresh_walks() {
    let world = World::new();
    let config = ProptestConfig { cases: 80, failure_persistence: None, max_shrink_iters: 64, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let tried = (prop::collection::vec(vars(), 4), prop::option::weighted(0.9, any::<prop::sample::Index>()), 0..4_usize);
    let seen = std::cell::RefCell::new((0, 0, 0, 0, BTreeSet::new()));
    runner
        .run(&tried, |(sets, edit, from)| {
            let rules: &str = edit.map_or(RULES, |edit| &world.edits[edit.index(world.edits.len())]);
            let Some(project) = world.linked(rules) else { return Ok(()) };
            let same = AnswerInputs::of(&project);
            let mut compared = TextComparison::new(&world.base, &project);
            for vars in sets {
                let plan = project.plan_with(&vars).unwrap();
                let reuse = compared.reuse(&plan);
                let mut seen = seen.borrow_mut();
                seen.0 += 1;
                seen.4.insert(rules.to_owned());
                for run in &world.runs {
                    for at in (from..run.tapes.len()).step_by(4) {
                        let again = world.again(run, &plan, &same, Some(&reuse), at);
                        // Reused decisions equal reevaluated ones.
                        let all = world.again(run, &plan, &same, None, at);
                        prop_assert_eq!(path_of(&again), path_of(&all));
                        let (state, end) = run.fresh(&plan, at);
                        seen.1 += verify(&again, &run.edges[at], &state, &end)?;
                        seen.2 += usize::from(again.unknown.is_some());
                        seen.3 += 1;
                    }
                }
            }
            Ok(())
        })
        .unwrap();
    let (plans, flips, unknown, cases, rules) = seen.into_inner();
    let counts = format!(
        "{plans} plans, {flips} flips, {cases} cases, {unknown} of them unknown beyond, {} of {} edits",
        rules.len(),
        world.edits.len()
    );
    assert!(plans >= 250 && rules.len() >= 20 && flips >= 200 && unknown >= 100 && cases - unknown >= 200, "{counts}");
}

/// Edits of scripts and data that change what scripts answer.
const ANSWER_EDITS: &[(&str, &str, &str)] = &[
    ("agents/triage.rhai", "skip_investigation: sure &&", "skip_investigation: sure && false &&"),
    (
        "agents/triage.rhai",
        "symptom_category: category,",
        "symptom_category: if category == \"assertion\" { \"infra\" } else { category },",
    ),
    ("agents/triage.rhai", "severity: found.severity,", "severity: found.severity, defect_type: `x`,"),
    ("agents/investigate.rhai", "convergence_score: convergence,", "convergence_score: convergence * 0.7,"),
    ("agents/investigate.rhai", "component: found.component,", "component: \"all\","),
    ("agents/review.rhai", "{ \"approve\" } else { \"defer\" }", "{ \"overturn\" } else { \"overturn\" }"),
    (
        "agents/recall.rhai",
        "fn recall(params, vars) {",
        "fn recall(params, vars) {\n    if params.failure.suite != \"\" { throw \"no\"; }",
    ),
    (
        "data/signatures/database.yaml",
        "weights: { pb001: 1, en001: 0.2 }\n    group: schema",
        "weights: { au001: 3 }\n    group: schema",
    ),
    (
        "verdicts/frames.rhai",
        "fn product_threw(evidence, context, vars) {",
        "fn product_threw(evidence, context, vars) {\n    if true { return false; }",
    ),
];

/// Edited responders, verdict rules and signatures: a replay makes the answers that a fresh run by the scripts gives, on the recorded
/// queries.
#[test]
fn replays_make_scripted_answers_as_fresh_walks_do() {
    let world = World::new();
    let store = Store::read_only(&world.ground.session.setup().store).unwrap();
    let (mut compared, mut changed, mut unknown) = (0, 0, 0);
    for (file, from, to) in ANSWER_EDITS {
        let bundled = std::fs::read_to_string(format!("{}/../../scripts/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert!(bundled.contains(from), "{file}: {from}");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bundled.replace(from, to)).unwrap();
        let session = Session::new(world.ground.session.setup().clone().with_scripts(dir.path()));
        let project = session.project(None, AnswererNames::Others).unwrap();
        let (plan, same) = (&project.plan, AnswerInputs::of(&project));
        let check = AnswerCheck::of(Some(&world.base), plan, &same);
        let reuse = TextComparison::new(&world.base, &project).reuse(plan);
        for (run, name) in world.runs.iter().zip(&world.names).take(1) {
            let launch = store.launch_alone(name).unwrap();
            for (at, case) in run.launch.cases.iter().enumerate().filter(|(_, case)| run.needs.is_clear(&case.id)) {
                let replay = |reading: &asterisk_store::StoreReading<'_>| {
                    let record = CaseRecord::new(reading, (name, &launch), &case.id, run.tapes[at].verdict.as_ref());
                    let answers = ScriptedAnswers::new(&record, plan, None);
                    let answers = Some(AnswerMaker { answers: &answers, check: &check });
                    let mut artifact = |hash: &Hash, plan: &Plan, node: NodeIx| {
                        Ok::<_, SessionError>(View::of(&world.artifacts[hash], &plan.node(node).kind, "artifact"))
                    };
                    let (seed, case, same) = (0, case.id.as_str(), &same);
                    let reuse = Some(&reuse);
                    ReplayWalk { plan, same, reuse, answers, seed, case, inherited: None, needs: &[], follow: true }
                        .case(&run.tapes[at], &mut artifact)
                };
                let again = store.reading(name, replay).unwrap();
                let (state, end) = run.scripted(plan, at);
                verify(&again, &run.edges[at], &state, &end).unwrap_or_else(|error| panic!("{file}, {to}, {}: {error}", case.id));
                compared += 1;
                changed += usize::from(!again.answers.is_empty());
                unknown += usize::from(again.unknown.is_some());
            }
        }
    }
    let counts = format!("{compared} cases compared, {changed} with other answers, {unknown} of them unknown beyond");
    assert!(compared >= 20 && changed >= 8 && unknown * 2 <= compared, "{counts}");
}
