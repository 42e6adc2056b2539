//! `correctness/unknown-reference`: names of what is not there.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/unknown-reference",
    level: LintLevel::Error,
    summary: "a file, node, template or query that there is not",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r#"A pipeline names scripts, templates, queries and nodes; scripts import scripts; templates include templates. What is named must be there.

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
  - { id: seen, from: look, to: jugde, rule: "rules/example.rhai#seen" }
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
