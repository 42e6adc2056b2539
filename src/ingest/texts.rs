//! The error and log of a case: cleaned, cut, and the cuts told in one note each.

use super::room::TextRoom;
use super::{clean, cut, markup};
use crate::model::{Case, Cut, recall_key};
use std::borrow::Cow;

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
///
/// Of a large launch all texts together are bounded too: while more than a third of [`Limits::errors`] or [`Limits::logs`] is
/// left, each text may have [`Limits::text`] bytes; after that, as much less as is left less, down to [`LEAST`].
pub(super) struct TextBudget {
    /// The most bytes that a text keeps.
    most: usize,
    errors: TextShare,
    logs: TextShare,
    room: TextRoom,
}

/// What texts of a kind share.
struct TextShare {
    /// The bytes that there are.
    total: usize,
    /// The bytes kept so far.
    kept: usize,
    /// The lowest limit that was gone by.
    least: usize,
    cuts: TextCuts,
}

/// So many bytes of a text are kept however many there are.
const LEAST: usize = 512;

#[derive(Default)]
struct TextCuts {
    count: usize,
    longest: usize,
}

impl TextCuts {
    fn add(&mut self, cut: Option<Cut>) {
        if let Some(cut) = cut {
            self.count += 1;
            self.longest = self.longest.max(cut.was);
        }
    }

    fn note(&self, what: &str, limit: usize, least: usize) -> Option<String> {
        let verb = if self.count == 1 { "was" } else { "were" };
        let plural = if self.count == 1 { "" } else { "s" };
        let Self { count, longest } = self;
        let to =
            if least < limit { format!("{limit} bytes or, because there is so much, less") } else { format!("{limit} bytes") };
        (*count > 0).then(|| format!("{count} {what}{plural} {verb} cut to {to} (the longest had {longest})"))
    }
}

impl TextBudget {
    /// Nothing cut yet.
    pub(super) fn new(room: &TextRoom) -> Self {
        let limits = room.limits;
        let share = |total| TextShare { total, kept: 0, least: limits.text, cuts: TextCuts::default() };
        Self { most: limits.text, errors: share(limits.errors), logs: share(limits.logs), room: room.clone() }
    }

    /// A text as it is kept: without markup and escapes, with stars for secrets and personal data.
    fn cleaned(&self, text: &str, markup: Markup) -> String {
        let text = cleaned(text, markup);
        match self.room.masker.mask(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => masked,
        }
    }

    /// Fills in the error, the log and the recall key of a case that has its name already. The key is that of the whole
    /// error, so that it does not depend on where a cut falls.
    pub(super) fn fill(&mut self, case: &mut Case, error: &str, log: &str, markup: Markup) {
        let error = self.cleaned(error, markup);
        case.recall_key = recall_key(&case.name, &error);
        (case.error_message, _) = self.errors.keep(error, self.most);
        self.put_log(case, self.cleaned(log, markup));
    }

    /// Adds to the log of a case.
    pub(super) fn append_log(&mut self, case: &mut Case, log: &str) {
        let before = self.take_log(case);
        let between = if before.is_empty() { "" } else { "\n" };
        self.put_log(case, format!("{before}{between}{}", self.cleaned(log, Markup::None)));
    }

    /// Gives a case an error, if there is one, and a log if it has none.
    pub(super) fn supply(&mut self, case: &mut Case, error: &str, log: &str, markup: Markup) {
        if !error.is_empty() {
            let log = self.take_log(case);
            self.fill(case, error, &log, markup);
        }
        if case.log_snippet.is_empty() {
            self.put_log(case, self.cleaned(log, markup));
        }
    }

    /// Puts lines before the log of a case.
    pub(super) fn prepend_log(&mut self, case: &mut Case, lines: &str) {
        if !lines.is_empty() {
            let before = self.take_log(case);
            self.put_log(case, format!("{}\n{before}", self.cleaned(lines, Markup::None)).trim_end().to_owned());
        }
    }

