//! `routing/unreachable-node`: nodes that no walk comes to.

use crate::diag::Diagnostic;
use crate::lint::context::LintContext;
use crate::lint::finding::FindingCollector;
use crate::lint::rule::{LintLevel, LintRule};
use crate::pipeline::{EdgeTarget, NodeIx};
use std::collections::BTreeSet;

/// The rule.
pub(super) const RULE: LintRule = LintRule {
    id: "routing/unreachable-node",
    level: LintLevel::Warning,
    summary: "a node that no walk comes to",
    manual: MANUAL,
    options: &[],
    check: Some(check),
};

const MANUAL: &str = r#"No chain of edges, targets and fallbacks leads from the start to it. A slip in a `to:`, or left over.

Found:

```yaml
pipeline: example
description: what the examples of the manual pages stand in
vars: { enough: 0.8, most: 3 }
nodes:
  - name: look
    prompt: example.md
    schema:
      match: bool
      confidence: { type: number, min: 0, max: 1 }
      kind: { enum: [known, new] }
      tries?: int
      score?: number
      label?: string
      places?: [{ path: string, weight: number }]
    fallback: judge
  - name: judge
  - { name: lost, fallback: judge }
edges:
  - { id: seen, from: look, to: judge, rule: "rules/example.rhai#seen" }
  - { id: again, from: judge, to: look, loop: true, condition: "state.loops.again < vars.most && state.confidence < vars.enough" }
  - { id: end, from: judge, to: _done }
start: look
done: _done
```

Mended:

```yaml
pipeline: example
description: what the examples of the manual pages stand in
vars: { enough: 0.8, most: 3 }
nodes:
  - name: look
    prompt: example.md
    schema:
      match: bool
      confidence: { type: number, min: 0, max: 1 }
      kind: { enum: [known, new] }
      tries?: int
      score?: number
      label?: string
      places?: [{ path: string, weight: number }]
    fallback: judge
  - name: judge
edges:
  - { id: seen, from: look, to: judge, rule: "rules/example.rhai#seen" }
  - { id: again, from: judge, to: look, loop: true, condition: "state.loops.again < vars.most && state.confidence < vars.enough" }
  - { id: end, from: judge, to: _done }
start: look
done: _done
```
"#;

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        let pipeline = pipe.pipeline;
        // Where nodes wait for each other, each gets its turn.
        if pipeline.waves() {
            continue;
        }
        let (mut seen, mut open) = (BTreeSet::from([pipeline.start]), vec![pipeline.start]);
        while let Some(at) = open.pop() {
            let node = pipeline.at(at);
            let edges = node.edges.iter().chain(&pipeline.guards).flat_map(|edge| pipeline.edge_at(*edge).choices());
            for target in edges.chain(node.fallback) {
                if let EdgeTarget::Node(to) = target
                    && seen.insert(to)
                {
                    open.push(to);
                }
            }
        }
        for (_, node) in pipeline.nodes.iter().enumerate().filter(|(at, _)| !seen.contains(&NodeIx(*at))) {
            let found = Diagnostic::warning(RULE.id, format!("no walk comes to `{}`", *node.name));
            let found = found.label(&pipeline.source, node.name.span, "nothing leads here");
            report.push(
                found.help(format!(
                    "lead an edge here from what `{}` leads to, or take it away",
                    *pipeline.at(pipeline.start).name
                )),
            );
        }
    }
}
