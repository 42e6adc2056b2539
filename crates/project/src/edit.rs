//! Replaces the text of one script in a linked project.

use super::conditions::{conditions, fields};
use super::linked_pipeline::ProjectLinker;
use super::{LinkScope, Project, Sources};
use asterisk_diag::{Diagnostics, Source};
use asterisk_pipeline::NodeIx;
use asterisk_prompt::Templates;
use asterisk_script::{Library, LibraryInputs};
use asterisk_walk::Plan;
use std::sync::Arc;

impl Project {
    /// Links the project again with this text for the script of its name. Only scripts are linked again; everything else is
    /// reused unchecked.
    pub fn edit(&self, script: &Source) -> Result<Self, Diagnostics> {
        let sources = Sources { scripts: script.instead_in(&self.sources.scripts), ..self.sources.clone() };
        let mut inputs = LibraryInputs {
            scripts: sources.scripts.clone(),
            limits: self.settings.limits.clone(),
            probes: self.settings.probes,
            trusted: self.settings.scope != LinkScope::Checked,
            ..LibraryInputs::default()
        };
        collect(&self.plan, None, &mut inputs);
        let library = Library::link(inputs, Some(&self.library))?;
        let mut found = Diagnostics::new();
        let plan = self.relink_plan(&self.plan, None, &library, &mut found);
        if found.has_errors() {
            return Err(found);
        }
        let (data, settings) = (Arc::clone(&self.data), self.settings.clone());
        Ok(Self { plan: Arc::new(plan), library, data, sources, settings, warnings: found })
    }

    /// Relinks the scripts of a plan and of its sub-pipelines.
    fn relink_plan(&self, plan: &Plan, part: Option<&str>, library: &Library, found: &mut Diagnostics) -> Plan {
        let (pipeline, templates, texts) = (&plan.pipeline, &Templates::default(), &self.sources.templates);
        let masks = &self.settings.masks;
        let (vars, agents, servers) = (&plan.vars, None, None);
        let trusted = self.settings.scope != LinkScope::Checked;
        let linker = ProjectLinker { pipeline, library, templates, texts, vars, part, masks, agents, servers, trusted };
        let rules = linker.rules(found);
        let mut nodes = Vec::with_capacity(plan.nodes.len());
        for (at, (node, before)) in pipeline.nodes.iter().zip(&plan.nodes).enumerate() {
            let mut linked = linker.node(node, self.settings.answers, &self.data.files, before.template.clone(), found);
            linked.via.clone_from(&before.via);
            if let Some(whole) = &plan.policy {
                let policy = linker.step_policy(NodeIx(at), linked.responder.as_ref(), whole, &self.data.files, found);
                linked.policy = policy.map(Arc::new);
            }
            let part = before.subpipeline.as_ref().zip(node.subpipeline.as_ref());
            linked.subpipeline = part.map(|(part, reference)| Arc::new(self.relink_plan(part, Some(reference), library, found)));
            nodes.push(linked);
        }
        let [cluster, summary, result] = linker.of_cases(found);
        let team = linker.team(&self.data.files, found);
        Plan { nodes, rules, cluster, summary, result, team, ..Plan::clone(plan) }
    }
}

/// Collects the conditions and fields of a plan and its sub-pipelines.
fn collect(plan: &Plan, part: Option<&str>, inputs: &mut LibraryInputs) {
    inputs.fields.extend(fields(&plan.pipeline));
    for condition in conditions(&plan.pipeline, part) {
        // A sub-pipeline of two nodes has its conditions once.
        if !inputs.conditions.iter().any(|known| known.key == condition.key) {
            inputs.conditions.push(condition);
        }
    }
    for (node, linked) in plan.pipeline.nodes.iter().zip(&plan.nodes) {
        if let (Some(part), Some(reference)) = (&linked.subpipeline, &node.subpipeline) {
            collect(part, Some(reference), inputs);
        }
    }
}
