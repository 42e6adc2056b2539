//! Links a pipeline with its scripts, templates and data, with the checks across languages.

use super::conditions::{conditions, fields};
use super::plans::{SharedInputs, with_vars};
use super::settings::{LinkScope, LinkSettings};
use super::{ProjectData, ProjectManifest, Sources, evidence, masks, prompts, reach, subpipelines, teams, vars};
use asterisk_base::model::Kind;
use asterisk_diag::Diagnostics;
use asterisk_evidence::Masker;
use asterisk_pipeline as pipeline;
use asterisk_prompt::Templates;
use asterisk_script::{Library, LibraryInputs, View, self_test};
use asterisk_walk::{Content, Plan};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A linked project. Immutable; a reload builds a new one.
#[derive(Clone, Debug)]
pub struct Project {
    /// The pipeline to walk, with everything it refers to.
    pub plan: Arc<Plan>,
    /// All scripts, compiled.
    pub library: Library,
    /// The data files.
    pub data: Arc<ProjectData>,
    /// Its texts.
    pub sources: Sources,
    /// The settings it was linked with.
    pub settings: LinkSettings,
    /// Warnings.
    pub warnings: Diagnostics,
}

impl Project {
    /// The masker for a launch's texts, from `data/evidence.yaml`.
    pub fn masker(&self) -> Masker {
        evidence::masker(self.data.files.get("evidence").unwrap_or(&Value::Null))
    }

    /// Links texts into a project. The error lists everything that is wrong with them.
    pub fn link(sources: Sources, settings: LinkSettings) -> Result<Self, Diagnostics> {
        Self::link_after(sources, settings, None)
    }

    /// As [`Project::link`], given the project linked before some of the texts changed: unchanged scripts are not compiled again,
    /// and unchanged data not read again. The result is the same.
    pub fn relink(sources: Sources, settings: LinkSettings, previous: Option<&Self>) -> Result<Self, Diagnostics> {
        Self::link_after(sources, settings, previous.map(|previous| (&previous.library, &previous.data)))
    }

