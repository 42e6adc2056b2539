//! Inspecting evidence: of a recorded case, of the signatures, in the REPL.

use crate::harness::{Project, Ran, repository};
use serde_json::Value;

/// A project with a run of the bundled launch.
fn walked() -> Project {
    let project = Project::new();
    project.asterisk(&["run", "--files", "never", "--seed", "7"]).exits(0);
    project
}

/// Runs the program on a terminal of 80 columns, which nothing it prints exceeds.
#[track_caller]
fn narrow(project: &Project, line: &str) -> Ran {
    let args: Vec<&str> = line.split_whitespace().collect();
    let ran = project.call(&args).env("COLUMNS", "80").ran();
    for text in ran.stdout.lines() {
        assert!(text.chars().count() <= 80, "wider than 80: {text}");
    }
    ran
}

#[test]
fn the_evidence_of_a_recorded_case_is_shown() {
    let project = walked();
    insta::assert_snapshot!(narrow(&project, "show evidence latest --case 880101").ok().text());
    let output = project.asterisk(&["show", "evidence", "--case", "880101", "--format", "json"]).ok().json();
    assert_eq!((&output["schema_version"], output["case"].as_str()), (&Value::from(1), Some("880101")));
    // The answerer of the step received the same.
    let repl = project.asterisk_reading(&["repl", "--run", "latest", "--case", "880101"], ":full params.evidence");
    assert_eq!(serde_json::from_str::<Value>(&repl.exits(0).stdout).unwrap(), output["evidence"]);
    // Every field of it is explained.
    let doc = project.asterisk(&["doc", "evidence", "--format", "json"]).ok().json();
    let fields = doc["fields"][0]["fields"].as_array().unwrap();
    let explained: Vec<&str> = fields.iter().map(|field| field["name"].as_str().unwrap()).collect();
    let found: Vec<&str> = output["evidence"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(explained, found);
    assert_eq!(project.asterisk(&["doc", "params.evidence", "--format", "json"]).ok().json(), doc);
}

#[test]
fn an_unknown_case_is_reported_with_the_nearest() {
    let project = walked();
    let ran = narrow(&project, "show evidence latest --case 880109").exits(2);
    assert!(ran.stderr.contains("no case `880109`") && ran.stderr.contains("did you mean `880101`?"), "{}", ran.text());
    let ran = narrow(&project, "show evidence").exits(0);
    assert!(ran.stdout.contains("880101") && ran.stderr.contains("asterisk show evidence "), "{}", ran.text());
    let ran = Project::new().asterisk(&["show", "evidence", "--case", "1"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("asterisk run"), "{}", ran.text());
}

#[test]
fn signatures_are_listed_with_their_hits() {
    let project = walked();
    let table = narrow(&project, "show signatures").ok().stdout;
    let row = |id: &str| table.lines().find(|line| line.trim_start().starts_with(id)).unwrap_or_else(|| panic!("{id}: {table}"));
    assert!(row("connection-refused ").trim_end().ends_with(" 0.78   3"), "{}", row("connection-refused "));
    let all = project.asterisk(&["show", "signatures", "--format", "json"]).ok().json();
    let all = all["signatures"].as_array().unwrap();
    let sum = |all: &[Value]| all.iter().map(|one| one["hits"]["cases"].as_u64().unwrap()).sum::<u64>();
    for one in all {
        let signature = &one["signature"];
        assert!(table.contains(signature["id"].as_str().unwrap()), "{signature}");
        assert!(signature["at"].as_str().unwrap().starts_with("data/signatures/"), "{signature}");
        assert_eq!(one["hits"]["latest"].as_array().unwrap().len() as u64, one["hits"]["cases"].as_u64().unwrap().min(5));
    }
    // The same launch again: the same failures, each of which counts once.
    project.asterisk(&["run", "--files", "never", "--seed", "8"]).exits(0);
    let again = project.asterisk(&["show", "signatures", "--format", "json"]).ok().json();
    assert_eq!(sum(again["signatures"].as_array().unwrap()), sum(all));
}

#[test]
fn a_signature_is_shown_with_its_history() {
    let project = walked();
    let shown = narrow(&project, "show signatures connection-refused").ok().stdout;
    let at = shown.lines().find(|line| line.contains("written at")).unwrap();
    assert!(at.contains("data/signatures/network.yaml:"), "{at}");
    for part in ["means", "patterns", "subject", "not on", "accepts", "rejects", "next", "in 3 recorded failures, the latest:"] {
        assert!(shown.contains(&format!("  {part}")) || shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.contains("case 880301: psycopg.OperationalError"), "{shown}");
    let ran = narrow(&project, "show signatures conection-refused").exits(2);
    assert!(ran.stderr.contains("did you mean `connection-refused`?"), "{}", ran.text());
    // Without a store nothing was seen.
    let fresh = narrow(&Project::new(), "show signatures connection-refused").ok().stdout;
    assert!(fresh.contains("in no recorded failure"), "{fresh}");
}

#[test]
fn the_repl_shows_evidence_and_tries_lines() {
    let project = walked();
    let lines = [":evidence", ":try \"dial tcp 10.0.0.7:5432: connect: connection refused\"", ":try all is well"].join("\n");
    let said = project.asterisk_reading(&["repl", "--run", "latest", "--case", "880101"], &lines).exits(0).stdout;
    let page = project.asterisk(&["show", "evidence", "latest", "--case", "880101"]).ok().stdout;
    let rest = said.strip_prefix(&page).unwrap_or_else(|| panic!("{said}"));
    let (first, second) = rest.trim_end().split_once('\n').unwrap();
    assert!(first.starts_with("connection-refused (data/signatures/network.yaml:"), "{first}");
    assert!(first.contains("connection refused` at column "), "{first}");
    assert_eq!(second, "no signature matches this line");
    // After a reload the texts are read again, by the edited data.
    let rules = std::fs::read_to_string(repository().join("scripts/data/evidence.yaml")).unwrap();
    let ours = "owners:\n  - { owner: library, languages: [rust], paths: ['services/pricing/'] }";
    project.file("scripts/data/evidence.yaml", rules.replacen("owners:", ours, 1));
    let lines = ":evidence\n:reload\n:evidence\n:reload recorded\n:evidence";
    let said = project.asterisk_reading(&["repl", "--run", "latest", "--case", "880101"], lines).exits(0).stdout;
    assert_eq!(said.matches("recorded with step 1\n").count(), 2, "{said}");
    assert_eq!(said.matches("read again with the current sources\n").count(), 1, "{said}");
    assert_eq!(said.matches("library  rule 1, `services/pricing/`: ").count(), 1, "{said}");
    std::fs::remove_file(project.root().join("scripts/data/evidence.yaml")).unwrap();
    // A signature of one's own is tried without any run.
    let own = "extends: generic\ndescription: ours\nsignatures:\n  - { id: frozen, title: Frozen, category: environment, certainty: 0.8, severity: high, \
               patterns: ['ledger is frozen'], means: Books are closed. }\n";
    project.file("scripts/data/domains/shop.yaml", own);
    let said = project.asterisk_reading(&["repl", "--domain", "shop"], ":try 503: the ledger is frozen\n:evidence");
    assert_eq!(said.stdout, "frozen (data/domains/shop.yaml:4): `ledger is frozen` at column 10\n");
    assert!(said.stderr.contains("no run is open"), "{}", said.text());
}
