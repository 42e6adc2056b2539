//! `correctness/unknown-var`: vars that no pipeline declares.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/unknown-var",
    level: LintLevel::Error,
    summary: "a var that the pipeline does not declare",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r"Vars are declared with their defaults under `vars:` in the pipeline; one that is read and not declared is an error when the walk comes there.

Found:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    artifact.confidence >= vars.enuogh
}
```

Mended:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    artifact.confidence >= vars.enough
}
```
";
