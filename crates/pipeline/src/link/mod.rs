//! Links a pipeline: resolves every name and reports every unknown one.

mod phases;
mod waves;

use super::Spanned;
use super::graph::{Edge, EdgeIx, EdgeOrigin, EdgeSpans, EdgeTarget, NodeIx, Pipeline, PipelineNode, Zone, ZoneIx, step_name};
use super::policy::{STAGE_FIELDS, stage_reference};
use super::raw::{ANY, RawEdge, RawNode, RawPipeline, RawZone, Ref, USUAL_DONE};
use asterisk_diag::{Span, did_you_mean};
use asterisk_form::yaml::YamlReader;
use std::collections::BTreeMap;

/// The id under which the journal records that a node's fallback was taken.
const FALLBACK: &str = "fallback";

/// Links a pipeline. Errors go to the reader; returns `None` if an essential part is missing.
pub(super) fn link(reader: &mut YamlReader<'_>, raw: RawPipeline) -> Option<Pipeline> {
    // Without nodes every reference would be unknown; the missing nodes have been reported.
    let raw_nodes = raw.nodes.filter(|nodes| !nodes.is_empty())?;
    let names = names(reader, &raw_nodes, raw.done.as_ref());
    check_codes(reader, &raw_nodes);
    let mut linker = PipelineLinker { reader, names, done: raw.done.clone(), waves: raw.waves, stages: raw.stages };
    let start = raw.start.as_ref().and_then(|start| linker.start(start));
    let zones: Vec<Zone> = raw.zones.into_iter().map(|zone| linker.zone(zone)).collect();
    let (of, phase_names) = linker.phases(raw.phases, raw.phases_span, raw_nodes.len());
    let mut nodes: Vec<PipelineNode> =
        raw_nodes.into_iter().enumerate().filter_map(|(ix, node)| linker.node(node, zone_of(NodeIx(ix), &zones))).collect();
    let start = linker.waves(&nodes, start, raw.start.as_ref(), &raw.edges);
    for (node, phase) in nodes.iter_mut().zip(&of) {
        node.phase = *phase;
    }
    let clusters = raw.clusters.and_then(|clusters| linker.clusters(clusters, &nodes));
    linker.edge_ids(&raw.edges);
    let edges: Vec<Edge> = raw.edges.into_iter().filter_map(|edge| linker.edge(edge)).collect();
    let mut guards = Vec::new();
    for (ix, edge) in edges.iter().enumerate() {
        match edge.from {
            EdgeOrigin::Any => guards.push(EdgeIx(ix)),
            // A node without a name is dropped, which shifts indices; the error about it refuses the pipeline anyway.
            EdgeOrigin::Node(NodeIx(node)) => {
                if let Some(node) = nodes.get_mut(node) {
                    if edge.advisory { &mut node.advisories } else { &mut node.edges }.push(EdgeIx(ix));
                }
            }
        }
    }
    if let Some(deadline) = &raw.deadline
        && !raw.vars.get(deadline.as_str()).is_some_and(|var| var.default.value.is_number())
    {
        let error = linker.reader.error("unknown-var", format!("`{deadline}` is not a numeric var"), deadline.span, "");
        linker.reader.push(error.maybe_help(did_you_mean(deadline, raw.vars.keys().map(String::as_str))));
    }
    Some(Pipeline {
        name: raw.name?,
        description: raw.description,
        source: linker.reader.source().clone(),
        vars: raw.vars,
        zones,
        phases: phase_names.len(),
        phase_names,
        clusters,
        nodes,
        edges,
        guards,
        start: start?,
        done: raw.done?,
        team: raw.team,
        report: raw.report,
        result: raw.result,
        verdict: raw.verdict,
        roots: raw.roots,
        counters: raw.counters,
        max_steps: raw.max_steps,
        thermal: raw.thermal,
        deadline: raw.deadline,
        on_rule_error: raw.on_rule_error,
        policy: raw.policy,
        memory: raw.memory,
        waves: raw.waves,
        stages: raw.stages,
    })
}

