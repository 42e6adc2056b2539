//! Knowledge across launches, and people's decisions about it.

use crate::harness::{Project, Ran, repository, strings};
use serde_json::{Value, json};

/// The nights of the example series, in order.
const NIGHTS: [&str; 5] = ["1-3.1.0", "2-3.2.0", "3-3.3.0", "4-3.4.0", "5-3.5.0"];

fn ask(project: &Project, words: &str) -> Ran {
    project.asterisk(&words.split(' ').collect::<Vec<_>>())
}

/// Analyses a night, and returns the summary.
fn analyse(project: &Project, night: &str) -> Value {
    let file = repository().join(format!("examples/series/{night}.json"));
    ask(project, &format!("run --files never --format json --input {}", file.display())).exits(0).json()
}

fn rows(project: &Project, words: &str) -> Vec<Value> {
    let command = words.strip_prefix("rcas").map_or_else(|| format!("show {words}"), |rest| format!("rca list{rest}"));
    let json = ask(project, &format!("{command} --format json")).ok().json();
    assert_eq!(json["schema_version"], 1);
    json[words.split(' ').next().unwrap()].as_array().unwrap().clone()
}

/// The row whose title or test has these words.
#[track_caller]
fn row(rows: &[Value], words: &str) -> Value {
    let has =
        |row: &&Value| [&row["title"], &row["test"]].iter().any(|text| text.as_str().is_some_and(|text| text.contains(words)));
    rows.iter().find(has).unwrap_or_else(|| panic!("no {words} in {rows:?}")).clone()
}

