//! Reading large launches: throughput, against the bare parsers on the same bytes in the same run, and peak memory.

mod harness;
#[path = "harness/launches.rs"]
mod launches;
#[path = "harness/memory.rs"]
mod memory;

use asterisk_base::model::Launch;
use asterisk_launch::{LaunchMerger, TextLimits};
use harness::{Table, measure, worst};
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The bound on the peak memory of the process that reads the large launch, in MiB.
const PEAK: f64 = 200.0;

/// Reads a file like the program.
fn read(path: &Path) -> Launch {
    let mut gather = LaunchMerger::new(TextLimits::default());
    let size = path.metadata().map(|meta| meta.len()).ok();
    gather.add_input("large", size, || File::open(path)).expect("a launch");
    gather.finish()
}

/// The parser alone: creates and drops every value.
fn bare_json(path: &Path) {
    let file = BufReader::with_capacity(256 << 10, File::open(path).expect("a file"));
    let value: serde::de::IgnoredAny = serde_json::from_reader(file).expect("json");
    black_box(value);
}

/// Reads every event of the document.
fn bare_xml(path: &Path) {
    let file = BufReader::with_capacity(256 << 10, File::open(path).expect("a file"));
    let mut reader = quick_xml::Reader::from_reader(file);
    let mut buffer = Vec::new();
    while !matches!(reader.read_event_into(&mut buffer).expect("xml"), quick_xml::events::Event::Eof) {
        buffer.clear();
    }
}

/// Counts the lines, each read as text.
fn bare_lines(path: &Path) {
    let file = BufReader::with_capacity(256 << 10, File::open(path).expect("a file"));
    black_box(file.lines().map_while(Result::ok).count());
}

/// The peak memory of this process in MiB; `None` without `/proc`.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

/// Reads a launch in a child process. Returns the number of cases and the peak memory.
fn child(path: &Path) -> Option<(f64, f64)> {
    let program = std::env::current_exe().ok()?;
    let ran = Command::new(program).arg("--peak-of").arg(path).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(ran.stdout).ok()?;
    let mut numbers = text.lines().last()?.split_whitespace().map(str::parse::<f64>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[expect(clippy::cast_precision_loss, clippy::print_stdout, reason = "sizes of files; a bench prints")]
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|arg| arg == "--peak-of") {
        let launch = read(Path::new(&args[at + 1]));
        println!("{} {}", launch.cases.len(), peak().unwrap_or_default());
        return ExitCode::SUCCESS;
    }
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&dir).expect("a directory");
    let (json, xml, log) = (dir.join("large.json"), dir.join("large.xml"), dir.join("large.log"));
    launches::reportportal(&json, 10_000, 1000).expect("written");
    launches::junit(&xml, 10_000, 1000).expect("written");
    launches::job_log(&log, 200_000).expect("written");
    let size = |path: &Path| path.metadata().map_or(0.0, |meta| meta.len() as f64);
    let times = measure(
        5,
        1,
        &mut [
            ("json", &mut || drop(black_box(read(&json)))),
            ("bare json", &mut || bare_json(&json)),
            ("xml", &mut || drop(black_box(read(&xml)))),
            ("bare xml", &mut || bare_xml(&xml)),
            ("log", &mut || drop(black_box(read(&log)))),
            ("bare lines", &mut || bare_lines(&log)),
        ],
    );
    let mut table = Table::new("ingest: 10 000 failures with a kilobyte of text each", "ms");
    table.plain("serde_json alone", times[1] / 1e6);
    table.against("a ReportPortal launch", times[0] / 1e6, times[1] / 1e6);
    table.plain("quick-xml alone", times[3] / 1e6);
    table.against("a JUnit report", times[2] / 1e6, times[3] / 1e6);
    table.plain("std's lines alone", times[5] / 1e6);
    table.against("the log of a job, 200 000 lines", times[4] / 1e6, times[5] / 1e6);
    for (name, path, nanoseconds) in [("ReportPortal", &json, times[0]), ("JUnit", &xml, times[2]), ("job log", &log, times[4])] {
        println!("{name:<58} {:>10.1} MB/s", size(path) / nanoseconds * 1e3);
    }
    launches::reportportal(&json, 100_000, 1000).expect("written");
    launches::junit(&xml, 100_000, 1000).expect("written");
    let mut memory = Table::new("\ningest: the peak of a process that reads 100 000 failures", "MiB");
    for (name, path) in [("ReportPortal", &json), ("JUnit", &xml)] {
        let Some((cases, peak)) = child(path) else { continue };
        assert!((cases - 100_000.0).abs() < 0.5, "{cases} cases");
        memory.at_most(&format!("{name}, {:.0} MiB of text", size(path) / f64::from(1 << 20)), peak, PEAK);
    }
    for path in [&json, &xml, &log] {
        std::fs::remove_file(path).unwrap_or_default();
    }
    worst([table.finish(), memory.finish()])
}
