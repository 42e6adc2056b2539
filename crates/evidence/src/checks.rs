//! Assertions: the expected and the actual value. Most libraries label the two values; the rest write a sentence.

use super::lines::{EvidenceLine, LineSource};
use asterisk_base::model::TextPattern;
use serde::Serialize;
use std::sync::LazyLock;

/// What a check asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckKind {
    /// That two values are equal, or alike.
    Equal,
    /// That one value is above or below another.
    Order,
    /// That a value has a part.
    Contains,
    /// That a stored text is still made (snapshot, golden file).
    Snapshot,
    /// That an exception is thrown, or another one.
    Throws,
    /// That a condition holds, without values.
    Condition,
}

/// An assertion that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What it asked for.
    pub kind: CheckKind,
    /// What was expected, as written; empty if it is not said.
    pub expected: String,
    /// The actual value, as written; empty if not given.
    pub found: String,
    /// The id of the line that it is read from.
    pub line: String,
}

/// How many checks of a failure are kept.
const MOST: usize = 8;

/// Over how many lines two compared values may extend.
const VALUE_LINES: usize = 60;

struct Sentence {
    kind: CheckKind,
    /// A word without which the pattern cannot match.
    word: &'static str,
    pattern: TextPattern,
}

const EXPECTED: &[&str] = &[
    "expected",
    "expected string",
    "expected substring",
    "expected value",
    "expected pattern",
    "expected length",
    "expected size",
    "expected element",
    "expected status",
    "expected equality of these values",
    "want",
    "wanted",
    "right",
    "to be equal to",
    "to be",
    "to equal",
    "to have text",
    "snapshot",
    "expected object",
    "expected array",
    "expected: is",
    "expected class",
    "expected exception",
    "should be",
];
const FOUND: &[&str] = &[
    "actual",
    "received",
    "received string",
    "received value",
    "received length",
    "received size",
    "received status",
    "received object",
    "received array",
    "but was",
    "but",
    "but: was",
    "got",
    "found",
    "left",
    "was",
    "have",
    "value of",
    "expecting actual",
    "expecting",
    "actual value",
    "but received",
    "but got",
    "but found",
];

