//! `asterisk graph`.

use super::{GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::ui::OutputFormat;
use asterisk_decisions as decisions;
use asterisk_diag::{Diagnostic, Source};
use asterisk_pipeline::{self as pipeline, Pipeline, draw::Picture};
use asterisk_project::check_conditions;
use asterisk_session::{Session, SessionError};
use asterisk_walk::Plan;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Draw a pipeline, or the paths of cases through it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk graph rca --format svg > rca.svg\n  asterisk graph rca --format dot > rca.dot\n  \
                        asterisk graph rca --format mermaid > rca.mmd\n  asterisk graph --run latest --format svg > run.svg")]
pub(super) struct GraphArgs {
    /// The pipeline: a path, a file stem, or a `pipeline:` name. With --run, that of the run.
    #[arg(required_unless_present = "run")]
    pipeline: Option<String>,
    /// Show how often the cases of this run visited each node and took each edge, on the graph of the run; `latest` is the run
    /// started last.
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Only this case of the run.
    #[arg(long, value_name = "ID", requires = "run")]
    case: Option<String>,
    /// The output format: `svg` needs no other program, `json` is the graph as data.
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
    /// Print the pipeline in the graph language, even if it is written as stages.
    Yaml,
}

pub(super) fn graph(global: &GlobalArgs, args: &GraphArgs) -> Result<Exit, SessionError> {
    let session = global.session(&ProjectArgs::default(), None)?;
    let colours = session.element_colours()?;
    let ui = &global.printer(OutputFormat::Pretty);
    let mut waves: Option<Vec<Vec<String>>> = None;
    let picture = match (&args.run, &args.pipeline) {
        (Some(_), _) if matches!(args.format, GraphFormat::Yaml) => {
            let help = "omit --run, and name the pipeline";
            return Err(SessionError::bad_request(
                "input/format",
                "`--format yaml` prints a pipeline, not a run",
                Some(help.into()),
            ));
        }
        (Some(run), pipeline) => of_run(&session, run, args.case.as_deref(), pipeline.as_deref(), &colours)?,
        (None, pipeline) => {
            let source = session.pipeline(pipeline.as_deref().unwrap_or_default())?;
            let parts = session.subpipelines(&source)?.subpipelines;
            let parsed = pipeline::parse(&source)?;
            check_conditions(&parsed)?;
            if matches!(args.format, GraphFormat::Yaml) {
                ui.out(parsed.graph_text().trim_end());
                return Ok(Exit::Ok);
            }
            waves = parsed.waves().then(|| wave_names(&parsed));
            // Drawing does not need the data.
            let data = session.data().unwrap_or_default();
            let personas = data.get("personas").cloned().unwrap_or_default();
            sketch(&parsed, &parts, &colours, &personas, &mut vec![source.name().to_owned()])?
        }
    };
    match args.format {
        GraphFormat::Yaml => {}
        GraphFormat::Mermaid => ui.out(&picture.mermaid()),
        GraphFormat::Dot => ui.out(&picture.dot()),
        GraphFormat::Svg => ui.out(&picture.svg()),
        GraphFormat::Json => {
            let mut graph = json(&picture);
            graph["schema_version"] = json!(1);
            if let Some(waves) = waves {
                graph["waves"] = json!(waves);
            }
            ui.json(&graph);
        }
    }
    Ok(Exit::Ok)
}

/// Groups node names by wave.
fn wave_names(pipeline: &Pipeline) -> Vec<Vec<String>> {
    let names = |wave: Vec<pipeline::NodeIx>| wave.into_iter().map(|ix| pipeline.at(ix).name.value.clone()).collect();
    pipeline.wave_nodes().into_iter().map(names).collect()
}

/// The graph of a run with the paths of its cases.
fn of_run(
    session: &Session,
    run: &str,
    case: Option<&str>,
    pipeline: Option<&str>,
    colours: &BTreeMap<String, String>,
) -> Result<Picture, SessionError> {
    let taken = decisions::counts(session, run, case)?;
    if let Some(asked) = pipeline {
        let named = pipeline::parse(&session.pipeline(asked)?)?.name.value;
        let own = &taken.plan.pipeline.name.value;
        if named != *own {
            let message = format!("the run {} used `{own}`, not `{named}`", taken.run);
            let help = format!("omit the pipeline: asterisk graph --run {}", taken.run);
            return Err(SessionError::BadRequest(Box::new(Diagnostic::error("input/pipeline", message).help(help))));
        }
    }
    let mut picture = draw(&taken.plan, colours);
    let whose = match (case, taken.cases) {
        (Some(case), _) => format!("case {case}"),
        (None, 1) => "1 case".to_owned(),
        (None, cases) => format!("{cases} cases"),
    };
    let shown = format!("The paths of {whose} of run {}, and how often each was taken (×).", taken.run);
    let before = picture.description.trim_end_matches('.');
    picture.description = if before.is_empty() { shown } else { format!("{before}. {shown}") };
    picture.show(&taken.counts);
    Ok(picture)
}

/// Draws a linked pipeline with its sub-pipelines.
fn draw(plan: &Plan, colours: &BTreeMap<String, String>) -> Picture {
    let part = |ix: usize| plan.nodes[ix].subpipeline.as_ref().map(|part| draw(part, colours));
    let member = |name: &str| plan.team.as_ref()?.members.iter().find(|member| member.name == name);
    let via = |name: &str| member(name).into_iter().flat_map(|member| &member.via).map(ToString::to_string).collect();
    Picture::new(&plan.pipeline, colours).with_via(via).with_nested(part)
}

/// Draws a pipeline that need not link, with its sub-pipelines. A pipeline within itself is left out.
fn sketch(
    pipeline: &Pipeline,
    parts: &BTreeMap<String, Source>,
    colours: &BTreeMap<String, String>,
    personas: &Value,
    within: &mut Vec<String>,
) -> Result<Picture, SessionError> {
    let mut found = BTreeMap::new();
    for (ix, node) in pipeline.nodes.iter().enumerate() {
        let Some(source) = node.subpipeline.as_ref().and_then(|part| parts.get(&part.value)) else { continue };
        if within.iter().any(|name| name == source.name()) {
            continue;
        }
        within.push(source.name().to_owned());
        found.insert(ix, sketch(&pipeline::parse(source)?, parts, colours, personas, within)?);
        within.pop();
    }
    Ok(Picture::new(pipeline, colours).with_via(|name| via(personas, name)).with_nested(|ix| found.get(&ix).cloned()))
}

/// The answerers of a persona, by its data.
fn via(personas: &Value, name: &str) -> Vec<String> {
    let mut all = personas["personas"].as_array().into_iter().flatten();
    let found = all.find(|persona| persona["name"] == name);
    let via = found.and_then(|persona| persona["via"].as_array()).into_iter().flatten();
    via.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The graph for programs: the shapes and arrows of the picture.
fn json(picture: &Picture) -> Value {
    let shapes = picture.shapes.iter().map(|shape| {
        let mut node = json!({
            "id": shape.id, "kind": format!("{:?}", shape.role).to_lowercase(), "name": shape.name, "code": shape.code,
            "element": shape.element, "zone": shape.group.map(|group| &picture.groups[group].name),
        });
        if !shape.badges.is_empty() {
            node["badges"] = json!(shape.badges);
        }
        if let Some(count) = shape.count {
            (node["visits"], node["failures"]) = (json!(count), json!(shape.failures));
        }
        node
    });
    let arrows = picture.arrows.iter().map(|arrow| {
        let mut edge = json!({
            "id": arrow.id, "name": arrow.name, "kind": arrow.kind.word(), "counter": arrow.counter,
            "from": picture.shapes[arrow.from].id, "to": picture.shapes[arrow.to].id,
        });
        if let Some(count) = arrow.count {
            edge["taken"] = json!(count);
        }
        edge
    });
    let zones = picture.groups.iter().map(|group| json!({ "name": group.name, "element": group.element }));
    let mut graph = json!({
        "pipeline": picture.title, "description": picture.description,
        "zones": zones.collect::<Vec<Value>>(), "nodes": shapes.collect::<Vec<Value>>(), "edges": arrows.collect::<Vec<Value>>(),
    });
    if let Some(team) = &picture.team {
        let walkers = team.walkers.iter().map(|(name, via)| json!({ "name": name, "via": via })).collect::<Vec<Value>>();
        graph["team"] = json!({ "walkers": walkers, "scheduler": team.scheduler });
    }
    if !picture.nested.is_empty() {
        let part =
            |part: &pipeline::draw::NestedPicture| json!({ "node": picture.shapes[part.shape].id, "graph": json(&part.picture) });
        graph["parts"] = json!(picture.nested.iter().map(part).collect::<Vec<Value>>());
    }
    graph
}
