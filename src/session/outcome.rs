//! What came of a run.

use super::finding::{self, DAMAGED};
use super::work::{CaseReader, StoredCaseBrief};
use super::worker_pool::WorkerPool;
use super::{SessionError, ShadowSummary};
use crate::agent::{BudgetStatus, TokenBudget};
use crate::clock::Timestamp;
use crate::diag::Diagnostic;
use crate::model::{Case, Launch};
use crate::pipeline::Pipeline;
use crate::store::Store;
use crate::walk::{Failure, Name, Plan, TokenUsage, WalkState, WalkStatus};
use serde::ser::{Error as _, SerializeSeq as _};
use serde::{Deserialize, Serialize, Serializer};
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
    /// The launch; the cases of one too large to be kept in memory without their logs and attributes.
    pub launch: Launch,
    /// When it began.
    pub started_at: Timestamp,
    /// How it ended: `error` if any case failed, `paused` if any is not over.
    pub status: WalkStatus,
    /// The cases, in the order of the launch.
    pub cases: RunCases,
    /// Why walks failed in this process, by case, in the order of the launch.
    pub failures: Vec<(Name, Failure)>,
    /// Whether it is in the store (a dry run is not).
    pub recorded: bool,
    /// The report that was written, if one was.
    pub report: Option<PathBuf>,
    /// What candidate rules would have decided, if the run has a shadow.
    pub shadow: Option<ShadowSummary>,
    /// What the answers took that came from outside of the process.
    pub tokens: TokenUsage,
    /// What could not be written of cases: prompts that their templates do not make, files whose content is damaged in the store. Under
    /// [`RunResult::WHOLE`], what of the run itself.
    pub notes: BTreeMap<Name, Vec<Diagnostic>>,
    /// The cases that wait for an answer, with who is asked.
    pub waits: Vec<(Name, Name)>,
    /// How much of its budget is left, and whether somebody was not asked because it was spent.
    pub budget: Option<(BudgetStatus, bool)>,
}

/// The cases of a run: in memory, or of a large run read again from its journal. See [`RunResult::each`].
#[derive(Debug)]
pub struct RunCases {
    pub(super) kept: Vec<CaseResult>,
    pub(super) stored: Option<StoredCases>,
}

/// Cases that are read from the journal.
#[derive(Debug)]
pub(super) struct StoredCases {
    pub(super) store: Store,
    pub(super) cases: Vec<StoredCaseBrief>,
    /// The threads that read them.
    pub(super) pool: WorkerPool,
}

