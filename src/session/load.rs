//! Reading a project's texts from where they are, and linking them.

use super::{Session, SessionError, Setup};
use crate::diag::{Diagnostic, Source, did_you_mean};
use crate::files::{Area, FileOrigin, ListedPipeline, Overlay, PipelineLookup, find_pipeline, list_pipelines};
use crate::form::yaml;
use crate::pipeline::parts_of;
use crate::project::{AnswererNames, LinkSettings, Project, ProjectVars, Sources, domain};
use crate::script::ScriptLimits;
use crate::script::probe::Probes;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The pipelines that are walked within one, by what they are referred to as.
#[derive(Clone, Debug, Default)]
pub struct LoadedSubpipelines {
    /// Their texts.
    pub parts: BTreeMap<String, Source>,
    /// Why there is none, of those that are referred to and not there.
    pub missing: BTreeMap<String, Diagnostic>,
}

/// The pipeline that is walked when none is named: the one whose file has this stem.
pub const DEFAULT_PIPELINE: &str = "rca";

impl Session {
    /// Links the project with that pipeline (by path, file stem or name; the default one if none is named).
    pub fn project(&self, pipeline: Option<&str>, answers: AnswererNames) -> Result<Project, SessionError> {
        self.project_after(pipeline, answers, None)
    }

    /// The same, given the project as it was before some texts changed: only those are compiled.
    pub fn project_after(
        &self,
        pipeline: Option<&str>,
        answers: AnswererNames,
        before: Option<&Project>,
    ) -> Result<Project, SessionError> {
        Ok(Project::relink(self.sources(pipeline)?, self.settings(answers), before)?)
    }

    /// The project, linked so that evaluations of its scripts can be watched.
    pub fn project_watched(&self, pipeline: Option<&str>, probes: Probes) -> Result<Project, SessionError> {
        Ok(Project::link(self.sources(pipeline)?, LinkSettings { probes, ..self.settings(AnswererNames::Others) })?)
    }

    /// The texts of the project with that pipeline.
    pub(super) fn sources(&self, pipeline: Option<&str>) -> Result<Sources, SessionError> {
        self.sources_below(pipeline, None)
    }

    /// The same, with the scripts of another directory laid over those of the project.
    pub(super) fn sources_below(&self, pipeline: Option<&str>, over: Option<&Path>) -> Result<Sources, SessionError> {
        let pipeline = self.pipeline(pipeline.unwrap_or(DEFAULT_PIPELINE))?;
        let LoadedSubpipelines { parts, missing } = self.parts(&pipeline)?;
        let mut scripts = Overlay::load(Area::Scripts, self.setup.scripts.as_deref())?;
        if let Some(over) = over {
            scripts.lay(Area::Scripts, over)?;
        }
        let templates = Overlay::load(Area::Templates, self.setup.templates.as_deref())?;
        Ok(Sources {
            scripts: scripts.sources().filter(|source| source.name().ends_with(".rhai")).cloned().collect(),
            templates: templates.sources().cloned().collect(),
            data: self.vocabulary_named(data_files(&scripts))?,
            pipeline,
            parts,
            missing,
        })
    }

    /// The pipelines that a pipeline's nodes refer to, and those that these refer to; and why there is none, of those that are not
    /// there. One that is named by a path is looked for beside the one that names it first.
    pub fn parts(&self, pipeline: &Source) -> Result<LoadedSubpipelines, SessionError> {
        let LoadedSubpipelines { mut parts, mut missing } = LoadedSubpipelines::default();
        let mut open: Vec<(Source, String)> = parts_of(pipeline).into_iter().map(|asked| (pipeline.clone(), asked)).collect();
        if open.is_empty() {
            return Ok(LoadedSubpipelines { parts, missing });
        }
        let overlay = Overlay::load(Area::Pipelines, self.setup.pipelines.as_deref())?;
        while let Some((by, asked)) = open.pop() {
            if parts.contains_key(&asked) {
                continue;
            }
            let beside = Path::new(by.name()).parent().map(|dir| dir.join(&asked)).filter(|beside| beside.is_file());
            let name = beside.map_or_else(|| asked.clone(), |beside| beside.display().to_string());
            match find_pipeline(&name, &overlay, pipeline_name) {
                Ok(PipelineLookup::One(part)) => {
                    open.extend(parts_of(&part).into_iter().map(|asked| (part.clone(), asked)));
                    parts.insert(asked, part);
                }
                Ok(PipelineLookup::Not(why)) => drop(missing.insert(asked, *why)),
                Err(error) => drop(missing.insert(asked, Diagnostic::error("input/file", error.to_string()))),
            }
        }
        Ok(LoadedSubpipelines { parts, missing })
    }

    /// The directories and files that a project's texts are read from, whether they are there or not.
    pub fn text_paths(&self, pipeline: Option<&str>) -> Vec<PathBuf> {
        let Setup { scripts, pipelines, templates, .. } = &self.setup;
        let named = pipeline.map(PathBuf::from).filter(|path| path.is_file());
        [scripts, pipelines, templates].into_iter().flatten().cloned().chain(named).collect()
    }

    /// The text of a pipeline.
    pub fn pipeline(&self, name: &str) -> Result<Source, SessionError> {
        let overlay = Overlay::load(Area::Pipelines, self.setup.pipelines.as_deref())?;
        match find_pipeline(name, &overlay, pipeline_name)? {
            PipelineLookup::One(source) => Ok(source),
            PipelineLookup::Not(diagnostic) => Err(SessionError::Asked(diagnostic)),
        }
    }

