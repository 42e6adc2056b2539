//! `correctness/no-verdict`: rules that never answer.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/no-verdict",
    level: LintLevel::Error,
    summary: "a rule that never answers with a verdict",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r#"A rule returns `()` or `false` for no, `true` for yes, or a map with `to`, `because` and `context`. One that certainly returns something else stops every walk that asks it.

Found:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    "yes"
}
```

Mended:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    if !artifact.match { return false; }
    #{ because: "yes" }
}
```
"#;
