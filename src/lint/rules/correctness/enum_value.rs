//! `correctness/enum-value`: values outside an enum.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/enum-value",
    level: LintLevel::Error,
    summary: "a text field compared with a text that it never is",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r#"The schema lists the values of a field, and what it is compared with is none of them: the comparison is always false.

Found:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    artifact.kind == "knwon"
}
```

Mended:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    artifact.kind == "known"
}
```
"#;
