//! A session over a run: every step of every case can be gone to, looked at by any expression, and decided again.
//!
//! | file | what |
//! |---|---|
//! | `place`, `scope` | the run, case and step; the artifact, state and vars there, and evaluating in their midst |
//! | `command`, `state` | the commands, and what each does |
//! | `bind` | names that live as long as the session |
//! | `why`, `flip`, `diff`, `graph`, `show` | what they say |
//! | `signatures` | which signatures a line matches |
//! | `tryout`, `data`, `follow` | other vars, scripts and inputs; a walk that goes on |
//! | `lex`, `words`, `complete` | colours, brackets, and what could be typed |
//! | `assist`, `interrupt` | reading from a terminal or a pipe, and ending |

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
use crate::session::{Session, SessionError};
use crate::ui::Ui;
use interrupt::Interrupt;
use place::ReplPosition;
use state::ReplState;
use std::path::PathBuf;

/// What a session is begun with.
#[derive(Clone, Debug, Default)]
pub struct ReplSpec {
    /// The pipeline, without a run.
    pub pipeline: Option<String>,
    /// The run to look at.
    pub run: Option<String>,
    /// The case to begin at.
    pub case: Option<String>,
    /// Whether the first error ends a session that is not typed.
    pub strict: bool,
    /// Where what is typed is remembered.
    pub history: Option<PathBuf>,
}

/// Holds a session until it is ended.
pub fn hold(ui: Ui, session: Session, spec: ReplSpec) -> Result<Exit, SessionError> {
    let place = match &spec.run {
        Some(run) => ReplPosition::of_run(session, run, spec.case.as_deref())?,
        None => ReplPosition::scratch(session, spec.pipeline)?,
    };
    let greeting = match &place.walked {
        Some(walked) => format!("run {}, {} cases; :help lists the commands", walked.run, place.cases()?.len()),
        None => "no run (--run looks at one); :load takes an artifact, :help lists the commands".to_owned(),
    };
    let desk = ReplState { ui, place, interrupt: Interrupt::installed() };
    if ui.is_typed_to() {
        ui.note(&greeting);
        desk.at_terminal(spec.history)
    } else {
        desk.piped(std::io::stdin().lock(), spec.strict)
    }
}
