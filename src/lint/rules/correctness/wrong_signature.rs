//! `correctness/wrong-signature`: functions that their role cannot call.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/wrong-signature",
    level: LintLevel::Error,
    summary: "a function that takes other parameters than its role gives",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r"A rule is given `(artifact, state, vars)`, a responder `(params, vars)`, an effect `(artifact, params)`; private functions are given nothing.

Found:

```rhai
/// Seen before.
fn seen(artifact) {
    artifact.match
}
```

Mended:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    artifact.match
}
```
";