impl RunCases {
    /// How many they are.
    pub fn len(&self) -> usize {
        self.stored.as_ref().map_or(self.kept.len(), |stored| stored.cases.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether all of them are in memory.
    pub fn in_memory(&self) -> bool {
        self.stored.is_none()
    }
}

/// One case of a run.
#[derive(Debug)]
pub struct CaseResult {
    /// The case.
    pub case: Case,
    /// Where its walk ended.
    pub state: WalkState,
    /// Its status in the store.
    pub case_status: Option<String>,
    /// What the pipeline's summary script says of it.
    pub finding: Option<Value>,
    /// Why the summary script said nothing.
    pub trouble: Option<Box<Diagnostic>>,
}

impl RunResult {
    /// What the notes on the run itself stand under.
    pub const WHOLE: Name = Name::const_new("");

    /// The graph.
    pub fn pipeline(&self) -> &Pipeline {
        &self.plan.pipeline
    }

    /// What is to be known of a case beside what came of it.
    pub fn notes_on(&self, case: &str) -> &[Diagnostic] {
        self.notes.get(case).map_or(&[], Vec::as_slice)
    }

    /// Whether any of the cases in memory is damaged in the store.
    pub fn has_damage(&self) -> bool {
        self.cases.kept.iter().any(CaseResult::is_damaged)
    }

    /// Takes in what is left of its budget.
    pub(super) fn note_budget(&mut self, budget: &TokenBudget) {
        self.budget = budget.status().map(|status| (status, budget.refused()));
    }

    /// Fills in the statuses that the store has of the cases in memory.
    pub(super) fn know_statuses(&mut self, store: &Store) -> Result<(), SessionError> {
        if self.cases.in_memory() {
            let mut statuses = store.case_statuses(&self.run)?;
            for case in &mut self.cases.kept {
                case.case_status = statuses.remove(&case.case.id);
            }
        }
        Ok(())
    }

    /// Shows every case with what came of it, in the order of the launch, and ends at the first error.
    pub fn each(&self, visit: impl FnMut(&CaseResult) -> Result<(), SessionError>) -> Result<(), SessionError> {
        self.each_of(true, visit)
    }

    /// [`RunResult::each`]; with `asked`, what the summary script says is there too.
    fn each_of(&self, asked: bool, mut visit: impl FnMut(&CaseResult) -> Result<(), SessionError>) -> Result<(), SessionError> {
        self.cases.kept.iter().try_for_each(&mut visit)?;
        let Some(stored) = &self.cases.stored else { return Ok(()) };
        let reads = CaseReader { store: &stored.store, run: &self.run, plan: &self.plan };
        let read = |case: &StoredCaseBrief| reads.result(case, &self.launch, asked);
        stored.pool.in_order(&stored.cases, read, |case| visit(&case))
    }

    /// The shape that other tools rely on (`design.md` §6).
    pub fn summary(&self) -> RunSummary<'_> {
        RunSummary {
            schema_version: 1,
            run: self.run.clone(),
            pipeline: self.pipeline().name.value.clone(),
            domain: self.plan.domain.clone(),
            status: self.status,
            cases: CaseSummaries(self),
            report: self.report.as_ref().map(|path| path.display().to_string()),
            shadow: self.shadow.as_ref(),
            tokens: (!self.tokens.is_none()).then_some(self.tokens),
            budget: self.budget.map(|(status, _)| status),
            gaps: &self.launch.gaps,
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

    /// Whether what is stored of it is damaged: it is told as an error, and nothing was made of what is left.
    pub fn is_damaged(&self) -> bool {
        self.state.error.as_ref().is_some_and(|(kind, _)| kind == DAMAGED)
    }

    /// The case for programs.
    pub fn summary(&self) -> CaseSummary {
        let state = &self.state;
        CaseSummary {
            case: self.case.id.clone(),
            status: state.status,
            case_status: self.case_status.clone(),
            nodes: state.path.iter().map(ToString::to_string).collect(),
            edges: state.history.iter().map(|visit| visit.edge.to_string()).collect(),
            loops: state.loops.clone(),
            context: state.context.clone(),
            tokens: (!state.tokens.is_none()).then_some(state.tokens),
            waits: state.waits().map(|open| Waits { node: open.node.to_string(), via: open.via.to_string(), request: open.id }),
            error: self.error(),
        }
    }
}

impl CaseReader<'_> {
    /// What came of a case. `asked`: whether the summary script is.
    pub(super) fn result(&self, work: &StoredCaseBrief, launch: &Launch, asked: bool) -> Result<CaseResult, SessionError> {
        let (case, mut state) = if asked { self.whole_if_sound(&work.id)? } else { self.unread(&work.id)? };
        if state.status == WalkStatus::Running {
            state.status = work.status;
        }
        let (finding, trouble) = if asked { finding::of(self.plan, launch, &case, &state, self.run) } else { (None, None) };
        let case_status = self.store.case_status(self.run, &work.id)?;
        Ok(CaseResult { case, state, case_status, finding, trouble })
    }
}

/// What a case waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waits {
    /// The node whose artifact is asked for.
    pub node: String,
    /// Who is asked.
    pub via: String,
    /// The request's id.
    pub request: i64,
}

/// A run for programs.
#[derive(Debug, Serialize)]
pub struct RunSummary<'a> {
    /// The version of this shape.
    pub schema_version: u32,
    /// The run's id.
    pub run: String,
    /// The pipeline's name.
    pub pipeline: String,
    /// The name of the vocabulary; null without one.
    pub domain: Option<String>,
    /// How it ended.
    pub status: WalkStatus,
    /// The cases, in the order of the launch.
    pub cases: CaseSummaries<'a>,
    /// The path of `report.md`; null when none was written.
    pub report: Option<String>,
    /// What candidate rules would have decided; absent without a shadow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadow: Option<&'a ShadowSummary>,
    /// What the answers took; absent if nobody outside was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenUsage>,
    /// How much of the budget is left; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetStatus>,
    /// Why failures of the launch may be missing; absent if it is whole.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub gaps: &'a [String],
}

/// The cases of a run for programs, each made when it is written.
#[derive(Debug)]
pub struct CaseSummaries<'a>(&'a RunResult);

impl Serialize for CaseSummaries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut cases = serializer.serialize_seq(Some(self.0.cases.len()))?;
        let mut refused = None;
        let told = self.0.each_of(false, |case| {
            // One that cannot be written any more is no error of the run.
            refused = refused.take().or_else(|| cases.serialize_element(&case.summary()).err());
            Ok(())
        });
        match (refused, told) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(S::Error::custom(error)),
            (None, Ok(())) => cases.end(),
        }
    }
}

/// A case for programs.
#[derive(Clone, Debug, Serialize)]
pub struct CaseSummary {
    /// Its id.
    pub case: String,
    /// How its walk ended.
    pub status: WalkStatus,
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
    /// What its answers took; absent if nobody outside was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenUsage>,
    /// What it waits for; absent if it waits for nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorSummary>,
}

/// A failure for programs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorSummary {
    /// The kind (`no_edge`, `rule_error`, ...).
    pub kind: String,
    /// The node it happened at.
    pub node: String,
    /// What is wrong.
    pub message: String,
}
