//! The recall step of a failure with an unknown key, with few and many symptoms in the store; its queries alone, against the
//! same number of point queries by hand; and writing symptoms with the index of words.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk_adapters::agent::ScriptAnswerer;
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Case, Effect, Launch};
use asterisk_store::{Durability, Store, StoreQueries};
use asterisk_walk::{Commit, Event, EventBody, Journal, NullJournal, Plan, Queries, QuerySubject, WalkEnd, WalkState, Walker};
use bundled::begin;
use harness::{Table, measure};
use rusqlite::Connection;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The numbers of symptoms in the stores.
const STORES: [usize; 3] = [100, 10_000, 100_000];
/// The number of failures that are looked up in sequence.
const ASKING: usize = 200;
/// The approximate number of lists and rows read per failure: 14 terms, 16 symptoms, and the details of 10 of them.
const POINT_QUERIES: u32 = 70;
/// The number of distinct words. Half of the words of an error come from a tenth of them.
const VOCABULARY: usize = 2_000;

/// A deterministic pseudo-random sequence.
fn chance(n: usize) -> usize {
    let mixed = (n as u64 ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    usize::try_from((mixed ^ (mixed >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 40).unwrap_or(0)
}

/// A word of lower-case letters.
fn word(mut n: usize) -> String {
    let mut word = String::from("w");
    for _ in 0..(3 + n % 7) {
        word.push(char::from(b"abcdefghijklmnopqrstuvwxyz"[n % 26]));
        n = n / 26 + 7 * n % 1009;
    }
    word
}

/// An error of twenty words, some of them frequent, and a number.
fn error(n: usize) -> String {
    let of = |at: usize| {
        let chance = chance(n * 31 + at);
        if at.is_multiple_of(2) { chance % (VOCABULARY / 10) } else { chance % VOCABULARY }
    };
    format!("{} {n}", (0..20).map(|at| word(of(at))).collect::<Vec<_>>().join(" "))
}

fn case(id: &str, n: usize) -> Case {
    Case {
        id: id.into(),
        name: format!("suite {} keeps its {} {}", word(n % 40), word(chance(n) % 300), word(n % 500)),
        status: "FAILED".into(),
        error_message: error(n),
        recall_key: format!("{id} {n}"),
        ..Case::default()
    }
}

fn launch(run: &str, cases: Vec<Case>) -> Launch {
    Launch { run_id: run.into(), name: "nightly".into(), cases, ..Launch::default() }
}

/// A store with the given number of symptoms, each with a root cause, written by runs of at most 5 000 cases. Returns the
/// microseconds per symptom written.
fn fill(store: &Store, symptoms: usize) -> f64 {
    let mut seconds = 0.0;
    for from in (0..symptoms).step_by(5_000) {
        let run = format!("run {from}");
        let cases: Vec<Case> = (from..symptoms.min(from + 5_000)).map(|n| case(&format!("c{n}"), n)).collect();
        let launch = launch(&run, cases);
        let journal = begin(store, &run, &launch);
        let start = Instant::now();
        for (case, n) in launch.cases.iter().zip(from + 1..) {
            let id = i64::try_from(n).expect("few");
            let symptom = Effect::UpsertSymptom {
                id: Some(id),
                name: None,
                fingerprint: format!("f{n}"),
                test: case.name.clone(),
                error: case.error_message.clone(),
                category: "timeout".into(),
                component: String::new(),
            };
            let cause = Effect::CreateRca {
                id: Some(1_000_000 + id),
                name: None,
                title: "a cause".into(),
                message: "its text".into(),
                defect_type: "pb001".into(),
                component: "driver".into(),
                convergence: 0.8,
                root: String::new(),
                common: false,
            };
            let link = Effect::LinkSymptomRca { symptom: id, rca: 1_000_000 + id, confidence: 0.8 };
            let enter = EventBody::NodeEnter { node: "n".into() };
            let event = Event { case: case.id.as_str().into(), path: "1".into(), at: Timestamp::default(), what: enter };
            let commit = Commit { events: vec![event], effects: vec![symptom, cause, link], ..Commit::default() };
            journal.commit(commit).expect("a commit");
        }
        seconds += start.elapsed().as_secs_f64();
    }
    per(seconds, symptoms)
}

#[expect(clippy::cast_precision_loss, reason = "a few thousand")]
fn per(seconds: f64, count: usize) -> f64 {
    seconds * 1e6 / count as f64
}

/// Runs all queries of recall for a failure.
fn ask(needs: &StoreQueries, launch: &Launch, case: &Case) -> usize {
    let about = QuerySubject::new(launch, case);
    let told = |query| needs.query(query, &about).expect("an answer").as_array().map_or(0, Vec::len);
    ["symptoms.similar", "rcas.of_symptom"].into_iter().map(told).sum()
}

/// The first step of a failure: its queries, the mask that adds earlier root causes, the bundled script that answers, its
/// effect and the decision.
fn recall(plan: &Plan, needs: &StoreQueries, launch: &Launch, case: &Case) {
    let (clock, stop) = (bundled::clock(), AtomicBool::new(false));
    let watch = |event: &Event| {
        if matches!(event.what, EventBody::NodeExit { .. }) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let walker = Walker {
        plan,
        plans: None,
        shadow: None,
        answer: &ScriptAnswerer,
        needs,
        journal: &NullJournal,
        clock: &clock,
        since: asterisk_base::clock::Timestamp::default(),
        run: "asking",
        seed: 0,
        launch,
        stop: &stop,
        inherited: None,
        until: usize::MAX,
        parallel: 4,
        watch: Some(&watch),
    };
    let mut state = WalkState::default();
    let end = walker.walk(case, &mut state).expect("the journal takes everything");
    assert!(!matches!(end, WalkEnd::Failed(_)) && state.steps == 1, "{end:?} after {} steps", state.steps);
}

/// Reads as many rows as recall may read, with prepared statements.
fn by_hand(path: &Path) -> impl FnMut() {
    let conn = Connection::open(path).expect("the store");
    let mut next = 0;
    move || {
        let mut row =
            conn.prepare_cached("SELECT test, error, category FROM symptom_revisions WHERE symptom = ?1").expect("prepares");
        for _ in 0..POINT_QUERIES {
            next = (next + 7) % 100;
            let text: String = row.query_row([next + 1], |row| row.get(1)).expect("a row");
            assert!(!text.is_empty());
        }
    }
}

fn main() -> ExitCode {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let mut table = Table::new("recall: the step of a failure not known by its key, and its queries of the store", "us");
    // A failure that shares most words with an earlier one.
    let asking = |n: usize| Case {
        error_message: format!("{} once more", error(n % 100)),
        name: "another test".into(),
        ..case("x", 7_000_000 + n)
    };
    let failures = launch("asking", (0..ASKING).map(|n| Case { id: format!("x{n}"), ..asking(n) }).collect());
    let mut stores = Vec::new();
    for symptoms in STORES {
        let path = dir.path().join(format!("{symptoms}.db"));
        let store = Store::open(&path, Durability::Batch).expect("a store");
        let each = fill(&store, symptoms);
        table.plain(&format!("{symptoms} symptoms: writing one with its cause"), each);
        let journal = begin(&store, "asking", &failures);
        stores.push((symptoms, path, store, journal));
    }
    let plan = bundled::plan();
    let (mut asked, mut stepped) = ([f64::INFINITY; STORES.len()], [f64::INFINITY; STORES.len()]);
    let mut counts = [0; STORES.len()];
    for _ in 0..9 {
        for (at, (_, _, store, _)) in stores.iter().enumerate() {
            // A run caches query results, and soon has all of a small store: each failure uses a fresh cache.
            let fresh = || StoreQueries::new(store, "asking", json!([])).expect("a run");
            let start = Instant::now();
            counts[at] = failures.cases.iter().map(|case| ask(&fresh(), &failures, case)).sum();
            asked[at] = asked[at].min(per(start.elapsed().as_secs_f64(), ASKING));
            let start = Instant::now();
            failures.cases.iter().for_each(|case| recall(&plan, &fresh(), &failures, case));
            stepped[at] = stepped[at].min(per(start.elapsed().as_secs_f64(), ASKING));
        }
    }
    let mut hand = by_hand(&stores[0].1);
    let hand = measure(9, 200, &mut [("by hand", &mut hand)])[0] / 1e3;
    table.plain(&format!("{POINT_QUERIES} point queries by hand"), hand);
    assert!(counts.iter().all(|count| *count >= ASKING), "every failure is similar to another: {counts:?}");
    table.against(&format!("{} symptoms: its queries", STORES[0]), asked[0], hand);
    table.against(&format!("{} symptoms: its queries, by {}", STORES[1], STORES[0]), asked[1], asked[0]);
    table.against(&format!("{} symptoms: its queries, by {}", STORES[2], STORES[1]), asked[2], asked[1]);
    table.plain(&format!("{} symptoms: the step", STORES[0]), stepped[0]);
    table.within(&format!("{} symptoms: the step, by {}", STORES[1], STORES[0]), stepped[1], stepped[0], 1.25);
    table.within(&format!("{} symptoms: the step, by {}", STORES[2], STORES[1]), stepped[2], stepped[1], 1.25);
    table.finish()
}
