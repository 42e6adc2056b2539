//! `docs/pipeline-without-description`: pipelines without a description.

use crate::diag::Diagnostic;
use crate::lint::context::LintContext;
use crate::lint::finding::FindingCollector;
use crate::lint::rule::{LintLevel, LintRule};

/// The rule.
pub(super) const RULE: LintRule = LintRule {
    id: "docs/pipeline-without-description",
    level: LintLevel::Note,
    summary: "a pipeline that does not say what it is for",
    manual: MANUAL,
    options: &[],
    check: Some(check),
};

const MANUAL: &str = r#"`description:` is what lists and pictures show.

Found:

```yaml
pipeline: example
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
    for pipe in cx.pipelines.iter().filter(|pipe| pipe.pipeline.description.trim().is_empty()) {
        let name = &pipe.pipeline.name;
        let found = Diagnostic::warning(RULE.id, format!("nothing says what `{}` is for", **name));
        report.push(found.label(&pipe.pipeline.source, name.span, "this pipeline").help("add a line `description: ...`"));
    }
}
