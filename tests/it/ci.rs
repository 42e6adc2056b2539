//! `asterisk ci`: reports are found where tools write them, and the causes are printed in the format of each CI system.

use crate::harness::{Project, Ran, strings};
use serde_json::Value;

/// Surefire's report of a test that fails in a file of the project.
const SUREFIRE: &str = r#"<testsuite name="shop.CartTest" tests="2" failures="1">
<testcase classname="shop.CartTest" name="adds"><failure message="expected: &lt;1&gt; but was: &lt;2&gt;" type="org.opentest4j.AssertionFailedError">org.opentest4j.AssertionFailedError: expected: &lt;1&gt; but was: &lt;2&gt;
	at org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)
	at shop.CartTest.adds(CartTest.java:12)
</failure></testcase><testcase classname="shop.CartTest" name="removes"/></testsuite>"#;

const PASSED: &str = r#"<testsuite name="s" tests="1"><testcase classname="c" name="passes"/></testsuite>"#;

/// A project after its tests have run.
fn tested() -> Project {
    Project::with(&[
        ("src/test/java/shop/CartTest.java", "class CartTest {}\n"),
        ("target/surefire-reports/TEST-shop.CartTest.xml", SUREFIRE),
    ])
}

const GITHUB: &[(&str, &str)] = &[
    ("CI", "true"),
    ("GITHUB_ACTIONS", "true"),
    ("GITHUB_WORKFLOW", "build"),
    ("GITHUB_JOB", "test"),
    ("GITHUB_RUN_NUMBER", "17"),
    ("GITHUB_SHA", "0123456789abcdef0123456789abcdef01234567"),
    ("GITHUB_REF_NAME", "main"),
    ("GITHUB_SERVER_URL", "https://github.com"),
    ("GITHUB_REPOSITORY", "a/shop"),
    ("GITHUB_RUN_ID", "7"),
];

/// Runs the command with the variables of a system; GitHub's files are in the project.
fn ci(project: &Project, variables: &[(&str, &str)], args: &[&str]) -> Ran {
    let mut call = project.call(&[&["ci"], args].concat()).envs(variables.iter().copied());
    if variables.iter().any(|(name, _)| *name == "GITHUB_ACTIONS") {
        call = call.env("GITHUB_STEP_SUMMARY", project.root().join("step-summary.md"));
        call = call.env("GITHUB_OUTPUT", project.root().join("outputs.txt"));
    }
    call.ran()
}

fn json(project: &Project, path: &str) -> Value {
    serde_json::from_str(&project.read(path)).unwrap()
}

#[test]
fn a_directory_of_reports_gives_a_summary() {
    let project = Project::new();
    for (path, tool) in [("target/surefire-reports/TEST-a.xml", "Surefire"), ("test-results/e2e.xml", "Playwright")] {
        let file = project.file(path, SUREFIRE);
        let ran = ci(&project, &[], &[]).exits(0);
        assert!(ran.stdout.contains("shop.CartTest::adds") && ran.stdout.contains("1 case, 1 cause"), "{tool}: {}", ran.text());
        let place = path.rsplit_once('/').unwrap().0;
        assert!(ran.stderr.contains(&format!("read: {place} (1 report)")), "{tool}: {}", ran.text());
        std::fs::remove_file(file).unwrap();
    }
    assert_eq!(project.read("asterisk-report/.gitignore"), "*\n");
    let summary = project.read("asterisk-report/summary.md");
    assert!(summary.starts_with("## 1 cause of 1 failed test\n"), "{summary}");
    for file in ["comment.md", "causes.sarif", "gl-code-quality-report.json", "report.html", "report.md", "rca.json"] {
        assert!(!project.read(&format!("asterisk-report/{file}")).is_empty(), "{file}");
    }
}

