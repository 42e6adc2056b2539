//! Sub-pipelines: pipelines that are walked as nodes of others.

use asterisk_diag::{Diagnostic, Diagnostics, Source};
use asterisk_pipeline::{self as pipeline, Pipeline, Spanned};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Pipelines by reference.
pub(super) type Subpipelines = BTreeMap<String, Arc<Pipeline>>;

/// Parses all of them but policy files. Those with errors are reported and left out.
pub(super) fn parse(sources: &BTreeMap<String, Source>, found: &mut Diagnostics) -> Subpipelines {
    let mut parts = Subpipelines::new();
    for (reference, source) in sources.iter().filter(|(key, _)| !pipeline::is_policy_key(key)) {
        match pipeline::parse(source) {
            Ok(part) => drop(parts.insert(reference.clone(), Arc::new(part))),
            Err(problems) => found.extend(problems),
        }
    }
    parts
}

/// The error for a reference to a missing pipeline; `reason` is the result of the search for it.
pub(super) fn missing(pipeline: &Pipeline, reference: &Spanned<String>, reason: Option<&Diagnostic>) -> Diagnostic {
    let message = reason.map_or_else(|| format!("unknown pipeline `{}`", **reference), |reason| reason.message.clone());
    let help = reason.and_then(|reason| reason.help.clone()).unwrap_or_else(|| {
        "`asterisk show pipelines` lists them; yours are read from the directory `pipelines:` of asterisk.yaml".to_owned()
    });
    let diagnostic = Diagnostic::error("project/unknown-pipeline", message);
    diagnostic.label(&pipeline.source, reference.span, "referenced by this node").help(help)
}
