//! Reads the log of a CI job: its steps, the one that failed, and a case for each failure in it.
//!
//! ```text
//! line -system-> marks, text -scan-> findings of a step -select-> cases
//! ```
//!
//! `system` removes what the CI system adds, `tools` is the table of tools whose output is recognised, `scan` collects what they
//! print about a failure, and `select` decides which findings are failures of their own. Only steps that failed give cases.

mod bare_line;
mod baseline;
mod job_names;
mod join;
mod lanes;
mod outcome;
mod pattern_index;
mod repeats;
mod scan;
mod select;
mod system;
mod tool;
#[allow(clippy::assigning_clones, reason = "short texts, assigned once")]
mod tools;

use super::InputPart;
use super::formats::{FormatRow, ReportInput};
use super::lines::LineReader;
use asterisk_base::clock::Timestamp;
use asterisk_base::model::CiSystem;
use asterisk_diag::Diagnostics;
pub(super) use baseline::LogBaseline;
pub(super) use job_names::name_jobs;
pub(super) use join::join;
use lanes::TaskLanes;
use scan::{Scanned, Scanner};
use std::collections::VecDeque;
use std::sync::Arc;
use system::{JobLine, JobOutcome, Mark};

/// The row of the format; it is recognised by [`is_of_system`] and [`is_output`].
pub(super) static FORMAT: FormatRow = FormatRow { name: "job log", signs: &[], is_json: false, read };

/// The attribute of a case that names its job.
const JOB: &str = "job";

/// The CI system is detected in this many lines.
const HEAD_LINES: usize = 300;

/// The last lines of a step that are kept.
const TAIL_LINES: usize = 60;

/// The maximum bytes of such a line.
const MAX_TAIL_LINE: usize = 2000;

/// The maximum number of steps that are kept; commands of a loop may be many.
const MAX_STEPS: usize = 10_000;

/// Whether a text begins like the log of a CI system.
pub(super) fn is_of_system(head: &str) -> bool {
    let lines: Vec<String> = head.lines().take(HEAD_LINES).map(str::to_owned).collect();
    system::system_of(&lines) != CiSystem::Plain
}

/// Whether a line was printed by a tool about a failure.
pub(super) fn is_output(line: &str) -> bool {
    let text = system::line(CiSystem::Plain, line).text;
    scan::is_known(&text) || lanes::is_of_runner(&text)
}

/// Whether a text is a job's log even if nobody said so: that of a CI system, or the output of a test tool.
pub(super) fn is_certain(text: &str) -> bool {
    let is_printed = |line| {
        let text = system::line(CiSystem::Plain, line).text;
        scan::is_of_test(&text) || lanes::is_of_runner(&text)
    };
    is_of_system(text) || text.lines().any(is_printed)
}

/// A step, or one of its commands.
#[derive(Default)]
struct JobStep {
    name: String,
    /// The number of its job in the log.
    job: usize,
    command: Option<String>,
    /// The number of the step that it is a command of.
    group: usize,
    started_at: Option<Timestamp>,
    ended_at: Option<Timestamp>,
    exit: Option<i32>,
    /// Errors reported by the system or an action.
    errors: Vec<String>,
    scanned: Scanned,
    tail: VecDeque<String>,
    /// Whether it runs after the outcome is decided.
    is_cleanup: bool,
    /// Whether it prepares the job, as opposed to running its commands.
    is_preparation: bool,
}

impl JobStep {
    /// How it is called in reports.
    fn title(&self) -> &str {
        self.command.as_deref().unwrap_or(&self.name)
    }
}

struct JobLogReader {
    system: CiSystem,
    steps: Vec<JobStep>,
    current: JobStep,
    scanner: Scanner,
    lanes: TaskLanes,
    groups: usize,
    decided: bool,
    outcome: Option<JobOutcome>,
    /// The exit code that the system reports at the end of the job.
    job_exit: Option<i32>,
    job_errors: Vec<String>,
    /// The names of the jobs so far; unknown ones are empty.
    jobs: Vec<String>,
    /// Whether an earlier job does not show its end.
    is_undecided: bool,
    /// The step in the columns of `gh run view --log`; `None` without columns.
    column: Option<String>,
    span: (Option<Timestamp>, Option<Timestamp>),
    is_cut: bool,
    baseline: Arc<LogBaseline>,
}

/// Reads a log.
fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    let (name, builder, baseline) = (input.source.name(), input.builder(), Arc::clone(&input.room.baseline));
    let mut lines = LineReader::new(input.stream);
    let mut head: Vec<String> = Vec::new();
    while head.len() < HEAD_LINES
        && let Some(line) = lines.next()?
    {
        head.push(line.text.to_owned());
    }
    let mut reader = JobLogReader {
        system: system::system_of(&head),
        steps: Vec::new(),
        current: JobStep::default(),
        scanner: Scanner::default(),
        lanes: TaskLanes::default(),
        groups: 0,
        decided: false,
        outcome: None,
        job_exit: None,
        job_errors: Vec::new(),
        jobs: vec![String::new()],
        is_undecided: false,
        column: None,
        span: (None, None),
        is_cut: false,
        baseline,
    };
    for (index, line) in head.iter().enumerate() {
        reader.line(index + 1, line);
    }
    drop(head);
    while let Some(line) = lines.next()? {
        reader.line(line.number, line.text);
    }
    reader.end_step();
    Ok(reader.finish(name, builder))
}

