//! The assembly of a run, new or resumed: the parts it is executed with, its execution and its result.

use super::answers::answerer;
use super::executor::RunExecutor;
use super::listener::StartedRun;
use super::outcome::{CaseResult, RunCases, RunResult, StoredCases};
use super::revisions::{RunRevisions, RunTexts};
use super::run_batches::RunBatch;
use super::run_context::RunContext;
use super::trim::LaunchTrimmer;
use super::work::{CaseWork, OutsideDetails, StoredCaseBrief};
use super::worker_pool::WorkerPool;
use super::{AuditSettings, Files, Session, SessionError, finding, shadow};
use asterisk_adapters::agent::StubAnswers;
use asterisk_adapters::audit::{AuditError, AuditedJournal, AuditedRun, Auditor, has_other_names};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Case, Launch, shell};
use asterisk_diag::{Diagnostics, Source};
use asterisk_files::{Area, FileIdentity, read_input};
use asterisk_project::Project;
use asterisk_store::{RunFindings, RunJournal, RunStatus, Store, StoreError};
use asterisk_walk::{
    CaseParams, Journal, JournalError, Name, PEERS, Plan, ReadEvidence, RuleFailures, TokenUsage, WORKDIR, WalkStatus,
};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use tracing::info_span;

impl RunContext<'_> {
    /// Walks the cases as far as possible, and concludes the run.
    pub(super) fn execute(
        mut self,
        texts: RunTexts<'_>,
        stub: Option<StubAnswers>,
        mut work: Vec<CaseWork>,
    ) -> Result<RunResult, SessionError> {
        let (session, watch, recorded) = (self.session, self.watch, self.recorded);
        let project = Arc::clone(&texts.project);
        let batch = RunBatch::after(&self.store().run_events(self.id())?);
        let pipeline = &*project.plan.pipeline.name;
        let _span =
            info_span!("run", otel.name = %pipeline, run = %self.id(), pipeline = %pipeline, cases = work.len()).entered();
        watch.began(&StartedRun::new(self.id(), &project.plan, &self.launch, &work, batch));
        let mut needs = session.reads(self.store(), self.id(), &texts.manifest.workspace, self.settings.no_recall)?;
        if self.fresh && project.plan.declares(PEERS) {
            let mut kept = KeptEvidence::new(self.id(), &self.launch, &mut work, self.keep);
            needs.peers.read(&self.launch, &project.plan, &self.pool, |case, evidence| kept.take(case, evidence));
        }
        if !self.keep {
            LaunchTrimmer::launch(&mut self.launch);
        }
        let revisions = RunRevisions::new(session, texts, &self.journal, watch);
        if !self.fresh {
            revisions.migrate(project)?;
        }
        let answer = answerer(&self, stub);
        let auditor = if recorded { self.auditor(&revisions.project().plan)? } else { None };
        let audited = auditor.as_ref().map(|auditor| AuditedJournal { journal: &self.journal, auditor });
        let journal = audited.as_ref().map_or(&self.journal as &dyn Journal, |audited| audited as &dyn Journal);
        let executor = RunExecutor { run: &self, revisions: &revisions, answer: &*answer, journal };
        let walked = executor.walk(work, &mut needs);
        let store = session.setup.store.path().filter(|_| self.identity.is_some());
        if let Some(store) = store.filter(|store| FileIdentity::of(store) != self.identity) {
            return Err(StoreError::Lost(store.to_path_buf()).into());
        }
        let work = walked?;
        drop(answer);
        let rested = work.iter().filter(|work| work.rested).map(|work| work.id.clone()).collect();
        let (project, revision) = revisions.in_use();
        let Self { settings, journal, started_at, launch, candidate, budget, pool, .. } = self;
        let (run, store) = (journal.run().to_owned(), journal.store());
        let ended = EndedRun { run, started_at, project: &project, revision, launch, recorded, pool };
        let mut result = ended.result(store, work);
        result.note_budget(&budget);
        result.shadow = candidate.map(|_| shadow::sum(store, &result.run)).transpose()?;
        if !recorded {
            return Ok(result);
        }
        let mut result = session.conclude(&journal, result, settings.files, &rested)?;
        if result.status == WalkStatus::Done {
            result.note(session.dream_after(store, &project, &result.run));
        }
        Ok(result)
    }

    /// The auditor, if the pipeline is audited. Its rules are those compiled into the program, or the operator's.
    fn auditor(&self, plan: &Arc<Plan>) -> Result<Option<Auditor>, SessionError> {
        let workdirs = self.launch.cases.iter().filter_map(|case| case.attributes.get(WORKDIR));
        let workdirs: Vec<_> = workdirs.filter(|workdir| !workdir.is_empty()).collect();
        workdirs.iter().try_for_each(|workdir| self.session.check_workdir(Path::new(workdir)))?;
        let log = &self.session.setup.audit.log;
        // How many entries the log had at the last commit of this run that it was written for.
        let since = match log.canonicalize() {
            _ if self.fresh => u64::MAX,
            Ok(log) => self.store().last_audit_anchor(self.id(), &log.display().to_string())?.unwrap_or_default(),
            Err(_) => 0,
        };
        let (bundled, own) = self.session.audit_rules()?;
        let audited = AuditedRun { run: self.id(), plan, goal: !workdirs.is_empty(), since };
        Auditor::new(bundled, own, log, &audited).map_err(|error| {
            audit_error(error, |source| {
                let message = format!("the auditor's log `{}` cannot be used: {source}", log.display());
                SessionError::Journal(JournalError::Audit(message))
            })
        })
    }
}

