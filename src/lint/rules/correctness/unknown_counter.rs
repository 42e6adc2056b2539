//! `correctness/unknown-counter`: counters that nothing counts.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/unknown-counter",
    level: LintLevel::Warning,
    summary: "a loop counter that no edge counts",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r"`state.loops.NAME` is counted by looped edges: under `counter:`, or by their ids. One that no edge counts is always 0, so the bound it stands in never holds.

Found:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    artifact.match && state.loops.agian == 0
}
```

Mended:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    artifact.match && state.loops.again == 0
}
```
";
