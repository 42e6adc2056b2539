//! `asterisk graph`.

use super::{Global, ProjectArgs};
use crate::exit::Exit;
use crate::pipeline::{self, draw::Picture};
use crate::project::check_conditions;
use crate::session::SessionError;
use crate::ui::{Format, Ui};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

/// Draw a pipeline.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk graph rca --format svg > rca.svg\n  asterisk graph rca --format dot > rca.dot\n  \
                        asterisk graph rca --format mermaid > rca.mmd")]
pub(super) struct GraphArgs {
    /// The pipeline: a path, a file stem, or a `pipeline:` name.
    pipeline: String,
    /// The language of the picture: `svg` needs no other program, `json` is the graph for programs.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: GraphFormat,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum GraphFormat {
    #[default]
    Mermaid,
    Dot,
    Svg,
    Json,
}

pub(super) fn graph(global: &Global, args: &GraphArgs) -> Result<Exit, SessionError> {
    let session = global.session(&ProjectArgs::default(), None)?;
    let parsed = pipeline::parse(&session.pipeline(&args.pipeline)?)?;
    check_conditions(&parsed)?;
    let picture = Picture::new(&parsed, &session.element_colours()?);
    let ui = Ui::new(global.color, Format::Pretty);
    match args.format {
        GraphFormat::Mermaid => ui.out(&picture.mermaid()),
        GraphFormat::Dot => ui.out(&picture.dot()),
        GraphFormat::Svg => ui.out(&picture.svg()),
        GraphFormat::Json => ui.json(&json(&picture)),
    }
    Ok(Exit::Ok)
}

/// The graph for programs: the shapes and arrows of the picture.
fn json(picture: &Picture) -> Value {
    let shapes = picture.shapes.iter().map(|shape| {
        json!({
            "id": shape.id, "kind": format!("{:?}", shape.role).to_lowercase(), "name": shape.name, "code": shape.code,
            "element": shape.element, "zone": shape.group.map(|group| &picture.groups[group].name),
        })
    });
    let arrows = picture.arrows.iter().map(|arrow| {
        json!({
            "id": arrow.id, "name": arrow.name, "kind": arrow.kind.word(), "counter": arrow.counter,
            "from": picture.shapes[arrow.from].id, "to": picture.shapes[arrow.to].id,
        })
    });
    let zones = picture.groups.iter().map(|group| json!({ "name": group.name, "element": group.element }));
    json!({
        "schema_version": 1, "pipeline": picture.title, "description": picture.description,
        "zones": zones.collect::<Vec<Value>>(), "nodes": shapes.collect::<Vec<Value>>(), "edges": arrows.collect::<Vec<Value>>(),
    })
}
