//! The answerers of a run: names are checked before anything begins, then each is set up with its retries and budget.

use super::projection::run_dir;
use super::run_context::RunContext;
use super::run_dir::RunDirectory;
use super::stages::RunStageFiles;
use super::{RunResult, Session, SessionError, Via};
use asterisk_adapters::agent::{
    self, AnswerCache, AnswererKind, BudgetStatus, ExternalContext, MANUAL, RunDir, STUB, StageAnswerer, StageFiles, StubAnswers,
    SubmittedAnswer, SubmittedAnswers,
};
use asterisk_base::model::Hash;
use asterisk_diag::{Code, Diagnostics, Source, did_you_mean};
use asterisk_files::OutDir;
use asterisk_pipeline::EdgeTarget;
use asterisk_project::SCRIPT;
use asterisk_store::Store;
use asterisk_walk::{Answerer, Name, Plan};
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;

/// The file with the remaining budget.
const BUDGET_FILE: &str = "budget-status.json";

/// What is submitted to a run when it is resumed.
#[derive(Default)]
pub(super) struct SubmittedWork {
    pub(super) given: Option<SubmittedAnswer>,
    /// A finished case to be reopened.
    pub(super) reopened: Option<ReopenedCase>,
}

/// A finished case that a review reopens.
pub(super) struct ReopenedCase {
    pub(super) case: String,
    /// The node of the review.
    pub(super) node: String,
    /// The reviewer: `human` or `agent`.
    pub(super) by: &'static str,
}

impl Session {
    /// The cases of a run that are pending on a submitted answer.
    pub fn waiting<'r>(&self, result: &'r RunResult) -> impl Iterator<Item = &'r Name> {
        let manual = agent::manual_names(&self.setup.agents);
        result.waits.iter().filter(move |(_, via)| manual.iter().any(|name| name == via)).map(|(case, _)| case)
    }

    /// Checks the answerers that a run names: an agent kind with a single configured agent means that agent, a node's code for
    /// its name.
    pub(super) fn via(&self, via: &Via, plan: &Plan) -> Result<Via, SessionError> {
        let chain = |names: &[String]| names.iter().map(|name| self.who(name)).collect::<Result<Vec<_>, _>>();
        let node = |(node, names): (&String, &Vec<String>)| Ok((node_named(plan, node)?, chain(names)?));
        Ok(Via { usual: chain(&via.usual)?, nodes: via.nodes.iter().map(node).collect::<Result<_, SessionError>>()? })
    }

    fn who(&self, name: &str) -> Result<String, SessionError> {
        let agents = &self.setup.agents;
        if [SCRIPT, STUB, MANUAL].contains(&name)
            || agents.contains_key(name)
            || agent::names(agents).iter().any(|one| one == name)
        {
            return Ok(name.to_owned());
        }
        let of_kind: Vec<&String> = agents.iter().filter(|(_, one)| one.kind.name() == name).map(|(name, _)| name).collect();
        let known = agent::names(agents);
        let (message, help) = match of_kind.as_slice() {
            [only] => return Ok((*only).clone()),
            [] if agent::AnswererKind::NAMES.iter().any(|(kind, _)| *kind == name) => (
                format!("no agent of the kind `{name}` is configured"),
                format!(
                    "configure one in asterisk.yaml, for example agents: {{ mine: {{ kind: {name}, {} }} }}",
                    match name {
                        "http" => "url: 'https://api.openai.com/v1', model: gpt-5-mini, secret: { env: OPENAI_API_KEY }",
                        _ => "command: [./answer.sh]",
                    }
                ),
            ),
            [] => {
                let hint = did_you_mean(name, known.iter().map(String::as_str));
                let help = format!("{}\nothers are configured under `agents:` in asterisk.yaml", hint.unwrap_or_default());
                (format!("unknown answerer `{name}`"), help.trim_start().to_owned())
            }
            several => {
                let names: Vec<&str> = several.iter().map(|name| name.as_str()).collect();
                (format!("several agents of the kind `{name}` are configured"), format!("name one of them: {}", names.join(", ")))
            }
        };
        Err(SessionError::bad_request("input/via", message, Some(help)))
    }
}

/// The answerer of a run, whose names were checked by [`Session::via`].
pub(super) fn answerer<'a>(run: &'a RunContext<'_>, stub: Option<StubAnswers>) -> Box<dyn Answerer + 'a> {
    let dir = run_dir(&run.session.setup.out, run.id());
    let single = run.launch.cases.len() == 1;
    let files = run.has_files().then(|| Box::new(RunStageFiles { dir, single }) as Box<dyn StageFiles>);
    let cache = run.recorded.then(|| Box::new(StoredAnswers(run.store().clone())) as Box<dyn AnswerCache>);
    let others = stub.map_or_else(|| agents(run), |stub| Box::new(stub));
    let inner: Box<dyn Answerer + 'a> = match run.given.clone() {
        Some(given) => Box::new(SubmittedAnswers::new(others, given)),
        None => others,
    };
    Box::new(StageAnswerer { inner, files, cache })
}

