//! `run --watch`: edits apply between two steps, are recorded with the run, and kept on resume; link errors are shown and the edit not
//! applied. With real files and the built program.

use crate::harness::{Lines, Project, Ran, until};
use crate::kill::halted_at;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::process::Child;
use std::thread::JoinHandle;

const PIPELINE: &str = "\
pipeline: t
vars: { bar: 5 }
nodes:
  - { name: a, schema: { n: int }, prompt: a.md, effect: effects/none.rhai#none }
  - { name: b, schema: { n: int }, prompt: a.md, effect: effects/none.rhai#none }
  - { name: c, schema: { n: int }, prompt: a.md }
edges:
  - { id: A, from: a, to: b, rule: \"rules/t.rhai#far\" }
  - { id: A2, from: a, to: c }
  - { id: B, from: b, to: c, rule: \"rules/t.rhai#far\" }
  - { id: B2, from: b, to: _done }
  - { id: C, from: c, to: _done }
start: a
done: _done
";
fn rules(word: &str) -> String {
    let body =
        format!("if artifact.n >= vars.bar {{ #{{ because: `{word}: ${{artifact.n}} of ${{vars.bar}}` }} }} else {{ false }}");
    format!("fn far(artifact, state, vars) {{ {body} }}\n")
}

/// A separate project with two cases.
fn project() -> Project {
    let settings = "scripts: scripts\npipelines: pipelines\ntemplates: templates\n";
    let failures = json!([{ "id": "x", "name": "x", "status": "FAILED" }, { "id": "y", "name": "y", "status": "FAILED" }]);
    let answers = json!({ "*": { "a": [{ "n": 7 }], "b": [{ "n": 7 }], "c": [{ "n": 7 }], "d": [{ "n": 1 }] } });
    Project::with(&[
        ("asterisk.yaml", settings),
        ("scripts/rules/t.rhai", &rules("first")),
        // Whose parameters the steps are recorded with.
        ("scripts/effects/none.rhai", "fn none(artifact, params) { [] }"),
        ("pipelines/t.yaml", PIPELINE),
        ("templates/a.md", "first {{ identity.case }}\n"),
        ("launch.json", &json!({ "run_id": "1", "name": "l", "failure_list": failures }).to_string()),
        ("stub.json", &answers.to_string()),
    ])
}

const RUN: [&str; 11] =
    ["run", "t", "--input", "launch.json", "--stub", "stub.json", "--parallel", "1", "--format", "json", "--watch"];
/// The first step of the first case is committed, and not reported yet.
const FIRST_STEP: &str = "6";

/// The program, while it runs.
struct Running<'p> {
    project: &'p Project,
    child: Child,
    lines: Lines,
    stdout: JoinHandle<String>,
}

impl<'p> Running<'p> {
    fn of(project: &'p Project, mut child: Child) -> Self {
        let lines = Lines::of(child.stderr.take().unwrap());
        let mut stdout = child.stdout.take().unwrap();
        let stdout = std::thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).unwrap();
            text
        });
        Self { project, child, lines, stdout }
    }

    /// Started so that it halts at that boundary of the store.
    fn halted(project: &'p Project, args: &[&str], at: &str) -> Self {
        Self::of(project, halted_at(project, args, at).unwrap_or_else(|ran| panic!("ended early\n{}", ran.text())))
    }

    /// Waits until it says something with these words.
    fn says(&mut self, words: &str) -> String {
        self.lines.until(words)
    }

    /// Resumes it from where it halted.
    fn goes_on(&self) {
        std::fs::remove_file(self.project.root().join("halted")).unwrap();
    }

    /// Waits until it ends.
    fn ends(mut self) -> Ran {
        let status = self.child.wait().unwrap();
        let redact = |text: String| text.replace(self.project.root().to_str().unwrap(), "[DIR]");
        let stderr = self.lines.whole().iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        Ran { stdout: redact(self.stdout.join().unwrap()), stderr: redact(stderr), code: status.code() }
    }

    /// Waits until it has halted again.
    fn halts(&self) {
        let file = self.project.root().join("halted");
        until(|| std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n')));
    }
}

/// The content of a run's journal: the revisions, and the revision of each decision.
fn story(project: &Project, run: &str) -> String {
    project.asterisk(&["report", run, "--files", "always"]).ok();
    let log = project.read(&format!(".asterisk/investigations/{run}/events.jsonl"));
    let mut names: Vec<String> = Vec::new();
    let mut script = |hash: &Value| {
        let hash = hash.as_str().unwrap_or("none").to_owned();
        let at = names.iter().position(|known| *known == hash).unwrap_or_else(|| {
            names.push(hash);
            names.len() - 1
        });
        format!("script {}", at + 1)
    };
    let mut lines = Vec::new();
    for line in log.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let word = |field: &str| event[field].as_str().unwrap_or_default().to_owned();
        let place = format!("{} {}", word("case"), word("path"));
        match event["type"].as_str().unwrap() {
            "reload" => {
                let changed = event["changed"].as_array().unwrap().iter().map(|change| change["what"].as_str().unwrap());
                lines.push(format!(
                    "reload {} ({}): {}",
                    event["generation"],
                    word("cause"),
                    changed.collect::<Vec<_>>().join(", ")
                ));
            }
            "adopt" => lines.push(format!("{place}: adopts {}", event["generation"])),
            "edge_evaluate" => lines.push(format!("{place}: decided by {}", script(&event["considered"][0]["script"]))),
            "transition" => lines.push(format!("{place}: {}, {}", word("edge"), word("because"))),
            _ => {}
        }
    }
    lines.join("\n")
}

