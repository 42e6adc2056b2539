//! Stores that machines share: copies, runs added to another store, workers, and projects on a PostgreSQL server.

use crate::harness::{Project, Ran, full_size};
use crate::kill::{Outcome, RUN, halted, halted_at, kill, small, undisturbed};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Child;
use std::time::Duration;

/// A project on the server that `ASTERISK_TEST_POSTGRES` names, removed at the end.
struct ServerProject {
    address: String,
    name: String,
}

impl ServerProject {
    /// `None` without a server; where one is required, a failure.
    fn new(name: &str) -> Option<Self> {
        let address = std::env::var("ASTERISK_TEST_POSTGRES").ok().filter(|address| address.starts_with("postgres"));
        let required = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
        assert!(
            address.is_some() || !required,
            "set ASTERISK_TEST_POSTGRES=postgres://USER@HOST:PORT/DATABASE; .ci/run starts a server"
        );
        let name = format!("it_{name}_{}", std::process::id());
        address.map(|address| Self { address, name })
    }

    fn store(&self) -> String {
        format!("{}?project={}", self.address, self.name)
    }

    /// The store, as another role.
    fn store_as(&self, role: &str) -> String {
        let (_, place) = self.address.rsplit_once('@').unwrap();
        format!("postgres://{role}@{place}?project={}", self.name)
    }

