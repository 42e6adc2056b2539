//! Links a team: its walkers from the personas or the pipeline, its scheduler from the scripts.

use super::DataFiles;
use super::forms::DataReader;
use super::linked_pipeline::ProjectLinker;
use super::personas::{elements, personas};
use super::{forms, kinds, masks};
use asterisk_base::model::Kind;
use asterisk_diag::{Diagnostic, Diagnostics, did_you_mean};
use asterisk_form::fill;
use asterisk_form::yaml::Yaml;
use asterisk_pipeline::{self as pipeline, NodeIx, Pipeline, PipelineNode, Spanned, TeamWalker};
use asterisk_script::check::CheckedParameter;
use asterisk_script::{FunctionRef, ScriptFunction, View};
use asterisk_walk::{Content, NEEDS, TeamMember, TeamPlan, walker_view};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The required and the optional function of a scheduler.
const SELECT: &str = "select";
const BECAUSE: &str = "because";

impl ProjectLinker<'_> {
    /// Links the team of the pipeline.
    pub(super) fn team(&self, data: &DataFiles, found: &mut Diagnostics) -> Option<TeamPlan> {
        let team = self.pipeline.team.as_ref()?;
        if team.source != self.pipeline.source {
            // It is defined in another file: errors are labelled there.
            let pipeline = Arc::new(Pipeline { source: team.source.clone(), ..Pipeline::clone(self.pipeline) });
            return ProjectLinker { pipeline: &pipeline, ..*self }.team(data, found);
        }
        let mut members: Vec<TeamMember> = Vec::with_capacity(team.walkers.len());
        let mut names: Vec<Spanned<String>> = Vec::new();
        let before = found.len();
        for walker in &team.walkers {
            let Some(mut persona) = self.persona(walker, data, found) else { continue };
            let Some(name) = walker.name() else { continue };
            at_home(&mut persona, data);
            if let Some(first) = names.iter().find(|first| first.value.eq_ignore_ascii_case(&name.value)) {
                let error = Diagnostic::error("project/duplicate-walker", format!("duplicate walker `{}` in the team", *name));
                let error = error.label(&self.pipeline.source, name.span, "again here");
                found.push(error.label(&self.pipeline.source, first.span, "first here").help("give each its own name"));
            }
            for name in persona["via"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                self.agent(name, walker.name().map_or(team.span, |name| name.span), found);
            }
            let masks = persona["masks"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let masks = masks.filter_map(|path| masks::of_persona(self, path, &name, found)).collect();
            members.push(member(&persona, data, masks));
            names.push(name);
        }
        let (select, because, needs) = self.scheduler(&team.scheduler, found)?;
        let is_complete = members.len() == team.walkers.len() && found.len() == before;
        is_complete.then(|| TeamPlan {
            walkers: View::list("ctx.walkers", members.iter().map(|member| member.scheduler_view.clone())),
            members,
            select,
            because,
            needs,
            places: (0..self.pipeline.nodes.len()).map(|node| self.place(NodeIx(node))).collect(),
        })
    }

    /// Reads a walker, with every key of a persona.
    fn persona(&self, walker: &TeamWalker, data: &DataFiles, found: &mut Diagnostics) -> Option<Value> {
        match walker {
            TeamWalker::Persona(name) => {
                let is_it = |persona: &&Value| persona["name"].as_str().is_some_and(|known| known.eq_ignore_ascii_case(name));
                let persona = personas(data).find(is_it);
                if persona.is_none() {
                    let names: Vec<&str> = personas(data).filter_map(|persona| persona["name"].as_str()).collect();
                    let hint = did_you_mean(name, names);
                    let help = "`asterisk show personas` lists them; to define one in the pipeline, write a map: `{ name: Scout, element: fire }`";
                    let error = Diagnostic::error("project/unknown-walker", format!("unknown persona `{}`", **name));
                    let error = error.label(&self.pipeline.source, name.span, "of this team");
                    found.push(error.help(hint.map_or_else(|| help.to_owned(), |hint| format!("{hint} {help}"))));
                }
                persona.cloned()
            }
            TeamWalker::Own(yaml) => self.own(yaml, data, found),
        }
    }

    fn own(&self, yaml: &Yaml, data: &DataFiles, found: &mut Diagnostics) -> Option<Value> {
        let mut check = DataReader::new(&self.pipeline.source, "pipeline");
        let mut persona = check.file(yaml, &forms::WALKER, None);
        fill(&mut persona, &forms::WALKER);
        if let Some((element, text)) = yaml.get("element").and_then(|element| Some((element, element.as_text()?)))
            && !elements(data).any(|known| known == text)
        {
            let error = check.reader.error("unknown-element", format!("unknown element `{text}`"), element.span, "");
            let names: Vec<&str> = elements(data).collect();
            let known = format!("the elements are {}", names.join(", "));
            check.reader.push(error.help(did_you_mean(text, names).unwrap_or(known)));
        }
        let problems = check.finish();
        let is_valid = !problems.has_errors();
        found.extend(problems);
        is_valid.then_some(persona)
    }

    /// Links the scheduler: its selection, its reason, and its queries.
    fn scheduler(
        &self,
        reference: &Spanned<String>,
        found: &mut Diagnostics,
    ) -> Option<(ScriptFunction, Option<ScriptFunction>, Vec<&'static asterisk_walk::Query>)> {
        let select = self.function(&Spanned::new(select(reference), reference.span), 1, found)?;
        let file = select.file()?.to_owned();
        let because = self.library.function(&FunctionRef { file: file.clone(), function: BECAUSE.into() }, 2).ok();
        let (ctx, name) = (kinds::scheduling(&kinds::no_words), Kind::Text { one_of: Vec::new() });
        let inputs = [CheckedParameter { name: "ctx", kind: &ctx }, CheckedParameter { name: "name", kind: &name }];
        self.check(&select, &inputs[..1], found);
        if let Some(because) = &because {
            self.check(because, &inputs, found);
        }
        let needs = masks::needs(self, &file, Some(reference.span), found);
        for need in needs.iter().filter(|need| !need.of_run) {
            let of_run: Vec<_> = NEEDS.iter().filter(|need| need.of_run).map(|need| format!("`{}`", need.name)).collect();
            let message = format!("the scheduler `{file}` reads `{}`, which changes at each step", need.name);
            let help = format!("a scheduler may only read queries that stay constant during a run: {}", of_run.join(", "));
            let problem = Diagnostic::error("project/scheduler-needs", message);
            found.push(problem.label(&self.pipeline.source, reference.span, "named here").help(help));
        }
        Some((select, because, needs))
    }

    /// A node and its zone, for the scheduler.
    fn place(&self, at: NodeIx) -> (View, View) {
        let pipeline = self.pipeline;
        let node: &PipelineNode = pipeline.at(at);
        let text = |text: Option<&Spanned<String>>| text.map_or("", |text| text.as_str()).to_owned();
        let node_view = json!({
            "name": *node.name, "family": *node.family, "element": text(node.element.as_ref()), "code": text(node.code.as_ref()),
        });
        let zone = match pipeline.zone_of(at) {
            None => json!({ "name": "", "element": "", "stickiness": 0, "nodes": [] }),
            Some(pipeline::Zone { name, nodes, element, stickiness }) => json!({
                "name": **name, "element": text(element.as_ref()), "stickiness": stickiness,
                "nodes": nodes.iter().map(|node| pipeline.at(*node).name.as_str()).collect::<Vec<_>>(),
            }),
        };
        (View::of(&node_view, &Kind::Any, "ctx.node"), View::of(&zone, &Kind::Any, "ctx.zone"))
    }
}

