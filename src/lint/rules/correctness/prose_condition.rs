//! `correctness/prose-condition`: conditions that are sentences.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking finds that the condition cannot be parsed; [`is_prose`] tells why.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/prose-condition",
    level: LintLevel::Error,
    summary: "a condition that is a sentence, not an expression",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r#"A condition is an expression, and this one is a sentence: pipelines that were written for people or for an agent often have such. It cannot be decided by a program.

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
  - { id: again, from: judge, to: look, loop: true, condition: "it may be looked at again" }
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

/// Whether a text is words alone.
pub(in crate::lint) fn is_prose(text: &str) -> bool {
    let plain = text.chars().all(|c| c.is_alphanumeric() || c.is_whitespace() || matches!(c, ',' | '.' | '\'' | '-' | ';' | ':'));
    let words = text.split_whitespace().filter(|word| word.chars().next().is_some_and(char::is_alphabetic)).count();
    plain && words >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_told_from_expressions() {
        for prose in ["the repository has recent commits", "confidence is high", "it's a known one, probably."] {
            assert!(is_prose(prose), "{prose}");
        }
        for expression in ["a == b", "confidence >=", "match && x", "f(x", "confidence", "\"a b\""] {
            assert!(!is_prose(expression), "{expression}");
        }
    }
}
