//! What a failure says in the words of its test: the error with its stack, and the values that were compared.

use super::causes::Cause;
use super::text::short;
use asterisk_base::model::Case;
use asterisk_session::RunResult;
use asterisk_walk::{Plan, ReadEvidence};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// Maximum number of causes with an excerpt.
pub(super) const MAX_EXCERPTS: usize = 300;
/// Maximum number of characters of the outputs of all causes; each gets an equal share.
const ALL_OUTPUT: usize = 200_000;
/// The least and the greatest share.
const SHARE: [usize; 2] = [600, 6000];
/// Maximum number of characters of a line, and of a compared value.
const MAX_LINE: usize = 400;

/// The texts of a failure.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct FailureExcerpt {
    /// The first informative line.
    message: String,
    /// The lines of the error, of which those in the middle may be left out; of the log for a failure without an error.
    output: Vec<OutputLines>,
    /// The values that were compared.
    checks: Vec<ValueDifference>,
}

/// Adjacent lines of an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct OutputLines {
    text: String,
    /// Whether they are stack frames of the product.
    product: bool,
}

/// Two values that should have been equal, each as what they have in common at the beginning, what differs, and what they have in
/// common at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct ValueDifference {
    expected: [String; 3],
    found: [String; 3],
}

/// Adds the texts of the case that represents each of the first causes.
pub(super) fn add_excerpts(causes: &mut [Cause], result: &RunResult) {
    let share = (ALL_OUTPUT / causes.len().clamp(1, MAX_EXCERPTS)).clamp(SHARE[0], SHARE[1]);
    for cause in causes.iter_mut().take(MAX_EXCERPTS) {
        if let Some(case) = result.case(&cause.speaker) {
            cause.excerpt = FailureExcerpt::of(&case, &result.plan, share);
        }
    }
}

impl FailureExcerpt {
    /// The texts of a case. The output has about `most` characters.
    fn of(case: &Case, plan: &Plan, most: usize) -> Self {
        let evidence = ReadEvidence::read(case, plan).document();
        let log = case.log_snippet.text_or_error();
        let (source, text) = match case.error_message.trim_end() {
            "" => ("log", log.trim_end()),
            error => ("error", error),
        };
        let list = |name: &str| evidence[name].as_array().into_iter().flatten();
        let of_product = |frame: &&Value| frame["owner"] == "product" && frame["source"] == source;
        let product: BTreeSet<u64> = list("frames").filter(of_product).filter_map(|frame| frame["number"].as_u64()).collect();
        Self {
            message: short(evidence["headline"].as_str().unwrap_or_default(), MAX_LINE),
            output: output(text, &product, most),
            checks: list("checks").filter_map(ValueDifference::of).collect(),
        }
    }
}

/// Cuts a text to about `most` characters: two thirds from its beginning, one from its end. `product` has the numbers of the lines
/// that are marked.
fn output(text: &str, product: &BTreeSet<u64>, most: usize) -> Vec<OutputLines> {
    let line = |(number, line): (u64, &str)| OutputLines { text: cut(line), product: product.contains(&number) };
    let lines: Vec<OutputLines> = (1..).zip(text.lines()).map(line).collect();
    let fitting = |lines: &mut dyn Iterator<Item = &OutputLines>, most: usize| {
        let mut left = most;
        let fits = |line: &&OutputLines| {
            let fits = left > 0;
            left = left.saturating_sub(line.text.len() + 1);
            fits
        };
        lines.take_while(fits).count()
    };
    let first = fitting(&mut lines.iter(), most / 3 * 2);
    let last = fitting(&mut lines.iter().skip(first).rev(), most / 3);
    let (begins, rest) = lines.split_at(first);
    let (omitted, ends) = rest.split_at(rest.len() - last);
    let note = match omitted.len() {
        0 => None,
        one @ 1 => Some(format!("… {one} line …")),
        several => Some(format!("… {several} lines …")),
    };
    let note = note.map(|text| OutputLines { text, product: false });
    let mut joined: Vec<OutputLines> = Vec::new();
    for line in begins.iter().cloned().chain(note).chain(ends.iter().cloned()) {
        match joined.last_mut() {
            Some(last) if last.product == line.product => {
                last.text.push('\n');
                last.text += &line.text;
            }
            _ => joined.push(line),
        }
    }
    joined
}

impl ValueDifference {
    /// A check of the evidence document; `None` unless both values are known.
    fn of(check: &Value) -> Option<Self> {
        let value = |name: &str| check[name].as_str().filter(|value| !value.is_empty()).map(cut);
        Some(Self::between(&value("expected")?, &value("found")?))
    }

    fn between(expected: &str, found: &str) -> Self {
        let same = |(a, b): &(char, char)| a == b;
        let begins: usize = expected.chars().zip(found.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
        let (left, right) = (&expected[begins..], &found[begins..]);
        let ends: usize = left.chars().rev().zip(right.chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
        let parts = |text: &str| {
            let (begin, rest) = text.split_at(begins);
            let (middle, end) = rest.split_at(rest.len() - ends);
            [begin, middle, end].map(str::to_owned)
        };
        Self { expected: parts(expected), found: parts(found) }
    }
}

/// A text of at most [`MAX_LINE`] characters, its line breaks kept.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_LINE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_output_keeps_its_beginning_and_its_end() {
        let text = (1..=100).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
        let cut = output(&text, &BTreeSet::from([2, 3, 50]), 60);
        let texts: Vec<(&str, bool)> = cut.iter().map(|lines| (lines.text.as_str(), lines.product)).collect();
        let expected = [
            ("line 1", false),
            ("line 2\nline 3", true),
            ("line 4\nline 5\nline 6\n… 91 lines …\nline 98\nline 99\nline 100", false),
        ];
        assert_eq!(texts, expected);
        assert_eq!(output("a\nb", &BTreeSet::new(), 60).len(), 1);
        assert_eq!(output("", &BTreeSet::new(), 60), []);
    }

    #[test]
    fn values_differ_between_what_they_share() {
        let between = |expected, found| {
            let ValueDifference { expected, found } = ValueDifference::between(expected, found);
            (expected.join("|"), found.join("|"))
        };
        assert_eq!(between("[1, 2, 3]", "[1, 5, 3]"), ("[1, |2|, 3]".into(), "[1, |5|, 3]".into()));
        assert_eq!(between("aa", "aaa"), ("aa||".into(), "aa|a|".into()));
        assert_eq!(between("é", "è"), ("|é|".into(), "|è|".into()));
    }
}
