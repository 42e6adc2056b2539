//! Where breakpoints can be: statements of scripts, and what is declared in pipelines.

use crate::case::DebuggedCase;
use crate::fault::DebugFault;
use crate::text_book::{ShownText, TextArea, TextPlace};
use asterisk_pipeline::{EdgeCondition, Pipeline};
use asterisk_project::Project;
use asterisk_script::Unit;
use asterisk_script::probe::{NodeRole, ProbeTable};
use asterisk_walk::Plan;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a breakpoint stops at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BreakTarget {
    /// A statement in this line of a text with that name.
    Statement { area: TextArea, name: String, line: usize },
    /// The walk enters a node.
    Node(String),
    /// An edge fires.
    EdgeFires(String),
    /// A rule of the verdict or of roots matches.
    RuleMatches(String),
    /// The entry of whatever has this name: a function, a node, an edge, a rule, a signature.
    Named(String),
    /// Nothing.
    Nowhere,
}

/// The lines of a text where something can stop, each with what stops there.
pub(crate) type BreakableLines = BTreeMap<usize, BreakTarget>;

impl DebuggedCase {
    /// The projects that the steps of the case use.
    pub(crate) fn projects(&self) -> Result<Vec<Arc<Project>>, DebugFault> {
        let mut seen = BTreeSet::new();
        let mut projects: Vec<Arc<Project>> = Vec::new();
        for (at, step) in self.steps.iter().enumerate() {
            if seen.insert(step.manifest) {
                let project = self.project_of(at)?;
                if !projects.iter().any(|known| Arc::ptr_eq(known, &project)) {
                    projects.push(project);
                }
            }
        }
        if projects.is_empty() {
            projects.push(self.project_of(0)?);
        }
        Ok(projects)
    }

    /// Lists the texts of a project in the book, so that a client can name them.
    pub(crate) fn list_texts(&self) -> Result<(), DebugFault> {
        for project in self.projects()? {
            for file in project.library.files() {
                self.book.number(TextArea::Script, file.source());
            }
            let sources = &project.sources;
            for source in std::iter::once(&sources.pipeline).chain(sources.subpipelines.values()) {
                for part in source.parts() {
                    self.book.place(TextArea::Pipeline, source, part);
                }
            }
        }
        Ok(())
    }

    /// The lines of a text where something can stop.
    pub(crate) fn breakable(&self, text: &ShownText) -> Result<BreakableLines, DebugFault> {
        let mut lines = BreakableLines::new();
        for project in self.projects()? {
            match text.area {
                TextArea::Script => self.statements(&project, text, &mut lines),
                TextArea::Pipeline | TextArea::Data => self.declared(&project, text, &mut lines),
            }
        }
        Ok(lines)
    }

    fn statements(&self, project: &Project, text: &ShownText, lines: &mut BreakableLines) {
        let Some(file) = project.library.file(text.source.name()) else { return };
        // Parses a bundled script that waits for its first call.
        let unit = file.unit();
        if unit.script() != text.source.text() {
            return;
        }
        let probed = project.library.probed().find(|(known, _)| !known.is_condition() && known.name() == unit.name());
        if let Some((unit, table)) = probed {
            self.statements_of(unit, table, text, lines);
        }
    }

    fn statements_of(&self, unit: &Unit, table: &ProbeTable, text: &ShownText, lines: &mut BreakableLines) {
        let area = if unit.is_condition() { TextArea::Pipeline } else { TextArea::Script };
        for node in table.nodes().iter().filter(|node| node.role != NodeRole::Function) {
            let Some((source, span)) = node.place(unit) else { continue };
            let Some(place) = self.book.place(area, &source, span).filter(|place| self.is_of(*place, text)) else { continue };
            let name = text.source.name().to_owned();
            lines.entry(place.line).or_insert(BreakTarget::Statement { area, name, line: place.line });
        }
    }

