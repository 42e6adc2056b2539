//! Secrets in addresses, headers, commands, keys, web tokens and on payment cards.

use super::formats::Alphabet;
use super::look::{MAX_VALUE, Scan};
use super::names::{self, NameStrength, QUERY_NAMES};
use super::value::SecretValue;
use super::{SecretForm, SecretScope, begins_word, floor, floor_back};
use std::ops::Range;

/// The most bytes of a private key.
const MAX_KEY: usize = 64 << 10;

/// Commands and their flags for a secret: attached or as the next word; `true` if only what follows a `:` is one.
pub(super) const COMMANDS: &[(&str, &[&str], bool)] = &[
    ("sshpass", &["-p"], false),
    ("curl", &["-u", "--user", "--proxy-user", "-U"], true),
    ("wget", &["--http-password", "--ftp-password"], false),
    ("mysql", &["-p"], false),
    ("mysqldump", &["-p"], false),
    ("mysqladmin", &["-p"], false),
    ("mariadb", &["-p"], false),
    ("redis-cli", &["-a", "--pass"], false),
    ("docker login", &["-p"], false),
    ("podman login", &["-p"], false),
    ("oc login", &["-p"], false),
    ("az login", &["-p"], false),
    ("sqlcmd", &["-P"], false),
    ("ldapsearch", &["-w"], false),
    ("ldapmodify", &["-w"], false),
    ("mongosh", &["-p"], false),
    ("mongodump", &["-p"], false),
    ("unzip", &["-P"], false),
    ("7z", &["-p"], false),
    ("keytool", &["-storepass", "-keypass"], false),
    ("snmpwalk", &["-c", "-A", "-X"], false),
    ("smbclient", &["-U"], true),
    ("openssl", &["pass:"], false),
];

