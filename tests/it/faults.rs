//! Writes that fail: a full disk, a broken one, too many open files, an unwritable path. The program reports the error,
//! exits with the code for it, and the resumed run gives the same result as an undisturbed one.

use crate::harness::{Project, Ran};
use crate::kill::{Outcome, RUN, halted, kill, nothing_left, same, small, undisturbed};
use std::process::Command;

/// The program below limits of the shell's `ulimit`, in a project of two cases.
fn limited(project: &Project, limit: &str, args: &[&str]) -> Ran {
    let direct = project.command(args);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit {limit}; exec \"$0\" \"$@\"")]);
    command.arg(direct.get_program()).args(direct.get_args()).current_dir(project.root()).env_clear();
    command.envs(direct.get_envs().filter_map(|(name, value)| Some((name, value?))));
    project.ran(&command.output().unwrap())
}

/// Ended as a program ends that says why.
#[track_caller]
fn said_why(ran: &Ran, codes: &[i32], about: &str) {
    assert!(ran.code.is_some_and(|code| codes.contains(&code)), "{about}: {}", ran.text());
    assert!(!ran.stderr.is_empty() && !ran.stderr.contains("panicked"), "{about}: {}", ran.text());
}

/// The result of resuming once nothing fails any more.
fn goes_on(project: &Project, run: &str) -> Outcome {
    let resume = ["run", "--resume", run, "--parallel", "1", "--format", "json"];
    let known = project.asterisk(&["status", run, "--format", "json"]).code == Some(0);
    let said = if known { project.asterisk(&resume) } else { project.asterisk(&RUN) }.ok();
    nothing_left(project);
    Outcome::of(project, said, run)
}

/// The store cannot be written from the n-th boundary of its transactions on.
#[test]
fn a_store_that_cannot_be_written_stops_the_run_and_nothing_is_lost() {
    let (run, expected) = undisturbed();
    let faults = [("full", 4), ("ioerr", 5), ("fsync", 5), ("cantopen", 5), ("readonly", 5), ("busy", 6), ("nomem", 5)];
    // The first three boundaries begin the run; the last three end it.
    for at in [1, 2, 3, 4, 5, 12, 20, 28, 33, 41, 52, 53, 54] {
        let (fault, code) = faults[usize::try_from(at).unwrap() % faults.len()];
        let project = Project::new();
        small(&project);
        let ran = project.call(&RUN).env("ASTERISK_HALT_AT", at.to_string()).env("ASTERISK_HALT_WITH", fault).ran();
        let about = format!("{fault} at {at}");
        // A run that has not begun cannot be resumed.
        let codes: &[i32] = if at > 3 || matches!(code, 4 | 6) { &[code] } else { &[3] };
        said_why(&ran, codes, &about);
        assert_eq!(ran.stderr.contains("free disk space"), fault == "full", "{about}: {}", ran.text());
        same(&goes_on(&project, &run), &expected, &[at]);
    }
}

/// No file may grow beyond a limit: first the store's, then those of the run, whichever comes to it.
#[cfg(unix)]
#[test]
fn files_that_cannot_grow_are_reported() {
    let (run, expected) = undisturbed();
    let mut failed = 0;
    for blocks in [0, 1, 40, 70, 100, 300, 600, 900, 1100] {
        let project = Project::new();
        small(&project);
        let ran = limited(&project, &format!("-f {blocks}"), &RUN);
        if ran.code == Some(0) {
            continue;
        }
        failed += 1;
        said_why(&ran, &[3, 4, 5], &format!("{blocks} blocks"));
        same(&goes_on(&project, &run), &expected, &[blocks]);
    }
    assert!(failed > 4, "{failed}");
}