    fn sql(&self, sql: &str) {
        let sql = sql.replace("PROJECT", &format!("asterisk_{}", self.name));
        let done =
            std::process::Command::new("psql").args(["-q", "-v", "ON_ERROR_STOP=1", "-c", &sql, &self.address]).output().unwrap();
        assert!(done.status.success(), "{sql}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

impl Drop for ServerProject {
    fn drop(&mut self) {
        let schema = format!("DROP SCHEMA IF EXISTS asterisk_{} CASCADE", self.name);
        let _done = std::process::Command::new("psql").args(["-q", "-c", &schema, &self.address]).output();
    }
}

/// The figures of a store, without what differs from place to place.
fn figures(project: &Project, store: &str) -> Value {
    let mut figures = project.asterisk(&["store", "status", "--store", store, "--format", "json"]).ok().json();
    for name in ["store", "bytes"] {
        figures.as_object_mut().unwrap().remove(name);
    }
    figures
}

/// What the reports of a store say of its run.
fn reports(project: &Project, store: &str, out: &str) -> Vec<String> {
    project.asterisk(&["report", "--store", store, "--out", out]).ok();
    let run = project.asterisk(&["status", "--store", store, "--format", "json"]).ok().json()["runs"][0]["run"].clone();
    ["report.md", "rca.json", "report.html"]
        .iter()
        .map(|name| project.read(&format!("{out}/{}/{name}", run.as_str().unwrap())))
        .collect()
}

/// Explanations of a case by the record.
fn explained(project: &Project, store: &str) -> String {
    project.asterisk(&["explain", "--case", "880501", "--store", store]).ok().text()
}

#[test]
fn a_store_is_copied_and_its_runs_are_added_to_another() {
    let project = Project::new();
    project.asterisk(&["run", "--store", "a.db"]).ok();
    let server = ServerProject::new("copies");
    let mut stores = vec!["b.db".to_owned()];
    stores.extend(server.as_ref().map(ServerProject::store));
    stores.push("c.db".to_owned());
    let mut from = "a.db".to_owned();
    for to in &stores {
        let copied = project.asterisk(&["store", "copy", "--store", &from, "--to", to]).ok();
        assert!(copied.stdout.contains("copied 1 run to"), "{}", copied.text());
        from.clone_from(to);
    }
    for (at, store) in stores.iter().enumerate() {
        assert_eq!(figures(&project, store), figures(&project, "a.db"), "{store}");
        assert_eq!(reports(&project, store, &format!("out{at}")), reports(&project, "a.db", "out"), "{store}");
        assert_eq!(explained(&project, store), explained(&project, "a.db"), "{store}");
    }
    for store in &stores {
        let checked = project.call(&["doctor", "--deep", "--store", store]).ran();
        assert!(checked.stdout.contains("contents") && !checked.stdout.contains("damaged"), "{}", checked.text());
    }
    let refused = project.asterisk(&["store", "copy", "--store", "a.db", "--to", "b.db"]).exits(2);
    assert!(refused.stderr.contains("the target is not empty"), "{}", refused.text());
    // A store with a run of its own.
    let team = server.as_ref().map_or_else(|| "team.db".to_owned(), |server| format!("{}_team", server.store()));
    let other = ["run", "--case", "880601", "--store", &team];
    project.call(&other).env("ASTERISK_CLOCK", "2026-02-13T10:00:00Z").ran().ok();
    let before = figures(&project, &team);
    for (added, known) in [(1, 0), (0, 1)] {
        let synced = project.asterisk(&["store", "sync", "--store", "a.db", "--to", &team, "--format", "json"]).ok().json();
        assert_eq!(synced["runs"].as_array().unwrap().len(), added);
        assert_eq!(synced["known"].as_array().unwrap().len(), known);
    }
    let after = figures(&project, &team);
    let count = |figures: &Value, name: &str| figures[name].as_u64().unwrap();
    assert_eq!(count(&after, "events"), count(&before, "events") + count(&figures(&project, "a.db"), "events"));
    assert_eq!(explained(&project, &team), explained(&project, "a.db"));
    if let Some(server) = &server {
        server.sql("DROP SCHEMA PROJECT_team CASCADE");
    }
}

/// As documented: PostgreSQL's own programs, per project.
#[test]
fn a_project_is_backed_up_and_restored_into_another_database() {
    let Some(server) = ServerProject::new("backup") else { return };
    let project = Project::new();
    project.asterisk(&["run", "--store", &server.store()]).ok();
    let dump = project.root().join("dump");
    let run = |program: &str, arguments: &[&str]| {
        let done = std::process::Command::new(program).args(arguments).output().unwrap();
        assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let (schema, dump) = (format!("asterisk_{}", server.name), dump.to_str().unwrap());
    run("pg_dump", &["--schema", &schema, "--format", "custom", "--file", dump, &server.address]);
    let (at, _) = server.address.rsplit_once('/').unwrap();
    let other = ServerProject { address: format!("{at}/{}", server.name), name: server.name.clone() };
    server.sql(&format!("CREATE DATABASE {}", server.name));
    run("pg_restore", &["--dbname", &other.address, dump]);
    let checked = project.call(&["doctor", "--deep", "--store", &other.store()]).ran();
    assert!(checked.stdout.contains("contents") && !checked.stdout.contains("damaged"), "{}", checked.text());
    assert_eq!(figures(&project, &other.store()), figures(&project, &server.store()));
    assert_eq!(reports(&project, &other.store(), "restored"), reports(&project, &server.store(), "out"));
    // New rows are numbered behind the old ones.
    let later = ["run", "--case", "880601", "--store", &other.store()];
    project.call(&later).env("ASTERISK_CLOCK", "2026-02-13T10:00:00Z").ran().ok();
    drop(other);
    server.sql(&format!("DROP DATABASE {} WITH (FORCE)", server.name));
}

#[test]
fn what_is_not_finished_is_left_out() {
    let project = Project::new();
    small(&project);
    let child = halted(&project, &["run", "--input", "launch.json", "--stub", "stub.json"], 7).unwrap();
    kill(child);
    let synced = project.asterisk(&["store", "sync", "--to", "team.db"]).exits(0);
    assert!(synced.stderr.contains("left out: run") && synced.stderr.contains("is paused"), "{}", synced.text());
    assert!(synced.stdout.contains("added 0 runs"), "{}", synced.text());
}

/// Ends workers and returns what they said.
fn drained(project: &Project, store: &str, workers: Vec<Child>) -> Vec<Ran> {
    project.asterisk(&["worker", "drain", "--all", "--store", store]).ok();
    workers.into_iter().map(|worker| project.ran(&worker.wait_with_output().unwrap())).collect()
}

/// A page of a worker.
fn page(port: u16, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    page
}

/// A distributed run by some workers; what it said, without the place of its report. The first worker is observed.
fn distributed(project: &Project, store: &str, workers: usize) -> String {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let health = format!("127.0.0.1:{port}");
    let observed = ["--health", &health, "--observe", "log-json=worker.jsonl"];
    let workers: Vec<Child> = (1..=workers)
        .map(|n| {
            let worker = ["worker", "--store", store, "--parallel", "1", "--name", &format!("w{n}")];
            let more = if n == 1 { observed.as_slice() } else { &[] };
            project.start(&[worker.as_slice(), more].concat())
        })
        .collect();
    let ran = project.asterisk(&["run", "--distribute", "--store", store, "--out", "out"]).ok();
    assert!(page(port, "/healthz").contains("200 OK"), "{}", page(port, "/healthz"));
    assert!(page(port, "/other").contains("404 Not Found"));
    let metrics = page(port, "/metrics");
    let finished =
        metrics.lines().find_map(|line| line.strip_prefix("asterisk_worker_jobs_total{worker=\"w1\",end=\"finished\"} "));
    assert!(finished.is_some_and(|count| count.parse::<u64>().unwrap() > 0), "{metrics}");
    let log = project.read("worker.jsonl");
    assert!(log.lines().any(|line| line.contains("\"step\"") && line.contains("w1")), "{log}");
    for said in drained(project, store, workers) {
        assert!(said.exits(0).stdout.contains("0 failed"));
    }
    ran.text()
}

#[test]
fn a_run_by_workers_is_the_run_of_one_process() {
    let local = Project::new();
    let said = local.asterisk(&["run", "--store", "a.db", "--out", "out"]).ok().text();
    let server = ServerProject::new("workers");
    let stores = ["a.db".to_owned()].into_iter().chain(server.as_ref().map(ServerProject::store));
    for (store, workers) in stores.zip([2, 1]) {
        let project = Project::new();
        assert_eq!(distributed(&project, &store, workers), said, "{store}");
        assert_eq!(reports(&project, &store, "again"), reports(&local, "a.db", "again"), "{store}");
        assert_eq!(explained(&project, &store), explained(&local, "a.db"), "{store}");
    }
}

/// Waits until a run has handed its first cases out.
fn wait_for_jobs(project: &Project) {
    let file = project.root().join("a.db");
    let jobs =
        || rusqlite::Connection::open(&file).ok()?.query_row("SELECT count(*) FROM jobs", [], |row| row.get::<_, i64>(0)).ok();
    while !file.exists() || jobs().unwrap_or_default() == 0 {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A worker stops between two commits, and loses its jobs; it goes on when another has finished them.
#[test]
fn a_worker_that_comes_back_late_records_nothing() {
    let local = Project::new();
    local.asterisk(&["run", "--store", "a.db", "--out", "out"]).ok();
    let project = Project::new();
    let run = project.start(&["run", "--distribute", "--store", "a.db", "--out", "out", "--parallel", "1"]);
    wait_for_jobs(&project);
    // Before the fifth transaction: it has registered, taken jobs and recorded two steps.
    let late = halted(&project, &["worker", "--store", "a.db", "--parallel", "1", "--name", "late"], 13).unwrap();
    let conn = rusqlite::Connection::open(project.root().join("a.db")).unwrap();
    assert!(conn.execute("UPDATE jobs SET until = 0", []).unwrap() > 0);
    let other = project.start(&["worker", "--store", "a.db", "--parallel", "1", "--name", "other"]);
    let said = project.ran(&run.wait_with_output().unwrap()).ok();
    assert!(said.stdout.contains("16 cases"), "{}", said.text());
    std::fs::remove_file(project.root().join("halted")).unwrap();
    let [late, other] = drained(&project, "a.db", vec![late, other]).try_into().unwrap();
    assert!(late.stderr.contains("was given to another worker"), "{}", late.text());
    assert!(other.stdout.contains("0 failed"), "{}", other.text());
    assert_eq!(reports(&project, "a.db", "again"), reports(&local, "a.db", "again"));
}

#[test]
fn a_lost_worker_is_replaced_and_a_lost_run_is_resumed() {
    let local = Project::new();
    local.asterisk(&["run", "--store", "a.db", "--out", "out"]).ok();
    let project = Project::new();
    let run = project.start(&["run", "--distribute", "--store", "a.db", "--out", "out"]);
    wait_for_jobs(&project);
    let lost = halted(&project, &["worker", "--store", "a.db", "--name", "lost"], 14).unwrap();
    kill(lost);
    kill(run);
    let conn = rusqlite::Connection::open(project.root().join("a.db")).unwrap();
    conn.execute("UPDATE jobs SET until = 0", []).unwrap();
    let listed = project.asterisk(&["worker", "list", "--store", "a.db", "--format", "json"]).ok().json();
    assert_eq!((&listed["workers"][0]["name"], &listed["dead"]), (&json!("lost"), &json!([])));
    let worker = project.start(&["worker", "--store", "a.db", "--name", "next"]);
    let resumed = project.asterisk(&["run", "--resume", "latest", "--distribute", "--store", "a.db", "--out", "out"]).ok();
    assert!(resumed.stdout.contains("16 cases"), "{}", resumed.text());
    drained(&project, "a.db", vec![worker]);
    assert_eq!(reports(&project, "a.db", "again"), reports(&local, "a.db", "again"));
}

/// How far apart the boundaries are at which a run is cut off: each run is cut off at others of them.
const CUTS: usize = 5;

/// All connections of a run are cut off, at each boundary of the transactions of its steps once: before it, before the commit, after it.
#[test]
fn a_server_that_is_lost_at_any_commit_changes_nothing() {
    let (run, whole) = undisturbed();
    let whole = whole.without_rows();
    for first in (1..=CUTS).step_by(if full_size() { 1 } else { 2 }) {
        let Some(server) = ServerProject::new(&format!("cut{first}")) else { return };
        let project = Project::new();
        small(&project);
        let store = format!("{}&application_name={}", server.store(), server.name);
        project.asterisk(&["store", "migrate", "--store", &store]).ok();
        let boundaries: Vec<String> = (first + 3..400).step_by(CUTS).map(|at| at.to_string()).collect();
        let command = [RUN.as_slice(), &["--store", &store]].concat();
        let mut child = halted_at(&project, &command, &boundaries.join(",")).unwrap();
        let halted = project.root().join("halted");
        let mut cuts = 0;
        while child.try_wait().unwrap().is_none() {
            if std::fs::read_to_string(&halted).is_ok_and(|text| text.ends_with('\n')) {
                server.sql(&format!(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = '{}'",
                    server.name
                ));
                std::fs::remove_file(&halted).unwrap();
                cuts += 1;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut said = project.ran(&child.wait_with_output().unwrap());
        assert!(cuts > 10, "{cuts}");
        // Steps are committed again; what begins or ends a run is not.
        if said.code != Some(0) {
            assert!(said.stderr.contains("was lost"), "{}", said.text());
            let known = project.asterisk(&["status", &run, "--store", &store, "--format", "json"]).code == Some(0);
            let resume = ["run", "--resume", &run, "--parallel", "1", "--format", "json"];
            let again = if known { resume.as_slice() } else { RUN.as_slice() };
            said = project.asterisk(&[again, &["--store", &store]].concat()).ok();
        }
        project.asterisk(&["store", "copy", "--store", &store, "--to", ".asterisk/asterisk.db"]).ok();
        assert!(
            Outcome::of(&project, said, &run).without_rows() == whole,
            "cut off at {first} and every {CUTS} on: {}",
            project.root().display()
        );
    }
}

#[test]
fn a_role_sees_and_changes_what_it_was_granted() {
    let Some(server) = ServerProject::new("roles") else { return };
    let project = Project::new();
    project.asterisk(&["run", "--store", &server.store()]).ok();
    let role = |kind: &str| format!("{}_{kind}", server.name);
    for kind in ["reader", "reviewer", "runner", "stranger"] {
        server.sql(&format!("CREATE ROLE {} LOGIN", role(kind)));
        if kind != "stranger" {
            let granted = project.asterisk(&["store", "grant", &role(kind), "--as", kind, "--store", &server.store()]).ok();
            assert!(granted.stdout.contains(&format!("as a {kind}")), "{}", granted.text());
        }
    }
    let reads: [&[&str]; 4] = [&["status"], &["explain", "--case", "880501"], &["store", "status"], &["rca", "list"]];
    let reviews: [&[&str]; 2] = [&["review", "880502", "approve"], &["rca", "list"]];
    let runs: [&[&str]; 1] = [&["run", "--case", "880601"]];
    let owns: [&[&str]; 2] = [&["clean", "--keep-latest", "0"], &["store", "grant", "postgres", "--as", "runner"]];
    for (kind, may) in [("stranger", 0), ("reader", 1), ("reviewer", 2), ("runner", 3)] {
        let before = figures(&project, &server.store());
        for (level, commands) in [(1, reads.as_slice()), (2, &reviews[..]), (3, &runs), (4, &owns)] {
            for command in commands {
                let store = server.store_as(&role(kind));
                let ran = project.asterisk(&[*command, &["--store", &store]].concat());
                // A reader may list what a reviewer changes.
                let may = may >= level || (may > 0 && command[0] == "rca");
                assert_eq!(ran.code == Some(0), may, "{kind}: {command:?}: {}", ran.text());
            }
        }
        let after = figures(&project, &server.store());
        assert_eq!(after == before, ["stranger", "reader"].contains(&kind), "{kind}");
    }
    for kind in ["reader", "reviewer", "runner", "stranger"] {
        server.sql(&format!("DROP OWNED BY {0}; DROP ROLE {0}", role(kind)));
    }
}

#[test]
fn a_password_is_never_shown() {
    let project = Project::new();
    let store = "postgres://ann:s3cretpass@127.0.0.1:9/ci?project=web&connect_timeout=1";
    for command in [&["status"][..], &["config", "--origin"], &["doctor"], &["run"], &["store", "status"]] {
        let ran = project.call(&[command, &["--store", store]].concat()).ran();
        assert!(!ran.text().contains("s3cretpass"), "{}", ran.text());
    }
    let bad = project.asterisk(&["status", "--store", "postgres://h/d?project=A-b"]).exits(2);
    assert!(bad.stderr.contains("not a valid project name"), "{}", bad.text());
}
