//! Linking a pipeline with its scripts, templates and data, and the checks that need more than one language.

use super::{Manifest, Sources, data, kinds, prompts, vars};
use crate::diag::{Diagnostic, Diagnostics, Source, Span, did_you_mean};
use crate::model::{Kind, Shape};
use crate::pipeline::{self, Node, Pipeline, Spanned, When};
use crate::prompt::{Template, Templates};
use crate::script::check::{self, Checker};
use crate::script::probe::Probes;
use crate::script::{Condition, File, Function, Inputs, Library, Limits, Reference, View, self_test};
use crate::walk::{Content, NEEDS, Need, Plan, PlanNode, Rule};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Who answers the nodes, as far as linking must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// The scripts: every node needs a responder (`decisions.md` 51).
    Scripts,
    /// Someone else.
    Others,
}

/// What linking takes from outside the texts.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Vars set for this pipeline; it must have them.
    pub vars: Map<String, Value>,
    /// Vars of the project, which those set for this pipeline override; the pipeline need not have them.
    pub project_vars: Map<String, Value>,
    /// Who answers.
    pub answers: Answers,
    /// The repositories of the project file.
    pub workspace: Value,
    /// The vocabulary, by name; [`domain::DEFAULT_DOMAIN`](super::domain::DEFAULT_DOMAIN) if none is named.
    pub domain: Option<String>,
    /// The limits of the script engine.
    pub limits: Limits,
    /// Whether evaluations of its scripts can be watched.
    pub probes: Probes,
}

impl Default for Settings {
    fn default() -> Self {
        let workspace = serde_json::json!({ "repositories": [] });
        Self {
            vars: Map::new(),
            project_vars: Map::new(),
            answers: Answers::Others,
            workspace,
            domain: None,
            limits: Limits::default(),
            probes: Probes::None,
        }
    }
}

/// A linked project. Immutable; a reload builds a new one aside.
#[derive(Clone, Debug)]
pub struct Project {
    /// The pipeline to walk, with everything it refers to.
    pub plan: Arc<Plan>,
    /// All scripts, compiled.
    pub library: Library,
    /// The data files, by stem.
    pub data: Map<String, Value>,
    /// Its texts.
    pub sources: Sources,
    /// What linking took from outside.
    pub settings: Settings,
    /// What does not keep it from running but should be known.
    pub warnings: Diagnostics,
}

impl Project {
    /// Links texts into a project, or says everything that is wrong with them.
    pub fn link(sources: Sources, settings: Settings) -> Result<Self, Diagnostics> {
        Self::link_after(sources, settings, None)
    }

    /// The same, given the project that was linked of these texts before some of them changed: what did not change is not
    /// compiled again. The result is that of [`Project::link`].
    pub fn relink(sources: Sources, settings: Settings, previous: Option<&Self>) -> Result<Self, Diagnostics> {
        Self::link_after(sources, settings, previous.map(|previous| &previous.library))
    }

