//! `routing/idle-advisory`: advisories that add nothing.

use crate::diag::Diagnostic;
use crate::lint::context::LintContext;
use crate::lint::finding::FindingCollector;
use crate::lint::rule::{LintLevel, LintRule};
use crate::lint::syntax::{functions, text_of};
use crate::pipeline::{EdgeCondition, EdgeIx};

/// The rule.
pub(super) const RULE: LintRule = LintRule {
    id: "routing/idle-advisory",
    level: LintLevel::Warning,
    summary: "an advisory edge that adds nothing",
    manual: MANUAL,
    options: &[],
    check: Some(check),
};

const MANUAL: &str = r#"An advisory edge never routes: all it does is add to the context. One without `context:`, whose rule returns none either, does nothing but be noted.

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
edges:
  - { id: told, from: look, advisory: true, condition: "match" }
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
  - { id: told, from: look, advisory: true, condition: "match", context: { told: true } }
  - { id: seen, from: look, to: judge, rule: "rules/example.rhai#seen" }
  - { id: again, from: judge, to: look, loop: true, condition: "state.loops.again < vars.most && state.confidence < vars.enough" }
  - { id: end, from: judge, to: _done }
start: look
done: _done
```
"#;

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        for (at, edge) in pipe.pipeline.edges.iter().enumerate().filter(|(_, edge)| edge.advisory && edge.context.is_empty()) {
            let adds = match (&edge.when, pipe.rule(EdgeIx(at))) {
                // What is not known may add something.
                (EdgeCondition::Rule(_), None) => true,
                (EdgeCondition::Rule(_), Some(rule)) => {
                    functions(rule.unit).iter().filter(|function| *function.name == *rule.name).any(|function| {
                        let text = text_of(rule.unit, function);
                        text.contains("context") || text.contains("::")
                    })
                }
                _ => false,
            };
            if !adds {
                let found = Diagnostic::warning(RULE.id, format!("the advisory `{}` adds nothing", *edge.id));
                let found = found.label(&pipe.pipeline.source, edge.id.span, "has no `context`");
                report.push(found.help("write what it tells under `context:`, or return it: `#{ context: #{ .. } }`"));
            }
        }
    }
}