impl Scan<'_> {
    /// The user and the parameters of an address. Returns the end of the address.
    pub(super) fn address(&mut self, scheme: Range<usize>) -> usize {
        let text = self.text;
        let near = &text[scheme.end..floor(text, scheme.end + 16 * MAX_VALUE)];
        let near = near.find("://").unwrap_or(near.len());
        let end = scheme.end
            + text.as_bytes()[scheme.end..scheme.end + near]
                .iter()
                .take_while(|byte| {
                    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`') || !byte.is_ascii()
                })
                .count();
        let end = floor(text, end);
        let rest = &text[scheme.end..end];
        if let Some(user) = user_of(rest, self.scope) {
            self.add(scheme.end + user.start..scheme.end + user.end, SecretForm::Address);
        }
        let mut at = scheme.end + rest.find(['?', '#', '&', ';']).unwrap_or(rest.len());
        while at < end {
            let parameter = &text[at + 1..end];
            let len = parameter.find(['&', '#', ';', ',', ')', ']', '}', '|']).unwrap_or(parameter.len());
            if let Some((name, value)) = parameter[..len].split_once('=')
                && !names::is_placeholder(value)
                && (names::strength_of(name) >= Some(NameStrength::Likely)
                    || QUERY_NAMES.contains(&name.to_ascii_lowercase().as_str())
                        && (self.scope == SecretScope::Settings || value.len() >= 16 || names::is_likely(value)))
                && !(value.len() < 8 && value.parse::<f64>().is_ok())
            {
                self.add(at + 1 + name.len() + 1..at + 1 + len, SecretForm::Address);
            }
            at += 1 + len;
        }
        end
    }

    /// From the head of a private key to its foot, or to the last line that can be of it.
    pub(super) fn private_key(&mut self, head: Range<usize>) {
        let text = self.text;
        if self.is_known(head.start) {
            return;
        }
        let is_putty = text[head.clone()].starts_with('P') && text[head.clone()].contains("-Lines");
        let line = floor(text, head.end + 16);
        let begun = if is_putty {
            true
        } else {
            text[..head.start].trim_end_matches(|ch: char| ch.is_ascii_uppercase() || ch == ' ').ends_with("BEGIN")
                || text[floor_back(text, head.start, 48)..head.start].contains("BEGIN ")
        };
        let Some(dashes) = (if is_putty { Some(0) } else { text[head.end..line].find("-----") }) else { return };
        if !begun {
            return;
        }
        let start = head.end + dashes + if is_putty { 0 } else { 5 };
        let most = floor(text, start + MAX_KEY);
        let body = &text[start..most];
        let foot = body.find("-----").or_else(|| body.find("Private-MAC"));
        if foot.is_some_and(|at| body[at..].starts_with("-----BEGIN")) {
            return;
        }
        let mut end = foot.unwrap_or(0);
        if foot.is_none() {
            // Cut off: as far as there is base64, whatever stands before each line of it.
            let mut at = 0;
            for word in body.split_inclusive(|ch: char| ch.is_whitespace() || ch == '\\') {
                let bare = word.trim_end_matches(|ch: char| ch.is_whitespace() || ch == '\\');
                let bare = bare.trim_end_matches(|ch: char| ch.is_ascii_punctuation() && ch != '=' && ch != '/' && ch != '+');
                let of_key = bare.bytes().all(|byte| {
                    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'|' | b'>' | b'-' | b':' | b',')
                });
                at += word.len();
                if of_key && bare.len() >= 16 {
                    end = at - (word.len() - bare.len());
                } else if at > end + 160 {
                    break;
                }
            }
        }
        let skipped = body[..end].len()
            - body[..end].trim_start_matches(|ch: char| ch.is_whitespace() || matches!(ch, '\\' | 'n' | 'r' | '|' | '>')).len();
        let kept = body[..end].trim_end_matches(|ch: char| ch.is_whitespace() || matches!(ch, '|' | '>')).len();
        if skipped < kept {
            self.add(start + skipped..start + kept, SecretForm::Form);
        } else if self.scope == SecretScope::Settings {
            self.add(head, SecretForm::Form);
        }
    }

    /// A JSON web token, signed or encrypted.
    pub(super) fn web_token(&mut self, start: usize) {
        let text = self.text;
        if !text[start..].starts_with("eyJ") || self.is_known(start) || !begins_word(text, start) {
            return;
        }
        if text.as_bytes()[start..].iter().take_while(|byte| Alphabet::Word.has(**byte)).take(10).count() < 10 {
            return;
        }
        let end = start
            + text.as_bytes()[start..]
                .iter()
                .take(MAX_VALUE)
                .take_while(|byte| Alphabet::Word.has(**byte) || **byte == b'.')
                .count();
        let token = text[start..end].trim_end_matches('.');
        let mut parts = token.split('.').map(str::len);
        if parts.next().is_some_and(|head| head >= 10) && parts.next().is_some_and(|next| next >= 4)
            || token.starts_with("eyJhbGciOi") && token.len() >= 20
        {
            self.add(start..start + token.len(), SecretForm::Form);
        }
    }

    /// What stands behind a scheme of `Authorization`, or in a header of cookies.
    pub(super) fn scheme(&mut self, word: Range<usize>) {
        let text = self.text;
        let found = text[word.clone()].to_ascii_lowercase();
        let start = word.end;
        let line = floor(text, start + 2 * MAX_VALUE);
        match found.as_str() {
            "authorization" | "cookie" => {
                let Some(SecretValue { value, .. }) = SecretValue::after(text, start, false) else { return };
                // The whole header: schemes have parameters.
                let from = value.start;
                let rest = &text[from..line];
                let len = rest.find(['\n', '\r', '"', '\'', '`', '<', ']', '}']).unwrap_or(rest.len());
                let rest = rest[..len].trim_end().trim_end_matches('\\');
                if found == "cookie" {
                    if let Some((_, value)) =
                        rest.split_once('=').filter(|(name, value)| value.len() >= 4 && !name.contains(' ') && !name.is_empty())
                    {
                        self.add(from + rest.len() - value.len()..from + rest.len(), SecretForm::Key);
                    }
                    return;
                }
                let mut words = rest.split_whitespace();
                let (Some(first), second) = (words.next(), words.next()) else { return };
                let is_scheme =
                    |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') && word.len() <= 24;
                // What stands behind a scheme, which may have been passed over already.
                let (secret, at) = match second {
                    _ if text[start..from].to_ascii_lowercase().ends_with("bearer ") => (first, from),
                    Some(second) if is_scheme(first) => {
                        (second, from + rest[first.len()..].find(second).map_or(0, |at| first.len() + at))
                    }
                    _ if self.scope == SecretScope::Settings || names::is_likely(first) => (first, from),
                    _ => return,
                };
                if names::is_placeholder(secret) || names::is_prose(rest) {
                    return;
                }
                let from = at;
                if from < value.start + rest.len() {
                    self.add(from..value.start + rest.len(), SecretForm::Key);
                }
            }
            _ => {
                let len =
                    text.as_bytes()[start..line].iter().take_while(|byte| Alphabet::Base64.has(**byte) || **byte == b'~').count();
                let value = text[start..start + len].trim_end_matches('.');
                let len = value.len();
                let is_secret = if found.starts_with("auth ") {
                    value.len() >= 8
                } else if !found.starts_with("basic") {
                    value.len() >= 6 && names::is_likely(value) || names::is_random(value, 12)
                } else {
                    is_user_and_password(value)
                };
                if is_secret {
                    self.add(start..start + len, SecretForm::Key);
                }
            }
        }
    }

    /// The secrets among the words of a command. Returns where reading stopped.
    pub(super) fn command(&mut self, index: usize, word: Range<usize>) -> usize {
        let (_, flags, only_password) = COMMANDS[index];
        let text = self.text;
        let before = text[..word.start].chars().next_back();
        if !begins_word(text, word.start) || before == Some('_') {
            return word.end;
        }
        let rest = &text[word.end..floor(text, word.end + 512)];
        let line = rest.split(['\n', '\r', '|', ';']).next().unwrap_or_default();
        let mut at = word.end;
        let mut take = false;
        for token in line.split_inclusive([' ', '\t']) {
            let (from, bare) = (at, token.trim_end());
            at += token.len();
            let attached = flags.iter().find_map(|flag| bare.strip_prefix(flag)).filter(|rest| !rest.is_empty());
            let value = match (take, attached) {
                (true, _) => bare,
                (false, Some(value)) => value,
                (false, None) => {
                    take = flags.contains(&bare);
                    continue;
                }
            };
            take = false;
            let from = from + bare.len() - value.len();
            let open = value.len() - value.trim_start_matches(['\'', '"', '=']).len();
            let inner = value.trim_start_matches(['\'', '"', '=']).trim_end_matches(['\'', '"', ',', ')']);
            let (from, inner) = (from + open, inner);
            if inner.starts_with('-') || names::is_placeholder(inner) {
                continue;
            }
            match (only_password, inner.split_once(':').or_else(|| inner.split_once('%'))) {
                (true, Some((user, _))) => self.add(from + user.len() + 1..from + inner.len(), SecretForm::Argument),
                (false, _) if inner.len() >= 4 && inner.parse::<u16>().is_err() => {
                    self.add(from..from + inner.len(), SecretForm::Argument);
                }
                (true, None) | (false, _) => {}
            }
        }
        at
    }

    /// Numbers of payment cards: 15 or 16 digits of a known issuer, of which two are true: they are in groups, their check digit is right,
    /// `card` stands before them.
    pub(super) fn cards(&mut self) {
        let text = self.text;
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if !matches!(bytes[at], b'2'..=b'6')
                || !begins_word(text, at)
                || (at > 0 && (matches!(bytes[at - 1], b'.' | b'-' | b'_')))
            {
                at += 1;
                continue;
            }
            let (mut digits, mut end, mut groups) = (Vec::with_capacity(16), at, 1);
            while end < bytes.len() && digits.len() < 20 {
                match bytes[end] {
                    digit @ b'0'..=b'9' => digits.push(digit - b'0'),
                    b' ' | b'-'
                        if bytes.get(end + 1).is_some_and(u8::is_ascii_digit)
                            && digits.len().is_multiple_of(4) | (digits.len() == 10) =>
                    {
                        groups += 1;
                    }
                    _ => break,
                }
                end += 1;
            }
            let ends = bytes.get(end).is_none_or(|next| !next.is_ascii_alphanumeric() && *next != b'_');
            let said = || text[floor_back(text, at, 24)..at].to_ascii_lowercase().contains("card");
            let zeros: usize = digits.iter().map(|digit| usize::from(*digit == 0)).sum();
            let round = zeros > 8;
            if ends
                && !round
                && is_card(&digits)
                && [groups > 1, has_check_digit(&digits), said()].into_iter().filter(|sign| *sign).count() >= 2
            {
                self.add(at..end, SecretForm::Form);
            }
            at = end.max(at + 1);
        }
    }
}

