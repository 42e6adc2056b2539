//! `phases:` and `clusters:`: the nodes that all cases of a run pass before any continues, and the cases that wait for a
//! representative.

use crate::keys::{CLUSTERS, PHASE};
use crate::raw::{RawClusters, RawPhase};
use asterisk_form::FormFields;
use asterisk_form::yaml::Yaml;

/// The default maximum number of cases in a cluster.
const USUAL_MOST: usize = 3;

/// Reads `phases:`: lists of node names, or `{ name, nodes }`.
pub(super) fn phases(fields: FormFields<'_>) -> Option<Vec<RawPhase>> {
    Some(fields.list("phases")?.iter().filter_map(phase).collect())
}

fn phase(yaml: &Yaml) -> Option<RawPhase> {
    let Some(fields) = FormFields::of(yaml, &PHASE) else {
        return Some(RawPhase { name: None, nodes: yaml.texts()? });
    };
    fields.list("nodes")?;
    Some(RawPhase { name: fields.text("name").map(|name| name.value), nodes: fields.texts("nodes") })
}

/// Reads `clusters:`.
pub(super) fn clusters(fields: FormFields<'_>) -> Option<RawClusters> {
    let fields = fields.map("clusters", &CLUSTERS)?;
    let most = if fields.value("most").is_some() { fields.count("most")? } else { USUAL_MOST };
    Some(RawClusters { before: fields.text("before")?, by: fields.text("by")?, most })
}
