//! `asterisk review`.

use super::run_view::LiveView;
use super::{FormatArg, GlobalArgs, ProjectArgs, save};
use crate::exit::Exit;
use crate::session::{ReviewWord, SessionError};
use clap::{Args, ValueEnum};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Approve, reassess or overturn the analysis of a case, as a person.
///
/// A case that waits for its review takes it as the answer; a finished one is reopened at its review. From then on, what a person
/// overturns is the truth about that failure: later runs recall it, and no script or agent can revert it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk review 880501 approve\n  asterisk review 880501 reassess --to investigate --message \"look at the proxy\"\n  \
                        asterisk review 880501 overturn --message \"the lab's DNS was down\""
)]
pub(super) struct ReviewArgs {
    /// The case.
    case: String,
    /// The suite: the id of the run.
    #[arg(long, value_name = "RUN", default_value = "latest")]
    suite_id: String,
    /// Your verdict.
    #[arg(value_enum)]
    verdict: ReviewWordArg,
    /// For `reassess`: the node to continue from, by name or code.
    #[arg(long, value_name = "NODE", required_if_eq("verdict", "reassess"))]
    to: Option<String>,
    /// For `overturn`: the correct defect code (`asterisk show data domain` lists them).
    #[arg(long, value_name = "CODE")]
    defect_type: Option<String>,
    /// The reason; for `overturn`, the correct cause.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
    #[command(flatten)]
    format: FormatArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReviewWordArg {
    /// The analysis is right.
    Approve,
    /// Analyse again.
    Reassess,
    /// The analysis is wrong.
    Overturn,
}

pub(super) fn review(global: &GlobalArgs, args: &ReviewArgs) -> Result<Exit, SessionError> {
    let ui = global.ui(args.format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let unused = |flag: &str, of: &str| {
        let message = format!("`{flag}` is for `{of}` alone");
        Err(SessionError::bad_request("input/review", message, Some(format!("leave it out, or use `{of}`"))))
    };
    let verdict = match (args.verdict, &args.to, &args.defect_type) {
        (ReviewWordArg::Approve | ReviewWordArg::Overturn, Some(_), _) => return unused("--to", "reassess"),
        (ReviewWordArg::Approve | ReviewWordArg::Reassess, _, Some(_)) => return unused("--defect-type", "overturn"),
        (ReviewWordArg::Approve, None, None) => ReviewWord::Approve,
        (ReviewWordArg::Reassess, to, None) => ReviewWord::Reassess(to.clone().unwrap_or_default()),
        (ReviewWordArg::Overturn, None, defect) => ReviewWord::Overturn(defect.clone()),
    };
    let live = LiveView::new(ui, global.verbose, Arc::new(AtomicBool::new(false)), false);
    let about = (args.suite_id.as_str(), args.case.as_str());
    let result = session.review(about, (&verdict, args.message.as_deref()), &live, &AtomicBool::new(false));
    live.finish();
    save::print_case(ui, &session, global, result?, &args.case)
}
