//! `asterisk review`.

use super::run_view::Live;
use super::{FormatArg, Global, ProjectArgs, save};
use crate::exit::Exit;
use crate::session::{SessionError, Verdict};
use clap::{Args, Subcommand};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Say as a person what you think of a case's analysis.
///
/// A case that waits at its review takes it as the answer; one that is over goes on at its review. What a person overturns counts as
/// the truth about that failure from then on: later runs recall it, and no script or agent takes it back.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk review 880501 approve\n  asterisk review 880501 reassess --to investigate --message \"look at the proxy\"\n  \
                        asterisk review 880501 overturn --message \"the lab's DNS was down\""
)]
pub(super) struct ReviewArgs {
    /// The case.
    case: String,
    /// The suite: the id of the run.
    #[arg(long, value_name = "RUN", default_value = "latest", global = true)]
    suite_id: String,
    #[command(subcommand)]
    verdict: Word,
    #[command(flatten)]
    format: FormatArg,
}

#[derive(Debug, Subcommand)]
enum Word {
    /// It is right.
    Approve {
        /// Why.
        #[arg(long, short, value_name = "TEXT")]
        message: Option<String>,
    },
    /// Look again.
    Reassess {
        /// From this node on, by name or code.
        #[arg(long, value_name = "NODE")]
        to: String,
        /// Why.
        #[arg(long, short, value_name = "TEXT")]
        message: Option<String>,
    },
    /// It is wrong.
    Overturn {
        /// The right defect code (`asterisk show data domain` lists them).
        #[arg(long, value_name = "CODE")]
        defect_type: Option<String>,
        /// The right cause.
        #[arg(long, short, value_name = "TEXT")]
        message: Option<String>,
    },
}

pub(super) fn review(global: &Global, args: &ReviewArgs) -> Result<Exit, SessionError> {
    let ui = global.ui(args.format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let (verdict, message) = match &args.verdict {
        Word::Approve { message } => (Verdict::Approve, message),
        Word::Reassess { to, message } => (Verdict::Reassess(to.clone()), message),
        Word::Overturn { defect_type, message } => (Verdict::Overturn(defect_type.clone()), message),
    };
    let live = Live::new(ui, global.verbose, Arc::new(AtomicBool::new(false)), false);
    let about = (args.suite_id.as_str(), args.case.as_str());
    let result = session.review(about, (&verdict, message.as_deref()), &live, &AtomicBool::new(false));
    live.finish();
    save::told(ui, &session, global, result?, &args.case)
}
