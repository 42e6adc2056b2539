//! What came of a run.

use crate::clock::Timestamp;
use crate::diag::Diagnostic;
use crate::model::{Case, Launch};
use crate::pipeline::Pipeline;
use crate::walk::{Failure, Plan, Status, WalkState};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A run that ended, paused or failed, with the final state of every case.
#[derive(Debug)]
pub struct RunResult {
    /// Its id.
    pub run: String,
    /// What it went by.
    pub plan: Arc<Plan>,
    /// The launch.
    pub launch: Launch,
    /// When it began.
    pub started_at: Timestamp,
    /// How it ended: `error` if any case failed, `paused` if any is not over.
    pub status: Status,
    /// The cases, in the order of the launch.
    pub cases: Vec<CaseResult>,
    /// Whether it is in the store (a dry run is not).
    pub recorded: bool,
    /// The report that was written, if one was.
    pub report: Option<PathBuf>,
}

/// One case of a run.
#[derive(Debug)]
pub struct CaseResult {
    /// The case.
    pub case: Case,
    /// Where its walk ended.
    pub state: WalkState,
    /// Why its walk failed, if it failed in this process; what is known otherwise is in the state.
    pub failure: Option<Failure>,
    /// Its status in the store.
    pub case_status: Option<String>,
    /// What the pipeline's summary script says of it.
    pub finding: Option<Value>,
    /// Why the summary script said nothing.
    pub trouble: Option<Box<Diagnostic>>,
}

impl RunResult {
    /// The graph.
    pub fn pipeline(&self) -> &Pipeline {
        &self.plan.pipeline
    }

    /// The shape that other tools rely on (`design.md` §6).
    pub fn summary(&self) -> RunSummary {
        RunSummary {
            schema_version: 1,
            run: self.run.clone(),
            pipeline: self.pipeline().name.value.clone(),
            domain: self.plan.domain.clone(),
            status: self.status,
            cases: self.cases.iter().map(CaseResult::summary).collect(),
            report: self.report.as_ref().map(|path| path.display().to_string()),
        }
    }
}

impl CaseResult {
    /// Why its walk failed.
    pub fn error(&self) -> Option<ErrorSummary> {
        let (kind, message) = self.state.error.clone()?;
        let node = self.state.node.as_deref().unwrap_or("").to_owned();
        Some(ErrorSummary { kind, node, message })
    }

    fn summary(&self) -> CaseSummary {
        let state = &self.state;
        CaseSummary {
            case: self.case.id.clone(),
            status: state.status,
            case_status: self.case_status.clone(),
            nodes: state.path.iter().map(ToString::to_string).collect(),
            edges: state.history.iter().map(|visit| visit.edge.to_string()).collect(),
            loops: state.loops.clone(),
            context: state.context.clone(),
            error: self.error(),
        }
    }
}

/// A run for programs.
#[derive(Clone, Debug, Serialize)]
pub struct RunSummary {
    /// The version of this shape.
    pub schema_version: u32,
    /// The run's id.
    pub run: String,
    /// The pipeline's name.
    pub pipeline: String,
    /// The name of the vocabulary; null without one.
    pub domain: Option<String>,
    /// How it ended.
    pub status: Status,
    /// The cases, in the order of the launch.
    pub cases: Vec<CaseSummary>,
    /// The path of `report.md`; null when none was written.
    pub report: Option<String>,
}

/// A case for programs.
#[derive(Clone, Debug, Serialize)]
pub struct CaseSummary {
    /// Its id.
    pub case: String,
    /// How its walk ended.
    pub status: Status,
    /// Its status in the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case_status: Option<String>,
    /// The nodes entered.
    pub nodes: Vec<String>,
    /// The edges taken.
    pub edges: Vec<String>,
    /// The counters taken.
    pub loops: BTreeMap<String, i64>,
    /// What edges added.
    pub context: Map<String, Value>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorSummary>,
}

/// A failure for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorSummary {
    /// The kind (`no_edge`, `rule_error`, ...).
    pub kind: String,
    /// The node it happened at.
    pub node: String,
    /// What is wrong.
    pub message: String,
}