#[test]
fn a_missing_report_is_an_error_and_a_passing_launch_is_not() {
    let project = Project::with(&[("pom.xml", "<project/>"), ("tests/fixtures/junit.xml", SUREFIRE)]);
    let ran = ci(&project, &[], &[]).exits(2);
    assert!(ran.stderr.contains("no test reports found below the working directory"), "{}", ran.text());
    assert!(
        ran.stderr.contains("skipped: tests/fixtures/junit.xml: the name of its directory suggests test data"),
        "{}",
        ran.text()
    );
    let ran = ci(&project, &[], &["--allow-empty"]).exits(0);
    assert!(ran.stderr.contains("nothing was analysed") && ran.stdout.is_empty(), "{}", ran.text());
    let ran = ci(&project, &[], &["gone"]);
    assert_ne!(ran.code, Some(0), "{}", ran.text());
    project.file("junit.xml", PASSED);
    let ran = ci(&project, GITHUB, &["--fail-on", "failures > 0"]).exits(0);
    assert!(ran.stdout.contains("no failures in 1 test: nothing to analyse"), "{}", ran.text());
    assert!(project.read("step-summary.md").starts_with("## No failed tests\n"));
    assert_eq!(json(&project, "asterisk-report/causes.sarif")["runs"][0]["results"], Value::Array(Vec::new()));
    project.file("build/test-results/test/TEST-cut.xml", &SUREFIRE[..300]);
    let ran = ci(&project, &[], &[]);
    assert!(ran.code != Some(0) || ran.stderr.contains("incomplete"), "{}", ran.text());
}

#[test]
fn it_lists_the_files_read_and_the_files_skipped() {
    let project = tested();
    project
        .file("reports/coverage.xml", "<?xml version=\"1.0\"?><coverage line-rate=\"0.9\" version=\"7\"><packages/></coverage>");
    project.file("reports/package.json", r#"{"name": "x", "version": "1.0.0", "dependencies": {}}"#);
    let allure = r#"{"uuid": "1", "historyId": "a", "name": "adds", "fullName": "shop.CartTest.adds", "status": "failed", "statusDetails": {"message": "boom"}, "stage": "finished", "labels": []}"#;
    project.file("allure-results/1-result.json", allure);
    let ran = ci(&project, &[], &["--format", "json"]).exits(0);
    let output = ran.json();
    assert_eq!(strings(&output["reports"]), ["target/surefire-reports/TEST-shop.CartTest.xml"]);
    let skipped: Vec<&str> = output["skipped"].as_array().unwrap().iter().map(|one| one["file"].as_str().unwrap()).collect();
    assert_eq!(skipped, ["reports/coverage.xml", "reports/package.json", "allure-results/1-result.json"]);
    assert!(ran.stderr.contains("reports/package.json: it looks like a package manifest"), "{}", ran.text());
    assert!(ran.stderr.contains("allure-results/1-result.json: its failures are also in the other reports"), "{}", ran.text());
    // A failure that no other report has is not passed over.
    project.file("allure-results/2-result.json", allure.replace("adds", "pays").replace("\"1\"", "\"2\""));
    let output = ci(&project, &[], &["--format", "json"]).exits(0).json();
    assert_eq!(output["reports"].as_array().unwrap().len(), 3, "{output}");
}

#[test]
fn github_gets_annotations_a_summary_and_outputs() {
    let project = tested();
    let ran = ci(&project, GITHUB, &["--fail-on", "causes > 0"]).exits(1);
    let annotations: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(annotations.len(), 1, "{}", ran.text());
    let place = " file=src/test/java/shop/CartTest.java,line=12,title=";
    assert!(annotations[0].contains(place), "{}", annotations[0]);
    assert!(ran.stderr.contains("failed by --fail-on causes > 0 (causes 1)"), "{}", ran.text());
    let summary = project.read("step-summary.md");
    assert_eq!(summary, project.read("asterisk-report/summary.md"));
    assert!(summary.contains("**Failed:** `causes > 0 (causes 1)`"), "{summary}");
    assert!(summary.contains("<a href=\"https://github.com/a/shop/actions/runs/7\">this job</a>"), "{summary}");
    let outputs = project.read("outputs.txt");
    let expected = "failures=1\ncauses=1\nfailed-gates=1\ndirectory=asterisk-report\nsarif=asterisk-report/causes.sarif\ncomment=asterisk-report/comment.md\n";
    assert_eq!(outputs, expected);
    let sarif = json(&project, "asterisk-report/causes.sarif");
    let location = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "src/test/java/shop/CartTest.java");
    assert_eq!(location["region"]["startLine"], 12);
    let launch = &json(&project, "asterisk-report/rca.json")["launch"];
    assert_eq!((&launch["name"], &launch["number"]), (&"build / test".into(), &17.into()));
    assert_eq!(launch["git"]["commit"], "0123456789abcdef0123456789abcdef01234567");
    // The next job of that name knows the cause.
    let again = ci(&project, &[GITHUB, &[("GITHUB_RUN_NUMBER", "18")]].concat(), &["--fail-on", "new_causes > 0"]).exits(0);
    assert!(again.stderr.is_empty() || !again.stderr.contains("failed by"), "{}", again.text());
}

