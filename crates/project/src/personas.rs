//! Checks between the data files `personas` and `elements`, and between these and pipelines.

use super::DataFiles;
use asterisk_diag::{Diagnostic, Diagnostics, Source, did_you_mean};
use asterisk_form::yaml::{self, YamlReader};
use asterisk_pipeline::Pipeline;
use serde_json::Value;

/// The names of all elements, including derived ones.
pub(super) fn elements(data: &DataFiles) -> impl Iterator<Item = &str> {
    let of = |group: &str| data.get("elements").and_then(|file| file.get(group)?.as_object()).into_iter().flatten();
    of("elements").chain(of("derived")).map(|(name, _)| name.as_str())
}

/// All personas of the data.
pub(super) fn personas(data: &DataFiles) -> impl Iterator<Item = &Value> {
    data.get("personas").and_then(|file| file.get("personas")?.as_array()).into_iter().flatten()
}

/// Whether a data file has the personas, or the elements that they may have.
pub(super) fn are_in(source: &Source) -> bool {
    source.name().rsplit_once('.').is_some_and(|(stem, _)| ["personas", "elements"].contains(&stem))
}

/// Reports personas with an unknown element.
pub(super) fn check(sources: &[Source], data: &DataFiles, found: &mut Diagnostics) {
    let is_personas = |source: &&Source| source.name().rsplit_once('.').is_some_and(|(stem, _)| stem == "personas");
    // Without any elements there is nothing to compare with.
    let Some(source) = sources.iter().find(is_personas).filter(|_| elements(data).next().is_some()) else { return };
    let Ok(tree) = yaml::parse(source) else { return };
    let list = tree.get("personas").and_then(|list| list.as_list()).unwrap_or_default();
    let mut reader = YamlReader::new(source, "data");
    for (persona, element) in list.iter().filter_map(|item| Some((item, item.get("element")?))) {
        let Some(text) = element.as_text().filter(|text| !elements(data).any(|known| known == *text)) else { continue };
        let name = persona.get("name").and_then(|name| name.as_text()).unwrap_or("?");
        let error =
            reader.error("unknown-element", format!("persona `{name}` has the unknown element `{text}`"), element.span, "");
        let names: Vec<&str> = elements(data).collect();
        let known = format!("the elements are {}", names.join(", "));
        reader.push(error.help(did_you_mean(text, names).unwrap_or(known)));
    }
    found.extend(reader.finish());
}

/// Reports nodes and zones of a pipeline with an unknown element.
pub(super) fn check_elements(pipeline: &Pipeline, data: &DataFiles, found: &mut Diagnostics) {
    let names: Vec<&str> = elements(data).collect();
    if names.is_empty() {
        return; // nothing to compare with
    }
    let nodes = pipeline.nodes.iter().filter_map(|node| node.element.as_ref());
    let zones = pipeline.zones.iter().filter_map(|zone| zone.element.as_ref());
    for element in nodes.chain(zones).filter(|element| !names.contains(&element.as_str())) {
        let error = Diagnostic::error("project/unknown-element", format!("unknown element `{}`", **element));
        let known = || format!("the elements are {}", names.join(", "));
        let help = did_you_mean(element, names.iter().copied()).unwrap_or_else(known);
        let error = error.label(&pipeline.source, element.span, "").help(help);
        // A pipeline may be a sub-pipeline more than once.
        if !found.iter().any(|known| *known == error) {
            found.push(error);
        }
    }
}
