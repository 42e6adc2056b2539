//! The review queue: cases that need review, most useful first, and their reviewers.

use crate::harness::{Project, strings};
use crate::mcp::Pipes;
use serde_json::{Value, json};

/// A run over some cases of the bundled launch, of which some are doubtful.
fn analysed() -> (Project, String) {
    let project = Project::new();
    let cases =
        ["--case", "880101", "--case", "880301", "--case", "880304", "--case", "880402", "--case", "880403", "--case", "880501"];
    let ran = project.asterisk(&[&["run", "--format", "json"], &cases[..]].concat()).ok().json();
    (project, ran["run"].as_str().unwrap().to_owned())
}

fn queue(project: &Project) -> Vec<Value> {
    let output = project.asterisk(&["review", "--list", "--format", "json"]).ok().json();
    assert_eq!(
        (&output["schema_version"], output["total"].as_u64()),
        (&json!(1), Some(output["reviews"].as_array().unwrap().len() as u64))
    );
    output["reviews"].as_array().unwrap().clone()
}

fn ids(queue: &[Value]) -> Vec<&str> {
    queue.iter().map(|entry| entry["case"].as_str().unwrap()).collect()
}

/// The case as the status has it.
fn case(project: &Project, id: &str) -> Value {
    let output = project.asterisk(&["status", "latest", "--format", "json"]).ok().json();
    output["cases"].as_array().unwrap().iter().find(|case| case["case"] == id).unwrap().clone()
}

#[test]
fn doubtful_cases_are_queued_most_useful_first() {
    let (project, run) = analysed();
    let waiting = queue(&project);
    assert!(waiting.len() >= 3 && !ids(&waiting).contains(&"880301"), "{waiting:?}");
    let weights: Vec<f64> = waiting.iter().map(|entry| entry["weight"].as_f64().unwrap()).collect();
    assert!(weights.is_sorted_by(|a, b| a >= b), "{weights:?}");
    for entry in &waiting {
        let sure = entry["confidence"].as_f64().unwrap();
        let explains = entry["explains"].as_f64().unwrap();
        assert!((entry["weight"].as_f64().unwrap() - (1.0 - sure) * explains).abs() < 1e-6, "{entry}");
        assert!(entry["why"].as_str().unwrap().contains("is below the 0.8 needed for automatic approval"), "{entry}");
        let one = case(&project, entry["case"].as_str().unwrap());
        assert_eq!(one["case_status"], "needs_review", "{one}");
        assert_eq!(strings(&one["edges"]).iter().rev().take(2).copied().collect::<Vec<_>>(), ["H16", "review-defer"]);
    }
    let first = waiting[0]["case"].as_str().unwrap();
    let next = project.asterisk(&["review", "--next"]).exits(0);
    assert!(
        next.stdout.starts_with(first) && next.stderr.contains(&format!("asterisk review {first} approve --run {run}")),
        "{}",
        next.text()
    );
    let whole = project.asterisk(&["review", "--next", "--format", "json"]).ok().json();
    assert_eq!((&whole["review"]["case"], &whole["case"]["case"]), (&json!(first), &json!(first)));
    for page in ["report.md", "report.html"] {
        let page = project.read(&format!(".asterisk/investigations/{run}/{page}"));
        assert!(page.contains("Needs review") && page.contains("asterisk review --next"), "{page}");
    }
    // A person's review removes it from the queue, and the next one follows.
    project.asterisk(&["review", first, "approve"]).exits(0);
    let after = queue(&project);
    assert_eq!(ids(&after), &ids(&waiting)[1..]);
    assert_eq!(case(&project, first)["case_status"], "reviewed");
    for entry in &after {
        project
            .asterisk(&[
                "review",
                entry["case"].as_str().unwrap(),
                "overturn",
                "--defect-type",
                "au001",
                "--message",
                "a fixture",
            ])
            .exits(0);
    }
    assert_eq!(queue(&project), Vec::<Value>::new());
    assert!(project.asterisk(&["review", "--next"]).ok().stdout.contains("no case of the run"));
    assert!(!project.read(&format!(".asterisk/investigations/{run}/report.md")).contains("Needs review"));
}

#[test]
fn a_lower_review_bar_approves_more() {
    let project = Project::new();
    project.asterisk(&["run", "--case", "880501", "--set", "review_bar=0.5"]).ok();
    assert_eq!(queue(&project), Vec::<Value>::new());
    assert_eq!(case(&project, "880501")["case_status"], "auto_reviewed");
}