#[test]
fn each_ci_system_gets_its_format() {
    for (name, variables) in [
        ("GitLab CI", &[("GITLAB_CI", "true"), ("CI_PROJECT_NAME", "shop"), ("CI_JOB_NAME", "unit")][..]),
        ("Jenkins", &[("JENKINS_URL", "http://jenkins/"), ("JOB_NAME", "shop"), ("BUILD_NUMBER", "4")]),
        ("Azure Pipelines", &[("TF_BUILD", "True"), ("BUILD_DEFINITIONNAME", "shop")]),
        ("CircleCI", &[("CIRCLECI", "true"), ("CIRCLE_JOB", "unit")]),
        ("Buildkite", &[("BUILDKITE", "true"), ("BUILDKITE_PIPELINE_SLUG", "shop")]),
        ("unknown CI system", &[("CI", "true")]),
    ] {
        let project = tested();
        let ran = ci(&project, variables, &[]).exits(0);
        assert!(ran.stdout.contains(&format!("{name}: asterisk-report/summary.md")), "{}", ran.text());
        assert!(!ran.stdout.contains("::error") && !ran.stdout.contains("::warning"), "{}", ran.text());
        let commands: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with("##vso[")).collect();
        if name == "Azure Pipelines" {
            assert!(commands[0].contains(";sourcepath=src/test/java/shop/CartTest.java;linenumber=12;code="), "{commands:?}");
            assert_eq!(commands[1], "##vso[task.uploadsummary][DIR]/asterisk-report/summary.md");
        } else {
            assert!(commands.is_empty(), "{}", ran.text());
        }
        let quality = json(&project, "asterisk-report/gl-code-quality-report.json");
        assert_eq!(quality[0]["location"]["path"], "src/test/java/shop/CartTest.java");
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&quality[0]["severity"].as_str().unwrap()));
    }
    let project = tested();
    assert!(ci(&project, GITHUB, &["--system", "plain"]).exits(0).stdout.contains("unknown CI system: "));
}

#[test]
fn untrusted_text_cannot_become_a_ci_command() {
    let evil = SUREFIRE
        .replace("name=\"adds\"", "name=\"::error::a ##vso[task.setvariable variable=x]y\"")
        .replace("classname=\"shop.CartTest\" ", "");
    for variables in [GITHUB, &[("TF_BUILD", "True")]] {
        let project = Project::with(&[("junit.xml", evil.as_str())]);
        let ran = ci(&project, variables, &[]).exits(0);
        for line in ran.stdout.lines().chain(ran.stderr.lines()) {
            assert!(!line.contains("##vso[task.setvariable"), "{}", ran.text());
            assert!(!line.trim_start().starts_with("::error::a"), "{}", ran.text());
        }
    }
}

