//! Resolves the nodes of phases and clusters.

use super::{NamedNode, PipelineLinker};
use crate::graph::{Clusters, NodeIx, PipelineNode};
use crate::raw::{RawClusters, RawPhase};
use asterisk_diag::Span;
use std::collections::BTreeMap;

impl PipelineLinker<'_, '_> {
    /// The phase of each node, and the name of each phase, if any. Without `phases:` there is one phase.
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

    /// Resolves the clusters. They are formed before the phase of a node, which must not be the first phase.
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
            let error = self.reader.error("cluster-phase", message, before.span, "no earlier phase exists");
            self.reader.push(
                error.help("clusters are formed from the results of an earlier phase: name a node of a later phase in `phases:`"),
            );
            return None;
        }
        Some(Clusters { phase, by, most })
    }
}
