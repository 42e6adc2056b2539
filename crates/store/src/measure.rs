//! Benchmarks, run manually: `cargo test --profile bench --lib store::measure -- --ignored --nocapture`.

#![allow(clippy::unwrap_used)]

use super::connection::open_writer;
use super::fixture::{begin, launch, step};
use super::{Durability, Store};
#[cfg(feature = "postgres")]
use super::{
    StoreLocation, StoreQueries,
    fixture::{Backend, StoreFixture, effects, symptom},
    server,
};
use crate::sql::{Connection, params};
use asterisk_walk::{Commit, Journal};
#[cfg(feature = "postgres")]
use asterisk_walk::{Queries, QuerySubject};
#[cfg(feature = "postgres")]
use serde_json::json;
#[cfg(feature = "postgres")]
use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};
use std::time::{Duration, Instant};

const STEPS: usize = 7;

/// The rows of a step, ready to be inserted without the store.
struct StepRows {
    events: Vec<(String, i64, String)>,
    blobs: Vec<([u8; 32], String)>,
}

fn rows(commit: &Commit) -> StepRows {
    let event =
        |event: &asterisk_walk::Event| (event.path.to_string(), event.at.millis(), serde_json::to_string(&event.what).unwrap());
    StepRows {
        events: commit.events.iter().map(event).collect(),
        blobs: commit.blobs.iter().map(|blob| (*blob.hash.bytes(), blob.text.to_string())).collect(),
    }
}

/// Writes the rows of each step in a transaction, with cached statements.
fn insert_directly(conn: &Connection, case: i64, walk: &[StepRows]) {
    for step in walk {
        conn.execute_batch(if conn.file().is_some() { "BEGIN IMMEDIATE" } else { "BEGIN" }).unwrap();
        {
            let mut blob = conn
                .prepare_cached(
                    "INSERT INTO blobs (id, hash, text) SELECT coalesce((SELECT max(id) FROM blobs), 0) + 1, ?1, ?2 \
                     WHERE NOT EXISTS (SELECT 1 FROM blobs WHERE substr(hash, 1, 4) = ?3 AND hash = ?1)",
                )
                .unwrap();
            for (hash, text) in &step.blobs {
                blob.execute(params![hash, text, &hash[..4]]).unwrap();
            }
            let mut event =
                conn.prepare_cached("INSERT INTO events (run, rc, path, at, body) VALUES (1, ?1, ?2, ?3, ?4)").unwrap();
            for (path, at, body) in &step.events {
                event.execute(params![case, path, at, body]).unwrap();
            }
            let mut status =
                conn.prepare_cached("UPDATE run_cases SET status = 'running' WHERE id = ?1 AND status <> 'running'").unwrap();
            status.execute([case]).unwrap();
        }
        conn.execute_batch("COMMIT").unwrap();
    }
}

fn walks(walks: usize, batch: usize) -> Vec<(String, Vec<Commit>)> {
    let commits = |case: &str| {
        let make = |at| {
            let mut commit = step(case, at);
            // Contents that no other batch has.
            for blob in commit.blobs.iter_mut().take(2) {
                *blob = asterisk_walk::Blob::new(format!("{} {batch}", blob.text));
            }
            commit
        };
        (1..=STEPS).map(make).collect()
    };
    (1..=walks)
        .map(|n| format!("c{n}"))
        .map(|case| {
            let commits = commits(&case);
            (case, commits)
        })
        .collect()
}

/// Committing a step on a server costs less than 1.5 times inserting the same rows by prepared statements, each of which waits for its reply.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "a measurement"]
#[allow(clippy::print_stdout, clippy::cast_precision_loss)]
fn steps_on_a_server_against_the_same_rows_by_hand() {
    const WALKS: usize = 60;
    let steps = (WALKS * STEPS) as f64;
    if Backend::Server.is_missing() {
        return;
    }
    let (mut ratios, work) = (Vec::new(), |batch| walks(WALKS, batch));
    for batch in 0..5 {
        let fixture = StoreFixture::on(Backend::Server);
        drop(fixture.begin("r", &launch(WALKS)));
        let StoreLocation::Server(address) = fixture.location() else { panic!("no server") };
        let conn = server::open_writer(address).unwrap();
        let replies = || conn.server().unwrap().replies();
        let ready: Vec<Vec<StepRows>> = work(batch).iter().map(|(_, commits)| commits.iter().map(rows).collect()).collect();
        let (before, began) = (replies(), Instant::now());
        for (walk, case) in ready.iter().zip(1..) {
            insert_directly(&conn, case, walk);
        }
        let (hand, by_hand) = (began.elapsed().as_secs_f64() * 1e6 / steps, (replies() - before) as f64 / steps);
        drop(conn);

        let fixture = StoreFixture::on(Backend::Server);
        let journal = fixture.begin("r", &launch(WALKS));
        let replies = || fixture.store.writer().unwrap().outside(|conn| Ok(conn.server().unwrap().replies())).unwrap();
        let commits: Vec<Commit> = work(batch).into_iter().flat_map(|(_, commits)| commits).collect();
        let (before, began) = (replies(), Instant::now());
        for commit in commits {
            journal.commit(commit).unwrap();
        }
        let (one, by_store) = (began.elapsed().as_secs_f64() * 1e6 / steps, (replies() - before) as f64 / steps);
        println!(
            "by hand {hand:.0} us a step, {by_hand:.1} replies; store {one:.0} us, {by_store:.1} replies (x{:.2})",
            one / hand
        );
        ratios.push(one / hand);
    }
    ratios.sort_by(f64::total_cmp);
    println!("server: median x{:.2}", ratios[2]);
    assert!(ratios[2] < 1.5);
}

