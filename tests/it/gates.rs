//! Gates for CI: a run that fails because of its findings, the report as a table, and the link to the CI job.

use crate::harness::Project;
use serde_json::Value;

const CASES: [&str; 6] = ["--case", "880101", "--case", "880304", "--case", "880501"];

fn run(project: &Project, more: &[&str]) -> crate::harness::Ran {
    project.asterisk(&[&["run", "--files", "never", "--set", "decide_floor=0.7"], &CASES[..], more].concat())
}

#[test]
fn a_failed_gate_fails_the_run_with_its_reason() {
    let project = Project::new();
    for (gate, why) in [
        ("new_by_defect.pb001 > 0", Some("new_by_defect.pb001 1")),
        ("causes > 2 && lowest_confidence < 0.85", Some("causes 3, lowest_confidence 0.8")),
        ("by_category.infra > 0", None),
        ("undecided_share > 0.3", Some("undecided_share 0.3333")),
        ("undecided_share > 0.34", None),
        ("failures == 3 && unfinished + failed + gaps > 0", None),
        ("needs_review >= 1", Some("needs_review 1")),
    ] {
        let ran = run(&project, &["--dry-run", "--fail-on", gate]);
        let expected = why.map(|why| format!("failed by --fail-on {gate} ({why}"));
        assert_eq!(ran.code, Some(i32::from(why.is_some())), "{gate}: {}", ran.text());
        assert!(expected.as_deref().is_none_or(|why| ran.stderr.contains(why)), "{gate}: {}", ran.text());
        assert!(why.is_some() || ran.stderr.is_empty(), "{gate}: {}", ran.text());
    }
    let both = run(&project, &["--fail-on", "causes > 1", "--fail-on", "failures > 2"]).exits(1);
    assert_eq!(both.stderr.matches("failed by --fail-on").count(), 2, "{}", both.text());
    // The second night, nothing is new.
    run(&project, &["--fail-on", "new_causes > 0"]).exits(1);
}

#[test]
fn an_invalid_gate_is_rejected_before_the_run() {
    let project = Project::new();
    for (gate, help) in [
        ("new_by_defect.pb01 > 0", "pb001"),
        ("undecided_shar > 0.1", "undecided_share"),
        ("causes > ", "--fail-on"),
        ("causes", "true"),
        ("causes > \"many\"", "--fail-on"),
        ("", "--fail-on"),
    ] {
        let ran = run(&project, &["--fail-on", gate]).exits(3);
        assert!(ran.stderr.contains(help) && ran.stdout.is_empty(), "{gate}: {}", ran.text());
    }
    assert!(!project.root().join(".asterisk").exists(), "nothing was walked");
}

#[test]
fn the_report_is_a_table_with_a_link_to_the_job() {
    let project = Project::new();
    let xml = "<testsuites name=\"shop\" uuid=\"1\"><testsuite name=\"s\"><testcase classname=\"a.B\" name=\"c, &quot;d&quot;\">\
               <failure message=\"=1+1\">boom</failure></testcase></testsuite></testsuites>";
    let file = project.file("shop.xml", xml);
    let call = project.call(&["run", "--format", "json", "--input", file.to_str().unwrap()]);
    let call = call.env("GITHUB_SERVER_URL", "https://github.com").env("GITHUB_REPOSITORY", "a/shop").env("GITHUB_RUN_ID", "7");
    let output: Value = call.ran().ok().json();
    let run = output["run"].as_str().unwrap();
    let url = "https://github.com/a/shop/actions/runs/7";
    let table = project.asterisk(&["report", run, "--format", "csv"]).ok().stdout;
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("run,launch,job_url,case,suite,test,status,case_status,cause,title,defect_type"), "{table}");
    assert!(lines[1].starts_with(&format!("{run},1,{url},")) && lines[1].contains("\"c, \"\"d\"\"\""), "{table}");
    assert_eq!(lines.len(), 2, "{table}");
    for (page, link) in
        [("report.md", format!("- CI job: <{url}>")), ("report.html", format!("<a href=\"{url}\" rel=\"noreferrer\">"))]
    {
        let page = project.read(&format!(".asterisk/investigations/{run}/{page}"));
        assert!(page.replace("&#x2f;", "/").contains(&link), "{page}");
    }
    let report: Value = serde_json::from_str(&project.read(&format!(".asterisk/investigations/{run}/rca.json"))).unwrap();
    assert_eq!(report["launch"]["job_url"], url);
}
