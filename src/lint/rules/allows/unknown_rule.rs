//! `allows/unknown-rule`: allows of rules that there are not.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. It is looked for after all others, when it is known what each allow took away.
pub(super) const RULE: LintRule = LintRule {
    id: "allows/unknown-rule",
    level: LintLevel::Warning,
    summary: "an allow of a rule that there is not",
    manual: MANUAL,
    options: &[],
    check: Some(|_, _| ()),
};

const MANUAL: &str = r"The id in an allow is no rule: a slip, or a rule of another version.

Found:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    // lint: allow(correctness/never-ture) a switch
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
