//! The analysis of a project: what the linter finds, and what the answers of the server are made of. It runs in a thread of its own, over
//! the texts as the client has them.

use super::host::{OpenedProject, ServerHost};
use super::names::FileNames;
use super::project_file::{FileLanguage, ProjectFile};
use asterisk_diag::Diagnostics;
use asterisk_files::UnsavedTexts;
use asterisk_lint::{self as lint, CaseText, FunctionRole, LintFinding, LintInput, LintedProject};
use asterisk_pipeline::Pipeline;
use asterisk_project::{AnswererNames, LinkScope, LinkSettings};
use asterisk_session::{Session, SessionError};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long the analysis waits for more changes: those of a person who types.
const PAUSE: Duration = Duration::from_millis(60);

/// What is to be analysed.
#[derive(Clone, Debug)]
pub(super) struct AnalysisJob {
    /// A directory of the project.
    pub(super) dir: PathBuf,
    pub(super) unsaved: Arc<UnsavedTexts>,
    /// Counts the changes of documents and files.
    pub(super) revision: u64,
    /// Whether the store may have changed.
    pub(super) cases: bool,
}

/// A project as of a revision.
pub(super) struct ProjectAnalysis {
    pub(super) revision: u64,
    pub(super) root: PathBuf,
    /// `None` if its settings cannot be read.
    pub(super) session: Option<Session>,
    /// All files, bundled ones included.
    pub(super) files: Vec<Arc<ProjectFile>>,
    /// The findings; files are named by the paths that they are displayed with.
    pub(super) findings: Vec<LintFinding>,
    /// The functions that pipelines refer to. Those of a file that does not link are of its last version that did.
    pub(super) roles: Vec<FunctionRole>,
    /// The pipelines, each in the last version that parsed.
    pub(super) pipelines: Vec<Pipeline>,
    /// What the linter linked, for the next analysis.
    linted: Option<Arc<LintedProject>>,
}

impl ProjectAnalysis {
    /// A project whose settings or texts cannot be read. Everything but the findings is that of the analysis before.
    fn unreadable(job: &AnalysisJob, error: &SessionError, before: Option<&Self>) -> Self {
        let found = match error {
            SessionError::Texts(found) => found.clone(),
            other => Diagnostics::from(asterisk_diag::Diagnostic::error("correctness/syntax", other.to_string())),
        };
        Self {
            revision: job.revision,
            root: before.map_or_else(|| job.dir.clone(), |before| before.root.clone()),
            session: None,
            files: before.map(|before| before.files.clone()).unwrap_or_default(),
            findings: lint::LintReport::unreadable(found).findings,
            roles: before.map(|before| before.roles.clone()).unwrap_or_default(),
            pipelines: before.map(|before| before.pipelines.clone()).unwrap_or_default(),
            linted: before.and_then(|before| before.linted.clone()),
        }
    }
}

/// Analyses jobs as they come, and sends the results: of several that wait, only the last.
pub(super) fn start(host: Arc<dyn ServerHost>) -> (Sender<AnalysisJob>, Receiver<Arc<ProjectAnalysis>>) {
    let (jobs, waiting) = unbounded::<AnalysisJob>();
    let (done, results) = unbounded();
    let work = move || {
        let mut last: Option<Arc<ProjectAnalysis>> = None;
        let mut cases: Option<Vec<CaseText>> = None;
        while let Ok(mut job) = waiting.recv() {
            // The first answer is waited for, and so is one after a pause.
            while let Ok(newer) = waiting.recv_timeout(if last.is_some() { PAUSE } else { Duration::ZERO }) {
                job = AnalysisJob { cases: job.cases || newer.cases, ..newer };
            }
            if job.cases {
                cases = None;
            }
            let analysis = Arc::new(analyse(&*host, &job, last.as_deref(), &mut cases));
            last = Some(analysis.clone());
            if done.send(analysis).is_err() {
                return;
            }
        }
    };
    // Without the thread nothing is analysed, and the server answers from what documents say themselves.
    drop(std::thread::Builder::new().name("analysis".into()).stack_size(16 << 20).spawn(work));
    (jobs, results)
}