impl JobLogReader {
    fn line(&mut self, number: usize, raw: &str) {
        let JobLine { time, column, marks, text } = system::line(self.system, raw);
        self.span = (self.span.0.or(time), time.or(self.span.1));
        if let Some((job, step)) = column {
            if self.jobs.last().is_none_or(|known| known != job) {
                self.next_job(job);
            }
            let known = self.column.get_or_insert_default();
            if step != known && step != "UNKNOWN STEP" {
                step.clone_into(known);
                self.step(step, None, time);
            }
        }
        let is_noise = marks.contains(&Mark::Noise);
        for mark in marks {
            self.mark(mark, number, time);
        }
        self.current.ended_at = time.or(self.current.ended_at);
        if is_noise || text.trim_start().starts_with("##[") {
            return;
        }
        self.text(number, &text);
    }

    /// Reads what a command printed.
    fn text(&mut self, number: usize, text: &str) {
        self.is_cut |= text.starts_with("Job's log exceeded limit of");
        let is_usual = self.baseline.has(text);
        let bare = without_layer(text);
        if !self.lanes.line(number, bare, is_usual) {
            self.scanner.line(number, bare, is_usual);
        }
        if !is_usual && !text.trim().is_empty() {
            let is_full = self.current.tail.len() == TAIL_LINES;
            let mut kept = if is_full { self.current.tail.pop_front() } else { None }.unwrap_or_default();
            kept.clear();
            kept.push_str(&text[..super::cut::floor(text, MAX_TAIL_LINE)]);
            self.current.tail.push_back(kept);
        }
    }

    fn mark(&mut self, mark: Mark, number: usize, time: Option<Timestamp>) {
        match mark {
            // `gh run view --log` names the steps itself.
            Mark::Step(_, command) if self.column.as_ref().is_some_and(|step| !step.is_empty()) => {
                self.current.command = self.current.command.take().or(command);
            }
            Mark::Step(name, command) => self.step(&name, command, time),
            Mark::Command(command) => {
                let (group, name) = (self.current.group, self.current.name.clone());
                self.end_step();
                self.current = JobStep {
                    name,
                    command: Some(command),
                    group,
                    started_at: time,
                    is_cleanup: self.decided,
                    ..JobStep::default()
                };
            }
            Mark::StepEnd => {
                let group = self.current.group;
                self.end_step();
                self.current = JobStep { group, is_cleanup: self.decided, ..JobStep::default() };
            }
            Mark::Exit(code) => {
                if matches!(self.system, CiSystem::Gitlab | CiSystem::Jenkins) {
                    self.job_exit = Some(code);
                } else {
                    self.current.exit = Some(code);
                }
            }
            Mark::Error(text) => {
                if matches!(self.system, CiSystem::Gitlab | CiSystem::Jenkins) {
                    self.job_errors.push(text);
                } else {
                    self.text(number, &text);
                    self.current.errors.push(text);
                }
            }
            // `gh run view --log` names the jobs itself.
            Mark::JobStart | Mark::JobName(_) if self.column.is_some() => {}
            Mark::JobStart => self.next_job(""),
            Mark::JobName(name) => {
                if let Some(own) = self.jobs.last_mut() {
                    *own = name;
                }
            }
            Mark::Decided => self.decided = true,
            Mark::Over(outcome) => self.outcome = Some(outcome),
            Mark::Noise => {}
        }
    }

    fn step(&mut self, name: &str, command: Option<String>, time: Option<Timestamp>) {
        // A stage and the command in it are the same step.
        let name = if name.is_empty() { self.current.name.clone() } else { name.to_owned() };
        self.end_step();
        if self.system == CiSystem::Jenkins
            && let Some(branch) = name.strip_prefix("Branch: ")
        {
            self.lanes.add_branch(branch);
        }
        self.groups += 1;
        self.current =
            JobStep { name, command, group: self.groups, started_at: time, is_cleanup: self.decided, ..JobStep::default() };
    }

    /// Begins the next job, or names the only one.
    fn next_job(&mut self, name: &str) {
        self.end_step();
        // The first lines are those of the system that waits for a runner.
        if self.steps.iter().any(|step| step.job + 1 == self.jobs.len() && !step.name.is_empty()) {
            self.is_undecided |= !self.decided;
            self.jobs.push(name.to_owned());
        } else if let Some(own) = self.jobs.last_mut().filter(|_| !name.is_empty()) {
            name.clone_into(own);
        }
        self.decided = false;
        self.column = None;
    }

    fn end_step(&mut self) {
        let mut step = std::mem::take(&mut self.current);
        step.job = self.jobs.len().saturating_sub(1);
        step.scanned = std::mem::take(&mut self.scanner).finish();
        // Jenkins runs the steps of branches at once.
        if self.system != CiSystem::Jenkins {
            self.lanes.finish(&mut step.scanned);
        }
        step.is_preparation = self.system == CiSystem::Gitlab && !matches!(step.name.as_str(), "step_script" | "build_script");
        // What a step that passed printed is not a failure.
        let went_well =
            matches!(self.system, CiSystem::Github | CiSystem::Azure) && step.exit.is_none() && step.errors.is_empty();
        if went_well {
            step.scanned.findings.clear();
        }
        if !step.tail.is_empty() || !step.errors.is_empty() || step.exit.is_some() {
            if self.steps.len() == MAX_STEPS {
                let passed = self.steps.iter().position(|step| step.exit.is_none() && step.errors.is_empty());
                self.steps.remove(passed.unwrap_or(0));
            }
            self.steps.push(step);
        }
    }
}

/// A line of a build of an image without its prefix: `#12 3.456 npm error`.
fn without_layer(text: &str) -> &str {
    let Some(rest) = text.strip_prefix('#') else { return text };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let Some(rest) = rest.strip_prefix(' ') else { return text };
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    match after.strip_prefix(' ') {
        Some(line) if after.len() < rest.len() => line,
        _ if rest.starts_with("ERROR") => rest,
        _ => text,
    }
}
