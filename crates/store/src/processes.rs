//! Tests with several processes: the test program starts itself again as the other ones.

#![allow(clippy::unwrap_used)]

use super::fixture::{begin, launch, step};
use super::{Durability, Store, StoreError};
use asterisk_base::environment::Variables;
use asterisk_walk::Event;
use asterisk_walk::Journal;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const STORE: &str = "ASTERISK_TEST_STORE";
const RUN: &str = "ASTERISK_TEST_RUN";
const STEPS: &str = "ASTERISK_TEST_STEPS";

/// Another process that creates or resumes a run, executes it up to a number of steps and records what was acknowledged.
struct OtherProcess {
    process: Child,
    acknowledged: PathBuf,
    halted: PathBuf,
}

impl OtherProcess {
    fn start(store: &Path, run: &str, steps: usize, halt_at: Option<u64>) -> Self {
        let acknowledged = store.with_extension(format!("{run}.acknowledged"));
        let halted = store.with_extension(format!("{run}.halted"));
        std::fs::remove_file(&halted).unwrap_or_default();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "processes::as_another_process", "--quiet"]).stdout(Stdio::null());
        command.env(STORE, store).env(RUN, run).env(STEPS, steps.to_string());
        if let Some(at) = halt_at {
            command.env("ASTERISK_HALT_AT", at.to_string()).env("ASTERISK_HALT_FILE", &halted);
        }
        Self { process: command.spawn().unwrap(), acknowledged, halted }
    }

    fn succeed(mut self) {
        assert!(self.process.wait().unwrap().success());
    }

    /// Waits until the process blocks at its failpoint, then kills it. Returns false if it finished instead.
    fn kill_where_it_halts(mut self) -> bool {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self.halted.exists() {
            if let Some(status) = self.process.try_wait().unwrap() {
                assert!(status.success());
                return false;
            }
            assert!(Instant::now() < deadline, "neither halts nor ends");
            std::thread::sleep(Duration::from_millis(1));
        }
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        true
    }
}

/// Not a separate test: the body of the other process.
#[test]
fn as_another_process() {
    let Some(path) = std::env::var_os(STORE).map(PathBuf::from) else { return };
    let run = std::env::var(RUN).unwrap();
    let steps: usize = std::env::var(STEPS).unwrap().parse().unwrap();
    let acknowledged = path.with_extension(format!("{run}.acknowledged"));
    let mut acknowledged = std::fs::File::options().create(true).append(true).open(acknowledged).unwrap();
    let store = Store::open(&path, Durability::Batch).unwrap().with_failpoint(&Variables::of_process());
    let journal = match store.run(&run) {
        Err(StoreError::UnknownRun(_)) => begin(&store, &run, &launch(1)).unwrap(),
        _ => store.journal(&run).unwrap(),
    };
    let done = store.events(&run, "c1").unwrap().len() / 4;
    for at in done + 1..=steps {
        journal.commit(step("c1", at)).unwrap();
        acknowledged.write_all(format!("{at}\n").as_bytes()).unwrap();
    }
}

fn expected(steps: usize) -> Vec<Event> {
    (1..=steps).flat_map(|at| step("c1", at).events).collect()
}

fn stored(store: &Store, run: &str) -> Vec<Event> {
    store.events(run, "c1").unwrap().into_iter().map(|(_, event)| event).collect()
}

#[test]
fn processes_that_write_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/store.db");
    std::fs::create_dir(path.parent().unwrap()).unwrap();
    let others: Vec<_> = ["a", "b"].map(|run| OtherProcess::start(&path, run, 500, None)).into_iter().collect();
    let store = Store::open(&path, Durability::Batch).unwrap();
    let journal = begin(&store, "c", &launch(1)).unwrap();
    for at in 1..=500 {
        journal.commit(step("c1", at)).unwrap();
    }
    others.into_iter().for_each(OtherProcess::succeed);
    for run in ["a", "b", "c"] {
        assert_eq!(stored(&store, run), expected(500), "run {run}");
    }
    let sound: String = store.read(|conn| Ok(conn.query_row("PRAGMA integrity_check", [], |row| row.get(0))?)).unwrap();
    assert_eq!(sound, "ok");
}

#[cfg(debug_assertions)]
#[test]
fn killed_at_any_boundary_nothing_acknowledged_is_lost_or_done_twice() {
    const STEPS: usize = 3;
    let dir = tempfile::tempdir().unwrap();
    let mut killed = 0;
    for boundary in 1.. {
        let path = dir.path().join(format!("{boundary}.db"));
        let other = OtherProcess::start(&path, "r", STEPS, Some(boundary));
        let acknowledged = other.acknowledged.clone();
        if !other.kill_where_it_halts() {
            break;
        }
        killed += 1;
        let acknowledged = std::fs::read_to_string(acknowledged).unwrap().lines().count();
        let store = Store::read_only(&path).unwrap();
        match store.run("r") {
            Err(StoreError::UnknownRun(_)) => assert!(boundary < 3, "the run's beginning was committed at boundary {boundary}"),
            run => {
                assert_eq!(run.unwrap().status, super::RunStatus::Paused, "a dead process runs nothing");
                let found = stored(&store, "r");
                let steps = found.len() / 4;
                assert!(steps == acknowledged || steps == acknowledged + 1, "{steps} stored, {acknowledged} acknowledged");
                assert_eq!(found, expected(steps), "boundary {boundary}");
                let blobs: Vec<_> = (1..=steps).flat_map(|at| step("c1", at).blobs).collect();
                for blob in blobs {
                    assert_eq!(store.blob(&blob.hash).unwrap(), Some(blob.text));
                }
            }
        }
        drop(store);
        // Killed again while resuming, then left to finish.
        assert!(OtherProcess::start(&path, "r", STEPS, Some(2)).kill_where_it_halts());
        OtherProcess::start(&path, "r", STEPS, None).succeed();
        assert_eq!(stored(&Store::read_only(&path).unwrap(), "r"), expected(STEPS), "boundary {boundary}");
    }
    assert_eq!(killed, 3 * (1 + STEPS), "three boundaries in the run's beginning and in each step");
}

#[cfg(debug_assertions)]
#[test]
fn a_run_of_a_living_process_is_not_taken_over() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    // Blocks after its first step is committed.
    let mut other = OtherProcess::start(&path, "r", 2, Some(6));
    while !other.halted.exists() {
        assert!(other.process.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    let store = Store::open(&path, Durability::Batch).unwrap();
    assert_eq!(store.run("r").unwrap().status, super::RunStatus::Running);
    assert!(store.journal("r").is_err_and(|error| error.is_busy()));
    other.process.kill().unwrap();
    other.process.wait().unwrap();
    assert_eq!(store.run("r").unwrap().status, super::RunStatus::Paused);
    assert!(store.journal("r").is_ok());
}
