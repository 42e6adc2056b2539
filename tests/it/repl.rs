//! `asterisk repl`: sessions over the bundled launch, piped and at a real terminal.

use crate::harness::{Project, Ran, repository, until};

/// A project with a run of the bundled launch.
fn walked() -> Project {
    let project = Project::new();
    project.asterisk(&["run", "--files", "never", "--seed", "7"]).exits(0);
    project
}

/// A piped session.
fn session(project: &Project, args: &[&str], lines: &[&str]) -> Ran {
    project.asterisk_reading(&[&["repl"], args].concat(), &lines.join("\n"))
}

#[test]
fn a_session_moves_forward_and_back_through_a_case() {
    let project = walked();
    let lines = [
        ":steps",
        "confidence",
        ":next",
        "symptom_category",
        ":at investigate",
        ":why",
        ":back",
        ":at +3",
        ":at F0",
        ":diff 2",
        ":graph",
    ];
    insta::assert_snapshot!(session(&project, &["--run"], &lines).exits(0).text());
}

#[test]
fn experiments_use_the_same_evaluator() {
    let project = walked();
    let lines = [
        ":why H2",
        ":flip H1",
        ":flip H2",
        ":load {\"match\": true, \"confidence\": 0.6}",
        ":flip H1",
        ":set recall_hit=0.5",
        ":why",
        ":set",
        ":unset",
        ":why H1",
        ":next",
        ":at 1",
        ":set recall_hit=high",
        ":set recall_hti=1",
    ];
    insta::assert_snapshot!(session(&project, &["--run", "latest"], &lines).exits(2).text());
}

#[test]
fn errors_are_labelled_in_the_input_and_the_first_sets_the_exit_code() {
    let project = walked();
    let lines = [
        "artifact.confidense",
        "confidence > \"much\"",
        "regex_find(reasoning, \"(\")",
        "fn f() { 1 }",
        "loop {}",
        ":stesp",
        ":at nowhere",
        ":at 99",
        ":case 99",
        ":why H99",
        ":why H12",
        ":flip",
        ":load {\"match\": }",
        ":load nothing.json",
        ":quit 9",
        "1 + 1",
        "(",
    ];
    insta::assert_snapshot!(session(&project, &["--run"], &lines).exits(3).text());
}

#[test]
fn the_exit_code_of_a_session_is_explicit_or_that_of_its_first_error() {
    let project = walked();
    for (args, lines, code) in [
        (&["--run"][..], &["1"][..], 0),
        (&["--run"], &[":stesp", "nope"], 2),
        (&["--run"], &["nope", ":stesp"], 3),
        (&["--run"], &["nope", ":quit"], 3),
        (&["--run"], &["nope", ":quit 0"], 0),
        (&["--run"], &[":quit 4", "nope"], 4),
        (&["--run", "--strict"], &["nope", ":quit 0"], 3),
        (&["--run", "none"], &[], 2),
        (&["--run", "--case", "none"], &[], 2),
        (&["nowhere"], &[], 2),
        (&[], &[":steps"], 2),
        (&[], &[], 0),
    ] {
        session(&project, args, lines).exits(code);
    }
}

#[test]
fn variables_last_for_the_session() {
    let project = walked();
    let lines = [
        "let x = artifact.confidence",
        ":next",
        "x",
        "_ + 1",
        "let y = _ * 2; y + x",
        "x += 0.5",
        "[x, y, _]",
        "let list = [1, 2]; let last = list[1];",
        "last",
        "let vars = 1",
        "params.failure.name",
        "params.identity.node",
        "params.nope",
        ":case 2",
        "params.failure.id",
        "x",
        ":case 99",
        ":doc state",
        "exit",
        "never reached",
    ];
    insta::assert_snapshot!(session(&project, &["--run"], &lines).exits(2).text());
    let help = session(&project, &[], &["help"]).exits(0);
    assert_eq!(help.stdout, session(&project, &[], &["?"]).exits(0).stdout);
    assert_eq!(help.stdout, session(&project, &[], &[":help"]).exits(0).stdout);
    session(&project, &[], &["quit", "never reached"]).ok();
    let scratch = session(&project, &[], &["_", "params"]).exits(2);
    assert!(
        scratch.stderr.contains("no previous result") && scratch.stderr.contains("needs a recorded step"),
        "{}",
        scratch.text()
    );
}