/// `(found, expected)` or `(expected, found)` by names of groups: `e` and `f`.
static SENTENCES: LazyLock<Vec<Sentence>> = LazyLock::new(|| {
    use CheckKind::{Condition, Contains, Equal, Order, Snapshot, Throws};
    let all: &[(CheckKind, &'static str, &'static str)] = &[
        (Equal, "but was", r"expected:? ?<(?P<e>.*?)> but was:? ?<(?P<f>.*?)>?$"),
        (Equal, "but found", r"expected \[(?P<e>.*?)\] but found \[(?P<f>.*?)\]"),
        (Equal, "Actual:<", r"Expected:<(?P<e>.*?)>\. Actual:<(?P<f>.*?)>"),
        (Equal, "Actual <", r"Expected any value except:? ?<(?P<e>.*?)>\. Actual:? ?<(?P<f>.*?)>"),
        // node:assert and Boost.Test.
        (Equal, " !== ", r"^(?P<f>\S.{0,300}?) !== (?P<e>\S.{0,300}?)$"),
        (Equal, " has failed [", r"check .{1,300}? has failed \[(?P<f>.{0,300}?) [!=<>]=? (?P<e>.{0,300})\]$"),
        (Throws, "expected but not raised", r"exception (?P<e>[\w:.]+) expected but not raised"),
        (Equal, "should be different", r"Values should be (?P<e>different)\. Actual: (?P<f>.*)"),
        (Equal, ", not ", r"(?:^|: )[^:=]{1,120}? == (?P<e>\S{1,120}?), not (?P<f>\S{1,120}?)$"),
        (Throws, "to be thrown", r"(?:Expected|expected) (?P<e>[\w.$:]+)(?: exception)? to be thrown(?:,? but (?P<f>.*))?"),
        (
            Throws,
            "Unexpected exception type",
            r"Unexpected exception type thrown(?:,|.*expected: <(?P<e>.*?)> but was: <(?P<f>.*?)>)",
        ),
        (Throws, "DID NOT RAISE", r"DID NOT RAISE (?P<e>.+)"),
        (Throws, "did not occur", r"^Expected error '(?P<e>.+)' did not occur"),
        (Throws, "expected but nothing was raised", r"(?P<e>[\w:.]+) expected but nothing was raised"),
        (Equal, " failed", r"^`\[\[? \x22?(?P<f>\$\{?\w+\}?(?:\[\d+\])?)\x22? (?:==?|-eq) \x22?(?P<e>.*?)\x22? \]\]?' failed$"),
        (Condition, " failed", r"^`(?P<e>\[\[? .+ \]\]?)' failed$"),
        (Throws, " not raised", r"(?P<e>[\w.]+) not raised"),
        (Throws, "to throw", r"[Ee]xpected .{0,80}?to throw (?:an? )?(?P<e>[\w.]+)?"),
        (
            Throws,
            "Exception but",
            r"expected (?P<e>[\w.:]*(?:Error|Exception))\b.*?(?:but )?(?:got|nothing was raised|was) ?(?P<f>.*)",
        ),
        (Equal, "differs at index", r"to be equal to (?P<e>\{.{0,200}?\}), but (?P<f>\{.{0,200}?\}) differs at index"),
        (Snapshot, "snapshot", r"(?i)does(?: not|n't) match (?:the )?(?:stored |saved )?snapshot"),
        (Snapshot, "Snapshot", r"Snapshot .*mismatch|Snapshot name:"),
        (
            Equal,
            "expected",
            r"expected status(?: code)?:? (?P<e>\d{3}).{0,30}?(?:got|received|but was|was|actual):? ?(?P<f>\d{3})",
        ),
        (Equal, "got ", r#"expected (?P<e>\d{3} "[^"]*"), got (?P<f>\d{3} "[^"]*")"#),
        (Equal, "want", r"\b(?:got|have):? (?P<f>.{1,200}?)[,;]? (?:want|wanted|expected):? (?P<e>.{1,200}?)$"),
        // `total: 3 (want 4)` of Go.
        (Equal, "(want ", r"(?:^|[:=] ?)(?P<f>[^:=]{1,200}?) \(want:? (?P<e>.{1,200}?)\)$"),
        (Equal, " instead of ", r"\bmismatch: (?P<f>.{1,200}?) instead of (?P<e>.{1,200}?)$"),
        (
            Equal,
            "got",
            r"\b(?:want|wanted|[Ee]xpected):? (?P<e>.{1,200}?)[,;]? (?:but )?(?:got|found|received|was):? (?P<f>.{1,200}?)$",
        ),
        (
            Equal,
            "but",
            r"\b[Ee]xpected:? (?P<e>.{1,200}?),? but (?:it )?(?:got|was|found|received|is|the \w+ was):? (?P<f>.{1,200}?)$",
        ),
        (
            Order,
            "to be",
            r"expected (?P<f>-?[\d.]+) to be (?P<e>(?:less|greater|at most|at least|below|above|within|close)[\w ]* -?[\d.]+)",
        ),
        (Contains, "to include", r"[Ee]xpected (?P<f>.{1,300}?) to (?:deep )?include (?P<e>.{1,200}?)\.?$"),
        (Contains, "to contain", r"[Ee]xpected (?P<f>.{1,300}?) to (?:deep )?contain (?P<e>.{1,200}?)\.?$"),
        (Contains, "to start with", r"[Ee]xpected (?P<f>.{1,300}?) to start with (?P<e>.{1,200}?)\.?$"),
        (Contains, "to end with", r"[Ee]xpected (?P<f>.{1,300}?) to end with (?P<e>.{1,200}?)\.?$"),
        (Contains, "does not contain", r"(?P<f>.{1,200}?) does not contain (?P<e>.{1,200})$"),
        (
            Contains,
            " not found in ",
            r"^(?:[\w.]*(?:Error|Exception|Failure): )?(?P<e>['\x22\[({\d].{0,200}?) not found in (?P<f>.{1,200})$",
        ),
        (
            Equal,
            " to ",
            r"[Ee]xpected (?P<f>.{1,200}?) to (?:deeply |strictly |loosely |be )?(?:equal|eql?|be|match|have text|have length|have value) (?P<e>.{1,200}?)(?: // \w[\w. ]* equality|\.)?$",
        ),
        (
            Equal,
            "Failed asserting",
            r"Failed asserting that (?P<f>.{1,200}?) (?:matches expected|is identical to|equals|is equal to) (?P<e>.{1,200}?)\.?$",
        ),
        (
            Condition,
            "Failed asserting",
            r"Failed asserting that (?P<f>.{1,200}?) (?P<e>(?:is|contains|has|matches) .{1,200}?)\.?$",
        ),
        (Equal, "not equal to", r"(?:failed: )?\(?(?P<f>[^:]{1,200}?)\)? (?:is|are) not equal to \(?(?P<e>.{1,200}?)\)?$"),
        (Order, "assert ", r"assert (?P<f>.{1,160}?) (?P<e>(?:[<>]=?) .{1,160}?)$"),
        (Contains, "assert ", r"assert (?P<e>.{1,200}?) (?:not )?in (?P<f>.{1,200}?)$"),
        (Equal, "assert ", r"assert (?P<f>.{1,200}?) (?:==|is) (?P<e>.{1,200}?)$"),
        (Condition, "assert ", r"^(?:AssertionError: )?assert (?:not )?(?P<f>.{1,200}?)$"),
        (
            Equal,
            " != ",
            r"^(?:[\w.]*(?:Error|Exception|Failure): )?(?:\w+ (?:differ|are not equal): )?(?P<f>.{1,200}?) != (?P<e>.{1,200}?)(?: : .*)?$",
        ),
        (Order, " not less than ", r"^(?:[\w.]*Error: )?(?P<f>\S+) not (?P<e>(?:less|greater) than \S+)"),
        (Condition, "is not tru", r"^(?:[\w.]*Error: )?(?P<f>\S+) is not (?P<e>tru\w+)"),
        (Condition, "is not fals", r"^(?:[\w.]*Error: )?(?P<f>\S+) is not (?P<e>fals\w+)"),
        (Condition, "Should be true", r"Should be (?P<e>true)"),
        (Condition, "Should be false", r"Should be (?P<e>false)"),
        (Condition, "assertion failed", r"assertion failed: (?P<e>.{1,200}?)$"),
        (
            Equal,
            "should be",
            r"^(?P<f>['\x22]?[^\s:]{1,80}['\x22]?) should (?:be|equal|have been) (?P<e>.{1,160}?)(?: but (?:is|was) (?P<g>.*))?$",
        ),
        (Equal, " == ", r"^\s*(?P<f>\S.{0,120}?) == (?P<e>\S.{0,120}?)$"),
    ];
    all.iter().map(|&(kind, word, pattern)| Sentence { kind, word, pattern: TextPattern::lazy(pattern) }).collect()
});

/// Finds the checks of a failure's lines.
pub(super) fn find(lines: &[EvidenceLine]) -> Vec<Check> {
    let mut found: Vec<Check> = Vec::new();
    let mut push = |check: Check| {
        if found.len() < MOST
            && !found.iter().any(|have| have.expected == check.expected && have.found == check.found && have.kind == check.kind)
        {
            found.push(check);
        }
    };
    let mut at = 0;
    while at < lines.len() {
        let line = &lines[at];
        // A log also contains other lines; only what is labelled on two lines counts there.
        if let Some((check, used)) =
            labelled(lines, at).or_else(|| gomega(lines, at)).or_else(|| difference(lines, at)).or_else(|| expansion(lines, at))
        {
            push(check);
            at += used;
            continue;
        }
        // Catch2 shows the values of an expression below it.
        let expanded = lines[at..lines.len().min(at + 6)].iter().any(|line| line.text.trim() == "with expansion:");
        if line.source == LineSource::Error
            && !(expanded && line.text.contains(" == "))
            && let Some(check) = sentence(line).or_else(|| over_lines(lines, at))
        {
            push(check);
        }
        at += 1;
    }
    // The log of a file of tests has the checks of others, too.
    let in_error = |check: &Check| lines.iter().any(|line| line.id == check.line && line.source == LineSource::Error);
    if found.iter().any(|check| in_error(check) && !check.found.is_empty()) {
        found.retain(in_error);
    }
    // A bare condition next to a check with values adds nothing.
    if found.iter().any(|check| check.kind != CheckKind::Condition) {
        found.retain(|check| check.kind != CheckKind::Condition || !check.found.is_empty());
    }
    found
}

/// `expected:<one\ntwo> but was:<three>`, where the values span several lines.
fn over_lines(lines: &[EvidenceLine], at: usize) -> Option<Check> {
    let first = &lines[at];
    if !first.text.contains("expected:") || !first.text.contains('<') || first.text.contains("but was") {
        return None;
    }
    let mut whole = first.text.clone();
    let (mut cut, mut closed) = (None, false);
    for line in lines.iter().skip(at + 1).take(VALUE_LINES).take_while(|line| line.source == first.source) {
        whole.push_str("\\n");
        whole.push_str(&line.text);
        let Some((_, after)) = whole.split_once("but was:") else { continue };
        // Values may be XML: the last bracket closes the first one if as many close as open.
        if after.ends_with('>') && after.matches('<').count() == after.matches('>').count() {
            return sentence(&EvidenceLine { text: whole, ..first.clone() });
        }
        // Without such a line, the second value ends at the first bracket at the end of a line, or with its first line.
        if cut.is_none() || (after.ends_with('>') && !closed) {
            closed = after.ends_with('>');
            cut = Some(whole.clone());
        }
    }
    sentence(&EvidenceLine { text: cut?, ..first.clone() })
}

fn sentence(line: &EvidenceLine) -> Option<Check> {
    let text = line.text.as_str();
    // Catch2, Rust and ExUnit say below what the two sides were.
    let begins = |start: &str| text.starts_with(start);
    let of_exunit = begins("Assertion with ") || begins("code:  assert");
    // syrupy shows the difference below.
    let of_syrupy = text.contains("[+ received]") && text.contains("[- snapshot]");
    let of_node = text.ends_with(':') && text.contains("Expected values to be ");
    if of_node || begins("REQUIRE") || begins("CHECK") || of_exunit || of_syrupy || text.contains("assertion `left") {
        return None;
    }
    let found = SENTENCES.iter().filter(|sentence| text.contains(sentence.word)).find_map(|sentence| {
        let groups = sentence.pattern.captures(text)?;
        let group = |name: &str| groups.name(name).map_or("", |value| value.as_str().trim()).to_owned();
        // `an error is expected but got nil` names no value before the `but`; half a call is not a value.
        let is_half = |value: &str| value.matches('(').count() != value.matches(')').count();
        if group("e") == "but" || (sentence.word == " == " && (is_half(&group("e")) || is_half(&group("f")))) {
            return None;
        }
        let actual = Some(group("g")).filter(|value| !value.is_empty());
        Some(Check {
            kind: sentence.kind,
            expected: unbracketed(group("e")),
            found: unbracketed(actual.unwrap_or_else(|| group("f"))),
            line: line.id.clone(),
        })
    })?;
    Some(found)
}

/// A value without the bracket that closes the sentence it is in: `(expected 2, got 1)`.
fn unbracketed(mut value: String) -> String {
    if value.ends_with(')') && value.matches(')').count() > value.matches('(').count() {
        value.pop();
    }
    value
}

/// Which of the two values a line's label announces, and the value next to it.
fn label(text: &str) -> Option<(bool, &str)> {
    let text = text.trim_start_matches(['-', '+', '*', ' ']);
    let (name, value) = text.split_once([':', '=']).filter(|(name, _)| name.len() < 40).unwrap_or((text, ""));
    let name = name.trim().trim_end_matches(':').to_ascii_lowercase();
    // Hamcrest writes `but: was <3>`.
    let value = value.trim();
    // `Expected value to match:`, with the value below it, is how older versions of Jest begin.
    let matcher = value.is_empty()
        && name.strip_prefix("expected ").is_some_and(|rest| rest.contains(" to ") && !rest.starts_with("values to be"));
    if matcher || EXPECTED.contains(&name.as_str()) {
        return Some((true, value));
    }
    // `$got->{total} = '1'` of Test::More.
    if name.starts_with("$expected") {
        return Some((true, value));
    }
    if FOUND.contains(&name.as_str()) || name.starts_with("$got") {
        return Some((false, value.strip_prefix("was ").unwrap_or(value)));
    }
    None
}

/// Two values with a label each, on lines of their own or above their values.
fn labelled(lines: &[EvidenceLine], at: usize) -> Option<(Check, usize)> {
    let near = |index: usize| lines.get(index).filter(|line| line.source == lines[at].source);
    let (first, value) = label(&near(at)?.text)?;
    let mut next = at + 1;
    let mut one = value.to_owned();
    if one.is_empty() {
        // `Expecting actual:` and its value below; a bare word is not a label.
        if !lines[at].text.trim_end().ends_with(':') {
            return None;
        }
        near(next)?.text.trim().clone_into(&mut one);
        next += 1;
    }
    next += closed(lines, next, &mut one);
    for _ in 0..6 {
        let line = near(next)?;
        next += 1;
        let Some((second, value)) = label(&line.text) else { continue };
        if second == first {
            return None;
        }
        let mut two = value.to_owned();
        if two.is_empty() {
            near(next)?.text.trim().clone_into(&mut two);
            next += 1;
        }
        next += closed(lines, next, &mut two);
        let (expected, found) = if first { (one, two) } else { (two, one) };
        let kind = if lines[at].text.contains("ubstring") { CheckKind::Contains } else { CheckKind::Equal };
        return Some((Check { kind, expected, found, line: lines[at].id.clone() }, next - at));
    }
    None
}

/// Adds the lines of a quoted value up to its closing quote, and returns how many.
fn closed(lines: &[EvidenceLine], next: usize, value: &mut String) -> usize {
    let Some(quote) = value.chars().next().filter(|letter| "'\"`".contains(*letter)) else { return 0 };
    if value.len() > 1 && value.ends_with(quote) || value[1..].contains(quote) {
        return 0;
    }
    let source = next.checked_sub(1).and_then(|at| lines.get(at)).map(|line| line.source);
    let mut whole = value.clone();
    for (count, line) in (1..).zip(lines.iter().skip(next).take(VALUE_LINES)) {
        if Some(line.source) != source || label(&line.text).is_some() {
            break;
        }
        whole.push('\n');
        whole.push_str(&line.text);
        if line.text.ends_with(quote) {
            *value = whole;
            return count;
        }
    }
    0
}

/// `Expected`, the found value, `to equal`, the expected one.
fn gomega(lines: &[EvidenceLine], at: usize) -> Option<(Check, usize)> {
    let text = |index: usize| lines.get(index).map(|line| line.text.trim());
    if text(at)? != "Expected" {
        return None;
    }
    let matcher = (at + 1..(at + 12).min(lines.len()))
        .find(|index| text(*index).is_some_and(|text| text.starts_with("to ") || text.starts_with("not to ")))?;
    let found = text(at + 1)?.to_owned();
    let wants = text(matcher)?;
    let value = text(matcher + 1).filter(|value| value.starts_with('<')).unwrap_or_default();
    let kind = if wants.contains("contain") { CheckKind::Contains } else { CheckKind::Equal };
    let expected = if value.is_empty() { wants.to_owned() } else { value.to_owned() };
    Some((Check { kind, expected, found, line: lines[at].id.clone() }, matcher + 2 - at))
}

/// A difference: the first line that is missing and the first that is there instead.
fn difference(lines: &[EvidenceLine], at: usize) -> Option<(Check, usize)> {
    let head = lines[at].text.trim();
    // syrupy: the mark, then the difference.
    let marks = [
        "AssertionError: assert [+ received] == [- snapshot]",
        "assert [+ received] == [- snapshot]",
        "- Snapshot",
        "- Expected",
        "--- Expected",
        "--- expected",
        "Diff:",
        "@@",
        "--- Snapshot",
        "Difference (- actual, + expected)",
        "+ actual - expected",
    ];
    if !marks.iter().any(|mark| head.starts_with(mark)) {
        return None;
    }
    // node prints the actual value first.
    let actual_first = head == "+ actual - expected";
    let (mut minus, mut plus, mut end) = (None, None, at);
    for (index, line) in lines.iter().enumerate().skip(at + 1).take(40) {
        let text = line.text.trim();
        if text.starts_with("+++")
            || text.starts_with("---")
            || text.starts_with("@@")
            || text.starts_with("+ Received")
            || text.starts_with("+ Actual")
            || text == "+ expected - actual"
        {
            continue;
        }
        end = index;
        match text.as_bytes().first() {
            Some(b'-') if minus.is_none() && (plus.is_none() || actual_first) => minus = Some(text[1..].trim()),
            Some(b'+') => {
                plus = Some(text[1..].trim());
                if !actual_first || minus.is_some() {
                    break;
                }
            }
            Some(b'-') => {}
            _ if minus.is_some() => break,
            _ => {}
        }
    }
    if minus.is_none() && plus.is_none() {
        return None;
    }
    let kind = if head.contains("Snapshot") || head.contains("[- snapshot]") { CheckKind::Snapshot } else { CheckKind::Equal };
    let value = |text: Option<&str>| text.unwrap_or_default().to_owned();
    if head.contains("- actual") {
        std::mem::swap(&mut minus, &mut plus);
    }
    Some((Check { kind, expected: value(minus), found: value(plus), line: lines[at].id.clone() }, end + 1 - at))
}

/// Catch2's `with expansion:` and googletest's `Which is:`.
fn expansion(lines: &[EvidenceLine], at: usize) -> Option<(Check, usize)> {
    let text = |index: usize| lines.get(index).map(|line| line.text.trim());
    let head = text(at)?;
    if head == "with expansion:" {
        let said = text(at + 1)?;
        let (kind, (found, expected)) = match said.split_once(" == ") {
            Some(pair) => (CheckKind::Equal, pair),
            None => (CheckKind::Condition, (said, "")),
        };
        return Some((Check { kind, expected: expected.to_owned(), found: found.to_owned(), line: lines[at].id.clone() }, 2));
    }
    if !head.starts_with("Expected equality of these values") {
        return None;
    }
    let (mut values, mut next) = (Vec::new(), at + 1);
    let mut computed = Vec::new();
    while let Some(said) = text(next).filter(|_| next < at + 6) {
        if said.starts_with("Which is:") {
            computed.push(values.len());
        }
        match said.strip_prefix("Which is:") {
            Some(value) => match values.last_mut() {
                Some(last) => value.trim().clone_into(last),
                None => return None,
            },
            None if values.len() == 2 => break,
            None => values.push(said.to_owned()),
        }
        next += 1;
    }
    let [mut expected, mut found] = <[String; 2]>::try_from(values).ok()?;
    // The literal is what is expected, in either order.
    if computed == [1] {
        std::mem::swap(&mut expected, &mut found);
    }
    Some((Check { kind: CheckKind::Equal, expected, found, line: lines[at].id.clone() }, next - at))
}

#[cfg(test)]
mod tests {
    use super::super::lines::{Titles, read};
    use super::*;

    #[track_caller]
    fn checks(text: &str, expected: (CheckKind, &str, &str)) {
        let found = find(&read(text, LineSource::Error, &Titles::new("", "")).lines);
        let told: Vec<_> = found.iter().map(|check| (check.kind, check.expected.as_str(), check.found.as_str())).collect();
        assert_eq!(told.first(), Some(&expected), "{text}");
    }

    #[test]
    fn the_patterns_compile() {
        assert!(SENTENCES.iter().all(|one| one.pattern.compiles()));
    }

    #[test]
    fn each_library_writes_checks_in_its_own_way() {
        use CheckKind::{Condition, Contains, Equal, Order, Snapshot, Throws};
        checks("org.junit.ComparisonFailure: expected:<[a]b> but was:<[c]b>", (Equal, "[a]b", "[c]b"));
        checks("junit.framework.AssertionFailedError: expected:<a\nb> but was:<a\nc>", (Equal, r"a\nb", r"a\nc"));
        checks("junit.framework.AssertionFailedError: expected:<a\n> but was:<c\n>", (Equal, r"a\n", r"c\n"));
        checks(
            "org.junit.ComparisonFailure: expected:<<a>\n[x]\n</a>> but was:<<a>\n[y]\n</a>>",
            (Equal, r"<a>\n[x]\n</a>", r"<a>\n[y]\n</a>"),
        );
        checks("expect(value).toMatch(pattern)\n\nExpected value to match:\n  /b/\nReceived:\n  \"a\"", (Equal, "/b/", "\"a\""));
        checks("Expected ids to be equal to {1, 2}, but {2, 1} differs at index 0.", (Equal, "{1, 2}", "{2, 1}"));
        checks("org.opentest4j.AssertionFailedError: expected: <3> but was: <4>", (Equal, "3", "4"));
        checks("java.lang.AssertionError: expected [3] but found [4]", (Equal, "3", "4"));
        checks("java.lang.AssertionError:\nExpected: is <3>\n     but: was <4>", (Equal, "is <3>", "<4>"));
        checks("java.lang.AssertionError:\nExpecting actual:\n  4\nto be equal to:\n  3\nbut was not.", (Equal, "3", "4"));
        checks("org.opentest4j.AssertionFailedError:\n\nexpected: 3\n but was: 4", (Equal, "3", "4"));
        checks("E       assert 4 == 3", (Equal, "3", "4"));
        checks("E       AssertionError: assert 'b' in 'acd'", (Contains, "'b'", "'acd'"));
        checks("AssertionError: 4 != 3", (Equal, "3", "4"));
        checks("AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n7.9 !== 14.2\n", (Equal, "14.2", "7.9"));
        checks("check tides::median({4,1,3,2}) == 2.5 has failed [3 != 2.5]", (Equal, "2.5", "3"));
        checks("exception tides::ParseError expected but not raised", (Throws, "tides::ParseError", ""));
        checks("AssertionError: Lists differ: [4] != [3]", (Equal, "[3]", "[4]"));
        checks("AssertionError: 'x' not found in 'abc'", (Contains, "'x'", "'abc'"));
        checks("        Error:      \tNot equal: \n            \texpected: 3\n            \tactual  : 4", (Equal, "3", "4"));
        checks("Expected\n    <int>: 4\nto equal\n    <int>: 3", (Equal, "<int>: 3", "<int>: 4"));
        checks("cart_test.go:9: got 4, want 3", (Equal, "3", "4"));
        checks("expect(received).toBe(expected) // Object.is equality\n\nExpected: 3\nReceived: 4", (Equal, "3", "4"));
        checks("expect(value).toMatchSnapshot()\n\n- Snapshot\n+ Received\n\n  [\n-   3,\n+   4,\n  ]", (Snapshot, "3,", "4,"));
        checks("AssertionError: expected 4 to equal 3", (Equal, "3", "4"));
        checks("Error: Expected 4 to equal 3.", (Equal, "3", "4"));
        checks("AssertionError: expected 'a' to be 'b' // Object.is equality", (Equal, "'b'", "'a'"));
        checks("Expected 4.5 to be 3.5.", (Equal, "3.5", "4.5"));
        checks("AssertionError: expected 'a b' to start with 'b'", (Contains, "'b'", "'a b'"));
        checks("AssertionError: expected [ 1 ] to deeply equal [ 2 ]", (Equal, "[ 2 ]", "[ 1 ]"));
        checks("AssertionError: expected 9 to be less than 5", (Order, "less than 5", "9"));
        checks("Expected equality of these values:\n  3\n  total()\n    Which is: 4", (Equal, "3", "4"));
        checks("Expected equality of these values:\n  total()\n    Which is: 4\n  3", (Equal, "3", "4"));
        checks("  REQUIRE( total() == 3 )\nwith expansion:\n  4 == 3", (Equal, "3", "4"));
        checks("Assert.Equal() Failure\nExpected: 3\nActual:   4", (Equal, "3", "4"));
        checks("  Expected: 3\n  But was:  4", (Equal, "3", "4"));
        checks("Assert.AreEqual failed. Expected:<3>. Actual:<4>. total", (Equal, "3", "4"));
        checks("     Failure/Error: expect(total).to eq(3)\n\n       expected: 3\n            got: 4", (Equal, "3", "4"));
        checks("Failed asserting that 4 matches expected 3.", (Equal, "3", "4"));
        checks("Failed asserting that false is true.", (Condition, "is true", "false"));
        checks("assertion `left == right` failed\n  left: 4\n right: 3", (Equal, "3", "4"));
        checks("Assertion with == failed\n  code:  assert a == b\n  left:  4\n  right: 3", (Equal, "3", "4"));
        let half = read("[info] assert(total(\"a\") == 3)", LineSource::Error, &Titles::new("", ""));
        assert_eq!(find(&half.lines), []);
        checks(
            "thread 'a' panicked at src/a.rs:2:9:\nassertion `left == right` failed: total\n  left: 4\n right: 3",
            (Equal, "3", "4"),
        );
        checks("#   Failed test 'total'\n#   at t/a.t line 1.\n#          got: '4'\n#     expected: '3'", (Equal, "'3'", "'4'"));
        checks(
            "#   Failed test 'wraps'\n#          got: 'the quick\n#  fox'\n#     expected: 'the slow\n# cat'",
            (Equal, "'the slow\ncat'", "'the quick\nfox'"),
        );
        checks(
            "Expected values to be strictly equal:\n+ actual - expected\n\n+ '3011 AB'\n- '3011AB'",
            (Equal, "'3011AB'", "'3011 AB'"),
        );
        checks("Difference (- actual, + expected):\n\n- 250\n+ 750", (Equal, "750", "250"));
        checks("#   Failed test 'total'\n#          $got->{a} = '4'\n#     $expected->{a} = '3'", (Equal, "'3'", "'4'"));
        checks("cart_test.go:9: total of 'a', 'b': 4 (want 3)", (Equal, "3", "4"));
        checks("line 6: total mismatch: \"4\" instead of \"3\"", (Equal, "\"3\"", "\"4\""));
        checks("'4' should be '3'", (Equal, "'3'", "'4'"));
        checks(
            "E       AssertionError: assert [+ received] == [- snapshot]\nE           '''\nE         - sku,price\nE         + sku,unit price\nE           A,1",
            (Snapshot, "sku,price", "sku,unit price"),
        );
        checks("ValueError: not enough values to unpack (expected 2, got 1)", (Equal, "2", "1"));
        checks(
            "m.trace() == 7\nFAILED:\n  CHECK( m.trace() == 7 )\nwith expansion:\n  4 == 7\nat tests/matrix_test.cpp:21",
            (Equal, "7", "4"),
        );
        checks("Turnstile::BadgeError expected but nothing was raised.", (Throws, "Turnstile::BadgeError", ""));
        checks("`[ \"$output\" = \"1000B\" ]' failed", (Equal, "1000B", "$output"));
        checks("Expected error '*overdrawn*' did not occur.", (Throws, "*overdrawn*", ""));
        checks("Failed: DID NOT RAISE <class 'ValueError'>", (Throws, "<class 'ValueError'>", ""));
    }

    #[test]
    fn prose_is_not_a_check() {
        let lines =
            read("the cart was not found\nconnection to 10.0.0.5 refused\nit took 3 s", LineSource::Error, &Titles::new("", ""))
                .lines;
        assert_eq!(find(&lines), []);
    }
}
