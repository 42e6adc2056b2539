//! The table of tools.

mod conditions;
mod javascript;
mod jvm;
mod native;
mod others;
mod packages;
mod python;
mod rust_go;

use super::tool::{Does, Finding, LinePattern, ProblemKind, Tool};
use std::sync::LazyLock;

/// All tools. Of several that match a line, the first ones are applied first.
pub(super) static TOOLS: LazyLock<Vec<&'static Tool>> = LazyLock::new(|| {
    [
        packages::TOOLS,
        python::TOOLS,
        javascript::TOOLS,
        rust_go::TOOLS,
        jvm::TOOLS,
        native::TOOLS,
        others::TOOLS,
        conditions::TOOLS,
    ]
    .into_iter()
    .flatten()
    .collect()
});

/// A tool whose lines say everything.
const fn tool(name: &'static str, kind: ProblemKind, patterns: &'static [LinePattern]) -> Tool {
    Tool { name, kind, is_wrapper: false, patterns, shape: |_| {} }
}

const fn shaped(name: &'static str, kind: ProblemKind, patterns: &'static [LinePattern], shape: fn(&mut Finding)) -> Tool {
    Tool { name, kind, is_wrapper: false, patterns, shape }
}

/// A runner of other tools' tests.
const fn wrapper(name: &'static str, patterns: &'static [LinePattern], shape: fn(&mut Finding)) -> Tool {
    Tool { name, kind: ProblemKind::Test, is_wrapper: true, patterns, shape }
}

const fn on(regex: &'static str, does: Does) -> LinePattern {
    LinePattern { regex, does }
}

/// The words of a path without its extension, joined by dots: `tests.cart_test` for `tests/cart_test.py`.
fn dotted(path: &str) -> String {
    let path = path.trim_start_matches("./");
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    stem.replace(['/', '\\'], ".")
}

/// The text before and after the last separator.
fn split_last<'t>(text: &'t str, separator: &str) -> (&'t str, &'t str) {
    text.rsplit_once(separator).unwrap_or(("", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_valid_and_anchored() {
        for tool in TOOLS.iter() {
            for pattern in tool.patterns {
                assert!(regex::Regex::new(pattern.regex).is_ok(), "{}: {}", tool.name, pattern.regex);
                assert!(pattern.regex.starts_with('^'), "{}: {}", tool.name, pattern.regex);
            }
        }
    }
}
