//! The walk of `walk.rs` into a store, against the same rows written by hand with prepared statements, one transaction per step; and the
//! store size per failure analysed by the bundled scripts.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk_base::model::Launch;
use asterisk_store::{Durability, RunJournal, Store};
use asterisk_walk::{Commit, Journal, JournalError, NullJournal, Plan};
use bundled::{Canned, begin, decisions_only, launch, plan, walk};
use harness::{Table, worst};
use rusqlite::{Connection, params};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::time::Instant;

/// The bound on the growth of the store per failure, for distinct failures.
const BYTES_A_FAILURE: f64 = 27_000.0;

/// Collects the commits of a walk.
#[derive(Default)]
struct Recorder(Mutex<Vec<Commit>>);

impl Journal for Recorder {
    fn commit(&self, commit: Commit) -> Result<(), JournalError> {
        self.0.lock().map_err(|_| JournalError::Failed("poisoned".into()))?.push(commit);
        Ok(())
    }
}

/// The prepared rows of a step.
struct Rows {
    events: Vec<(String, i64, String)>,
    blobs: Vec<([u8; 32], String)>,
    status: Option<&'static str>,
}

fn rows(commit: &Commit) -> Rows {
    let event = |event: &asterisk_walk::Event| {
        (event.path.to_string(), event.at.millis(), serde_json::to_string(&event.what).expect("an event is JSON"))
    };
    let status = match &*commit.events[0].path {
        "1" => Some("running"),
        "7" => Some("done"),
        _ => None,
    };
    Rows {
        events: commit.events.iter().map(event).collect(),
        blobs: commit.blobs.iter().map(|blob| (*blob.hash.bytes(), blob.text.to_string())).collect(),
        status,
    }
}

fn opened(path: &Path, durability: Durability, launch: &Launch) -> (Store, RunJournal) {
    let store = Store::open(path, durability).expect("a store");
    let journal = begin(&store, "run", launch);
    (store, journal)
}

/// Writes the rows of each step in a transaction, with statements prepared once. Returns microseconds per walk.
fn by_hand(path: &Path, durability: Durability, launch: &Launch, walks: &[Vec<Rows>]) -> f64 {
    drop(opened(path, durability, launch));
    let conn = Connection::open(path).expect("the store");
    conn.pragma_update(None, "journal_mode", "WAL").expect("WAL");
    conn.pragma_update(None, "synchronous", if durability == Durability::Step { "FULL" } else { "NORMAL" }).expect("a level");
    conn.set_prepared_statement_cache_capacity(16);
    let run = |sql: &str| conn.prepare_cached(sql).and_then(|mut statement| statement.execute([])).expect("a statement");
    let start = Instant::now();
    for (walk, case) in walks.iter().zip(1_i64..) {
        for step in walk {
            run("BEGIN IMMEDIATE");
            let mut insert = conn
                .prepare_cached(
                    "INSERT INTO blobs (hash, text) SELECT ?1, ?2 \
                     WHERE NOT EXISTS (SELECT 1 FROM blobs WHERE substr(hash, 1, 4) = substr(?1, 1, 4) AND hash = ?1)",
                )
                .expect("prepares");
            for (hash, text) in &step.blobs {
                insert.execute(params![hash, text]).expect("a blob");
            }
            let mut insert =
                conn.prepare_cached("INSERT INTO events (run, rc, path, at, body) VALUES (1, ?1, ?2, ?3, ?4)").expect("prepares");
            for (path, at, body) in &step.events {
                insert.execute(params![case, path, at, body]).expect("an event");
            }
            if let Some(status) = step.status {
                let mut update = conn.prepare_cached("UPDATE run_cases SET status = ?2 WHERE id = ?1").expect("prepares");
                update.execute(params![case, status]).expect("a status");
            }
            run("COMMIT");
        }
    }
    per_walk(start, walks.len())
}

/// Walks and commits to the store. Returns microseconds per walk.
fn stored(path: &Path, durability: Durability, threads: usize, launch: &Launch, plan: &Plan, canned: &Canned) -> f64 {
    let (_store, journal) = opened(path, durability, launch);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let journal = &journal;
            scope.spawn(move || {
                (thread..launch.cases.len()).step_by(threads).for_each(|case| drop(walk(plan, canned, journal, launch, case)));
            });
        }
    });
    per_walk(start, launch.cases.len())
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred")]
fn per_walk(start: Instant, walks: usize) -> f64 {
    start.elapsed().as_secs_f64() * 1e6 / walks as f64
}

