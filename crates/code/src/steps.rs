//! Steps of Gherkin, and the definitions that they mean.

use super::languages::CodeLanguage;
use super::tokens::texts;
use asterisk_base::model::TextPattern;
use std::sync::LazyLock;

static STEP: LazyLock<TextPattern> =
    LazyLock::new(|| TextPattern::new(r"^\s*(?:Given|When|Then|And|But|\*) +(\S.*?)\s*$").expect("a pattern of steps"));
/// `@then("…")`, `@Then("…")`, `Then('…', () => {`, `Then(/…/) do`, `[Then(@"…")]`, `@step(parsers.parse("…"))`.
static DEFINES: LazyLock<TextPattern> = LazyLock::new(|| {
    TextPattern::new(r"^\s*[@\[]?\s*(?:\w+\.)?(?i:given|when|then|step|and|but|defineStep)\s*\(").expect("a pattern of steps")
});
static SLASHES: LazyLock<TextPattern> =
    LazyLock::new(|| TextPattern::new(r"\(\s*/((?:[^/\\]|\\.)+)/").expect("a pattern of steps"));

/// The text of a step in a feature file, without its keyword.
pub fn step_text(line: &str) -> Option<&str> {
    Some(STEP.captures(line)?.get(1)?.as_str())
}

/// Whether a line defines a step, by an expression (`{n:d} books`, `{int} books`) or a regular expression that matches the whole of it.
pub fn defines_step(line: &str, language: &CodeLanguage, step: &str) -> bool {
    if !DEFINES.is_match(line) {
        return false;
    }
    let of_slashes = SLASHES.captures(line).map(|found| found[1].to_owned());
    let is_pattern = of_slashes.is_some();
    let matches = |text: &String| {
        let of = |pattern: &str| TextPattern::new(&format!("^(?:{pattern})$")).is_ok_and(|pattern| pattern.is_match(step));
        !text.is_empty()
            && (!is_pattern && of(&expression(text)) || (is_pattern || text.contains(['\\', '^', '(', '['])) && of(text))
    };
    of_slashes.iter().chain(&texts(line, language)).any(matches)
}

/// An expression of Cucumber or behave as a pattern: `{n:d}` stands for anything, `(s)` for anything or nothing.
fn expression(text: &str) -> String {
    let escaped = |text: &str| -> String {
        let escape = |letter: char| r"\.+*?()|[]{}^$".contains(letter).then_some('\\');
        text.chars().flat_map(|letter| escape(letter).into_iter().chain([letter])).collect()
    };
    let mut pattern = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '(']) {
        let (close, value) = if rest[at..].starts_with('{') { ('}', ".+") } else { (')', ".*") };
        let Some(end) = rest[at..].find(close) else { break };
        pattern.push_str(&escaped(&rest[..at]));
        pattern.push_str(value);
        rest = &rest[at + end + 1..];
    }
    pattern.push_str(&escaped(rest));
    pattern
}

#[cfg(test)]
mod tests {
    use super::super::language;
    use super::*;

    #[test]
    fn a_step_means_its_definition() {
        let step = step_text("    Then \"bob\" has 0 books ").expect("a step");
        assert_eq!(step, "\"bob\" has 0 books");
        assert_eq!(step_text("  Scenario: Then it ends"), None);
        for (path, line) in [
            ("a.py", "@then('\"{member}\" has {n:d} books')"),
            ("a.js", "Then('{string} has {int} books', function (who, count) {"),
            ("a.ts", "Then(/^\"([^\"]*)\" has (\\d+) books$/, (who, count) => {"),
            ("a.rb", "Then(/^\"(.+)\" has (\\d+) books?$/) do |who, count|"),
            ("A.java", "    @Then(\"{string} has {int} book(s)\")"),
            ("a.py", "@then('\"bob\" has 0 books')"),
        ] {
            assert!(defines_step(line, language(path).expect("a language"), step), "{line}");
        }
        for (path, line) in
            [("a.py", "@then('\"{member}\" has {n:d} cars')"), ("a.py", "print('\"bob\" has 0 books')"), ("a.js", "then('x')")]
        {
            assert!(!defines_step(line, language(path).expect("a language"), step), "{line}");
        }
    }
}
