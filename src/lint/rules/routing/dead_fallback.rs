//! `routing/dead-fallback`: fallbacks that are never taken.

use crate::diag::Diagnostic;
use crate::lint::context::LintContext;
use crate::lint::finding::FindingCollector;
use crate::lint::model::Formula;
use crate::lint::rule::{LintLevel, LintRule};
use crate::pipeline::{EdgeCondition, EdgeIx, OnRuleError};

/// The rule.
pub(super) const RULE: LintRule = LintRule {
    id: "routing/dead-fallback",
    level: LintLevel::Warning,
    summary: "a fallback that is never taken",
    manual: MANUAL,
    options: &[],
    check: Some(check),
};

const MANUAL: &str = r#"`fallback:` is where a walk goes when no edge fires. Here one always does (and a rule that fails stops the walk, unless the pipeline says `on_rule_error: skip`), so it says something that never happens.

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
  - { id: seen, from: look, to: judge, rule: "rules/example.rhai#seen" }
  - { id: rest, from: look, to: judge }
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
  - name: judge
edges:
  - { id: seen, from: look, to: judge, rule: "rules/example.rhai#seen" }
  - { id: rest, from: look, to: judge }
  - { id: again, from: judge, to: look, loop: true, condition: "state.loops.again < vars.most && state.confidence < vars.enough" }
  - { id: end, from: judge, to: _done }
start: look
done: _done
```
"#;

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        let pipeline = pipe.pipeline;
        for node in pipeline.nodes.iter().filter(|node| node.fallback.is_some()) {
            let always = node.edges.iter().find(|edge| pipe.fires[edge.0] == Formula::True);
            let fails = pipeline.on_rule_error == OnRuleError::Skip;
            let unconditional = |edge: &&EdgeIx| pipeline.edge_at(**edge).when == EdgeCondition::Always;
            let dead = match always {
                Some(_) if fails => node.edges.iter().any(|edge| unconditional(&edge)),
                Some(_) => true,
                None => false,
            };
            let Some(always) = always.filter(|_| dead) else { continue };
            let found = Diagnostic::warning(RULE.id, format!("the fallback of `{}` is never taken", *node.name));
            let found = found.label(&pipeline.source, node.name.span, "its `fallback:` says nothing");
            let found = found.label(&pipeline.source, pipeline.edge_at(*always).id.span, "this edge is always taken");
            report.push(found.help("take the fallback away, or give the edge a condition"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::testing::{Example, found};

    #[test]
    fn a_fallback_behind_conditions_is_alive() {
        let edges = |edges: &str| found(RULE.id, &Example::fallback(edges));
        assert_eq!(edges("  - { id: A, from: look, to: judge, condition: 'match' }\n"), [""; 0]);
        assert_eq!(edges("  - { id: A, from: look, to: judge, condition: 'true' }\n"), ["look"]);
        assert_eq!(edges("  - { id: A, from: look, advisory: true, condition: 'true', context: { a: 1 } }\n"), [""; 0]);
    }
}
