//! Reading a project's texts, and linking them.

use super::LaunchFiles;
use super::setup::MEMORY_SCRIPT;
use super::{Session, SessionError, Setup};
use asterisk_base::model::Launch;
use asterisk_diag::{Diagnostic, Source, did_you_mean};
use asterisk_evidence::Masker;
use asterisk_files::{
    Area, FileError, FileOrigin, ListedPipeline, Overlay, PipelineLookup, bundle, find_pipeline, list_pipelines, read_input,
};
use asterisk_form::yaml;
use asterisk_pipeline::{is_policy_file, policy_file_of, policy_key, subpipelines_of};
use asterisk_project::{AnswererNames, LinkScope, LinkSettings, Project, ProjectVars, Sources, domain};
use asterisk_script::ScriptLimits;
use asterisk_script::probe::Probes;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The sub-pipelines of a pipeline, by the reference that names them.
#[derive(Clone, Debug, Default)]
pub struct LoadedSubpipelines {
    pub subpipelines: BTreeMap<String, Source>,
    /// The errors of references that cannot be resolved.
    pub missing: BTreeMap<String, Diagnostic>,
}

/// The stem of the default pipeline's file.
pub const DEFAULT_PIPELINE: &str = "rca";

impl Session {
    /// The files of an area, overlaid by those of a directory, as they are on disk or in an editor.
    pub(super) fn overlay(&self, area: Area, dir: Option<&Path>) -> Result<Overlay, FileError> {
        Overlay::load_unsaved(area, dir, &self.setup.unsaved)
    }

    /// Links the project as far as that pipeline reaches (by path, file stem or name; the default one if `None`).
    pub fn project(&self, pipeline: Option<&str>, answers: AnswererNames) -> Result<Project, SessionError> {
        Ok(Project::link(self.sources(pipeline)?, self.settings(answers))?)
    }

    /// Links all scripts of the project, for who calls any of them, with that pipeline.
    pub fn whole_project(&self, pipeline: Option<&str>, answers: AnswererNames) -> Result<Project, SessionError> {
        self.project_after(pipeline, answers, None)
    }

    /// Links all scripts of the project incrementally: only texts that differ from `before` are compiled.
    pub fn project_after(
        &self,
        pipeline: Option<&str>,
        answers: AnswererNames,
        before: Option<&Project>,
    ) -> Result<Project, SessionError> {
        let settings = LinkSettings { scope: LinkScope::Project, ..self.settings(answers) };
        Ok(Project::relink(self.sources(pipeline)?, settings, before)?)
    }

    /// Links a part of the project with probes, so that evaluations of its scripts can be observed.
    pub fn project_with_probes(&self, pipeline: Option<&str>, scope: LinkScope, probes: Probes) -> Result<Project, SessionError> {
        let settings = LinkSettings { scope, probes, ..self.settings(AnswererNames::Others) };
        Ok(Project::link(self.sources(pipeline)?, settings)?)
    }

    /// The texts of the project with that pipeline.
    pub(super) fn sources(&self, pipeline: Option<&str>) -> Result<Sources, SessionError> {
        self.sources_below(pipeline, None)
    }

    /// The texts, with another directory of scripts overlaid on the project's.
    pub(super) fn sources_below(&self, pipeline: Option<&str>, over: Option<&Path>) -> Result<Sources, SessionError> {
        let pipeline = self.pipeline(pipeline.unwrap_or(DEFAULT_PIPELINE))?;
        let LoadedSubpipelines { subpipelines, missing } = self.subpipelines(&pipeline)?;
        let mut scripts = self.overlay(Area::Scripts, self.setup.texts.scripts.as_deref())?;
        if let Some(over) = over {
            scripts.add(Area::Scripts, over)?;
        }
        let templates = self.overlay(Area::Templates, self.setup.templates.as_deref())?;
        Ok(Sources {
            scripts: scripts.sources().filter(|source| source.name().ends_with(".rhai")).cloned().collect(),
            templates: templates.sources().cloned().collect(),
            data: self.check_domain(data_files(&scripts))?,
            pipeline,
            subpipelines,
            missing,
            bundle: Some(bundle()),
        })
    }