/// The function that a team's `scheduler:` refers to.
pub(super) fn select(scheduler: &str) -> String {
    if scheduler.contains('#') { scheduler.to_owned() } else { format!("{scheduler}#{SELECT}") }
}

/// The walker of a walk without a team.
pub(super) fn anonymous() -> TeamMember {
    TeamMember {
        name: "".into(),
        scheduler_view: View::null(),
        view: walker_view(&Value::Null),
        persona: persona_content(&Map::new()),
        masks: Vec::new(),
        via: Vec::new(),
        timeout: None,
        model: None,
        budget: None,
    }
}

/// Gives a walker without a home zone that of its position.
fn at_home(persona: &mut Value, data: &DataFiles) {
    let text = |key: &str| persona[key].as_str().filter(|text| !text.is_empty());
    let zone = |position| data.get("personas").and_then(|file| file.get("positions")?.get(position)).cloned();
    if let (None, Some(zone)) = (text("home"), text("position").and_then(zone)) {
        persona["home"] = zone;
    }
}

fn member(persona: &Value, data: &DataFiles, masks: Vec<Arc<asterisk_walk::Mask>>) -> TeamMember {
    let text = |key: &str| persona[key].as_str().unwrap_or_default();
    let traits = traits(data, text("element"), persona["accuracy"].as_f64().unwrap_or_default());
    let view = json!({
        "element": text("element"),
        "name": text("name"),
        "stickiness": persona["stickiness"].as_i64().unwrap_or_default(),
        "traits": traits,
        "zone": text("home"),
    });
    // What a walker does not set is set by the speed of its element.
    let speed = data
        .get("elements")
        .map_or(&Value::Null, |file| &file["speeds"][traits.get("speed").and_then(Value::as_str).unwrap_or_default()]);
    let of_speed = |key: &str| {
        Some(&persona[key])
            .filter(|own| own.as_f64().is_some_and(|n| n > 0.0) || own.as_str().is_some_and(|text| !text.is_empty()))
            .unwrap_or(&speed[key])
    };
    let mut scheduler_view = persona.clone();
    scheduler_view["traits"] = Value::Object(traits.clone());
    let keys = ["name", "colour", "element", "position", "side", "tags", "preamble"];
    let prompt: Map<String, Value> = keys.iter().map(|key| ((*key).to_owned(), persona[*key].clone())).collect();
    TeamMember {
        name: text("name").into(),
        scheduler_view: View::of(&scheduler_view, &Kind::Any, "ctx.walker"),
        view: walker_view(&view),
        persona: persona_content(&prompt),
        masks,
        via: persona["via"].as_array().into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect(),
        timeout: of_speed("timeout").as_f64(),
        model: of_speed("model").as_str().map(Into::into),
        budget: persona["budget"].as_u64(),
    }
}

