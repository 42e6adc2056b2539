//! One pass over a text for what looks like a secret.
//!
//! An automaton finds the words that can begin or name one; at each, a bounded look decides. The time is linear in the text.

use super::credentials::{COMMANDS, is_user_and_password};
use super::folded::Folded;
use super::formats::{Alphabet, FORMATS, FormatCheck};
use super::look::{MAX_VALUE, Scan};
use super::names::{self, NameStrength, STEMS};
use super::value::{SecretValue, is_code, is_spaced, is_type, is_word_of_sentence};
use super::{SecretForm, SecretScope, begins_word, floor, infix, is_of_word};
use crate::Span;
use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
use std::ops::Range;
use std::sync::LazyLock;

/// The most characters of a name, and of what stands between it and its value.
const MAX_NAME: usize = 64;
/// The distance within which a random word belongs to a word such as `token`.
const NEAR: usize = 80;

/// What a found word is.
#[derive(Clone, Copy, Debug)]
enum Clue {
    /// The prefix of a format: group and prefix in it.
    Format(usize, usize),
    /// A part of the name of a secret.
    Name,
    /// `://`: an address.
    Address,
    /// The head of a private key.
    PrivateKey,
    /// A web token.
    WebToken,
    /// `Basic`, `Bearer` and other schemes of `Authorization`.
    Scheme,
    /// A command with a flag for a password.
    Command(usize),
    /// A mark inside a format without a prefix, with the function that looks around it.
    Infix(InfixLook),
    /// `@` of an e-mail address.
    At,
}

/// Looks around a mark at an offset of a text.
type InfixLook = fn(&str, usize) -> Option<Range<usize>>;

struct Automaton {
    words: AhoCorasick,
    clues: Vec<Clue>,
}

static AUTOMATON: LazyLock<Option<Automaton>> = LazyLock::new(|| {
    let (mut words, mut clues): (Vec<&str>, Vec<Clue>) = (Vec::new(), Vec::new());
    let mut add = |word, clue| {
        words.push(word);
        clues.push(clue);
    };
    for (group, (.., prefixes)) in FORMATS.iter().enumerate() {
        prefixes.iter().enumerate().for_each(|(index, prefix)| add(prefix, Clue::Format(group, index)));
    }
    for stem in STEMS {
        add(stem, Clue::Name);
    }
    for (index, (command, ..)) in COMMANDS.iter().enumerate() {
        add(command, Clue::Command(index));
    }
    let infixes: [(&str, InfixLook); 8] = [
        ("Q~", infix::azure_secret),
        (":AA", infix::telegram_token),
        ("-us", infix::mailchimp_key),
        ("jdbc:oracle:", infix::oracle_password),
        ("sqlplus", infix::oracle_password),
        ("@tcp(", infix::dsn_password),
        (":5432:", infix::pgpass_password),
        (":3306:", infix::pgpass_password),
    ];
    for (word, look) in infixes {
        add(word, Clue::Infix(look));
    }
    for (word, clue) in [
        ("://", Clue::Address),
        ("%3a%2f%2f", Clue::Address),
        (":\\/\\/", Clue::Address),
        ("PRIVATE KEY", Clue::PrivateKey),
        ("Private-Lines", Clue::PrivateKey),
        ("eyJ", Clue::WebToken),
        ("basic ", Clue::Scheme),
        ("basic%20", Clue::Scheme),
        ("ssws ", Clue::Scheme),
        ("auth plain ", Clue::Scheme),
        ("auth login ", Clue::Scheme),
        ("bearer ", Clue::Scheme),
        ("bearer%20", Clue::Scheme),
        ("authorization", Clue::Scheme),
        ("cookie", Clue::Scheme),
        ("@", Clue::At),
    ] {
        add(word, clue);
    }
    let words = AhoCorasickBuilder::new().ascii_case_insensitive(true).build(words).ok()?;
    Some(Automaton { words, clues })
});

/// The parts of a text that look like secrets, in their order and disjoint, and how each was known.
pub(super) fn scan(text: &str, scope: SecretScope) -> Vec<(Span, SecretForm)> {
    let folded = Folded::of(text);
    let plain = folded.as_ref().map_or(text, |folded| &folded.text);
    let mut scan = Scan { text: plain, scope, found: Vec::new() };
    scan.run();
    let mut found = scan.found;
    found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let mut apart: Vec<(Range<usize>, SecretForm)> = Vec::new();
    for (range, form) in found {
        match apart.last_mut() {
            Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push((range, form)),
        }
    }
    let place = |at: usize| folded.as_ref().map_or(at, |folded| folded.places[at]);
    let span =
        |range: Range<usize>| Span { start: place(range.start), end: place(range.end - 1) + width(text, place(range.end - 1)) };
    apart.into_iter().filter(|(range, _)| !range.is_empty()).map(|(range, form)| (span(range), form)).collect()
}

