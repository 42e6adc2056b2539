//! What looks like a secret: the one place that decides it, for settings that must not hold one and for texts that must not show one.
//!
//! A secret is known by its own form (`sk-...`, a JSON web token), by what stands before it (a name that only secrets have, a flag of a
//! command, the user of an address), or because it looks random and follows a word such as `token`. In the texts of launches, e-mail
//! addresses and numbers of payment cards are masked too.

mod credentials;
mod folded;
mod formats;
mod infix;
mod look;
mod names;
mod scan;
mod value;

use super::{Diagnostics, Source, Span, floor_boundary as floor};

/// How a secret was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretForm {
    /// It stands behind a key.
    Key,
    /// It is given to a command as an argument.
    Argument,
    /// It is part of an address.
    Address,
    /// It has the form of one.
    Form,
}

/// Where it is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SecretScope {
    /// Settings: every value behind the name of a secret is one, and so is every random word.
    Settings,
    /// Foreign text, in which `token` may be of a parser and a random word the id of anything; personal data count too.
    Text,
}

/// Replaces secrets in foreign texts.
const STARS: &str = "***";

/// Whether a name is one that only secrets have: `api_key`, `GITHUB_TOKEN`, `clientSecret`.
pub fn names_secret(name: &str) -> bool {
    names::strength_of(name) >= Some(names::NameStrength::Likely)
}

/// Whether a word has the form of a secret, whatever stands before it.
pub fn looks_secret(word: &str) -> bool {
    scan::scan(word, SecretScope::Settings).iter().any(|(_, known)| *known == SecretForm::Form)
}

/// Whether an address has something in it that looks like a secret: a user, a parameter, a part of its path.
pub fn address_reveals_secret(url: &str) -> bool {
    // The scan looks for users behind a scheme only.
    let host = url.split_once("://").map_or(url, |(_, rest)| rest).split(['/', '?', '#']).next();
    host.is_some_and(|host| host.contains('@')) || !secrets_in(url).is_empty()
}

/// The parts of settings that look like secrets, in their order, and how each was known.
pub fn secrets_in(text: &str) -> Vec<(Span, SecretForm)> {
    scan::scan(text, SecretScope::Settings)
}

/// Settings with stars in the place of what looks like a secret; all else is where it was.
pub fn starred(text: &str) -> String {
    replaced(text, SecretScope::Settings, |span| "*".repeat(span.len())).unwrap_or_else(|| text.to_owned())
}

/// A foreign text with `***` in the place of secrets and personal data; `None` if it has none. What is masked stays as it is when it is
/// masked again.
pub fn mask_secrets(text: &str) -> Option<String> {
    replaced(text, SecretScope::Text, |_| STARS.to_owned())
}

/// Findings about a foreign text that show none of its secrets.
pub fn hide_secrets(found: Diagnostics) -> Diagnostics {
    // Most findings are of one text: it is starred once.
    let mut last: Option<(Source, Source)> = None;
    let hidden = found.into_iter().map(|mut one| {
        for label in &mut one.labels {
            let shown = match &last {
                Some((source, shown)) if source.text().as_ptr() == label.source.text().as_ptr() => shown.clone(),
                _ => {
                    let text = replaced(label.source.text(), SecretScope::Text, |span| "*".repeat(span.len()));
                    text.map_or_else(|| label.source.clone(), |text| Source::new(label.source.name(), text))
                }
            };
            last = Some((std::mem::replace(&mut label.source, shown.clone()), shown));
            label.text = mask_secrets(&label.text).unwrap_or_else(|| std::mem::take(&mut label.text));
        }
        one.message = mask_secrets(&one.message).unwrap_or(one.message);
        one.help = one.help.map(|help| mask_secrets(&help).unwrap_or(help));
        one
    });
    hidden.collect()
}

fn replaced(text: &str, scope: SecretScope, stars: impl Fn(Span) -> String) -> Option<String> {
    let found = scan::scan(text, scope);
    let mut out = String::with_capacity(if found.is_empty() { 0 } else { text.len() });
    let mut from = 0;
    for (span, _) in &found {
        out += &text[from..span.start];
        out += &stars(*span);
        from = span.end;
    }
    (!found.is_empty()).then(|| out + &text[from..])
}

fn is_of_word(ch: char) -> bool {
    ch.is_ascii_alphanumeric() || matches!(ch, '+' | '_' | '-')
}

/// Whether a word begins here: behind anything but a letter or a digit, or behind an escape of one character or of an address.
fn begins_word(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    match before {
        [] | [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f'] => true,
        [.., b'%', one, other] if one.is_ascii_hexdigit() && other.is_ascii_hexdigit() => true,
        [.., last] => !last.is_ascii_alphanumeric(),
    }
}

/// The boundary of a character at most `most` bytes before `at`.
fn floor_back(text: &str, at: usize, most: usize) -> usize {
    (at.saturating_sub(most)..=at).find(|at| text.is_char_boundary(*at)).unwrap_or(at)
}

#[cfg(test)]
mod tests;