    /// Adds to the error of a case.
    pub(super) fn append_error(&mut self, case: &mut Case, more: &str) {
        let before = std::mem::take(&mut case.error_message);
        self.errors.kept = self.errors.kept.saturating_sub(before.len());
        let error = format!("{before}\n\n{}", self.cleaned(more, Markup::None)).trim().to_owned();
        case.recall_key = recall_key(&case.name, &error);
        (case.error_message, _) = self.errors.keep(error, self.most);
    }

    /// Sets the recall key of a case whose error or name came from elsewhere.
    pub(super) fn set_key(case: &mut Case) {
        case.recall_key = recall_key(&case.name, &case.error_message);
    }

    fn put_log(&mut self, case: &mut Case, log: String) {
        let (kept, cut) = self.logs.keep(log, self.most);
        (case.log_snippet, case.log_cut) = (self.room.keep(kept), cut);
    }

    fn take_log(&mut self, case: &mut Case) -> String {
        let log = std::mem::take(&mut case.log_snippet);
        self.logs.kept = self.logs.kept.saturating_sub(log.len());
        log.told().into_owned()
    }

    /// What was cut, for the launch's notes.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        let note = |share: &TextShare, what| share.cuts.note(what, self.most, share.least);
        note(&self.errors, "error").into_iter().chain(note(&self.logs, "log"))
    }
}

impl TextShare {
    /// So much of a text as is kept, in memory of just that size.
    fn keep(&mut self, text: String, most: usize) -> (String, Option<Cut>) {
        let left = self.total.saturating_sub(self.kept);
        let limit = (left / (self.total / 3 / most.max(1)).max(1)).max(LEAST).min(most);
        self.least = self.least.min(limit);
        let (text, cut) = cut::cut(text, limit);
        self.kept += text.len();
        self.cuts.add(cut);
        (text.into_boxed_str().into_string(), cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::TextLimits;

    #[test]
    fn texts_are_cleaned_cut_and_noted() {
        let mut texts = TextBudget::new(&TextRoom::new(TextLimits { text: 200, ..TextLimits::default() }));
        let mut case = Case { name: "t".to_owned(), ..Case::default() };
        texts.fill(&mut case, "<b>\u{1b}[31mboom\u{1b}[0m</b> &#27;[1m1 &lt; 2", &"log line\n".repeat(100), Markup::Html);
        assert_eq!(case.error_message, "boom 1 < 2");
        let cut = case.log_cut.expect("a cut");
        assert_eq!(cut.was, 899);
        assert!(case.log_snippet.len() <= 200 && case.log_snippet.told().contains(" left out ...]"));
        assert_eq!(texts.notes().collect::<Vec<_>>(), ["1 log was cut to 200 bytes (the longest had 899)"]);
    }

    #[test]
    fn many_texts_are_cut_shorter_the_more_there_are() {
        let mut texts = TextBudget::new(&TextRoom::new(TextLimits { logs: 90_000, ..TextLimits::default() })).logs;
        let kept: Vec<usize> = (0..100).map(|_| texts.keep("x".repeat(10_000), 6000).0.len()).collect();
        assert!(kept[..10].iter().all(|kept| *kept > 5900) && kept[99] <= LEAST, "{kept:?}");
        assert!(kept.is_sorted_by(|one, next| one >= next), "{kept:?}");
    }

    #[test]
    fn the_recall_key_is_that_of_the_whole_error() {
        let key = |limit, error: &str| {
            let mut case = Case { name: "t".to_owned(), ..Case::default() };
            TextBudget::new(&TextRoom::new(TextLimits { text: limit, ..TextLimits::default() })).fill(
                &mut case,
                error,
                "",
                Markup::None,
            );
            case.recall_key
        };
        let long = "an error line\n".repeat(100);
        assert_eq!(key(100, &long), key(100_000, &long));
        assert_ne!(key(100, "a"), key(100, "b"));
    }
}
