//! `pipelines/node-without-zone`: nodes without a zone.

use crate::diag::Diagnostic;
use crate::lint::context::LintContext;
use crate::lint::finding::FindingCollector;
use crate::lint::rule::{LintLevel, LintRule};

/// The rule.
pub(super) const RULE: LintRule = LintRule {
    id: "pipelines/node-without-zone",
    level: LintLevel::Note,
    summary: "a node in no zone, though others are in some",
    manual: MANUAL,
    options: &[],
    check: Some(check),
};

const MANUAL: &str = r#"Where a pipeline has zones, a node in none of them has no element and no stickiness from any: most likely it was added later and forgotten.

Found:

```yaml
pipeline: example
description: what the examples of the manual pages stand in
vars: { enough: 0.8, most: 3 }
zones:
  back: { nodes: [look] }
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
  back: { nodes: [look, judge] }
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
    for pipe in cx.pipelines.iter().filter(|pipe| !pipe.pipeline.zones.is_empty()) {
        let pipeline = pipe.pipeline;
        for node in pipeline.nodes.iter().filter(|node| node.zone.is_none()) {
            let zones: Vec<String> = pipeline.zones.iter().map(|zone| format!("`{}`", *zone.name)).collect();
            let found = Diagnostic::warning(RULE.id, format!("`{}` is in no zone", *node.name));
            let found = found.label(&pipeline.source, node.name.span, "in none");
            report.push(found.help(format!("list it in one of {}", zones.join(", "))));
        }
    }
}
