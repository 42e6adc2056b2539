//! Pipelines linked into plans, each with those that are walked as its nodes.

use super::linked_pipeline::ProjectLinker;
use super::settings::{AnswererNames, VarPlaces};
use super::subpipelines::Subpipelines;
use super::team::anonymous;
use super::{personas, prompts, subpipelines, vars};
use crate::diag::{Diagnostic, Diagnostics, Source};
use crate::evidence::EvidenceReader;
use crate::pipeline::{Pipeline, Spanned};
use crate::prompt::Templates;
use crate::script::{Library, View};
use crate::walk::{Content, Plan, PlanNode};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the pipelines of a project have in common.
pub(super) struct SharedInputs<'a> {
    pub(super) library: &'a Library,
    pub(super) templates: &'a Templates,
    /// The texts of all templates, those that do not compile among them.
    pub(super) texts: &'a [Source],
    /// The pipelines that nodes refer to.
    pub(super) parts: &'a Subpipelines,
    /// The texts of all of them, those that cannot be read among them.
    pub(super) part_texts: &'a BTreeMap<String, Source>,
    /// Why there is no such pipeline, of those that are referred to and not there.
    pub(super) missing: &'a BTreeMap<String, Diagnostic>,
    pub(super) answers: AnswererNames,
    /// Masks from outside.
    pub(super) masks: &'a [String],
    /// The names that `via:` may have, if they are known.
    pub(super) agents: Option<&'a [String]>,
    pub(super) servers: Option<&'a [String]>,
    /// The data files, by stem.
    pub(super) files: &'a Map<String, Value>,
    pub(super) taxonomy: Content,
    pub(super) domain: Option<String>,
    pub(super) evidence: Arc<EvidenceReader>,
    pub(super) data: Content,
    pub(super) workspace: Content,
}

impl SharedInputs<'_> {
    /// Links a pipeline, and what is walked as its nodes. `set` has the vars from outside and those of the walk around it, with the
    /// places where they are set; `within` what the pipelines around it refer to each other as.
    pub(super) fn plan(
        &self,
        pipeline: &Arc<Pipeline>,
        (set, places): (&Map<String, Value>, &VarPlaces),
        within: &mut Vec<String>,
        found: &mut Diagnostics,
    ) -> Plan {
        let vars = vars::overlay(pipeline, set, places).unwrap_or_else(|diagnostics| {
            found.extend(diagnostics);
            pipeline.vars_json()
        });
        let asked = within.last().cloned();
        let linker = ProjectLinker {
            pipeline,
            library: self.library,
            templates: self.templates,
            texts: self.texts,
            vars: &vars,
            part: asked.as_deref(),
            masks: self.masks,
            agents: self.agents,
            servers: self.servers,
        };
        let rules = linker.rules(found);
        let mut nodes: Vec<PlanNode> = Vec::with_capacity(pipeline.nodes.len());
        for node in &pipeline.nodes {
            let template = linker.template(node, found);
            nodes.push(linker.node(node, self.answers, template, found));
        }
        prompts::check(pipeline, &nodes, self.templates, found);
        personas::check_elements(pipeline, self.files, found);
        let (cluster, summary) = linker.of_cases(found);
        let own = (&vars::within(set, &vars), &vars::places_within(pipeline, set, places));
        for (linked, node) in nodes.iter_mut().zip(&pipeline.nodes) {
            linked.subpipeline =
                node.part.as_ref().and_then(|asked| self.part(pipeline, asked, own, within, found)).map(Arc::new);
        }
        Plan {
            nodes,
            rules,
            edge_names: pipeline.edges.iter().map(|edge| edge.id.as_str().into()).collect(),
            cluster,
            summary,
            vars_content: content(pipeline, &vars),
            vars: vars.clone(),
            taxonomy: self.taxonomy.clone(),
            domain: self.domain.clone(),
            evidence: Arc::clone(&self.evidence),
            data: self.data.clone(),
            workspace: self.workspace.clone(),
            walker: anonymous(),
            team: linker.team(self.files, found),
            done: pipeline.done.as_str().into(),
            pipeline: Arc::clone(pipeline),
        }
    }

    /// What a node of `pipeline` refers to, linked. A pipeline that would be a part of itself is an error.
    fn part(
        &self,
        pipeline: &Pipeline,
        asked: &Spanned<String>,
        set: (&Map<String, Value>, &VarPlaces),
        within: &mut Vec<String>,
        found: &mut Diagnostics,
    ) -> Option<Plan> {
        let Some(part) = self.parts.get(&asked.value) else {
            // One that cannot be read has been complained about.
            if !self.part_texts.contains_key(&asked.value) {
                found.push(subpipelines::missing(pipeline, asked, self.missing.get(&asked.value)));
            }
            return None;
        };
        if within.contains(&asked.value) {
            let round: Vec<&str> = within.iter().map(String::as_str).chain([asked.as_str()]).collect();
            let message = format!("the pipeline `{}` would be a part of itself: {}", **asked, round.join(" -> "));
            let diagnostic =
                Diagnostic::error("project/endless", message).label(&pipeline.source, asked.span, "walked as this node");
            found.push(diagnostic.help("a walk within a walk has to end; go back by a `loop: true` edge instead"));
            return None;
        }
        within.push(asked.value.clone());
        let plan = self.plan(part, set, within, found);
        within.pop();
        Some(plan)
    }
}

/// A plan with other vars, as far as it and its parts have them; parts take those of the walk around them.
pub(super) fn with_vars(plan: &Plan, set: &Map<String, Value>) -> Result<Plan, Diagnostics> {
    let pipeline = Arc::clone(&plan.pipeline);
    let vars = vars::overlay(&pipeline, set, &VarPlaces::new())?;
    let mut with = Plan { vars_content: content(&pipeline, &vars), vars, ..Plan::clone(plan) };
    let set = vars::within(set, &with.vars);
    for node in &mut with.nodes {
        if let Some(part) = &mut node.subpipeline {
            *part = Arc::new(with_vars(part, &set)?);
        }
    }
    Ok(with)
}

fn content(pipeline: &Pipeline, vars: &Map<String, Value>) -> Content {
    Content::new(View::of(&Value::Object(vars.clone()), &vars::kind(pipeline, vars), "vars"))
}

/// What of the vocabulary is the words for what is wrong.
pub(super) fn taxonomy(data: &Map<String, Value>) -> Value {
    let Some(domain) = data.get("domain") else { return Value::Null };
    ["defects", "categories", "severities"].into_iter().map(|key| (key, domain[key].clone())).collect()
}
