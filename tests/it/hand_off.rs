//! Steps checked out and submitted from outside: `cursor`, `save`, `review`.

use crate::harness::{Project, Ran, strings};
use serde_json::{Value, json};

const PIPELINE: &str = "\
pipeline: two
nodes:
  - name: look
    code: T1
    via: manual
    schema: { found: bool, why?: string, by?: string }
  - name: close
    code: T2
    schema: { decision: { type: string, enum: [approve, reassess, overturn] }, loop_target?: string, by?: string }
    via: manual
edges:
  - { id: E1, from: look, to: close, condition: found }
  - { id: E2, from: look, to: _done, condition: \"!found\" }
  - { id: E3, from: close, to: look, targets: [look], loop: true, condition: 'decision == \"reassess\"' }
  - { id: E4, from: close, to: _done }
start: look
done: _done
";

fn project() -> Project {
    let project = Project::with(&[("two.yaml", PIPELINE)]);
    project.asterisk(&["run", "two.yaml", "--input", "none"]).exits(5);
    project
}

fn status(project: &Project) -> Value {
    project.asterisk(&["status", "latest", "--format", "json"]).ok().json()
}

fn save(project: &Project, answer: &str, more: &[&str]) -> Ran {
    project.file("answer.json", answer);
    let args = [&["save", "-f", "answer.json", "--case-id", "case-1"], more].concat();
    project.asterisk(&args)
}

#[test]
fn a_case_is_paused_until_it_is_answered() {
    let project = Project::with(&[("two.yaml", PIPELINE)]);
    insta::assert_snapshot!("run", project.asterisk(&["run", "two.yaml", "--input", "none"]).exits(5).text());
    insta::assert_snapshot!("status", project.asterisk(&["status", "latest"]).exits(0).text());
    let taken = project.asterisk(&["cursor"]).exits(0);
    insta::assert_snapshot!("cursor", taken.text());
    let batch = project.asterisk(&["cursor", "--batch", "--format", "json"]).ok().json();
    let one = &batch["prompts"][0];
    assert_eq!((one["case"].as_str(), one["step"].as_str()), (Some("case-1"), Some("T1_LOOK")));
    // It is laid out as a batch, which those can answer who know the signal protocol.
    let place = |value: &Value| value.as_str().unwrap().replace("[DIR]/", "");
    let read = |path: &str| serde_json::from_str::<Value>(&project.read(path)).unwrap();
    let manifest = read(&manifest_of(&batch));
    assert_eq!((&manifest["batch_id"], &manifest["total"], &manifest["status"]), (&json!(1), &json!(1), &json!("pending")));
    let at = manifest["signals"][0]["signal_path"].as_str().unwrap().replace(project.root().to_str().unwrap(), ".");
    let signal = read(&at);
    assert_eq!((&signal["status"], &signal["dispatch_id"], &signal["step"]), (&json!("waiting"), &one["request"], &one["step"]));
    assert!(project.read(&place(&batch["batch"]["briefing_path"])).starts_with("# Briefing of batch 1\n"));
    let path = place(&one["prompt_path"]);
    assert_eq!(project.read(&path), one["prompt"].as_str().unwrap());
    // Before the first step is taken, the case's state says that it waits.
    let state = read(&at.replace("signal.json", "state.json"));
    assert_eq!((&state["current_step"], &state["status"]), (&one["step"], &json!("paused")));
    // Nothing is asked twice, however often the run is taken up.
    let before = status(&project);
    project.asterisk(&["run", "--resume", "latest"]).exits(5);
    assert_eq!(status(&project), before);
    insta::assert_snapshot!("save", save(&project, "{\"found\": true, \"by\": \"human\"}", &[]).exits(0).text());
    assert_eq!((&read(&at)["status"], &read(&manifest_of(&batch))["status"]), (&json!("done"), &json!("done")));
    let waits = &status(&project)["cases"][0]["waits"];
    assert_eq!(waits["node"], "close");
    let run = before["run"].as_str().unwrap();
    let artifact = project.read(&format!(".asterisk/investigations/{run}/case-1/look.json"));
    assert!(artifact.contains("\"by\": \"agent\""), "{artifact}");
    let done = project.asterisk(&["review", "case-1", "approve"]).exits(0);
    insta::assert_snapshot!("approve", done.text());
    assert_eq!(status(&project)["status"], "done");
    assert!(project.read(&format!(".asterisk/investigations/{run}/case-1/close.json")).contains("\"human\""));
}

fn manifest_of(batch: &Value) -> String {
    batch["batch"]["manifest_path"].as_str().unwrap().replace("[DIR]/", "")
}

#[test]
fn an_invalid_answer_changes_nothing() {
    let project = project();
    let before = status(&project);
    for (name, answer, more, code) in [
        ("form", "{\"found\": \"yes\", \"whi\": 1}", &[][..], 3),
        ("json", "{\"found\": tru}", &[], 3),
        ("list", "[1]", &[], 3),
        ("stale", "{\"dispatch_id\": 7, \"data\": {\"found\": true}}", &[], 2),
        ("other", "{\"found\": true}", &["--request", "12"], 2),
        ("run", "{\"found\": true}", &["--suite-id", "nothing"], 2),
    ] {
        insta::assert_snapshot!(format!("bad-{name}"), save(&project, answer, more).exits(code).text());
        assert_eq!(status(&project), before);
    }
    let huge = format!("{{\"found\": true, \"why\": \"{}\"}}", "x".repeat(5 << 20));
    assert!(save(&project, &huge, &[]).exits(3).stderr.contains("it is longer than 4194304 bytes"));
    insta::assert_snapshot!("no-case", project.asterisk(&["cursor", "--case-id", "case-2"]).exits(2).stderr);
    insta::assert_snapshot!("no-review", project.asterisk(&["review", "case-1", "approve"]).exits(2).stderr);
    // The request that it is for is taken, and only once.
    let request = before["cases"][0]["waits"]["request"].to_string();
    let wrapped = format!("{{\"dispatch_id\": {request}, \"data\": {{\"found\": false}}}}");
    save(&project, &wrapped, &[]).exits(0);
    insta::assert_snapshot!("twice", save(&project, &wrapped, &[]).exits(2).stderr);
}

#[test]
fn unknown_domain_words_are_rejected_with_the_known_ones() {
    let project = Project::new();
    project.asterisk(&["run", "--via", "manual", "--case", "880501"]).exits(5);
    let save = |answer: &Value| {
        project.file("answer.json", answer.to_string());
        project.asterisk(&["save", "-f", "answer.json", "--case-id", "880501"])
    };
    save(&json!({ "match": false, "confidence": 0.1 })).exits(0);
    let answer = |category: &str, defect: &str| json!({ "symptom_category": category, "defect_type_hypothesis": defect });
    let refused = save(&answer("prodct", "au002")).exits(3).stderr;
    for part in
        ["$.symptom_category: \"prodct\" is not one of the domain's categories", "did you mean `product`?", "`au001`, `en001`"]
    {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    // An alias is known, and an empty text is allowed.
    save(&answer("", "ab001")).exits(0);
}

#[test]
fn a_review_sends_a_case_back() {
    let project = project();
    save(&project, "{\"found\": true}", &[]).exits(0);
    insta::assert_snapshot!("unknown-node", project.asterisk(&["review", "case-1", "reassess", "--to", "lok"]).exits(2).stderr);
    assert!(project.asterisk(&["review", "case-1", "reassess"]).exits(2).stderr.contains("--to"));
    assert!(project.asterisk(&["review", "case-1", "approve", "--to", "T1"]).exits(2).stderr.contains("for `reassess` only"));
    let sent = project.asterisk(&["review", "case-1", "reassess", "--to", "T1", "--format", "json"]).exits(0).json();
    assert_eq!(sent["case"]["waits"]["node"], "look");
    let again = status(&project);
    assert_eq!(again["cases"][0]["waits"]["node"], "look");
    assert_eq!(again["cases"][0]["loops"], json!({"E3": 1}));
    save(&project, "{\"found\": false}", &[]).exits(0);
    assert_eq!(strings(&status(&project)["cases"][0]["edges"]), ["E1", "E3", "E2"]);
}

fn waiting(project: &Project) -> Vec<Value> {
    let prompts = project.asterisk(&["cursor", "--batch", "--format", "json"]).ok().json();
    prompts["prompts"].as_array().unwrap().clone()
}

/// The whole bundled launch by hand: each answer is what the script would say.
#[test]
fn a_whole_launch_is_checked_out_and_submitted() {
    let project = Project::new();
    let alone = Project::new();
    let cases = ["--case", "880501", "--case", "880502", "--case", "880301", "--case", "880303"];
    let scripted = alone.asterisk(&[&["run", "--format", "json"], &cases[..]].concat()).ok().json();
    let run = scripted["run"].as_str().unwrap().to_owned();
    project.asterisk(&[&["run", "--via", "manual"], &cases[..]].concat()).exits(5);
    let mut steps = 0;
    let mut visits: std::collections::BTreeMap<(String, String), usize> = std::collections::BTreeMap::new();
    let events = alone.read(&format!(".asterisk/investigations/{run}/events.jsonl"));
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    while project.asterisk(&["status", "latest", "--format", "json"]).ok().json()["status"] == "paused" {
        for one in waiting(&project) {
            let (case, node) = (one["case"].as_str().unwrap().to_owned(), one["node"].as_str().unwrap().to_owned());
            let visit = visits.entry((case.clone(), node.clone())).or_default();
            let exit = |event: &&Value| event["type"] == "node_exit" && event["case"] == *case && event["node"] == *node;
            let exit = events.iter().filter(exit).nth(*visit).unwrap_or_else(|| panic!("{case} {node}"));
            *visit += 1;
            steps += 1;
            let artifact = artifact(&alone, exit["artifact"].as_str().unwrap());
            project.file("answer.json", artifact);
            project.asterisk(&["save", "-f", "answer.json", "--case-id", &case]).exits(0);
        }
    }
    assert!(steps > 15, "{steps}");
    let by_hand = project.asterisk(&["status", "latest", "--format", "json"]).ok().json();
    for (mine, theirs) in by_hand["cases"].as_array().unwrap().iter().zip(scripted["cases"].as_array().unwrap()) {
        assert_eq!((&mine["case"], &mine["edges"], &mine["loops"]), (&theirs["case"], &theirs["edges"], &theirs["loops"]));
    }
}

/// The content of an address.
fn artifact(project: &Project, hash: &str) -> String {
    let store = asterisk_store::Store::read_only(project.root().join(".asterisk/asterisk.db")).unwrap();
    let hash: asterisk_base::model::Hash = serde_json::from_value(json!(hash)).unwrap();
    store.blob(&hash).unwrap().unwrap().to_string()
}

/// What a person overturns after a run counts from then on.
#[test]
fn an_overturn_is_ground_truth() {
    let project = Project::new();
    let first = project.asterisk(&["run", "--format", "json"]).ok().json();
    let case = "880501";
    let path = &first["cases"].as_array().unwrap().iter().find(|one| one["case"] == case).unwrap()["nodes"];
    assert!(strings(path).contains(&"investigate"), "{path}");
    let said = ["review", case, "overturn", "--defect-type", "nd001", "--message", "the fixture of the lab was moved that day"];
    insta::assert_snapshot!("overturn", project.asterisk(&said).exits(0).text());
    let after = status(&project);
    assert_eq!(after["status"], "done");
    let one = after["cases"].as_array().unwrap().iter().find(|one| one["case"] == case).unwrap().clone();
    assert_eq!(one["case_status"], "reviewed");
    assert_eq!(strings(&one["edges"]).iter().rev().take(2).copied().collect::<Vec<_>>(), ["H16", "H14"]);
    let run = after["run"].as_str().unwrap().to_owned();
    project.asterisk(&["explain", &run, "--case", case]).exits(0);
    let replayed = project.asterisk(&["replay", &run, "--format", "json"]).exits(0).json();
    assert_eq!(replayed["flips"], json!([]));
    // A later run of the same launch recalls the person's review, and its scripts do not override it.
    let later = project.asterisk(&["run", "--format", "json"]).ok().json();
    let rca: Value =
        serde_json::from_str(&project.read(&format!(".asterisk/investigations/{}/rca.json", later["run"].as_str().unwrap())))
            .unwrap();
    let found = rca["cases"].as_array().unwrap().iter().find(|one| one["case"] == case).unwrap();
    assert_eq!(found["finding"]["defect_type"], "nd001", "{found}");
    let prompt = project.asterisk(&["explain", "--case", case, "--prompt", "--step", "recall"]).exits(0).stdout;
    assert!(prompt.contains("the fixture of the lab was moved that day"), "{prompt}");
}
