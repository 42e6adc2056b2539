//! `asterisk graph`.

use super::{Global, ProjectArgs};
use crate::exit::Exit;
use crate::pipeline;
use crate::project::check_conditions;
use crate::session::SessionError;
use crate::ui::{Format, Ui};
use clap::{Args, ValueEnum};

/// Draw a pipeline.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  asterisk graph rca --format mermaid > rca.mmd")]
pub(super) struct GraphArgs {
    /// The pipeline: a path, a file stem, or a `pipeline:` name.
    pipeline: String,
    /// The language of the picture.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: GraphFormat,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum GraphFormat {
    #[default]
    Mermaid,
}

pub(super) fn graph(global: &Global, args: &GraphArgs) -> Result<Exit, SessionError> {
    let GraphFormat::Mermaid = args.format;
    let session = global.session(&ProjectArgs::default(), None)?;
    let parsed = pipeline::parse(&session.pipeline(&args.pipeline)?)?;
    check_conditions(&parsed)?;
    Ui::new(global.color, Format::Pretty).out(&pipeline::mermaid(&parsed));
    Ok(Exit::Ok)
}
