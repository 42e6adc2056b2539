//! The checkouts of the workspace in a whole run: their evidence is cited, and missing data stops nothing.

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
fn commit(project: &Project, repository: &str, subject: &str, day: u32) {
    let at = format!("2026-02-{day:02}T08:00:00 +0000");
    for args in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "-m", subject]] {
        let mut git = Command::new("git");
        git.arg("-C").arg(project.root().join("repos").join(repository));
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
    let call = project.call(&["run", "--input", "launch.json", "--files", "always", "--format", "json"]);
    let run = call.env("PATH", std::env::var_os("PATH").unwrap()).ran().ok().json();
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
    commit(&project, "billing", "Total invoices", 1);
    project.file("repos/billing/pkg/invoice/total.go", AFTER);
    commit(&project, "billing", "Sum from the end", 12);
    project.file("repos/billing/pkg/invoice/total.go", BEFORE);
    commit(&project, "billing", "Mend it", 15);
    let with = investigated(&project);
    let refs = strings(&with["evidence_refs"]);
    let found = |end: &str| refs.iter().any(|item| item.starts_with("billing@") && item.ends_with(end));
    assert!(found(" pkg/invoice/total.go:4 Sum from the end"), "{refs:?}");
    assert!(found(" pkg/invoice/total.go:3 func sum_of_items(items []int) int {"), "{refs:?}");
    assert!(!refs.iter().any(|item| item.contains("Mend it")), "changes after the launch are not causes: {refs:?}");
    assert!(with["convergence_score"].as_f64() > without["convergence_score"].as_f64(), "{with}\n{without}");
    let said = with["rca_message"].as_str().unwrap();
    assert!(said.contains("2 days before the launch") && said.contains("does not make it the cause"), "{said}");
    let ticket = project.asterisk(&["report", "--format", "md"]).ok().stdout;
    let reading = ticket.lines().find(|line| line.starts_with("- Read what billing@")).unwrap_or_default();
    assert!(reading.contains("(Sum from the end) changed in pkg/invoice/total.go:4"), "{ticket}");
    assert_eq!(investigated(&project)["evidence_refs"], with["evidence_refs"], "the same checkout gives the same evidence");
    // Without the mask that brings the checkouts, nothing of them is cited.
    project.file("asterisk.yaml", format!("pipelines: pipelines\n{SETTINGS}"));
    project.file("pipelines/rca.yaml", "extends: rca\nnodes:\n  - { name: investigate, masks: [] }\n");
    let unmasked = investigated(&project);
    assert!(strings(&unmasked["evidence_refs"]).iter().all(|item| !item.starts_with("billing@")), "{unmasked}");
}

/// H8: of two repositories that a failure goes through, each is investigated in a separate branch, and both findings become one investigation.
#[test]
fn two_repositories_are_read_separately_and_cited_together() {
    let settings = "workspace:\n  repositories:\n    - { name: billing, path: repos/billing, purpose: the product }\n    - { name: ledger, path: repos/ledger, purpose: the product's books }\n";
    let launch = LAUNCH.replace(
        "+0x1d\\n\"",
        "+0x1d\\nexample.com/ledger.post_entry(...)\\n\\t/builds/team/ledger/pkg/book/post.go:4 +0x2e\\n\"",
    );
    assert_ne!(launch, LAUNCH);
    let project = Project::with(&[
        ("asterisk.yaml", settings),
        ("launch.json", &launch),
        ("repos/billing/pkg/invoice/total.go", BEFORE),
        ("repos/ledger/pkg/book/post.go", &BEFORE.replace("sum_of_items", "post_entry")),
    ]);
    for repository in ["billing", "ledger"] {
        commit(&project, repository, "Begin", 1);
    }
    project.file("repos/billing/pkg/invoice/total.go", AFTER);
    commit(&project, "billing", "Sum from the end", 12);
    project.file("repos/ledger/pkg/book/post.go", AFTER.replace("sum_of_items", "post_entry"));
    commit(&project, "ledger", "Post from the end", 13);

    let whole = investigated(&project);
    let runs: Vec<_> = std::fs::read_dir(project.root().join(".asterisk/investigations")).unwrap().collect();
    let run = runs[0].as_ref().unwrap().path();
    let branch = |number: usize| -> Value {
        let found = crate::signals::find(&run, "artifact.json");
        let path = found.iter().find(|path| path.to_str().unwrap().contains(&format!("branch[{number}]")));
        serde_json::from_str(&std::fs::read_to_string(path.unwrap_or_else(|| panic!("{found:?}"))).unwrap()).unwrap()
    };
    let cited = |artifact: &Value, repository: &str| -> Vec<String> {
        let of = format!("{repository}@");
        strings(&artifact["evidence_refs"]).into_iter().filter(|item| item.starts_with(&of)).map(str::to_owned).collect()
    };
    let (first, second) = (branch(1), branch(2));
    assert!(cited(&first, "billing").iter().any(|item| item.ends_with("pkg/invoice/total.go:4 Sum from the end")), "{first}");
    assert!(cited(&second, "ledger").iter().any(|item| item.ends_with("pkg/book/post.go:4 Post from the end")), "{second}");
    assert_eq!((cited(&first, "ledger"), cited(&second, "billing")), (vec![], vec![]), "each reads its repository");
    let prompts = crate::signals::find(&run, "prompt-investigate.md");
    let prompt = prompts
        .iter()
        .find(|path| path.to_str().unwrap().contains("branch[2]"))
        .map(|path| std::fs::read_to_string(path).unwrap());
    let prompt = prompt.unwrap_or_else(|| panic!("{prompts:?}"));
    assert!(prompt.contains("Post from the end") && !prompt.contains("Sum from the end"), "{prompt}");
    for (artifact, repository) in [(&first, "billing"), (&second, "ledger")] {
        assert_eq!(cited(&whole, repository), cited(artifact, repository), "{whole}");
    }
    assert_eq!(investigated(&project)["evidence_refs"], whole["evidence_refs"], "the same checkouts give the same evidence");
}
