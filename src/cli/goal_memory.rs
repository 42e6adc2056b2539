//! `asterisk goal memory`.

use super::{FormatArg, GlobalArgs, ProjectArgs, nothing_yet};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui, plain};
use asterisk_session::SessionError;
use asterisk_store::Megram;
use clap::{Args, Subcommand};
use serde_json::json;

/// List, show, trace and forget the memories of goals.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk goal memory list\n  asterisk goal memory list --space tool:shell --format json")]
pub(super) struct MemoryArgs {
    #[command(subcommand)]
    command: MemoryCommand,
}

#[derive(Debug, Subcommand)]
enum MemoryCommand {
    /// List memories, newest first.
    List {
        /// List only memories of this space: a kind of goal, or a tool.
        #[arg(long, value_name = "SPACE")]
        space: Option<String>,
        /// The maximum number of memories listed.
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: usize,
        #[command(flatten)]
        format: FormatArg,
    },
    /// Show a memory.
    Show {
        /// The memory's id, as in `asterisk goal memory list`.
        #[arg(allow_negative_numbers = true)]
        id: i64,
        #[command(flatten)]
        format: FormatArg,
    },
    /// Show the origin of a memory: the step that wrote it, or the memories it was distilled from.
    Why {
        /// The memory's id.
        #[arg(allow_negative_numbers = true)]
        id: i64,
        #[command(flatten)]
        format: FormatArg,
    },
    /// Forget a memory.
    Forget {
        /// The memory's id.
        #[arg(allow_negative_numbers = true)]
        id: i64,
        #[command(flatten)]
        format: FormatArg,
    },
}

pub(super) fn memory(global: &GlobalArgs, args: &MemoryArgs) -> Result<Exit, SessionError> {
    let (MemoryCommand::List { format, .. }
    | MemoryCommand::Show { format, .. }
    | MemoryCommand::Why { format, .. }
    | MemoryCommand::Forget { format, .. }) = &args.command;
    let ui = &global.ui(*format);
    let session = global.session(&ProjectArgs::default(), None)?;
    match &args.command {
        MemoryCommand::List { space, limit, .. } => {
            let memories = session.knowledge()?.memories(space.as_deref(), *limit)?;
            match ui.format() {
                OutputFormat::Json => ui.json(&json!({ "schema_version": 1, "memories": memories })),
                OutputFormat::Pretty if memories.is_empty() => nothing_yet(ui, &session, "no memories yet"),
                OutputFormat::Pretty => {
                    let mut table = ui.table(&["memory", "level", "about", "state", "weight", "says"]);
                    for one in &memories {
                        let about = format!("{} {}", one.space, one.entity);
                        let weight = format!("{:+.2}", one.f * one.sigma * (-one.k * one.age_days).exp());
                        table.row([one.id.to_string(), one.level.clone(), about, one.state.clone(), weight, one.content.clone()]);
                    }
                    ui.out(&table.text());
                }
            }
        }
        MemoryCommand::Show { id, .. } => shown(ui, &session.knowledge()?.memory(*id)?, &[]),
        MemoryCommand::Why { id, .. } => {
            let knowledge = session.knowledge()?;
            let memory = knowledge.memory(*id)?;
            // Sources may have been forgotten since.
            let sources: Vec<Megram> = memory.sources.iter().filter_map(|id| knowledge.memory(*id).ok()).collect();
            shown(ui, &memory, &sources);
        }
        MemoryCommand::Forget { id, .. } => {
            let memory = session.knowledge()?.forget(*id)?;
            match ui.format() {
                OutputFormat::Json => ui.json(&json!({ "schema_version": 1, "forgotten": memory })),
                OutputFormat::Pretty => ui.out(&plain(&format!("forgotten: {}", memory.content))),
            }
        }
    }
    Ok(Exit::Ok)
}

fn shown(ui: &Ui, memory: &Megram, sources: &[Megram]) {
    if ui.format() == OutputFormat::Json {
        ui.json(&json!({ "schema_version": 1, "memory": memory, "sources": sources }));
        return;
    }
    let mut lines = vec![
        format!("{}: {}", memory.id, memory.content),
        format!("  {} {}, made {} in the state {}", memory.space, memory.entity, memory.created_at, memory.state),
        format!("  level {}, strength {}, direction {:+}, fading {} a day", memory.level, memory.f, memory.sigma, memory.k),
    ];
    if memory.consolidated {
        lines.push("  superseded by a distilled memory".to_owned());
    }
    if let Some(from) = &memory.from {
        lines.push(format!(
            "  from step {} of case {} of run {}: asterisk explain {} --step {}",
            from.step, from.case, from.run, from.run, from.step
        ));
    }
    lines.extend(sources.iter().map(|source| format!("  distilled from {}: {}", source.id, source.content)));
    for line in lines {
        ui.out(&plain(&line));
    }
}