/// Analyses a project. `cases` are those of its store, read if absent.
pub(super) fn analyse(
    host: &dyn ServerHost,
    job: &AnalysisJob,
    before: Option<&ProjectAnalysis>,
    cases: &mut Option<Vec<CaseText>>,
) -> ProjectAnalysis {
    match try_analyse(host, job, before, cases) {
        Ok(analysis) => analysis,
        Err(error) => ProjectAnalysis::unreadable(job, &error, before),
    }
}

fn try_analyse(
    host: &dyn ServerHost,
    job: &AnalysisJob,
    before: Option<&ProjectAnalysis>,
    cases: &mut Option<Vec<CaseText>>,
) -> Result<ProjectAnalysis, SessionError> {
    let OpenedProject { session, lint: config, root } = host.open(&job.dir, job.unsaved.clone())?;
    let texts = session.texts(&[])?;
    let cases = cases.get_or_insert_with(|| {
        // A store that cannot be read is reported by the commands that need it.
        let read = session.case_texts(&[]).unwrap_or_default();
        read.into_iter().map(|(name, text)| CaseText { name, text: text.to_lowercase() }).collect()
    });
    let settings = LinkSettings { scope: LinkScope::Checked, ..session.settings(AnswererNames::Others) };
    let linted_before = before.and_then(|before| before.linted.as_deref());
    let linted = lint::analyse(LintInput { texts: &texts, settings: &settings, config: &config, cases }, linted_before);
    let known: BTreeMap<&Path, &Arc<ProjectFile>> =
        before.iter().flat_map(|before| &before.files).map(|file| (file.key(), file)).collect();
    let file = |text: &asterisk_session::ProjectText| {
        let new = ProjectFile::of(text, &root);
        match known.get(new.key()) {
            Some(same) if same.text() == new.text() && same.name == new.name => (*same).clone(),
            last => Arc::new(new.read(last.map(|last| &last.names))),
        }
    };
    let mut files: Vec<Arc<ProjectFile>> = texts.iter().map(file).collect();
    let project_file = root.join("asterisk.yaml");
    if let Some(text) = job.unsaved.get(&project_file).cloned().or_else(|| std::fs::read_to_string(&project_file).ok()) {
        files.push(Arc::new(ProjectFile::settings(project_file, text)));
    }
    let mut roles = linted.roles.clone();
    let mut pipelines = linted.pipelines.clone();
    if let Some(before) = before {
        let exists = |language: FileLanguage, name: &str| files.iter().any(|file| file.language == language && file.name == name);
        let gone: Vec<Pipeline> = before
            .pipelines
            .iter()
            .filter(|old| !pipelines.iter().any(|new| new.source.name() == old.source.name()))
            .filter(|old| exists(FileLanguage::Pipeline, old.source.name()))
            .cloned()
            .collect();
        pipelines.extend(gone);
        let linked = |file: &str| linted.library.file(file).is_some();
        let kept: Vec<FunctionRole> = before
            .roles
            .iter()
            .filter(|old| !linked(&old.file) && exists(FileLanguage::Script, &old.file))
            .filter(|old| !roles.iter().any(|new| (&new.file, &new.function) == (&old.file, &old.function)))
            .cloned()
            .collect();
        roles.extend(kept);
    }
    Ok(ProjectAnalysis {
        revision: job.revision,
        root,
        session: Some(session),
        files,
        findings: linted.report.findings.clone(),
        roles,
        pipelines,
        linted: Some(Arc::new(linted)),
    })
}

/// The names of a file; those of its last version that could be read if this one cannot.
pub(super) fn names_or(new: FileNames, last: Option<&FileNames>) -> FileNames {
    match last {
        // The places are of another text: only what is defined is still of use.
        Some(last) if !new.whole && new.definitions.is_empty() => {
            FileNames { mentions: Vec::new(), definitions: last.definitions.clone(), imports: last.imports.clone(), whole: false }
        }
        _ => new,
    }
}