/// Whatever prints names and texts of tests, to either stream.
#[test]
fn output_cannot_become_a_ci_command() {
    let evil = [
        "::error file=x::pwned",
        "##vso[task.setvariable variable=PATH]/evil",
        "##[group]g",
        "##teamcity[buildStop]",
        "section_start:1:s",
        "--- h",
        "+++ h",
    ];
    let case = |evil: &str| {
        format!("<testcase name=\"{evil}\"><failure message=\"{evil}\">a&#10;{evil}&#10;{evil}</failure></testcase>")
    };
    let report = format!("<testsuite>{}</testsuite>", evil.map(case).concat());
    let markers = |text: &str, buildkite: bool| {
        let start =
            |line: &str| line.trim_start().starts_with("::") || buildkite && (line.starts_with("---") || line.starts_with("+++"));
        let anywhere = ["##vso[", "##[", "##teamcity[", "section_start:"];
        text.lines().any(|line| start(line) || anywhere.iter().any(|mark| line.contains(mark)))
    };
    let commands: &[&[&str]] = &[
        &["run", "--input", "r.xml"],
        &["run", "--input", "r.xml", "--observe", "narration=-", "-v"],
        &["run", "--input", "r.xml", "--format", "json"],
        &["status", "latest"],
        &["status", "latest", "--format", "json"],
        &["status"],
        &["report", "--format", "md"],
        &["report", "--format", "html"],
        &["report", "--format", "csv"],
        &["report", "--format", "json"],
        &["explain", "latest"],
        &["explain", "latest", "case-1"],
        &["show", "symptoms"],
        &["rca", "list"],
        &["show", "evidence", "--run", "latest"],
        &["run", "--input", "::error::x"],
        &["::error::x"],
    ];
    let mut seen = 0;
    for (variables, buildkite) in [(&[("GITHUB_ACTIONS", "true")], false), (&[("BUILDKITE", "true")], true)] {
        let project = Project::with(&[("r.xml", &report)]);
        for command in commands {
            let ran = project.call(command).envs(variables.iter().copied()).ran();
            assert!(
                !markers(&ran.stdout, buildkite) && !markers(&ran.stderr, buildkite),
                "{variables:?} {command:?}\n{}",
                ran.text()
            );
            if command.ends_with(&["--format", "json"]) {
                let json = ran.json().to_string();
                seen += usize::from(evil.iter().all(|evil| json.contains(evil)));
            }
        }
    }
    assert!(seen >= 2, "JSON keeps its values: {seen}");
    // Outside of CI, text is printed verbatim.
    let project = Project::with(&[("r.xml", &report)]);
    assert!(markers(&project.asterisk(&["run", "--input", "r.xml"]).stdout, false));
    // Commands of our own are none of foreign text.
    project.file("scripts/rules/x.rhai", "fn f(");
    let linted = project.call(&["lint", "--scripts", "scripts", "--format", "github"]).env("CI", "true").ran();
    assert!(linted.stdout.starts_with("::error "), "{}", linted.text());
}

#[test]
fn an_invalid_gate_is_rejected_before_any_walk() {
    let project = tested();
    ci(&project, &[], &["--fail-on", "new_by_defect.pb01 > 0"]).exits(3);
    assert!(!project.root().join(".asterisk").exists() && !project.root().join("asterisk-report").exists());
}

