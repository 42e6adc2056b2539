//! `allows/without-reason`: allows that do not say why.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. It is looked for after all others, when it is known what each allow took away.
pub(super) const RULE: LintRule = LintRule {
    id: "allows/without-reason",
    level: LintLevel::Warning,
    summary: "an allow that does not say why",
    manual: MANUAL,
    options: &[],
    check: Some(|_, _| ()),
};

const MANUAL: &str = r"An allow says why what is found is right here; the next reader cannot ask. One without a reason allows nothing.

Found:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    // lint: allow(robustness/magic-threshold)
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
