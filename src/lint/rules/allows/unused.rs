//! `allows/unused`: allows of what is not found.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. It is looked for after all others, when it is known what each allow took away.
pub(super) const RULE: LintRule = LintRule {
    id: "allows/unused",
    level: LintLevel::Warning,
    summary: "an allow of something that is not found there",
    manual: MANUAL,
    options: &[],
    check: Some(|_, _| ()),
};

const MANUAL: &str = r"An allow that takes nothing away hides the next finding of its kind. `--fix` takes it away.

Found:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    // lint: allow(correctness/never-true) a switch
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
