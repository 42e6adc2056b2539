//! Commands of code lenses and actions, and the cases whose values can be shown.

use super::recorded::ChosenCase;
use super::server::{RequestRefusal, Server};
use super::workspace::EditedProject;
use asterisk_decisions::{
    Decisions, Explanation, FoundVerdict, SavedDecision, StepQuery, explain, markdown, save_as_test, verdict, verdict_page,
};
use asterisk_script_tests::{TestSpec, run};
use asterisk_session::{Session, SessionError, Setup};
use asterisk_store::StoreError;
use asterisk_walk::{EdgeOutcome, EventBody, EventKind};
use gen_lsp_types::{ExecuteCommandParams, MessageType, Uri};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Runs a test: the address of its file, and its name.
pub(super) const RUN_TEST: &str = "asterisk.runTest";
/// Explains a decision: the run, the case or null, and the id of an edge or rule.
pub(super) const EXPLAIN: &str = "asterisk.explain";
/// Lists what the edits would flip: the id of an edge, or `verdict`.
pub(super) const SHOW_FLIPS: &str = "asterisk.showFlips";
/// Saves the last decision of an edge as a test: the run, the case or null, and the edge.
pub(super) const SAVE_TEST: &str = "asterisk.saveTest";
/// Chooses the case whose values are shown: the run, and the case or null.
pub(super) const SELECT_CASE: &str = "asterisk.selectCase";

/// The commands of the server.
pub(super) const COMMANDS: &[&str] = &[RUN_TEST, EXPLAIN, SHOW_FLIPS, SAVE_TEST, SELECT_CASE];

/// The most runs, the latest, and the most cases of each that are listed.
const RUNS: usize = 10;
const MOST: usize = 200;

/// Executes a command. The result is a text for the person, or null.
pub(super) fn execute(server: &mut Server, params: &ExecuteCommandParams) -> Result<Value, RequestRefusal> {
    let arguments = params.arguments.clone().unwrap_or_default();
    let text = |at: usize| arguments.get(at).and_then(Value::as_str).map(str::to_owned);
    let needed = |at: usize| {
        text(at).ok_or_else(|| RequestRefusal::because(format!("`{}` lacks its argument {}", params.command, at + 1)))
    };
    match params.command.as_str() {
        RUN_TEST => {
            let (uri, name) = (needed(0)?, needed(1)?);
            let (passed, report) = test(&server.workspace, &uri, &name)?;
            server.show(if passed { MessageType::Info } else { MessageType::Error }, report.clone());
            Ok(json!({ "passed": passed, "text": report }))
        }
        EXPLAIN => Ok(json!(explained(&server.workspace, &needed(0)?, text(1), &needed(2)?)?)),
        SHOW_FLIPS => Ok(json!(flips(&server.workspace, &needed(0)?))),
        SAVE_TEST => {
            let saved = save(&server.workspace, &needed(0)?, text(1).as_deref(), &needed(2)?)?;
            let root = server.workspace.analysis.as_ref().map(|analysis| analysis.root.clone()).unwrap_or_default();
            let shown = saved.file.strip_prefix(root).unwrap_or(&saved.file).display().to_string();
            server.show(MessageType::Info, format!("Saved as {} in {shown}", saved.test));
            let uri = super::location::uri_of(&saved.file);
            server.ask_client("window/showDocument", json!({ "uri": uri.0, "takeFocus": true }));
            Ok(json!(saved.file.display().to_string()))
        }
        SELECT_CASE => {
            server.select(ChosenCase { run: text(0).unwrap_or_else(|| "latest".into()), case: text(1) });
            Ok(Value::Null)
        }
        other => Err(RequestRefusal::because(format!("unknown command `{other}`"))),
    }
}

fn session(workspace: &EditedProject) -> Result<Session, RequestRefusal> {
    let session = workspace.analysis.as_ref().and_then(|analysis| analysis.session.as_ref());
    let session = session.ok_or_else(|| RequestRefusal::because("the project's settings cannot be read: see its diagnostics"))?;
    // What is typed since the analysis counts.
    let unsaved = Arc::new(workspace.documents.unsaved());
    Ok(Session::new(Setup { unsaved, ..session.setup().clone() }))
}

fn refused(error: &SessionError) -> RequestRefusal {
    RequestRefusal::because(error.to_string())
}

