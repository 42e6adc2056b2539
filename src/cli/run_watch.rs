//! `run --watch`: applies edits of the texts during a run.

use super::run_view::LiveView;
use super::{GlobalArgs, ProjectArgs};
use crate::config::PROJECT_FILE;
use crate::exit::Exit;
use asterisk_files::{DEBOUNCE, FileError, project_root};
use asterisk_project::{AnswererNames, CurrentProject, Project};
use asterisk_session::reload::{LoadProject, ReloadFollower, ReloadListener};
use asterisk_session::{RunResult, Session, SessionError};
use asterisk_walk::TextChange;
use std::path::PathBuf;
use std::thread;

/// The location of a run's sources: the settings are resolved again each time, as the project file may be edited too.
pub(super) struct WatchedTexts {
    pub(super) global: GlobalArgs,
    pub(super) project: ProjectArgs,
    pub(super) out: Option<PathBuf>,
    pub(super) pipeline: Option<String>,
    pub(super) answers: AnswererNames,
    pub(super) resume: Option<String>,
    pub(super) masks: Vec<PathBuf>,
    pub(super) team: Option<String>,
}

impl WatchedTexts {
    /// A session with the current settings, the pipeline, and its answerers.
    fn session(&self) -> Result<(Session, Option<String>, AnswererNames), SessionError> {
        let session =
            self.global.session(&self.project, self.out.clone())?.with_masks(&self.masks).with_team(self.team.as_deref());
        match &self.resume {
            None => Ok((session, self.pipeline.clone(), self.answers)),
            Some(run) => {
                let origin = session.origin(run)?;
                Ok((origin.session, Some(origin.pipeline), origin.answers))
            }
        }
    }
}

impl LoadProject for WatchedTexts {
    type Error = SessionError;

    fn load(&self, before: Option<&Project>) -> Result<Project, SessionError> {
        let (session, pipeline, answers) = self.session()?;
        session.project_after(pipeline.as_deref(), answers, before)
    }

    fn is_fixable(&self, error: &SessionError) -> bool {
        matches!(error, SessionError::File(FileError::NoDirectory { .. })) || Exit::from(error) == Exit::Texts
    }

    fn paths(&self) -> Vec<PathBuf> {
        let mut paths = vec![project_root(self.global.environment.directory()).join(PROJECT_FILE)];
        if let Ok((session, pipeline, _)) = self.session() {
            paths.extend(session.text_paths(pipeline.as_deref()));
        }
        paths
    }
}

/// Runs while the sources are watched; with `pin`, only until they compile.
pub(super) fn run_watched(
    texts: WatchedTexts,
    pin: bool,
    live: &LiveView,
    run: impl FnOnce(&CurrentProject) -> Result<RunResult, SessionError>,
) -> Result<RunResult, SessionError> {
    let mut follower = ReloadFollower::new(texts, DEBOUNCE)?;
    // Nothing stops it earlier: an interrupt ends the process, as no step is in progress.
    let Some(first) = follower.first(live)? else { return Err(SessionError::Journal(interrupted())) };
    let current = CurrentProject::new(first);
    if pin {
        return run(&current);
    }
    let stopper = follower.stopper();
    thread::scope(|scope| {
        scope.spawn(|| follower.follow(&current, live));
        let result = run(&current);
        stopper.stop();
        result
    })
}

fn interrupted() -> asterisk_walk::JournalError {
    asterisk_walk::JournalError::Failed("edits are no longer watched".into())
}

impl ReloadListener<SessionError> for LiveView {
    fn broken(&self, error: &SessionError, last: bool) {
        self.with_bar_hidden(|ui| {
            ui.failure(error, "run");
            ui.note(if last {
                "reload: rejected; the last valid version stays in use"
            } else {
                "watching: the run starts when this is fixed (Ctrl-C ends it)"
            });
        });
    }

    fn loaded(&self, _project: &Project, changed: &[TextChange]) {
        let names: Vec<&str> = changed.iter().map(|change| change.what.as_str()).collect();
        self.with_bar_hidden(|ui| match names.as_slice() {
            [] => ui.note("reload: fixed"),
            names => ui.note(&format!("reload: {}; each case uses it from its next step on", names.join(", "))),
        });
    }
}
