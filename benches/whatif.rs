//! Verdicts and scripted answers recomputed by replay after edits of a weight and of a signature, per case of the bundled launch.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk_decisions::replay::{ReplayReport, ReplaySpec, replay};
use asterisk_session::{RunInputs, RunSpec, Session, Setup};
use bundled::setup;
use harness::{Table, measure};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

/// The number of runs of the launch.
const RUNS: usize = 12;

/// A weight in the pipeline that affects some verdicts of the launch.
const WEIGHT: (&str, &str) =
    ("group: siblings, for: { en001: 0.7, au001: 0.5 }", "group: siblings, for: { en001: 0.71, au001: 0.5 }");

/// The same for a signature.
const SIGNATURE: (&str, &str) =
    ("weights: { pb001: 1, en001: 0.2 }\n    group: schema", "weights: { pb001: 1.1 }\n    group: schema");

/// A pattern that matches nothing in the launch.
const PATTERN: (&str, &str) =
    ("      - 'no such host is known", "      - 'no host of that kind'\n      - 'no such host is known");

/// Writes an edited copy of a bundled file below a directory.
fn edited(dir: &Path, area: &str, file: &str, (from, to): (&str, &str)) -> PathBuf {
    let text = std::fs::read_to_string(format!("{}/{area}/{file}", env!("CARGO_MANIFEST_DIR"))).expect("a bundled file");
    assert!(text.contains(from), "{file} has {from}");
    let path = dir.join(file);
    std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    std::fs::write(path, text.replace(from, to)).expect("a file");
    dir.to_owned()
}

fn again(session: &Session) -> ReplayReport {
    replay(session, &ReplaySpec { runs: Vec::new(), pipeline: None, parallel: 1 }).expect("it is made again")
}

fn main() -> ExitCode {
    let dir = tempfile::tempdir().expect("a directory");
    let own = || Setup { store: dir.path().join("store.db").into(), out: dir.path().join("out"), ..setup() };
    let spec = RunSpec::of(RunInputs::Example);
    for _ in 0..RUNS {
        Session::new(own()).run(&spec, &(), &AtomicBool::new(false)).expect("it runs");
    }
    let weight = edited(&dir.path().join("weight"), "pipelines", "rca.yaml", WEIGHT);
    let signature = edited(&dir.path().join("signature"), "scripts", "data/signatures/database.yaml", SIGNATURE);
    let pattern = edited(&dir.path().join("pattern"), "scripts", "data/signatures/network.yaml", PATTERN);
    let same = Session::new(own());
    let weight = Session::new(Setup { pipelines: Some(weight), ..own() });
    let signature = Session::new(own().with_scripts(&signature));
    let pattern = Session::new(own().with_scripts(&pattern));
    let (unchanged, changed) = (again(&same), again(&weight));
    assert_eq!((unchanged.verdicts, changed.verdicts), (0, changed.cases));
    #[expect(clippy::cast_precision_loss, reason = "hundreds")]
    let cases = unchanged.cases as f64;
    let (mut plain, mut weighed, mut signed, mut matched) =
        (|| drop(again(&same)), || drop(again(&weight)), || drop(again(&signature)), || drop(again(&pattern)));
    let subjects: &mut [(&str, &mut dyn FnMut())] =
        &mut [("plain", &mut plain), ("weight", &mut weighed), ("signature", &mut signed), ("pattern", &mut matched)];
    let us: Vec<f64> = measure(5, 1, subjects).into_iter().map(|nanos| nanos / cases / 1000.0).collect();
    let mut table = Table::new("replay of scripted cases, each, linking of the runs' texts included", "us");
    table.plain("nothing edited", us[0]);
    table.plain("an edited weight, beyond that", us[1] - us[0]);
    table.at_most("an edited weight of a signature", us[2], 1000.0);
    table.at_most("an edited pattern of a signature", us[3], 1000.0);
    table.finish()
}
