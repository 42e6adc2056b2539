//! `asterisk schema`.

use super::Global;
use crate::exit::Exit;
use crate::ui::{Format, Ui};
use crate::{config, pipeline};
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
    kind: Kind,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// A pipeline.
    Pipeline,
    /// `asterisk.yaml`.
    Project,
}

pub(super) fn schema(global: &Global, args: SchemaArgs) -> Exit {
    let schema = match args.kind {
        Kind::Pipeline => pipeline::json_schema(),
        Kind::Project => config::json_schema(),
    };
    Ui::new(global.color, Format::Json).json(&schema);
    Exit::Ok
}