    /// The same, given a library of some of these scripts.
    pub fn link_after(sources: Sources, mut settings: Settings, previous: Option<&Library>) -> Result<Self, Diagnostics> {
        self_test().map_err(|diagnostic| Diagnostics::from(*diagnostic))?;
        let mut found = Diagnostics::new();
        let templates = Templates::compile(sources.templates.iter().cloned()).unwrap_or_else(|diagnostics| {
            found.extend(diagnostics);
            Templates::default()
        });
        let data::Data { files: data, domain } = data::read(&sources.data, settings.domain.as_deref(), &mut found);
        let parsed = pipeline::parse(&sources.pipeline);
        let conditions = parsed.as_ref().map(conditions).unwrap_or_default();
        let fields = parsed.as_ref().map(fields).unwrap_or_default();
        let inputs = Inputs {
            scripts: sources.scripts.clone(),
            conditions,
            fields,
            limits: settings.limits.clone(),
            probes: settings.probes,
        };
        let library = Library::link(inputs, previous);
        let (pipeline, library) = match (parsed, library) {
            (Ok(pipeline), Ok(library)) => (Arc::new(pipeline), library),
            (pipeline, library) => {
                found.extend(pipeline.err().into_iter().flatten());
                found.extend(library.err().into_iter().flatten());
                return Err(found);
            }
        };
        prompts::check(&pipeline, &templates, &mut found);
        let set = vars::of_project(&pipeline, &mut settings, &mut found);
        let vars = vars::overlay(&pipeline, &set).unwrap_or_else(|diagnostics| {
            found.extend(diagnostics);
            pipeline.vars_json()
        });
        let any = |value: &Value, name: &str| Content::new(View::of(value, &Kind::Any, name));
        let linker =
            Linker { pipeline: &pipeline, library: &library, templates: &templates, texts: &sources.templates, vars: &vars };
        let rules = linker.rules(&mut found);
        let nodes = pipeline
            .nodes
            .iter()
            .map(|node| linker.node(node, settings.answers, linker.template(node, &mut found), &mut found))
            .collect();
        let plan = Plan {
            nodes,
            rules,
            edge_names: pipeline.edges.iter().map(|edge| edge.id.as_str().into()).collect(),
            cluster: pipeline.clusters.as_ref().and_then(|clusters| linker.function(&clusters.by, 2, &mut found)),
            summary: pipeline.report.as_ref().and_then(|reference| linker.function(reference, 2, &mut found)),
            vars_content: content(&pipeline, &vars),
            vars: vars.clone(),
            taxonomy: any(&taxonomy(&data), "params.taxonomy"),
            domain,
            data: any(&Value::Object(data.clone()), "params.data"),
            workspace: any(&settings.workspace, "params.workspace"),
            walker: anonymous(),
            done: pipeline.done.as_str().into(),
            pipeline,
        };
        let (errors, warnings): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|diagnostic| diagnostic.severity == crate::diag::Severity::Error);
        if errors.is_empty() {
            let warnings = warnings.into_iter().collect();
            Ok(Self { plan: Arc::new(plan), library, data, sources, settings, warnings })
        } else {
            Err(errors.into_iter().chain(warnings).collect())
        }
    }

    /// The plan with other vars: those of the project overlaid by `set`.
    pub fn plan_with(&self, set: &Map<String, Value>) -> Result<Arc<Plan>, Diagnostics> {
        if set.is_empty() {
            return Ok(Arc::clone(&self.plan));
        }
        let mut all = self.settings.vars.clone();
        all.extend(set.iter().map(|(name, value)| (name.clone(), value.clone())));
        let pipeline = Arc::clone(&self.plan.pipeline);
        let vars = vars::overlay(&pipeline, &all)?;
        Ok(Arc::new(Plan { vars_content: content(&pipeline, &vars), vars, ..Plan::clone(&self.plan) }))
    }

    /// What it was made of, for the record.
    pub fn manifest(&self) -> (Manifest, Vec<crate::walk::Blob>) {
        Manifest::of(&self.sources, &self.settings, self.plan.domain.clone())
    }
}

/// Compiles the inline conditions of a pipeline, without any script.
pub fn check_conditions(pipeline: &Pipeline) -> Result<(), Diagnostics> {
    let conditions = conditions(pipeline);
    let inputs = Inputs { scripts: Vec::new(), conditions, fields: fields(pipeline), ..Inputs::default() };
    Library::link(inputs, None).map(|_| ())
}

fn content(pipeline: &Pipeline, vars: &Map<String, Value>) -> Content {
    Content::new(View::of(&Value::Object(vars.clone()), &vars::kind(pipeline, vars), "vars"))
}

/// What of the vocabulary is the words for what is wrong.
fn taxonomy(data: &Map<String, Value>) -> Value {
    let Some(domain) = data.get("domain") else { return Value::Null };
    ["defects", "categories", "severities"].into_iter().map(|key| (key, domain[key].clone())).collect()
}

