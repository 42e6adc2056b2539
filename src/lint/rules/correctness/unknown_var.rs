//! `correctness/unknown-var`: vars that no pipeline declares.

use crate::lint::rule::{Level, Rule};

/// The rule. Linking looks for it.
pub(super) const RULE: Rule = Rule {
    id: "correctness/unknown-var",
    level: Level::Error,
    summary: "a var that the pipeline does not declare",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r"Vars are declared with their defaults under `vars:` in the pipeline; one that is read and not declared is an error when the walk comes there.

Found:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    artifact.confidence >= vars.enuogh
}
```

Mended:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    artifact.confidence >= vars.enough
}
```
";
