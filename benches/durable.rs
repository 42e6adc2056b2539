//! The walk of `walk.rs` made durable, against the same rows written by hand with prepared statements, a transaction a step.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk::clock::Timestamp;
use asterisk::model::Launch;
use asterisk::store::{Durability, NewRun, RunJournal, Store};
use asterisk::walk::{Blob, Commit, Journal, JournalError, NullJournal, Plan};
use bundled::{Canned, decisions_only, launch, plan, walk};
use harness::Table;
use rusqlite::{Connection, params};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

/// Keeps the commits of a walk.
#[derive(Default)]
struct Recorder(Mutex<Vec<Commit>>);

impl Journal for Recorder {
    fn commit(&self, commit: Commit) -> Result<(), JournalError> {
        self.0.lock().map_err(|_| JournalError::Failed("poisoned".into()))?.push(commit);
        Ok(())
    }
}

/// The rows of a step, ready to be written.
struct Rows {
    events: Vec<(String, i64, String)>,
    blobs: Vec<([u8; 32], String)>,
    status: Option<&'static str>,
}

fn rows(commit: &Commit) -> Rows {
    let event = |event: &asterisk::walk::Event| {
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

fn begin(path: &Path, durability: Durability, launch: &Launch) -> (Store, RunJournal) {
    let store = Store::open(path, durability).expect("a store");
    let run = NewRun {
        run: "run",
        pipeline: "bench",
        started_at: Timestamp::default(),
        seed: 0,
        args: Blob::new("{}"),
        manifest: Blob::new("{ }"),
        blobs: Vec::new(),
        launch,
        cases: launch.cases.iter().collect(),
    };
    let journal = store.begin_run(&run).expect("a run");
    (store, journal)
}

/// The rows of every step in a transaction of its own, statements prepared once. Microseconds a walk.
fn by_hand(path: &Path, durability: Durability, launch: &Launch, walks: &[Vec<Rows>]) -> f64 {
    drop(begin(path, durability, launch));
    let conn = Connection::open(path).expect("the store");
    conn.pragma_update(None, "journal_mode", "WAL").expect("WAL");
    conn.pragma_update(None, "synchronous", if durability == Durability::Step { "FULL" } else { "NORMAL" }).expect("a level");
    conn.set_prepared_statement_cache_capacity(16);
    let run = |sql: &str| conn.prepare_cached(sql).and_then(|mut statement| statement.execute([])).expect("a statement");
    let start = Instant::now();
    for (walk, case) in walks.iter().zip(1_i64..) {
        for step in walk {
            run("BEGIN IMMEDIATE");
            let mut insert =
                conn.prepare_cached("INSERT INTO blobs (hash, text) VALUES (?1, ?2) ON CONFLICT DO NOTHING").expect("prepares");
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

/// The walks themselves, committing to the store. Microseconds a walk.
fn stored(path: &Path, durability: Durability, threads: usize, launch: &Launch, plan: &Plan, canned: &Canned) -> f64 {
    let (_store, journal) = begin(path, durability, launch);
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
    table.finish()
}