fn run_of(ran: &Ran) -> String {
    ran.json()["run"].as_str().unwrap().to_owned()
}

/// The output of the program, and the content of the journal.
fn whole(project: &Project, ran: &Ran) -> String {
    format!("exit {}\n{}\n{}", ran.code.unwrap_or(-1), ran.stderr, story(project, &run_of(ran)))
}

#[test]
fn an_edit_applies_at_the_next_step_and_is_recorded() {
    let project = project();
    let mut running = Running::halted(&project, &RUN, FIRST_STEP);
    // As many editors write: to a temporary file, then renamed.
    let beside = project.file("scripts/rules/t.rhai~", rules("second"));
    std::fs::rename(beside, project.root().join("scripts/rules/t.rhai")).unwrap();
    running.says("reload: ");
    running.goes_on();
    let ran = running.ends().exits(0);
    insta::assert_snapshot!(whole(&project, &ran));
}

#[test]
fn without_watch_or_with_pin_the_initial_sources_are_kept() {
    for pin in [false, true] {
        let project = project();
        let unwatched = RUN.iter().copied().filter(|arg| *arg != "--watch");
        let args: Vec<&str> = if pin { RUN.iter().copied().chain(["--pin"]).collect() } else { unwatched.collect() };
        let running = Running::halted(&project, &args, FIRST_STEP);
        project.file("scripts/rules/t.rhai", "broken (");
        running.goes_on();
        let ran = running.ends().ok();
        assert!(!story(&project, &run_of(&ran)).contains("reload"));
    }
}

#[test]
fn an_edit_that_does_not_compile_is_shown_and_the_last_valid_sources_are_kept() {
    let project = project();
    let mut running = Running::halted(&project, &RUN, "6,9");
    project.edit("scripts/rules/t.rhai", "fn far(artifact, state, vars) { artifact.m >= vars.baz }\n");
    running.says("rejected");
    running.goes_on();
    running.halts();
    project.edit("scripts/rules/t.rhai", rules("mended"));
    running.says("reload: ");
    running.goes_on();
    let ran = running.ends().exits(0);
    insta::assert_snapshot!(whole(&project, &ran));
}

