//! What looks like a secret: the one place that decides it, for settings that must not hold one and for texts that must not show one.
//!
//! A secret is known by its own form (`sk-...`, a JSON web token), or by what stands before it: a name that only secrets have, in `NAME: VALUE`,
//! `NAME=VALUE`, `--name VALUE` or the query of an address.

use super::Span;
use regex::Regex;
use std::sync::LazyLock;

/// How a secret was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretForm {
    /// It stands behind a key.
    Key,
    /// It is given to a command as an argument.
    Argument,
    /// It stands in an address.
    Address,
    /// It has the form of one.
    Form,
}

/// What names end in that only secrets have, without the marks between words.
const NAMES: &[&str] = &[
    "apikey",
    "accesskey",
    "authkey",
    "authorization",
    "bearer",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "signingkey",
    "token",
];
/// The same, in the queries of addresses.
const QUERY_NAMES: &[&str] = &["auth", "key", "pass", "pwd", "sig", "signature"];

/// What secrets of known issuers begin with, and the fewest characters that follow.
const FORMS: &str = r"(?x)
    (?: sk- | sk_live_ | sk_test_ | rk_live_ | pk_live_ | gsk_ | xai- | r8_ | hf_ | npm_ | pypi- | dop_v1_ | lin_api_ | shpat_ | glpat- | nvapi-
      | gh[opsur]_ | github_pat_ | xox[abeoprs]- | ya29\. | SG\. | AGE-SECRET-KEY-1 )
    [A-Za-z0-9_.\-]{8,}
  | (?: AKIA | ASIA ) [A-Z0-9]{16}
  | AIza [A-Za-z0-9_\-]{30,}
  | eyJ [A-Za-z0-9_\-]{8,} \. [A-Za-z0-9_\-]{8,} (?: \. [A-Za-z0-9_\-]* )?
  | -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----
";

/// A name with its value: `name: value`, `name=value`, both perhaps in quotes.
const PAIR: &str = r#"(?P<name>[A-Za-z][A-Za-z0-9_.-]*)["']?\s*(?::[ \t]+(?:Bearer\s+)?|=)["']?(?P<value>[^\s"',;&#{}\[\]]+)"#;
/// A flag with its value as the next word, of a command line or a list.
const FLAG: &str = r#"(?P<flag>--?[A-Za-z][A-Za-z0-9_-]*)["']?(?:\s*,\s*|\s*\n\s*-\s+|[ \t]+)["']?(?P<value>[^\s"',;&#{}\[\]-][^\s"',;{}\[\]]*)"#;
/// A user with a password in an address.
const USER: &str = r"[A-Za-z][A-Za-z0-9+.-]*://(?P<value>[^\s/?#@'\x22]+)@";
/// A parameter of an address.
const QUERY: &str = r#"[?&#](?P<name>[A-Za-z][A-Za-z0-9_.-]*)=(?P<value>[^\s"'&#,\]}]+)"#;

struct Patterns {
    forms: Regex,
    pair: Regex,
    flag: Regex,
    user: Regex,
    query: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    let new = |pattern: &str| Regex::new(pattern).ok();
    Some(Patterns { forms: new(FORMS)?, pair: new(PAIR)?, flag: new(FLAG)?, user: new(USER)?, query: new(QUERY)? })
});

/// Whether a name is one that only secrets have: `api_key`, `GITHUB_TOKEN`, `clientSecret`.
pub fn names_secret(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|ch| ch.to_ascii_lowercase()).collect();
    NAMES.iter().any(|ending| plain.ends_with(ending))
}

/// Whether a word has the form of a secret, whatever stands before it.
pub fn looks_secret(word: &str) -> bool {
    let whole = |patterns: &Patterns| patterns.forms.find(word).is_some_and(|found| begins_word(word, found.start()));
    PATTERNS.as_ref().is_some_and(whole) || is_random(word)
}

/// Whether an address has something in it that looks like a secret: a user, a parameter, a part of its path.
pub fn address_tells(url: &str) -> bool {
    // A name without a scheme has no user that the patterns know.
    let host = url.split_once("://").map_or(url, |(_, rest)| rest).split(['/', '?', '#']).next();
    host.is_some_and(|host| host.contains('@')) || !secrets_in(url).is_empty()
}

/// The parts of a text that look like secrets, in their order, and how each was known.
pub fn secrets_in(text: &str) -> Vec<(Span, SecretForm)> {
    let Some(patterns) = PATTERNS.as_ref() else { return Vec::new() };
    let mut found: Vec<(Span, SecretForm)> = Vec::new();
    let mut add = |span: Span, known: SecretForm| {
        if found.iter().all(|(other, _)| span.end <= other.start || other.end <= span.start) {
            found.push((span, known));
        }
    };
    for user in patterns.user.captures_iter(text) {
        if let Some(value) = user.name("value") {
            add(value.range().into(), SecretForm::Address);
        }
    }
    for one in patterns.query.captures_iter(text) {
        if let (Some(name), Some(value)) = (one.name("name"), one.name("value"))
            && is_value(value.as_str())
            && (names_secret(name.as_str()) || QUERY_NAMES.contains(&name.as_str().to_ascii_lowercase().as_str()))
        {
            add(value.range().into(), SecretForm::Address);
        }
    }
    let mut at = 0;
    while let Some(one) = patterns.pair.captures_at(text, at) {
        let (Some(name), Some(value)) = (one.name("name"), one.name("value")) else { break };
        if names_secret(name.as_str()) && is_value(value.as_str()) {
            let argument = text[..name.start()].ends_with('-');
            add(value.range().into(), if argument { SecretForm::Argument } else { SecretForm::Key });
            at = value.end();
        } else {
            // What stands behind may be a name itself.
            at = name.end();
        }
    }
    for one in patterns.flag.captures_iter(text) {
        if let (Some(flag), Some(value)) = (one.name("flag"), one.name("value"))
            && names_secret(flag.as_str())
            && is_value(value.as_str())
            && (flag.start() == 0 || text[..flag.start()].ends_with([' ', '\t', '\'', '"', '[', ',']))
        {
            add(value.range().into(), SecretForm::Argument);
        }
    }
    for one in patterns.forms.find_iter(text).filter(|one| begins_word(text, one.start())) {
        add(one.range().into(), SecretForm::Form);
    }
    let mut start = 0;
    for word in text.split(|ch: char| !is_of_word(ch)) {
        if is_random(word) {
            add((start..start + word.len()).into(), SecretForm::Form);
        }
        start += word.len() + text[start + word.len()..].chars().next().map_or(0, char::len_utf8);
    }
    found.sort_unstable_by_key(|(span, _)| span.start);
    found
}

