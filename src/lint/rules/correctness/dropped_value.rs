//! `correctness/dropped-value`: values at the end of a block that the function goes on behind.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/dropped-value",
    level: LintLevel::Warning,
    summary: "a block that ends with a value which nothing takes",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r#"The value of an `if` block is that of the function only if nothing stands behind it. Anywhere else it goes nowhere, and the function goes on: `{ false }` decides nothing there, `{ return false; }` does.

Found:

```rhai
/// Seen before, and not by chance.
fn seen(artifact, state, vars) {
    if artifact.kind == "new" { false }
    artifact.match
}
```

Mended:

```rhai
/// Seen before, and not by chance.
fn seen(artifact, state, vars) {
    if artifact.kind == "new" { return false; }
    artifact.match
}
```
"#;
