//! The reports of a run: their content, that untrusted text cannot become markup, and that they can be rebuilt.

use crate::harness::Project;
use crate::kill::{halted, kill};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The files of the only run of a project, by their names below its directory.
fn files(project: &Project) -> BTreeMap<String, Vec<u8>> {
    let root = ".asterisk/investigations/";
    let below = |path: &str| path.strip_prefix(root).and_then(|path| path.split_once('/')).map(|(_, name)| name.to_owned());
    project
        .tree()
        .into_iter()
        .filter_map(|(path, text)| Some((below(&path)?, text)))
        .filter(|(name, _)| !name.is_empty())
        .collect()
}

fn forget(project: &Project) {
    std::fs::remove_dir_all(project.root().join(".asterisk/investigations")).unwrap();
}

fn page(files: &BTreeMap<String, Vec<u8>>, name: &str) -> String {
    String::from_utf8(files[name].clone()).unwrap()
}

/// A launch whose every text tries to be markup, or to change the surrounding text.
fn hostile() -> String {
    let bad = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'`|*_[x](javascript:alert(3))\u{202e}gpj.exe\u{7}\u{1b}[31m{{ 7 * 7 }}{% raw %}";
    let case = |id: &str| {
        json!({ "id": id, "name": bad, "status": "FAILED", "error_message": format!("{bad}\npanic: {bad}"), "log_snippet": bad,
                "attributes": { "component": bad, "jira": "https://x.test/\"onmouseover=\"alert(4)" } })
    };
    json!({ "run_id": bad, "name": bad, "attributes": { bad: bad, "version": bad }, "git": { "branch": bad, "commit": bad },
            "failure_list": [case("1"), case("</script>")] })
    .to_string()
}

#[test]
fn untrusted_text_cannot_alter_the_page() {
    let project = Project::with(&[("launch.json", &hostile())]);
    project.asterisk(&["run", "--input", "launch.json"]).exits(0);
    let html = page(&files(&project), "report.html");
    assert_eq!(html.matches("<script").count(), 1, "its own");
    assert_eq!(html.matches("</script").count(), 1);
    for tag in ["<img", "<iframe", "<a href=\"http", "<link", "<base", "<object", "url(http", "@import"] {
        assert!(!html.contains(tag), "{tag}");
    }
    assert!(html.contains("&lt;img src=x onerror=alert(2)&gt;"));
    assert!(html.contains("{{ 7 * 7 }}") && !html.contains("\u{202e}") && !html.contains('\u{1b}') && !html.contains('\u{7}'));
    // All that is fetched or run is inside the page.
    for attribute in ["src=", "href=\""] {
        for (at, _) in html.match_indices(attribute) {
            let value = &html[at + attribute.len()..];
            assert!(attribute == "href=\"" && value.starts_with('#') || html[..at].ends_with("&lt;img "), "{}", &value[..40]);
        }
    }
}

#[test]
fn every_link_of_the_page_resolves_and_ids_are_unique() {
    let project = Project::new();
    project.asterisk(&["run"]).ok();
    let html = page(&files(&project), "report.html");
    let ids: Vec<&str> = html.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), ids.len());
    let mut links = 0;
    for rest in html.split("href=\"#").skip(1) {
        let target = rest.split('"').next().unwrap();
        assert!(ids.contains(&target), "#{target}");
        links += 1;
    }
    assert!(links > 3, "{links}");
    assert_eq!(html.matches("<details").count(), html.matches("</details>").count());
    let steps = ["<b>F0</b> recall → <b>F1</b> by <code>H2</code>", "<b>F1</b> triage → <b>F3</b> by <code>H7</code>"];
    assert!(steps.iter().all(|step| html.contains(step)), "the path of a case");
}

/// What a run wrote, `asterisk report` writes again, byte for byte.
#[test]
fn all_files_are_rebuilt_identically() {
    let stub = answers();
    for (args, input) in [(&["--files", "auto"][..], None), (&["--files", "never"], None), (&[], Some(&stub))] {
        let project = Project::with(&[("launch.json", &hostile())]);
        let mut run = vec!["run"];
        run.extend(args);
        if let Some(stub) = input {
            // One of these walks fails.
            project.file("stub.json", stub);
            run.extend(["--input", "launch.json", "--stub", "stub.json"]);
        }
        project.asterisk(&run).exits(if input.is_some() { 4 } else { 0 });
        let written = files(&project);
        assert!(written.contains_key("report.html") && written.contains_key("rca.json"), "{:?}", written.keys());
        forget(&project);
        project.asterisk(&["report", "latest"]).ok();
        let again = files(&project);
        assert_eq!(again.keys().collect::<Vec<_>>(), written.keys().collect::<Vec<_>>());
        for (name, text) in &written {
            assert!(again[name] == *text, "{name} differs: {args:?}\n{}", String::from_utf8_lossy(&again[name]));
        }
    }
}

