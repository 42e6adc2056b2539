//! `templates/undeclared-parameter`: parameters that there are not.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "templates/undeclared-parameter",
    level: LintLevel::Error,
    summary: "a parameter that there is not, or that the node does not ask for",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r"A template names groups of parameters and their fields; answers of queries are there only if the node declares them under `needs:`.

Found:

```md
The test {{ failure.nam | code }} failed.
```

Mended:

```md
The test {{ failure.name | code }} failed.
```
";
