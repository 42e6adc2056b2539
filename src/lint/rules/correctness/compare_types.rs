//! `correctness/compare-types`: numbers compared with strings, and their like.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/compare-types",
    level: LintLevel::Error,
    summary: "values of different types compared: a number with a string",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r#"Comparing a number with a string (or a list, or nothing by order) is an error when it happens, never silently false.

Found:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    artifact.confidence >= "0.8"
}
```

Mended:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    artifact.confidence >= vars.enough
}
```
"#;
