//! Runs for the tests of this module.
#![allow(clippy::unwrap_used)]

use crate::clock::{FixedClock, Timestamp};
use crate::diag::Source;
use crate::session::{KEEP, RunInputs, RunResult, RunSpec, Session, Setup, Via};
use serde_json::{Map, json};
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
        let setup = Setup {
            root: dir.path().to_owned(),
            store: dir.path().join("store.db"),
            out: dir.path().join("out"),
            scripts: below("scripts"),
            pipelines: below("pipelines"),
            templates: None,
            vars: Map::new(),
            set_places: std::collections::BTreeMap::new(),
            project_vars: std::collections::BTreeMap::new(),
            workspace: json!({"repositories": []}),
            domain: None,
            masks: Vec::new(),
            team: None,
            agents: std::collections::BTreeMap::new(),
            reportportal: crate::reportportal::PortalSettings::default(),
            servers: std::collections::BTreeMap::new(),
            script_time: Some(Duration::from_secs(60)),
            keep: KEEP,
            job_url: None,
            environment: crate::environment::Environment::default(),
            clock: Arc::new(FixedClock::new(Timestamp::from_millis(1_700_000_000_000), 7)),
            audit: crate::session::AuditSettings { log: dir.path().join("audit.jsonl"), rules: None },
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
            pipeline: pipeline.map(str::to_owned),
            via: if stub.is_some() { Via::stub() } else { Via::default() },
            stub: stub.map(|text| Source::new("answers.json", text)),
            parallel: 2,
            ..RunSpec::of(inputs)
        };
        self.session.run(&spec, &(), &AtomicBool::new(false)).unwrap()
    }
}
