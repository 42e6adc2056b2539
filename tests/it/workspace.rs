//! The checkouts of the workspace in a whole run: what they tell is cited, and what they lack stops nothing.

use crate::harness::{Project, strings};
use serde_json::Value;
use std::process::Command;

/// The launch began on 2026-02-14 at noon; one test failed in the product's code.
const LAUNCH: &str = r#"{"run_id": "7", "name": "nightly", "startTime": "2026-02-14T12:00:00Z", "failure_list": [{
    "id": 1, "name": "billing totals an invoice", "status": "FAILED",
    "error_message": "panic: runtime error: index out of range [3] with length 3 in sum_of_items\n\ngoroutine 7 [running]:\nexample.com/billing.sum_of_items(...)\n\t/builds/team/billing/pkg/invoice/total.go:4 +0x1d\n"}]}"#;

const SETTINGS: &str = "workspace:\n  repositories:\n    - { name: billing, path: repos/billing, purpose: the product }\n    - { name: gone, path: repos/gone, purpose: the tests }\n";

const BEFORE: &str = "package invoice\n\nfunc sum_of_items(items []int) int {\n\treturn items[0]\n}\n";
const AFTER: &str = "package invoice\n\nfunc sum_of_items(items []int) int {\n\treturn items[len(items)]\n}\n";

/// Commits everything in a repository of the project, on that day of February.
fn commit(project: &Project, subject: &str, day: u32) {
    let at = format!("2026-02-{day:02}T08:00:00 +0000");
    for args in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "-m", subject]] {
        let mut git = Command::new("git");
        git.arg("-C").arg(project.root().join("repos/billing"));
        git.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]).args(args);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_AUTHOR_DATE", &at).env("GIT_COMMITTER_DATE", &at);
        assert!(git.output().unwrap().status.success(), "{args:?}");
    }
}

/// The artifact of the investigation.
fn investigated(project: &Project) -> Value {
    // A known failure would not be investigated again.
    std::fs::remove_dir_all(project.root().join(".asterisk")).unwrap_or_default();
    // PATH is what `git` is found by.
    let mut command = project.command(&["run", "--input", "launch.json", "--files", "always", "--format", "json"]);
    command.env("PATH", std::env::var_os("PATH").unwrap());
    let run = project.ran(&command.output().unwrap()).ok().json();
    assert_eq!(run["status"], "done");
    let case = run["cases"][0]["case"].as_str().unwrap();
    let path = format!(".asterisk/investigations/{}/{case}/artifact.json", run["run"].as_str().unwrap());
    serde_json::from_str(&project.read(&path)).unwrap()
}

#[test]
fn a_recent_change_of_the_failing_line_is_cited() {
    let project = Project::with(&[("asterisk.yaml", SETTINGS), ("launch.json", LAUNCH)]);
    let without = investigated(&project);
    assert!(strings(&without["evidence_refs"]).iter().all(|item| !item.starts_with("billing@")), "{without}");

    let project =
        Project::with(&[("asterisk.yaml", SETTINGS), ("launch.json", LAUNCH), ("repos/billing/pkg/invoice/total.go", BEFORE)]);
    commit(&project, "Total invoices", 1);
    project.file("repos/billing/pkg/invoice/total.go", AFTER);
    commit(&project, "Sum from the end", 12);
    project.file("repos/billing/pkg/invoice/total.go", BEFORE);
    commit(&project, "Mend it", 15);
    let with = investigated(&project);
    let refs = strings(&with["evidence_refs"]);
    let found = |end: &str| refs.iter().any(|item| item.starts_with("billing@") && item.ends_with(end));
    assert!(found(" pkg/invoice/total.go:4 Sum from the end"), "{refs:?}");
    assert!(found(" pkg/invoice/total.go:3 func sum_of_items(items []int) int {"), "{refs:?}");
    assert!(!refs.iter().any(|item| item.contains("Mend it")), "what came after the launch is no cause: {refs:?}");
    assert!(with["convergence_score"].as_f64() > without["convergence_score"].as_f64(), "{with}\n{without}");
    let said = with["rca_message"].as_str().unwrap();
    assert!(said.contains("2 days before the launch") && said.contains("does not make it the cause"), "{said}");
    let ticket = project.ran(&project.command(&["report", "--format", "md"]).output().unwrap()).ok().stdout;
    let reading = ticket.lines().find(|line| line.starts_with("- Read what billing@")).unwrap_or_default();
    assert!(reading.contains("(Sum from the end) changed in pkg/invoice/total.go:4"), "{ticket}");
    assert_eq!(investigated(&project)["evidence_refs"], with["evidence_refs"], "the same checkout tells the same");
}
