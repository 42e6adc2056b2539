//! A project with another text for one of its scripts, linked as far as scripts go.

use super::link::{Linker, conditions, fields};
use super::{Project, Sources};
use crate::diag::{Diagnostics, Source};
use crate::prompt::Templates;
use crate::script::{Inputs, Library};
use crate::walk::{Plan, PlanNode};
use std::sync::Arc;

impl Project {
    /// The same project with this text for the script of its name. What is no script stays as it was linked, and is not looked at
    /// again.
    pub fn edit(&self, script: &Source) -> Result<Self, Diagnostics> {
        let sources = Sources { scripts: script.instead_in(&self.sources.scripts), ..self.sources.clone() };
        let pipeline = &self.plan.pipeline;
        let inputs = Inputs {
            scripts: sources.scripts.clone(),
            conditions: conditions(pipeline),
            fields: fields(pipeline),
            limits: self.settings.limits.clone(),
            probes: self.settings.probes,
        };
        let library = Library::link(inputs, Some(&self.library))?;
        let templates = Templates::default();
        let linker =
            Linker { pipeline, library: &library, templates: &templates, texts: &sources.templates, vars: &self.plan.vars };
        let mut found = Diagnostics::new();
        let rules = linker.rules(&mut found);
        let node = |(node, before): (_, &PlanNode)| linker.node(node, self.settings.answers, before.template.clone(), &mut found);
        let nodes = pipeline.nodes.iter().zip(&self.plan.nodes).map(node).collect();
        let cluster = pipeline.clusters.as_ref().and_then(|clusters| linker.function(&clusters.by, 2, &mut found));
        let summary = pipeline.report.as_ref().and_then(|reference| linker.function(reference, 2, &mut found));
        if found.has_errors() {
            return Err(found);
        }
        let plan = Plan { nodes, rules, cluster, summary, ..Plan::clone(&self.plan) };
        let (data, settings) = (self.data.clone(), self.settings.clone());
        Ok(Self { plan: Arc::new(plan), library, data, sources, settings, warnings: found })
    }
}