    /// All pipelines that can be named.
    pub fn pipelines(&self) -> Result<Vec<ListedPipeline>, SessionError> {
        let overlay = Overlay::load(Area::Pipelines, self.setup.pipelines.as_deref())?;
        Ok(list_pipelines(&overlay, pipeline_name))
    }

    /// The data files, by stem.
    pub fn data(&self) -> Result<Map<String, Value>, SessionError> {
        let scripts = Overlay::load(Area::Scripts, self.setup.scripts.as_deref())?;
        let data = self.vocabulary_named(data_files(&scripts))?;
        Ok(crate::project::read_data(&data, self.setup.domain.as_deref())?)
    }

    /// All vocabularies that can be named, each with where it came from.
    pub fn domains(&self) -> Result<Vec<(domain::ListedDomain, FileOrigin)>, SessionError> {
        let scripts = Overlay::load(Area::Scripts, self.setup.scripts.as_deref())?;
        let origin = |listed: &domain::ListedDomain| {
            let path = format!("data/{}", listed.file);
            let found = scripts.files().find(|(name, ..)| *name == path);
            found.map_or(FileOrigin::Embedded, |(.., origin)| origin.clone())
        };
        let listed = domain::list(&data_files(&scripts)).into_iter();
        Ok(listed.map(|listed| (listed.clone(), origin(&listed))).collect())
    }

    /// The data files again, unless the vocabulary that was asked for is not among them.
    fn vocabulary_named(&self, data: Vec<Source>) -> Result<Vec<Source>, SessionError> {
        let names = domain::names(&data);
        match &self.setup.domain {
            Some(name) if !names.contains(&name.as_str()) => {
                let message = format!("there is no vocabulary `{name}`");
                Err(SessionError::asked("domain/unknown", message, did_you_mean(name, names)))
            }
            _ => Ok(data),
        }
    }

    /// The colour of each element that has one in the data file `elements`: what pictures of pipelines show it in.
    pub fn element_colours(&self) -> Result<BTreeMap<String, String>, SessionError> {
        let scripts = Overlay::load(Area::Scripts, self.setup.scripts.as_deref())?;
        let mut files = data_files(&scripts);
        files.retain(|file| file.name().rsplit_once('.').is_some_and(|(stem, _)| stem == "elements"));
        let data = crate::project::read_data(&files, None)?;
        let of = |group: &str| data.get("elements").and_then(|file| file.get(group)?.as_object()).into_iter().flatten();
        let colour = |(name, element): (&String, &Value)| Some((name.clone(), element.get("colour")?.as_str()?.to_owned()));
        Ok(of("elements").chain(of("derived")).filter_map(colour).collect())
    }

    /// The vars that files of settings set, with whether any pipeline that can be named has them.
    fn project_vars(&self) -> ProjectVars {
        let mut vars = self.setup.project_vars.clone();
        if vars.is_empty() {
            return vars;
        }
        let texts: Vec<Source> = self.pipelines().unwrap_or_default().into_iter().map(|listed| listed.source).collect();
        let names: Option<Vec<Vec<String>>> = texts.iter().map(var_names).collect();
        for (name, var) in &mut vars {
            // A pipeline that cannot be read may have it.
            var.elsewhere = names.as_ref().is_none_or(|names| names.iter().flatten().any(|known| known == name));
        }
        vars
    }

    /// What linking takes from outside the texts.
    pub fn settings(&self, answers: AnswererNames) -> LinkSettings {
        let default = ScriptLimits::default();
        let limits = ScriptLimits { wall: self.setup.script_time.unwrap_or(default.wall), ..default };
        LinkSettings {
            vars: self.setup.vars.clone(),
            set_places: self.setup.set_places.clone(),
            project_vars: self.project_vars(),
            answers,
            workspace: self.setup.workspace.clone(),
            domain: self.setup.domain.clone(),
            masks: self.setup.masks.clone(),
            team: self.setup.team.clone(),
            agents: Some(crate::agent::names(&self.setup.agents)),
            servers: Some(self.setup.servers.keys().cloned().collect()),
            limits,
            probes: Probes::None,
        }
    }
}

/// The names of the vars of a pipeline; nothing if it cannot be read.
fn var_names(pipeline: &Source) -> Option<Vec<String>> {
    let tree = yaml::parse(pipeline).ok()?;
    let vars = tree.get("vars").and_then(yaml::Yaml::as_map).unwrap_or_default();
    Some(vars.iter().map(|entry| entry.key.value.clone()).collect())
}

/// The data files among the scripts, named below `data/`.
fn data_files(scripts: &Overlay) -> Vec<Source> {
    let is_data = |source: &&Source| !source.name().ends_with(".rhai");
    let below = |source: &Source| {
        let name = source.name().strip_prefix("data/").unwrap_or(source.name());
        Source::new(name, source.text())
    };
    scripts.sources().filter(is_data).map(below).collect()
}

/// The `pipeline:` name of a text, if it can be read. Most say it in a line that needs no YAML parser to be understood.
fn pipeline_name(source: &Source) -> Option<String> {
    plain_name(source.text()).map_or_else(|| yaml::parse(source).ok()?.get("pipeline")?.as_text().map(str::to_owned), Some)
}

/// The name in a line `pipeline: NAME` at the left margin, if the name is one word and nothing goes on with it below.
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
    fn a_name_is_the_same_whether_or_not_yaml_is_parsed_for_it() {
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
