//! The lines of TAP: test points, plans and headings.

/// A test point: a line with the outcome of a test.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TapPoint<'t> {
    pub(super) passed: bool,
    pub(super) number: &'t str,
    pub(super) description: &'t str,
    /// The text after `#`: `SKIP`, `TODO`, `time=5ms`.
    pub(super) directive: &'t str,
}

pub(super) fn is_skipped(point: &TapPoint<'_>) -> bool {
    let directive = point.directive.get(..4).unwrap_or_default();
    directive.eq_ignore_ascii_case("skip") || directive.eq_ignore_ascii_case("todo")
}

/// Parses a test point: `not ok 3 - name # SKIP why`.
pub(super) fn point(line: &str) -> Option<TapPoint<'_>> {
    let (passed, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok")?),
    };
    if !rest.is_empty() && !rest.starts_with(' ') {
        return None;
    }
    let rest = rest.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = rest.split_at(digits);
    if number.is_empty() && !rest.is_empty() && !rest.starts_with(['-', '#']) && passed {
        // `ok  package`, as other tools write.
        return None;
    }
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start();
    let at = rest.match_indices('#').map(|(at, _)| at).find(|at| !rest[..*at].ends_with('\\') && is_directive(&rest[at + 1..]));
    let (description, directive) = at.map_or((rest, ""), |at| (&rest[..at], rest[at + 1..].trim()));
    Some(TapPoint { passed, number, description: description.trim(), directive })
}

fn is_directive(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("time=")
        || text.get(..4).is_some_and(|word| ["skip", "todo"].iter().any(|one| word.eq_ignore_ascii_case(one)))
}

/// Parses a plan; returns its number of tests.
pub(super) fn plan(line: &str) -> Option<u64> {
    let (from, to) = line.split_once("..")?;
    let to = to.split_whitespace().next()?;
    if !from.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (from, to): (u64, u64) = (from.parse().ok()?, to.parse().ok()?);
    Some((to + 1).saturating_sub(from))
}

/// Parses a heading of `prove -v`: `t/cart.t ..`.
pub(super) fn heading(line: &str) -> Option<&str> {
    let (file, dots) = line.trim_end().split_once(' ')?;
    (dots.starts_with("..") && dots.bytes().all(|byte| byte == b'.') && file.contains('.')).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_and_plans_are_distinguished_from_other_lines() {
        let read = |line| point(line).map(|point| (point.passed, point.number, point.description, point.directive));
        for (line, wanted) in [
            ("ok", Some((true, "", "", ""))),
            ("not ok 3 - adds # up", Some((false, "3", "adds # up", ""))),
            ("ok 12 later # SKIP no net", Some((true, "12", "later", "SKIP no net"))),
            ("not ok 2 - x # TODO", Some((false, "2", "x", "TODO"))),
            ("ok 1 - fast # time=12.5ms", Some((true, "1", "fast", "time=12.5ms"))),
            ("not ok without a number", Some((false, "", "without a number", ""))),
            ("ok  \tlarder.test/stock\t0.1s", None),
            ("okay", None),
        ] {
            assert_eq!(read(line), wanted, "{line}");
        }
        assert_eq!([plan("1..4"), plan("1..0 # SKIP"), plan("a..4"), plan("..")], [Some(4), Some(0), None, None]);
        assert_eq!([heading("t/cart.t .."), heading("wait ...")], [Some("t/cart.t"), None]);
    }
}