#[test]
fn doctor_suggests_missing_settings() {
    let project = Project::new();
    let doctor = |project: &Project, variables: &[(&str, &str)]| -> Vec<(String, String)> {
        let output = project.call(&["doctor", "--format", "json"]).envs(variables.iter().copied()).ran().json();
        let checks = output["checks"].as_array().unwrap().iter().filter(|check| check["area"] == "ci");
        checks.map(|check| (check["name"].as_str().unwrap().to_owned(), check["state"].as_str().unwrap().to_owned())).collect()
    };
    let pairs = |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>();
    assert_eq!(doctor(&project, &[]), []);
    let bare = [("CIRCLECI", "true")];
    assert_eq!(doctor(&project, &bare), pairs(&[("system", "ok"), ("reports", "note"), ("history", "note")]));
    let project = tested();
    let fresh =
        [("system", "ok"), ("reports", "ok"), ("logs", "note"), ("retries", "note"), ("commit", "note"), ("history", "note")];
    assert_eq!(doctor(&project, &bare), pairs(&fresh));
    let text = project.call(&["doctor"]).envs(GITHUB.iter().copied()).ran().exits(0).stdout;
    for help in ["actions/cache", "rerunFailingTestsCount", "junit_logging"] {
        assert!(text.replace('\n', "").contains(help), "{help}: {text}");
    }
    ci(&project, GITHUB, &[]).exits(0);
    let seen = doctor(&project, GITHUB);
    assert!(seen.contains(&("commit".into(), "ok".into())) && seen.contains(&("history".into(), "ok".into())), "{seen:?}");
}

/// `init --minimal` makes a project that lints and passes its tests, and `ci` uses its rules.
#[test]
fn the_minimal_project_is_valid() {
    let project = Project::new();
    let dir = project.root().join("small");
    let ran = project.asterisk(&["init", "--minimal", "small"]).exits(0);
    assert!(ran.stdout.starts_with("3 files written to small, 0 already existed\n"), "{}", ran.text());
    let inside = |args: &[&str]| -> Ran { project.call(args).within(&dir).ran() };
    inside(&["lint"]).exits(0);
    let ran = inside(&["test", "scripts/rules/decisions_test.rhai"]).exits(0);
    assert!(ran.stdout.contains("1 passed"), "{}", ran.text());
    let again = inside(&["init", "--minimal"]).exits(0);
    assert!(again.stdout.contains("0 files written"), "{}", again.text());
    std::fs::write(dir.join("scripts/rules/decisions_test.rhai"), "//! Mine.\n").unwrap();
    assert!(inside(&["init", "--minimal"]).exits(2).stderr.contains("--force"));
}

#[test]
fn a_verdict_rule_that_always_fails_fails_the_job() {
    let project = tested();
    project.file("pipelines/rca.yaml", "extends: rca\nverdict:\n  rules:\n    - { id: V90, name: broken, for: { en001: 1.0 }, rule: \"verdicts/own.rhai#broken\" }\n");
    project
        .file("scripts/verdicts/own.rhai", "/// Always fails.\nfn broken(evidence, context, vars) { throw \"out of order\"; }\n");
    let ran = ci(&project, &[], &[]).exits(1);
    let said = "warning: rule V90 (pipelines/rca.yaml:4) failed in the only case in which it was evaluated (";
    assert!(ran.stderr.contains(said) && ran.stderr.contains("out of order"), "{}", ran.text());
    assert!(project.read("asterisk-report/summary.md").contains("**A rule failed:** rule V90"));
    // A run reports it and continues; a gate may fail it.
    let run = ["run", "--input", "target/surefire-reports", "--fail-on", "failed_rules > 0"];
    assert!(project.asterisk(&run).exits(1).stderr.contains("failed_rules 1"));
    let test = "fn test_a_failure() { judge(#{ failure: #{ error_message: \"x\" } }); }\n";
    project.file("scripts/own_test.rhai", test);
    let failed = project.asterisk(&["test", "own_test.rhai"]).exits(1);
    assert!(failed.stderr.contains("rule V90 (pipelines/rca.yaml:4) failed"), "{}", failed.text());
}

