//! Formats that begin with nothing known: a mark inside of them is found, and what is around it decides.

use super::formats::Alphabet;
use super::{floor, floor_back};
use std::ops::Range;

/// The most bytes of a name before `@`.
const MAX_NAME: usize = 64;

/// The local part of an e-mail address around `@`.
pub(super) fn mail_address(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let local = bytes[..at]
        .iter()
        .rev()
        .take(MAX_NAME)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-'))
        .count();
    let domain =
        bytes[at + 1..].iter().take(255).take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')).count();
    let name = text[at + 1..at + 1 + domain].trim_end_matches(['.', '-']);
    let (_, top) = name.rsplit_once('.')?;
    let files = [
        "png", "jpg", "jpeg", "gif", "svg", "webp", "js", "ts", "css", "json", "html", "py", "rb", "java", "xml", "yaml", "yml",
        "service", "local", "so", "jar", "tgz", "zip", "gz",
    ];
    let is_top = top.len() >= 2
        && top.bytes().all(|byte| byte.is_ascii_alphabetic())
        && !files.contains(&top.to_ascii_lowercase().as_str());
    let start = at - local;
    let user = text[start..at].trim_start_matches(['.', '-', '%', '+']);
    (is_top
        && user.len() >= 2
        && user != "git"
        && !name.contains("..")
        && name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric()))
    .then_some(at - user.len()..at)
}

/// `ABC8Q~...`: a client secret of Azure AD, of which `Q~` is at `at`.
pub(super) fn azure_secret(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let start = at.checked_sub(4)?;
    let len = bytes[at + 2..].iter().take(64).take_while(|byte| Alphabet::Dotted.has(**byte)).count();
    (bytes[at - 1].is_ascii_digit() && bytes[start..at - 1].iter().all(|byte| Alphabet::Dotted.has(*byte)) && len >= 24)
        .then_some(start..at + 2 + len)
}

/// `123456789:AA...`: a token of a Telegram bot, of which `:AA` is at `at`.
pub(super) fn telegram_token(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let digits = bytes[..at].iter().rev().take(12).take_while(|byte| byte.is_ascii_digit()).count();
    let len = bytes[at + 1..].iter().take(64).take_while(|byte| Alphabet::Word.has(**byte)).count();
    ((8..=11).contains(&digits) && len >= 30).then_some(at - digits..at + 1 + len)
}

/// 32 hexadecimal digits, `-us` and a number: a key of Mailchimp.
pub(super) fn mailchimp_key(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let body = bytes[..at].iter().rev().take(33).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let number = bytes[at + 3..].iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
    (body >= 32 && (1..=2).contains(&number)).then_some(at - body..at + 3 + number)
}

/// `thin:scott/tiger@...`, `sqlplus scott/tiger@...`.
pub(super) fn oracle_password(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text[at..floor(text, at + 256)];
    let end = rest.find('@')?;
    let slash = rest[..end].find('/')?;
    let password = &rest[slash + 1..end];
    (!password.is_empty() && !password.contains(char::is_whitespace)).then_some(at + slash + 1..at + end)
}

/// `user:password@tcp(...)`, of which `@tcp(` is at `at`.
pub(super) fn dsn_password(text: &str, at: usize) -> Option<Range<usize>> {
    let before = &text[floor_back(text, at, 256)..at];
    let word = before.rsplit(|ch: char| ch.is_whitespace() || matches!(ch, '"' | '\'' | '`' | '=')).next()?;
    let (_, password) = word.split_once(':')?;
    Some(at - password.len()..at)
}

/// `host:5432:database:user:password`, of which `:5432:` is at `at`.
pub(super) fn pgpass_password(text: &str, at: usize) -> Option<Range<usize>> {
    let start = at + 6;
    let rest = &text[start..floor(text, start + 512)];
    let line = rest.split(|ch: char| ch.is_whitespace() || matches!(ch, '"' | '\'' | '`')).next()?;
    let mut parts = line.splitn(3, ':');
    let (database, user, password) = (parts.next()?, parts.next()?, parts.next()?);
    (!database.is_empty() && !user.is_empty() && !password.is_empty())
        .then_some(start + line.len() - password.len()..start + line.len())
}
