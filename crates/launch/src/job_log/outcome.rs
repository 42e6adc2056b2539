//! Which steps of a job failed, and whether the job did.

use super::super::launch_builder::LaunchBuilder;
use super::super::{InputPart, attributes};
use super::scan::Scanner;
use super::system::JobOutcome;
use super::{JOB, JobLogReader, JobStep, select, tool};
use asterisk_base::model::CiSystem;
use asterisk_diag::counted;

impl JobLogReader {
    /// The launch of the log.
    pub(super) fn finish(mut self, input: &str, mut builder: LaunchBuilder) -> InputPart {
        builder.part.only_failures = true;
        builder.part.is_job_log = true;
        builder.set("ci", (self.system != CiSystem::Plain).then(|| self.system.name()));
        builder.span(self.span.0, self.span.1);
        if self.is_cut {
            builder.cut_off("the log is cut off: it exceeded the limit of the CI system".to_owned());
        }
        let deciding = self.deciding_step();
        if let Some(step) = deciding.or(self.steps.len().checked_sub(1)).and_then(|index| self.steps.get_mut(index)) {
            self.lanes.finish(&mut step.scanned);
        }
        if let Some(index) = deciding {
            self.steps[index].exit = self.job_exit;
            let errors = std::mem::take(&mut self.job_errors);
            let mut scanner = Scanner::default();
            for error in &errors {
                scanner.line(0, error, false);
            }
            self.steps[index].scanned.findings.extend(scanner.finish().findings);
            self.steps[index].errors.extend(errors);
        }
        let mut steps = std::mem::take(&mut self.steps);
        for job in 0..self.jobs.len() {
            self.steps = steps.extract_if(.., |step| step.job == job).collect();
            self.finish_job(job, &mut builder);
        }
        self.verdict(&mut builder);
        builder.finish(input)
    }

    /// Adds the failures of a job, whose steps are those in `steps`.
    fn finish_job(&mut self, job: usize, builder: &mut LaunchBuilder) {
        let name = self.jobs[job].clone();
        let of_job = if self.jobs.len() > 1 && !name.is_empty() { format!(" of job `{name}`") } else { String::new() };
        let failed = self.failed_steps();
        let steps = self.steps.iter().map(|step| step.group).collect::<std::collections::BTreeSet<_>>().len();
        for index in &failed {
            let step = &self.steps[*index];
            let took = step
                .started_at
                .zip(step.ended_at)
                .map_or(String::new(), |(from, to)| format!(" after {:.0} s", to.seconds_since(from).max(0.0)));
            let exit = step.exit.map_or(String::new(), |code| format!(", exit code {code}"));
            if self.system != CiSystem::Plain {
                builder.launch().notes.push(format!(
                    "step `{}`{of_job} failed{took}{exit}; {} in the log",
                    step.title(),
                    counted(steps, "step", "steps")
                ));
            }
        }
        self.add_conditions(&failed);
        let whole_group: Vec<usize> = failed.iter().flat_map(|index| self.with_siblings(*index)).collect();
        let failing: Vec<&JobStep> = whole_group.iter().map(|index| &self.steps[*index]).collect();
        let known = builder.launch().cases.len();
        select::add_cases(builder, &failing, self.system);
        for case in &mut builder.launch().cases[known..] {
            attributes::add(&mut case.attributes, JOB, &name);
        }
    }

    /// The step that decided the outcome, if the system names only the job.
    fn deciding_step(&self) -> Option<usize> {
        if self.job_exit.is_none() && self.job_errors.is_empty() {
            return None;
        }
        let before = |step: &&JobStep| !step.is_cleanup;
        let last = self.steps.iter().rposition(|step| before(&step) && !step.is_preparation && step.command.is_some());
        last.or_else(|| self.steps.iter().rposition(|step| before(&step))).or(self.steps.len().checked_sub(1))
    }

    /// The steps that failed. Without a mark, that is the whole log.
    fn failed_steps(&self) -> Vec<usize> {
        let all = 0..self.steps.len();
        if self.outcome == Some(JobOutcome::Passed) {
            return Vec::new();
        }
        let has_failed = |index: &usize| self.steps[*index].exit.is_some() || !self.steps[*index].errors.is_empty();
        let mut failed: Vec<usize> = all.clone().filter(|index| has_failed(index) && !self.steps[*index].is_cleanup).collect();
        if failed.is_empty() {
            failed = all.clone().filter(has_failed).collect();
        }
        let is_unmarked = matches!(self.system, CiSystem::Plain) || self.outcome == Some(JobOutcome::Failed);
        if failed.is_empty() && !is_unmarked {
            // The steps of a job that was cancelled or lost are unknown.
            let is_ended = |index: &usize| self.steps[*index].scanned.findings.iter().any(|finding| finding.kind.is_outside());
            return all.filter(is_ended).collect();
        }
        if failed.is_empty() { all.collect() } else { failed }
    }

    /// Adds what ended the job from outside, wherever it was reported, and what failed when the outcome seemed decided, to the
    /// step that failed.
    fn add_conditions(&mut self, failed: &[usize]) {
        let Some(last) = failed.last().copied() else { return };
        let is_silent = failed.iter().all(|index| self.steps[*index].scanned.findings.is_empty());
        let mut more = Vec::new();
        for (index, step) in self.steps.iter_mut().enumerate().filter(|(index, _)| !failed.contains(index)) {
            let is_later = index > last;
            let belongs = |finding: &mut tool::Finding| {
                finding.kind.is_outside() && is_later
                    || is_silent && step.is_cleanup && finding.kind == tool::ProblemKind::Artifact
            };
            more.extend(step.scanned.findings.extract_if(.., belongs));
        }
        self.steps[last].scanned.findings.extend(more);
    }

    /// A command that failed without saying why, such as `exit $code`: with the commands before it in its step.
    fn with_siblings(&self, index: usize) -> Vec<usize> {
        let step = &self.steps[index];
        if !step.scanned.findings.is_empty() || step.command.is_none() {
            return vec![index];
        }
        (0..=index)
            .filter(|other| {
                self.steps[*other].group == step.group && (*other == index || !self.steps[*other].scanned.findings.is_empty())
            })
            .collect()
    }

    /// Notes the outcome of a job without cases, as far as known.
    fn verdict(&self, builder: &mut LaunchBuilder) {
        let launch = builder.launch();
        if !launch.cases.is_empty() {
            launch.status = Some("FAILED".to_owned());
            return;
        }
        // GitHub ends a log with the removal of processes, whatever the outcome; an error would have been found.
        let is_complete = self.system == CiSystem::Github && self.decided && !self.is_undecided;
        if self.outcome == Some(JobOutcome::Passed) || is_complete {
            launch.status = Some("PASSED".to_owned());
            launch.notes.push("the log shows that the job passed".to_owned());
        } else {
            launch.gap("the log does not show whether the job passed".to_owned());
        }
    }
}
