//! An interactive session on a run: any step of any case can be visited, inspected with expressions, and decided again.
//!
//! | file | what |
//! |---|---|
//! | `place`, `scope` | the run, case and step; the artifact, state and vars there, and evaluation with them |
//! | `command`, `state` | the commands and their execution |
//! | `bind` | names bound for the session |
//! | `why`, `flip`, `diff`, `graph`, `show` | their output |
//! | `signatures` | which signatures a line matches |
//! | `tryout`, `data`, `follow` | other vars, scripts and inputs; a walk in progress |
//! | `lex`, `words`, `complete` | colours, brackets and completion |
//! | `assist`, `interrupt` | reading from a terminal or a pipe, and interrupts |

mod assist;
mod bind;
mod command;
mod complete;
mod data;
mod diff;
mod flip;
mod follow;
mod graph;
mod interrupt;
mod lex;
mod place;
mod scope;
mod show;
mod signatures;
mod state;
mod tryout;
mod why;
mod words;

use crate::exit::Exit;
use crate::ui::Ui;
use asterisk_session::{Session, SessionError};
use interrupt::Interrupt;
use place::ReplPosition;
use state::ReplState;
use std::path::PathBuf;

/// The options of a session.
#[derive(Clone, Debug, Default)]
pub struct ReplSpec {
    /// The pipeline, without a run.
    pub pipeline: Option<String>,
    /// The run to explore.
    pub run: Option<String>,
    /// The first case.
    pub case: Option<String>,
    /// Whether the first error ends a session with piped input.
    pub strict: bool,
    /// The history file.
    pub history: Option<PathBuf>,
}

/// Runs a session until it ends.
pub fn run(ui: &Ui, session: Session, spec: ReplSpec) -> Result<Exit, SessionError> {
    let place = match &spec.run {
        Some(run) => ReplPosition::of_run(session, run, spec.case.as_deref())?,
        None => ReplPosition::scratch(session, spec.pipeline)?,
    };
    let greeting = match &place.walked {
        Some(walked) => format!("run {}, {} cases; :help lists the commands", walked.run, place.cases()?.len()),
        None => "no run (--run opens one); :load sets an artifact, :help lists the commands".to_owned(),
    };
    let state = ReplState { ui: ui.clone(), place, interrupt: Interrupt::install(ui.environment()) };
    if ui.is_interactive() {
        ui.note(&greeting);
        state.at_terminal(spec.history)
    } else {
        state.piped(&mut *ui.environment().input().lock(), spec.strict)
    }
}
