//! Read-only tools: reports, explanations, decisions, findings and replays of past runs.

use super::args::{Explain, GetReport, LintScript, Replay, Route};
use super::fault::ToolFault;
use super::paths::pipeline_within;
use super::registry::{RunPhase, SessionRegistry};
use asterisk_decisions::{self as decisions, Explanation};
use asterisk_diag::{Diagnostic, Source};
use asterisk_files::{Area, FileOrigin};
use asterisk_lint as lint;
use asterisk_project::{AnswererNames, LinkScope, LinkSettings};
use asterisk_report as report;
use asterisk_session::{ProjectText, Session, SessionError};
use serde_json::{Value, json};
use std::thread::available_parallelism;

/// Name of the most recent run.
pub(super) const LATEST: &str = "latest";

pub(super) fn value(of: impl serde::Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}

/// The report of a run; by default the one being served.
pub(super) fn report(registry: &SessionRegistry, args: GetReport) -> Result<Value, ToolFault> {
    let mut response = json!({});
    let run = match (args.run, registry.current()) {
        (Some(run), _) => run,
        (None, None) => LATEST.to_owned(),
        (None, Some(served)) => {
            let phase = served.phase();
            response["state"] = phase.name().into();
            match phase {
                RunPhase::Running => {}
                RunPhase::Done(summary) => response["summary"] = summary,
                RunPhase::Error(why, summary) => (response["error"], response["summary"]) = (why.into(), summary),
            }
            served.run.clone()
        }
    };
    response["run"] = run.as_str().into();
    let format = args.format.as_deref().unwrap_or("markdown");
    match format {
        "summary" => response["summary"] = value(registry.session.result(&run)?.summary()),
        "markdown" => response["report"] = page(&registry.session, &run, "report.md")?.into(),
        "json" => response["report"] = serde_json::from_str(&page(&registry.session, &run, "rca.json")?).unwrap_or_default(),
        other => {
            return Err(ToolFault::new("arguments", format!("unknown format `{other}`")).help("markdown, json or summary"));
        }
    }
    Ok(response)
}

/// A page of the report of a run.
pub(super) fn page(session: &Session, run: &str, name: &str) -> Result<String, SessionError> {
    let result = session.result(run)?;
    let (report, _) = report::of_run(session, &result)?;
    let mut out = Vec::new();
    report::pages(&report)?.print(name, &mut out).map_err(|source| SessionError::Write { path: name.to_owned(), source })?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Explains the walk of a case.
pub(super) fn explain(session: &Session, args: Explain) -> Result<Value, ToolFault> {
    let query = decisions::StepQuery { run: args.run.unwrap_or_else(|| LATEST.into()), case: args.case, step: args.step };
    Ok(match decisions::explain(session, &query)? {
        Explanation::Cases(cases) => value(cases),
        Explanation::Case(response) => json!({ "explanation": value(&response), "markdown": decisions::markdown(&response) }),
    })
}

/// A single routing decision.
pub(super) fn route(session: &Session, args: Route) -> Result<Value, ToolFault> {
    pipeline_within(&session.setup().root, args.pipeline.as_deref())?;
    let project = session.whole_project(args.pipeline.as_deref(), AnswererNames::Others)?;
    let (routed, trouble) = session.route(&project, &args.node, &args.artifact, args.state, &args.vars)?;
    let mut response = value(&routed);
    if !trouble.is_empty() {
        response["diagnostics"] = trouble.iter().map(super::fault::to_json).collect();
    }
    Ok(response)
}

/// Lints a script, optionally with another text for it, among the project's other scripts.
pub(super) fn lint_script(registry: &SessionRegistry, args: LintScript) -> Result<Value, ToolFault> {
    let SessionRegistry { session, lint: config, .. } = registry;
    let mut texts = session.texts(&[])?;
    let mut named = false;
    for text in &mut texts {
        text.requested = text.area == Area::Scripts && (text.source.name() == args.path || text.shown == args.path);
        named |= text.requested;
        if let (true, Some(new)) = (text.requested, &args.text) {
            text.source = Source::new(text.source.name(), new.as_str());
        }
    }
    match args.text {
        _ if named => {}
        Some(text) => {
            let path = args.path.strip_prefix("scripts/").unwrap_or(&args.path).to_owned();
            if !path.ends_with(".rhai") || path.split('/').any(|part| part.is_empty() || part.starts_with('.')) {
                let message = format!("`{}` is not the path of a script", args.path);
                return Err(ToolFault::new("arguments", message).help("for example rules/mine.rhai"));
            }
            let source = Source::new(path.as_str(), text);
            texts.push(ProjectText { area: Area::Scripts, source, shown: path, origin: FileOrigin::Embedded, requested: true });
        }
        None => {
            return Err(ToolFault::new("no_script", format!("the project does not contain the script `{}`", args.path))
                .help("pass its text too"));
        }
    }
    let settings = LinkSettings { scope: LinkScope::Checked, ..session.settings(AnswererNames::Others) };
    let outcome = lint::lint(lint::LintInput { texts: &texts, settings: &settings, config, cases: &[] });
    Ok(lint::json(&outcome.findings))
}

/// Replays past runs with the current sources.
pub(super) fn replay(session: &Session, args: Replay) -> Result<Value, ToolFault> {
    pipeline_within(&session.setup().root, args.pipeline.as_deref())?;
    let mut setup = session.setup().clone();
    setup.texts.vars.extend(args.set);
    let parallel = available_parallelism().map_or(1, usize::from);
    let query = decisions::replay::ReplaySpec { runs: args.runs, pipeline: args.pipeline, parallel };
    let done = decisions::replay::replay(&Session::new(setup), &query)?;
    if done.decisions == 0 {
        let nothing = Diagnostic::error("replay/nothing", "no decisions to re-evaluate");
        return Err(SessionError::BadRequest(Box::new(nothing)).into());
    }
    Ok(json!({
        "runs": done.runs, "cases": done.cases, "decisions": done.decisions, "changed": done.changed, "flips": done.flips,
        "totals": done.totals(), "effects": done.effects, "unknown": done.unknown,
    }))
}