/// An editor that writes in two steps, with more time between them than edits are waited for: the first part links, and would be taken
/// for what its author means.
#[test]
fn a_half_written_file_is_not_loaded() {
    let project = project();
    let mut running = Running::halted(&project, &RUN, FIRST_STEP);
    let half = "fn far(artifact, state, vars) { #{ because: `half` } } fn more(a)  { a }";
    let file = project.file("scripts/rules/t.rhai", half);
    // No more than the time that passes between the two: whether the program looks at it meanwhile is its own business.
    std::thread::sleep(std::time::Duration::from_millis(200));
    let mut rest = std::fs::File::options().append(true).open(file).unwrap();
    std::io::Write::write_all(&mut rest, format!("\n{}", rules("second").replace("fn far", "fn far2")).as_bytes()).unwrap();
    project.file("scripts/rules/t.rhai", rules("third"));
    running.says("reload: ");
    running.goes_on();
    let ran = running.ends().exits(0);
    let story = story(&project, &run_of(&ran));
    assert!(story.contains("third: 7 of 5") && !story.contains("half") && !story.contains("reload 3"), "{story}");
}

#[test]
fn reloaded_vars_apply_and_overrides_are_kept() {
    let more = PIPELINE.replace("vars: { bar: 5 }", "vars: { bar: 8, foo: 1 }");
    for (name, set, text) in [
        ("vars_edited", None, more.clone()),
        ("vars_set", Some(["--set", "bar=6"]), more.clone()),
        (
            "graph_edited",
            None,
            more.replace("  - { id: A2", "  - { id: A1, from: a, to: _done, condition: \"false\" }\n  - { id: A2"),
        ),
        (
            "graph_does_not_fit",
            None,
            more.replace("rules/t.rhai#far", "rules/t.rhai#near")
                .replace("name: c", "name: d")
                .replace("to: c", "to: d")
                .replace("from: c", "from: d"),
        ),
    ] {
        let project = project();
        let args: Vec<&str> = RUN.into_iter().chain(set.into_iter().flatten()).collect();
        let mut running = Running::halted(&project, &args, FIRST_STEP);
        if name == "graph_does_not_fit" {
            // With both, so that it links whichever pipeline it is seen with.
            let other = rules("other");
            project.edit("scripts/rules/t.rhai", format!("{other}{}", other.replace("fn far", "fn near")));
            running.says("reload: ");
        }
        project.edit("pipelines/t.yaml", text);
        running.says("reload: ");
        if name == "graph_does_not_fit" {
            project.edit("scripts/rules/t.rhai", rules("other").replace("fn far", "fn near"));
            running.says("reload: ");
        }
        running.goes_on();
        let ran = running.ends().exits(0);
        insta::assert_snapshot!(name, whole(&project, &ran));
    }
}

#[test]
fn a_resumed_run_uses_its_last_sources() {
    let project = project();
    let mut running = Running::halted(&project, &RUN, "6,12");
    // One after the other: two files are not edited at once, and a watcher may see the first alone. The run takes both together.
    project.edit("scripts/rules/t.rhai", rules("second"));
    running.says("reload: scripts/rules/t.rhai");
    project.edit("templates/a.md", "second {{ identity.case }}\n");
    running.says("reload: templates/a.md");
    running.goes_on();
    running.halts();
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    project.edit("scripts/rules/t.rhai", rules("third"));
    let ran = project.asterisk(&["run", "--resume", "latest", "--format", "json", "--parallel", "1"]).exits(0);
    insta::assert_snapshot!("resumed", whole(&project, &ran));
    let prompt = |node: &str| project.asterisk(&["explain", "--case", "x", "--prompt", "--step", node]).exits(0).stdout;
    assert_eq!((prompt("a").as_str(), prompt("b").as_str()), ("first x\n", "second x\n"));
    let written = |name: &str| project.read(&format!(".asterisk/investigations/{}/x/prompt-{name}.md", run_of(&ran)));
    assert_eq!((written("a"), written("b")), ("first x\n".into(), "second x\n".into()));
    let again = project.asterisk(&["run", "--resume", "latest", "--migrate", "--format", "json"]).exits(0);
    assert_eq!((again.stdout, again.stderr), (ran.stdout, "the run is over: nothing to migrate\n".to_owned()));
}

