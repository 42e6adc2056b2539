//! Compares two pipelines as graphs: a case can continue across a reload that changes only scripts, conditions, templates and
//! vars.

use super::{Edge, Pipeline, PipelineNode, Spanned};

impl Pipeline {
    /// Whether nodes, edges and artifact shapes are equal, by index. Vars, conditions, needs, limits, the context added by edges,
    /// and the functions and templates may differ. A walk of one pipeline can continue on the other.
    pub fn same_graph(&self, other: &Self) -> bool {
        let zones = |pipeline: &Self| -> Vec<_> {
            let zone = |zone: &super::Zone| {
                (zone.name.value.clone(), zone.nodes.clone(), value(zone.element.as_ref()).cloned(), zone.stickiness)
            };
            pipeline.zones.iter().map(zone).collect()
        };
        let clusters = |pipeline: &Self| pipeline.clusters.as_ref().map(|clusters| (clusters.phase, clusters.most));
        let nodes = self.nodes.len() == other.nodes.len() && self.nodes.iter().zip(&other.nodes).all(|(a, b)| same_node(a, b));
        let edges = self.edges.len() == other.edges.len() && self.edges.iter().zip(&other.edges).all(|(a, b)| same_edge(a, b));
        let whole = |pipeline: &Self| (pipeline.phases, pipeline.start);
        let named = *self.name == *other.name && *self.done == *other.done;
        named && whole(self) == whole(other) && nodes && edges && zones(self) == zones(other) && clusters(self) == clusters(other)
    }
}

/// The value without its span.
fn value<T>(spanned: Option<&Spanned<T>>) -> Option<&T> {
    spanned.map(|spanned| &spanned.value)
}

fn same_node(a: &PipelineNode, b: &PipelineNode) -> bool {
    let texts = |node: &PipelineNode| {
        [&node.code, &node.element, &node.artifact, &node.confidence].map(|text| value(text.as_ref()).cloned())
    };
    let known = |node: &PipelineNode| node.known.iter().map(|known| (known.path.value.clone(), known.list)).collect::<Vec<_>>();
    *a.name == *b.name
        && *a.family == *b.family
        && texts(a) == texts(b)
        && a.schema == b.schema
        && known(a) == known(b)
        && gated(a) == gated(b)
        && (&a.after, a.foreach.as_ref().map(|foreach| foreach.collect))
            == (&b.after, b.foreach.as_ref().map(|foreach| foreach.collect))
        && value(a.subpipeline.as_ref()) == value(b.subpipeline.as_ref())
        && (a.fallback, a.phase, a.zone) == (b.fallback, b.phase, b.zone)
}

/// Whether an answer is reviewed, which decides on the steps of a walk; by whom, and with which threshold, may change.
fn gated(node: &PipelineNode) -> bool {
    node.policy.as_ref().is_some_and(|policy| policy.gate.is_some())
}

fn same_edge(a: &Edge, b: &Edge) -> bool {
    let targets = |edge: &Edge| edge.targets.iter().map(|target| target.value).collect::<Vec<_>>();
    let flags = |edge: &Edge| (edge.shortcut, edge.looped, edge.advisory, edge.parallel);
    *a.id == *b.id && (a.from, a.to, flags(a)) == (b.from, b.to, flags(b)) && targets(a) == targets(b) && a.counter == b.counter
}

#[cfg(test)]
mod tests {
    use crate::{Pipeline, parse};
    use asterisk_diag::Source;

    const TEXT: &str = "\
pipeline: t
vars: { sure: 0.5 }
nodes:
  - { name: a, schema: { c: number } }
  - { name: b, needs: [siblings] }
edges:
  - { id: E1, from: a, to: b, condition: \"c > vars.sure\" }
  - { id: E2, from: a, to: a, loop: true }
  - { id: E3, from: b, to: _done }
start: a
done: _done
";

    fn pipeline(text: &str) -> Pipeline {
        parse(&Source::new("t.yaml", text)).expect("parses")
    }

    #[test]
    fn conditions_may_change_and_targets_may_not() {
        let first = pipeline(TEXT);
        for (from, to, same) in [
            ("sure: 0.5", "sure: 0.7, more: 1", true),
            ("c > vars.sure", "c < 1", true),
            ("condition: \"c > vars.sure\"", "rule: r.rhai#f", true),
            ("name: b,", "name: b, prompt: b.md, script: s.rhai#b,", true),
            ("pipeline: t\n", "# a note\npipeline: t\ndescription: d\n", true),
            ("loop: true", "loop: true, counter: n", false),
            ("[siblings]", "[]", true),
            ("c: number", "c: int", false),
            ("from: a, to: b", "from: a, to: _done", false),
            ("id: E1", "id: E4", false),
            ("name: b,", "name: b, fallback: a,", false),
            ("start: a", "start: b", false),
        ] {
            assert_eq!(first.same_graph(&pipeline(&TEXT.replace(from, to))), same, "{to}");
        }
        let swapped = TEXT.replace("E1", "X").replace("E2", "E1").replace('X', "E2");
        assert!(!first.same_graph(&pipeline(&swapped)));
    }
}