/// The error of an auditor; `of_log` makes that of its log.
fn audit_error(error: AuditError, of_log: impl FnOnce(io::Error) -> SessionError) -> SessionError {
    match error {
        AuditError::Rules(found) => SessionError::Texts(found),
        AuditError::Rule(diagnostic) => SessionError::Texts(Diagnostics::from(*diagnostic)),
        AuditError::Log(source) => of_log(source),
    }
}

impl Session {
    /// The bundled scripts, and the operator's own rules if there are any.
    fn audit_rules(&self) -> Result<(Vec<Source>, Option<Source>), SessionError> {
        let bundled = Area::Scripts.embedded().iter().filter(|file| file.name().ends_with(".rhai")).cloned().collect();
        let read = |path| read_input(path, self.setup.environment.input());
        let rules = self.setup.audit.rules.as_deref().map(read);
        Ok((bundled, rules.transpose()?))
    }

    /// What the auditor reports of a log as it stands.
    pub fn audit_report(&self, log: &Path) -> Result<Value, SessionError> {
        let (bundled, own) = self.audit_rules()?;
        asterisk_adapters::audit::report(bundled, own, log).map_err(|error| {
            audit_error(error, |source| {
                let message = format!("the auditor's log `{}` cannot be read: {source}", log.display());
                SessionError::bad_request("input/audit-log", message, Some("asterisk goal audit verify".into()))
            })
        })
    }

    /// Whether tools may work in a directory: the auditor's files must not lie in it, nor be reached from it over a link.
    pub fn check_workdir(&self, workdir: &Path) -> Result<(), SessionError> {
        let AuditSettings { log, rules } = &self.setup.audit;
        for (what, file) in [("log", Some(log)), ("rules", rules.as_ref())] {
            let Some(file) = file else { continue };
            let whole = std::path::absolute(file).unwrap_or_else(|_| file.clone());
            let resolved = |path: &Path| {
                let there = path.ancestors().find_map(|there| Some((there.canonicalize().ok()?, path.strip_prefix(there).ok()?)));
                there.map(|(there, rest)| there.join(rest))
            };
            let beside = whole.parent().and_then(resolved);
            let real = [Some(whole.clone()), resolved(&whole), beside];
            if has_other_names(file) {
                let message = format!(
                    "the auditor's {what} `{}` {} another name (a hard link), through which tools could reach {}",
                    file.display(),
                    if what == "log" { "has" } else { "have" },
                    if what == "log" { "it" } else { "them" }
                );
                let help = format!("remove the other name (`find / -samefile {}` finds it)", shell(&file.display().to_string()));
                return Err(SessionError::bad_request("input/workdir", message, Some(help)));
            }
            if real.iter().flatten().any(|path| path.starts_with(workdir)) {
                let message = format!(
                    "the auditor's {what} `{}` lie{} in the working directory, where tools could reach it",
                    file.display(),
                    if what == "log" { "s" } else { "" }
                );
                let help = "work in another directory (--workdir), or move it elsewhere (ASTERISK_AUDIT_LOG, ASTERISK_AUDITOR)";
                return Err(SessionError::bad_request("input/workdir", message, Some(help.into())));
            }
        }
        Ok(())
    }

    /// Records the status of a run and writes its files, except those of cases that `rested`.
    fn conclude(
        &self,
        journal: &RunJournal,
        mut result: RunResult,
        files: Files,
        rested: &HashSet<Name>,
    ) -> Result<RunResult, SessionError> {
        let now = self.setup.clock.now();
        let status = match result.status {
            WalkStatus::Done => RunStatus::Done,
            WalkStatus::Error => RunStatus::Error,
            WalkStatus::Running | WalkStatus::Paused => RunStatus::Paused,
        };
        let findings = result.cases.kept.iter().filter_map(|case| Some((case.case.id.as_str(), case.finding.as_ref()?)));
        let findings = findings.collect::<Vec<_>>();
        let findings = RunFindings { revision: result.revision, findings: &findings };
        journal.conclude(status, now, findings)?;
        let store = journal.store();
        result.load_statuses(store)?;
        result.notes = self.write_files(store, &result, files, rested)?;
        self.finalise(&result)?;
        Ok(result)
    }
}