/// Answers that take one case to the end and the other nowhere.
fn answers() -> String {
    json!({
        "1": {
            "recall": [{ "match": false, "confidence": 0.0 }],
            "triage": [{ "symptom_category": "infra" }],
            "review": [{ "decision": "approve", "by": "human" }],
            "report": [{ "title": "<b>it</b>", "category": "infra", "defect_type": "en001", "confidence": 0.9 }],
        },
        "*": { "recall": [{ "match": false, "confidence": 0.0 }] },
    })
    .to_string()
}

/// A run that was killed has reports too: they say that it is not over, and say something else when it is.
#[test]
fn an_unfinished_run_is_reported_as_such() {
    let project = Project::new();
    let child = halted(&project, &["run", "--case", "880304", "--parallel", "1"], 6).expect("it halts");
    kill(child);
    let ran = project.asterisk(&["report", "latest", "--format", "json"]).ok().json();
    assert_eq!((&ran["status"], &ran["totals"]["done"]), (&json!("paused"), &json!(0)));
    let html = project.asterisk(&["report", "latest", "--format", "html"]).ok().stdout;
    assert!(html.contains("The run is paused"), "{}", &html[html.len() - 900..]);
    let first = files(&project);
    project.asterisk(&["run", "--resume", "latest"]).ok();
    let over = files(&project);
    assert_ne!(first["report.html"], over["report.html"]);
    let printed = project.asterisk(&["report", "latest", "--format", "html"]).ok().stdout;
    assert_eq!(printed, page(&over, "report.html"));
}

#[test]
fn a_store_without_runs_lacks_a_latest_one() {
    let project = Project::new();
    project.asterisk(&["run", "--dry-run"]).ok();
    let said = project.asterisk(&["report", "latest"]);
    assert_ne!(said.code, Some(0));
    assert!(said.stdout.is_empty() && !said.stderr.is_empty());
}

/// A page with many failures stays small, and describes every cause.
#[test]
fn a_large_launch_has_a_bounded_page() {
    let case = |index: usize| {
        json!({ "id": format!("c{index}"), "name": format!("test {index} of part {}", index % 7), "status": "FAILED",
                "error_message": format!("panic: state {} is not handled\n  at src/part{}.rs:{}", index % 90, index % 90, index % 90) })
    };
    let launch = json!({ "run_id": "1", "name": "large", "failure_list": (0..400).map(case).collect::<Vec<_>>() });
    let project = Project::with(&[("launch.json", &launch.to_string())]);
    project.asterisk(&["run", "--input", "launch.json", "--durability", "batch", "--files", "never"]).exits(0);
    let html = page(&files(&project), "report.html");
    assert!(html.len() < 1 << 20, "{}", html.len());
    assert_eq!(html.matches("<details class=\"panel ").count(), 90);
    assert_eq!(html.matches("<bdi>test ").count(), 400, "every case");
}