/// Whether digits are of the ranges and lengths of the large issuers of cards.
fn is_card(digits: &[u8]) -> bool {
    match digits {
        [4, ..] | [5, 1..=5, ..] | [2, 2..=7, ..] | [6, 0, 1, 1, ..] | [6, 5, ..] => digits.len() == 16,
        [3, 4 | 7, ..] => digits.len() == 15,
        _ => false,
    }
}

/// Luhn's check.
fn has_check_digit(digits: &[u8]) -> bool {
    let weight = |(index, digit): (usize, &u8)| match (index % 2, u32::from(*digit) * 2) {
        (0, _) => u32::from(*digit),
        (_, twice) => twice / 10 + twice % 10,
    };
    digits.iter().rev().enumerate().map(weight).sum::<u32>().is_multiple_of(10)
}

/// The password of an address, behind `://`: `user:password@`, or a token in the place of the user.
fn user_of(rest: &str, scope: SecretScope) -> Option<Range<usize>> {
    let end = rest.rfind('@').filter(|end| *end > 0)?;
    let first = rest.find('@')?;
    let colon = rest[..end].find(':');
    let host = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    if scope == SecretScope::Settings {
        return (first < host).then_some(0..first);
    }
    match colon {
        Some(colon) if colon < host => {
            // `host:8080/x@y`: a port.
            let port = rest[colon + 1..].bytes().take_while(u8::is_ascii_digit).count();
            let is_port = port > 0 && rest[colon + 1 + port..].starts_with(['/', '?', '#']) || rest[colon + 1..].starts_with('/');
            // Behind the host there may be another `@`.
            let end = if first < host { rest[..host].rfind('@').unwrap_or(first) } else { end };
            let end = if rest[end + 1..].starts_with(|ch: char| ch.is_ascii_alphanumeric() || ch == '[' || ch == '/') {
                end
            } else {
                first
            };
            // A token may be in the place of the user, with a word for the password.
            let from = if colon >= 20 && names::is_likely(&rest[..colon]) { 0 } else { colon + 1 };
            (!is_port && colon + 1 < end && !names::is_placeholder(&rest[colon + 1..end])).then_some(from..end)
        }
        _ if first < host => {
            let user = &rest[..first];
            (user.len() >= 16 && names::is_likely(user)).then_some(0..first)
        }
        _ => None,
    }
}

/// `user:password` in base64.
pub(super) fn is_user_and_password(value: &str) -> bool {
    use base64::Engine as _;
    let bare = value.trim_end_matches('=');
    let decoded = || {
        base64::engine::general_purpose::STANDARD_NO_PAD.decode(bare.get(..bare.len() - usize::from(bare.len() % 4 == 1))?).ok()
    };
    bare.len() >= 6 && decoded().is_some_and(|bytes| bytes.contains(&b':') && bytes.iter().all(|byte| !byte.is_ascii_control()))
}