/// A JUnit report with the given number of distinct failures of five kinds, each with its own stack.
fn distinct(failures: usize) -> String {
    const WORDS: [&str; 12] =
        ["order", "cart", "price", "stock", "ledger", "queue", "token", "session", "parser", "buffer", "socket", "replica"];
    // Deterministic pseudo-random numbers.
    let mut chance = 7_u64;
    let mut number = |most: u64| {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (chance >> 33) % most
    };
    let mut text = String::from("<testsuites><testsuite name=\"synthetic\">");
    for n in 0..failures {
        let (a, b) = (number(1000), number(1000));
        let [one, two] = [number(12), number(12)].map(|at| WORDS[usize::try_from(at).unwrap_or(0)]);
        let error = match n % 5 {
            0 => format!("AssertionError: expected {a} but was {b} for the {one}"),
            1 => format!("java.lang.NullPointerException: Cannot invoke {two}.id() because {one} is null"),
            2 => format!("TimeoutError: waited {a} ms for the {one} to become ready"),
            3 => format!("panic: runtime error: index out of range [{a}] with length {b}"),
            _ => format!("KeyError: {one}_{a}"),
        };
        let test = format!("classname=\"com.shop.{two}.{one}Test\" name=\"{one} {two} case {n}\"");
        let _ = write!(text, "<testcase {test}><failure message=\"{error}\">{error}");
        for _ in 0..8 {
            let [at, of] = [number(12), number(12)].map(|at| WORDS[usize::try_from(at).unwrap_or(0)]);
            let _ = write!(text, "\n    at com.shop.{at}.{of}Service.{of}({of}Service.java:{})", number(400));
        }
        text.push_str("</failure></testcase>");
    }
    text + "</testsuite></testsuites>"
}

/// The growth of the store in bytes per failure analysed by the bundled scripts, excluding the sources of the project.
#[expect(clippy::cast_precision_loss, reason = "some megabytes")]
fn bytes_a_failure(failures: usize) -> f64 {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let [launch, store] = ["launch.xml", "store.db"].map(|name| dir.path().join(name));
    std::fs::write(&launch, distinct(failures)).expect("a launch");
    let run = |input: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_asterisk"));
        command.args(["run", "--durability", "batch", "--files", "never", "--store"]).arg(&store).arg("--input").arg(input);
        let status = command.current_dir(dir.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(status.is_ok_and(|status| status.code().is_some_and(|code| code < 2)), "a run fails");
        std::fs::metadata(&store).expect("a store").len()
    };
    let before = run(Path::new("none"));
    (run(&launch) - before) as f64 / failures as f64
}

fn main() -> ExitCode {
    let plan = decisions_only(plan());
    let mut table = Table::new("durable: seven steps, fifteen edge evaluations, a commit a step", "us");
    for (durability, cases, rounds, bound) in [(Durability::Batch, 400, 12, 1.5), (Durability::Step, 100, 8, 1.5)] {
        let (launch, canned) = (launch(cases), Canned::new(cases));
        let recorded = |case| {
            let recorder = Recorder::default();
            drop(walk(&plan, &canned, &recorder, &launch, case));
            recorder.0.into_inner().expect("not poisoned").iter().map(rows).collect()
        };
        let rows: Vec<Vec<Rows>> = (0..cases).map(recorded).collect();
        let in_memory = || {
            let start = Instant::now();
            (0..cases).for_each(|case| drop(walk(&plan, &canned, &NullJournal, &launch, case)));
            per_walk(start, cases)
        };
        let memory = (0..rounds).map(|_| in_memory()).fold(f64::INFINITY, f64::min);
        let mut best = [f64::INFINITY; 4];
        for _ in 0..rounds {
            let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
            let at = |name: &str| dir.path().join(name);
            best[0] = best[0].min(by_hand(&at("hand.db"), durability, &launch, &rows));
            for (best, threads) in best[1..].iter_mut().zip([1, 2, 8]) {
                *best = best.min(stored(&at(&format!("{threads}.db")), durability, threads, &launch, &plan, &canned));
            }
        }
        table.plain(&format!("--durability {durability}: the same walk in memory"), memory);
        table.plain(&format!("--durability {durability}: the same rows by hand"), best[0]);
        table.within(&format!("--durability {durability}: the walk"), best[1], best[0], bound);
        table.against(&format!("--durability {durability}: 2 cases at once, a walk"), best[2], best[0]);
        table.against(&format!("--durability {durability}: 8 cases at once, a walk"), best[3], best[0]);
    }
    let timed = table.finish();
    let mut table = Table::new("the store, for each of 200 failures, no two of them alike", "bytes");
    table.at_most("analysed by the bundled scripts", bytes_a_failure(200), BYTES_A_FAILURE);
    let sized = table.finish();
    worst([timed, sized])
}