/// A text with stars in the place of what looks like a secret; all else is where it was.
pub fn starred(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (span, _) in secrets_in(text) {
        out += &text[from..span.start];
        out.extend(std::iter::repeat_n('*', span.len()));
        from = span.end;
    }
    out + &text[from..]
}

fn is_of_word(ch: char) -> bool {
    ch.is_ascii_alphanumeric() || matches!(ch, '+' | '_' | '-')
}

fn begins_word(text: &str, at: usize) -> bool {
    !text[..at].ends_with(|ch: char| ch.is_ascii_alphanumeric() || ch == '_')
}

/// Whether a word can only have been made by chance: long, of letters of both cases and digits, with no order in them.
fn is_random(word: &str) -> bool {
    let count = |of: fn(&u8) -> bool| word.bytes().filter(of).count();
    let few = [count(u8::is_ascii_digit), count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase)].into_iter().min();
    word.len() >= 24 && few.is_some_and(|few| few >= 3) && {
        // Words change from one kind of character to another at their ends alone.
        let kind = |byte: u8| (byte.is_ascii_digit(), byte.is_ascii_uppercase(), byte.is_ascii_lowercase());
        let changes = word.as_bytes().windows(2).filter(|pair| kind(pair[0]) != kind(pair[1])).count();
        changes * 3 >= word.len()
    }
}

/// Whether what stands behind a name is a value, not a place of one, a number, or a word for none.
fn is_value(text: &str) -> bool {
    let word = text.trim_matches(['"', '\'', '`', '(', ')']);
    let none = ["null", "~", "true", "false", "none", "NAME", "..."];
    !(word.is_empty()
        || none.contains(&word)
        || word.starts_with(['$', '<', '%', '*', '|', '>'])
        || word.chars().all(|ch| ch == '*' || ch == '.')
        || (word.len() < 8 && word.parse::<f64>().is_ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        secrets_in(text).into_iter().map(|(span, _)| &text[span.start..span.end]).collect()
    }

    #[test]
    fn secrets_are_known_by_their_names_and_forms() {
        for (text, secret) in [
            ("api_key: hunter2", "hunter2"),
            ("{ ANTHROPIC_API_KEY: \"hunter2\", x: 1 }", "hunter2"),
            ("command: [x, --api-key=hunter2]", "hunter2"),
            ("command: [x, \"--api-key\", \"hunter2\"]", "hunter2"),
            ("command:\n  - x\n  - --token\n  - hunter2\n", "hunter2"),
            ("x -token hunter2 y", "hunter2"),
            ("url: https://h/v1?a=1&key=hunter2", "hunter2"),
            ("https://h/v1#access_token=hunter2", "hunter2"),
            ("https://me:hunter2@h/v1", "me:hunter2"),
            ("env: sk-proj-1234567890", "sk-proj-1234567890"),
            ("header: 'Authorization: Bearer hunter2'", "hunter2"),
            ("x ghp_0123456789abcdef y", "ghp_0123456789abcdef"),
            ("v: AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
            ("v: eyJhbGciOiJIUzI1.eyJzdWIiOiIx.abc", "eyJhbGciOiJIUzI1.eyJzdWIiOiIx.abc"),
            ("v: xY7pQ2mK9vR4tB8nL3wZ6cF1", "xY7pQ2mK9vR4tB8nL3wZ6cF1"),
        ] {
            assert_eq!(found(text), [secret], "{text}");
            let shown = starred(text);
            assert!(!shown.contains(secret) && shown.len() == text.len(), "{shown}");
        }
    }

    #[test]
    fn what_is_no_secret_is_left_alone() {
        for text in [
            "secret: { env: OPENAI_API_KEY }",
            "token: { file: keys/token }",
            "tokens: { in: usage.prompt_tokens, out: usage.completion_tokens }",
            "env: { KEY: { env: NOTES_KEY }, MODE: plain }",
            "command: [claude, -p, --model, opus-4-20260101]",
            "command: [x, --token-file, token, --max-tokens=4096]",
            "api_key: $API_KEY",
            "password:",
            "max_token: 4096",
            "url: https://api.example.com/v1?version=2026-02-14&mode=fast",
            "branch: 0123456789abcdef0123456789abcdef01234567",
            "path: ../MyProject2/InvestigationPipelines2026Final",
            "risk-assessment-of-2026 task-1234567890",
            "poll: 500ms, timeout: 30s",
        ] {
            assert_eq!(found(text), Vec::<&str>::new(), "{text}");
            assert_eq!(starred(text), text);
        }
    }
}
