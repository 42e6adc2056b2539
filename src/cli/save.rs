//! `asterisk save`.

use super::run_view::{LiveView, stopped, tokens};
use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui, plain};
use asterisk_session::{CaseResult, RunResult, Session, SessionError, Submission};
use asterisk_walk::WalkStatus;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Submit the answer to a step that waits for one.
///
/// The answer is checked against the schema of its node. An invalid one is rejected with the reasons and changes nothing; a valid
/// one is recorded, and the case continues as far as it can: to the next step that waits, or to completion. Wrapped as
/// `{dispatch_id, data}`, or with --request, it is accepted only for that request.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk save -f recall-result.json --case-id 880501\n  asterisk save -f - --case-id 880501 --suite-id 20260214-212109-ab12cd < recall-result.json"
)]
pub(super) struct SaveArgs {
    /// The artifact: a JSON object; `-` for standard input.
    #[arg(short, long, value_name = "FILE")]
    file: PathBuf,
    /// The case [default: the only one waiting].
    #[arg(long, value_name = "ID")]
    case_id: Option<String>,
    /// The suite: the id of the run.
    #[arg(long, value_name = "RUN", default_value = "latest")]
    suite_id: String,
    /// The request that it answers, as shown by `cursor`.
    #[arg(long, value_name = "ID")]
    request: Option<i64>,
    /// The author. Only an answer from a person counts as a review.
    #[arg(long, value_enum, default_value_t, value_name = "WHO")]
    by: AnswerAuthor,
    #[command(flatten)]
    format: FormatArg,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum AnswerAuthor {
    /// An agent.
    #[default]
    Agent,
    /// A person.
    Human,
}

pub(super) fn save(global: &GlobalArgs, args: &SaveArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let answer = session.answer_in(&args.file)?;
    let by = match args.by {
        AnswerAuthor::Agent => "agent",
        AnswerAuthor::Human => "human",
    };
    let submission =
        Submission { run: &args.suite_id, case: args.case_id.as_deref(), answer: &answer, request: args.request, by };
    let live = LiveView::new(ui, global.verbose, Arc::new(AtomicBool::new(false)), false);
    let result = session.submit(&submission, &live, &AtomicBool::new(false));
    live.finish();
    let (case, result) = result?;
    print_case(ui, &session, global, result, &case)
}

/// Prints the state of a case after a submission.
pub(super) fn print_case(
    ui: &Ui,
    session: &Session,
    global: &GlobalArgs,
    mut result: RunResult,
    id: &str,
) -> Result<Exit, SessionError> {
    let over = matches!(result.status, WalkStatus::Done | WalkStatus::Error);
    let mut damaged = false;
    if over {
        let (report, exit) = super::report::build(ui, session, &result)?;
        damaged = exit != Exit::Ok;
        asterisk_report::write(session, &result, &report)?;
        result.report = session.report_path(&result);
    }
    let mut case = None;
    result.each(|one| {
        if one.case.id == id {
            case = Some((one.summary(), state_line(one)));
        }
        Ok(())
    })?;
    let Some((summary, line)) = case else { return Ok(Exit::Ok) };
    match ui.format() {
        OutputFormat::Json => {
            let report = result.report.as_ref().map(|path| path.display().to_string());
            ui.json(&json!({ "schema_version": 1, "suite_id": result.run, "status": result.status, "case": summary, "report": report }));
        }
        OutputFormat::Pretty => ui.out(&plain(&line)),
    }
    super::run_view::failures(ui, &result);
    tokens(ui, &result);
    if over {
        if let Some(path) = result.report.as_ref().filter(|_| ui.format() == OutputFormat::Pretty) {
            ui.note(&format!("the run is over; report: {}", path.display()));
        }
    } else {
        ui.note(&stopped(session, &result, &global.store_flag()));
    }
    Ok(if damaged || summary.status == WalkStatus::Error { Exit::Cases } else { Exit::Ok })
}

/// The state of a case as a line.
fn state_line(case: &CaseResult) -> String {
    let state = &case.state;
    let (id, path) = (&case.case.id, state.path.iter().map(compact_str::CompactString::as_str).collect::<Vec<_>>().join(" "));
    match (state.waits(), state.status) {
        (Some(open), _) => format!("{id}: {path}; now `{}` waits for its answer", open.node),
        (None, WalkStatus::Done) => format!("{id}: {path}; it is over"),
        (None, WalkStatus::Error) => format!("{id}: {path}; it failed"),
        (None, _) => format!("{id}: {path}; it waits for the other cases to catch up"),
    }
}
