//! The pipelines that are walked as nodes of others.

use crate::diag::{Diagnostic, Diagnostics, Source};
use crate::pipeline::{self, Pipeline, Spanned};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Pipelines by what they are referred to as.
pub(super) type Subpipelines = BTreeMap<String, Arc<Pipeline>>;

/// Reads all of them. What is wrong with one is said, and it is left out.
pub(super) fn parse(sources: &BTreeMap<String, Source>, found: &mut Diagnostics) -> Subpipelines {
    let mut parts = Subpipelines::new();
    for (asked, source) in sources {
        match pipeline::parse(source) {
            Ok(part) => drop(parts.insert(asked.clone(), Arc::new(part))),
            Err(problems) => found.extend(problems),
        }
    }
    parts
}

/// What is wrong with a reference to a pipeline that there is not, given what the search for it said.
pub(super) fn missing(pipeline: &Pipeline, asked: &Spanned<String>, said: Option<&Diagnostic>) -> Diagnostic {
    let message = said.map_or_else(|| format!("there is no pipeline `{}`", **asked), |said| said.message.clone());
    let help = said.and_then(|said| said.help.clone()).unwrap_or_else(|| {
        "`asterisk show pipelines` lists them; one of your own stands in the directory `pipelines:` of asterisk.yaml".to_owned()
    });
    let diagnostic = Diagnostic::error("project/unknown-pipeline", message);
    diagnostic.label(&pipeline.source, asked.span, "to be walked as this node").help(help)
}
