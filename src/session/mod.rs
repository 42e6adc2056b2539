//! The one API for front ends and tools: link a project, run it over a launch, resume, decide one step, call one function.

mod answer_file;
mod answers;
mod briefing;
mod case_texts;
mod clean;
mod crew;
mod dispatch;
mod doctor;
mod error;
mod finding;
mod generations;
mod handed;
mod handed_batch;
mod hands;
mod input;
mod knowledge;
mod lighten;
mod load;
mod migrate;
mod needs;
mod outcome;
mod overlaid;
mod portal;
mod projection;
mod prompt;
mod recorded;
mod resume;
mod rounds;
mod route;
mod run;
mod runs;
mod setup;
mod shadow;
mod tests_of;
mod texts;
mod tray;
mod work;

use crate::agent::Queue;
use crate::net::ReadSecret;
pub use clean::CleanResult;
pub use doctor::{Checkup, State};
pub use error::SessionError;
pub use generations::Reloaded;
pub use handed::{HandIn, Handed, HandedOut, Verdict};
pub use handed_batch::HandedBatch;
pub use hands::Hands;
pub use knowledge::SymptomsAsked;
pub use load::DEFAULT_PIPELINE;
pub use outcome::{CaseResult, CaseSummary, Cases, ErrorSummary, RunResult, RunSummary, Waits};
pub use overlaid::ProjectFile;
pub use portal::{Pushed, Remark};
pub use prompt::{Prompt, PromptAsked};
pub use recorded::{Record, Texts};
pub use resume::{Origin, ResumeSpec};
pub use route::{RouteState, RouteVisit, Routed};
pub use run::{Begun, Inputs, RunSpec, Watch};
pub use setup::{Files, KEEP, Setup, Via};
pub use shadow::Shadowed;
use std::path::PathBuf;
use std::sync::Arc;
pub use tests_of::{TestFile, TestTexts};
pub use texts::Text;

/// Reads a secret in a file, which its owner alone may read.
const SECRETS: ReadSecret = |path| crate::files::read_secret(path).map_err(|error| error.to_string());

/// A session: where things are, what time it is, and everything that can be done with them.
#[derive(Clone)]
pub struct Session {
    setup: Setup,
    queue: Option<Arc<Queue>>,
}

impl Session {
    /// A session with this setup.
    pub fn new(setup: Setup) -> Self {
        Self { setup, queue: None }
    }

    /// The same with these masks, by path, on all nodes that they are for. One that is named as a file below the directory of scripts is
    /// known by its path there.
    #[must_use]
    pub fn with_masks(mut self, masks: &[PathBuf]) -> Self {
        let scripts = self.setup.scripts.clone();
        let below = |mask: &PathBuf| {
            let inside = scripts
                .as_ref()
                .and_then(|dir| mask.canonicalize().ok()?.strip_prefix(dir.canonicalize().ok()?).ok().map(PathBuf::from));
            inside.as_ref().unwrap_or(mask).to_string_lossy().into_owned()
        };
        self.setup.masks = masks.iter().map(below).collect();
        self
    }

    /// The same with this team, by name, in the place of that of the pipeline.
    #[must_use]
    pub fn with_team(mut self, team: Option<&str>) -> Self {
        self.setup.team = team.map(str::to_owned);
        self
    }

    /// The same with a queue that workers pull the steps of a run from.
    #[must_use]
    pub fn with_queue(mut self, queue: Arc<Queue>) -> Self {
        self.queue = Some(queue);
        self
    }

    /// Where things are.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }
}