/// A run that was killed after its first step, and later edits.
fn killed(edit: impl FnOnce(&Project)) -> Project {
    let project = project();
    let args: Vec<&str> = RUN.iter().copied().filter(|arg| *arg != "--watch").collect();
    crate::kill::kill(halted_at(&project, &args, FIRST_STEP).unwrap());
    edit(&project);
    project
}

#[test]
fn a_run_can_be_migrated_to_the_current_sources() {
    let project = killed(|project| {
        project.file("scripts/rules/t.rhai", rules("second"));
        // The graph may change where no case has been.
        let more = PIPELINE
            .replace("id: B2, from: b, to: _done", "id: B3, from: b, to: d")
            .replace("edges:", "  - { name: d }\nedges:\n  - { id: D, from: d, to: _done }");
        project.file("pipelines/t.yaml", more);
    });
    let args = ["run", "--resume", "latest", "--migrate", "--set", "bar=8", "--format", "json", "--parallel", "1"];
    let ran = project.asterisk(&args).exits(0);
    insta::assert_snapshot!(whole(&project, &ran));
}

#[test]
fn a_graph_that_does_not_match_the_recorded_steps_is_refused() {
    let project = killed(|project| {
        project.file("pipelines/t.yaml", PIPELINE.replace("id: A,", "id: AA,").replace("id: A2", "id: A"));
    });
    project.file(
        "pipelines/t.yaml",
        PIPELINE
            .replace("id: A,", "id: AA,")
            .replace("name: b,", "name: bb,")
            .replace("to: b,", "to: bb,")
            .replace("from: b,", "from: bb,"),
    );
    insta::assert_snapshot!(project.asterisk(&["run", "--resume", "latest", "--migrate"]).exits(3).text());
    insta::assert_snapshot!("pinned", project.asterisk(&["run", "--resume", "latest", "--format", "json"]).exits(0).stderr);
}

#[test]
fn a_policy_next_to_a_pipeline_file_is_watched() {
    let project = project();
    project.file("flows/t.yaml", PIPELINE.replace("vars: {", "policy: own.yaml\nvars: {"));
    project.file("flows/own.yaml", "thresholds: {\n");
    let mut running = Running::of(&project, project.start(&RUN.map(|arg| if arg == "t" { "flows/t.yaml" } else { arg })));
    running.says("watching: ");
    project.edit("flows/own.yaml", "thresholds: { overall: 0.5 }\n");
    running.says("reload: fixed");
    running.ends().exits(0);
}

#[test]
fn initial_errors_are_shown_and_the_run_begins_once_they_are_fixed() {
    let project = project();
    std::fs::rename(project.root().join("scripts"), project.root().join("elsewhere")).unwrap();
    let mut running = Running::of(&project, project.start(&RUN));
    running.says("watching: ");
    std::fs::create_dir(project.root().join("scripts")).unwrap();
    running.says("watching: ");
    project.edit("scripts/effects/none.rhai", "fn none(artifact, params) { [] }");
    running.says("watching: ");
    project.edit("scripts/rules/t.rhai", "fn far(artifact, state, vars { true }");
    running.says("watching: ");
    project.edit("scripts/rules/t.rhai", rules("first"));
    running.says("reload: fixed");
    let ran = running.ends().exits(0);
    insta::assert_snapshot!(ran.stderr);
    assert_eq!(ran.json()["status"], "done");
}

#[test]
fn errors_that_no_edit_can_fix_end_the_run() {
    let project = project();
    for args in
        [&["run", "tt", "--watch"][..], &["run", "t", "--stub", "stub.json", "--watch", "--set", "barr=1"], &["run", "--pin"]]
    {
        project.asterisk(args).exits(2);
    }
    let refused = |args: &[&str]| project.asterisk(&[&["run", "--resume", "latest"], args].concat()).exits(2).stderr;
    insta::assert_snapshot!([refused(&["--watch"]), refused(&["--set", "x=1"]), refused(&["--scripts", "x"])].join("\n"));
}