/// The report alone, of a run that is over: the disk is full.
#[cfg(unix)]
#[test]
fn a_report_that_does_not_fit_is_an_error_and_the_last_one_is_kept() {
    let failed = |at: usize| {
        let error = format!("ValueError: the price of item {at} is wrong: {}", "x ".repeat(400));
        format!("<testcase classname='shop.test_{at}' name='test_{at}'><failure message='wrong'>{error}</failure></testcase>")
    };
    let cases: String = (0..80).map(failed).collect();
    let launch = format!("<testsuite name='pytest' tests='80' failures='80'>{cases}</testsuite>");
    let project = Project::with(&[("many.xml", &launch)]);
    let run =
        project.asterisk(&["run", "--input", "many.xml", "--format", "json"]).ok().json()["run"].as_str().unwrap().to_owned();
    let page = format!(".asterisk/investigations/{run}/report.html");
    let before = project.read(&page);
    // Some shells count blocks of 512 bytes, some of 1024: room for the files next to the store, and at most for half a page.
    let limit = format!("-f {}", before.len() / 2048);
    assert!(before.len() / 2048 > 64, "{}", before.len());
    for args in [vec!["report"], vec!["run", "--resume", "latest"]] {
        let ran = limited(&project, &limit, &args);
        said_why(&ran, &[4], &limit);
        assert!(ran.stderr.contains("free disk space"), "{}", ran.text());
        assert_eq!(project.read(&page), before);
        nothing_left(&project);
    }
    project.asterisk(&["report"]).ok();
}

/// As many files as a process may have open.
#[cfg(unix)]
#[test]
fn running_out_of_file_descriptors_is_reported() {
    let (run, expected) = undisturbed();
    let mut failed = 0;
    for files in (4..18).step_by(2) {
        let project = Project::new();
        small(&project);
        let ran = limited(&project, &format!("-n {files}"), &RUN);
        if ran.code != Some(0) {
            failed += 1;
            said_why(&ran, &[2, 3, 5, 6], &format!("{files} files"));
        }
        same(&goes_on(&project, &run), &expected, &[files]);
    }
    assert!(failed > 2, "{failed}");
}

/// A directory occupies the path of a file to write.
#[test]
fn an_occupied_path_is_reported() {
    let (run, expected) = undisturbed();
    for name in ["events.jsonl", "a/state.json", "a/prompt-recall.md", "rca.json", "report.html", "report.md"] {
        let project = Project::new();
        small(&project);
        let planted = project.root().join(format!(".asterisk/investigations/{run}/{name}"));
        std::fs::create_dir_all(planted.join("in the way")).unwrap();
        let ran = project.asterisk(&RUN);
        said_why(&ran, &[2], name);
        assert!(ran.stderr.contains(&run), "{name}: {}", ran.text());
        std::fs::remove_dir_all(planted).unwrap();
        same(&goes_on(&project, &run), &expected, &[]);
    }
}

/// Files that a killed process leaves next to the store and in the directory of its run are reported by `doctor`, and removed by the next command
/// that writes.
#[test]
fn remains_of_killed_runs_are_reported_and_removed() {
    let project = Project::new();
    small(&project);
    kill(halted(&project, &RUN, 20).unwrap());
    let leases = || project.tree().into_iter().filter(|(path, _)| path.contains("-run-")).count();
    assert_eq!(leases(), 1);
    let doctor = project.asterisk(&["doctor"]).exits(0);
    assert!(doctor.stdout.contains("left behind"), "{}", doctor.text());
    assert_eq!(leases(), 1, "doctor changes nothing");
    // Another run, not the one that was killed.
    project.asterisk(&["run", "--input", "none", "--stub", "stub.json"]).exits(0);
    assert_eq!(leases(), 0);
    // Half a file, as a kill within its writing leaves it.
    let run = project.asterisk(&["status", "--format", "json"]).ok().json();
    let names: Vec<&str> = run["runs"].as_array().unwrap().iter().map(|row| row["run"].as_str().unwrap()).collect();
    for name in names {
        project.file(&format!(".asterisk/investigations/{name}/b/state.json.tmp~"), "{");
        project.file(&format!(".asterisk/investigations/{name}/gone.md.tmp~"), "#");
        project.asterisk(&["run", "--resume", name]).exits(0);
    }
    nothing_left(&project);
    assert!(!project.asterisk(&["doctor"]).exits(0).stdout.contains("left behind"));
}
