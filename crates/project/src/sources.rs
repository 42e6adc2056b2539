//! The texts of a project.

use super::TextBundle;
use asterisk_diag::{Diagnostic, Source};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The scripts, templates and data of a project, and its pipeline. Names are paths below their roots.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Below the script roots: `rules/rca.rhai`.
    pub scripts: Vec<Source>,
    /// Below the template roots: `recall.md`.
    pub templates: Vec<Source>,
    /// Below `data/` of the script roots: `taxonomy.yaml`.
    pub data: Vec<Source>,
    /// The main pipeline.
    pub pipeline: Source,
    /// The sub-pipelines of all pipelines, by reference.
    pub subpipelines: BTreeMap<String, Source>,
    /// Why referenced pipelines are missing.
    pub missing: BTreeMap<String, Diagnostic>,
    /// The bundled texts that some of them are, to be recorded by one address.
    pub bundle: Option<Arc<TextBundle>>,
}