    /// As [`Project::link`], given a library of some of these scripts, and data read before.
    pub fn link_after(
        sources: Sources,
        mut settings: LinkSettings,
        previous: Option<(&Library, &Arc<ProjectData>)>,
    ) -> Result<Self, Diagnostics> {
        self_test().map_err(|diagnostic| Diagnostics::from(*diagnostic))?;
        let mut found = Diagnostics::new();
        let domain = settings.domain.as_deref();
        let trusted = settings.scope != LinkScope::Checked;
        let same = previous.map(|(_, data)| data).filter(|data| data.is_of(&sources.data, domain, trusted));
        let data = same.map_or_else(|| ProjectData::read(&sources.data, domain, trusted), Arc::clone);
        found.extend(data.found().clone());
        let mut parsed = pipeline::parse(&sources.pipeline);
        if let (Ok(pipeline), Some(team)) = (&mut parsed, &settings.team) {
            teams::apply_team(pipeline, team, &sources.data, &mut found);
        }
        let parts = subpipelines::parse(&sources.subpipelines, &mut found);
        let mut conditions = parsed.as_ref().map(|pipeline| conditions(pipeline, None)).unwrap_or_default();
        let mut fields = parsed.as_ref().map(fields).unwrap_or_default();
        for (reference, part) in &parts {
            conditions.extend(super::conditions::conditions(part, Some(reference)));
            fields.extend(super::conditions::fields(part));
        }
        let pipelines = || parsed.iter().chain(parts.values().map(|part| &**part));
        let by_reach = settings.scope == LinkScope::Reached;
        let texts = if by_reach { reach::templates(&sources, pipelines()) } else { sources.templates.clone() };
        let templates = Templates::compile(texts).unwrap_or_else(|diagnostics| {
            let others = std::mem::replace(&mut found, diagnostics);
            found.extend(others);
            Templates::default()
        });
        let inputs = LibraryInputs {
            scripts: sources.scripts.clone(),
            reached: by_reach.then(|| reach::scripts(&sources, &settings, pipelines())),
            trusted,
            conditions,
            fields,
            limits: settings.limits.clone(),
            probes: settings.probes,
        };
        let library = Library::link(inputs, previous.map(|(library, _)| library));
        let (pipeline, library) = match (parsed, library) {
            (Ok(pipeline), Ok(library)) => (Arc::new(pipeline), library),
            (pipeline, library) => {
                found.extend(pipeline.err().into_iter().flatten());
                found.extend(library.err().into_iter().flatten());
                return Err(found);
            }
        };
        let (set, var_places) = vars::resolve_project_vars(&pipeline, &parts, &mut settings, &mut found);
        let shared = SharedInputs {
            library: &library,
            templates: &templates,
            texts: &sources.templates,
            parts: &parts,
            part_texts: &sources.subpipelines,
            missing: &sources.missing,
            answers: settings.answers,
            masks: &settings.masks,
            agents: settings.agents.as_deref(),
            servers: settings.servers.as_deref(),
            data_texts: &sources.data,
            data: &data,
            workspace: Content::new(View::of(&settings.workspace, &Kind::Any, "params.workspace")),
            trusted,
        };
        prompts::check_names(&templates, &mut found);
        let plan = shared.plan(&pipeline, (&set, &var_places), &mut Vec::new(), &mut found);
        masks::report_unused(&settings.masks, plan.masks().iter(), &mut found);
        let (errors, warnings): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|diagnostic| diagnostic.severity == asterisk_diag::Severity::Error);
        if errors.is_empty() {
            let warnings = warnings.into_iter().collect();
            Ok(Self { plan: Arc::new(plan), library, data, sources, settings, warnings })
        } else {
            Err(errors.into_iter().chain(warnings).collect())
        }
    }

    /// Prepares the scripts that wait for their first call, in another thread: calls find them prepared, or wait for them.
    pub fn prepare(&self) {
        let library = self.library.clone();
        // Without another thread, the calls do it.
        drop(std::thread::Builder::new().name("prepare".into()).spawn(move || library.prepare()));
    }

    /// The plan with other vars: those of the project overridden by `set`.
    pub fn plan_with(&self, set: &Map<String, Value>) -> Result<Arc<Plan>, Diagnostics> {
        if set.is_empty() {
            return Ok(Arc::clone(&self.plan));
        }
        let mut all = self.settings.vars.clone();
        all.extend(set.iter().map(|(name, value)| (name.clone(), value.clone())));
        vars::all_known(&self.plan, &all)?;
        Ok(Arc::new(with_vars(&self.plan, &all)?))
    }

    /// The plan of the walk of a step, with the recorded vars. `None` if the project does not have this walk.
    pub fn plan_of(&self, path: &str, vars: &Map<String, Value>) -> Result<Option<Arc<Plan>>, Diagnostics> {
        let Some(plan) = self.plan.of_path(path) else { return Ok(None) };
        if plan.vars == *vars {
            return Ok(Some(plan));
        }
        if Arc::ptr_eq(&plan, &self.plan) {
            return self.plan_with(vars).map(Some);
        }
        // Another sub-pipeline of the project may have the vars that this one lacks.
        vars::all_known(&self.plan, vars)?;
        with_vars(&plan, vars).map(|plan| Some(Arc::new(plan)))
    }

    /// The project of the sub-pipeline walked at a step, with the same scripts, templates and data; `None` for the main pipeline.
    pub fn of_part(&self, path: &str) -> Option<Self> {
        let plan = self.plan.of_path(path).filter(|plan| !Arc::ptr_eq(plan, &self.plan))?;
        let sources = Sources { pipeline: plan.pipeline.source.clone(), ..self.sources.clone() };
        let settings = LinkSettings { vars: plan.vars.clone(), ..self.settings.clone() };
        Some(Self { plan, sources, settings, ..self.clone() })
    }

    /// The manifest of its texts and vars, with the texts.
    pub fn manifest(&self) -> (ProjectManifest, Vec<asterisk_walk::Blob>) {
        ProjectManifest::of(&self.sources, &self.settings, self.plan.domain.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AnswererNames;
    use asterisk_diag::Source;
    use serde_json::json;
    use std::collections::BTreeMap;

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

    fn link(pipeline: &str, rules: &str, settings: LinkSettings) -> Result<Project, Diagnostics> {
        let sources = Sources {
            scripts: vec![
                Source::new("rules/t.rhai", rules),
                Source::new("agents/a.rhai", "fn a(params, vars) { #{ confidence: 1.0 } }"),
            ],
            templates: vec![Source::new("a.md", "{{ failure.name }}")],
            data: vec![Source::new("words.yaml", "list: [x, y]\n")],
            pipeline: Source::new("t.yaml", pipeline),
            subpipelines: BTreeMap::new(),
            missing: BTreeMap::new(),
            bundle: None,
        };
        Project::link(sources, settings)
    }

    /// Code and labelled text of all errors.
    fn faults(pipeline: &str, rules: &str, settings: LinkSettings) -> Vec<(String, String)> {
        let found = link(pipeline, rules, settings).err().unwrap_or_default();
        let text = |label: &asterisk_diag::Label| label.source.slice(label.span).to_owned();
        found.iter().map(|fault| (fault.code.to_string(), fault.primary().map_or(String::new(), text))).collect()
    }

    #[test]
    fn everything_a_pipeline_refers_to_is_found() {
        let project = link(PIPELINE, RULES, LinkSettings::default()).expect("links");
        let (plan, data) = (&project.plan, project.data.files.all());
        assert!(plan.nodes[0].responder.is_some() && plan.nodes[0].template.is_some() && plan.nodes[1].responder.is_none());
        assert_eq!(plan.nodes[0].needs.iter().map(|need| need.name).collect::<Vec<_>>(), ["siblings"]);
        let reads = |edge: usize| plan.rules[edge].as_ref().map(|rule| rule.reads.join(" ")).unwrap_or_default();
        assert_eq!(reads(0), "artifact.confidence vars.sure");
        assert_eq!(reads(1), "artifact.label artifact.confidence vars.sure");
        assert_eq!(data["words"], json!({"list": ["x", "y"]}));
        assert_eq!(plan.data.view().and_then(|data| data.path(&["words", "list"])).map(|list| list.items().len()), Some(2));
    }

    #[test]
    fn a_template_that_does_not_compile_is_the_only_error() {
        let sources = Sources {
            scripts: vec![
                Source::new("rules/t.rhai", RULES),
                Source::new("agents/a.rhai", "fn a(params, vars) { #{ confidence: 1.0 } }"),
            ],
            templates: vec![Source::new("a.md", "{% set x = 1 %}"), Source::new("b.md", "fine")],
            data: vec![Source::new("words.yaml", "list: [x, y]\n")],
            pipeline: Source::new("t.yaml", PIPELINE.replace("name: b\n", "name: b\n    prompt: b.md\n")),
            subpipelines: BTreeMap::new(),
            missing: BTreeMap::new(),
            bundle: None,
        };
        let found = Project::link(sources, LinkSettings::default()).err().unwrap_or_default();
        assert_eq!(found.iter().map(|fault| fault.code.as_ref()).collect::<Vec<_>>(), ["template/tag"]);
    }

    #[test]
    fn missing_references_are_labelled_in_the_pipeline() {
        let broken = PIPELINE
            .replace("rules/t.rhai#fits", "rules/t.rhai#fitt")
            .replace("[siblings]", "[sibling]\n    prompt: b.md\n    effect: rules/t.rhai#hidden\n    script: agents/z.rhai#a");
        assert_eq!(
            faults(&broken, RULES, LinkSettings::default()),
            [
                ("script/unknown-function".into(), "\"rules/t.rhai#fitt\"".to_owned()),
                ("project/unknown-template".into(), "b.md".to_owned()),
                ("script/unknown-file".into(), "agents/z.rhai#a".to_owned()),
                ("script/private".into(), "hidden".to_owned()),
                ("project/unknown-need".into(), "sibling".to_owned()),
            ]
        );
    }

    #[test]
    fn scripts_are_checked_against_the_schema_of_the_node() {
        let wrong =
            "fn fits(artifact, state, vars) { artifact.confidance >= vars.shure || artifact.label > 1 || state.node == 3 }";
        let codes: Vec<String> = faults(PIPELINE, wrong, LinkSettings::default()).into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, ["rule/unknown-field", "rule/unknown-var", "rule/compare-types", "rule/compare-types"]);
        let condition = PIPELINE.replace("confidence < vars.sure", "confidence < 'much'");
        assert_eq!(faults(&condition, RULES, LinkSettings::default()).len(), 1);
    }

    #[test]
    fn scripts_that_answer_must_answer_every_node() {
        let settings = LinkSettings { answers: AnswererNames::Scripts, ..LinkSettings::default() };
        assert_eq!(faults(PIPELINE, RULES, settings), [("project/no-responder".into(), "b".to_owned())]);
    }

    #[test]
    fn vars_are_overridden_by_name_and_type() {
        let set = |value: serde_json::Value| LinkSettings {
            vars: value.as_object().cloned().unwrap_or_default(),
            ..LinkSettings::default()
        };
        let project = link(PIPELINE, RULES, set(json!({"sure": 1}))).expect("links");
        assert_eq!(project.plan.vars().get("sure").and_then(|sure| sure.as_f64()), Some(1.0));
        assert_eq!(faults(PIPELINE, RULES, set(json!({"shure": 1})))[0].0, "project/unknown-var");
        assert_eq!(faults(PIPELINE, RULES, set(json!({"sure": "much"}))), [("project/var-type".into(), "0.5".to_owned())]);
        let other = project.plan_with(json!({"sure": 0.25}).as_object().expect("a map")).expect("fits");
        assert_eq!((project.plan.vars["sure"].clone(), other.vars["sure"].clone()), (json!(1), json!(0.25)));
    }

    #[test]
    fn a_manifest_restores_the_texts() {
        let project = link(PIPELINE, RULES, LinkSettings::default()).expect("links");
        let (manifest, blobs) = project.manifest();
        let read = |hash: &asterisk_base::model::Hash| {
            blobs.iter().find(|blob| blob.hash == *hash).map(|blob| blob.text.to_string()).ok_or(())
        };
        let sources = manifest.sources(read).expect("all there");
        assert_eq!(sources.pipeline.text(), PIPELINE);
        assert_eq!(sources.scripts.len(), 2);
        assert!(Project::link(sources, LinkSettings::default()).is_ok());
    }
}
