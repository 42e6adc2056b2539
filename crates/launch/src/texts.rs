//! Error and log of cases: cleaned, masked and cut, with a note on the cuts.

use super::room::TextRoom;
use super::{clean, cut, markup};
use asterisk_base::model::{Case, Cut, Hash, recall_key};
use asterisk_diag::mask_secrets;
use std::borrow::Cow;

/// The markup of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Markup {
    /// Tags and entities are markup (ReportPortal).
    Html,
    /// Tags and entities are content (JUnit, where XML has been resolved already).
    None,
}

/// The most bytes of a name, a path or another short text.
pub(super) const MAX_FIELD: usize = 1024;

/// The bytes of a short text that are looked at.
const MAX_LOOKED_AT: usize = 16 << 10;

/// A name, an id or another short text: without escapes, control characters and line breaks, its secrets masked, and of at most
/// [`MAX_FIELD`] bytes. A longer one ends in a hash of all of it, so that it stays apart from others that begin like it.
pub(super) fn one_line(text: &str) -> String {
    let looked_at = &text[..cut::floor(text, MAX_LOOKED_AT)];
    let line = cleaned(looked_at, Markup::None).split_whitespace().collect::<Vec<_>>().join(" ");
    let line = mask_secrets(&line).unwrap_or(line);
    if looked_at.len() == text.len() { bounded(line) } else { hashed(&line, text) }
}

/// The last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// A text of at most [`MAX_FIELD`] bytes, as [`one_line`] cuts it.
pub(super) fn bounded(line: String) -> String {
    if line.len() <= MAX_FIELD { line } else { hashed(&line, &line) }
}

fn hashed(line: &str, whole: &str) -> String {
    let mark = format!("…#{}", Hash::of(whole.as_bytes()).short());
    format!("{}{mark}", &line[..cut::floor(line, MAX_FIELD - mark.len())])
}

/// Removes markup, escapes and control characters.
pub(super) fn cleaned(text: &str, markup: Markup) -> String {
    match markup {
        Markup::Html => clean::clean(&markup::strip(text)),
        Markup::None => clean::clean(text),
    }
}

/// Sets the texts of cases and records the cuts.
///
/// The total of all texts is limited too: while more than a third of [`TextLimits::errors`] or [`TextLimits::logs`] is left, each
/// text may have [`TextLimits::text`] bytes; after that, proportionally less, down to [`LEAST`].
pub(super) struct TextBudget {
    /// The maximum bytes of a text.
    most: usize,
    errors: TextShare,
    logs: TextShare,
    room: TextRoom,
}

/// The budget of texts of one kind.
struct TextShare {
    /// The total budget in bytes.
    total: usize,
    /// The bytes used so far.
    kept: usize,
    /// The lowest limit applied.
    least: usize,
    cuts: TextCuts,
}

