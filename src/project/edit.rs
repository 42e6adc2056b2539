//! A project with another text for one of its scripts, linked as far as scripts go.

use super::conditions::{conditions, fields};
use super::linked_pipeline::ProjectLinker;
use super::{Project, Sources};
use crate::diag::{Diagnostics, Source};
use crate::prompt::Templates;
use crate::script::{Library, LibraryInputs};
use crate::walk::Plan;
use std::sync::Arc;

impl Project {
    /// The same project with this text for the script of its name. What is no script stays as it was linked, and is not looked at
    /// again.
    pub fn edit(&self, script: &Source) -> Result<Self, Diagnostics> {
        let sources = Sources { scripts: script.instead_in(&self.sources.scripts), ..self.sources.clone() };
        let mut inputs = LibraryInputs {
            scripts: sources.scripts.clone(),
            limits: self.settings.limits.clone(),
            probes: self.settings.probes,
            ..LibraryInputs::default()
        };
        gather(&self.plan, None, &mut inputs);
        let library = Library::link(inputs, Some(&self.library))?;
        let mut found = Diagnostics::new();
        let plan = self.again(&self.plan, None, &library, &mut found);
        if found.has_errors() {
            return Err(found);
        }
        let (data, settings) = (self.data.clone(), self.settings.clone());
        Ok(Self { plan: Arc::new(plan), library, data, sources, settings, warnings: found })
    }

    /// A plan, with what the library has of its scripts by now; so the plans of its parts.
    fn again(&self, plan: &Plan, part: Option<&str>, library: &Library, found: &mut Diagnostics) -> Plan {
        let (pipeline, templates, texts) = (&plan.pipeline, &Templates::default(), &self.sources.templates);
        let masks = &self.settings.masks;
        let linker =
            ProjectLinker { pipeline, library, templates, texts, vars: &plan.vars, part, masks, agents: None, servers: None };
        let rules = linker.rules(found);
        let mut nodes = Vec::with_capacity(plan.nodes.len());
        for (node, before) in pipeline.nodes.iter().zip(&plan.nodes) {
            let mut linked = linker.node(node, self.settings.answers, before.template.clone(), found);
            let part = before.subpipeline.as_ref().zip(node.part.as_ref());
            linked.subpipeline = part.map(|(part, asked)| Arc::new(self.again(part, Some(asked), library, found)));
            nodes.push(linked);
        }
        let (cluster, summary) = linker.of_cases(found);
        let team = linker.team(&self.data, found);
        Plan { nodes, rules, cluster, summary, team, ..Plan::clone(plan) }
    }
}

/// The conditions and fields of a plan and its parts.
fn gather(plan: &Plan, part: Option<&str>, inputs: &mut LibraryInputs) {
    inputs.fields.extend(fields(&plan.pipeline));
    for condition in conditions(&plan.pipeline, part) {
        // A part that stands at two nodes has its conditions once.
        if !inputs.conditions.iter().any(|known| known.key == condition.key) {
            inputs.conditions.push(condition);
        }
    }
    for (node, linked) in plan.pipeline.nodes.iter().zip(&plan.nodes) {
        if let (Some(part), Some(asked)) = (&linked.subpipeline, &node.part) {
            gather(part, Some(asked), inputs);
        }
    }
}
