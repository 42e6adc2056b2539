//! Tests of what only a server can do: lose connections, and give a run to another process meanwhile.

#![allow(clippy::unwrap_used)]

use super::fixture::{Backend, StoreFixture, at, launch, step};
use super::location::{ServerAddress, StoreLocation};
use super::server::key;
use super::sql::{Connection, ServerConnection};
use super::{Durability, Retention, RunStatus, Store, StoreError};
use asterisk_walk::{Blob, Commit, Event, Journal, JournalError};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A second connection to the database of a store.
fn second_connection(fixture: &StoreFixture) -> (ServerConnection, String) {
    let StoreLocation::Server(address) = fixture.location() else { panic!("no server") };
    (ServerConnection::open(address, "SET client_min_messages = warning").unwrap(), address.schema())
}

/// The process of a store's writer on the server.
fn writer(store: &Store) -> i64 {
    let pid = |conn: &Connection| Ok(conn.query_row("SELECT pg_backend_pid()", [], |row| row.get(0))?);
    store.writer().unwrap().exclusively(pid).unwrap()
}

fn cut(conn: &ServerConnection, pid: i64) {
    conn.simple(&format!("SELECT pg_terminate_backend({pid})")).unwrap();
}

fn events(store: &Store) -> Vec<Event> {
    store.events("r", "c1").unwrap().into_iter().map(|(_, event)| event).collect()
}

fn walked(steps: usize) -> Vec<Event> {
    (1..=steps).flat_map(|at| step("c1", at).events).collect()
}

/// A store on a server; `None` where there is none.
fn on_server() -> Option<StoreFixture> {
    (!Backend::Server.is_missing()).then(|| StoreFixture::on(Backend::Server))
}

#[test]
fn a_writer_and_a_reader_that_were_cut_off_go_on() {
    let Some(fixture) = on_server() else { return };
    let (other, _) = second_connection(&fixture);
    let journal = fixture.begin("r", &launch(1));
    for at in 1..=3 {
        journal.commit(step("c1", at)).unwrap();
        assert_eq!(events(&fixture.store), walked(at));
        cut(&other, writer(&fixture.store));
        let reader = |conn: &Connection| Ok(conn.query_row("SELECT pg_backend_pid()", [], |row| row.get(0))?);
        cut(&other, fixture.store.read(reader).unwrap());
    }
}

#[test]
fn a_reader_forgets_what_another_process_removed_and_leaves_no_transaction_open() {
    let Some(fixture) = on_server() else { return };
    let (other, _) = second_connection(&fixture);
    let journal = fixture.begin("r", &launch(1));
    let content = Blob::new("a content of the run".to_owned());
    journal.commit(Commit { blobs: vec![content.clone()], ..step("c1", 1) }).unwrap();
    drop(journal);
    fixture.store.finish_run("r", RunStatus::Done, at(1)).unwrap();
    for _ in 0..2 {
        assert_eq!(fixture.store.blob(&content.hash).unwrap().as_deref(), Some("a content of the run"));
    }
    let reader = |conn: &Connection| Ok(conn.query_row("SELECT pg_backend_pid()", [], |row| row.get::<_, i64>(0))?);
    let pid = fixture.store.read(reader).unwrap();
    let state = || other.simple(&format!("SELECT state FROM pg_stat_activity WHERE pid = {pid}")).unwrap();
    while state().as_deref() != Some("idle") {
        std::thread::sleep(Duration::from_millis(1));
    }
    let second = Store::open(fixture.location(), Durability::Batch).unwrap();
    assert!(second.clean(&Retention::default(), at(9)).unwrap().blobs > 0);
    assert_eq!(fixture.store.read(reader).unwrap(), pid, "the same connection");
    assert_eq!(fixture.store.blob(&content.hash).unwrap(), None);
}

#[test]
fn what_was_cut_off_in_the_middle_leaves_no_trace() {
    let Some(fixture) = on_server() else { return };
    let (other, _) = second_connection(&fixture);
    let journal = fixture.begin("r", &launch(1));
    let pid = writer(&fixture.store);
    let interrupted = |conn: &Connection| {
        conn.execute("DELETE FROM run_cases", [])?;
        cut(&other, pid);
        Ok(conn.execute("UPDATE runs SET pipeline = 'other'", [])?)
    };
    let error = fixture.store.writer().unwrap().exclusively(interrupted).expect_err("cut off");
    assert!(matches!(error, StoreError::Unreachable(_)), "{error}");
    journal.commit(step("c1", 1)).unwrap();
    assert_eq!((events(&fixture.store), fixture.store.run("r").unwrap().pipeline.as_str()), (walked(1), "p"));
}