/// The nodes by name. Reports duplicate and reserved names.
fn names(reader: &mut YamlReader<'_>, nodes: &[RawNode], done: Option<&Spanned<String>>) -> BTreeMap<String, NamedNode> {
    let mut names: BTreeMap<String, NamedNode> = BTreeMap::new();
    for (ix, node) in nodes.iter().enumerate() {
        let Some(name) = &node.name else { continue };
        let code = node.code.as_ref().map(|code| code.value.clone());
        let error = if let Some(first) = names.get(&name.value) {
            let message = format!("duplicate node `{name}`");
            let error = reader.error("duplicate-node", message, name.span, "again here");
            error.label(reader.source(), first.span, "first here").help("give each node its own name")
        } else if let Some(done) = done.filter(|done| done.value == name.value) {
            let message = format!("the node `{name}` has the name of the pipeline's end");
            let error = reader.error("reserved-name", message, name.span, "a node");
            error.label(reader.source(), done.span, "the end").help("rename one of them")
        } else if name.value == ANY {
            let error = reader.error("reserved-name", "a node cannot be called `*`", name.span, "");
            error.help("`*` stands for every node, in the `from` of a guard")
        } else {
            names.insert(name.value.clone(), NamedNode { ix: NodeIx(ix), span: name.span, code });
            continue;
        };
        reader.push(error);
    }
    names
}

/// Reports codes and step names that are ambiguous: both refer to nodes.
fn check_codes(reader: &mut YamlReader<'_>, nodes: &[RawNode]) {
    let mut taken: BTreeMap<String, (usize, Span)> = BTreeMap::new();
    for (ix, node) in nodes.iter().enumerate() {
        if let Some(name) = &node.name {
            taken.entry(name.value.clone()).or_insert((ix, name.span));
        }
    }
    for (ix, node) in nodes.iter().enumerate() {
        let (Some(name), Some(code)) = (&node.name, &node.code) else { continue };
        for text in [code.value.clone(), step_name(Some(code), name)] {
            match taken.get(&text) {
                Some((other, _)) if *other == ix => {}
                Some((_, first)) => {
                    let message = format!("the code of node `{name}` makes `{text}` ambiguous");
                    let error = reader
                        .error("duplicate-code", message, code.span, "this code")
                        .label(reader.source(), *first, "the other node")
                        .help("give each node its own code");
                    reader.push(error);
                    break;
                }
                None => {
                    taken.insert(text, (ix, code.span));
                }
            }
        }
    }
}

fn zone_of(node: NodeIx, zones: &[Zone]) -> Option<ZoneIx> {
    zones.iter().position(|zone| zone.nodes.contains(&node)).map(ZoneIx)
}

/// A node that can be referred to.
pub(super) struct NamedNode {
    pub(super) ix: NodeIx,
    pub(super) span: Span,
    code: Option<String>,
}

pub(super) struct PipelineLinker<'r, 'a> {
    pub(super) reader: &'r mut YamlReader<'a>,
    pub(super) names: BTreeMap<String, NamedNode>,
    done: Option<Spanned<String>>,
    waves: bool,
    stages: bool,
}

impl PipelineLinker<'_, '_> {
    fn is_done(&self, text: &str) -> bool {
        self.done.as_ref().is_some_and(|done| done.value == text)
    }

    fn target(&self, text: &str) -> Option<EdgeTarget> {
        if self.is_done(text) {
            return Some(EdgeTarget::Done);
        }
        self.names.get(text).map(|named| EdgeTarget::Node(named.ix))
    }

    /// The node with this name.
    pub(super) fn node_named(&self, text: &str) -> Option<NodeIx> {
        match self.target(text) {
            Some(EdgeTarget::Node(ix)) => Some(ix),
            Some(EdgeTarget::Done) | None => None,
        }
    }

    /// Reports an unknown node name.
    pub(super) fn unknown(&mut self, code: &str, message: String, name: &Spanned<String>, or_done: bool) {
        if self.done.is_none() && name.value == USUAL_DONE {
            // The name of the end is missing, which has been reported; this name is going to be it.
            return;
        }
        let by_code = self.names.iter().find(|(_, named)| named.code.as_deref() == Some(name.as_str()));
        let help = if let Some((node, _)) = by_code {
            Some(format!("nodes are referred to by name: `{node}`"))
        } else {
            let done = self.done.as_ref().filter(|_| or_done).map(|done| done.as_str());
            did_you_mean(name, self.names.keys().map(String::as_str).chain(done))
        };
        let error = self.reader.error(code, message, name.span, "").maybe_help(help);
        self.reader.push(error);
    }

    fn start(&mut self, start: &Spanned<String>) -> Option<NodeIx> {
        if let Some(EdgeTarget::Node(ix)) = self.target(start) {
            return Some(ix);
        }
        let fault = if self.is_done(start) { "the end of the pipeline, not a node" } else { "not a node" };
        self.unknown("unknown-start", format!("the start `{start}` is {fault}"), start, false);
        None
    }