#[test]
fn a_flip_makes_the_edge_fire_in_the_whole_decision() {
    let project = walked();
    // H7 precedes H6 and fires: the rule of H6 would fire, but is not reached.
    let flip = session(&project, &["--run"], &[":at triage", ":flip H6", ":flip H7"]).exits(0);
    let (six, seven) = flip.stdout.split_once("H7 fires here").unwrap();
    assert!(six.contains("H6 is not evaluated here: H7 fired first"), "{}", flip.text());
    let output: Vec<&str> = six.lines().skip_while(|line| !line.starts_with("any of these would make it fire")).skip(1).collect();
    assert!(!output.is_empty() && output.iter().all(|line| line.ends_with("by H6")), "{}", flip.text());
    // Each of them is so.
    let value = output[0].trim().split("   then").next().unwrap();
    assert_eq!(value, "artifact.candidate_repos: [\"monorepo\"] -> []");
    let artifact = r#":load {"symptom_category": "crash", "candidate_repos": [], "skip_investigation": false}"#;
    let tried = session(&project, &["--run"], &[":at triage", artifact]).exits(0);
    assert!(tried.stdout.contains("now: triage -> resolve by H6"), "{}", tried.text());
    assert!(seven.contains("would keep it from firing"), "{}", flip.text());
}

