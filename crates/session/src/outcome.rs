//! The result of a run.

use super::finding::{self, DAMAGED};
use super::stages::StageSummary;
use super::work::{CaseReader, StoredCaseBrief};
use super::worker_pool::WorkerPool;
use super::{SessionError, ShadowSummary};
use asterisk_adapters::agent::{BudgetStatus, TokenBudget};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Case, Launch};
use asterisk_diag::Diagnostic;
use asterisk_pipeline::Pipeline;
use asterisk_store::Store;
use asterisk_walk::{Failure, Name, Plan, RuleFailures, TokenUsage, WalkState, WalkStatus};
use serde::ser::{Error as _, SerializeSeq as _};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A run that ended, paused or failed, with the final state of every case.
#[derive(Debug)]
pub struct RunResult {
    /// The run's id.
    pub run: String,
    pub plan: Arc<Plan>,
    /// The number of the revision of the texts that the plan was linked from.
    pub revision: u64,
    /// The launch; if too large to be kept in memory, without logs and attributes.
    pub launch: Launch,
    pub started_at: Timestamp,
    /// `error` if any case failed, `paused` if any is not over.
    pub status: WalkStatus,
    /// The cases, in the order of the launch.
    pub cases: RunCases,
    /// The failures of walks in this process, by case, in the order of the launch.
    pub failures: Vec<(Name, Failure)>,
    /// Whether it is in the store (a dry run is not).
    pub recorded: bool,
    /// The path of the report, if one was written.
    pub report: Option<PathBuf>,
    /// The shadow decisions of candidate rules, if the run has a shadow.
    pub shadow: Option<ShadowSummary>,
    /// The token usage of external answers.
    pub tokens: TokenUsage,
    /// The rules of verdicts and roots that failed.
    pub failed_rules: RuleFailures,
    /// Files that could not be written, by case: prompts whose template fails, files whose content is damaged in the store. Notes
    /// on the run itself are under [`RunResult::WHOLE`].
    pub notes: BTreeMap<Name, Vec<Diagnostic>>,
    /// The pending cases, each with its answerer.
    pub waits: Vec<(Name, Name)>,
    /// The remaining budget, and whether a request was refused because it was spent.
    pub budget: Option<(BudgetStatus, bool)>,
}

/// The cases of a run: in memory, or, of a large run, read from its journal. See [`RunResult::each`].
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
    /// Reads them concurrently.
    pub(super) pool: WorkerPool,
}

impl RunCases {
    pub fn len(&self) -> usize {
        self.stored.as_ref().map_or(self.kept.len(), |stored| stored.cases.len())
    }

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
    pub case: Case,
    /// The final state of its walk.
    pub state: WalkState,
    /// Its status in the store.
    pub case_status: Option<String>,
    /// The finding, by the pipeline's summary script.
    pub finding: Option<Value>,
    /// The error of the summary script.
    pub trouble: Option<Box<Diagnostic>>,
}

impl RunResult {
    /// The key of notes on the run itself.
    pub const WHOLE: Name = Name::const_new("");

    /// The graph.
    pub fn pipeline(&self) -> &Pipeline {
        &self.plan.pipeline
    }

    /// The notes on a case.
    pub fn notes_on(&self, case: &str) -> &[Diagnostic] {
        self.notes.get(case).map_or(&[], Vec::as_slice)
    }

    /// Whether the record of any case in memory is damaged.
    pub fn has_damage(&self) -> bool {
        self.cases.kept.iter().any(CaseResult::is_damaged)
    }

    /// Adds a note on the run itself.
    pub(super) fn note(&mut self, note: Option<Diagnostic>) {
        if let Some(note) = note {
            self.notes.entry(Self::WHOLE).or_default().push(note);
        }
    }

    /// Notes which of the rules that failed worked in other cases. Unreadable cases are ignored.
    pub(super) fn note_working_rules(&mut self) {
        if self.failed_rules.is_empty() {
            return;
        }
        let mut rules = self.failed_rules.clone();
        let read = self.each_of(true, |case| {
            rules.note_worked(&case.state, &self.plan);
            Ok(())
        });
        if read.is_ok() {
            self.failed_rules = rules;
        }
    }

