//! State is a fold over events: for any small pipeline, the journal reproduces the live state, and a walk resumed
//! from any of its commits ends as the undisturbed one.

use asterisk_adapters::agent::StubAnswers;
use asterisk_base::clock::{Clock, Timestamp};
use asterisk_base::model::{Case, Launch};
use asterisk_diag::Source;
use asterisk_project::{AnswererNames, LinkSettings, Project, Sources};
use asterisk_script::View;
use asterisk_walk::{Commit, Content, Event, Journal, JournalError, NullQueries, Visit, WalkState, WalkStatus, Walker};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A journal in memory, which may order the walk to stop after some commits.
#[derive(Default)]
struct Memory {
    commits: Mutex<Vec<Commit>>,
    stop: AtomicBool,
    left: Option<AtomicUsize>,
}

impl Journal for Memory {
    fn commit(&self, commit: Commit) -> Result<(), JournalError> {
        self.commits.lock().unwrap().push(commit);
        if self.left.as_ref().is_some_and(|left| left.fetch_sub(1, Ordering::Relaxed) == 1) {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// A clock by which every step begins at the same instant and takes 10 ms.
#[derive(Default)]
struct Ticking(AtomicBool);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        let later = self.0.fetch_xor(true, Ordering::Relaxed);
        Timestamp::from_millis(1_771_104_069_000 + i64::from(later) * 10)
    }
}

/// A pipeline of a few nodes and edges between any of them, with answers for more visits than it can make.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) yaml: Value,
    pub(crate) stub: Value,
}

const VISITS: usize = 16;

/// An edge: from, to (5 is done), which condition, whether it loops, whether it may be a guard.
type Edge = (usize, usize, u8, bool, bool);

fn worlds() -> impl Strategy<Value = World> {
    pairs().prop_map(|(world, _)| world)
}

fn edge() -> impl Strategy<Value = Edge> {
    (0..5_usize, 0..6_usize, 0..6_u8, any::<bool>(), any::<bool>())
}

/// Two pipelines of the same nodes and answers, the second with some edges otherwise.
pub(crate) fn pairs() -> impl Strategy<Value = (World, World)> {
    let answers = prop::collection::vec(0..4_i64, 5 * VISITS);
    let edits = prop::collection::vec((any::<prop::sample::Index>(), edge()), 1..4);
    (2..=5_usize, prop::collection::vec(edge(), 1..12), edits, answers, any::<[bool; 5]>()).prop_map(
        |(count, edges, edits, answers, falls)| {
            let mut edited = edges.clone();
            for (index, edge) in edits {
                let at = index.index(edited.len());
                edited[at] = edge;
            }
            (world(count, &edges, &answers, falls), world(count, &edited, &answers, falls))
        },
    )
}

fn world(count: usize, edges: &[Edge], answers: &[i64], falls: [bool; 5]) -> World {
    let name = |at: usize| format!("n{}", at % count);
    let node = |at: usize| {
        let mut node = json!({ "name": name(at), "confidence": "c", "schema": { "n?": "int", "c?": "number" } });
        if falls[at] {
            node["fallback"] = json!(if at + 1 < count { name(at + 1) } else { "_done".to_owned() });
        }
        node
    };
    let edge = |(at, (from, to, when, looped, guard)): (usize, &Edge)| {
        let to = if *to == 5 { "_done".to_owned() } else { name(*to) };
        let from = if *guard && at % 4 == 3 { "*".to_owned() } else { name(*from) };
        let mut edge = json!({ "id": format!("e{at}"), "from": from, "to": to, "context": { format!("k{}", at % 3): at } });
        if *looped {
            edge["loop"] = json!(true);
            edge["counter"] = json!(format!("c{}", at % 2));
        }
        let condition = match when {
            0 => return edge,
            1 => "n > 1".to_owned(),
            2 => format!("state.loops.c{} < 3", at % 2),
            3 => "state.history.len() > 2 && n == 0".to_owned(),
            4 => "state.confidence >= 0.5".to_owned(),
            _ => "state.context.contains(\"k1\") || state.chance < 0.3".to_owned(),
        };
        edge["condition"] = json!(condition);
        edge
    };
    let list = |at: usize| -> Value {
        let sure = |n: i64| [0.0, 0.4, 0.6, 1.0][usize::try_from(n).unwrap()];
        answers[at * VISITS..(at + 1) * VISITS].iter().map(|n| json!({ "n": n, "c": sure(*n) })).collect()
    };
    World {
        yaml: json!({
            "pipeline": "any", "max_steps": 14, "thermal": { "warning_ms": 30, "ceiling_ms": 100 }, "on_rule_error": "skip", "start": "n0", "done": "_done",
            "nodes": (0..count).map(node).collect::<Vec<_>>(),
            "edges": edges.iter().enumerate().map(edge).collect::<Vec<_>>(),
        }),
        stub: json!({ "*": (0..count).map(|at| (name(at), list(at))).collect::<BTreeMap<_, _>>() }),
    }
}

/// Walks the world's one case on from a state; returns the events of the journal, commit by commit.
fn walk(project: &Project, stub: &StubAnswers, state: &mut WalkState, steps: Option<usize>) -> Vec<Vec<Event>> {
    let journal = Memory { left: steps.map(AtomicUsize::new), ..Memory::default() };
    let clock = Ticking::default();
    let case = Case { id: "c".into(), name: "c".into(), ..Case::default() };
    let walker = Walker {
        plan: &project.plan,
        plans: None,
        shadow: None,
        answer: stub,
        needs: &NullQueries,
        journal: &journal,
        clock: &clock,
        since: asterisk_base::clock::Timestamp::default(),
        run: "r",
        seed: 7,
        launch: &Launch::default(),
        stop: &journal.stop,
        inherited: None,
        until: usize::MAX,
        parallel: 4,
        watch: None,
    };
    walker.walk(&case, state).unwrap();
    journal.commits.into_inner().unwrap().into_iter().map(|commit| commit.events).collect()
}

