//! Secrets and personal data in the texts of a launch are masked before anything is stored, shown or sent; and masks of nodes change
//! prompts, never findings.

use crate::harness::Project;
use asterisk_store::Store;
use std::path::Path;

/// What must not be seen again, as the texts below have it.
const HIDDEN: [&str; 5] =
    ["never-to-be-seen-1", "never-to-be-seen-2", "never.to.be.seen.3", "AKIANEVERTOBESEEN234", "ghp_neverToBeSeenNeverToBeSeen"];

/// A launch whose error, log and attributes contain secrets next to the text of the failure.
const LAUNCH: &str = r#"<testsuites><testsuite name="shop.CartTest">
<properties><property name="endpoint" value="https://shop:never-to-be-seen-2@db.shop.internal/cart"/></properties>
<testcase classname="shop.CartTest" name="pays"><failure message="connection refused by db.shop.internal:5432">connection refused by db.shop.internal:5432
Authorization: Bearer never-to-be-seen-1
url: postgres://shop:never-to-be-seen-2@db.shop.internal:5432/cart
ask never.to.be.seen.3@shop.example.com
  at shop.Db.open(Db.java:7)</failure>
<system-out>ERROR aws key AKIANEVERTOBESEEN234 was refused
ERROR token ghp_neverToBeSeenNeverToBeSeen expired</system-out></testcase>
</testsuite></testsuites>"#;

#[track_caller]
fn nothing_of_it(whose: &str, text: &str) {
    for secret in HIDDEN {
        assert!(!text.contains(secret), "{whose} has {secret}: {text}");
    }
}

/// Every file below a directory, but for those that were given.
fn each_file(dir: &Path, given: &[&str], see: &mut dyn FnMut(&Path, &[u8])) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            each_file(&path, given, see);
        } else if !given.iter().any(|name| path.ends_with(name)) {
            see(&path, &std::fs::read(&path).unwrap());
        }
    }
}

#[test]
fn secrets_are_masked_before_texts_are_stored_shown_or_sent() {
    let project = Project::with(&[("launch.xml", LAUNCH)]);
    let ran = project.asterisk(&["run", "--input", "launch.xml", "--files", "always", "-vv"]).exits(0);
    nothing_of_it("the output", &ran.text());
    // Prompts, artifacts, events, reports.
    let mut prompts = 0;
    each_file(project.root(), &["launch.xml"], &mut |path, bytes| {
        let text = String::from_utf8_lossy(bytes);
        nothing_of_it(&path.display().to_string(), &text);
        if path.extension().is_some_and(|ending| ending == "md") && text.contains("## What to answer") {
            prompts += 1;
            assert!(text.contains("Bearer ***") && text.contains("postgres://shop:***@"), "{text}");
        }
    });
    assert!(prompts > 3, "{prompts} prompts were written");
    // The store packs its contents: they are read.
    let store = Store::read_only(project.root().join(".asterisk/asterisk.db")).unwrap();
    let run = &store.runs().unwrap()[0].run;
    let launch = store.launch(run, |_, case| Some(case)).unwrap();
    nothing_of_it("the launch", &serde_json::to_string(&launch).unwrap());
    let case = &launch.cases[0];
    nothing_of_it("the log", &case.log_snippet.text_or_error());
    assert!(case.error_message.contains("Bearer ***") && case.error_message.contains("***@shop.example.com"), "{case:?}");
    for (_, event) in store.all_events(run).unwrap() {
        nothing_of_it("an event", &serde_json::to_string(&event).unwrap());
    }
    // The output and the pushed data, after a review.
    let of_run = format!("--run={run}");
    nothing_of_it("the review", &project.asterisk(&["review", &case.id, "approve", &of_run]).exits(0).text());
    for line in [
        "show evidence latest --case pays",
        "explain latest --case pays --verdict",
        "report --format json",
        "push latest --to jira-json",
        "push latest --to github-md",
    ] {
        let args: Vec<String> = line.split(' ').map(|word| word.replace("pays", &case.id)).collect();
        nothing_of_it(line, &project.asterisk(&args).exits(0).text());
    }
    let evidence = project.asterisk(&["show", "evidence", "latest", "--case", &case.id, "--format", "json"]).ok().text();
    assert!(evidence.contains("Bearer ***") && evidence.contains("connection refused"), "{evidence}");
    let draft = project.asterisk(&["push", "latest", "--to", "github-md"]).exits(0).text();
    assert!(draft.contains("db.shop.internal"), "the draft says what it is about: {draft}");
}

