//! The one API for front ends and tools: link a project, run it over a launch, resume, decide one step, call one function.

mod case_texts;
mod clean;
mod crew;
mod doctor;
mod error;
mod finding;
mod generations;
mod input;
mod knowledge;
mod lighten;
mod load;
mod migrate;
mod needs;
mod outcome;
mod overlaid;
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
mod work;

pub use clean::CleanResult;
pub use doctor::{Checkup, State};
pub use error::SessionError;
pub use generations::Reloaded;
pub use knowledge::SymptomsAsked;
pub use load::DEFAULT_PIPELINE;
pub use outcome::{CaseResult, CaseSummary, Cases, ErrorSummary, RunResult, RunSummary};
pub use overlaid::ProjectFile;
pub use prompt::{Prompt, PromptAsked};
pub use recorded::{Record, Texts};
pub use resume::{Origin, ResumeSpec};
pub use route::{RouteState, RouteVisit, Routed};
pub use run::{Begun, Inputs, RunSpec, Watch};
pub use setup::{Files, KEEP, Setup, Via};
pub use shadow::Shadowed;
pub use tests_of::{TestFile, TestTexts};
pub use texts::Text;
pub use work::in_order;

/// A session: where things are, what time it is, and everything that can be done with them.
#[derive(Clone)]
pub struct Session {
    setup: Setup,
}

impl Session {
    /// A session with this setup.
    pub fn new(setup: Setup) -> Self {
        Self { setup }
    }

    /// Where things are.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }
}
