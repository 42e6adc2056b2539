//! Links pipelines into plans, each with its sub-pipelines.

use super::linked_pipeline::ProjectLinker;
use super::policy::PolicyData;
use super::settings::{AnswererNames, SCRIPT, VarPlaces};
use super::subpipelines::Subpipelines;
use super::team::anonymous;
use super::verdict;
use super::{DataFiles, ProjectData};
use super::{personas, policy, prompts, roots, subpipelines, vars};
use asterisk_base::model::Deferred;
use asterisk_diag::{Diagnostic, Diagnostics, Source};
use asterisk_pipeline::{NodeIx, Pipeline, Spanned};
use asterisk_prompt::Templates;
use asterisk_script::{Library, View};
use asterisk_walk::{Content, Plan, PlanNode, RootPlan, VerdictPlan};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The inputs shared by the pipelines of a project.
pub(super) struct SharedInputs<'a> {
    pub(super) library: &'a Library,
    pub(super) templates: &'a Templates,
    /// The texts of all templates, including those that do not compile.
    pub(super) texts: &'a [Source],
    /// The sub-pipelines by reference.
    pub(super) parts: &'a Subpipelines,
    /// The texts of all sub-pipelines, including unreadable ones.
    pub(super) part_texts: &'a BTreeMap<String, Source>,
    /// Why referenced pipelines are missing.
    pub(super) missing: &'a BTreeMap<String, Diagnostic>,
    pub(super) answers: AnswererNames,
    /// Additional masks (`--mask`).
    pub(super) masks: &'a [String],
    /// The valid names for `via:`, if known.
    pub(super) agents: Option<&'a [String]>,
    pub(super) servers: Option<&'a [String]>,
    /// The texts of the data files.
    pub(super) data_texts: &'a [Source],
    pub(super) data: &'a Arc<ProjectData>,
    pub(super) workspace: Content,
    /// Whether bundled texts are taken as checked.
    pub(super) trusted: bool,
}

impl SharedInputs<'_> {
    /// Links a pipeline with its sub-pipelines. `set` has the vars set from outside and those of the enclosing walk, with the
    /// locations where they are set; `within` the references of the enclosing pipelines.
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
        let reference = within.last().cloned();
        let linker = ProjectLinker {
            pipeline,
            library: self.library,
            templates: self.templates,
            texts: self.texts,
            vars: &vars,
            part: reference.as_deref(),
            masks: self.masks,
            agents: self.agents,
            servers: self.servers,
            trusted: self.trusted,
        };
        let rules = linker.rules(found);
        let mut nodes: Vec<PlanNode> = Vec::with_capacity(pipeline.nodes.len());
        for node in &pipeline.nodes {
            let template = linker.template(node, found);
            nodes.push(linker.node(node, self.answers, &self.data.files, template, found));
        }
        let whole = policy::of_pipeline(
            pipeline,
            PolicyData { files: &self.data.files, sources: self.data_texts, texts: self.part_texts, missing: self.missing },
            set,
            found,
        );
        if let Some(whole) = &whole {
            for (at, linked) in nodes.iter_mut().enumerate() {
                let responder =
                    linked.responder.as_ref().filter(|_| linked.via.is_empty() || linked.via.iter().any(|via| via == SCRIPT));
                let policy = linker.step_policy(NodeIx(at), responder, whole, &self.data.files, found);
                linked.policy = policy.map(Arc::new);
            }
        }
        prompts::check(pipeline, &nodes, self.templates, found);
        personas::check_elements(pipeline, &self.data.files, found);
        let [cluster, summary, result] = linker.of_cases(found);
        let vars_content = content(pipeline, &vars);
        let verdict = linker.verdict(self.data, &vars_content, found);
        let roots = linker.roots(self.data, &vars_content, found);
        let own = (&vars::within(set, &vars), &vars::places_within(pipeline, set, places));
        for (linked, node) in nodes.iter_mut().zip(&pipeline.nodes) {
            linked.subpipeline =
                node.subpipeline.as_ref().and_then(|reference| self.part(pipeline, reference, own, within, found)).map(Arc::new);
        }
        let mut plan = Plan {
            nodes,
            rules,
            edge_names: pipeline.edges.iter().map(|edge| edge.id.as_str().into()).collect(),
            cluster,
            summary,
            result,
            vars_content,
            vars: vars.clone(),
            verdict,
            roots,
            taxonomy: self.data.taxonomy.clone(),
            domain: self.data.domain.clone(),
            evidence: self.data.evidence.clone(),
            data: self.data.content.clone(),
            policy: whole.map(Arc::new),
            workspace: self.workspace.clone(),
            walker: anonymous(),
            team: linker.team(&self.data.files, found),
            done: pipeline.done.as_str().into(),
            pipeline: Arc::clone(pipeline),
        };
        if within.is_empty() {
            hand_down(&mut plan, None, None);
        }
        plan
    }

    /// Links the sub-pipeline of a node. A pipeline within itself is an error.
    fn part(
        &self,
        pipeline: &Pipeline,
        reference: &Spanned<String>,
        set: (&Map<String, Value>, &VarPlaces),
        within: &mut Vec<String>,
        found: &mut Diagnostics,
    ) -> Option<Plan> {
        let Some(part) = self.parts.get(&reference.value) else {
            // An unreadable one has been reported already.
            if !self.part_texts.contains_key(&reference.value) {
                found.push(subpipelines::missing(pipeline, reference, self.missing.get(&reference.value)));
            }
            return None;
        };
        if within.contains(&reference.value) {
            let cycle: Vec<&str> = within.iter().map(String::as_str).chain([reference.as_str()]).collect();
            let message = format!("the pipeline `{}` contains itself: {}", **reference, cycle.join(" -> "));
            let diagnostic =
                Diagnostic::error("project/endless", message).label(&pipeline.source, reference.span, "walked as this node");
            found.push(diagnostic.help("subpipelines cannot be recursive; use a `loop: true` edge instead"));
            return None;
        }
        within.push(reference.value.clone());
        let plan = self.plan(part, set, within, found);
        within.pop();
        Some(plan)
    }
}

