//! Learning weights from 10 000 synthetic reviews, and calibrating scenarios of two sizes: time per case and peak memory.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk_adapters::reportportal::LaunchFilter;
use asterisk_calibrate::{CalibrateListener, CalibrateSpec, ScenarioSpec, calibrate};
use asterisk_learn::{FittedTerms, FoldsBy, LabelOrigin, LearnSpec, learn};
use asterisk_session::{RunSettings, Session, Setup};
use bundled::setup;
use harness::{Table, worst};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// The number of labels.
const LABELS: usize = 10_000;
/// The bound on the time of learning, in seconds.
const SECONDS: f64 = 10.0;
/// The numbers of cases of the two scenarios.
const SIZES: [usize; 2] = [300, 3_000];

/// Error texts with their defect.
const KINDS: &[(&str, &str)] = &[
    ("connect ECONNREFUSED 10.0.0.{n}:7070 while calling the gatekeeper", "pb001"),
    ("the conveyor did not settle within {n} ms", "en001"),
    ("AssertionError: ledger totals differ: expected {n} but was 7\n  at totals (src/ledger.js:{n}:7)", "pb001"),
    ("AssertionError: kiosk banner: expected 'Welcome {n}' but was 'Welcome'\n  at banner (test/kiosk.spec.js:{n}:7)", "au001"),
    ("gripper torque below threshold at station {n}", "en001"),
    ("stale manifest for tenant {n}, regenerate the golden files", "au001"),
    ("java.lang.IllegalStateException: basket {n} is already sealed\n\tat shop.Basket.seal(Basket.java:{n})", "pb001"),
];

fn failure(at: usize) -> (String, &'static str) {
    let (text, defect) = KINDS[(at * 5 + at / 7) % KINDS.len()];
    (text.replace("{n}", &(at % 997).to_string()), defect)
}

fn labels(count: usize) -> String {
    let case = |at: usize| {
        let (error, defect) = failure(at);
        let failure = json!({ "name": format!("scenario {at}"), "error_message": error });
        json!({ "id": format!("r{at}"), "project": format!("p{}", at % 200), "label": defect, "failure": failure })
    };
    Value::Array((0..count).map(case).collect()).to_string()
}

fn scenario(count: usize) -> String {
    let case = |at: usize| {
        let (error, defect) = failure(at);
        let name = format!("scenario {at}");
        json!({ "id": format!("c{at}"), "project": format!("p{}", at / 100), "test_name": name, "error_message": error, "defect_type": defect })
    };
    json!({ "name": format!("of {count}"), "cases": (0..count).map(case).collect::<Vec<_>>() }).to_string()
}

struct Unheard;
impl CalibrateListener for Unheard {}

fn session(dir: &Path) -> Session {
    Session::new(Setup::bare(dir.to_owned(), setup().clock))
}

fn calibrated(dir: &Path, path: &Path) -> usize {
    let scenario = ScenarioSpec { path: path.to_owned(), launches: None, pipeline: None, scorecard: None, resamples: 20 };
    let spec = CalibrateSpec {
        scenario,
        settings: RunSettings::default(),
        runs: 1,
        parallel: 2,
        out: Some(dir.join("calibrated")),
        keep: false,
        compare: None,
    };
    calibrate(&session(dir), &spec, &Unheard).expect("it is calibrated").scored
}

/// The peak memory of this process in MiB.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().trim_end_matches(" kB");
    kib.parse::<f64>().ok().map(|kib| kib / 1024.0)
}

/// Calibrates a scenario in a child process. Returns the seconds and the peak memory; panics if the child fails.
fn child(path: &Path) -> (f64, f64) {
    let program = std::env::current_exe().expect("the bench");
    let ran = Command::new(program).arg("--calibrate").arg(path).stderr(Stdio::inherit()).output().expect("a process");
    assert!(ran.status.success(), "calibrating {} failed: {}", path.display(), ran.status);
    let text = String::from_utf8(ran.stdout).expect("figures");
    let figures: Vec<f64> = text.split_whitespace().map(|figure| figure.parse().expect("a figure")).collect();
    (figures[0], figures[1])
}

#[expect(clippy::print_stdout, reason = "a bench prints")]
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let dir = tempfile::tempdir().expect("a directory");
    if let Some(path) = args.iter().position(|arg| arg == "--calibrate").and_then(|at| args.get(at + 1)) {
        let begun = Instant::now();
        calibrated(dir.path(), Path::new(path));
        println!("{} {}", begun.elapsed().as_secs_f64(), peak().unwrap_or_default());
        return ExitCode::SUCCESS;
    }
    let file = dir.path().join("labels.json");
    std::fs::write(&file, labels(LABELS)).expect("a file");
    let spec = LearnSpec {
        from: vec![LabelOrigin::File(file)],
        launches: None,
        portal: LaunchFilter::default(),
        lambda: None,
        half_life_days: None,
        folds: 10,
        by: FoldsBy::Auto,
        terms: FittedTerms::WithRules,
        audit: false,
        pipeline: None,
    };
    let begun = Instant::now();
    let report = learn(&session(dir.path()), &spec).expect("it is learned");
    let seconds = begun.elapsed().as_secs_f64();
    assert_eq!(report.cases, LABELS);
    let mut table = Table::new("learn: 10 000 synthetic reviews, terms and ten folds included", "s");
    table.at_most("read, judged, fitted and measured", seconds, SECONDS);
    let paths = SIZES.map(|size| {
        let path = dir.path().join(format!("of-{size}.json"));
        std::fs::write(&path, scenario(size)).expect("a file");
        path
    });
    let mut sizes = Table::new("\ncalibrate: scenarios of growing size, in a process each", "ms, MiB");
    let ((few, low), (many, high)) = (child(&paths[0]), child(&paths[1]));
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    let each = |seconds: f64, cases: usize| 1000.0 * seconds / cases as f64;
    sizes.plain(&format!("a case of {}", SIZES[0]), each(few, SIZES[0]));
    sizes.within(&format!("a case of {}", SIZES[1]), each(many, SIZES[1]), each(few, SIZES[0]), 1.25);
    sizes.plain(&format!("the peak with {}", SIZES[0]), low);
    sizes.within(&format!("the peak with {}", SIZES[1]), high, low, 2.0);
    worst([table.finish(), sizes.finish()])
}
