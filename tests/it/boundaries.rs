//! The journal fails at every boundary of its transactions, in every kind of walk: a step is committed whole or not at all, and a
//! resumed run equals an undisturbed one.
//!
//! With `ASTERISK_HALT_WITH`, every write from the n-th boundary on fails: before a transaction, before its commit, or after the commit and
//! before it is acknowledged. That the same holds for processes that are killed is shown by one loop each in `kill` (the store), `exec`
//! (commands), `signals` (files) and `chaos` (MCP).

use crate::batches::{self, Crowd};
use crate::chaos::{behind, completion};
use crate::harness::{Project, Ran, TWO, full_size, stride};
use crate::kill::{Outcome, RUN, nothing_left, same, small, undisturbed};
use crate::server::Server;
use crate::{advisors, foreach, goal, policy, subpipelines, team_walks, tools};
use serde_json::{Value, json};

/// Calls the program so that its writes fail from that boundary on. Returns whether it reached it.
#[track_caller]
pub(crate) fn fails(project: &Project, args: &[&str], at: u64) -> bool {
    let mark = project.root().join("failed");
    std::fs::remove_file(&mark).unwrap_or_default();
    let call = project.call(args).env("ASTERISK_HALT_AT", at.to_string()).env("ASTERISK_HALT_WITH", "ioerr");
    let ran = call.env("ASTERISK_HALT_FILE", &mark).ran();
    let failed = mark.exists();
    assert!(!failed || !ran.stderr.is_empty(), "failed at {at}, and said nothing: {}", ran.text());
    std::fs::remove_file(mark).unwrap_or_default();
    failed
}

/// Whom else a project asked, in order, once all is over.
type Asked = Box<dyn FnOnce(&Project) -> Vec<String>>;

/// A project, and whom else it asked.
struct Stage {
    project: Project,
    asked: Asked,
}

impl From<Project> for Stage {
    fn from(project: Project) -> Self {
        Self { project, asked: Box::new(|_| Vec::new()) }
    }
}

/// A kind of walk.
struct Walk {
    make: Box<dyn Fn() -> Stage>,
    args: Vec<&'static str>,
    resume: &'static [&'static str],
    /// Called when the program has ended; returns its result.
    finish: fn(&Project, Ran) -> Ran,
    /// Checks after the failure, before resuming.
    between: fn(&Project),
    /// The compared part of an event.
    event: fn(&mut Value),
    /// The final result that must be equal, besides the events.
    left: fn(&Project, &Ran) -> Value,
    /// The least number of boundaries.
    least: u64,
}

const RESUME: &[&str] = &["run", "--resume", "latest", "--parallel", "1", "--format", "json"];

impl Walk {
    fn of(make: impl Fn() -> Stage + 'static, args: &[&'static str], least: u64) -> Self {
        let json = args.iter().any(|arg| arg.starts_with("--format"));
        let args = args.iter().copied().chain((!json).then_some("--format=json")).collect();
        let left = |_: &Project, ran: &Ran| ran.json()["cases"].clone();
        Self {
            make: Box::new(make),
            args,
            resume: RESUME,
            finish: |_, ran| ran.exits(0),
            between: |_| (),
            event: |_| (),
            left,
            least,
        }
    }

    /// The events of the run, its files, and the answerers asked; repetitions in a row count once.
    fn came(&self, stage: Stage, ran: Ran) -> (Vec<String>, Value, Vec<String>) {
        let Stage { project, asked } = stage;
        let ran = (self.finish)(&project, ran);
        let run = ran.json()["run"].as_str().unwrap().to_owned();
        let left = (self.left)(&project, &ran);
        project.asterisk(&["report", &run, "--files", "always"]);
        let event = |line: &str| {
            let mut event: Value = serde_json::from_str(line).unwrap();
            event.as_object_mut().unwrap().remove("seq");
            (self.event)(&mut event);
            event.to_string()
        };
        let log = project.read(&format!(".asterisk/investigations/{run}/events.jsonl"));
        let mut events: Vec<String> = log.lines().map(event).collect();
        if self.args.ends_with(&["--parallel", "2"]) {
            events.sort();
        }
        nothing_left(&project);
        let mut asked = asked(&project);
        asked.dedup();
        (events, left, asked)
    }

    /// Fails at every boundary (at the usual size, at some), and resumes.
    fn survives(&self) {
        let stage = (self.make)();
        let ran = stage.project.asterisk(&self.args);
        let wanted = self.came(stage, ran);
        for at in (1..).step_by(stride()) {
            let stage = (self.make)();
            let before = latest(&stage.project);
            if !fails(&stage.project, &self.args, at) {
                assert!(at > self.least, "{at} boundaries");
                return;
            }
            (self.between)(&stage.project);
            let now = latest(&stage.project);
            let begun = now["run"] != before["run"] || now["status"] == "paused";
            let ran = stage.project.asterisk(if begun { self.resume } else { &self.args });
            let (events, left, asked) = self.came(stage, ran);
            assert_eq!(events, wanted.0, "failed at {at}");
            assert_eq!(left, wanted.1, "failed at {at}");
            assert_eq!(asked, wanted.2, "failed at {at}");
        }
    }
}

