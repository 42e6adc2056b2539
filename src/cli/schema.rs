//! `asterisk schema`.

use super::GlobalArgs;
use crate::exit::Exit;
use crate::ui::OutputFormat;
use crate::{calibrate, config, pipeline, project};
use clap::{Args, ValueEnum};

/// Print the JSON Schema of a kind of file, so that editors complete and check it.
#[derive(Clone, Copy, Debug, Args)]
#[command(
    after_help = "A file names its schema to most editors in its first line:\n  # yaml-language-server: $schema=pipeline.schema.json\n\n\
                        Examples:\n  asterisk schema pipeline > pipeline.schema.json\n  asterisk schema project > asterisk.schema.json"
)]
pub(super) struct SchemaArgs {
    /// The kind of file.
    #[arg(value_enum)]
    kind: SchemaKind,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SchemaKind {
    /// A pipeline.
    Pipeline,
    /// A domain.
    Domain,
    /// `asterisk.yaml`.
    Project,
    /// A scenario for `asterisk calibrate`.
    Scenario,
}

pub(super) fn schema(global: &GlobalArgs, args: SchemaArgs) -> Exit {
    let schema = match args.kind {
        SchemaKind::Pipeline => pipeline::json_schema(),
        SchemaKind::Domain => project::domain::json_schema(),
        SchemaKind::Project => config::json_schema(),
        SchemaKind::Scenario => calibrate::json_schema(),
    };
    global.printer(OutputFormat::Json).json(&schema);
    Exit::Ok
}