/// Gives sub-pipelines without a verdict, or without roots, of their own those of the enclosing pipeline.
fn hand_down(plan: &mut Plan, verdict: Option<&Deferred<VerdictPlan>>, roots: Option<&Deferred<RootPlan>>) {
    if plan.pipeline.verdict.is_none() {
        plan.verdict = verdict.cloned();
    }
    if plan.pipeline.roots.is_empty() {
        plan.roots = roots.cloned();
    }
    let (verdict, roots) = (plan.verdict.clone(), plan.roots.clone());
    for part in plan.nodes.iter_mut().filter_map(|node| node.subpipeline.as_mut()) {
        hand_down(Arc::make_mut(part), verdict.as_ref(), roots.as_ref());
    }
}

/// A plan with other vars, as far as it and its sub-pipelines have them; sub-pipelines inherit those of the enclosing walk.
pub(super) fn with_vars(plan: &Plan, set: &Map<String, Value>) -> Result<Plan, Diagnostics> {
    let mut with = overlaid(plan, set)?;
    // Its own, or the one that it has from outside, whose vars are others.
    hand_down(&mut with, plan.verdict.as_ref(), plan.roots.as_ref());
    Ok(with)
}

fn overlaid(plan: &Plan, set: &Map<String, Value>) -> Result<Plan, Diagnostics> {
    let pipeline = Arc::clone(&plan.pipeline);
    let vars = vars::overlay(&pipeline, set, &VarPlaces::new())?;
    let mut with = Plan { vars_content: content(&pipeline, &vars), vars, ..Plan::clone(plan) };
    if let (Some(verdict), Some(written)) = (&plan.verdict, pipeline.verdict.clone()) {
        let (verdict, vars) = (verdict.clone(), with.vars_content.clone());
        with.verdict = Some(Deferred::new(move || verdict::with_vars(&verdict, &written, &vars)));
    }
    if let Some(own) = plan.roots.as_ref().filter(|_| !pipeline.roots.is_empty()) {
        let (own, vars) = (own.clone(), with.vars_content.clone());
        with.roots = Some(Deferred::new(move || roots::with_vars(&own, &vars)));
    }
    if let Some(whole) = &plan.policy {
        let file = plan.data.view().and_then(|data| data.present(policy::STEM).map(View::json)).unwrap_or_default();
        let files = DataFiles::from(Map::from_iter([(policy::STEM.to_owned(), file)]));
        let whole = policy::with_settings(&pipeline, whole, set)?;
        for (node, spec) in with.nodes.iter_mut().zip(&pipeline.nodes) {
            if let Some(own) = &mut node.policy {
                *own = Arc::new(policy::resettled(&pipeline, spec, own, &whole, &files));
            }
        }
        with.policy = Some(Arc::new(whole));
    }
    let set = vars::within(set, &with.vars);
    for node in &mut with.nodes {
        if let Some(part) = &mut node.subpipeline {
            *part = Arc::new(overlaid(part, &set)?);
        }
    }
    Ok(with)
}

fn content(pipeline: &Pipeline, vars: &Map<String, Value>) -> Content {
    Content::new(View::of(&Value::Object(vars.clone()), &vars::kind(pipeline, vars), "vars"))
}
