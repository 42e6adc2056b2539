//! Runs for the tests of this module.
#![allow(clippy::unwrap_used)]

use asterisk_base::clock::{FixedClock, Timestamp};
use asterisk_diag::Source;
use asterisk_session::{AuditSettings, RunInputs, RunResult, RunSettings, RunSpec, Session, Setup, TextSettings, Via};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A directory with a store, and a session over it.
pub(super) struct TraceFixture {
    _dir: tempfile::TempDir,
    pub(super) session: Session,
}

impl TraceFixture {
    /// A project with these files: scripts below `scripts/`, pipelines below `pipelines/`.
    pub(super) fn with(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let below = |name: &str| Some(dir.path().join(name)).filter(|path| path.is_dir());
        let clock = Arc::new(FixedClock::new(Timestamp::from_millis(1_700_000_000_000), 7));
        let setup = Setup {
            pipelines: below("pipelines"),
            texts: TextSettings { scripts: below("scripts"), ..TextSettings::default() },
            script_time: Some(Duration::from_secs(60)),
            audit: AuditSettings { log: dir.path().join("audit.jsonl"), rules: None },
            ..Setup::bare(dir.path().to_owned(), clock)
        };
        Self { session: Session::new(setup), _dir: dir }
    }

    /// Runs the bundled pipeline over the bundled launch.
    pub(super) fn run_example(&self) -> RunResult {
        self.run(None, RunInputs::Example, None)
    }

    /// Runs a pipeline over one empty case, with canned answers.
    pub(super) fn run_stub(&self, pipeline: &str, answers: &str) -> RunResult {
        self.run(Some(pipeline), RunInputs::None, Some(answers))
    }

    fn run(&self, pipeline: Option<&str>, inputs: RunInputs, stub: Option<&str>) -> RunResult {
        let spec = RunSpec {
            settings: RunSettings {
                pipeline: pipeline.map(str::to_owned),
                via: if stub.is_some() { Via::stub() } else { Via::default() },
                ..RunSettings::default()
            },
            stub: stub.map(|text| Source::new("answers.json", text)),
            parallel: 2,
            ..RunSpec::of(inputs)
        };
        self.session.run(&spec, &(), &AtomicBool::new(false)).unwrap()
    }
}