    fn zone(&mut self, zone: RawZone) -> Zone {
        let mut nodes = Vec::new();
        for name in &zone.nodes {
            if let Some(EdgeTarget::Node(ix)) = self.target(name) {
                nodes.push(ix);
            } else {
                let message = format!("zone `{}` lists `{name}`, which is not a node", zone.name);
                self.unknown("unknown-zone-node", message, name, false);
            }
        }
        Zone { name: zone.name, nodes, element: zone.element, stickiness: zone.stickiness }
    }

    fn node(&mut self, node: RawNode, zone: Option<ZoneIx>) -> Option<PipelineNode> {
        let fallback = node.fallback.as_ref().and_then(|fallback| {
            let target = self.target(fallback);
            if target.is_none() {
                let of = node.name.as_ref().map_or(String::new(), |name| format!(" of node `{name}`"));
                self.unknown("unknown-target", format!("the fallback{of}, `{fallback}`, is not a node"), fallback, true);
            }
            target
        });
        let after = self.after(&node);
        let name = node.name?;
        Some(PipelineNode {
            family: node.family.unwrap_or_else(|| name.clone()),
            name,
            code: node.code,
            element: node.element,
            prompt: node.prompt,
            artifact: node.artifact,
            confidence: node.confidence,
            schema: node.schema,
            known: node.known,
            needs: node.needs,
            masks: node.masks,
            accept: node.accept,
            effect: node.effect,
            script: node.script,
            via: node.via,
            subpipeline: node.subpipeline,
            tool: node.tool,
            foreach: node.foreach,
            after,
            policy: node.policy,
            fallback,
            phase: 0,
            zone,
            edges: Vec::new(),
            advisories: Vec::new(),
        })
    }

    /// The nodes that a node waits for.
    fn after(&mut self, node: &RawNode) -> Vec<NodeIx> {
        let of = node.name.as_ref().map_or(String::new(), |name| format!(" of node `{name}`"));
        let mut found = Vec::new();
        for name in &node.after {
            if let Some(EdgeTarget::Node(ix)) = self.target(name) {
                found.push(ix);
            } else {
                let message = if self.stages {
                    format!("`depends_on`{of} lists `{name}`, which is not a stage")
                } else {
                    format!("`after`{of} lists `{name}`, which is not a node")
                };
                self.unknown("unknown-target", message, name, false);
            }
        }
        self.reads(node, &mut found);
        found
    }

    /// Adds the nodes whose results a task reads to those that its node waits for, and reports fields that they don't have.
    fn reads(&mut self, node: &RawNode, after: &mut Vec<NodeIx>) {
        let Some(task) = node.policy.as_ref().and_then(|policy| policy.task.as_ref()) else { return };
        let own = node.name.as_ref().and_then(|name| self.node_named(name));
        let mut read = Vec::new();
        for reference in task.references() {
            let Some((name, path)) = stage_reference(reference, self.names.keys().map(String::as_str)) else { continue };
            let field = path.split('.').next().unwrap_or(path);
            if STAGE_FIELDS.contains(&field) {
                read.extend(self.node_named(name));
                continue;
            }
            let message = format!("the task reads `{reference}`, but `{field}` is not a field of `{name}`");
            let known = || format!("a task may read {}", STAGE_FIELDS.join(", "));
            let help = did_you_mean(field, STAGE_FIELDS).unwrap_or_else(known);
            let error = self.reader.error("bad-reference", message, task.text.span, "").help(help);
            self.reader.push(error);
        }
        if task.is_template() {
            let forms = |name: &str| [format!("stages[\"{name}\"]"), format!("stages['{name}']"), format!("stages.{name}.")];
            let named = self.names.iter().filter(|(name, _)| forms(name).iter().any(|form| task.text.contains(form.as_str())));
            read.extend(named.map(|(_, named)| named.ix));
        }
        // A node reads of itself what an attempt before left.
        for ix in read.into_iter().filter(|ix| self.waves && own != Some(*ix)) {
            if !after.contains(&ix) {
                after.push(ix);
            }
        }
    }

