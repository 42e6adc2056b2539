//! The error and log of a case: cleaned, cut, and the cuts told in one note each.

use super::{Limits, clean, cut, markup};
use crate::model::{Case, Cut, recall_key};

/// Whether a text was meant for a web page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Markup {
    /// Tags and entities are markup (ReportPortal).
    Html,
    /// Tags and entities are what the text is about (JUnit, where XML has been resolved already).
    None,
}

/// A text without escapes and control characters, on one line.
pub(super) fn one_line(text: &str) -> String {
    cleaned(text, Markup::None).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text without markup, escapes and control characters.
pub(super) fn cleaned(text: &str, markup: Markup) -> String {
    match markup {
        Markup::Html => clean::clean(&markup::strip(text)),
        Markup::None => clean::clean(text),
    }
}

/// Puts texts into cases and remembers what had to be cut.
pub(super) struct Texts {
    limit: usize,
    logs: Cuts,
    errors: Cuts,
}

#[derive(Default)]
struct Cuts {
    count: usize,
    longest: usize,
}

impl Cuts {
    fn add(&mut self, cut: Option<Cut>) {
        if let Some(cut) = cut {
            self.count += 1;
            self.longest = self.longest.max(cut.was);
        }
    }

    fn note(&self, what: &str, limit: usize) -> Option<String> {
        let verb = if self.count == 1 { "was" } else { "were" };
        let plural = if self.count == 1 { "" } else { "s" };
        let Self { count, longest } = self;
        (*count > 0).then(|| format!("{count} {what}{plural} {verb} cut to {limit} bytes (the longest had {longest})"))
    }
}

impl Texts {
    /// Nothing cut yet.
    pub(super) fn new(limits: Limits) -> Self {
        Self { limit: limits.text, logs: Cuts::default(), errors: Cuts::default() }
    }

    /// Fills in the error, the log and the recall key of a case that has its name already. The key is that of the whole
    /// error, so that it does not depend on where a cut falls.
    pub(super) fn fill(&mut self, case: &mut Case, error: &str, log: &str, markup: Markup) {
        let error = cleaned(error, markup);
        case.recall_key = recall_key(&case.name, &error);
        let (error, error_cut) = cut::cut(error, self.limit);
        let (log, log_cut) = cut::cut(cleaned(log, markup), self.limit);
        self.errors.add(error_cut);
        self.logs.add(log_cut);
        case.error_message = error;
        case.log_snippet = log;
        case.log_cut = log_cut;
    }

    /// What was cut, for the launch's notes.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        self.errors.note("error", self.limit).into_iter().chain(self.logs.note("log", self.limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cleaned_cut_and_noted() {
        let mut texts = Texts::new(Limits { text: 200 });
        let mut case = Case { name: "t".to_owned(), ..Case::default() };
        texts.fill(&mut case, "<b>\u{1b}[31mboom\u{1b}[0m</b> &#27;[1m1 &lt; 2", &"log line\n".repeat(100), Markup::Html);
        assert_eq!(case.error_message, "boom 1 < 2");
        let cut = case.log_cut.expect("a cut");
        assert_eq!(cut.was, 899);
        assert!(case.log_snippet.len() <= 200 && case.log_snippet.contains(" left out ...]"));
        assert_eq!(texts.notes().collect::<Vec<_>>(), ["1 log was cut to 200 bytes (the longest had 899)"]);
    }

    #[test]
    fn the_recall_key_is_that_of_the_whole_error() {
        let key = |limit, error: &str| {
            let mut case = Case { name: "t".to_owned(), ..Case::default() };
            Texts::new(Limits { text: limit }).fill(&mut case, error, "", Markup::None);
            case.recall_key
        };
        let long = "an error line\n".repeat(100);
        assert_eq!(key(100, &long), key(100_000, &long));
        assert_ne!(key(100, "a"), key(100, "b"));
    }
}