/// Runs a test on the texts as they are in the editor.
fn test(workspace: &EditedProject, uri: &str, name: &str) -> Result<(bool, String), RequestRefusal> {
    let (file, _) =
        workspace.of_uri(&Uri(uri.to_owned())).ok_or_else(|| RequestRefusal::because(format!("no test file `{uri}`")))?;
    let wanted = format!("{}#{name}", file.name);
    let spec = TestSpec { filter: Some(wanted.clone()), ..TestSpec::default() };
    let results = run(&session(workspace)?, &spec).map_err(|error| refused(&error))?;
    let Some(found) = results.tests.iter().find(|test| format!("{}#{}", test.file, test.name) == wanted) else {
        return Err(RequestRefusal::because(format!("there is no test `{wanted}`")));
    };
    Ok(match found.failures.first() {
        None => (true, format!("{name} passed")),
        Some(failure) => (false, format!("{name} failed: {}", failure.diagnostic.message)),
    })
}

/// The case of a run in which an edge was considered, with the last step; if none is named, the last case.
fn case_of(session: &Session, run: &str, case: Option<&str>, id: &str) -> Result<Option<(String, String)>, SessionError> {
    let decisions = Decisions::open(session)?;
    let run = decisions.record().run(run)?;
    let mut found = None;
    decisions.each(&run, |decision| {
        let is_it = decision.step.considered.iter().any(|entry| entry.edge == *id);
        if is_it && case.is_none_or(|case| case == &*decision.step.case) {
            found = Some((decision.step.case.to_string(), decision.step.path.to_string()));
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// The explanation of the step in which an edge was considered, or of the verdict, as Markdown.
fn explained(workspace: &EditedProject, run: &str, case: Option<String>, id: &str) -> Result<String, RequestRefusal> {
    let session = session(workspace)?;
    if case.is_none() {
        return occurrences(&session, run, id).map_err(|error| refused(&error));
    }
    let at = case_of(&session, run, case.as_deref(), id).map_err(|error| refused(&error))?;
    if let Some((case, step)) = at {
        let query = StepQuery { run: run.to_owned(), case: Some(case), step: Some(step) };
        return match explain(&session, &query).map_err(|error| refused(&error))? {
            Explanation::Case(case) => Ok(markdown(&case)),
            Explanation::Cases(_) => Err(RequestRefusal::because("no case was named")),
        };
    }
    let query = StepQuery { run: run.to_owned(), case, step: None };
    match verdict(&session, &query, Some(id)).map_err(|error| refused(&error))? {
        FoundVerdict::Case(case) => {
            let lines = verdict_page(&case, 100);
            let page = lines.iter().map(|line| line.text.clone()).collect::<Vec<_>>().join("\n");
            Ok(format!("# `{id}` in case {}\n\n```text\n{page}\n```\n", case.case))
        }
        FoundVerdict::Cases(_) => Err(RequestRefusal::because("no case was named")),
    }
}

/// The outcomes of an edge, or of a rule of the verdict or of roots, in the cases of a run, as a Markdown table; the cases in which it fired come
/// first.
fn occurrences(session: &Session, run: &str, id: &str) -> Result<String, SessionError> {
    let decisions = Decisions::open(session)?;
    let run = decisions.record().run(run)?;
    let store = decisions.record().store();
    let mut rows: Vec<(bool, [String; 3])> = Vec::new();
    let mut add = |case: &str, fired: bool, outcome: String, because: &str| -> Result<(), SessionError> {
        let name = format!("{} ({case})", store.case(&run, case)?.name);
        rows.push((!fired, [name, outcome, because.to_owned()]));
        Ok(())
    };
    let mut considered = Vec::new();
    decisions.each(&run, |decision| {
        let entries = decision.step.considered.iter().filter(|entry| entry.edge == *id);
        considered.extend(entries.map(|entry| (decision.step.case.clone(), entry.clone())));
        ControlFlow::Continue(())
    })?;
    for (case, entry) in &considered {
        let fired = matches!(entry.outcome, EdgeOutcome::Fired | EdgeOutcome::Advisory);
        let because = entry.because.as_ref().map_or("", |because| &**because);
        add(case, fired, entry.outcome.word().replace('_', " "), because)?;
    }
    let mut roots = BTreeMap::new();
    store.each_event_of(EventKind::Root, &run, |event| {
        if let EventBody::Root { rule, key, .. } = event.what {
            roots.insert(event.case, (rule, key));
        }
        ControlFlow::Continue(())
    })?;
    let is_root = roots.values().any(|(rule, _)| *rule == *id);
    for (case, (rule, key)) in roots.iter().filter(|_| is_root) {
        let decided = *rule == *id;
        add(case, decided, if decided { format!("decided `{key}`") } else { format!("decided by `{rule}`") }, "")?;
    }
    if considered.is_empty() && !is_root {
        for (case, made) in decisions.verdicts(&run)? {
            let spoken = made.spoke.iter().find(|spoken| spoken.id == *id);
            let outcome = spoken.map_or_else(|| "did not match".to_owned(), |spoken| format!("matched {}", spoken.strength));
            add(&case, spoken.is_some(), outcome, spoken.map_or("", |spoken| spoken.because.as_str()))?;
        }
    }
    rows.sort_by_key(|(idle, _)| *idle);
    let fired = rows.iter().filter(|(idle, _)| !idle).count();
    let mut text =
        format!("# `{id}` in run {run}\n\n{fired} of {}\n\n| case | outcome | because |\n| --- | --- | --- |\n", rows.len());
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    for (_, [case, outcome, because]) in rows.iter().take(MOST) {
        let _ = writeln!(text, "| {} | {} | {} |", cell(case), cell(outcome), cell(because));
    }
    if rows.len() > MOST {
        let _ = writeln!(text, "\nand {} more", rows.len() - MOST);
    }
    text.push_str("\nSelect a case to see how it was decided there.\n");
    Ok(text)
}

/// What the edits would flip, as Markdown.
fn flips(workspace: &EditedProject, id: &str) -> String {
    let Some(report) = &workspace.recorded.replayed else { return "no run has been replayed".into() };
    let mut text = format!("# What the edits would flip: `{id}`\n\n");
    let head = text.len();
    if id == "verdict" {
        for one in &report.changed_verdicts {
            let _ = writeln!(text, "- {}: {} becomes {}", one.case, one.from, one.to);
        }
    }
    for flip in report.flips.iter().filter(|flip| flip.from == id || flip.to == id) {
        let miss = flip.miss.as_ref().map_or(String::new(), |miss| format!(" ({miss})"));
        let _ = writeln!(text, "- {} at {}: {} becomes {}{miss}", flip.case, flip.node, flip.from, flip.to);
    }
    if text.len() == head {
        text.push_str("Nothing.\n");
    }
    text
}

/// Saves the decision as a test.
fn save(workspace: &EditedProject, run: &str, case: Option<&str>, id: &str) -> Result<SavedDecision, RequestRefusal> {
    let session = session(workspace)?;
    let found = case_of(&session, run, case, id).map_err(|error| refused(&error))?;
    let Some((case, step)) = found else {
        return Err(RequestRefusal::because(format!("`{id}` was not considered in this run")));
    };
    let query = StepQuery { run: run.to_owned(), case: Some(case), step: Some(step) };
    save_as_test(&session, &query, None).map_err(|error| refused(&error))
}

/// The runs of the store with their cases, newest first.
pub(super) fn cases(workspace: &EditedProject) -> Result<Value, RequestRefusal> {
    let session = session(workspace)?;
    let list = || {
        let decisions = match Decisions::open(&session) {
            // Without a store, there is no run yet.
            Err(SessionError::Store(StoreError::Missing(_))) => return Ok(Vec::new()),
            opened => opened?,
        };
        let mut all = Vec::new();
        for run in decisions.record().runs(&[])?.into_iter().take(RUNS) {
            let store = decisions.record().store();
            let revision = decisions.texts(&run)?.pop().map_or(0, |texts| texts.revision);
            let findings = store.findings(&run, revision)?;
            let mut cases = Vec::new();
            for (id, _) in store.case_names(&run)?.iter().take(MOST) {
                let found = findings.get(id).cloned().unwrap_or_default();
                cases.push(json!({
                    "case": id, "name": store.case(&run, id)?.name, "defect": found["defect_type"], "title": found["title"],
                }));
            }
            all.push(json!({ "run": run, "cases": cases }));
        }
        Ok::<_, SessionError>(all)
    };
    let runs = list().map_err(|error| refused(&error))?;
    let chosen = workspace.recorded.case.as_ref().map(|case| json!({ "run": case.run, "case": case.case }));
    Ok(json!({ "runs": runs, "selected": chosen, "refused": workspace.recorded.refused }))
}