impl Scan<'_> {
    fn run(&mut self) {
        let Some(automaton) = AUTOMATON.as_ref() else { return };
        let text = self.text;
        // How far names and addresses have been read: the words of one name are one look.
        let (mut named, mut addressed, mut mailed, mut commanded) = (0, 0, 0, 0);
        for hit in automaton.words.find_overlapping_iter(text) {
            let range = hit.range();
            match automaton.clues[hit.pattern().as_usize()] {
                Clue::Format(group, index) => self.format(group, index, range),
                Clue::Name if range.end > named => named = if self.is_known(range.start) { range.end } else { self.name(range) },
                Clue::Address if range.end > addressed => addressed = self.address(range),
                Clue::PrivateKey => self.private_key(range),
                Clue::WebToken => self.web_token(range.start),
                Clue::Scheme => self.scheme(range),
                Clue::Command(index) if range.end > commanded => commanded = self.command(index, range),
                Clue::Infix(look) => {
                    if let Some(range) = look(text, range.start) {
                        self.add(range, SecretForm::Form);
                    }
                }
                Clue::At if self.scope == SecretScope::Text && range.start >= mailed => {
                    mailed = range.end;
                    if let Some(local) = infix::mail_address(text, range.start) {
                        self.add(local, SecretForm::Form);
                    }
                }
                Clue::Name | Clue::Address | Clue::Command(_) | Clue::At => {}
            }
        }
        match self.scope {
            SecretScope::Settings => self.random_words(),
            SecretScope::Text => self.cards(),
        }
    }

    fn format(&mut self, group: usize, index: usize, range: Range<usize>) {
        let (alphabet, least, check, prefixes) = FORMATS[group];
        let bytes = self.text.as_bytes();
        let exact = check == FormatCheck::Kept || self.text[range.clone()] == *prefixes[index];
        let first = prefixes[index].as_bytes()[0];
        if !exact
            || self.is_known(range.start)
            || (first.is_ascii_alphanumeric() && check != FormatCheck::Kept && !begins_word(self.text, range.start))
        {
            return;
        }
        let end = range.end + bytes[range.end..].iter().take(MAX_VALUE).take_while(|byte| alphabet.has(**byte)).count();
        let body = trimmed(&self.text[range.end..end], alphabet);
        let holds = match check {
            FormatCheck::Any | FormatCheck::Kept => true,
            FormatCheck::Digit => body.bytes().any(|byte| byte.is_ascii_digit()),
            FormatCheck::Random if alphabet == Alphabet::Hash => {
                body.contains('$') || body.contains('=') || names::is_random(body, 20)
            }
            FormatCheck::Random => body.split(['.', '-', '_']).any(|part| names::is_random(part, least.min(20))),
        };
        if body.len() >= least && holds {
            let start = if check == FormatCheck::Kept { range.end } else { range.start };
            self.add(start..range.end + body.len(), SecretForm::Form);
        }
    }

    /// Looks at the name around a stem, and at what stands behind it. Returns the end of the name.
    fn name(&mut self, stem: Range<usize>) -> usize {
        let bytes = self.text.as_bytes();
        let of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let start = stem.start - bytes[..stem.start].iter().rev().take(MAX_NAME).take_while(|byte| of_name(byte)).count();
        let end = stem.end + bytes[stem.end..].iter().take(MAX_NAME).take_while(|byte| of_name(byte)).count();
        // Leave out escapes of line breaks and the end of a sentence.
        let end = end - bytes[start..end].iter().rev().take_while(|byte| matches!(byte, b'.' | b'-' | b'_')).count();
        let start = start.min(end);
        let start =
            if start > 0 && bytes[start - 1] == b'\\' && matches!(bytes[start], b'n' | b't' | b'r') { start + 1 } else { start };
        let start = if start > 0
            && bytes[start - 1] == b'%'
            && self.text.get(start..start + 2).is_some_and(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()))
        {
            (start + 2).min(end)
        } else {
            start
        };
        if stem.end > end {
            return stem.end;
        }
        let name = &self.text[start..end];
        let known = names::strength_of(name);
        let before = self.found.len();
        if let Some(strength) = known {
            self.value(name, start, end, strength);
        } else if let Some(shorter) = names::continued(name) {
            // `password_hash`, `TOKEN_V2`, `secretsFile`: only what looks random.
            if names::strength_of(shorter) >= Some(NameStrength::Likely) {
                self.value(name, start, end, NameStrength::Hint);
            }
        }
        if known.is_some() && self.found.len() == before && self.scope == SecretScope::Text {
            self.near(name, end);
        }
        end
    }

    /// What stands behind a name: `NAME: VALUE`, `NAME=VALUE`, `--name VALUE` and what languages make of them.
    fn value(&mut self, name: &str, start: usize, end: usize, strength: NameStrength) {
        let text = self.text;
        let is_flag = name.starts_with('-') || text[..start].ends_with('-');
        // The scheme comes first: see `scheme`.
        if self.scope == SecretScope::Text && name.to_ascii_lowercase().ends_with("authorization") {
            return;
        }
        // The words of a command may be a list: `[x, --api-key, VALUE]`.
        let listed = is_flag && self.scope == SecretScope::Settings && text[end..].starts_with(',');
        let Some(found) = SecretValue::after(text, end + usize::from(listed), is_flag || is_spaced(text, start, name)) else {
            return;
        };
        let value = &text[found.value.clone()];
        let settings = self.scope == SecretScope::Settings;
        let strength = if settings {
            strength.max(if strength == NameStrength::Hint { strength } else { NameStrength::Always })
        } else {
            strength
        };
        // `pass: 3` counts tests; `pass=abc123` is of a form.
        let is_form = !found.spaced && !found.quoted && text[..found.value.start].ends_with('=');
        let strength =
            if is_form && name.to_ascii_lowercase().ends_with("pass") { strength.max(NameStrength::Likely) } else { strength };
        let short = value.trim_matches(|ch: char| ch.is_ascii_punctuation());
        let is_number = value.parse::<f64>().is_ok();
        if names::is_placeholder(value)
            || (is_number && (settings || strength < NameStrength::Always || value.len() < 4) && value.len() < 8)
        {
            return;
        }
        // A directory: the shell's own variable.
        if name.eq_ignore_ascii_case("pwd") && (value.starts_with(['/', '~']) || value.get(1..2) == Some(":"))
            || name.eq_ignore_ascii_case("oldpwd")
        {
            return;
        }
        let is_secret = match strength {
            NameStrength::Always if settings => true,
            NameStrength::Always if found.quoted => !names::is_prose(value),
            NameStrength::Always if short.is_empty() || is_code(value) => false,
            NameStrength::Always => !(found.spaced && (is_word_of_sentence(text, &found.value) || is_type(text, &found.value))),
            NameStrength::Likely => names::is_likely(value) && !names::is_prose(value) && !is_code(value),
            NameStrength::Hint => {
                is_user_and_password(value)
                    || value.split(|ch: char| !is_of_word(ch)).any(|part| names::is_random_value(name, part))
            }
        };
        if is_secret {
            let form = if is_flag { SecretForm::Argument } else { SecretForm::Key };
            self.add(found.value, form);
        }
    }

    /// A random word on the line of a telling one.
    fn near(&mut self, name: &str, end: usize) {
        let rest = &self.text[end..floor(self.text, end + NEAR)];
        let line = rest.split(['\n', '\r']).next().unwrap_or_default();
        let telling = names::strength_of(name).is_some_and(|strength| strength >= NameStrength::Likely);
        let mut at = end;
        for word in line.split(|ch: char| !is_of_word(ch) && !matches!(ch, '/' | '=' | '.' | '~')) {
            let (from, whole) = (at, self.whole_word(at));
            at += word.len() + self.text[at + word.len()..].chars().next().map_or(0, char::len_utf8);
            let parts = |whole: &Range<usize>| {
                self.text[whole.clone()]
                    .split(['/', '.', '=', '~'])
                    .any(|part| if telling { names::is_random(part, 16) } else { names::is_mixed_random(part, 20) })
            };
            if !word.is_empty() && !word.contains("://") && parts(&whole) && !self.is_known(from) {
                self.add(whole, SecretForm::Key);
                return;
            }
        }
    }

    fn whole_word(&self, from: usize) -> Range<usize> {
        let of_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'_' | b'-' | b'/' | b'=' | b'.' | b'~');
        from..from + self.text.as_bytes()[from..].iter().take(MAX_VALUE).take_while(|byte| of_word(byte)).count()
    }

    /// Long words that can only have been made by chance, whatever stands before them.
    fn random_words(&mut self) {
        let mut start = 0;
        for word in self.text.split(|ch: char| !is_of_word(ch)) {
            if names::is_mixed_random(word, 24) {
                self.add(start..start + word.len(), SecretForm::Form);
            }
            start += word.len() + self.text[start + word.len()..].chars().next().map_or(0, char::len_utf8);
        }
    }
}

/// A body without what ends a sentence.
fn trimmed(body: &str, alphabet: Alphabet) -> &str {
    match alphabet {
        Alphabet::Dotted | Alphabet::Base64 | Alphabet::Hash | Alphabet::Path => {
            body.trim_end_matches(['.', ',', ';', ':', '!', '?'])
        }
        _ => body,
    }
}

/// The bytes from `at` to the next character.
fn width(text: &str, at: usize) -> usize {
    (1..=4).find(|more| text.is_char_boundary(at + more)).unwrap_or(1)
}
