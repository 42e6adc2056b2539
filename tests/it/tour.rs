//! The tour: from nothing to an edited, tested and replayed rule in few commands, each of which is checked.

use crate::harness::Project;

#[test]
fn the_tour_reaches_a_replayed_edit_in_eight_commands() {
    let project = Project::new();
    let began = std::time::Instant::now();
    // The user's other settings are unchanged.
    let ran = project.call(&["tour", "mine"]).env("ASTERISK_STORE", project.root().join("other.db")).ran().ok();
    let commands: Vec<&str> = ran.stdout.lines().filter_map(|line| line.strip_prefix("$ asterisk ")).collect();
    assert!(commands.len() <= 8, "{commands:#?}");
    let verbs: Vec<&str> = commands.iter().filter_map(|line| line.split(' ').next()).collect();
    for (verb, what) in [("run", "report"), ("explain", "why"), ("lint", "edit"), ("test", "test"), ("replay", "what if")] {
        assert!(verbs.contains(&verb), "{what}: {commands:#?}");
    }
    assert!(ran.stdout.contains(&format!("{} commands, all as expected, in ", commands.len())), "{}", ran.stdout);
    assert!(began.elapsed().as_secs() < 300, "five minutes");
    assert!(!project.root().join("other.db").exists());
    // What the tour left is a project: the rule is edited, and its tests pass.
    assert!(project.read("mine/scripts/rules/rca.rhai").contains("== \"crash\" { return false; }"));
    project.call(&["test", "scripts/rules/decisions_test.rhai"]).within("mine").ran().exits(0);
    let refused = project.asterisk(&["tour", "mine"]).exits(2);
    assert!(refused.stderr.contains("`mine` is not empty"), "{}", refused.text());
}

#[test]
fn at_a_terminal_the_tour_waits_and_can_be_quit() {
    let project = Project::new();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_asterisk"));
    command
        .arg("tour")
        .current_dir(project.root())
        .env_clear()
        .env("HOME", project.root())
        .env("NO_COLOR", "1")
        .env("TERM", "dumb");
    let mut session = rexpect::session::spawn_command(command, Some(120_000)).unwrap();
    session.exp_string("$ asterisk run").unwrap();
    session.exp_string("Enter runs it, q ends the tour").unwrap();
    session.send_line("").unwrap();
    session.exp_string("$ asterisk explain").unwrap();
    session.send_line("q").unwrap();
    session.exp_string("the tour ends here").unwrap();
    session.exp_eof().unwrap();
}
