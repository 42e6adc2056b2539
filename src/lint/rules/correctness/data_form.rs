//! `correctness/data-form`: data files that do not hold together.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/data-form",
    level: LintLevel::Error,
    summary: "a data file or vocabulary that does not hold together",
    manual: MANUAL,
    options: &[],
    check: None,
};

const MANUAL: &str = r"Data files that the program knows have a form; a vocabulary must hold together: names that are referred to exist, patterns compile and are not too wide.

Found:

```yaml scripts/data/domain.yaml
stop: [a, the]
```

Mended:

```yaml scripts/data/words.yaml
stop: [a, the]
```
";