/// Hands evidence that was read for the index of the launch to the walks of its cases, as far as memory goes.
struct KeptEvidence<'a> {
    run: &'a str,
    launch: &'a Launch,
    work: HashMap<Name, &'a mut CaseWork>,
    /// How many bytes of texts may still be kept as evidence.
    left: usize,
}

/// The most bytes of texts whose evidence is kept, which takes some ten times as much.
const EVIDENCE_KEPT: usize = 4 << 20;
/// The bytes that a case counts for besides its texts.
const EVIDENCE_OF_CASE: usize = 4 << 10;

impl<'a> KeptEvidence<'a> {
    fn new(run: &'a str, launch: &'a Launch, work: &'a mut [CaseWork], keep: bool) -> Self {
        let work = if keep { work } else { &mut [] };
        let work = work.iter_mut().map(|work| (work.id.clone(), work)).collect();
        Self { run, launch, work, left: EVIDENCE_KEPT }
    }

    fn take(&mut self, case: &Case, evidence: ReadEvidence) {
        let size = case.error_message.len() + case.log_snippet.len() + EVIDENCE_OF_CASE;
        if size > self.left {
            return;
        }
        if let Some(work) = self.work.get_mut(case.id.as_str()) {
            self.left -= size;
            let params = CaseParams::new(self.run, self.launch, case).with_evidence(evidence);
            work.params = Some(Box::new(OnceLock::from(params)));
        }
    }
}

/// A run whose walks have ended or stopped.
pub(super) struct EndedRun<'a> {
    pub(super) run: String,
    pub(super) started_at: Timestamp,
    pub(super) project: &'a Project,
    /// The number of the revision of its texts.
    pub(super) revision: u64,
    pub(super) launch: Launch,
    pub(super) recorded: bool,
    pub(super) pool: WorkerPool,
}

impl EndedRun<'_> {
    pub(super) fn result(self, store: &Store, work: Vec<CaseWork>) -> RunResult {
        let Self { run, started_at, project, revision, launch, recorded, pool } = self;
        let plan = &project.plan;
        let status = status_of(work.iter().map(|case| case.status));
        let (mut kept, mut briefs, mut failures): (_, _, Vec<(Name, _)>) = (Vec::new(), Vec::new(), Vec::new());
        let mut tokens = TokenUsage::default();
        let mut waits = Vec::new();
        let mut failed_rules = RuleFailures::default();
        // What cannot be read is made again.
        let mut known = if recorded { store.findings(&run, revision).unwrap_or_default() } else { BTreeMap::new() };
        for CaseWork { id, status, whole, own, params, .. } in work {
            let own = own.map(|own| *own).unwrap_or_default();
            let OutsideDetails { failure, tokens: taken, waits: waiting, failed_rules: failed } = own;
            tokens.add(&taken);
            failed_rules.add(&id, failed);
            waits.extend(waiting.map(|via| (id.clone(), via)));
            failures.extend(failure.map(|failure| (id.clone(), failure)));
            match whole {
                None => briefs.push(StoredCaseBrief { id, status }),
                Some(whole) => {
                    let (case, state) = *whole;
                    let finding = known.remove(&case.id);
                    kept.push((CaseResult { case, state, case_status: None, finding, trouble: None }, params));
                }
            }
        }
        let found = pool.map(&kept, |(result, params)| {
            let params = params.as_deref().and_then(OnceLock::get);
            finding::of(plan, &launch, &result.case, &result.state, &run, result.finding.clone(), params)
        });
        let summarised = |((result, _), (finding, trouble))| CaseResult { finding, trouble, ..result };
        let kept = kept.into_iter().zip(found).map(summarised).collect();
        let stored = (!briefs.is_empty()).then(|| StoredCases { store: store.clone(), cases: briefs, pool });
        let cases = RunCases { kept, stored };
        let mut result = RunResult {
            run,
            plan: plan.clone(),
            revision,
            launch,
            started_at,
            status,
            cases,
            failures,
            recorded,
            report: None,
            shadow: None,
            tokens,
            failed_rules,
            notes: BTreeMap::new(),
            waits,
            budget: None,
        };
        result.note_working_rules();
        result
    }
}

/// `error` if any case failed, else `paused` if any is not over, else `done`.
pub(super) fn status_of(cases: impl Iterator<Item = WalkStatus>) -> WalkStatus {
    cases.fold(WalkStatus::Done, |so_far, case| match (so_far, case) {
        (WalkStatus::Error, _) | (_, WalkStatus::Error) => WalkStatus::Error,
        (WalkStatus::Paused, _) | (_, WalkStatus::Paused | WalkStatus::Running) => WalkStatus::Paused,
        _ => WalkStatus::Done,
    })
}