    /// Sets the remaining budget.
    pub(super) fn note_budget(&mut self, budget: &TokenBudget) {
        self.budget = budget.status().map(|status| (status, budget.refused()));
    }

    /// Sets the statuses of the cases in memory from the store.
    pub(super) fn load_statuses(&mut self, store: &Store) -> Result<(), SessionError> {
        if self.cases.in_memory() {
            let mut statuses = store.case_statuses(&self.run)?;
            for case in &mut self.cases.kept {
                case.case_status = statuses.remove(&case.case.id);
            }
        }
        Ok(())
    }

    /// Visits every case in the order of the launch, up to the first error.
    pub fn each(&self, visit: impl FnMut(&CaseResult) -> Result<(), SessionError>) -> Result<(), SessionError> {
        self.each_of(true, visit)
    }

    /// Passes what is made of each case to `visit`, in order. The cases of a large run are made by several threads.
    pub(super) fn each_made<T: Send>(
        &self,
        make: impl Fn(&CaseResult) -> Result<T, SessionError> + Sync,
        mut visit: impl FnMut(T) -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        self.cases.kept.iter().try_for_each(|case| visit(make(case)?))?;
        let Some(stored) = &self.cases.stored else { return Ok(()) };
        let reads = CaseReader { store: &stored.store, run: &self.run, plan: &self.plan };
        stored.pool.in_order(&stored.cases, |case| make(&reads.result(case, &self.launch, true)?), visit)
    }

    /// A case as the launch has it; `None` if there is none of that id, or if it cannot be read.
    pub fn case(&self, id: &str) -> Option<Cow<'_, Case>> {
        match &self.cases.stored {
            None => self.cases.kept.iter().map(|kept| &kept.case).find(|case| case.id == id).map(Cow::Borrowed),
            Some(stored) => stored.store.case(&self.run, id).ok().map(Cow::Owned),
        }
    }

    /// [`RunResult::each`]; with `summarised`, the summary script is evaluated too.
    fn each_of(
        &self,
        summarised: bool,
        mut visit: impl FnMut(&CaseResult) -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        self.cases.kept.iter().try_for_each(&mut visit)?;
        let Some(stored) = &self.cases.stored else { return Ok(()) };
        let reads = CaseReader { store: &stored.store, run: &self.run, plan: &self.plan };
        let read = |case: &StoredCaseBrief| reads.result(case, &self.launch, summarised);
        stored.pool.in_order(&stored.cases, read, |case| visit(&case))
    }

    /// The JSON shape that other tools rely on.
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
            failed_rules: &self.failed_rules,
            gaps: &self.launch.gaps,
        }
    }
}

impl CaseResult {
    /// The failure of its walk.
    pub fn error(&self) -> Option<ErrorSummary> {
        let (kind, message) = self.state.error.clone()?;
        let node = self.state.node.as_deref().unwrap_or("").to_owned();
        Some(ErrorSummary { kind, node, message })
    }

    /// Whether its record is damaged: it is reported as an error, and its remains are not used.
    pub fn is_damaged(&self) -> bool {
        self.state.error.as_ref().is_some_and(|(kind, _)| kind == DAMAGED)
    }

    /// The JSON shape of the case.
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
            stages: Vec::new(),
            concluded: self.finding.as_ref().map(ConclusionSummary::of),
            tokens: (!state.tokens.is_none()).then_some(state.tokens),
            waits: state.waits().map(|open| Waits { node: open.node.to_string(), via: open.via.to_string(), request: open.id }),
            error: self.error(),
        }
    }
}

