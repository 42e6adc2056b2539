//! `correctness/unknown-field`: fields that no schema knows.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/unknown-field",
    level: LintLevel::Error,
    summary: "a field that the node's schema does not have",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r"A rule reads a field that the schema of the node it leaves does not declare. Such a read is an error when the walk comes there; here it is found before.

Found:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    artifact.match && artifact.confidense >= vars.enough
}
```

Mended:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    artifact.match && artifact.confidence >= vars.enough
}
```
";
