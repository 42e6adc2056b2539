//! `phases:` and `clusters:`: which nodes the cases of a run walk before all go on, and which cases wait for another.

use super::Spanned;
use super::graph::{Clusters, Node, NodeIx};
use super::link::{Linker, Named};
use super::raw::RawClusters;
use super::read::{missing, present, required_text, value};
use super::yaml::{Fields, Reader};
use crate::diag::Span;
use std::collections::BTreeMap;

pub(super) const CLUSTER_KEYS: &[&str] = &["before", "by", "most"];
/// The cases of a cluster when the pipeline does not say.
const USUAL_MOST: usize = 3;

/// Reads `phases:`: lists of node names.
pub(super) fn read_phases(reader: &mut Reader<'_>, fields: Fields<'_>) -> Option<Vec<Vec<Spanned<String>>>> {
    let yaml = present(fields, "phases")?;
    let phases = reader.list(yaml, "`phases`")?;
    Some(phases.iter().filter_map(|phase| reader.texts(phase, "a phase")).collect())
}

/// Reads `clusters:`.
pub(super) fn read_clusters(reader: &mut Reader<'_>, fields: Fields<'_>) -> Option<RawClusters> {
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

impl Linker<'_, '_> {
    /// The phase of each node, and how many phases there are. Without `phases:` there is one.
    pub(super) fn phases(
        &mut self,
        phases: Option<Vec<Vec<Spanned<String>>>>,
        whole: Option<Span>,
        nodes: usize,
    ) -> (Vec<usize>, usize) {
        let Some(phases) = phases else { return (vec![0; nodes], 1) };
        let mut of: Vec<usize> = vec![0; nodes];
        let mut first: BTreeMap<NodeIx, Span> = BTreeMap::new();
        for (at, phase) in phases.iter().enumerate() {
            for name in phase {
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
        (of, phases.len().max(1))
    }

    /// Reports the nodes that no phase lists.
    fn unphased(&mut self, listed: &BTreeMap<NodeIx, Span>, whole: Option<Span>) {
        let lacking: Vec<&Named> = self.names.values().filter(|named| !listed.contains_key(&named.ix)).collect();
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
    pub(super) fn clusters(&mut self, raw: RawClusters, nodes: &[Node]) -> Option<Clusters> {
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