fn agents<'a>(run: &'a RunContext<'_>) -> Box<dyn Answerer + 'a> {
    let (session, writes, id) = (run.session, run.recorded, run.id());
    let setup = &session.setup;
    let run_files = run_dir(&setup.out, id);
    let dir = writes.then(|| run_files.clone());
    let spent = move |status: &BudgetStatus| {
        if let Some(dir) = &dir {
            write_budget(dir, status);
        }
    };
    if let Some(status) = run.budget.status() {
        spent(&status);
    }
    let run_files = std::path::absolute(&run_files).unwrap_or(run_files);
    // Commands expect the directory to exist. One that cannot be made is reported when files are written.
    let commands = || setup.agents.values().any(|agent| agent.kind == AnswererKind::Exec);
    let files = run.has_files() && (!commands() || OutDir::private(&run_files).is_ok());
    let dispatches = session.dispatches(id);
    let run_dir = move |dir: Option<&Path>| {
        let root = dir.map_or_else(|| setup.out.clone(), |dir| setup.root.join(dir));
        writes.then(|| Arc::new(RunDirectory::new(&root, id, Arc::clone(&dispatches))) as Arc<dyn RunDir>)
    };
    let (texts, private) = setup.own_files();
    let outside = ExternalContext {
        texts,
        private,
        recorded: writes,
        queue: session.queue.clone(),
        withheld: setup.secret_variables(),
        agents: &setup.agents,
        servers: &setup.servers,
        secret: setup.secrets(),
        program: setup.environment.program(),
        root: &setup.root,
        approve: session.approve.clone(),
        unconfined: session.unconfined,
        investigate: Some(Arc::new(move |launch: &Path, cases: &[String], vars: &Map<String, Value>, time| {
            (session.investigate)(session, launch, cases, vars, time)
        })),
        clock: &*setup.clock,
        stop: run.stop,
        budget: &run.budget,
        spent: Arc::new(spent),
        run_dir: Box::new(run_dir),
        run_files: files.then_some(run_files),
        brief: Arc::new(move |batch| session.briefing(id, batch)),
    };
    Box::new(agent::build(&run.settings.via.usual, &run.settings.via.nodes, &outside))
}

/// The answers that the store keeps. One that cannot be read is requested again.
struct StoredAnswers(Store);

impl AnswerCache for StoredAnswers {
    fn cached(&self, key: &Hash) -> Option<Value> {
        self.0.cached_answer(key).ok().flatten()
    }
}

/// The canned answers of a run, if it has any.
pub(super) fn stub(via: &Via, stub: Option<&Source>) -> Result<Option<StubAnswers>, SessionError> {
    match (via.is_stub(), stub) {
        (false, _) => Ok(None),
        (true, Some(source)) => {
            Ok(Some(StubAnswers::parse(source).map_err(|diagnostic| SessionError::Texts(Diagnostics::from(*diagnostic)))?))
        }
        (true, None) => {
            let help = Some("pass the file of canned answers: --stub FILE".to_owned());
            Err(SessionError::bad_request("input/no-stub", "`--via stub` needs answers", help))
        }
    }
}

/// Resolves a node's name or code; it may be a node of a sub-pipeline.
fn node_named(plan: &Plan, asked: &str) -> Result<String, SessionError> {
    fn look(plan: &Plan, asked: &str) -> Option<String> {
        if let Some(EdgeTarget::Node(node)) = plan.pipeline.resolve_target(asked) {
            return Some(plan.node(node).name.to_string());
        }
        plan.nodes.iter().filter_map(|node| node.subpipeline.as_ref()).find_map(|subpipeline| look(subpipeline, asked))
    }
    look(plan, asked).ok_or_else(|| {
        let known = plan.pipeline.nodes.iter().map(|node| node.name.as_str());
        let message = format!("no node `{asked}` in the pipeline `{}`", *plan.pipeline.name);
        SessionError::bad_request(Code::InputNoNode, message, did_you_mean(asked, known))
    })
}

/// Writes the remaining budget. A failure is ignored: the file is written again with the next answer.
fn write_budget(dir: &std::path::Path, status: &BudgetStatus) {
    let text = serde_json::to_string_pretty(status).unwrap_or_default() + "\n";
    drop(OutDir::private(dir).and_then(|dir| dir.write(BUDGET_FILE, &text)));
}
