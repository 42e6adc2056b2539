//! The texts a project is made of.

use crate::diag::{Diagnostic, Source};
use std::collections::BTreeMap;

/// Scripts, templates and data of a project, and the pipeline to walk. Names are paths below their root.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Below the script roots: `rules/rca.rhai`.
    pub scripts: Vec<Source>,
    /// Below the template roots: `recall.md`.
    pub templates: Vec<Source>,
    /// Below `data/` of the script roots: `taxonomy.yaml`.
    pub data: Vec<Source>,
    /// The pipeline.
    pub pipeline: Source,
    /// The pipelines that are walked as nodes of it or of one another, by what they are referred to as.
    pub parts: BTreeMap<String, Source>,
    /// Why there is no such pipeline, of those that are referred to and not there.
    pub missing: BTreeMap<String, Diagnostic>,
}
