//! The bundled tests with and without coverage: the cost of observing every decision.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk_script_tests::{TestSpec, run};
use asterisk_session::Session;
use bundled::setup;
use harness::{Table, measure};
use std::process::ExitCode;

fn tests(session: &Session, coverage: bool) -> impl FnMut() {
    let (session, asked) = (session.clone(), TestSpec { coverage, ..TestSpec::default() });
    move || {
        let results = run(&session, &asked).expect("the bundled tests run");
        assert_eq!(results.failed(), 0);
    }
}

fn main() -> ExitCode {
    let session = Session::new(setup());
    let (mut plain, mut covered) = (tests(&session, false), tests(&session, true));
    let best = measure(12, 1, &mut [("plain", &mut plain), ("coverage", &mut covered)]);
    let mut table = Table::new("coverage: all bundled tests, linked and run", "ms");
    table.plain("without", best[0] / 1e6);
    table.within("with coverage", best[1] / 1e6, best[0] / 1e6, 3.0);
    table.finish()
}
