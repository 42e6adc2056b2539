//! Removes the heading of a Playwright failure: it repeats the test's location and title, which are not part of the error.

/// A failure's text without its heading and the indent below it; `None` if it has no such heading.
pub(super) fn without_title(body: &str) -> Option<String> {
    let (heading, rest) = body.trim_start_matches(['\n', '\r']).split_once('\n')?;
    if !heading.contains(" › ") || !heading.trim_end().ends_with("──") {
        return None;
    }
    let lines: Vec<&str> = rest.lines().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
    Some(lines.join("\n").trim_matches('\n').trim_end().to_owned()).filter(|text| !text.is_empty())
}

/// Whether a message is only a test's location and title: `checkout.spec.ts:10:1 pays by card`.
pub(super) fn is_location(message: &str) -> bool {
    let mut parts = message.split_whitespace().next().unwrap_or_default().rsplitn(3, ':');
    let mut number = || parts.next().is_some_and(|part| part.parse::<u32>().is_ok());
    number() && number() && parts.next().is_some_and(|file| file.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_removed() {
        let body =
            "\n  [chromium] › a.spec.ts:10:1 › pays ─────\n\n    Error: refused\n\n      10 | x\n        at a.spec.ts:12:3\n";
        assert_eq!(without_title(body).as_deref(), Some("Error: refused\n\n  10 | x\n    at a.spec.ts:12:3"));
        for other in ["Error: a › b\nx", "a › b ──", "a › b ──\n\n", "", "a ──\nb"] {
            assert_eq!(without_title(other), None, "{other}");
        }
        assert!(is_location("tests/a.spec.ts:10:1 pays by card"));
        assert!(!["", "card is refused", "12:10:1 late", "a.ts:x:1 y"].into_iter().any(is_location));
    }
}
