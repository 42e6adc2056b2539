//! `pipelines/zone-overlap`: nodes that are in two zones.

use crate::diag::Diagnostic;
use crate::lint::context::LintContext;
use crate::lint::finding::FindingCollector;
use crate::lint::rule::{LintLevel, LintRule};
use crate::pipeline::NodeIx;

/// The rule.
pub(super) const RULE: LintRule = LintRule {
    id: "pipelines/zone-overlap",
    level: LintLevel::Warning,
    summary: "a node in two zones",
    manual: MANUAL,
    options: &[],
    check: Some(check),
};

const MANUAL: &str = r#"A node belongs to the first zone that lists it, whatever the second one says of its element and stickiness.

Found:

```yaml
pipeline: example
description: what the examples of the manual pages stand in
vars: { enough: 0.8, most: 3 }
zones:
  back: { nodes: [look, judge] }
  front: { nodes: [judge] }
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

Mended:

```yaml
pipeline: example
description: what the examples of the manual pages stand in
vars: { enough: 0.8, most: 3 }
zones:
  back: { nodes: [look] }
  front: { nodes: [judge] }
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
        for (at, node) in pipeline.nodes.iter().enumerate() {
            let mut zones = pipeline.zones.iter().filter(|zone| zone.nodes.contains(&NodeIx(at)));
            let (Some(first), Some(second)) = (zones.next(), zones.next()) else { continue };
            let message = format!("`{}` is in the zones `{}` and `{}`", *node.name, *first.name, *second.name);
            let found = Diagnostic::warning(RULE.id, message).label(&pipeline.source, second.name.span, "does not count for it");
            let found = found.label(&pipeline.source, first.name.span, "it belongs to this one");
            report.push(found.help("list it in one of them"));
        }
    }
}
