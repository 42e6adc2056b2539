//! `correctness/plain-interpolation`: `${..}` between quotes that take it as it is written.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/plain-interpolation",
    level: LintLevel::Warning,
    summary: "`${..}` in a text between plain quotes",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r#"Only texts in backticks are filled in. In plain quotes `${..}` is text like any other, and whoever reads the reason of a decision reads just that.

Found:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    if !artifact.match { return false; }
    #{ because: "noted as ${artifact.kind}" }
}
```

Mended:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    if !artifact.match { return false; }
    #{ because: `noted as ${artifact.kind}` }
}
```
"#;