impl CaseReader<'_> {
    /// The result of a case. `summarised`: whether the summary script is evaluated.
    pub(super) fn result(&self, work: &StoredCaseBrief, launch: &Launch, summarised: bool) -> Result<CaseResult, SessionError> {
        let (case, mut state) = if summarised { self.whole_if_sound(&work.id)? } else { self.unread(&work.id)?.0 };
        if state.status == WalkStatus::Running {
            state.status = work.status;
        }
        let (finding, trouble) =
            if summarised { finding::of(self.plan, launch, &case, &state, self.run, None, None) } else { (None, None) };
        let case_status = self.store.case_status(self.run, &work.id)?;
        Ok(CaseResult { case, state, case_status, finding, trouble })
    }
}

/// The open request of a pending case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waits {
    /// The node whose artifact is requested.
    pub node: String,
    /// The answerer.
    pub via: String,
    /// The request's id.
    pub request: i64,
}

/// The JSON shape of a run.
#[derive(Debug, Serialize)]
pub struct RunSummary<'a> {
    /// The version of this shape.
    pub schema_version: u32,
    /// The run's id.
    pub run: String,
    /// The pipeline's name.
    pub pipeline: String,
    /// The name of the domain; null without one.
    pub domain: Option<String>,
    pub status: WalkStatus,
    /// The cases, in the order of the launch.
    pub cases: CaseSummaries<'a>,
    /// The path of `report.md`; null when none was written.
    pub report: Option<String>,
    /// The shadow decisions; absent without a shadow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadow: Option<&'a ShadowSummary>,
    /// The token usage; absent without external requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenUsage>,
    /// The remaining budget; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetStatus>,
    /// The rules of verdicts and roots that failed; absent if none did.
    #[serde(skip_serializing_if = "RuleFailures::is_empty")]
    pub failed_rules: &'a RuleFailures,
    /// Why failures of the launch may be missing; absent if it is complete.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub gaps: &'a [String],
}

/// The JSON shapes of a run's cases, serialised one at a time.
#[derive(Debug)]
pub struct CaseSummaries<'a>(&'a RunResult);

impl Serialize for CaseSummaries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut cases = serializer.serialize_seq(Some(self.0.cases.len()))?;
        let mut refused = None;
        let visited = self.0.each_of(true, |case| {
            // An error of the serialiser is not an error of the run.
            let summary = CaseSummary { stages: case.stages(&self.0.plan), ..case.summary() };
            refused = refused.take().or_else(|| cases.serialize_element(&summary).err());
            Ok(())
        });
        match (refused, visited) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(S::Error::custom(error)),
            (None, Ok(())) => cases.end(),
        }
    }
}

/// The JSON shape of a case.
#[derive(Clone, Debug, Serialize)]
pub struct CaseSummary {
    /// The case's id.
    pub case: String,
    pub status: WalkStatus,
    /// Its status in the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case_status: Option<String>,
    /// The nodes entered.
    pub nodes: Vec<String>,
    /// The edges taken.
    pub edges: Vec<String>,
    /// The counters.
    pub loops: BTreeMap<String, i64>,
    /// Context added by edges.
    pub context: Map<String, Value>,
    /// The stages of a policy pipeline; absent in others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageSummary>,
    /// What the case came to, by the pipeline's summary script.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub concluded: Option<ConclusionSummary>,
    /// The token usage; absent without external requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenUsage>,
    /// The open request; absent unless the case is pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorSummary>,
}

/// What a case came to: parts of its finding, as the summary script gave them; null where it gave none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConclusionSummary {
    pub title: Value,
    pub category: Value,
    pub defect: Value,
    pub component: Value,
    pub confidence: Value,
    /// Other defects that it may be: `[{defect_type, defect_name, probability}]`.
    pub alternatives: Value,
}

impl ConclusionSummary {
    fn of(finding: &Value) -> Self {
        let part = |name: &str| finding[name].clone();
        Self {
            title: part("title"),
            category: part("category"),
            defect: part("defect_type"),
            component: part("component"),
            confidence: part("confidence"),
            alternatives: part("alternatives"),
        }
    }
}

/// The JSON shape of a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorSummary {
    /// The kind (`no_edge`, `rule_error`, ...).
    pub kind: String,
    /// The node it happened at.
    pub node: String,
    pub message: String,
}