/// A summary script may return more than the report has fields for.
#[test]
fn sections_of_a_summary_have_headings() {
    let pipeline = "pipeline: p\nnodes: [{ name: a }]\nedges: [{ id: E, from: a, to: _done }]\nreport: reports/p.rhai#summary\n\
                    start: a\ndone: _done\n";
    let summary = "fn summary(params, vars) {\n    #{ title: \"t\", sections: [#{ title: \"In court\", lines: [\"charge: *x* <b>\", \"2nd\"] }] }\n}\n";
    let project = Project::with(&[
        ("asterisk.yaml", "scripts: s\n"),
        ("p.yaml", pipeline),
        ("s/reports/p.rhai", summary),
        ("stub.json", r#"{"*": {"a": [{}]}}"#),
    ]);
    project.asterisk(&["run", "p.yaml", "--input", "none", "--stub", "stub.json"]).exits(0);
    let print = |format: &str| project.asterisk(&["report", "latest", "--format", format]).ok().stdout;
    let (markdown, html) = (print("md"), print("html"));
    assert!(markdown.contains("In court:\n\n- charge: \\*x\\* \\<b>\n- 2nd\n"), "{markdown}");
    assert!(html.contains("<h4>In court</h4>") && html.contains("charge: *x* &lt;b&gt;"), "{html}");
    let data: serde_json::Value = serde_json::from_str(&print("json")).unwrap();
    assert_eq!(data["cases"][0]["finding"]["sections"][0]["lines"][1], "2nd", "{}", data["cases"][0]);
}

const PROMPTED: &str = "\
pipeline: t
nodes:
  - { name: a, schema: { n: int }, prompt: a.md, effect: effects/none.rhai#none }
  - { name: b, schema: { n: int }, prompt: a.md, effect: effects/none.rhai#none }
edges:
  - { id: A, from: a, to: b }
  - { id: B, from: b, to: _done }
start: a
done: _done
";

/// Its template fails for one case, or takes too much work for it. Nothing of the others is lost, in `run`, `report` and `--resume`
/// alike, and `--migrate` renders it with the fixed template, permanently.
#[test]
fn a_prompt_that_fails_to_render_is_a_note_on_its_case() {
    let failures: Vec<Value> = ["x", "y", "z"].map(|id| json!({ "id": id, "name": id, "status": "FAILED" })).into();
    for (bad, why) in [
        ("{{ identity.case | int }}", "invalid"),
        ("{% for a in range(9000) %}{% for b in range(9000) %}.{% endfor %}{% endfor %}", ""),
    ] {
        let template = |text: &str| format!("of {{{{ identity.case }}}}\n{{% if identity.case == \"y\" %}}{text}{{% endif %}}\n");
        let project = Project::with(&[
            ("asterisk.yaml", "scripts: scripts\npipelines: pipelines\ntemplates: templates\n"),
            ("scripts/effects/none.rhai", "fn none(artifact, params) { [] }"),
            ("pipelines/t.yaml", PROMPTED),
            ("templates/a.md", &template(bad)),
            ("launch.json", &json!({ "run_id": "1", "name": "l", "failure_list": failures }).to_string()),
            ("stub.json", &json!({ "*": { "a": [{ "n": 7 }], "b": [{ "n": 7 }] } }).to_string()),
        ]);
        let begun = ["run", "t", "--input", "launch.json", "--stub", "stub.json", "--files", "always", "--format", "json"];
        let run = project.asterisk(&begun).exits(0).json()["run"].as_str().unwrap().to_owned();
        let below = |name: &str| format!(".asterisk/investigations/{run}/{name}");
        for args in [["report", "latest"].as_slice(), &["run", "--resume", "latest"], &begun[..0]] {
            if !args.is_empty() {
                std::fs::remove_dir_all(project.root().join(below(""))).unwrap();
                let ran = project.asterisk(args).exits(0);
                let said = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(said.contains("`prompt-b.md` of case `y` is not written") && said.contains(why), "{}", ran.text());
                assert!(said.contains(&format!("asterisk run --resume {run} --migrate")), "{}", ran.text());
            }
            assert_eq!(project.read(&below("z/prompt-b.md")), "of z\n");
            assert!(project.root().join(below("y/b.json")).exists() && !project.root().join(below("y/prompt-b.md")).exists());
            let rca: Value = serde_json::from_str(&project.read(&below("rca.json"))).unwrap();
            let notes: Vec<usize> = (0..3).map(|at| rca["cases"][at]["notes"].as_array().map_or(0, Vec::len)).collect();
            assert_eq!((notes, &rca["totals"]["done"]), (vec![0, 2, 0], &json!(3)));
            for page in ["report.md", "report.html"] {
                assert!(project.read(&below(page)).contains("of case"), "{page}");
            }
        }
        // A template that still fails changes nothing, and a fixed one is used once.
        project.file("templates/a.md", template(&format!("worse {bad}")));
        assert!(project.asterisk(&["run", "--resume", "latest", "--migrate"]).exits(0).stderr.contains("is not written"));
        project.file("templates/a.md", template("mended"));
        let ran = project.asterisk(&["run", "--resume", "latest", "--migrate"]).exits(0);
        assert!(ran.stderr.contains("templates/a.md") && !ran.stderr.contains("not written"), "{}", ran.text());
        assert_eq!(project.read(&below("y/prompt-b.md")), "of y\nmended");
        project.file("templates/a.md", "of another time\n");
        std::fs::remove_dir_all(project.root().join(below(""))).unwrap();
        project.asterisk(&["report"]).ok();
        assert_eq!(
            (project.read(&below("y/prompt-b.md")), project.read(&below("z/prompt-b.md"))),
            ("of y\nmended".into(), "of z\n".into())
        );
        assert!(project.asterisk(&["explain", "--case", "y", "--prompt", "--step", "b"]).exits(0).stdout.contains("mended"));
    }
}