#[test]
fn without_a_run_a_given_artifact_is_inspected() {
    let project = Project::new();
    project.file("a.json", r#"{ "n": 3, "list": [1, 2, 3] }"#);
    let lines = [
        ":load a.json",
        "n > 2 && list.contains(n)",
        "artifact",
        "let s = 0;",
        "for x in list {\n  s += x;\n} s",
        "list.map(|x| x *\n  2)",
        "#{",
        "  twice: n * 2 }",
        "m",
        ":why",
        ":at recall",
        ":load {\"match\": true, \"confidence\": 0.9}",
        ":state {\"loops\": {\"reassess\": 2}}",
        "state.loops.reassess",
        "(0..100).map(|i| i)",
        ":time 1 + 1",
        ":doc round_to",
        ":help flip",
        ":help",
    ];
    let lines: Vec<&str> = lines.into_iter().chain([":reload", ":at nowhere", ":set recall_hit=0.95", ":graph"]).collect();
    insta::assert_snapshot!(session(&project, &[], &lines).exits(3).text());
}

#[test]
fn reload_uses_edited_scripts_and_recorded_ones_again() {
    let project = Project::new();
    project.file("asterisk.yaml", "pipelines: pipelines\nscripts: scripts\n");
    project.file(
        "pipelines/p.yaml",
        "pipeline: p\nvars: { sure: 5 }\nnodes: [{ name: a, schema: { n: int } }, { name: b }]\nedges:\n\
         \x20 - { id: far, from: a, to: b, rule: \"rules/t.rhai#far\" }\n\
         \x20 - { id: near, from: a, to: _done }\n  - { id: over, from: b, to: _done }\nstart: a\ndone: _done\n",
    );
    project.file("scripts/rules/t.rhai", "fn far(artifact, state, vars) { artifact.n > vars.sure }");
    project.file("stub.json", r#"{"*": {"a": [{"n": 4}]}}"#);
    project.asterisk(&["run", "p", "--input", "none", "--stub", "stub.json"]).exits(0);
    project.file("scripts/rules/t.rhai", "fn far(artifact, state, vars) { artifact.n > 1 }");
    let lines = [":why", ":flip far", ":reload", ":why far", ":flip far", ":reload recorded", ":why far"];
    insta::assert_snapshot!(session(&project, &["--run"], &lines).exits(0).text());
    project.file("scripts/rules/t.rhai", "fn far(artifact, state, vars) { artifact.m > 1 }");
    let ran = session(&project, &["--run"], &[":reload", ":why"]).exits(3);
    assert!(
        ran.stderr.contains("did you mean `artifact.n` instead of") && ran.stdout.contains("a -> _done by near"),
        "{}",
        ran.text()
    );
}

#[test]
fn the_verdict_uses_the_current_sources_and_vars() {
    let project = walked();
    project.file("asterisk.yaml", "scripts: scripts\n");
    let said = |lines: &[&str]| session(&project, &["--run", "latest", "--case", "880501"], lines).exits(0).text();
    let now = "with the current sources and vars; recorded: ";
    assert!(!said(&[":verdict"]).contains(now));
    let unsure = said(&[":set decide_floor=1", ":verdict"]);
    assert!(unsure.contains(now) && unsure.contains("no defect reaches the floor of 1.00"), "{unsure}");
    let rule = "fn product_threw(evidence, context, vars) { #{ strength: 0.5, because: \"edited\" } }\n";
    let all = std::fs::read_to_string(repository().join("scripts/verdicts/frames.rhai")).unwrap();
    let (before, rest) = all.split_once("fn product_threw").unwrap();
    let (_, after) = rest.split_once("\n}\n").unwrap();
    project.file("scripts/verdicts/frames.rhai", format!("{before}{rule}{after}"));
    let edited = said(&[":reload", ":verdict", ":verdict V1"]);
    assert!(edited.contains(now) && edited.contains("matched at strength 0.50: edited"), "{edited}");
    assert!(!said(&[":reload", ":reload recorded", ":verdict"]).contains("edited"));
}

#[test]
fn a_decision_is_saved_as_a_passing_test() {
    let project = walked();
    project.file("asterisk.yaml", "scripts: scripts\n");
    let lines = [
        ":at investigate",
        ":save-as-test scripts/rules/seen_test.rhai",
        ":at 1",
        ":set recall_hit=0.1",
        ":save-as-test",
        ":save-as-test scripts/rules/seen_test.rhai",
        ":save-as-test seen.rhai",
    ];
    let ran = session(&project, &["--run"], &lines).exits(2);
    let seen = project.read("scripts/rules/seen_test.rhai");
    let run = project.asterisk(&["status", "--format", "json"]).ok().json()["runs"][0]["run"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(format!("{}--- the test\n{seen}", ran.text()).replace(&run, "[RUN]"));
    let tested =
        project.asterisk(&["test", "rules/seen_test.rhai", "rules/rca_recorded_test.rhai", "--format", "json"]).exits(0).json();
    assert_eq!(tested["passed"], 3, "{tested}");
    let lint = project.asterisk(&["lint"]).exits(0);
    assert!(!lint.stdout.contains("seen_test") && !lint.stdout.contains("rca_recorded_test"), "{}", lint.text());
}

#[cfg(unix)]
mod terminal {
    use super::*;
    use rexpect::session::PtySession;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Stdio;

    fn at_terminal(project: &Project, term: &str, args: &[&str]) -> PtySession {
        let mut command = project.command(&[&["repl"], args].concat());
        command.env("TERM", term).env_remove("NO_COLOR");
        command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
        rexpect::session::spawn_command(command, Some(60_000)).unwrap()
    }

    fn ended_with(mut terminal: PtySession) -> String {
        terminal.exp_eof().unwrap();
        format!("{:?}", terminal.process().wait())
    }

    #[test]
    fn at_a_terminal_input_is_completed_coloured_and_kept_in_history() {
        let project = walked();
        let mut terminal = at_terminal(&project, "xterm", &["--run"]);
        terminal.exp_string("16 cases; :help lists the commands").unwrap();
        terminal.exp_string("880101 1/6 recall> ").unwrap();
        // Tab completes the only matching word, and the input is coloured.
        terminal.send("artifact.conf\t").unwrap();
        terminal.flush().unwrap();
        terminal.exp_string("\u{1b}[36martifact").unwrap();
        terminal.exp_string("confidence").unwrap();
        terminal.send_line(" + 1.5").unwrap();
        terminal.exp_string("\r\n1.5\r\n").unwrap();
        // A bracket that is open takes another line.
        terminal.send_line("[1,").unwrap();
        terminal.send_line("2]").unwrap();
        terminal.exp_string("  1,\r\n  2\r\n]").unwrap();
        terminal.send_line(":next").unwrap();
        terminal.exp_string("880101 2/6 triage> ").unwrap();
        // Ctrl-C discards the input, and the session continues.
        terminal.send("symptom").unwrap();
        terminal.send_control('c').unwrap();
        terminal.exp_string("triage> ").unwrap();
        terminal.send_line("artifact.nope").unwrap();
        terminal.exp_string("no field `nope`").unwrap();
        terminal.exp_string("triage> ").unwrap();
        // Arrow up.
        terminal.send("\u{1b}[A\u{1b}[A").unwrap();
        terminal.send_line("").unwrap();
        terminal.exp_string("880101 3/6 investigate> ").unwrap();
        terminal.send_line(":set recall_hit=0.5").unwrap();
        terminal.exp_string("investigate*> ").unwrap();
        terminal.send_control('d').unwrap();
        assert!(ended_with(terminal).contains(", 0)"));
        let history = project.root().join(".local/state/asterisk/history");
        assert_eq!(std::fs::metadata(&history).unwrap().permissions().mode() & 0o777, 0o600);
        let text = std::fs::read_to_string(&history).unwrap();
        assert!(text.contains("artifact.confidence + 1.5") && text.contains(":set recall_hit=0.5"), "{text}");
        let mut again = at_terminal(&project, "xterm", &["--run"]);
        again.exp_string("recall> ").unwrap();
        again.send("\u{1b}[A").unwrap();
        again.flush().unwrap();
        again.exp_string(":set").unwrap();
        again.send_control('c').unwrap();
        again.exp_string("recall> ").unwrap();
        again.send_line(":quit 4").unwrap();
        assert!(ended_with(again).contains(", 4)"));
    }

    #[test]
    fn a_dumb_terminal_only_lacks_editing() {
        let project = walked();
        let mut terminal = at_terminal(&project, "dumb", &["--run"]);
        terminal.exp_string("recall> ").unwrap();
        terminal.send_line("1 +").unwrap();
        terminal.send_line("1").unwrap();
        terminal.exp_string("2\r\n").unwrap();
        terminal.send_line(":at review").unwrap();
        terminal.exp_string("review> ").unwrap();
        terminal.send_line(":quit 1").unwrap();
        assert!(ended_with(terminal).contains(", 1)"));
    }

    /// Steps that another process makes are seen as it makes them.
    #[test]
    fn a_running_walk_can_be_followed() {
        let project = Project::new();
        let halted = project.root().join("halted");
        let mut command = project.command(&["run", "--files", "never", "--parallel", "1"]);
        // Somewhere amidst the walks.
        command.env("ASTERISK_HALT_AT", "12").env("ASTERISK_HALT_FILE", &halted);
        let mut run = command.spawn().unwrap();
        until(|| halted.exists());
        let cases = session(&project, &["--run"], &[":cases"]).exits(0);
        let waiting = cases.stdout.lines().rfind(|line| !line.contains(" done ")).unwrap();
        let case = waiting.split_whitespace().next().unwrap().to_owned();
        let mut terminal = at_terminal(&project, "xterm", &["--run", "--case", &case]);
        terminal.exp_string("> ").unwrap();
        terminal.send_line(":follow").unwrap();
        std::fs::remove_file(&halted).unwrap();
        // Reported, whether the run or the session started first.
        terminal.exp_regex("> [0-9]+").unwrap();
        terminal.exp_string("the case is done").unwrap();
        terminal.exp_string("> ").unwrap();
        terminal.send_line(":quit").unwrap();
        assert!(ended_with(terminal).contains(", 0)"));
        assert!(run.wait().unwrap().success());
    }
}