/// Texts that come and go: scripts that import one another, a template, data, the pipeline, with mistakes among them.
const VERSIONS: &[(&str, &[&str])] = &[
    ("scripts/lib/base.rhai", &["fn k() { 1 }", "fn k() { 2 }", "fn k() { ", ""]),
    ("scripts/lib/mid.rhai", &["import \"lib/base\" as b;\nfn m() { b::k() }", "fn m() { 3 }", "import \"lib/none\" as b;"]),
    (
        "scripts/rules/t.rhai",
        &[
            "import \"lib/mid\" as m;\nfn far(artifact, state, vars) { artifact.n > m::m() }",
            "fn far(artifact, state, vars) { artifact.n > vars.bar }",
            "const K = 2;\nfn far(artifact, state, vars) { artifact.n == global::K && artifact.q }",
        ],
    ),
    ("scripts/other.rhai", &["fn a(x) { x.q }", "fn a(x, y) { x.r + y }", ""]),
    ("scripts/data/words.yaml", &["list: [1]", "list: [2, {a: b}]", "list: ["]),
    ("templates/a.md", &["one {{ identity.case }}", "two", "{% if %}"]),
    ("pipelines/t.yaml", &["", "vars", "graph", "schema"]),
];

fn version(path: &str, text: &str) -> String {
    match (path, text) {
        ("pipelines/t.yaml", "vars") => PIPELINE.replace("bar: 5", "bar: 2"),
        ("pipelines/t.yaml", "graph") => PIPELINE.replace("id: A2", "id: A3"),
        ("pipelines/t.yaml", "schema") => PIPELINE.replace("n: int", "n: int, q?: bool"),
        ("pipelines/t.yaml", _) => PIPELINE.to_owned(),
        _ => text.to_owned(),
    }
}

/// A project linked of texts, as far as visible from outside: addresses, warnings, and what its rule decides; or the mistakes.
fn outcome(linked: &Result<asterisk_project::Project, asterisk_diag::Diagnostics>) -> String {
    let project = match linked {
        Err(problems) => return format!("{problems:?}"),
        Ok(project) => project,
    };
    let mut said = vec![serde_json::to_string(&project.manifest().0).unwrap(), format!("{:?}", project.warnings)];
    said.extend(project.library.files().map(|file| format!("{} {} {}", file.path(), file.hash(), file.deep_hash())));
    said.push(serde_json::to_string(project.data.files.all()).unwrap());
    for n in 0..4 {
        let node = asterisk_pipeline::NodeIx(0);
        let artifact = asterisk_script::View::of(&json!({ "n": n }), &project.plan.node(node).kind, "artifact");
        let moment = asterisk_walk::StepMoment { now: asterisk_base::clock::Timestamp::default(), chance: 0.0 };
        let state = asterisk_walk::WalkState::default().view(&"a".into(), None, moment, &project.plan.walker.view, 0);
        said.push(format!("{:?}", asterisk_walk::decide(&project.plan, node, &artifact, &state)));
    }
    said.join("\n")
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 40, ..Default::default() })]

    #[test]
    fn incremental_linking_equals_linking_from_scratch(edits in proptest::collection::vec((0..VERSIONS.len(), 0_usize..5), 1..12)) {
        use asterisk_diag::Source;
        use asterisk_project::{Project, LinkSettings, Sources};
        let mut texts: BTreeMap<&str, String> = VERSIONS.iter().map(|(path, versions)| (*path, version(path, versions[0]))).collect();
        texts.insert("scripts/effects/none.rhai", "fn none(artifact, params) { [] }".into());
        let mut last: Option<Project> = None;
        for (file, text) in edits {
            let (path, versions) = VERSIONS[file];
            match versions.get(text) {
                Some(text) => drop(texts.insert(path, version(path, text))),
                None if path.starts_with("pipelines/") => {}
                None => drop(texts.remove(path)),
            }
            let below = |area: &str| texts.iter().filter_map(|(path, text)| Some(Source::new(path.strip_prefix(area)?, text.as_str()))).collect::<Vec<_>>();
            let sources = || Sources {
                scripts: below("scripts/").into_iter().filter(|source| source.name().ends_with(".rhai")).collect(),
                templates: below("templates/"),
                data: below("scripts/data/"),
                pipeline: below("pipelines/").remove(0),
                subpipelines: BTreeMap::new(),
                missing: BTreeMap::new(), bundle: None,
            };
            let warm = Project::relink(sources(), LinkSettings::default(), last.as_ref());
            proptest::prop_assert_eq!(outcome(&warm), outcome(&Project::link(sources(), LinkSettings::default())));
            last = warm.ok().or(last);
        }
    }
}