fn micros_per_walk(elapsed: Duration, walks: usize) -> f64 {
    elapsed.as_secs_f64() * 1e6 / f64::from(u32::try_from(walks).unwrap())
}

fn store_walks(durability: Durability, threads: usize, work: &[(String, Vec<Commit>)]) -> f64 {
    let dir = tempfile::tempdir_in(".").unwrap();
    let store = Store::open(dir.path().join("s.db"), durability).unwrap();
    let journal = begin(&store, "r", &launch(work.len())).unwrap();
    let mut parts: Vec<Vec<Vec<Commit>>> = vec![Vec::new(); threads];
    for (at, (_, commits)) in work.iter().enumerate() {
        parts[at % threads].push(commits.clone());
    }
    let before = Instant::now();
    std::thread::scope(|scope| {
        for part in parts {
            let journal = &journal;
            scope.spawn(move || part.into_iter().flatten().for_each(|commit| journal.commit(commit).unwrap()));
        }
    });
    micros_per_walk(before.elapsed(), work.len())
}

fn hand_walks(durability: Durability, work: &[(String, Vec<Commit>)]) -> f64 {
    let dir = tempfile::tempdir_in(".").unwrap();
    let path = dir.path().join("s.db");
    drop(begin(&Store::open(&path, durability).unwrap(), "r", &launch(work.len())).unwrap());
    let conn = open_writer(&path, durability.synchronous(), Duration::from_secs(5)).unwrap();
    let ready: Vec<Vec<StepRows>> = work.iter().map(|(_, commits)| commits.iter().map(rows).collect()).collect();
    let before = Instant::now();
    for (walk, case) in ready.iter().zip(1..) {
        insert_directly(&conn, case, walk);
    }
    micros_per_walk(before.elapsed(), work.len())
}

/// The cost of a message to another thread and its reply.
fn thread_hop() -> f64 {
    let (to, from) = std::sync::mpsc::channel::<std::sync::mpsc::Sender<()>>();
    let other = std::thread::spawn(move || from.into_iter().for_each(|reply| reply.send(()).unwrap()));
    let before = Instant::now();
    for _ in 0..20_000 {
        let (reply, replied) = std::sync::mpsc::channel();
        to.send(reply).unwrap();
        replied.recv().unwrap();
    }
    drop(to);
    let elapsed = before.elapsed();
    other.join().unwrap();
    elapsed.as_secs_f64() * 1e6 / 20_000.0
}

/// Committing a walk durably costs less than 1.5 times inserting the same rows directly.
#[test]
#[ignore = "a measurement"]
#[allow(clippy::print_stdout)]
fn durable_walks_against_the_same_rows_by_hand() {
    println!("a message to another thread and back: {:.1} us", thread_hop());
    for (durability, count) in [(Durability::Batch, 2000), (Durability::Step, 400)] {
        let mut ratios = Vec::new();
        for batch in 0..7 {
            let work = walks(count, batch);
            let hand = hand_walks(durability, &work);
            let [one, eight] = [1, 8].map(|threads| store_walks(durability, threads, &work));
            println!(
                "{durability}: by hand {hand:.0} us a walk, store {one:.0} (x{:.2}), 8 threads {eight:.0} (x{:.2})",
                one / hand,
                eight / hand
            );
            ratios.push(one / hand);
        }
        ratios.sort_by(f64::total_cmp);
        println!("{durability}: median x{:.2}", ratios[3]);
        assert!(ratios[3] < 1.5);
    }
}

/// Recall for 200 runners, each with connections of its own, that ask once a second while a writer commits without pause.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "a measurement"]
#[allow(clippy::print_stdout, clippy::cast_precision_loss)]
fn recall_of_200_runners() {
    const RUNNERS: usize = 200;
    const KNOWN: usize = 2000;
    const QUESTIONS: usize = 10;
    if Backend::Server.is_missing() {
        return;
    }
    let fixture = StoreFixture::on(Backend::Server);
    let first = launch(KNOWN);
    let journal = fixture.begin("first", &first);
    for (case, n) in first.cases.iter().zip(1..) {
        journal.commit(effects(&case.id, vec![symptom(n, &case.name, &case.error_message)])).unwrap();
    }
    let second = launch(RUNNERS);
    drop(fixture.begin("second", &second));
    let (over, all) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for at in 1.. {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                journal.commit(step("c1", at)).unwrap();
            }
        });
        let runners: Vec<_> = (0..RUNNERS)
            .map(|n| {
                let (location, second, all) = (fixture.location(), &second, &all);
                scope.spawn(move || {
                    let store = Store::read_only(location).unwrap();
                    std::thread::sleep(Duration::from_millis(5 * n as u64));
                    for _ in 0..QUESTIONS {
                        // A new query has nothing cached, as that of another case.
                        let queries = StoreQueries::new(&store, "second", json!([])).unwrap();
                        let subject = QuerySubject::new(second, &second.cases[n]);
                        let began = Instant::now();
                        queries.query("symptoms.similar", &subject).unwrap();
                        let taken = began.elapsed();
                        all.lock().unwrap().push(taken);
                        std::thread::sleep(Duration::from_secs(1).saturating_sub(taken));
                    }
                })
            })
            .collect();
        for runner in runners {
            runner.join().unwrap();
        }
        over.store(true, Ordering::Relaxed);
    });
    let mut all = all.into_inner().unwrap();
    all.sort();
    let at = |part: usize| all[(all.len() - 1) * part / 100].as_secs_f64() * 1e3;
    println!("{} recalls of {KNOWN} symptoms: median {:.1} ms, p90 {:.1}, p99 {:.1}", all.len(), at(50), at(90), at(99));
    assert!(at(99) < 20.0);
}