/// The run that began last; null if there is none.
fn latest(project: &Project) -> Value {
    project.asterisk(&["status", "--format", "json"]).json()["runs"][0].clone()
}

/// Lines that a command wrote into a file.
fn written(file: &'static str) -> Asked {
    Box::new(move |project| project.read(file).lines().map(str::to_owned).collect())
}

#[test]
fn branches() {
    let walk = Walk::of(|| foreach::walked().into(), &foreach::RUN, 3 * 14);
    walk.survives();
}

#[test]
fn nodes_that_wait_for_others() {
    let walk = Walk::of(|| foreach::waiting().into(), &foreach::PLAIN, 3 * 7);
    walk.survives();
}

#[test]
fn walks_within() {
    let walk = Walk::of(|| subpipelines::project().into(), &subpipelines::RUN, 3 * 14);
    walk.survives();
}

#[test]
fn teams_within_walks() {
    let walk = Walk::of(|| team_walks::walked().into(), &team_walks::RUN, 3 * 8);
    walk.survives();
}

#[test]
fn masks_of_walkers() {
    let walk = Walk::of(|| team_walks::masked().into(), &team_walks::MASKED, 3 * 4);
    walk.survives();
}

#[test]
fn stages() {
    let left = |project: &Project, ran: &Ran| json!([ran.json()["cases"], policy::packed(project)]);
    let walk = Walk { left, ..Walk::of(|| policy::chain().into(), &policy::RUN, 3 * 4) };
    walk.survives();
}

#[test]
fn advisors_in_council() {
    let walk = Walk::of(|| Stage { project: advisors::council(), asked: written("calls.txt") }, &advisors::RUN, 3 * 5);
    walk.survives();
}

#[test]
fn tools_of_a_server() {
    let walk = Walk::of(
        || Stage {
            project: tools::project(tools::GOOD, ""),
            asked: Box::new(|project| {
                let id = |call: &Value| call["params"]["_meta"]["asterisk/request"].to_string();
                tools::calls(project).iter().map(id).collect()
            }),
        },
        &tools::RUN,
        10,
    );
    walk.survives();
}

#[test]
fn a_model_over_http() {
    let walk = Walk::of(
        || {
            let server = Server::new(&[&completion("{\"found\": true}")]);
            let project = behind(&server, "");
            let key = |seen: &crate::server::Seen| seen.header("idempotency-key").unwrap().to_owned();
            Stage { project, asked: Box::new(move |_| server.seen().iter().map(key).collect()) }
        },
        &["run", "two.yaml", "--input", "none", "--via", "model"],
        15,
    );
    walk.survives();
}

