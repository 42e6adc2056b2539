//! `phases:` and `clusters:`: which nodes the cases of a run walk before all go on, and which cases wait for another.

use super::graph::{Clusters, NodeIx, PipelineNode};
use super::link::{NamedNode, PipelineLinker};
use super::raw::{RawClusters, RawPhase};
use super::read::{missing, present, required_text, value};
use super::yaml::{Yaml, YamlFields, YamlKind, YamlReader};
use crate::diag::Span;
use std::collections::BTreeMap;

pub(super) const CLUSTER_KEYS: &[&str] = &["before", "by", "most"];
/// The keys of a phase that has a name.
pub(super) const PHASE_KEYS: &[&str] = &["name", "nodes"];
/// The cases of a cluster when the pipeline does not say.
const USUAL_MOST: usize = 3;

/// Reads `phases:`: lists of node names, or `{ name, nodes }`.
pub(super) fn read_phases(reader: &mut YamlReader<'_>, fields: YamlFields<'_>) -> Option<Vec<RawPhase>> {
    let yaml = present(fields, "phases")?;
    let phases = reader.list(yaml, "`phases`")?;
    Some(phases.iter().filter_map(|phase| read_phase(reader, phase)).collect())
}

fn read_phase(reader: &mut YamlReader<'_>, yaml: &Yaml) -> Option<RawPhase> {
    let YamlKind::Map(_) = &yaml.kind else {
        return Some(RawPhase { name: None, nodes: reader.texts(yaml, "a phase")? });
    };
    let fields = reader.map(yaml, "a phase")?;
    reader.known_keys(fields, "a phase", PHASE_KEYS, &[]);
    let name = value(fields, "name")
        .and_then(|yaml| required_text(reader, yaml, "`name` of a phase", "missing-key", "`name` of a phase is empty"));
    let nodes = match value(fields, "nodes") {
        Some(yaml) => reader.texts(yaml, "`nodes` of a phase")?,
        None => return missing(reader, fields, "nodes", "missing-key", "a phase has no `nodes`"),
    };
    Some(RawPhase { name: name.map(|name| name.value), nodes })
}

/// Reads `clusters:`.
pub(super) fn read_clusters(reader: &mut YamlReader<'_>, fields: YamlFields<'_>) -> Option<RawClusters> {
    let yaml = present(fields, "clusters")?;
    let fields = reader.map(yaml, "`clusters`")?;
    reader.known_keys(fields, "`clusters`", CLUSTER_KEYS, &[]);
    let mut required = |key: &str| match value(fields, key) {
        None => missing(reader, fields, key, "missing-key", &format!("`clusters` has no `{key}`")),
        Some(yaml) => {
            let what = format!("`{key}` of `clusters`");
            required_text(reader, yaml, &what, "missing-key", &format!("{what} is empty"))
        }
    };
    let (before, by) = (required("before"), required("by"));
    let most = match value(fields, "most") {
        None => Some(USUAL_MOST),
        Some(yaml) => reader.int(yaml, "`most` of `clusters`", &(2..=1000)).and_then(|most| usize::try_from(most).ok()),
    };
    Some(RawClusters { before: before?, by: by?, most: most? })
}

impl PipelineLinker<'_, '_> {
    /// The phase of each node, and the name of each phase if it has one. Without `phases:` there is one phase.
    pub(super) fn phases(
        &mut self,
        phases: Option<Vec<RawPhase>>,
        whole: Option<Span>,
        nodes: usize,
    ) -> (Vec<usize>, Vec<Option<String>>) {
        let Some(phases) = phases else { return (vec![0; nodes], vec![None]) };
        let mut of: Vec<usize> = vec![0; nodes];
        let mut first: BTreeMap<NodeIx, Span> = BTreeMap::new();
        for (at, phase) in phases.iter().enumerate() {
            for name in &phase.nodes {
                let Some(ix) = self.node_named(name) else {
                    let message = format!("phase {} lists `{name}`, which is not a node", at + 1);
                    self.unknown("unknown-phase-node", message, name, false);
                    continue;
                };
                if let Some(first) = first.get(&ix) {
                    let message = format!("the node `{name}` is in two phases or twice in one");
                    let error = self.reader.error("duplicate-phase-node", message, name.span, "again here");
                    let error = error.label(self.reader.source(), *first, "first here").help("list each node once");
                    self.reader.push(error);
                    continue;
                }
                first.insert(ix, name.span);
                of[ix.0] = at;
            }
        }
        self.unphased(&first, whole);
        let mut names: Vec<Option<String>> = phases.into_iter().map(|phase| phase.name).collect();
        names.resize(names.len().max(1), None);
        (of, names)
    }

    /// Reports the nodes that no phase lists.
    fn unphased(&mut self, listed: &BTreeMap<NodeIx, Span>, whole: Option<Span>) {
        let lacking: Vec<&NamedNode> = self.names.values().filter(|named| !listed.contains_key(&named.ix)).collect();
        let Some(first) = lacking.iter().min_by_key(|named| named.ix) else { return };
        let mut names: Vec<(NodeIx, &str)> = self
            .names
            .iter()
            .filter(|(_, named)| !listed.contains_key(&named.ix))
            .map(|(name, named)| (named.ix, name.as_str()))
            .collect();
        names.sort_unstable();
        let names: Vec<String> = names.into_iter().map(|(_, name)| format!("`{name}`")).collect();
        let message = format!("no phase lists {}", names.join(", "));
        let mut error = self.reader.error("missing-phase-node", message, first.span, "this node is in no phase");
        if let Some(whole) = whole {
            error = error.label(self.reader.source(), whole, "the phases");
        }
        self.reader.push(error.help("list every node in exactly one phase"));
    }

    /// The clusters, if the node they are formed before is one that some phase stands before.
    pub(super) fn clusters(&mut self, raw: RawClusters, nodes: &[PipelineNode]) -> Option<Clusters> {
        let RawClusters { before, by, most } = raw;
        let Some(ix) = self.node_named(&before) else {
            let message = format!("`clusters` are formed before `{before}`, which is not a node");
            self.unknown("unknown-cluster-node", message, &before, false);
            return None;
        };
        let phase = nodes.get(ix.0).map_or(0, |node| node.phase);
        if phase == 0 {
            let message = format!("`clusters` are formed before `{before}`, which is in the first phase");
            let error = self.reader.error("cluster-phase", message, before.span, "no phase stands before it");
            self.reader.push(
                error.help("clusters are formed of what an earlier phase found: name a node of a later phase in `phases:`"),
            );
            return None;
        }
        Some(Clusters { phase, by, most })
    }
}
