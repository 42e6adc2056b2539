//! Follows a walk executed by another process.

use super::place::{OpenedCase, no_run};
use super::state::{CommandDone, ReplFlow, ReplState};
use asterisk_session::SessionError;
use asterisk_store::RunStatus;
use std::time::Duration;

/// The polling interval.
const EVERY: Duration = Duration::from_millis(100);

impl ReplState {
    /// Prints steps as another process commits them.
    pub(super) fn follow(&mut self) -> CommandDone {
        self.place.walked.as_ref().ok_or_else(no_run)?;
        let mut printed = self.place.walked.as_ref().map_or(0, |walked| walked.steps.len());
        let interrupt = self.interrupt.clone();
        let mut status = RunStatus::Running;
        let finished = interrupt.wait(EVERY, || -> Result<bool, SessionError> {
            // Read the status first: a finished case has all its steps.
            if let Some(walked) = &self.place.walked {
                status = status_of(walked)?;
            }
            self.place.refresh()?;
            let count = self.place.walked.as_ref().map_or(0, |walked| walked.steps.len());
            let open = self.place.walked.as_ref().and_then(|walked| walked.steps.last());
            // A step in progress is printed when it is complete.
            let complete = match open {
                Some(step) if step.end == asterisk_decisions::StepEnd::Open => count - 1,
                _ => count,
            };
            for number in printed.min(complete)..complete {
                if let Some(walked) = &mut self.place.walked {
                    walked.at = number;
                }
                self.print(&self.line(number))?;
            }
            printed = printed.max(complete);
            Ok(matches!(status, RunStatus::Waiting | RunStatus::Running))
        })?;
        if !finished {
            return Ok(ReplFlow::Interrupted);
        }
        self.place.artifact = None;
        self.place.state = None;
        self.print(&format!("the case is {status}"))
    }
}

fn status_of(walked: &OpenedCase) -> Result<RunStatus, SessionError> {
    let store = walked.decisions.record().store();
    let found = store.cases(&walked.run)?.into_iter().find(|case| case.case.id == walked.case);
    let of_case = found.map_or(RunStatus::Error, |case| case.status);
    // In a run that was abandoned, no case continues.
    let of_run = store.run(&walked.run)?.status;
    let goes_on = matches!(of_case, RunStatus::Waiting | RunStatus::Running);
    Ok(if goes_on && of_run != RunStatus::Running { of_run } else { of_case })
}