/// A job that failed before its tests ran.
const JOB_LOG: &str = "\
2026-05-04T10:11:12.1000000Z ##[group]Run make test
2026-05-04T10:11:12.2000000Z shell: /usr/bin/bash -e {0}
2026-05-04T10:11:12.2000000Z ##[endgroup]
2026-05-04T10:11:13.2000000Z ERROR: cache is cold, attempt 1
2026-05-04T10:11:19.9000000Z src/cart.c:12:5: error: expected ';' before '}' token
2026-05-04T10:11:20.0000000Z ##[error]Process completed with exit code 2.
2026-05-04T10:11:20.1000000Z Post job cleanup.
";

/// The log of a job is read alone, next to a report, and from an archive; a case of the report gets its part of it.
#[test]
fn the_log_of_a_job_is_a_launch() {
    let project = Project::with(&[("job.log", JOB_LOG)]);
    let ran = ci(&project, &[], &[]).exits(0);
    assert!(ran.stdout.contains("1 case, 1 cause") && ran.stderr.contains("read: job.log (1 report)"), "{}", ran.text());
    let log = format!("{SUREFIRE_LOG}{JOB_LOG}");
    project.file("job.log", &log);
    project.file("target/surefire-reports/TEST-a.xml", SUREFIRE);
    let ran = project.asterisk(&["run", "--input", "job.log", "--input", "target", "--format", "json"]).exits(0).json();
    let cases: Vec<&str> = ran["cases"].as_array().unwrap().iter().map(|case| case["case"].as_str().unwrap()).collect();
    assert_eq!(cases, ["shop.CartTest::adds", "make test::expected ';' before '}' token"]);
}

/// The same failure as in the report.
const SUREFIRE_LOG: &str = "\
2026-05-04T10:11:02.1000000Z ##[group]Run mvn verify
2026-05-04T10:11:02.2000000Z shell: /usr/bin/bash -e {0}
2026-05-04T10:11:02.2000000Z ##[endgroup]
2026-05-04T10:11:03.2000000Z [ERROR] shop.CartTest.adds -- Time elapsed: 0.01 s <<< FAILURE!
2026-05-04T10:11:03.2000000Z org.opentest4j.AssertionFailedError: expected: <1> but was: <2>
2026-05-04T10:11:03.2000000Z 
2026-05-04T10:11:04.0000000Z ##[error]Process completed with exit code 1.
";

/// What jobs that pass print, too, is no evidence.
#[test]
fn lines_of_jobs_that_passed_are_left_out() {
    let passed = JOB_LOG.replace("attempt 1", "attempt 3");
    let passed: Vec<&str> = passed.lines().filter(|line| !line.contains("error")).collect();
    let project = Project::with(&[("job.log", JOB_LOG), ("passed.log", &passed.join("\n"))]);
    let prompts = |more: &[&str], out: &str| {
        let args = [&["run", "--input", "job.log", "--files", "always", "--out", out], more].concat();
        project.asterisk(&args).exits(0);
        texts(&project.root().join(out))
    };
    assert!(prompts(&[], "a").contains("cache is cold"));
    assert!(!prompts(&["--baseline-log", "passed.log"], "b").contains("cache is cold"));
}

/// All files below a directory.
fn texts(dir: &std::path::Path) -> String {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { texts(&path) } else { std::fs::read_to_string(path).unwrap_or_default() }).collect()
}

/// "No failures" is said only of a launch that proves it.
#[test]
fn incomplete_reports_are_no_success() {
    let fewer = PASSED.replace("tests=\"1\"", "tests=\"2\" failures=\"1\"");
    for (report, what) in [
        (PASSED.replace("</testsuite>", ""), "cut off"),
        (fewer, "counts 1 failure"),
        ("<testsuite/>".into(), "no test is listed"),
    ] {
        let project = Project::with(&[("junit.xml", &report)]);
        let ran = ci(&project, &[], &[]).exits(1);
        assert!(ran.stderr.contains(what) && ran.stderr.contains("--allow-incomplete"), "{what}: {}", ran.text());
        assert!(!ran.text().contains("no failures"), "{what}: {}", ran.text());
        ci(&project, &[], &["--allow-incomplete"]).exits(0);
    }
}