/// The bytes that every text may have, in spite of the total.
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
    pub(super) fn new(room: &TextRoom) -> Self {
        let limits = room.limits;
        let share = |total| TextShare { total, kept: 0, least: limits.text, cuts: TextCuts::default() };
        Self { most: limits.text, errors: share(limits.errors), logs: share(limits.logs), room: room.clone() }
    }

    /// Removes markup and escapes, and masks secrets and personal data.
    fn cleaned(&self, text: &str, markup: Markup) -> String {
        let text = cleaned(text, markup);
        match self.room.masker.mask(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => masked,
        }
    }

    /// Sets the error, the log and the recall key of a case that already has its name. The key is derived from the uncut error,
    /// so that it does not depend on the limit.
    pub(super) fn fill(&mut self, case: &mut Case, error: &str, log: &str, markup: Markup) {
        let error = self.cleaned(error, markup);
        case.recall_key = recall_key(&case.name, &error);
        (case.error_message, _) = self.errors.keep(error, self.most);
        self.set_log(case, self.cleaned(log, markup));
    }

    /// Appends to the log of a case.
    pub(super) fn append_log(&mut self, case: &mut Case, log: &str) {
        let before = self.take_log(case);
        let between = if before.is_empty() { "" } else { "\n" };
        self.set_log(case, format!("{before}{between}{}", self.cleaned(log, Markup::None)));
    }

    /// Sets the error of a case, if there is one, and the log if the case has none.
    pub(super) fn supply(&mut self, case: &mut Case, error: &str, log: &str, markup: Markup) {
        if !error.is_empty() {
            let log = self.take_log(case);
            self.fill(case, error, &log, markup);
        }
        if case.log_snippet.is_empty() {
            self.set_log(case, self.cleaned(log, markup));
        }
    }

    /// Prepends lines to the log of a case.
    pub(super) fn prepend_log(&mut self, case: &mut Case, lines: &str) {
        if !lines.is_empty() {
            let before = self.take_log(case);
            self.set_log(case, format!("{}\n{before}", self.cleaned(lines, Markup::None)).trim_end().to_owned());
        }
    }

    /// Appends to the error of a case.
    pub(super) fn append_error(&mut self, case: &mut Case, more: &str) {
        let before = std::mem::take(&mut case.error_message);
        self.errors.kept = self.errors.kept.saturating_sub(before.len());
        let error = format!("{before}\n\n{}", self.cleaned(more, Markup::None)).trim().to_owned();
        case.recall_key = recall_key(&case.name, &error);
        (case.error_message, _) = self.errors.keep(error, self.most);
    }

    /// Updates the recall key after the error or the name has changed.
    pub(super) fn set_key(case: &mut Case) {
        case.recall_key = recall_key(&case.name, &case.error_message);
    }

    fn set_log(&mut self, case: &mut Case, log: String) {
        let (kept, cut) = self.logs.keep(log, self.most);
        (case.log_snippet, case.log_cut) = (self.room.keep(kept), cut);
    }

    fn take_log(&mut self, case: &mut Case) -> String {
        let log = std::mem::take(&mut case.log_snippet);
        self.logs.kept = self.logs.kept.saturating_sub(log.len());
        log.text_or_error().into_owned()
    }

    /// Notes on what was cut.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        let note = |share: &TextShare, what| share.cuts.note(what, self.most, share.least);
        note(&self.errors, "error").into_iter().chain(note(&self.logs, "log"))
    }
}

impl TextShare {
    /// Cuts a text to the current limit, in an allocation of just that size.
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
    use crate::TextLimits;

    #[test]
    fn texts_are_cleaned_cut_and_noted() {
        let mut texts = TextBudget::new(&TextRoom::new(TextLimits { text: 200, ..TextLimits::default() }));
        let mut case = Case { name: "t".to_owned(), ..Case::default() };
        texts.fill(&mut case, "<b>\u{1b}[31mboom\u{1b}[0m</b> &#27;[1m1 &lt; 2", &"log line\n".repeat(100), Markup::Html);
        assert_eq!(case.error_message, "boom 1 < 2");
        let cut = case.log_cut.expect("a cut");
        assert_eq!(cut.was, 899);
        assert!(case.log_snippet.len() <= 200 && case.log_snippet.text_or_error().contains(" left out ...]"));
        assert_eq!(texts.notes().collect::<Vec<_>>(), ["1 log was cut to 200 bytes (the longest had 899)"]);
    }

    #[test]
    fn names_are_bounded_and_stay_apart() {
        let [one, other] = ["a", "b"].map(|end| one_line(&format!("{}{end}", "name ".repeat(100_000))));
        assert!(one.len() <= MAX_FIELD && one.starts_with("name name"), "{one}");
        assert_ne!(one, other);
        assert_eq!(one_line(&one), one, "a name that was cut is not cut again");
        assert_eq!(one_line("t[ghp_abcdefghijklmnopqrstuvwxyz0123456789]\u{200b}\n x"), "t[***] x");
    }

    #[test]
    fn texts_are_cut_shorter_as_the_budget_is_used() {
        let mut texts = TextBudget::new(&TextRoom::new(TextLimits { logs: 90_000, ..TextLimits::default() })).logs;
        let kept: Vec<usize> = (0..100).map(|_| texts.keep("x".repeat(10_000), 6000).0.len()).collect();
        assert!(kept[..10].iter().all(|kept| *kept > 5900) && kept[99] <= LEAST, "{kept:?}");
        assert!(kept.is_sorted_by(|one, next| one >= next), "{kept:?}");
    }

    #[test]
    fn the_recall_key_is_derived_from_the_uncut_error() {
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