#[test]
fn batches() {
    let walk = Walk {
        resume: &["run", "--resume", "latest", "--format", "json", "--parallel", "2"],
        ..Walk::of(
            || {
                let project = batches::project(2, "");
                let crowd = Crowd::of(2, project.root(), batches::good);
                let asked = move |_: &Project| {
                    let mut taken: Vec<i64> = crowd.taken().into_iter().map(|(id, _)| id).collect();
                    taken.sort_unstable();
                    // Each was claimed once.
                    assert_eq!(taken, (1..).take(taken.len()).collect::<Vec<_>>());
                    Vec::new()
                };
                Stage { project, asked: Box::new(asked) }
            },
            &batches::args(&["--parallel", "2"]),
            20,
        )
    };
    walk.survives();
}

#[test]
fn a_hand_off() {
    let walk = Walk { finish: handed_in, ..Walk::of(|| by_hand().into(), &MANUAL, 5) };
    walk.survives();
}

#[test]
fn a_submitted_answer() {
    let walk = Walk {
        finish: handed_in,
        ..Walk::of(
            || {
                let project = by_hand();
                project.asterisk(&MANUAL).exits(5);
                project.into()
            },
            &SAVE,
            5,
        )
    };
    walk.survives();
}

#[test]
fn goals() {
    let walk = Walk { left: goal::left, ..pursued(|| goal::project().into(), 20) };
    walk.survives();
}

#[test]
fn dreams() {
    let walk = Walk {
        // A dream is applied completely or not at all.
        between: |project| {
            goal::distilled(project);
        },
        left: |project, _| goal::distilled(project).into(),
        ..pursued(
            {
                let before = goal::before_a_dream();
                move || goal::copied(&before).into()
            },
            40,
        )
    };
    walk.survives();
}

/// A goal. Its directory, which differs from project to project, is in the contents of its events.
fn pursued(make: impl Fn() -> Stage + 'static, least: u64) -> Walk {
    let event =
        |event: &mut Value| *event = ["type", "case", "path", "node", "edge", "to"].map(|key| event[key].take()).to_vec().into();
    Walk { resume: &["goal", "--resume", "latest", "--format", "json"], event, ..Walk::of(make, &GOAL, least) }
}

const GOAL: [&str; 6] = ["goal", "count the *.txt files", "--workdir", "work", "--format", "json"];
const MANUAL: [&str; 6] = ["run", "two.yaml", "--input", "none", "--via", "manual"];
const SAVE: [&str; 5] = ["save", "-f", "answer.json", "--case-id", "case-1"];

fn by_hand() -> Project {
    Project::with(&[("two.yaml", TWO), ("answer.json", "{\"found\": true}")])
}

/// Answers both steps by hand, of which one may be answered already.
fn handed_in(project: &Project, _: Ran) -> Ran {
    for _ in 0..2 {
        let ran = project.asterisk(&SAVE);
        assert!(ran.code == Some(0) || ran.stderr.contains("is over"), "{}", ran.text());
    }
    project.asterisk(&["status", "latest", "--format", "json"]).exits(0)
}

/// Runs that fail at each of these boundaries in turn, each counted by a separate call, then finish.
#[test]
fn a_run_survives_failing_again_and_again() {
    let (run, expected) = undisturbed();
    let resume = ["run", "--resume", &run, "--parallel", "1", "--format", "json"];
    let mut chains: Vec<Vec<u64>> = [
        &[1, 1, 2, 3][..],
        &[2, 3, 2, 3, 2],
        &[4, 4, 5, 5, 6, 6],
        &[9, 2, 8, 3, 7],
        &[20, 12, 6, 3, 2, 1],
        &[22, 1, 2, 3],
        &[52, 1, 2, 3],
        &[53, 2, 2],
    ]
    .map(<[u64]>::to_vec)
    .to_vec();
    // After every single step.
    chains.extend(full_size().then(|| vec![3; 18]));
    for chain in chains.into_iter().step_by(stride()) {
        let project = Project::new();
        small(&project);
        let next = || -> &[&str] { if project.asterisk(&["status", &run]).code == Some(0) { &resume } else { &RUN } };
        for at in &chain {
            fails(&project, next(), *at);
        }
        let said = project.asterisk(next()).ok();
        nothing_left(&project);
        same(&Outcome::of(&project, said, &run), &expected, &chain);
    }
}
