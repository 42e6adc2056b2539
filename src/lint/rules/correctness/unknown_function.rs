//! `correctness/unknown-function`: calls of what is not there.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/unknown-function",
    level: LintLevel::Error,
    summary: "a function, variable, module or constant that there is not",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r"Scripts call their own functions, those of scripts they import, and the host's (`asterisk doc`).

Found:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    artifact.match && len_of(artifact.label) > 0
}
```

Mended:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    artifact.match && artifact.label.len() > 0
}
```
";