/// Everything of a state that is not derived from the rest.
fn shown(state: &WalkState) -> Value {
    let visit = |visit: &Visit| json!([visit.node, visit.edge, visit.because, visit.at]);
    json!({
        "node": state.node, "status": state.status, "error": state.error, "steps": state.steps, "path": state.path,
        "history": state.history.iter().map(visit).collect::<Vec<_>>(), "loops": state.loops, "context": state.context,
        "confidence": state.confidence, "handoffs": state.handoffs, "bindings": state.bindings,
        "prior": state.prior, "visits": state.visits, "started_at": state.started_at,
        "spent_ms": state.spent_ms, "answers": state.answers,
    })
}

/// The state that these commits give, read back as from a store: events by their wire form, content by address, then the
/// latest artifacts put back.
fn read_back(project: &Project, commits: &[Vec<Event>]) -> WalkState {
    let events: Vec<Event> =
        commits.iter().flatten().map(|event| serde_json::from_value(serde_json::to_value(event).unwrap()).unwrap()).collect();
    let mut state = WalkState::fold(&events);
    for (name, artifact) in &mut state.prior {
        let of = |content: &&Content| content.hash() == artifact.hash();
        let content = commits.iter().flatten().flat_map(|event| event.what.contents()).find(of).unwrap();
        let value: Value = serde_json::from_str(&content.text().unwrap()).unwrap();
        let node = project.plan.pipeline.node(name).unwrap();
        *artifact = Content::new(View::of(&value, &project.plan.node(node).kind, "artifact"));
    }
    state
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_walk_resumed_from_any_of_its_commits_ends_the_same(world in worlds(), cuts in prop::collection::vec(1..6_usize, 0..6)) {
        let pipeline = Source::new("any.yaml", world.yaml.to_string());
        let sources = Sources { scripts: Vec::new(), templates: Vec::new(), data: Vec::new(), pipeline, subpipelines: BTreeMap::new(), missing: BTreeMap::new(), bundle: None };
        let project = Project::link(sources, LinkSettings { answers: AnswererNames::Others, ..LinkSettings::default() }).unwrap();
        let stub = StubAnswers::parse(&Source::new("stub", world.stub.to_string())).unwrap();

        let mut live = WalkState::default();
        let commits = walk(&project, &stub, &mut live, None);
        prop_assert!(matches!(live.status, WalkStatus::Done | WalkStatus::Error));
        prop_assert_eq!(shown(&WalkState::fold(commits.iter().flatten())), shown(&live));
        prop_assert_eq!(shown(&read_back(&project, &commits)), shown(&live));

        // Stopped after this number of steps, repeatedly.
        let mut so_far: Vec<Vec<Event>> = Vec::new();
        for steps in cuts.into_iter().map(Some).chain([None]) {
            let mut state = read_back(&project, &so_far);
            so_far.extend(walk(&project, &stub, &mut state, steps));
            let (mut folded, mut now) = (shown(&WalkState::fold(so_far.iter().flatten())), shown(&state));
            // Stopping a walk is not recorded as an event.
            if now["status"] == "paused" {
                (folded["status"], now["status"]) = (Value::Null, Value::Null);
            }
            prop_assert_eq!(folded, now);
        }
        prop_assert_eq!(serde_json::to_value(&so_far).unwrap(), serde_json::to_value(&commits).unwrap());

        // Killed after any number of commits.
        for kept in 0..=commits.len() {
            let mut state = read_back(&project, &commits[..kept]);
            let more = walk(&project, &stub, &mut state, None);
            prop_assert_eq!(shown(&state), shown(&live));
            prop_assert_eq!(more.len(), commits.len() - kept);
        }
    }

    #[test]
    fn a_team_of_one_walks_like_no_team(world in worlds()) {
        let link = |yaml: &Value| {
            let scripts = vec![Source::new("one.rhai", "fn select(ctx) { ctx.walkers[0].name }")];
            let pipeline = Source::new("any.yaml", yaml.to_string());
            let sources = Sources { scripts, templates: Vec::new(), data: Vec::new(), pipeline, subpipelines: BTreeMap::new(), missing: BTreeMap::new(), bundle: None };
            Project::link(sources, LinkSettings { answers: AnswererNames::Others, ..LinkSettings::default() }).unwrap()
        };
        let mut team = world.yaml.clone();
        team["team"] = json!({ "walkers": [{ "name": "Solo" }], "scheduler": "one.rhai" });
        let stub = StubAnswers::parse(&Source::new("stub", world.stub.to_string())).unwrap();
        let walked = |yaml: &Value| {
            let mut state = WalkState::default();
            let commits = walk(&link(yaml), &stub, &mut state, None);
            // What rules see of the walker is all that differs, and with it the address of the state.
            let reported = |event: &Event| {
                let mut reported = serde_json::to_value(event).unwrap();
                reported.as_object_mut().unwrap().remove("state");
                reported
            };
            (commits.iter().flatten().map(reported).collect::<Vec<Value>>(), shown(&state))
        };
        let ((plain, plain_end), (mut team, team_end)) = (walked(&world.yaml), walked(&team));
        prop_assert_eq!(&team.remove(0)["type"], "walker_switch");
        prop_assert_eq!(team, plain);
        prop_assert_eq!(team_end, plain_end);
    }
}
