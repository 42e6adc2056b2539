//! Finds the pipelines, and the policy, that a text refers to, without a full parse.

use asterisk_diag::Source;
use asterisk_form::yaml;

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

/// How the keys of policy files begin among the texts that pipelines refer to; the rest is the file's name.
const POLICY: &str = "policy:";

/// The name of the policy file that a text refers to as `policy:`, if it does: relative to the text's own name.
pub fn policy_file_of(source: &Source) -> Option<String> {
    if !source.text().contains("policy") {
        return None;
    }
    let tree = yaml::parse(source).ok()?;
    Some(policy_path(source, tree.get("policy")?.as_text()?))
}

/// The key of a policy file among the texts that pipelines refer to.
pub fn policy_key(name: &str) -> String {
    format!("{POLICY}{name}")
}

/// Whether a text that pipelines refer to, with this key, is a policy file.
pub fn is_policy_key(key: &str) -> bool {
    key.starts_with(POLICY)
}

/// The name of a file that a pipeline refers to: its path, relative to that of the pipeline.
pub fn policy_path(pipeline: &Source, file: &str) -> String {
    let mut parts: Vec<&str> = match pipeline.name().rsplit_once('/') {
        Some((dir, _)) => dir.split('/').collect(),
        None => Vec::new(),
    };
    for part in file.split('/').filter(|part| *part != ".") {
        match parts.last() {
            Some(last) if part == ".." && !["", "..", "."].contains(last) => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Whether a text is the file of a policy: it has keys of one, and none of a pipeline.
pub fn is_policy_file(source: &Source) -> bool {
    let own = || crate::POLICY.keys.iter().map(|key| key.name);
    // Most texts are not parsed for it.
    if !own().any(|key| source.text().contains(key)) {
        return false;
    }
    let Ok(tree) = yaml::parse(source) else { return false };
    let has = |key: &str| tree.get(key).is_some();
    own().any(has) && !["pipeline", "nodes", "stages", "edges", "policy"].into_iter().any(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_file_is_next_to_the_pipeline() {
        let path = |pipeline: &str, file: &str| policy_path(&Source::new(pipeline, ""), file);
        assert_eq!(path("p.yaml", "strict.yaml"), "strict.yaml");
        assert_eq!(path("a/b/p.yaml", "../strict.yaml"), "a/strict.yaml");
        assert_eq!(path("p.yaml", "../strict.yaml"), "../strict.yaml");
        assert_eq!(path("/a/p.yaml", "./x/strict.yaml"), "/a/x/strict.yaml");
        let is = |text: &str| is_policy_file(&Source::new("p.yaml", text));
        assert!(is("version: 1\nretries: { code: 1 }\n") && is("preset: research\n") && is("fail_fast: true\n"));
        assert!(!is("stages: []\nretries: 1\n") && !is("name: retries\n") && !is("version: ["));
    }

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