/// A launch whose every field has a secret in it.
fn secret_everywhere() -> String {
    let field = "x ghp_neverToBeSeenNeverToBeSeen password=never-to-be-seen-1";
    format!(
        r#"<testsuites name="{field}"><testsuite name="{field}" hostname="{field}" file="{field}"><properties><property name="{field}" value="{field}"/></properties>
<testcase classname="{field}" name="{field}" file="{field}"><failure type="{field}" message="{field}">{field}
  at {field} (src/cart.js:7:3)</failure><system-out>{field}</system-out></testcase>
<testcase classname="{field}" name="{field} 2"><failure message="{field}"/></testcase><testcase name="{field} passes"/></testsuite></testsuites>"#
    )
}

#[test]
fn no_field_of_a_launch_shows_a_secret() {
    let project = Project::with(&[("launch.xml", &secret_everywhere())]);
    for line in [
        "run --input launch.xml --files always -vv",
        "status latest",
        "report --format md",
        "report --format html",
        "report --format csv",
        "report --format json",
        "status",
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        nothing_of_it(line, &project.asterisk(&args).exits(0).text());
    }
    each_file(project.root(), &["launch.xml"], &mut |path, bytes| {
        nothing_of_it(&path.display().to_string(), &String::from_utf8_lossy(bytes));
    });
    // Errors in a launch are shown without its secrets.
    project.file("cut.xml", &secret_everywhere()[..300]);
    let refused = project.asterisk(&["run", "--input", "cut.xml"]).exits(3);
    assert!(refused.text().contains("cut.xml:"), "{}", refused.text());
    nothing_of_it("the error", &refused.text());
}

/// A mask that hides a line of the error from the answerer of triage.
const HIDING: &str = r#"const NODES = ["triage"];

fn pre(ctx) {
    let asked = ctx.to_map();
    asked.failure = ctx.failure.to_map();
    asked.failure.error_message = "(hidden by the project)";
    asked
}
"#;

#[test]
fn masks_change_prompts_and_never_evidence() {
    let launch = r#"<testsuite name="s"><testcase name="pays"><failure>OSError: [Errno 28] No space left on device</failure></testcase></testsuite>"#;
    let walked = |masks: &[&str]| {
        let project = Project::with(&[("launch.xml", launch), ("scripts/masks/hide.rhai", HIDING)]);
        let args = ["run", "--scripts", "scripts", "--input", "launch.xml", "--files", "always"];
        project.asterisk(&[&args[..], masks].concat()).exits(0);
        project
    };
    let (plain, masked) = (walked(&[]), walked(&["--mask", "masks/hide.rhai"]));
    let prompts = |project: &Project, words: &str| {
        let mut with = Vec::new();
        each_file(project.root(), &["hide.rhai"], &mut |path, bytes| {
            let text = String::from_utf8_lossy(bytes);
            if text.contains("## What to answer") && text.contains(words) {
                with.push(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        });
        with
    };
    assert!(prompts(&plain, "hidden by the project").is_empty());
    assert!(prompts(&masked, "hidden by the project").iter().all(|name| name.contains("triage")));
    assert_eq!(prompts(&masked, "hidden by the project").len(), 1, "triage is asked once");
    // The findings and the conclusions are the same.
    let seen = |project: &Project, args: &[&str]| project.asterisk(args).ok().json();
    let id = plain.asterisk(&["report", "--format", "json"]).ok().json()["cases"][0]["case"].as_str().unwrap().to_owned();
    let of_case = |command: &[&str]| {
        [command, &["latest", "--case", &id, "--format", "json"]].concat().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    for command in [&["show", "evidence"][..], &["explain", "--verdict"]] {
        let args = of_case(command);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let (mut one, mut other) = (seen(&plain, &args), seen(&masked, &args));
        for reported in [&mut one, &mut other] {
            reported["run"] = serde_json::Value::Null;
        }
        assert_eq!(one, other);
        assert!(one["evidence"].is_object() || one["hypotheses"].is_array(), "{one}");
    }
    // A mask that would change it is refused where it is written.
    masked.edit(
        "scripts/masks/hide.rhai",
        "const NODES = [\"triage\"];\n\nfn pre(ctx) {\n    let asked = ctx.to_map();\n    asked.evidence = #{};\n    asked\n}\n",
    );
    let ran = masked
        .asterisk(&["run", "--scripts", "scripts", "--input", "launch.xml", "--mask", "masks/hide.rhai", "--no-recall"])
        .exits(4);
    let said = ran.text();
    assert!(said.contains("`pre` changed `evidence`") && said.contains("masks/hide.rhai:3"), "{said}");
}
