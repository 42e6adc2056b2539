//! Cold starts: the wall time of the optimised program as a process, against `/bin/true` and against bare Rhai parsing the scripts
//! that the bundled pipeline reaches. Needs a quiet machine.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/memory.rs"]
mod memory;

use bundled::{clock, setup};
use harness::Table;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use asterisk_base::clock::Clock;
use asterisk_project::AnswererNames;
use asterisk_script::{ScriptLimits, build_engine};
use asterisk_session::{RunInputs, RunSpec, Session, Setup};

const ROUNDS: u32 = 20;

/// A pipeline of one node and one rule, with a canned answer.
const ONE: &str = "pipeline: one\nnodes: [{ name: look, schema: { found: bool } }]\n\
    edges: [{ id: E1, from: look, to: _done, rule: \"one.rhai#found\" }]\nstart: look\ndone: _done\n";
const RULE: &str = "/// It was found.\nfn found(artifact, state, vars) { artifact.found }\n";
const STUB: &str = r#"{"*": {"look": [{"found": true}]}}"#;

/// The fastest of several runs, in milliseconds.
fn fastest(rounds: u32, mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    best
}

fn process(dir: &Path, program: &str, args: &[&str]) -> f64 {
    fastest(ROUNDS, || {
        let mut command = Command::new(program);
        command.args(args).current_dir(dir).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(command.status().is_ok_and(|status| status.success()), "{program} {args:?} fails");
    })
}

/// The time in which bare Rhai parses the scripts that the bundled pipeline reaches.
fn bare_parsing() -> f64 {
    let project = Session::new(setup()).project(None, AnswererNames::Scripts).expect("the bundled project links");
    let texts: Vec<String> = project.library.files().map(|file| file.source().text().to_owned()).collect();
    // An engine with the same lexer settings, without functions.
    let engine = build_engine(&ScriptLimits::default(), [], |_| {});
    fastest(ROUNDS, || {
        for text in &texts {
            drop(engine.compile(text).expect("it parses"));
        }
    })
}

/// The time for the failures alone: the bundled launch in a process that has already linked and run it.
fn warm(dir: &Path) -> f64 {
    let clock: Arc<dyn Clock> = Arc::new(clock());
    let session = Session::new(Setup { root: dir.to_owned(), clock, ..setup() });
    let spec = RunSpec { dry_run: true, parallel: 2, ..RunSpec::of(RunInputs::Example) };
    let run = || drop(session.run(&spec, &(), &AtomicBool::new(false)).expect("a run"));
    run();
    fastest(ROUNDS, run)
}

fn main() -> ExitCode {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("start");
    drop(std::fs::remove_dir_all(&dir));
    std::fs::create_dir_all(dir.join("scripts")).expect("a directory");
    for (name, text) in [("asterisk.yaml", ""), ("one.yaml", ONE), ("scripts/one.rhai", RULE), ("stub.json", STUB)] {
        std::fs::write(dir.join(name), text).expect("written");
    }
    let asterisk = env!("CARGO_BIN_EXE_asterisk");
    let of = |args: &[&str]| process(&dir, asterisk, args);
    let floor = process(&dir, "/bin/true", &[]);
    let mut table = Table::new("start: wall time of a process, the fastest of 20", "ms");
    table.plain("/bin/true", floor);
    table.plain("--version", of(&["--version"]));
    let one = ["run", "one.yaml", "--input", "none", "--stub", "stub.json", "--scripts", "scripts", "--dry-run"];
    table.at_most("run --dry-run, one node and one rule, beyond /bin/true", of(&one) - floor, 8.0);
    table.plain("the same, recorded, beyond /bin/true", of(&one[..one.len() - 1]) - floor);
    let parsing = bare_parsing();
    table.plain("F: bare Rhai parses what the bundled pipeline reaches", parsing);
    let (launch, own) = (of(&["run", "--dry-run"]), warm(&dir));
    table.plain("run --dry-run, the bundled launch", launch);
    table.plain("its failures' own time, in a process that is warm", own);
    table.within("the rest of it, against F", launch - own, parsing, 1.2);
    process(&dir, asterisk, &["run"]);
    for args in [&["status", "latest"][..], &["report", "latest"], &["show", "signatures"], &["status"]] {
        table.at_most(&args.join(" "), of(args) - floor, 15.0);
    }
    table.at_most("explain latest --case 880101", of(&["explain", "latest", "--case", "880101"]) - floor, 40.0);
    table.at_most("lint", of(&["lint"]) - floor, 500.0);
    table.at_most("test", of(&["test"]) - floor, 1200.0);
    table.finish()
}