/// Starts a command on a separate terminal.
#[cfg(unix)]
fn on_terminal(mut command: std::process::Command) -> rexpect::session::PtySession {
    use std::process::Stdio;
    command.env("TERM", "xterm").stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    rexpect::session::spawn_command(command, Some(60_000)).unwrap()
}

/// How often the thread that handles interruptions went back to wait for the next one.
#[cfg(target_os = "linux")]
fn handled(project: &Project) -> u64 {
    let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let entries = |path: &std::path::Path| std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut processes = entries("/proc".as_ref());
    let process = processes.find(|path| std::fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd == project.root()));
    let mut threads = entries(&process.expect("the program").join("task"));
    let handler = threads.find(|thread| read(thread.join("comm")).trim() == "ctrl-c").expect("a handler");
    let status = read(handler.join("status"));
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.map_or(0, |count| count.trim().parse().unwrap())
}

/// Whether a process that has closed its terminal says that it was interrupted.
#[cfg(unix)]
fn interrupted(terminal: &rexpect::session::PtySession) -> bool {
    format!("{:?}", terminal.process().wait()).contains(", 130)")
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_edits_are_reported_and_an_interrupted_run_is_resumable() {
    let project = project();
    let halted = project.root().join("halted");
    let args: Vec<&str> = RUN.iter().copied().filter(|arg| !["--format", "json"].contains(arg)).collect();
    let mut command = project.command(&args);
    command.env("ASTERISK_HALT_AT", FIRST_STEP).env("ASTERISK_HALT_FILE", &halted);
    let mut terminal = on_terminal(command);
    // The bar is there, and makes room for messages.
    terminal.exp_string("cases").unwrap();
    until(|| halted.exists());
    project.edit("scripts/rules/t.rhai", "fn far(artifact, state, vars) { artifact.m > 1 }");
    for message in ["no field `m` on `artifact`", "did you mean `artifact.n`", "reload: rejected"] {
        terminal.exp_string(message).unwrap();
    }
    project.edit("scripts/rules/t.rhai", rules("second"));
    terminal.exp_string("reload: scripts/rules/t.rhai; each case uses it from its next step on").unwrap();
    let before = handled(&project);
    terminal.send_control('c').unwrap();
    until(|| handled(&project) > before);
    std::fs::remove_file(&halted).unwrap();
    terminal.exp_string("continue with: asterisk run --resume").unwrap();
    terminal.exp_eof().unwrap();
    assert!(interrupted(&terminal));
    let ran = project.asterisk(&["run", "--resume", "latest", "--format", "json", "--parallel", "1"]).exits(0);
    assert!(ran.stderr.contains("scripts/rules/t.rhai"), "the second text was never taken\n{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn on_a_terminal_waiting_for_a_fix_can_be_interrupted() {
    let project = project();
    project.file("scripts/rules/t.rhai", "fn far(");
    let mut terminal = on_terminal(project.command(&RUN));
    terminal.exp_string("watching: the run starts when this is fixed").unwrap();
    terminal.send_control('c').unwrap();
    terminal.exp_eof().unwrap();
    assert!(interrupted(&terminal));
}
