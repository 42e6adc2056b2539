//! The goal loop without agents: a round of one sub-task, with the shares of journal and auditor; a round of 1 000 sub-tasks, against the same
//! empty graph; recall over 100 000 memories, against reading the same rows by hand.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk_adapters::agent::ScriptAnswerer;
use asterisk_adapters::audit::{AuditedJournal, AuditedRun, Auditor};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Attributes, Case, Effect, Launch};
use asterisk_diag::Source;
use asterisk_files::Area;
use asterisk_project::{AnswererNames, LinkSettings, Project, Sources};
use asterisk_session::Session;
use asterisk_store::{Durability, Store, StoreQueries};
use asterisk_walk::{
    Answerer, Commit, Event, EventBody, Journal, NodeAnswer, NullJournal, NullQueries, Plan, Queries, QuerySubject, Refusal,
    Request, WalkEnd, WalkState, Walker,
};
use bundled::{Same, begin};
use harness::{Table, measure, worst};
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// The number of memories in the store, and of kinds of goals.
const MEMORIES: usize = 100_000;
const KINDS: usize = 1_000;
/// The tools named by memories.
const TOOLS: [&str; 7] = ["shell", "read_file", "write_file", "glob", "grep", "http_get", "investigate"];
/// The number of rounds of a goal that is not reached.
const ROUNDS: usize = 3;

/// Answers each role with a constant, except for pure computations. Accepts the last round if `accepts`.
struct Roles {
    subtasks: Arc<Value>,
    accepts: bool,
}

impl Roles {
    fn new(subtasks: usize, accepts: bool) -> Self {
        let subtask = |n: usize| json!({ "id": format!("s{n}"), "intent": "count the files", "text": "count the files", "criteria": ["it is counted"] });
        let subtasks = (0..subtasks).map(subtask).collect::<Vec<_>>();
        Self { subtasks: Arc::new(json!({ "subtasks": subtasks, "because": "as asked", "cites": [] })), accepts }
    }
}

impl Answerer for Roles {
    fn name(&self) -> &'static str {
        "roles"
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        let verdict = |verdict: &str| json!({ "criterion": "it is counted", "verdict": verdict, "failure_class": "logical", "evidence": "glob gave 3" });
        let artifact = match request.node_name() {
            "perceive" => json!({
                "task_id": "t", "intent": "intent:count_the_files", "text": "count the files", "criteria": ["it is counted"],
                "spaces": [], "understood": true,
            }),
            "plan" => return Ok(NodeAnswer::own(Arc::clone(&self.subtasks), "stub", false)),
            "execute" => json!({ "result": { "count": 3 }, "status": "completed", "because": "3 files" }),
            "validate" if self.accepts => {
                json!({ "verdict": "matched", "score": 1.0, "criteria_verdicts": [verdict("pass")], "because": "met" })
            }
            "validate" => {
                json!({ "verdict": "failed", "score": 0.0, "criteria_verdicts": [verdict("fail")], "because": "unmet" })
            }
            "meta_validate" if self.accepts => json!({ "accepted": true, "summary": "3 files" }),
            "meta_validate" => json!({ "accepted": false, "recommendation": "replan", "gap": "it is not counted" }),
            _ => return ScriptAnswerer.answer(request),
        };
        Ok(NodeAnswer::own(Arc::new(artifact), "stub", false))
    }
}

/// The bundled loop, with a budget that its rounds do not exhaust.
fn goal() -> Arc<Plan> {
    let mut setup = bundled::setup();
    for (var, value) in [("max_replans", json!(100)), ("kill_after", json!(100)), ("theta", json!(1.0))] {
        setup.texts.vars.insert(var.into(), value);
    }
    Session::new(setup).project(Some("goal"), AnswererNames::Others).expect("the bundled goal links").plan.clone()
}

