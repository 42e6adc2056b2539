//! Which pipelines a text refers to, without reading all of it.

use crate::diag::Source;
use crate::form::yaml;

/// What its nodes refer to as `pipeline:` or `do:`, each once, in order; nothing of a text that is no YAML. Most texts have no such node
/// and need no parser to show it.
pub fn parts_of(source: &Source) -> Vec<String> {
    let inside = |line: &str| line.contains("do:") || line.match_indices("pipeline").any(|(at, _)| at > 0);
    if !source.text().lines().any(inside) {
        return Vec::new();
    }
    let Ok(tree) = yaml::parse(source) else { return Vec::new() };
    let nodes = tree.get("nodes").and_then(|nodes| nodes.as_list()).unwrap_or_default();
    let mut parts: Vec<String> = Vec::new();
    for part in nodes.iter().filter_map(|node| node.get("pipeline").or_else(|| node.get("do"))?.as_text()) {
        if !parts.iter().any(|known| known == part) {
            parts.push(part.to_owned());
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_nodes_refer_to_pipelines() {
        let of = |text: &str| parts_of(&Source::new("p.yaml", text));
        assert_eq!(of("pipeline: a\nnodes:\n  - { name: x, pipeline: b }\n  - name: y\n    pipeline: b\n"), ["b"]);
        assert_eq!(of("pipeline: a\nvars: { pipeline: b }\nnodes: [{ name: x }]\n"), Vec::<String>::new());
        assert_eq!(of("pipeline: a\nnodes: [{ name: x }, { name: y, pipeline: b }]\n"), ["b"]);
        assert_eq!(of("{pipeline: a, nodes: [{name: x, pipeline: b}, {name: y, pipeline: c}]}"), ["b", "c"]);
        assert_eq!(of("nodes: [\n  pipeline"), Vec::<String>::new());
    }
}
