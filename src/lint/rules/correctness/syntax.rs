//! `correctness/syntax`: what cannot be parsed.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/syntax",
    level: LintLevel::Error,
    summary: "what cannot be parsed: scripts, pipelines, templates and data",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r"A text that cannot be parsed, or that is over a limit of the language, does not link, and nothing that needs it runs.

Other texts are linted all the same.

Found:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    artifact.match &&
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