    /// The start of a pipeline with `after:`: all nodes that wait for none. Reports edges and a declared start.
    fn waves(
        &mut self,
        nodes: &[PipelineNode],
        start: Option<NodeIx>,
        named: Option<&Spanned<String>>,
        edges: &[RawEdge],
    ) -> Option<NodeIx> {
        if !self.waves {
            return start;
        }
        let idle = [(named.map(|start| start.span), "`start`"), (edges.first().map(|edge| edge.head), "edges")];
        for (span, what) in idle.into_iter().filter_map(|(span, what)| Some((span?, what))) {
            let message = format!("nodes are ordered by `after`, so {what} has no effect");
            let error = self.reader.error("after", message, span, "");
            self.reader.push(error.help("remove it, or remove `after` and connect the nodes with edges"));
        }
        let waits: Vec<_> = nodes.iter().map(|node| (node.name.clone(), node.after.clone())).collect();
        waves::cycles(self.reader, &waits);
        nodes.iter().position(|node| node.after.is_empty()).map(NodeIx)
    }

    /// Reports duplicate and reserved ids.
    fn edge_ids(&mut self, edges: &[RawEdge]) {
        let mut first: BTreeMap<&str, Span> = BTreeMap::new();
        for id in edges.iter().filter_map(|edge| edge.id.as_ref()) {
            let error = if let Some(first) = first.get(id.as_str()) {
                let error = self.reader.error("duplicate-edge", format!("duplicate edge id `{id}`"), id.span, "again here");
                error.label(self.reader.source(), *first, "first here").help("give each edge its own id")
            } else if id.value == FALLBACK {
                let error = self.reader.error("reserved-name", "an edge cannot have the id `fallback`", id.span, "");
                error.help("the journal uses it for the fallback of a node")
            } else {
                first.insert(id, id.span);
                continue;
            };
            self.reader.push(error);
        }
    }

    fn edge(&mut self, raw: RawEdge) -> Option<Edge> {
        let what = raw.id.as_ref().map_or("an edge".to_owned(), |id| format!("edge `{id}`"));
        let from = self.origin(&raw, &what);
        let to = self.destination(&raw, &what);
        let targets = raw.targets.iter().filter_map(|name| {
            let target = self.target(name);
            if target.is_none() {
                let message = format!("{what} lists the target `{name}`, which is not a node");
                self.unknown("unknown-target", message, name, true);
            }
            Some(Spanned::new(target?, name.span))
        });
        let targets = targets.collect();
        let id = raw.id?;
        let (from, from_span) = from?;
        Some(Edge {
            counter: raw.looped.then(|| raw.counter.map_or_else(|| id.value.clone(), |counter| counter.value)),
            name: raw.name,
            from,
            to: to.map(|(target, _)| target),
            targets,
            shortcut: raw.shortcut,
            looped: raw.looped,
            advisory: raw.advisory,
            parallel: raw.parallel,
            when: raw.when,
            context: raw.context,
            spans: EdgeSpans { whole: raw.whole, from: from_span, to: to.map(|(_, span)| span), when: raw.when_span },
            id,
        })
    }

    fn origin(&mut self, raw: &RawEdge, what: &str) -> Option<(EdgeOrigin, Span)> {
        let name = match &raw.from {
            Ref::Name(name) => name,
            Ref::Bad => return None,
            Ref::Missing => {
                let error = self.reader.error("unknown-edge-source", format!("{what} needs `from`"), raw.head, "");
                self.reader.push(error.help("name the node it comes from, or `\"*\"` for a guard"));
                return None;
            }
        };
        if name.value == ANY {
            return Some((EdgeOrigin::Any, name.span));
        }
        if let Some(EdgeTarget::Node(ix)) = self.target(name) {
            return Some((EdgeOrigin::Node(ix), name.span));
        }
        let fault = if self.is_done(name) { "is the end of the pipeline" } else { "is not a node" };
        self.unknown("unknown-edge-source", format!("{what} comes from `{name}`, which {fault}"), name, false);
        None
    }

    fn destination(&mut self, raw: &RawEdge, what: &str) -> Option<(EdgeTarget, Span)> {
        match &raw.to {
            Ref::Name(name) => {
                let target = self.target(name);
                if target.is_none() {
                    let message = format!("{what} goes to `{name}`, which is not a node");
                    self.unknown("unknown-edge-target", message, name, true);
                }
                Some((target?, name.span))
            }
            Ref::Missing if !raw.advisory => {
                let error = self.reader.error("unknown-edge-target", format!("{what} needs `to`"), raw.head, "");
                self.reader.push(error.help("name the node it goes to, or the end of the pipeline"));
                None
            }
            Ref::Missing | Ref::Bad => None,
        }
    }
}