/// The empty graph of the loop, with the given numbers of rounds and of branches of three nodes each.
fn bare(rounds: usize, subtasks: usize) -> Plan {
    let items = (0..subtasks).map(|item| item.to_string()).collect::<Vec<_>>().join(", ");
    let again = if rounds > 1 {
        format!("  - {{ id: again, from: solve, to: plan, loop: true, condition: \"state.loops.again < {}\" }}\n", rounds - 1)
    } else {
        String::new()
    };
    let text = format!(
        "pipeline: p\nmax_steps: 0\nnodes:\n  - {{ name: perceive }}\n  - {{ name: plan }}\n  - {{ name: work, foreach: \"[{items}]\", do: inner, concurrency: 8 }}\n  \
         - {{ name: meta }}\n  - {{ name: solve }}\n  - {{ name: deliver }}\nedges:\n  - {{ id: a, from: perceive, to: plan }}\n  - {{ id: b, from: plan, to: work }}\n  \
         - {{ id: c, from: work, to: meta }}\n  - {{ id: d, from: meta, to: solve }}\n{again}  - {{ id: e, from: solve, to: deliver }}\n  - {{ id: f, from: deliver, to: _done }}\n\
         start: perceive\ndone: _done\n"
    );
    let inner = "pipeline: inner\nnodes: [{ name: execute }, { name: validate }, { name: conclude }]\nedges:\n  - { id: x, from: execute, to: validate }\n  \
                 - { id: y, from: validate, to: conclude }\n  - { id: z, from: conclude, to: _done }\nstart: execute\ndone: _done\n";
    let sources = Sources {
        scripts: Vec::new(),
        templates: Vec::new(),
        data: Vec::new(),
        pipeline: Source::new("p.yaml", text),
        subpipelines: BTreeMap::from([("inner".to_owned(), Source::new("inner.yaml", inner))]),
        missing: BTreeMap::new(),
        bundle: None,
    };
    let project = Project::link(sources, LinkSettings::default()).unwrap_or_else(|found| panic!("{found}"));
    Plan::clone(&project.plan)
}

/// The launch of a goal.
fn launch() -> Launch {
    let mut attributes = Attributes::default();
    attributes.insert("workdir", "/unused");
    let case = Case { id: "goal".into(), name: "count the files".into(), status: "OPEN".into(), attributes, ..Case::default() };
    Launch { run_id: "goal".into(), name: "goal".into(), cases: vec![case], ..Launch::default() }
}

