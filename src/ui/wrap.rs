//! Text in lines that are as wide as the terminal.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Stands for a space at which no line ends, while a text is wrapped. It is for private use, so no text means anything by it.
const JOINER: &str = "\u{e000}";

/// A text in which no line ends within these phrases. Untrusted text is cleaned when it is printed.
pub fn unbroken<'p>(text: &str, phrases: impl IntoIterator<Item = &'p str>) -> String {
    let spaced = phrases.into_iter().filter(|phrase| phrase.contains(' '));
    spaced.fold(text.to_owned(), |text, phrase| text.replace(phrase, &phrase.replace(' ', JOINER)))
}

/// Wraps a text at its spaces only: a path, a name or a number that is wider than the line is not broken. The first line begins with
/// `first`, the others are indented by `indent`.
pub fn wrapped(text: &str, width: usize, first: &str, indent: usize) -> String {
    let hanging = " ".repeat(indent);
    let options = Options::new(width)
        .initial_indent(first)
        .subsequent_indent(&hanging)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::fill(text, options).replace(JOINER, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_spaces_outside_of_phrases() {
        let text = unbroken("see src/a-b/c.py:10 in test adds two items, 0.87", ["adds two items,"]);
        assert_eq!(wrapped(&text, 12, "- ", 2), "- see\n  src/a-b/c.py:10\n  in test\n  adds two items,\n  0.87");
        assert_eq!(wrapped("", 12, "- ", 2), "");
    }
}
