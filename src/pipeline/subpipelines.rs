//! Finds the pipelines that a text refers to, without a full parse.

use crate::diag::Source;
use crate::form::yaml;

/// The pipelines referred to by nodes as `pipeline:` or `do:`, in order, without duplicates; empty if the text is not valid YAML.
/// Texts without these keys, which are most, are not parsed.
pub fn subpipelines_of(source: &Source) -> Vec<String> {
    let inside = |line: &str| line.contains("do:") || line.match_indices("pipeline").any(|(at, _)| at > 0);
    if !source.text().lines().any(inside) {
        return Vec::new();
    }
    let Ok(tree) = yaml::parse(source) else { return Vec::new() };
    let nodes = tree.get("nodes").and_then(|nodes| nodes.as_list()).unwrap_or_default();
    let mut found: Vec<String> = Vec::new();
    for reference in nodes.iter().filter_map(|node| node.get("pipeline").or_else(|| node.get("do"))?.as_text()) {
        if !found.iter().any(|known| known == reference) {
            found.push(reference.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_nodes_refer_to_pipelines() {
        let of = |text: &str| subpipelines_of(&Source::new("p.yaml", text));
        assert_eq!(of("pipeline: a\nnodes:\n  - { name: x, pipeline: b }\n  - name: y\n    pipeline: b\n"), ["b"]);
        assert_eq!(of("pipeline: a\nvars: { pipeline: b }\nnodes: [{ name: x }]\n"), Vec::<String>::new());
        assert_eq!(of("pipeline: a\nnodes: [{ name: x }, { name: y, pipeline: b }]\n"), ["b"]);
        assert_eq!(of("{pipeline: a, nodes: [{name: x, pipeline: b}, {name: y, pipeline: c}]}"), ["b", "c"]);
        assert_eq!(of("nodes: [\n  pipeline"), Vec::<String>::new());
    }
}