    /// Loads the sub-pipelines and policy files that a pipeline refers to, recursively, with the errors of those that are missing. A
    /// reference by path is looked up next to the referring file first.
    pub fn subpipelines(&self, pipeline: &Source) -> Result<LoadedSubpipelines, SessionError> {
        let LoadedSubpipelines { mut subpipelines, mut missing } = LoadedSubpipelines::default();
        let mut open: Vec<(Source, String)> =
            subpipelines_of(pipeline).into_iter().map(|reference| (pipeline.clone(), reference)).collect();
        if open.is_empty() && policy_file_of(pipeline).is_none() {
            return Ok(LoadedSubpipelines { subpipelines, missing });
        }
        let overlay = self.overlay(Area::Pipelines, self.setup.pipelines.as_deref())?;
        let input = self.setup.environment.input();
        let find = |file: &str| overlay.files().find(|(listed, ..)| *listed == file).map(|(.., source, _)| source.clone());
        // Among the pipelines, if the pipeline is; else by path.
        let policy = |by: &Source| Some((find(by.name()).is_some(), policy_file_of(by)?));
        let mut policies: Vec<(bool, String)> = policy(pipeline).into_iter().collect();
        while let Some((by, reference)) = open.pop() {
            if subpipelines.contains_key(&reference) {
                continue;
            }
            let beside = Path::new(by.name()).parent().map(|dir| dir.join(&reference)).filter(|beside| beside.is_file());
            let name = beside.map_or_else(|| reference.clone(), |beside| beside.display().to_string());
            match find_pipeline(&name, &overlay, input, pipeline_name) {
                Ok(PipelineLookup::One(part)) => {
                    open.extend(subpipelines_of(&part).into_iter().map(|reference| (part.clone(), reference)));
                    policies.extend(policy(&part));
                    subpipelines.insert(reference, part);
                }
                Ok(PipelineLookup::Not(why)) => drop(missing.insert(reference, *why)),
                Err(error) => drop(missing.insert(reference, Diagnostic::error("input/file", error.to_string()))),
            }
        }
        for (is_listed, name) in policies {
            let key = policy_key(&name);
            if is_listed {
                subpipelines.extend(find(&name).map(|policy| (key, policy)));
                continue;
            }
            match read_input(Path::new(&name), input) {
                Ok(policy) => drop(subpipelines.insert(key, policy)),
                Err(error) => drop(missing.insert(key, Diagnostic::error("input/file", error.to_string()))),
            }
        }
        Ok(LoadedSubpipelines { subpipelines, missing })
    }

    /// The directories and files that a project's texts are read from, existing or not.
    pub fn text_paths(&self, pipeline: Option<&str>) -> Vec<PathBuf> {
        let Setup { texts, pipelines, templates, .. } = &self.setup;
        let named = pipeline.map(PathBuf::from).filter(|path| path.is_file());
        let beside = named.as_deref().map(|path| self.paths_next_to(path)).unwrap_or_default();
        [&texts.scripts, pipelines, templates].into_iter().flatten().cloned().chain(named).chain(beside).collect()
    }

    /// The files that a pipeline given by its path refers to by theirs: sub-pipelines and policies.
    fn paths_next_to(&self, pipeline: &Path) -> Vec<PathBuf> {
        let read = read_input(pipeline, self.setup.environment.input());
        let read = read.map_err(SessionError::from).and_then(|source| self.subpipelines(&source));
        let texts = read.map(|loaded| loaded.subpipelines).unwrap_or_default();
        texts.values().map(|text| PathBuf::from(text.name())).filter(|path| path.is_file()).collect()
    }

    /// The text of a pipeline.
    pub fn pipeline(&self, name: &str) -> Result<Source, SessionError> {
        let overlay = self.overlay(Area::Pipelines, self.setup.pipelines.as_deref())?;
        match find_pipeline(name, &overlay, self.setup.environment.input(), pipeline_name)? {
            PipelineLookup::One(source) => Ok(source),
            PipelineLookup::Not(diagnostic) => Err(SessionError::BadRequest(diagnostic)),
        }
    }

    /// Lists the available pipelines.
    pub fn pipelines(&self) -> Result<Vec<ListedPipeline>, SessionError> {
        let overlay = self.overlay(Area::Pipelines, self.setup.pipelines.as_deref())?;
        let all = list_pipelines(&overlay, pipeline_name).into_iter();
        Ok(all.filter(|listed| !is_policy_file(&listed.source)).collect())
    }

    /// Reads files and directories as one launch, masked.
    pub fn read_launch(&self, paths: &[PathBuf], masker: &Arc<Masker>) -> Result<Launch, SessionError> {
        super::input::launch(&LaunchFiles::of(paths), self.setup.environment.input(), masker)
    }

    /// The data files, by stem.
    pub fn data(&self) -> Result<Map<String, Value>, SessionError> {
        let scripts = self.overlay(Area::Scripts, self.setup.texts.scripts.as_deref())?;
        let data = self.check_domain(data_files(&scripts))?;
        Ok(asterisk_project::read_data(&data, self.setup.texts.domain.as_deref())?)
    }

    /// Lists the available domains, each with its origin.
    pub fn domains(&self) -> Result<Vec<(domain::ListedDomain, FileOrigin)>, SessionError> {
        let scripts = self.overlay(Area::Scripts, self.setup.texts.scripts.as_deref())?;
        let origin = |listed: &domain::ListedDomain| {
            let path = format!("data/{}", listed.file);
            let found = scripts.files().find(|(name, ..)| *name == path);
            found.map_or(FileOrigin::Embedded, |(.., origin)| origin.clone())
        };
        let listed = domain::list(&data_files(&scripts)).into_iter();
        Ok(listed.map(|listed| (listed.clone(), origin(&listed))).collect())
    }

    /// Returns the data files, or an error if the selected domain is not among them.
    fn check_domain(&self, data: Vec<Source>) -> Result<Vec<Source>, SessionError> {
        let names = domain::names(&data);
        match &self.setup.texts.domain {
            Some(name) if !names.contains(&name.as_str()) => {
                let message = format!("unknown domain `{name}`");
                Err(SessionError::bad_request("domain/unknown", message, did_you_mean(name, names)))
            }
            _ => Ok(data),
        }
    }

