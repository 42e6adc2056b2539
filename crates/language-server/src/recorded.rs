//! What the store says: how often rules fired, what the project's edits would change, and the values of a chosen case. Read in a thread of
//! its own, since it takes seconds.

use asterisk_decisions::replay::{ReplayReport, ReplaySpec, replay};
use asterisk_decisions::{
    CaseValues, DecisionHistory, Decisions, EvaluatedTexts, SignatureHits, StepQuery, WeightTips, coverage, line_values,
    signature_hits, weight_tips,
};
use asterisk_session::{Session, SessionError, Setup};
use crossbeam_channel::{Receiver, Sender, unbounded};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How many runs, the latest, are counted.
const RUNS: usize = 10;
/// How long a change settles before the past is replayed with it.
const PAUSE: Duration = Duration::from_millis(400);

/// The case whose values are shown next to the lines.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct ChosenCase {
    /// The run; `latest` is the one started last.
    #[serde(default = "latest")]
    pub(super) run: String,
    /// The case; no values are shown if `None`.
    pub(super) case: Option<String>,
}

fn latest() -> String {
    "latest".into()
}

/// What is to be read.
pub(super) enum RecordJob {
    /// The project, with its texts as they are now.
    Project(Box<Setup>),
    Case(ChosenCase),
}

/// Sends jobs, and counts them.
pub(super) struct RecordJobs {
    to: Sender<RecordJob>,
    sent: u64,
}

impl RecordJobs {
    pub(super) fn send(&mut self, job: RecordJob) {
        // Without the thread, nothing recorded is shown.
        self.sent += u64::from(self.to.send(job).is_ok());
    }

    pub(super) fn sent(&self) -> u64 {
        self.sent
    }
}

/// What the store says.
#[derive(Debug, Default)]
pub(super) struct RecordedUse {
    /// How many jobs were done for it.
    pub(super) jobs: u64,
    /// How often rules were asked and fired, in the latest runs.
    pub(super) history: Option<Arc<DecisionHistory>>,
    /// What would be decided now, in the latest run.
    pub(super) replayed: Option<Arc<ReplayReport>>,
    /// The values of the chosen case.
    pub(super) case: Option<Arc<CaseValues>>,
    /// Where signatures matched, by their ids.
    pub(super) signatures: Option<Arc<BTreeMap<String, SignatureHits>>>,
    /// How far weights are from changing verdicts of the latest run.
    pub(super) tips: Option<Arc<WeightTips>>,
    /// The error of reading the values of the chosen case.
    pub(super) refused: Option<String>,
}

/// Reads the store as jobs come, and sends the results.
pub(super) fn start() -> (RecordJobs, Receiver<Arc<RecordedUse>>) {
    let (jobs, waiting) = unbounded::<RecordJob>();
    let (done, results) = unbounded();
    let work = move || {
        let mut reader = RecordReader { jobs: 0, session: None, chosen: None, runs: Vec::new(), last: RecordedUse::default() };
        while let Ok(job) = waiting.recv() {
            reader.take(job);
            while let Ok(more) = waiting.recv_timeout(PAUSE) {
                reader.take(more);
            }
            let jobs = reader.jobs;
            if done.send(Arc::new(RecordedUse { jobs, ..reader.read() })).is_err() {
                return;
            }
        }
    };
    // Without the thread, nothing recorded is shown.
    drop(std::thread::Builder::new().name("record".into()).stack_size(16 << 20).spawn(work));
    (RecordJobs { to: jobs, sent: 0 }, results)
}

struct RecordReader {
    /// How many jobs it took.
    jobs: u64,
    session: Option<Session>,
    chosen: Option<ChosenCase>,
    /// The runs that were counted.
    runs: Vec<String>,
    last: RecordedUse,
}

impl RecordReader {
    fn take(&mut self, job: RecordJob) {
        self.jobs += 1;
        match job {
            RecordJob::Project(setup) => self.session = Some(Session::new(*setup)),
            RecordJob::Case(chosen) => (self.chosen, self.last.case) = (Some(chosen), None),
        }
    }

    fn read(&mut self) -> RecordedUse {
        let Some(session) = &self.session else { return RecordedUse::default() };
        // Without a store, or one that cannot be read, there is nothing to show; commands that need it say why.
        let runs = runs(session).unwrap_or_default();
        if runs.is_empty() {
            (self.runs, self.last) = (Vec::new(), RecordedUse::default());
            return RecordedUse::default();
        }
        if runs != self.runs {
            self.last.case = None;
            self.last.history = coverage(session, &runs).ok().map(Arc::new);
            self.last.signatures = signature_hits(session).ok().map(Arc::new);
        }
        let spec = ReplaySpec { runs: runs[..1].to_vec(), pipeline: None, parallel: 1 };
        // Texts that do not link now change nothing that is shown: diagnostics say what is wrong.
        if let Ok(replayed) = replay(session, &spec) {
            self.last.replayed = Some(Arc::new(replayed));
        }
        // Texts that do not link leave the last ones.
        if let Ok(tips) = weight_tips(session, &runs[0]) {
            self.last.tips = Some(Arc::new(tips));
        }
        self.runs = runs;
        (self.last.case, self.last.refused) = match self.values(session) {
            Ok(values) => (values, None),
            Err(error) => (None, Some(error.to_string())),
        };
        RecordedUse {
            jobs: 0,
            history: self.last.history.clone(),
            replayed: self.last.replayed.clone(),
            case: self.last.case.clone(),
            signatures: self.last.signatures.clone(),
            tips: self.last.tips.clone(),
            refused: self.last.refused.clone(),
        }
    }

    /// The values of the chosen case with the current texts. If these do not link, the last values are kept; if there are none, the recorded
    /// texts are evaluated.
    fn values(&self, session: &Session) -> Result<Option<Arc<CaseValues>>, SessionError> {
        let Some(ChosenCase { run, case: Some(case) }) = &self.chosen else { return Ok(None) };
        let query = StepQuery { run: run.clone(), case: Some(case.clone()), step: None };
        if let Ok(values) = line_values(session, &query, EvaluatedTexts::Current) {
            return Ok(values.map(Arc::new));
        }
        if let Some(last) = &self.last.case {
            return Ok(Some(last.clone()));
        }
        Ok(line_values(session, &query, EvaluatedTexts::Recorded)?.map(Arc::new))
    }
}

/// The latest runs of the store, newest first.
fn runs(session: &Session) -> Result<Vec<String>, SessionError> {
    let mut runs = Decisions::open(session)?.record().runs(&[])?;
    runs.truncate(RUNS);
    Ok(runs)
}