/// Two connections are lost between the rows of a step and its commit.
#[cfg(debug_assertions)]
#[test]
fn a_step_that_was_cut_off_before_its_commit_is_committed_again() {
    let Some(fixture) = on_server() else { return };
    let (other, schema) = second_connection(&fixture);
    let journal = fixture.begin("r", &launch(1));
    let dir = tempfile::tempdir().unwrap();
    let halted = dir.path().join("halted");
    let variables = [("ASTERISK_HALT_AT".into(), "2,4".into()), ("ASTERISK_HALT_FILE".into(), halted.clone().into_os_string())];
    let variables = variables.into_iter().collect();
    let _armed = fixture.store.clone().with_failpoint(&variables);
    std::thread::scope(|scope| {
        let committed = scope.spawn(|| journal.commit(step("c1", 1)));
        for _ in 0..2 {
            while !halted.exists() {
                assert!(!committed.is_finished());
                std::thread::sleep(Duration::from_millis(1));
            }
            // The writer is the one that holds the lock of writers.
            let key = key(&["write", &schema]).cast_unsigned();
            other
                .simple(&format!(
                    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = {} AND objid = {}",
                    key >> 32,
                    key & u64::from(u32::MAX)
                ))
                .unwrap();
            std::fs::remove_file(&halted).unwrap();
        }
        committed.join().unwrap().unwrap();
    });
    assert_eq!(events(&fixture.store), walked(1));
}

/// Passes bytes on between a client and the server. Once it is armed, the reply to a commit is lost with the connection.
struct Proxy {
    port: u16,
    armed: Arc<AtomicBool>,
}

impl Proxy {
    fn start(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, armed) = (listener.local_addr().unwrap().port(), Arc::new(AtomicBool::new(false)));
        let fired = Arc::clone(&armed);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (server, armed) = (TcpStream::connect(&server).unwrap(), Arc::clone(&fired));
                let (mut back, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                std::thread::spawn(move || std::io::copy(&mut back, &mut to));
                std::thread::spawn(move || pass_on(client, server, &armed));
            }
        });
        Self { port, armed }
    }
}

fn pass_on(mut client: TcpStream, mut server: TcpStream, armed: &AtomicBool) {
    let mut room = vec![0; 1 << 16];
    while let Ok(count @ 1..) = client.read(&mut room) {
        let lost = room[..count].windows(6).any(|word| word == b"COMMIT") && armed.swap(false, Ordering::SeqCst);
        if lost {
            client.shutdown(Shutdown::Both).unwrap();
        }
        if server.write_all(&room[..count]).is_err() || lost {
            // The server has the commit; its reply is lost.
            std::thread::sleep(Duration::from_millis(50));
            break;
        }
    }
    server.shutdown(Shutdown::Both).unwrap_or_default();
}

#[test]
fn a_commit_whose_reply_is_lost_is_not_made_twice() {
    let Some(fixture) = on_server() else { return };
    let StoreLocation::Server(address) = fixture.location() else { panic!("no server") };
    let (scheme, rest) = address.url().split_once("://").unwrap();
    let (user, rest) = rest.rsplit_once('@').map_or(("", rest), |(user, rest)| (user, rest));
    let (server, database) = rest.split_once('/').unwrap();
    let server = if server.contains(':') { server.to_owned() } else { format!("{server}:5432") };
    let proxy = Proxy::start(server);
    let url = format!("{scheme}://{user}@127.0.0.1:{}/{database}?project={}", proxy.port, address.project());
    let through: ServerAddress = url.parse().unwrap();
    let store = Store::open(StoreLocation::Server(through), Durability::Batch).unwrap();
    let journal = super::fixture::begin(&store, "r", &launch(1)).unwrap();
    for at in 1..=3 {
        proxy.armed.store(true, Ordering::SeqCst);
        journal.commit(step("c1", at)).unwrap();
        assert!(!proxy.armed.load(Ordering::SeqCst), "the reply was lost");
    }
    assert_eq!(events(&fixture.store), walked(3));
}

#[test]
fn a_process_that_lost_its_lease_to_another_commits_nothing() {
    let Some(fixture) = on_server() else { return };
    let (other, schema) = second_connection(&fixture);
    let first = fixture.begin("r", &launch(1));
    first.commit(step("c1", 1)).unwrap();
    let second = Store::open(fixture.location(), Durability::Batch).unwrap();
    assert!(second.journal("r").is_err_and(|error| error.is_busy()));
    let key = key(&["run", &schema, "r"]).cast_unsigned();
    let holder = format!(
        "FROM pg_locks WHERE locktype = 'advisory' AND classid = {} AND objid = {}",
        key >> 32,
        key & u64::from(u32::MAX)
    );
    other.simple(&format!("SELECT pg_terminate_backend(pid) {holder}")).unwrap();
    while other.simple(&format!("SELECT 1 {holder}")).unwrap().is_some() {
        std::thread::sleep(Duration::from_millis(1));
    }
    first.commit(step("c1", 2)).unwrap();
    let resumed = second.journal("r").unwrap();
    assert_eq!(second.run("r").unwrap().status, RunStatus::Running);
    let late = first.commit(step("c1", 9)).expect_err("too late");
    assert!(matches!(&late, JournalError::Failed(why) if why.contains("`r` was taken over by another process")), "{late:?}");
    assert_eq!(events(&fixture.store), walked(2));
    resumed.commit(step("c1", 3)).unwrap();
    assert_eq!(events(&fixture.store), walked(3));
}