    /// The colour of each element in the data file `elements`, for diagrams of pipelines.
    pub fn element_colours(&self) -> Result<BTreeMap<String, String>, SessionError> {
        let scripts = self.overlay(Area::Scripts, self.setup.texts.scripts.as_deref())?;
        let mut files = data_files(&scripts);
        files.retain(|file| file.name().rsplit_once('.').is_some_and(|(stem, _)| stem == "elements"));
        let data = asterisk_project::read_data(&files, None)?;
        let of = |group: &str| data.get("elements").and_then(|file| file.get(group)?.as_object()).into_iter().flatten();
        let colour = |(name, element): (&String, &Value)| Some((name.clone(), element.get("colour")?.as_str()?.to_owned()));
        Ok(of("elements").chain(of("derived")).filter_map(colour).collect())
    }

    /// The vars that settings files set, with whether any available pipeline has them.
    fn project_vars(&self) -> ProjectVars {
        let mut vars = self.setup.project_vars.clone();
        if vars.is_empty() {
            return vars;
        }
        let texts: Vec<Source> = self.pipelines().unwrap_or_default().into_iter().map(|listed| listed.source).collect();
        let names: Option<Vec<Vec<String>>> = texts.iter().map(var_names).collect();
        for (name, var) in &mut vars {
            // An unreadable pipeline may have it.
            var.elsewhere = names.as_ref().is_none_or(|names| names.iter().flatten().any(|known| known == name));
        }
        vars
    }

    /// What linking needs next to the texts.
    pub fn settings(&self, answers: AnswererNames) -> LinkSettings {
        let default = ScriptLimits::default();
        let limits = ScriptLimits { time: self.setup.script_time.unwrap_or(default.time), ..default };
        LinkSettings {
            scope: LinkScope::Reached,
            called: vec![MEMORY_SCRIPT.to_owned()],
            vars: self.setup.texts.vars.clone(),
            set_places: self.setup.set_places.clone(),
            project_vars: self.project_vars(),
            answers,
            workspace: self.setup.workspace.clone(),
            domain: self.setup.texts.domain.clone(),
            masks: self.setup.texts.masks.clone(),
            team: self.setup.texts.team.clone(),
            agents: Some(asterisk_adapters::agent::names(&self.setup.agents)),
            servers: Some(self.setup.servers.keys().cloned().collect()),
            limits,
            probes: Probes::None,
        }
    }
}

/// The names of a pipeline's vars; `None` if it cannot be read.
fn var_names(pipeline: &Source) -> Option<Vec<String>> {
    let tree = yaml::parse(pipeline).ok()?;
    let vars = tree.get("vars").and_then(yaml::Yaml::as_map).unwrap_or_default();
    Some(vars.iter().map(|entry| entry.key.value.clone()).collect())
}

/// The data files among the scripts, named below `data/`.
fn data_files(scripts: &Overlay) -> Vec<Source> {
    let is_data = |source: &&Source| !source.name().ends_with(".rhai");
    scripts.sources().filter(is_data).map(|source| source.below("data/")).collect()
}

/// The `pipeline:` name of a text, if it can be read. Usually found without a YAML parser.
fn pipeline_name(source: &Source) -> Option<String> {
    plain_name(source.text()).map_or_else(|| yaml::parse(source).ok()?.get("pipeline")?.as_text().map(str::to_owned), Some)
}

/// The name in a line `pipeline: NAME` at the left margin, if it is a single word without a continuation.
fn plain_name(text: &str) -> Option<String> {
    let mut lines = text.lines();
    let said = lines.find_map(|line| line.strip_prefix("pipeline: "))?;
    let name = said.split(" #").next().unwrap_or(said).trim();
    let word = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        && !["true", "false", "null"].contains(&name.to_ascii_lowercase().as_str());
    let alone = lines.next().is_none_or(|line| !line.starts_with([' ', '\t']));
    (word && alone).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_found_without_yaml_agree_with_yaml() {
        let parsed = |text: &str| {
            let tree = yaml::parse(&Source::new("p.yaml", text)).ok()?;
            tree.get("pipeline")?.as_text().map(str::to_owned)
        };
        for (text, plain) in [
            ("pipeline: rca-investigation\nnodes: []\n", true),
            ("# of mine\nvars: { x: 1 }\npipeline: a_b  # it\n", true),
            ("pipeline: null\n", false),
            ("pipeline: True\n", false),
            ("pipeline: a\n  b\nnodes: []\n", false),
            ("pipeline: \"quoted\"\n", false),
            ("pipeline: 12\n", false),
            ("{pipeline: x}\n", false),
            ("nodes: []\n", false),
            ("pipeline:\n  x\n", false),
        ] {
            assert_eq!(plain_name(text).is_some(), plain, "{text}");
            assert_eq!(pipeline_name(&Source::new("p.yaml", text)), parsed(text), "{text}");
        }
    }
}
