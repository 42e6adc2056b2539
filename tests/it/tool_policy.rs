//! The tool policy against a real shell: allowed commands change nothing.

use crate::harness::{Project, full_size};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAMS: &[&str] = &[
    "cat",
    "ls",
    "wc",
    "head",
    "tail",
    "sort",
    "uniq",
    "cut",
    "tr",
    "awk",
    "sed",
    "grep",
    "find",
    "diff",
    "od",
    "stat",
    "du",
    "echo",
    "printf",
    "test",
    "[",
    "cd",
    "date",
    "timeout 1",
    "rm",
    "mv",
    "cp",
    "tee",
    "sh",
    "env",
    "xargs",
    "seq",
    "paste",
    "nl",
    "join",
];

/// What a hostile or clumsy author puts after a program.
const PIECES: &[&str] = &[
    "-o",
    "-n",
    "f",
    "g",
    "d",
    "-i",
    "--",
    "-",
    "*",
    "?",
    "[",
    "]",
    "-delete",
    "-exec",
    "{}",
    ";",
    "+",
    "\\;",
    "'",
    "\"",
    "$x",
    "$(rm f)",
    "`rm f`",
    ">",
    ">>",
    "<",
    "|",
    "&&",
    "||",
    "\n",
    "&",
    "2>&1",
    "2>&1n",
    ">&f",
    ">&2",
    ">/dev/null",
    "2>f",
    "&>f",
    ">|",
    "<>",
    "<<<",
    "a=b",
    "-c",
    "rm",
    "w",
    "-e",
    "s/a/b/",
    "'s/a/b/w g'",
    "'1e rm f'",
    "'w g'",
    "'{print > \"g\"}'",
    "'{system(\"rm f\")}'",
    "-of",
    "--output=g",
    "1",
    "-f",
    "../x",
    "~",
    "*.t",
    "./*",
    "-k1",
    "-t",
    "\\",
    "'a b'",
    "\"a b\"",
    "!",
    "#",
    "-v",
    "%n",
    "-type",
    "-fprint",
    "-printf",
    "-1",
    "\\n",
    "{a,b}",
    "=",
    "-S",
    "-r",
    "-b",
    "-d",
    ",",
    "[a-z]*",
    "-[o]g",
    "-*",
    "'-o'",
    "-''of",
    "-nf",
    "-i.bak",
    "p",
    "1,2p",
    "BEGIN",
    "(a)",
];

/// Numbers that look random and are the same every time.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    pub(crate) fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn command(&mut self) -> String {
        let parts: Vec<String> = (0..=self.below(3))
            .map(|_| {
                let pieces = (0..self.below(6)).map(|_| self.of(PIECES)).collect::<Vec<_>>();
                let space = if self.below(10) == 0 { "" } else { " " };
                [vec![self.of(PROGRAMS)], pieces].concat().join(space)
            })
            .collect();
        parts.join(self.of(&[" | ", " ; ", " && ", "\n", " "]))
    }
}

#[test]
fn allowed_commands_change_nothing() {
    let mut chance = Chance(7);
    let commands: Vec<String> = (0..if full_size() { 5000 } else { 800 }).map(|_| chance.command()).collect();
    let workdir = Project::new();
    for name in ["f", "g", "a", "b", "x", "w", "1", "a b", "d/f", "-o", "-of", "--output=g", "-delete", "n.t", "-i"] {
        workdir.file(name, format!("a\nb\n{name}\n"));
    }
    let project = Project::new();
    let context = json!({ "workdir": workdir.root(), "inside": true });
    let lines: Vec<String> = commands
        .iter()
        .map(|command| json!({ "args": [{ "tool": "shell", "args": { "command": command } }, context] }).to_string())
        .collect();
    project.file("calls.jsonl", lines.join("\n"));
    let judged = project.asterisk(&["eval", "call", "policy/tools.rhai#judge", "--batch", "calls.jsonl"]).exits(0).json_lines();
    assert_eq!(judged.len(), commands.len());
    let allowed: Vec<&String> = commands
        .iter()
        .zip(&judged)
        .filter(|(_, answer)| answer["result"]["verdict"] == "allow")
        .map(|(command, _)| command)
        .collect();
    assert!(allowed.len() > commands.len() / 20, "only {} of {} are allowed", allowed.len(), commands.len());
    let before = workdir.tree();
    for command in allowed {
        run(command, &workdir);
        assert_eq!(workdir.tree(), before, "{command:?} was allowed, and changed the directory");
    }
}

/// Ideas of an attacker, and calls that are as harmless as they look: a line has the wanted verdict (or law), the tool unless it is the
/// shell, the arguments, and the rest of the judge's input.
#[test]
fn every_known_attempt_has_the_expected_judgement() {
    let reported = json!({
        "workdir": "/w", "inside": true, "exists": false, "existing": ["f"], "outside": ["link"], "allow_hosts": ["docs.example.org"],
    });
    let attempts: Vec<Vec<Value>> =
        include_str!("tool_policy.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let call = |attempt: &Vec<Value>| {
        let (tool, args) = match &attempt[1..] {
            [command] => (json!("shell"), json!({ "command": command })),
            [tool, args, ..] => (tool.clone(), args.clone()),
            [] => panic!("{attempt:?}"),
        };
        let mut reported = reported.clone();
        for (key, value) in attempt.get(3).and_then(Value::as_object).into_iter().flatten() {
            reported[key] = value.clone();
        }
        json!({ "args": [{ "tool": tool, "args": args }, reported] }).to_string()
    };
    let project = Project::new();
    project.file("calls.jsonl", attempts.iter().map(call).collect::<Vec<_>>().join("\n"));
    let judged = project.asterisk(&["eval", "call", "policy/tools.rhai#judge", "--batch", "calls.jsonl"]).exits(0).json_lines();
    assert_eq!(judged.len(), attempts.len());
    let wrong: Vec<String> = attempts
        .iter()
        .zip(&judged)
        .filter_map(|(attempt, answer)| {
            let answer = &answer["result"];
            let said = if answer["law"] == "LAW1" { &json!("law1") } else { &answer["verdict"] };
            (*said != attempt[0]).then(|| format!("{attempt:?} is judged {answer}"))
        })
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

/// Runs a command briefly; its output and exit code are ignored.
fn run(command: &str, workdir: &Project) {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(workdir.root()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = shell.spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(2);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            child.wait().unwrap();
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
