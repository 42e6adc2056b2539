//! What holds between the data files `personas` and `elements`.

use crate::diag::{Diagnostics, Source, did_you_mean};
use crate::pipeline::yaml::{self, Reader};
use serde_json::{Map, Value};

/// The names of all elements, the derived ones among them.
pub(super) fn elements(data: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let of = |group: &str| data.get("elements").and_then(|file| file.get(group)?.as_object()).into_iter().flatten();
    of("elements").chain(of("derived")).map(|(name, _)| name.as_str())
}

/// All personas, as their data has them.
pub(super) fn personas(data: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    data.get("personas").and_then(|file| file.get("personas")?.as_array()).into_iter().flatten()
}

/// Every persona has an element that there is.
pub(super) fn check(sources: &[Source], data: &Map<String, Value>, found: &mut Diagnostics) {
    let is_personas = |source: &&Source| source.name().rsplit_once('.').is_some_and(|(stem, _)| stem == "personas");
    // Without any elements there is nothing to compare with.
    let Some(source) = sources.iter().find(is_personas).filter(|_| elements(data).next().is_some()) else { return };
    let Ok(tree) = yaml::parse(source) else { return };
    let list = tree.get("personas").and_then(|list| list.as_list()).unwrap_or_default();
    let mut reader = Reader::new(source, "data");
    for (persona, element) in list.iter().filter_map(|item| Some((item, item.get("element")?))) {
        let Some(text) = element.as_text().filter(|text| !elements(data).any(|known| known == *text)) else { continue };
        let name = persona.get("name").and_then(|name| name.as_text()).unwrap_or("?");
        let error = reader.error(
            "unknown-element",
            format!("persona `{name}` has the element `{text}`, which there is not"),
            element.span,
            "",
        );
        let names: Vec<&str> = elements(data).collect();
        let known = format!("the elements are {}", names.join(", "));
        reader.push(error.help(did_you_mean(text, names).unwrap_or(known)));
    }
    found.extend(reader.finish());
}
