//! `correctness/writes-input`: inputs that are written to.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/writes-input",
    level: LintLevel::Error,
    summary: "an input is written to",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r"Artifact, state and vars are read-only: many steps share them. What should be different is returned.

Found:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    artifact.confidence = 1.0;
    artifact.match
}
```

Mended:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    if !artifact.match { return false; }
    #{ context: #{ confidence: 1.0 } }
}
```
";