/// The walker of a pipeline without a team.
fn anonymous() -> View {
    let traits = View::map("state.walker.traits", std::iter::empty::<(&str, View)>(), View::null());
    View::object(
        "state.walker",
        [
            ("element", View::from("")),
            ("name", View::from("")),
            ("stickiness", View::from(0)),
            ("traits", traits),
            ("zone", View::from("")),
        ],
    )
}

/// The inline conditions, each under its edge's id.
pub(super) fn conditions(pipeline: &Pipeline) -> Vec<Condition> {
    let condition = |edge: &pipeline::Edge| match &edge.when {
        When::Condition(text) => Some(Condition { key: edge.id.value.clone(), text: text.clone() }),
        _ => None,
    };
    pipeline.edges.iter().filter_map(condition).collect()
}

/// The names of all fields that schemas declare, at any depth.
pub fn fields(pipeline: &Pipeline) -> BTreeSet<String> {
    fn of_shape(shape: &Shape, out: &mut BTreeSet<String>) {
        for field in &shape.fields {
            out.insert(field.name.clone());
            of_kind(&field.kind, out);
        }
    }
    fn of_kind(kind: &Kind, out: &mut BTreeSet<String>) {
        match kind {
            Kind::List(item) | Kind::Map(item) => of_kind(item, out),
            Kind::Object(shape) => of_shape(shape, out),
            _ => {}
        }
    }
    let mut out = BTreeSet::new();
    pipeline.nodes.iter().filter_map(|node| node.schema.as_ref()).for_each(|shape| of_shape(shape, &mut out));
    out
}

pub(super) struct Linker<'a> {
    pub(super) pipeline: &'a Arc<Pipeline>,
    pub(super) library: &'a Library,
    pub(super) templates: &'a Templates,
    /// The texts of all templates, those that do not compile among them.
    pub(super) texts: &'a [Source],
    pub(super) vars: &'a Map<String, Value>,
}

