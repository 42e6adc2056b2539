//! `purity/forbidden-call`: calls that would let the outside in.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "purity/forbidden-call",
    level: LintLevel::Error,
    summary: "a call that would let the outside in: time, printing, evaluation",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r"A script decides from what it is given. `eval`, `sleep`, `timestamp`, `print` and their like do not exist for it: the same inputs must give the same answer, today and in a replay.

Found:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    print(artifact.label);
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