/// Walks the goal for at most the given number of rounds.
fn pursue(plan: &Plan, answer: &dyn Answerer, journal: &dyn Journal, run: &str, rounds: usize) -> WalkState {
    let (clock, stop, launch) = (bundled::clock(), AtomicBool::new(false), launch());
    let seen = std::sync::atomic::AtomicUsize::new(0);
    let watch = |event: &Event| {
        let solved = matches!(&event.what, EventBody::NodeExit { node, .. } if node == "solve");
        if solved && seen.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1 == rounds {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    };
    let walker = Walker {
        plan,
        plans: None,
        shadow: None,
        answer,
        needs: &NullQueries,
        journal,
        clock: &clock,
        since: asterisk_base::clock::Timestamp::default(),
        run,
        seed: 0,
        launch: &launch,
        stop: &stop,
        inherited: None,
        until: usize::MAX,
        parallel: 4,
        watch: Some(&watch),
    };
    let mut state = WalkState::default();
    let end = walker.walk(&launch.cases[0], &mut state).expect("the journal takes everything");
    assert!(!matches!(end, WalkEnd::Failed(_)), "{end:?}");
    state
}

/// The microseconds per round: the difference between a goal with several rounds and one with a single round, each the fastest of 15.
fn a_round(mut goal: impl FnMut(usize) -> f64) -> f64 {
    let (mut one, mut all) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..15 {
        one = one.min(goal(1));
        all = all.min(goal(ROUNDS));
    }
    #[expect(clippy::cast_precision_loss, reason = "three")]
    let rounds = (ROUNDS - 1) as f64;
    (all - one) / rounds
}

fn micros(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e6
}

/// Fills a store with memories of many kinds of goals and of all tools.
fn fill(store: &Store) {
    let journal = begin(store, "before", &launch());
    for from in (0..MEMORIES).step_by(50) {
        let remember = |n: usize| Effect::Remember {
            id: Some(i64::try_from(n + 1).expect("few")),
            level: "M".into(),
            space: if n.is_multiple_of(2) {
                format!("intent:kind_{}", n / 2 % KINDS)
            } else {
                format!("tool:{}", TOOLS[n / 2 % TOOLS.len()])
            },
            entity: if n.is_multiple_of(2) { "env:local".into() } else { format!("target:file {}", n % 500) },
            content: format!("Failed. Tools: grep:pattern {n}. Gap: at least {n} files are found"),
            state: "change_approach".into(),
            f: 0.85,
            sigma: -1.0,
            k: 0.05,
        };
        let at = Timestamp::from_millis(1_771_000_000_000 + i64::try_from(from).expect("few"));
        let enter = EventBody::NodeEnter { node: "solve".into() };
        let event = Event { case: "goal".into(), path: "1".into(), at, what: enter };
        let effects = (from..from + 50).map(remember).collect();
        journal.commit(Commit { events: vec![event], effects, ..Commit::default() }).expect("a commit");
    }
}

/// Reads the same rows with prepared statements, without parsing them as memories.
fn by_hand(path: &Path, spaces: &[String]) -> impl FnMut() {
    let conn = Connection::open(path).expect("the store");
    let spaces = spaces.to_vec();
    move || {
        let mut rows = conn
            .prepare_cached("SELECT id, content FROM megrams WHERE space = ?1 ORDER BY created_at DESC LIMIT 50")
            .expect("prepares");
        let mut found = 0;
        for space in &spaces {
            found += rows.query_map(params![space], |row| row.get::<_, String>(1)).expect("rows").count();
        }
        assert!(found > 50);
    }
}

fn main() -> ExitCode {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let plan = goal();
    let same = Same(Arc::new(json!({ "n": 1 })));
    let fails = Roles::new(1, false);

    let mut table = Table::new("goal: a round of one sub-task, without agents", "us");
    let floors = [bare(1, 1), bare(ROUNDS, 1)];
    let floor =
        a_round(|rounds| micros(|| drop(pursue(&floors[usize::from(rounds > 1)], &same, &NullJournal, "run", usize::MAX))));
    let memory = a_round(|rounds| micros(|| drop(pursue(&plan, &fails, &NullJournal, "run", rounds))));
    table.plain("the same empty graph", floor);
    table.against("in memory", memory, floor);
    let mut goals = 0;
    let mut stored = |durability: Durability, audited: bool| {
        let store = Store::open(dir.path().join(format!("{durability:?}{audited}.db")), durability).expect("a store");
        a_round(|rounds| {
            goals += 1;
            let run = format!("run {goals}");
            let journal = begin(&store, &run, &launch());
            let scripts = Area::Scripts.embedded().iter().filter(|file| file.name().ends_with(".rhai"));
            let scripts = scripts.cloned().collect();
            let auditor = audited.then(|| {
                // Each goal has its own log, so that the growth of the log is not measured.
                let log = dir.path().join(format!("{goals}.jsonl"));
                Auditor::new(scripts, None, &log, &AuditedRun { run: &run, plan: &plan, goal: true, since: u64::MAX })
                    .expect("rules")
                    .expect("an audited run")
            });
            match &auditor {
                None => micros(|| drop(pursue(&plan, &fails, &journal, &run, rounds))),
                Some(auditor) => {
                    let audited = AuditedJournal { journal: &journal, auditor };
                    micros(|| drop(pursue(&plan, &fails, &audited, &run, rounds)))
                }
            }
        })
    };
    let batch = stored(Durability::Batch, false);
    table.at_most("into a store (`batch`)", batch, 5_000.0);
    let step = stored(Durability::Step, false);
    table.plain("into a store (`step`: waits for the disk)", step);
    let audited = stored(Durability::Step, true);
    table.plain("the same, audited (two waits for each message)", audited);
    let mut ends = vec![table.finish()];

    let mut table = Table::new("goal: one round of 1 000 sub-tasks, without agents", "ms");
    let (many, floor) = (Roles::new(1_000, true), bare(1, 1_000));
    let (mut hollow, mut whole) = (
        || drop(pursue(&floor, &same, &NullJournal, "run", usize::MAX)),
        || drop(pursue(&plan, &many, &NullJournal, "run", usize::MAX)),
    );
    let best = measure(5, 1, &mut [("floor", &mut hollow), ("whole", &mut whole)]);
    table.plain("the same graph with nothing in it", best[0] / 1e6);
    table.against("in memory", best[1] / 1e6, best[0] / 1e6);
    let store = Store::open(dir.path().join("many.db"), Durability::Step).expect("a store");
    let mut runs = 0;
    let mut walk = || {
        runs += 1;
        let run = format!("run {runs}");
        let journal = begin(&store, &run, &launch());
        let state = pursue(&plan, &many, &journal, &run, usize::MAX);
        assert_eq!(state.status, asterisk_walk::WalkStatus::Done);
    };
    let durable = measure(3, 1, &mut [("durable", &mut walk)])[0] / 1e6;
    table.at_most("into a store (`step`: waits for the disk)", durable, 2_000.0);
    let log = dir.path().join("many.jsonl");
    let mut walk = || {
        runs += 1;
        let run = format!("run {runs}");
        let journal = begin(&store, &run, &launch());
        drop(std::fs::remove_file(&log));
        let scripts = Area::Scripts.embedded().iter().filter(|file| file.name().ends_with(".rhai"));
        let scripts = scripts.cloned().collect();
        let auditor = Auditor::new(scripts, None, &log, &AuditedRun { run: &run, plan: &plan, goal: true, since: u64::MAX })
            .expect("rules")
            .expect("an audited run");
        drop(pursue(&plan, &many, &AuditedJournal { journal: &journal, auditor: &auditor }, &run, usize::MAX));
    };
    let audited = measure(3, 1, &mut [("audited", &mut walk)])[0] / 1e6;
    table.at_most("the same, audited", audited, 2_000.0);
    ends.push(table.finish());

    let mut table = Table::new("goal: recall over 100 000 memories", "us");
    let path = dir.path().join("memories.db");
    let store = Store::open(&path, Durability::Batch).expect("a store");
    fill(&store);
    let launch = launch();
    begin(&store, "asking", &launch);
    let spaces: Vec<String> =
        std::iter::once("intent:kind_7".to_owned()).chain(TOOLS.iter().map(|tool| format!("tool:{tool}"))).collect();
    let prior = json!({ "perceive": { "spaces": spaces } });
    let mut ask = || {
        let needs = StoreQueries::new(&store, "asking", json!([])).expect("a run");
        let about = QuerySubject { prior: &prior, ..QuerySubject::new(&launch, &launch.cases[0]) };
        let told = needs.query("memory.recall", &about).expect("an answer").as_array().map_or(0, Vec::len);
        assert!(told > 50, "{told}");
    };
    let mut hand = by_hand(&path, &spaces);
    let best = measure(15, 20, &mut [("by hand", &mut hand), ("ask", &mut ask)]);
    table.plain("the same rows by hand", best[0] / 1e3);
    table.against("recall", best[1] / 1e3, best[0] / 1e3);
    table.at_most("recall", best[1] / 1e3, 2_000.0);
    ends.push(table.finish());
    worst(ends)
}