#[test]
fn a_review_only_accepts_known_defects_and_nodes() {
    let (project, run) = analysed();
    let before = case(&project, "880501");
    for (words, code, help) in [
        ("880501 overturn --defect-type pb01 --message x", 3, "did you mean `pb001`?"),
        ("880501 reassess --to F0", 2, "it can go back to: resolve, triage, investigate"),
        ("880501 reassess --to investigat", 2, "`investigate`"),
        ("880501 reassess --to report", 2, "no edge leads from `review` back to `report`"),
        ("880509 approve", 2, "`880501`"),
        ("--next 880501", 2, "--next"),
        ("880501", 2, "<VERDICT>"),
    ] {
        let args: Vec<&str> = ["review"].into_iter().chain(words.split(' ')).collect();
        let ran = project.asterisk(&args).exits(code);
        assert!(ran.stderr.contains(help), "{words}: {}", ran.text());
        assert!(!ran.stderr.contains("still waits"), "{words}: {}", ran.text());
    }
    assert_eq!(case(&project, "880501"), before, "nothing was changed");
    // An alias is stored under its code.
    project.asterisk(&["review", "880501", "overturn", "--defect-type", "ab001", "--message", "the fixture moved"]).exits(0);
    let causes = project.asterisk(&["rca", "list", "--run", &run, "--format", "json"]).ok().json()["rcas"].clone();
    let codes: Vec<&Value> = causes.as_array().unwrap().iter().map(|rca| &rca["defect_type"]).collect();
    assert!(codes.contains(&&json!("au001")) && !codes.contains(&&json!("ab001")), "{codes:?}");
}

/// Agents review by tools, as agents: nothing is pushed on their reviews, and they only review queued cases.
#[test]
fn agents_review_as_agents() {
    let (project, run) = analysed();
    let mut pipes = Pipes::start(&project, &[]);
    let output = pipes.call("list_reviews", &json!({ "limit": 2 }));
    assert_eq!((&output["run"], output["reviews"].as_array().unwrap().len()), (&json!(run), 2), "{output}");
    let total = output["total"].as_u64().unwrap();
    let first = output["reviews"][0]["case"].as_str().unwrap().to_owned();
    for (args, code) in [
        (json!({ "case": first, "verdict": "aprove" }), "arguments"),
        (json!({ "case": first, "verdict": "reassess" }), "arguments"),
        (json!({ "case": first, "verdict": "approve", "defect_type": "au001" }), "arguments"),
        (json!({ "case": "880301", "verdict": "approve" }), "not_waiting"),
    ] {
        assert_eq!(pipes.call("review_case", &args)["code"], code, "{args}");
    }
    let done = pipes.call("review_case", &json!({ "case": first, "verdict": "approve", "message": "the trace says so" }));
    assert_eq!((&done["case"]["case"], done["waiting"].as_u64()), (&json!(first), Some(total - 1)), "{done}");
    let again = pipes.call("review_case", &json!({ "case": first, "verdict": "approve" }));
    assert_eq!(again["code"], "not_waiting");
    pipes.end();
    let report: Value = serde_json::from_str(&project.read(&format!(".asterisk/investigations/{run}/rca.json"))).unwrap();
    let one = report["cases"].as_array().unwrap().iter().find(|one| one["case"] == json!(first)).unwrap();
    assert_eq!(one["finding"]["review"], json!({ "decision": "approve", "by": "agent" }));
    let events = project.asterisk(&["explain", &run, "--case", &first, "--format", "json"]).ok().json();
    assert!(events.is_object());
    let pushed = project.asterisk(&["push", "--to", "github-md"]).exits(1);
    assert!(pushed.stderr.contains("passed the review of a script or an agent only"), "{}", pushed.text());
}

/// A person's review of a failure is evidence for similar failures, and is cited; without a review there is not any.
#[test]
fn a_review_is_evidence_for_similar_failures() {
    let launch = |test: &str, tenant: &str| {
        let error = format!("the price list of tenant {tenant} in region west was not reachable within the limit");
        format!(
            "<testsuite name='cart'><testcase classname='cart.TotalTest' name='{test}'><failure message='{error}'/></testcase></testsuite>"
        )
    };
    for reviewed in [true, false] {
        let project = Project::new();
        project.file("one.xml", launch("the total of a cart", "alpha"));
        project.file("two.xml", launch("the sum of a cart", "beta"));
        let verdict = |input: &str, case: &str| {
            project.asterisk(&["run", "--input", input]).ok();
            project.asterisk(&["explain", "latest", "--case", case, "--verdict", "--format", "json"]).ok().json()
        };
        verdict("one.xml", "cart.TotalTest::the total of a cart");
        if reviewed {
            let word = ["--defect-type", "en001", "--message", "the price service was down"];
            project.asterisk(&[&["review", "cart.TotalTest::the total of a cart", "overturn"], &word[..]].concat()).exits(0);
        }
        let verdict = verdict("two.xml", "cart.TotalTest::the sum of a cart");
        let spoke = verdict["spoke"].as_array().unwrap_or_else(|| panic!("{verdict}"));
        let word = spoke.iter().find(|rule| rule["id"] == "V68");
        assert_eq!(word.is_some(), reviewed, "{verdict}");
        if let Some(word) = word {
            assert!(word["because"].as_str().unwrap().starts_with("a person reviewed a failure "), "{word}");
            let strength = word["strength"].as_f64().unwrap();
            assert!(strength > 0.6 && strength < 1.0, "{word}");
        }
        assert_eq!(verdict["defect"] == "en001", reviewed, "{verdict}");
    }
}