/// The parameters of a walker for prompts; absent keys are null.
fn persona_content(fields: &Map<String, Value>) -> Content {
    let entries = fields.iter().map(|(name, value)| (name.as_str(), View::of(value, &Kind::Any, "params.persona")));
    Content::new(View::map("params.persona", entries, View::null()))
}

/// The traits of an element; of a derived one, those of a walker of this accuracy, 0 to 1.
fn traits(data: &DataFiles, element: &str, accuracy: f64) -> Map<String, Value> {
    let Some(file) = data.get("elements") else { return Map::new() };
    let plain = |name: &str| file["elements"].get(name).and_then(Value::as_object).cloned();
    let mut traits = plain(element).unwrap_or_else(|| {
        let record = &file["derived"][element];
        let mut traits = record["from"].as_str().and_then(plain).unwrap_or_default();
        let more = record["more_convergence"].as_f64().unwrap_or_default();
        if let Some(bar) = traits.get("convergence_threshold").and_then(Value::as_f64) {
            let bar = bar + more * (1.0 - accuracy);
            traits.insert("convergence_threshold".into(), json!((bar * 1e12).round() / 1e12));
            traits.insert("failure_mode".into(), record["failure_mode"].clone());
        }
        if let Some(loops) = traits.get("max_loops").and_then(Value::as_i64) {
            let fewer = record["fewer_loops"].as_f64().unwrap_or_default() * accuracy;
            #[expect(clippy::cast_possible_truncation, reason = "the form allows at most 1000 loops")]
            let fewer = fewer.floor() as i64;
            traits.insert("max_loops".into(), json!((loops - fewer).max(0)));
        }
        traits
    });
    traits.remove("colour");
    traits
}