impl Linker<'_> {
    /// The rules of all edges, checked against the schemas of the nodes they decide at.
    pub(super) fn rules(&self, found: &mut Diagnostics) -> Vec<Option<Rule>> {
        let (state, vars) = (kinds::state(), vars::kind(self.pipeline, self.vars));
        let kind_at = |edge: &pipeline::Edge| match edge.from {
            pipeline::Origin::Node(node) => kind_of(self.pipeline.at(node)),
            pipeline::Origin::Any => Kind::Any,
        };
        let artifacts: Vec<Kind> = self.pipeline.edges.iter().map(kind_at).collect();
        // One for each script: looking through a script takes longer than checking a function of it.
        let modules = |path: &str| self.library.file(path).map(File::unit);
        let mut checkers: BTreeMap<&str, Checker<'_>> = BTreeMap::new();
        let rule = |(edge, artifact)| {
            let edge: &pipeline::Edge = edge;
            let function = match &edge.when {
                When::Always => return None,
                When::Rule(reference) => self.function(reference, 3, found)?,
                When::Condition(_) => self.library.condition(&edge.id)?,
            };
            let inputs = [("artifact", artifact), ("state", &state), ("vars", &vars)];
            let inputs = inputs.map(|(name, kind)| check::Input { name, kind });
            let analysis = match function.file().and_then(|path| self.library.file(path)) {
                Some(file) => {
                    let checker = checkers.entry(file.path()).or_insert_with(|| Checker::new(file.unit(), &modules));
                    checker.function(function.name(), &inputs)
                }
                None => self.library.check(&function, &inputs),
            };
            for diagnostic in analysis.diagnostics {
                if !found.iter().any(|known| *known == diagnostic) {
                    found.push(diagnostic);
                }
            }
            self.counters(&analysis.reads, found);
            let reads = analysis.reads.iter().map(|read| read.path.as_str().into()).collect();
            Some(Rule { script: function.hash(), function, reads })
        };
        self.pipeline.edges.iter().zip(&artifacts).map(rule).collect()
    }

    /// A counter that no edge counts is always 0: most likely a slip.
    fn counters(&self, reads: &[check::Read], found: &mut Diagnostics) {
        let counted = || self.pipeline.edges.iter().filter_map(|edge| edge.counter.as_deref());
        for read in reads {
            let Some(name) = read.path.strip_prefix("state.loops.") else { continue };
            if counted().any(|counter| counter == name) {
                continue;
            }
            let message = format!("no edge of `{}` counts `{name}`: it is always 0", *self.pipeline.name);
            let warning = Diagnostic::warning("project/unknown-counter", message).label(&read.source, read.span, "read here");
            let warning = warning.maybe_help(did_you_mean(name, counted()));
            if !found.iter().any(|known| *known == warning) {
                found.push(warning);
            }
        }
    }

    pub(super) fn node(
        &self,
        node: &Node,
        answers: Answers,
        template: Option<Arc<Template>>,
        found: &mut Diagnostics,
    ) -> PlanNode {
        PlanNode {
            name: node.name.as_str().into(),
            kind: kind_of(node),
            responder: self.responder(node, answers, found),
            effect: node.effect.as_ref().and_then(|reference| self.function(reference, 2, found)),
            template,
            answer: prompts::answer(node),
            needs: node.needs.iter().filter_map(|need| self.need(need, found)).collect(),
        }
    }

    /// A node's own script, or the responder of its family: `agents/<family>.rhai#<family>`.
    fn responder(&self, node: &Node, answers: Answers, found: &mut Diagnostics) -> Option<Function> {
        if let Some(reference) = &node.script {
            return self.function(reference, 2, found);
        }
        let file = format!("agents/{}.rhai", *node.family);
        let reference = Reference { file, function: node.family.value.clone() };
        match self.library.function(&reference, 2) {
            Ok(function) => Some(function),
            Err(_) if answers == Answers::Others => None,
            Err(diagnostic) => {
                let message = format!("nothing answers `{}`: {}", *node.name, diagnostic.message);
                let families = self.library.files().filter_map(|file| {
                    let stem = file.path().strip_prefix("agents/")?.strip_suffix(".rhai")?;
                    file.functions().any(|function| function.name == stem).then(|| stem.to_owned())
                });
                let families: Vec<String> = families.collect();
                let hint = did_you_mean(&node.family, families.iter().map(String::as_str));
                let help = format!(
                    "write `fn {}(params, vars)` in `{}`, name another `family:`, or let others answer (--stub, --via){}",
                    *node.family,
                    reference.file,
                    hint.map_or(String::new(), |hint| format!("; {hint}")),
                );
                let diagnostic = Diagnostic::error("project/no-responder", message);
                found.push(diagnostic.label(&self.pipeline.source, node.family.span, "of this family").help(help));
                None
            }
        }
    }

    fn template(&self, node: &Node, found: &mut Diagnostics) -> Option<Arc<Template>> {
        let Some(prompt) = &node.prompt else {
            return self.templates.get(&format!("{}.md", *node.family)).cloned();
        };
        let template = self.templates.get(prompt).cloned();
        // One that does not compile has been complained about already.
        if template.is_none() && !self.texts.iter().any(|text| text.name() == prompt.as_str()) {
            let hint = did_you_mean(prompt, self.texts.iter().map(Source::name));
            let diagnostic = Diagnostic::error("project/unknown-template", format!("there is no template `{}`", **prompt));
            found.push(diagnostic.label(&self.pipeline.source, prompt.span, "named here").maybe_help(hint));
        }
        template
    }

    fn need(&self, need: &Spanned<String>, found: &mut Diagnostics) -> Option<&'static Need> {
        let known = NEEDS.iter().find(|known| known.name == need.value);
        if known.is_none() {
            let hint = did_you_mean(need, NEEDS.iter().map(|need| need.name));
            let diagnostic = Diagnostic::error("project/unknown-need", format!("there is no query `{}`", **need));
            found.push(diagnostic.label(&self.pipeline.source, need.span, "asked for here").maybe_help(hint));
        }
        known
    }

    /// The function that a reference in the pipeline means; what is wrong with it is labelled in the pipeline.
    pub(super) fn function(&self, reference: &Spanned<String>, arity: usize, found: &mut Diagnostics) -> Option<Function> {
        let function = Reference::parse(reference).and_then(|parsed| self.library.function(&parsed, arity));
        function.map_err(|diagnostic| found.push(label_first(diagnostic, self.pipeline, reference.span))).ok()
    }
}

