//! Nodes that wait for others (`after:`).

use crate::graph::NodeIx;
use asterisk_form::Spanned;
use asterisk_form::yaml::YamlReader;
use std::collections::BTreeSet;

/// Reports dependency cycles. `after` lists for each node those it waits for.
pub(super) fn cycles(reader: &mut YamlReader<'_>, nodes: &[(Spanned<String>, Vec<NodeIx>)]) {
    let mut done: BTreeSet<usize> = BTreeSet::new();
    loop {
        let ready = |at: &usize| !done.contains(at) && nodes[*at].1.iter().all(|node| done.contains(&node.0));
        let wave: Vec<usize> = (0..nodes.len()).filter(ready).collect();
        if wave.is_empty() {
            break;
        }
        done.extend(wave);
    }
    // A node that can never run depends on a cycle: following its dependencies leads into it.
    let Some(mut at) = (0..nodes.len()).find(|at| !done.contains(at)) else { return };
    let mut path = Vec::new();
    while !path.contains(&at) {
        path.push(at);
        let Some(next) = nodes[at].1.iter().map(|node| node.0).find(|node| !done.contains(node)) else { return };
        at = next;
    }
    let cycle: Vec<&str> = path.iter().skip_while(|on| **on != at).chain([&at]).map(|at| nodes[*at].0.as_str()).collect();
    let message = format!("nodes wait for each other: {}", cycle.join(" after "));
    let error = reader.error("endless", message, nodes[at].0.span, "never runs");
    reader.push(error.help("remove one of them from an `after:` or `depends_on:`, or remove a reference from a task"));
}

#[cfg(test)]
mod tests {
    use crate::parse;
    use asterisk_diag::Source;

    #[test]
    fn nodes_with_after_reject_edges() {
        let of = |nodes: &str, more: &str| {
            let text = format!("pipeline: t\nnodes: [{nodes}]\n{more}done: _done\n");
            match parse(&Source::new("t.yaml", text)) {
                Ok(pipeline) => pipeline.nodes.iter().map(|node| node.after.len().to_string()).collect::<Vec<_>>().join(" "),
                Err(found) => {
                    found.iter().map(|found| format!("{}: {}", found.code, found.message)).collect::<Vec<_>>().join("\n")
                }
            }
        };
        assert_eq!(of("{ name: a }, { name: b, after: [a] }, { name: c, after: [a, b] }", ""), "0 1 2");
        assert_eq!(
            of("{ name: a, after: [c] }, { name: b }, { name: c, after: [b, a] }", ""),
            "pipeline/endless: nodes wait for each other: a after c after a"
        );
        assert!(of("{ name: a }, { name: b, after: [aa] }", "").contains("`aa`"));
        assert!(of("{ name: a }, { name: b, after: [a] }", "start: a\n").starts_with("pipeline/after: "));
        assert!(
            of("{ name: a }, { name: b, after: [a] }", "edges: [{ id: E, from: a, to: b }]\n").starts_with("pipeline/after: ")
        );
    }
}
