//! The scripts and templates that a pipeline refers to: those named in its text, in the texts of its sub-pipelines and policies, and
//! in data.

use super::{LinkSettings, Sources};
use asterisk_diag::Source;
use asterisk_pipeline::Pipeline;
use std::collections::BTreeSet;

/// The ending of a script's path.
const ENDING: &str = ".rhai";

/// The scripts that pipelines name, or that answer their nodes: more rather than less, since any mention counts.
pub(super) fn scripts<'p>(
    sources: &Sources,
    settings: &LinkSettings,
    pipelines: impl Iterator<Item = &'p Pipeline>,
) -> BTreeSet<String> {
    let mut reached: BTreeSet<String> = settings.masks.iter().chain(&settings.called).cloned().collect();
    // Personas bring masks, teams a scheduler; agents and advisors of a policy are named in data.
    let mut in_data = settings.team.is_some();
    for pipeline in pipelines {
        in_data |= pipeline.team.is_some() || pipeline.nodes.iter().any(|node| node.policy.is_some());
        reached.extend(pipeline.nodes.iter().map(|node| format!("agents/{}{ENDING}", *node.family)));
    }
    let mut texts: Vec<&str> = vec![sources.pipeline.text()];
    texts.extend(sources.subpipelines.values().map(Source::text));
    texts.extend(sources.data.iter().filter(|file| in_data || !file.is_bundled()).map(Source::text));
    reached.extend(texts.into_iter().flat_map(mentions).map(str::to_owned));
    reached
}

/// The templates that pipelines name, those of their families, and those that these include: again, any mention counts.
pub(super) fn templates<'p>(sources: &Sources, pipelines: impl Iterator<Item = &'p Pipeline>) -> Vec<Source> {
    let families: BTreeSet<String> =
        pipelines.flat_map(|pipeline| &pipeline.nodes).map(|node| format!("{}.md", *node.family)).collect();
    let names = |text: &Source, template: &Source| text.text().contains(template.name());
    let by_pipelines = |template: &Source| {
        let mut texts = std::iter::once(&sources.pipeline).chain(sources.subpipelines.values());
        families.contains(template.name()) || texts.any(|text| names(text, template))
    };
    let (mut reached, mut others): (Vec<Source>, Vec<Source>) = sources.templates.iter().cloned().partition(by_pipelines);
    let mut next = 0;
    while let Some(text) = reached.get(next).cloned() {
        let (included, rest) = others.into_iter().partition::<Vec<_>, _>(|template| names(&text, template));
        reached.extend(included);
        others = rest;
        next += 1;
    }
    reached
}

/// The paths of scripts in a text.
fn mentions(text: &str) -> impl Iterator<Item = &str> {
    memchr::memmem::find_iter(text.as_bytes(), ENDING).map(move |at| {
        let part = |byte: &u8| !byte.is_ascii_whitespace() && !b"\"'`,:[]{}()#".contains(byte);
        let length = text.as_bytes()[..at].iter().rev().take_while(|byte| part(byte)).count();
        &text[at - length..at + ENDING.len()]
    })
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn every_path_that_a_text_names_is_found() {
        let text = "a: rules/a.rhai#f\nb: [\"lib/é.rhai\", 'm.rhai']\nc: {d: x.rhai#g}\n# see e.rhai.\n";
        assert_eq!(mentions(text).collect::<Vec<_>>(), ["rules/a.rhai", "lib/é.rhai", "m.rhai", "x.rhai", "e.rhai"]);
    }
}
