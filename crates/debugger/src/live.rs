//! Debugging a launch that was not investigated yet: it is walked into a store of its own, and that record is debugged.

use crate::fault::{DebugFault, fault};
use crate::protocol::LaunchArguments;
use asterisk_session::{LaunchFiles, RunInputs, RunSpec, Session};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// The name of the bundled launch.
const EXAMPLE: &str = "example";
/// The name of one empty case.
const NONE: &str = "none";

/// A run in a store of its own, which is removed with it.
pub(crate) struct LiveRun {
    pub(crate) session: Session,
    pub(crate) run: String,
    pub(crate) dir: TempDir,
}

/// Walks a launch, answered by scripts only: no agent is called.
pub(crate) fn walk(session: &Session, launched: &LaunchArguments, input: &[String]) -> Result<LiveRun, DebugFault> {
    let cannot = |error: std::io::Error| fault(format!("cannot create a temporary store: {error}"));
    let dir = tempfile::Builder::new().prefix("asterisk-dap-").tempdir().map_err(cannot)?;
    let mut setup = session.setup().clone();
    let root = setup.root.clone();
    (setup.store, setup.out) = (dir.path().join("store.db").into(), dir.path().join("runs"));
    let session = Session::new(setup);
    let inputs = match input {
        [only] if only == EXAMPLE => RunInputs::Example,
        [only] if only == NONE => RunInputs::None,
        paths => RunInputs::Files(LaunchFiles::of(&paths.iter().map(|path| root.join(path)).collect::<Vec<PathBuf>>())),
    };
    let mut spec = RunSpec::of(inputs);
    spec.settings.pipeline.clone_from(&launched.pipeline);
    spec.cases.extend(launched.case.as_ref().map(ToString::to_string));
    let result = session.run(&spec, &(), &AtomicBool::new(false))?;
    Ok(LiveRun { session, run: result.run, dir })
}