#[test]
fn a_root_cause_is_followed_over_launches_and_versions() {
    let project = Project::new();
    for night in NIGHTS {
        analyse(&project, night);
    }
    let season = row(&rows(&project, "symptoms"), "a season pass covers");
    assert_eq!((&season["occurrences"], &season["launches"]), (&json!(4), &json!(4)));
    assert_eq!(season["versions"], json!(["3.1.0", "3.2.0", "3.3.0", "3.5.0"]));
    assert_eq!((&season["first_seen"], &season["last_seen"]), (&json!("2026-02-02T01:30:00Z"), &json!("2026-02-06T01:30:00Z")));
    let id = &season["rcas"][0]["id"];
    let cause = ask(&project, &format!("rca show {id} --format json")).ok().json()["rca"].clone();
    assert_eq!((&cause["versions"], &cause["cases"][3]["version"]), (&season["versions"], &json!("3.1.0")));
    let before = (rows(&project, "symptoms"), rows(&project, "rcas"));
    let again = analyse(&project, NIGHTS[4]);
    let counts = |rows: &[Value]| {
        let mut counts: Vec<String> =
            rows.iter().map(|row| format!("{} {} {}", row["id"], row["occurrences"], row["launches"])).collect();
        counts.sort();
        counts
    };
    let after = (rows(&project, "symptoms"), rows(&project, "rcas"));
    assert_eq!(counts(&after.0), counts(&before.0), "a second analysis of a launch does not count again");
    let kept = counts(&after.1);
    assert!(counts(&before.1).iter().all(|row| kept.contains(row)), "{kept:?}");
    let nodes =
        |case: &Value| case["nodes"].as_array().unwrap().iter().map(|node| node.as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let short = again["cases"].as_array().unwrap().iter().filter(|case| !nodes(case).contains(&"investigate".to_owned())).count();
    assert!(short >= 3, "what the first analysis learnt is recalled: {again}");
}

#[test]
fn symptoms_and_root_causes_are_chosen_and_shown() {
    let project = Project::new();
    for night in &NIGHTS[..2] {
        analyse(&project, night);
    }
    let run = ask(&project, "status --format json").ok().json()["runs"][0]["run"].as_str().unwrap().to_owned();
    let all = rows(&project, "rcas");
    assert!(all.len() > rows(&project, &format!("rcas --run {run}")).len());
    assert_eq!(rows(&project, "rcas --limit 1").len(), 1);
    assert_eq!(rows(&project, "rcas --version 3.2.0").len() + 1, all.len() - rows(&project, "rcas --version 3.1.0").len() + 2);
    assert_eq!(rows(&project, "symptoms --status dormant").len(), 0, "the last launch was some days ago");
    for (what, list, show) in [("symptoms", "show symptoms", "show symptom"), ("rcas", "rca list", "rca show")] {
        let table = ask(&project, list).ok().stdout;
        let list = rows(&project, what);
        let shown = ask(&project, &format!("{show} {}", list[0]["id"])).ok().stdout;
        assert!(shown.contains("versions") && shown.contains("days ago"), "{shown}");
        assert!(table.contains(&list[0]["id"].to_string()), "{table}");
    }
}

#[test]
fn unknown_ids_get_suggestions() {
    let project = Project::new();
    analyse(&project, NIGHTS[0]);
    let id = rows(&project, "rcas")[0]["id"].to_string();
    let mut slip = id.clone();
    slip.replace_range(4..5, if &id[4..5] == "1" { "2" } else { "1" });
    for (words, help) in [
        (format!("rca show {slip}"), id.clone()),
        (format!("rca resolve {slip}"), id.clone()),
        (format!("show symptom {id}"), format!("asterisk rca show {id}")),
        ("rca show".into(), "<ID>".into()),
        ("show symptom".into(), "asterisk show symptoms".into()),
        ("show symptom x1".into(), "asterisk show symptoms".into()),
        ("show symptoms --status dormand".into(), "`dormant`".into()),
        (format!("rca resove {id}"), "resolve".into()),
    ] {
        let ran = ask(&project, &words).exits(2);
        assert!(ran.stderr.contains(&help) && ran.stdout.is_empty(), "{words}: {}", ran.text());
    }
    let empty = Project::new();
    assert!(rows(&empty, "rcas").is_empty());
    assert!(ask(&empty, "rca show 5").exits(2).stderr.contains("no root cause in the store yet"));
}

#[test]
fn a_persons_decision_on_a_root_cause_is_kept() {
    let project = Project::new();
    analyse(&project, NIGHTS[0]);
    let id = row(&rows(&project, "symptoms"), "a season pass covers")["rcas"][0]["id"].clone();
    let said = ask(&project, &format!("rca resolve {id} --message fixed --by ada --format json")).ok().json();
    assert_eq!(
        (&said["rca"]["was"], &said["rca"]["status"], &said["rca"]["by"]),
        (&json!("open"), &json!("resolved"), &json!("ada"))
    );
    analyse(&project, NIGHTS[1]);
    let of = |id: &Value| ask(&project, &format!("rca show {id} --format json")).ok().json()["rca"].clone();
    assert_eq!((&of(&id)["status"], &of(&id)["word"]["message"]), (&json!("resolved"), &json!("fixed")));
    assert_eq!(rows(&project, "rcas --status resolved").len(), 1);
    ask(&project, &format!("rca reopen {id}")).ok();
    assert_eq!(of(&id)["status"], "open");
}

#[test]
fn recall_works_the_same_after_clean() {
    let (project, twin) = (Project::new(), Project::new());
    for night in &NIGHTS[..2] {
        ask(&project, &format!("run --out out --input {}", night_file(night))).exits(0);
        ask(&twin, &format!("run --out out --input {}", night_file(night))).exits(0);
    }
    let bytes = |project: &Project| std::fs::metadata(project.root().join(".asterisk/asterisk.db")).unwrap().len();
    let directories = |project: &Project| project.tree().iter().filter(|(path, _)| path.ends_with("report.md")).count();
    let known = (rows(&project, "symptoms"), rows(&project, "rcas"));
    let before = (bytes(&project), directories(&project));
    let would = ask(&project, "clean --keep-latest 0 --out out --dry-run --format json").ok().json();
    assert_eq!((bytes(&project), directories(&project)), before, "a dry run removes nothing");
    let mut did = ask(&project, "clean --keep-latest 0 --out out --format json").ok().json();
    assert_eq!((&did["dry_run"], &did["shrunk"], &did["schema_version"]), (&json!(false), &json!(true), &json!(1)));
    (did["dry_run"], did["shrunk"]) = (json!(true), json!(false));
    assert_eq!(did, would);
    assert_eq!((did["runs"].as_array().unwrap().len(), did["directories"].as_array().unwrap().len()), (2, 2));
    assert!(did["bytes"].as_u64().unwrap() > 10_000 && did["directory_bytes"].as_u64().unwrap() > 10_000, "{did}");
    assert!(bytes(&project) < before.0 / 2, "{} of {}", bytes(&project), before.0);
    assert!(before.1 >= 2 && directories(&project) == 0, "{}", before.1);
    assert_eq!((rows(&project, "symptoms"), rows(&project, "rcas")), known);
    assert_eq!(ask(&project, "status --format json").ok().json()["runs"], json!([]));
    let gone = would["runs"][0].as_str().unwrap();
    assert!(ask(&project, &format!("status {gone}")).exits(2).stderr.contains("removed by `asterisk clean`"));
    assert!(ask(&project, &format!("run --resume {gone}")).exits(2).stderr.contains("removed by `asterisk clean`"));
    let mut night = [&project, &twin].map(|project| analyse(project, NIGHTS[2]));
    for run in &mut night {
        run["report"] = Value::Null;
    }
    assert_eq!(night[0], night[1], "later runs are unaffected by the removal");
}

#[test]
fn clean_requires_what_to_remove() {
    let project = Project::new();
    assert!(ask(&project, "clean").exits(2).stderr.contains("--older-than 30d"));
    assert!(ask(&project, "clean --older-than soon").exits(2).stderr.contains("30d"));
    assert_eq!(ask(&project, "clean --older-than 30d --format json").ok().json()["runs"], json!([]));
    analyse(&project, NIGHTS[0]);
    assert_eq!(ask(&project, "clean --older-than 1d --format json").ok().json()["runs"], json!([]), "it is from today");
    assert_eq!(ask(&project, "clean --older-than 0d --keep-latest 1 --format json").ok().json()["runs"], json!([]));
}

fn night_file(night: &str) -> String {
    repository().join(format!("examples/series/{night}.json")).display().to_string()
}

/// Runs the program at an instant.
fn at(project: &Project, clock: &str, words: &str) -> Ran {
    let words: Vec<&str> = words.split(' ').collect();
    project.call(&words).env("ASTERISK_CLOCK", clock).ran()
}

/// Analyses a launch of a file at an instant, and returns `rca.json`, `report.md` and `regression-report.md`.
fn reported(project: &Project, clock: &str, words: &str) -> (Value, String, String) {
    let run = at(project, clock, &format!("run --format json {words}")).exits(0).json()["run"].as_str().unwrap().to_owned();
    let read = |file: &str| project.read(&format!(".asterisk/investigations/{run}/{file}"));
    (serde_json::from_str(&read("rca.json")).unwrap(), read("report.md"), read("regression-report.md"))
}

/// The case of the test that fails night after night, and the cause that it belongs to.
fn season_pass(report: &Value) -> (String, Value) {
    let is = |case: &&Value| case["name"].as_str().unwrap().contains("a season pass covers");
    let case = report["cases"].as_array().unwrap().iter().find(is).unwrap()["case"].as_str().unwrap().to_owned();
    let has = |cause: &&Value| strings(&cause["cases"]).contains(&case.as_str());
    let cause = report["causes"].as_array().unwrap().iter().find(has).unwrap_or_else(|| panic!("no cause has {case}")).clone();
    (case, cause)
}

/// What recall answered for a case.
fn recalled(project: &Project, report: &Value, case: &str) -> Value {
    let run = report["run"].as_str().unwrap();
    let text = project.read(&format!(".asterisk/investigations/{run}/{case}/recall-result.json"));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_return_after_a_person_resolved_it_is_a_regression() {
    let project = Project::new();
    let (first, ..) = reported(&project, "2026-02-02T08:00:00Z", &format!("--input {}", night_file(NIGHTS[0])));
    assert_eq!(season_pass(&first).1["seen"]["state"], "new");
    let id = row(&rows(&project, "symptoms"), "a season pass covers")["rcas"][0]["id"].clone();
    at(&project, "2026-02-02T12:00:00Z", &format!("rca resolve {id} --message fixed")).ok();
    let (second, page, over_time) = reported(&project, "2026-02-03T08:00:00Z", &format!("--input {}", night_file(NIGHTS[1])));
    let (case, cause) = season_pass(&second);
    let recall = recalled(&project, &second, &case);
    assert_eq!((&recall["is_regression"], &recall["prior_rca_id"]), (&json!(true), &id), "{recall}");
    assert!(recall["reasoning"].as_str().unwrap().contains("was resolved, so this is a regression"), "{recall}");
    assert_eq!(cause["seen"]["state"], "regression", "{cause}");
    assert_eq!(second["regression"]["regressions"], json!([cause["number"]]));
    assert!(page.contains("History: **regression**") && page.contains("it was resolved"), "{page}");
    assert!(over_time.contains("## Regressions"), "{over_time}");
}

#[test]
fn overturned_causes_are_not_offered_again() {
    let project = Project::new();
    reported(&project, "2026-02-02T08:00:00Z", &format!("--input {}", night_file(NIGHTS[0])));
    let symptom = row(&rows(&project, "symptoms"), "a season pass covers");
    let wrong = symptom["rcas"][0]["id"].clone();
    let right = "The table of rebates in the staging environment is stale.";
    // The person sees the recalled cause, and gives another one.
    let found = json!({ "match": true, "symptom_id": symptom["id"], "prior_rca_id": wrong, "confidence": 0.95 });
    let said =
        json!({ "decision": "overturn", "by": "human", "human_override": { "defect_type": "en001", "rca_message": right } });
    project.file("person.json", json!({ "*": { "recall": [found], "review": [said], "report": [{}] } }).to_string());
    let review = format!("--stub person.json --case 510101 --input {}", night_file(NIGHTS[0]));
    reported(&project, "2026-02-02T12:00:00Z", &review);
    let of = |id: &Value| ask(&project, &format!("rca show {id} --format json")).ok().json()["rca"].clone();
    let before = of(&wrong);

    for (night, clock) in [(NIGHTS[1], "2026-02-03T08:00:00Z"), (NIGHTS[2], "2026-02-04T08:00:00Z")] {
        let (report, page, _) = reported(&project, clock, &format!("--input {}", night_file(night)));
        let (case, cause) = season_pass(&report);
        let recall = recalled(&project, &report, &case);
        assert!(recall["match"] == true && recall["prior_rca_id"] != wrong, "{night}: {recall}");
        assert_eq!(cause["finding"]["defect_type"], "en001", "{night}: {cause}");
        assert!(!cause["seen"]["rcas"].as_array().unwrap().contains(&wrong), "{night}: {cause}");
        assert!(page.contains(right), "{page}");
        let now = row(&rows(&project, "symptoms"), "a season pass covers");
        assert_eq!((&now["overturned"][0]["rca"], &now["overturned"][0]["by"]), (&wrong, &json!("human")), "{night}");
        let causes = now["rcas"].as_array().unwrap();
        assert!(causes[0]["id"] == recall["prior_rca_id"] && causes.iter().all(|rca| rca["id"] != wrong), "{night}: {now}");
    }
    let after = of(&wrong);
    for part in ["title", "message", "defect_type", "status"] {
        assert_eq!(after[part], before[part], "it is unchanged for its other failures");
    }
}
