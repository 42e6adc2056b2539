//! The kinds of YAML files of a project, and the JSON Schema of each.

use super::json_schema;
use asterisk_calibrate as calibrate;
use asterisk_pipeline as pipeline;
use asterisk_project as project;
use clap::ValueEnum;
use serde_json::Value;
use std::path::Path;

/// A kind of YAML file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaKind {
    /// A pipeline: `pipelines/NAME.yaml`.
    Pipeline,
    /// A policy that `policy:` of a pipeline names.
    PipelinePolicy,
    /// `asterisk.yaml`.
    Project,
    /// A scenario for `asterisk calibrate`.
    Scenario,
    /// A domain: `data/domains/NAME.yaml`.
    Domain,
    /// Signatures of known failures: `data/signatures/NAME.yaml`.
    Signatures,
    /// A scorecard: `data/scorecards/NAME.yaml`.
    Scorecard,
    /// `data/ci.yaml`: the levels of annotations.
    Ci,
    /// `data/elements.yaml`: the elements of walkers.
    Elements,
    /// `data/evidence.yaml`: how evidence is read and masked.
    Evidence,
    /// `data/frames.yaml`: how stack frames are read.
    Frames,
    /// `data/learn.yaml`: the settings of learning.
    Learn,
    /// `data/learned.yaml`: the weights that `asterisk learn` writes.
    Learned,
    /// `data/personas.yaml`: the walkers of teams.
    Personas,
    /// `data/policy.yaml`: agents, advisors and presets of policies.
    Policy,
    /// `data/reading.yaml`: how error texts are read.
    Reading,
    /// `data/recall.yaml`: how remembered root causes are used.
    Recall,
    /// `data/roots.yaml`: what failures may have in common.
    Roots,
    /// `data/teams.yaml`: teams for `--team`.
    Teams,
    /// `data/terms.yaml`: the weights of words.
    Terms,
    /// `data/tracker.yaml`: the fields of issues.
    Tracker,
}

/// The directory of the schemas that `asterisk init` writes.
const DIR: &str = "schemas";

impl SchemaKind {
    /// All kinds.
    pub fn all() -> &'static [Self] {
        Self::value_variants()
    }

    /// Its name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// The JSON Schema (2020-12) of such a file, from the table of keys by which it is read.
    pub fn schema(self) -> Value {
        match self {
            Self::Pipeline => pipeline::json_schema(),
            Self::PipelinePolicy => pipeline::policy_json_schema(),
            Self::Project => json_schema(),
            Self::Scenario => calibrate::json_schema(),
            Self::Domain => project::domain::json_schema(),
            Self::Signatures => project::domain::signatures_json_schema(),
            _ => project::data_schema(&self.name()).unwrap_or_default(),
        }
    }

    /// The kind of a file by its path below the project's directories, such as `scripts/data/roots.yaml`; `None` for a pipeline's policy and a
    /// scenario, which may be anywhere.
    pub fn of_file(path: &str) -> Option<Self> {
        if path == super::PROJECT_FILE {
            return Some(Self::Project);
        }
        let name = path.strip_suffix(".yaml").or_else(|| path.strip_suffix(".yml"))?;
        if path.starts_with("pipelines/") {
            return Some(Self::Pipeline);
        }
        let data = name.strip_prefix("scripts/data/")?;
        match data.split_once('/') {
            Some(("domains", _)) => Some(Self::Domain),
            Some(("signatures", _)) => Some(Self::Signatures),
            Some(("scorecards", _)) => Some(Self::Scorecard),
            Some(_) => None,
            None => Self::from_str(data, false).ok().filter(|kind| project::data_kinds().any(|known| kind.name() == known)),
        }
    }

    /// The file that `asterisk init` writes the schema to, below the project.
    pub fn file(self) -> String {
        format!("{DIR}/{}.schema.json", self.name())
    }

    /// All schemas as files, with their texts.
    pub fn files() -> impl Iterator<Item = (String, String)> {
        Self::all().iter().map(|kind| (kind.file(), format!("{:#}\n", kind.schema())))
    }

    /// The comment that names the schema to editors, for a file of this kind at the path `file` of the project in `root`.
    pub fn modeline(self, root: &Path, file: &Path) -> Option<String> {
        let depth = file.strip_prefix(root).ok()?.components().count().checked_sub(1)?;
        Some(format!("# yaml-language-server: $schema={}{}\n", "../".repeat(depth), self.file()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_data_file_has_a_schema() {
        for kind in project::data_kinds() {
            assert!(SchemaKind::from_str(kind, false).is_ok(), "{kind}");
        }
        for kind in SchemaKind::all() {
            assert!(kind.schema()["$schema"].is_string(), "{kind:?}");
        }
    }

    #[test]
    fn a_modeline_leads_to_the_schema() {
        let at = |file: &str| SchemaKind::Domain.modeline(Path::new("/p"), Path::new(file));
        assert_eq!(at("/p/x.yaml").as_deref(), Some("# yaml-language-server: $schema=schemas/domain.schema.json\n"));
        let below = at("/p/scripts/data/x.yaml");
        assert_eq!(below.as_deref(), Some("# yaml-language-server: $schema=../../schemas/domain.schema.json\n"));
        assert_eq!(at("/q/x.yaml"), None);
    }
}
