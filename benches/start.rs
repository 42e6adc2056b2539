//! A cold start: the release binary is run, and its processor time is read from what the system charges for children.

mod harness;

use harness::Table;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// Runs in a batch: processor time is charged in ticks of 10 ms, so it is read over a batch.
const BATCH: u32 = 20;
const ROUNDS: u32 = 8;

/// Answers for the bundled pipeline, so that no responder runs: what is left is the start.
const STUB: &str = r#"{"*": {"recall": [{"match": false, "confidence": 0.2}], "triage": [{"symptom_category": "product",
    "candidate_repos": ["a", "b"]}], "resolve": [{"selected_repos": [{"name": "a"}]}], "investigate": [{"rca_message": "x",
    "defect_type": "pb001", "convergence_score": 0.9}], "correlate": [{"is_duplicate": false, "confidence": 0.1}],
    "review": [{"decision": "approve"}], "report": [{}]}}"#;

/// The processor time of ended children so far, in milliseconds; nothing where there is no `/proc`.
fn charged() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(13);
    let ticks: [f64; 2] = [fields.next()?.parse().ok()?, fields.next()?.parse().ok()?];
    Some((ticks[0] + ticks[1]) * 10.0)
}

/// Wall and processor milliseconds of one run: the fastest run, the cheapest batch.
#[derive(Clone, Copy)]
struct Cost {
    wall: f64,
    processor: f64,
}

fn batch(program: &Path, args: &[&str], best: &mut Cost) {
    let before = charged();
    for _ in 0..BATCH {
        let start = Instant::now();
        let status = Command::new(program).args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(status.is_ok_and(|status| status.success()), "{} {args:?} fails", program.display());
        best.wall = best.wall.min(start.elapsed().as_secs_f64() * 1e3);
    }
    if let (Some(before), Some(after)) = (before, charged()) {
        best.processor = best.processor.min((after - before) / f64::from(BATCH));
    }
}

fn main() -> ExitCode {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let stub = dir.join("start-stub.json");
    std::fs::create_dir_all(&dir).and_then(|()| std::fs::write(&stub, STUB)).expect("a stub file");
    let stub = stub.display().to_string();
    let asterisk = Path::new(env!("CARGO_BIN_EXE_asterisk"));
    let subjects: [(&str, &Path, &[&str]); 5] = [
        ("/bin/true", Path::new("/bin/true"), &[]),
        ("asterisk version", asterisk, &["version"]),
        ("asterisk run --dry-run, one canned case", asterisk, &["run", "--dry-run", "--input", "none", "--stub", &stub]),
        ("asterisk run --dry-run, one empty case, scripted", asterisk, &["run", "--dry-run", "--input", "none"]),
        ("asterisk run --dry-run, the bundled launch", asterisk, &["run", "--dry-run"]),
    ];
    let mut best = [Cost { wall: f64::INFINITY, processor: f64::INFINITY }; 5];
    for _ in 0..ROUNDS {
        for ((_, program, args), best) in subjects.iter().zip(&mut best) {
            batch(program, args, best);
        }
    }
    let floor = best[0];
    let mut table = Table::new("start: processor time of the process (wall time below)", "ms");
    table.plain(subjects[0].0, floor.processor);
    for (at, (name, ..)) in subjects.iter().enumerate().skip(1) {
        if at == 2 {
            table.at_most(name, best[at].processor, 8.0);
        } else {
            table.plain(name, best[at].processor);
        }
    }
    for ((name, ..), best) in subjects.iter().zip(&best) {
        table.plain(&format!("wall: {name}"), best.wall);
    }
    table.finish()
}