/// The form of a node's artifact: its schema, or anything.
fn kind_of(node: &Node) -> Kind {
    node.schema.as_ref().map_or(Kind::Any, |shape| Kind::Object(Arc::clone(shape)))
}

/// Puts the place in the pipeline before the labels a diagnostic has.
fn label_first(mut diagnostic: Diagnostic, pipeline: &Pipeline, span: Span) -> Diagnostic {
    let label = crate::diag::Label { source: pipeline.source.clone(), span, text: "referred to here".into() };
    diagnostic.labels.insert(0, label);
    diagnostic
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Source;
    use serde_json::json;

    const PIPELINE: &str = "\
pipeline: t
vars: { sure: 0.5 }
nodes:
  - name: a
    schema: { confidence: number, label?: string }
    needs: [siblings]
  - name: b
edges:
  - { id: E1, from: a, to: b, rule: \"rules/t.rhai#fits\" }
  - { id: E2, from: a, to: b, condition: \"label == 'x' || confidence < vars.sure\" }
  - { id: E3, from: b, to: _done }
start: a
done: _done
";
    const RULES: &str = "fn fits(artifact, state, vars) { artifact.confidence >= vars.sure }\nprivate fn hidden(a, b, c) { 1 }";

    fn link(pipeline: &str, rules: &str, settings: Settings) -> Result<Project, Diagnostics> {
        let sources = Sources {
            scripts: vec![
                Source::new("rules/t.rhai", rules),
                Source::new("agents/a.rhai", "fn a(params, vars) { #{ confidence: 1.0 } }"),
            ],
            templates: vec![Source::new("a.md", "{{ failure.name }}")],
            data: vec![Source::new("words.yaml", "list: [x, y]\n")],
            pipeline: Source::new("t.yaml", pipeline),
        };
        Project::link(sources, settings)
    }

    /// Code and labelled text of everything wrong.
    fn faults(pipeline: &str, rules: &str, settings: Settings) -> Vec<(String, String)> {
        let found = link(pipeline, rules, settings).err().unwrap_or_default();
        let text = |label: &crate::diag::Label| label.source.slice(label.span).to_owned();
        found.iter().map(|fault| (fault.code.to_string(), fault.primary().map_or(String::new(), text))).collect()
    }

    #[test]
    fn everything_a_pipeline_refers_to_is_found() {
        let project = link(PIPELINE, RULES, Settings::default()).expect("links");
        let (plan, data) = (&project.plan, &project.data);
        assert!(plan.nodes[0].responder.is_some() && plan.nodes[0].template.is_some() && plan.nodes[1].responder.is_none());
        assert_eq!(plan.nodes[0].needs.iter().map(|need| need.name).collect::<Vec<_>>(), ["siblings"]);
        let reads = |edge: usize| plan.rules[edge].as_ref().map(|rule| rule.reads.join(" ")).unwrap_or_default();
        assert_eq!(reads(0), "artifact.confidence vars.sure");
        assert_eq!(reads(1), "artifact.label artifact.confidence vars.sure");
        assert_eq!(data["words"], json!({"list": ["x", "y"]}));
        assert_eq!(plan.data.view().and_then(|data| data.path(&["words", "list"])).map(|list| list.items().len()), Some(2));
    }

    #[test]
    fn a_template_that_does_not_compile_is_the_only_mistake() {
        let sources = Sources {
            scripts: vec![
                Source::new("rules/t.rhai", RULES),
                Source::new("agents/a.rhai", "fn a(params, vars) { #{ confidence: 1.0 } }"),
            ],
            templates: vec![Source::new("a.md", "{% set x = 1 %}"), Source::new("b.md", "fine")],
            data: vec![Source::new("words.yaml", "list: [x, y]\n")],
            pipeline: Source::new("t.yaml", PIPELINE.replace("name: b\n", "name: b\n    prompt: b.md\n")),
        };
        let found = Project::link(sources, Settings::default()).err().unwrap_or_default();
        assert_eq!(found.iter().map(|fault| fault.code.as_ref()).collect::<Vec<_>>(), ["template/tag"]);
    }

    #[test]
    fn what_is_not_there_is_labelled_in_the_pipeline() {
        let broken = PIPELINE
            .replace("rules/t.rhai#fits", "rules/t.rhai#fitt")
            .replace("[siblings]", "[sibling]\n    prompt: b.md\n    effect: rules/t.rhai#hidden\n    script: agents/z.rhai#a");
        assert_eq!(
            faults(&broken, RULES, Settings::default()),
            [
                ("script/unknown-function".into(), "\"rules/t.rhai#fitt\"".to_owned()),
                ("script/unknown-file".into(), "agents/z.rhai#a".to_owned()),
                ("script/private".into(), "rules/t.rhai#hidden".to_owned()),
                ("project/unknown-template".into(), "b.md".to_owned()),
                ("project/unknown-need".into(), "sibling".to_owned()),
            ]
        );
    }

    #[test]
    fn scripts_are_checked_against_the_schema_of_the_node() {
        let wrong =
            "fn fits(artifact, state, vars) { artifact.confidance >= vars.shure || artifact.label > 1 || state.node == 3 }";
        let codes: Vec<String> = faults(PIPELINE, wrong, Settings::default()).into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, ["rule/unknown-field", "rule/unknown-var", "rule/compare-types", "rule/compare-types"]);
        let condition = PIPELINE.replace("confidence < vars.sure", "confidence < 'much'");
        assert_eq!(faults(&condition, RULES, Settings::default()).len(), 1);
    }

    #[test]
    fn scripts_that_answer_must_answer_every_node() {
        let settings = Settings { answers: Answers::Scripts, ..Settings::default() };
        assert_eq!(faults(PIPELINE, RULES, settings), [("project/no-responder".into(), "b".to_owned())]);
    }

    #[test]
    fn vars_are_overlaid_by_name_and_type() {
        let set =
            |value: serde_json::Value| Settings { vars: value.as_object().cloned().unwrap_or_default(), ..Settings::default() };
        let project = link(PIPELINE, RULES, set(json!({"sure": 1}))).expect("links");
        assert_eq!(project.plan.vars().get("sure").and_then(|sure| sure.as_f64()), Some(1.0));
        assert_eq!(faults(PIPELINE, RULES, set(json!({"shure": 1})))[0].0, "project/unknown-var");
        assert_eq!(faults(PIPELINE, RULES, set(json!({"sure": "much"}))), [("project/var-type".into(), "0.5".to_owned())]);
        let other = project.plan_with(json!({"sure": 0.25}).as_object().expect("a map")).expect("fits");
        assert_eq!((project.plan.vars["sure"].clone(), other.vars["sure"].clone()), (json!(1), json!(0.25)));
    }

    #[test]
    fn a_manifest_brings_the_texts_back() {
        let project = link(PIPELINE, RULES, Settings::default()).expect("links");
        let (manifest, blobs) = project.manifest();
        let read =
            |hash: &crate::model::Hash| blobs.iter().find(|blob| blob.hash == *hash).map(|blob| blob.text.to_string()).ok_or(());
        let sources = manifest.sources(read).expect("all there");
        assert_eq!(sources.pipeline.text(), PIPELINE);
        assert_eq!(sources.scripts.len(), 2);
        assert!(Project::link(sources, Settings::default()).is_ok());
    }
}