    /// What pipelines declare, by every line of it.
    fn declared(&self, project: &Project, text: &ShownText, lines: &mut BreakableLines) {
        let mut pipelines = Vec::new();
        collect(&project.plan, &mut pipelines);
        let mut heads: BTreeMap<usize, (BreakTarget, usize)> = BTreeMap::new();
        for pipeline in &pipelines {
            let mut add = |span, target: BreakTarget, is_whole: bool| {
                let place = self.book.place(TextArea::Pipeline, &pipeline.source, span).filter(|place| self.is_of(*place, text));
                if let Some(place) = place {
                    let end = if is_whole { last_line(place) } else { node_end(text, place.line) };
                    heads.entry(place.line).or_insert((target, end));
                }
            };
            for node in &pipeline.nodes {
                add(node.name.span, BreakTarget::Node(node.name.value.clone()), false);
            }
            for edge in &pipeline.edges {
                add(edge.spans.whole, BreakTarget::EdgeFires(edge.id.value.clone()), true);
            }
            for rule in pipeline.verdict.iter().flat_map(|verdict| &verdict.rules) {
                add(rule.span, BreakTarget::RuleMatches(rule.id.value.clone()), true);
            }
            for rule in &pipeline.roots {
                add(rule.span, BreakTarget::RuleMatches(rule.id.value.clone()), true);
            }
        }
        // Conditions of several lines have statements of their own.
        for (unit, table) in project.library.probed().filter(|(unit, _)| unit.is_condition()) {
            let mut own = BreakableLines::new();
            self.statements_of(unit, table, text, &mut own);
            lines.extend(own.into_iter().filter(|(line, _)| !heads.contains_key(line) && multi_line(&pipelines)));
        }
        let starts: Vec<usize> = heads.keys().copied().collect();
        for (line, (target, end)) in heads {
            let next = starts.iter().copied().find(|start| *start > line).unwrap_or(usize::MAX);
            for line in line..=end.min(next.saturating_sub(1)).min(line + 200) {
                lines.entry(line).or_insert_with(|| target.clone());
            }
        }
    }

    fn is_of(&self, place: TextPlace, text: &ShownText) -> bool {
        self.book.text(place.text).is_some_and(|known| known.area == text.area && known.source == text.source)
    }
}

/// Whether a condition may have lines of its own.
fn multi_line(pipelines: &[Arc<Pipeline>]) -> bool {
    let edges = pipelines.iter().flat_map(|pipeline| &pipeline.edges);
    edges.into_iter().any(|edge| matches!(&edge.when, EdgeCondition::Condition(text) if text.text().contains('\n')))
}

/// The last line of the node that begins in this line: before the next line that is not indented.
fn node_end(text: &ShownText, line: usize) -> usize {
    let inside = (line + 1..=text.line_count()).take_while(|line| {
        let text = text.line(*line);
        text.is_empty() || text.starts_with([' ', '\t', '#', '-'])
    });
    inside.last().unwrap_or(line)
}

fn last_line(place: TextPlace) -> usize {
    // A block ends at the beginning of the line behind it.
    if place.end_column == 1 && place.end_line > place.line { place.end_line - 1 } else { place.end_line }
}

/// The pipelines of a plan, those of its nodes included.
fn collect(plan: &Plan, found: &mut Vec<Arc<Pipeline>>) {
    if found.iter().any(|known| Arc::ptr_eq(known, &plan.pipeline)) {
        return;
    }
    found.push(Arc::clone(&plan.pipeline));
    for node in &plan.nodes {
        if let Some(inner) = &node.subpipeline {
            collect(inner, found);
        }
    }
}

/// The names that a function breakpoint may have in the projects of a case.
pub(crate) fn is_name(case: &DebuggedCase, name: &str) -> Result<bool, DebugFault> {
    for project in case.projects()? {
        let mut pipelines = Vec::new();
        collect(&project.plan, &mut pipelines);
        let declared = pipelines.iter().any(|pipeline| {
            pipeline
                .nodes
                .iter()
                .any(|node| *node.name.value == *name || node.code.as_ref().is_some_and(|code| *code.value == *name))
                || pipeline.edges.iter().any(|edge| *edge.id.value == *name)
                || pipeline.verdict.iter().flat_map(|verdict| &verdict.rules).any(|rule| *rule.id.value == *name)
                || pipeline.roots.iter().any(|rule| *rule.id.value == *name)
        });
        let (file, function) = name.split_once('#').map_or((None, name), |(file, function)| (Some(file), function));
        let mut functions = project.library.files().filter(|script| file.is_none_or(|file| script.path() == file));
        let mut is_function = || functions.any(|script| project.library.mentions(script.path(), function));
        let judged = project.plan.verdict.as_ref();
        let is_signature = || judged.is_some_and(|verdict| verdict.signatures.contains_key(name));
        if declared || is_function() || is_signature() || name == "verdict" {
            return Ok(true);
        }
    }
    Ok(false)
}
