//! What secrets are called, and what stands behind such a name without being one.

/// How much a name reveals about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NameStrength {
    /// Other things are called so too: only a value that looks random is a secret.
    Hint,
    /// Often a secret: the value must not be a word, a number or a name.
    Likely,
    /// Always a secret.
    Always,
}

/// Endings of names, without marks between words and in lower case, with their meaning.
const ENDINGS: &[(&str, NameStrength)] = &[
    ("password", NameStrength::Always),
    ("passwd", NameStrength::Always),
    ("passphrase", NameStrength::Always),
    ("passcode", NameStrength::Always),
    ("passwort", NameStrength::Always),
    ("pwd", NameStrength::Always),
    ("mysqlpass", NameStrength::Always),
    ("dbpass", NameStrength::Always),
    ("userpass", NameStrength::Always),
    ("authpass", NameStrength::Always),
    ("smtppass", NameStrength::Always),
    ("apikey", NameStrength::Always),
    ("accesskey", NameStrength::Always),
    ("authkey", NameStrength::Always),
    ("accountkey", NameStrength::Always),
    ("sharedkey", NameStrength::Always),
    ("sharedaccesskey", NameStrength::Always),
    ("subscriptionkey", NameStrength::Always),
    ("licensekey", NameStrength::Always),
    ("privatekey", NameStrength::Always),
    ("signingkey", NameStrength::Always),
    ("encryptionkey", NameStrength::Always),
    ("masterkey", NameStrength::Always),
    ("secretkey", NameStrength::Always),
    ("secretkeybase", NameStrength::Always),
    ("appkey", NameStrength::Always),
    ("consumerkey", NameStrength::Always),
    ("deploykey", NameStrength::Always),
    ("hmackey", NameStrength::Always),
    ("instrumentationkey", NameStrength::Always),
    ("serverkey", NameStrength::Always),
    ("psk", NameStrength::Always),
    ("ssn", NameStrength::Always),
    ("presharedkey", NameStrength::Always),
    ("clientsecret", NameStrength::Always),
    ("appsecret", NameStrength::Always),
    ("webhooksecret", NameStrength::Always),
    ("jwtsecret", NameStrength::Always),
    ("accesstoken", NameStrength::Always),
    ("authtoken", NameStrength::Always),
    ("bearertoken", NameStrength::Always),
    ("refreshtoken", NameStrength::Always),
    ("sessiontoken", NameStrength::Always),
    ("securitytoken", NameStrength::Always),
    ("privatetoken", NameStrength::Always),
    ("jobtoken", NameStrength::Always),
    ("apitoken", NameStrength::Always),
    ("idtoken", NameStrength::Always),
    ("authorization", NameStrength::Always),
    ("bearer", NameStrength::Always),
    ("jsessionid", NameStrength::Always),
    ("phpsessid", NameStrength::Always),
    ("sessid", NameStrength::Always),
    ("mnemonic", NameStrength::Always),
    ("seedphrase", NameStrength::Always),
    ("credential", NameStrength::Likely),
    ("credentials", NameStrength::Likely),
    ("secret", NameStrength::Likely),
    ("token", NameStrength::Likely),
    ("connectionstring", NameStrength::Likely),
    ("cookie", NameStrength::Likely),
    ("session", NameStrength::Hint),
    ("sessionid", NameStrength::Hint),
    ("pass", NameStrength::Hint),
    ("otp", NameStrength::Likely),
    ("signature", NameStrength::Hint),
    ("auth", NameStrength::Hint),
    ("keydata", NameStrength::Hint),
    ("key", NameStrength::Hint),
    ("salt", NameStrength::Hint),
    ("sig", NameStrength::Hint),
    ("webhook", NameStrength::Hint),
    ("crumb", NameStrength::Hint),
    ("pat", NameStrength::Hint),
    ("csrf", NameStrength::Hint),
    ("xsrf", NameStrength::Hint),
];

/// The words that names of secrets have in them; without any of them, a text cannot name a secret.
pub(super) const STEMS: &[&str] = &[
    "passw",
    "passphrase",
    "passcode",
    "pass",
    "pwd",
    "key",
    "token",
    "secret",
    "credential",
    "auth",
    "bearer",
    "session",
    "sessid",
    "cookie",
    "mnemonic",
    "phrase",
    "connection",
    "otp",
    "signature",
    "salt",
    "sig",
    "webhook",
    "crumb",
    "csrf",
    "xsrf",
    "pat",
    "psk",
    "ssn",
];

/// Names of parameters that are secrets in addresses, in addition to the endings above.
pub(super) const QUERY_NAMES: &[&str] =
    &["auth", "key", "pass", "pwd", "sig", "signature", "code", "hash", "session", "ticket", "assertion", "samlresponse", "jwt"];

/// How strongly a name indicates a secret; `None` if it does not.
pub(super) fn strength_of(name: &str) -> Option<NameStrength> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|ch| ch.to_ascii_lowercase()).collect();
    let plain = plain.trim_end_matches(|ch: char| ch.is_ascii_digit());
    let known = ENDINGS.iter().filter(|(ending, _)| plain.ends_with(ending));
    let (ending, strength) = known.max_by_key(|(ending, _)| ending.len())?;
    // `GITHUB_TOKEN`, `client-secret`: the owner is part of the name, unlike in names of parsers and schemas, such as `newToken`.
    let before = &plain[..plain.len() - ending.len()];
    let scoped =
        matches!(*ending, "token" | "secret" | "pass") && name.contains(['_', '-', '.']) && !PLAIN_SCOPES.contains(&before);
    // A variable of an environment: `STRIPE_KEY`, `AZURE_PAT`.
    let is_variable = before.len() > 1 && name.contains('_') && !name.bytes().any(|byte| byte.is_ascii_lowercase());
    Some(match *ending {
        _ if scoped => NameStrength::Always,
        "pat" | "auth" | "credential" | "credentials" if is_variable => NameStrength::Always,
        "key" if is_variable => NameStrength::Likely,
        _ => *strength,
    })
}

/// What stands before `token` in the names of parsers and of web pages.
const PLAIN_SCOPES: &[&str] = &[
    "next",
    "last",
    "first",
    "prev",
    "previous",
    "current",
    "unexpected",
    "expected",
    "end",
    "start",
    "page",
    "nextpage",
    "continuation",
    "k8s",
    "cancellation",
];

/// Words for a missing value, or for its type.
const NO_VALUES: &[&str] = &[
    "null",
    "~",
    "true",
    "false",
    "none",
    "nil",
    "undefined",
    "unset",
    "empty",
    "missing",
    "required",
    "optional",
    "invalid",
    "string",
    "str",
    "text",
    "bytes",
    "boolean",
    "bool",
    "number",
    "integer",
    "int",
    "u8",
    "u16",
    "u32",
    "u64",
    "i8",
    "i16",
    "i32",
    "i64",
    "f32",
    "f64",
    "usize",
    "object",
    "array",
    "any",
    "map",
    "list",
    "redacted",
    "masked",
    "hidden",
    "filtered",
    "secret",
    "n/a",
    "name",
    "...",
    "default",
    "yes",
    "no",
    "not",
    "include",
    "omit",
    "same-origin",
    "varchar",
    "basic",
    "bearer",
    "process.env",
    "os.environ",
    "unknown",
    "changed",
    "ok",
    "failed",
    "error",
    "expired",
    "mismatch",
];

/// Words that only sentences have.
const PROSE: &[&str] = &[
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "must",
    "should",
    "shall",
    "may",
    "can",
    "cannot",
    "can't",
    "could",
    "not",
    "no",
    "the",
    "a",
    "an",
    "of",
    "to",
    "for",
    "from",
    "with",
    "without",
    "and",
    "or",
    "but",
    "does",
    "did",
    "do",
    "has",
    "have",
    "had",
    "in",
    "on",
    "at",
    "by",
    "as",
    "if",
    "when",
    "this",
    "that",
    "than",
    "least",
    "too",
    "your",
    "you",
    "we",
    "it",
    "its",
    "invalid",
    "wrong",
    "incorrect",
    "expected",
    "missing",
    "empty",
    "required",
    "failed",
    "found",
    "match",
    "matches",
    "field",
    "cannot",
    "contains",
    "unexpected",
];

/// Whether a text is a sentence or a part of one.
pub(super) fn is_prose(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let telling = words.clone().any(|word| {
        let word = word.trim_matches(|ch: char| ch.is_ascii_punctuation());
        PROSE.iter().any(|known| known.eq_ignore_ascii_case(word))
    });
    telling && words.all(|word| !has_digit_and_letter(word))
}

/// Whether a value is a place of one, or a word for none.
pub(super) fn is_placeholder(value: &str) -> bool {
    let word = value.trim_matches(|ch: char| matches!(ch, '"' | '\'' | '`' | '(' | ')' | '[' | ']' | ',' | ';' | '.' | ':'));
    let lower = word.to_ascii_lowercase();
    let is_name =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    let variable = |open: &str| word.strip_prefix(open).is_some_and(|rest| is_name(rest.trim_end_matches(['}', ')', '%', '@'])));
    word.is_empty()
        || NO_VALUES.contains(&lower.as_str())
        || word.starts_with("${")
        || word.starts_with("$(")
        || word.starts_with("{{")
        || word.starts_with('<')
        || word.starts_with('{')
        || (word.starts_with('%') && word.len() <= 3)
        || (word.len() > 2 && word.starts_with('%') && word.ends_with('%'))
        || variable("$")
        || lower.starts_with("process.env")
        || lower.starts_with("os.environ")
        || lower.starts_with("secrets.")
        || lower.starts_with("env.")
        || word.bytes().all(|byte| matches!(byte, b'*' | b'.' | b'x' | b'X' | b'-' | b'_' | b'#' | b'=' | b'>' | b'|' | b'?'))
}

/// Whether a value is likely to be a secret though its name alone does not say so.
pub(super) fn is_likely(value: &str) -> bool {
    let is_path = value.contains("://") || value.starts_with(['/', '.', '~', '\\']) || value.get(1..3) == Some(":\\");
    let is_call = value.contains("::") || value.contains("()") || value.contains('@');
    (value.len() >= 6 && has_digit_and_letter(value) && !is_path && !is_call && !is_kebab(value))
        || (value.len() >= 16
            && value.bytes().any(|byte| byte.is_ascii_uppercase())
            && !is_path
            && !is_call
            && changes(value) * 4 >= value.len())
        || is_random(value, 16)
}

/// Whether it is words with numbers between them, as names of things are: `db-creds-v2`, `user_42`, `Token3`.
fn is_kebab(value: &str) -> bool {
    let word = |part: &str| {
        let letters = part.trim_end_matches(|ch: char| ch.is_ascii_digit());
        letters.bytes().all(|byte| byte.is_ascii_alphabetic()) && part.len() - letters.len() <= 4 && part.len() <= 14
    };
    !is_uuid(value) && value.split(['-', '_', '.', '/', ':']).all(word)
}

fn is_uuid(value: &str) -> bool {
    value.len() == 36
        && value.split('-').map(str::len).eq([8, 4, 4, 4, 12])
        && value.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

fn has_digit_and_letter(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit()) && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// How often neighbours are of different kinds: words change from one kind of character to another at their ends alone.
fn changes(text: &str) -> usize {
    let kind = |byte: u8| (byte.is_ascii_digit(), byte.is_ascii_uppercase(), byte.is_ascii_lowercase());
    text.as_bytes().windows(2).filter(|pair| kind(pair[0]) != kind(pair[1])).count()
}

/// Whether a word can only have been made by chance: of letters of both cases and digits with no order in them, at least `least` of them,
/// or 32 and more hexadecimal digits.
pub(super) fn is_random(word: &str, least: usize) -> bool {
    if word.len() < least {
        return false;
    }
    let count = |of: fn(&u8) -> bool| word.bytes().filter(of).count();
    let [digits, upper, lower] = [count(u8::is_ascii_digit), count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase)];
    let few = digits.min(upper).min(lower);
    let is_hex = word.len() >= 32 && digits >= 6 && word.len() - digits >= 4 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex || is_mixed(word, least, few)
}

/// As [`is_random`], without hexadecimal digits, which are hashes where no name says more.
pub(super) fn is_mixed_random(word: &str, least: usize) -> bool {
    let count = |of: fn(&u8) -> bool| word.bytes().filter(of).count();
    is_mixed(word, least, count(u8::is_ascii_digit).min(count(u8::is_ascii_uppercase)).min(count(u8::is_ascii_lowercase)))
}

fn is_mixed(word: &str, least: usize, few: usize) -> bool {
    word.len() >= least && few >= if least < 24 { 2 } else { 3 } && changes(word) * 3 >= word.len()
}

/// Whether a value behind a name that only hints at secrets is one. Keys of caches and maps are hashes.
pub(super) fn is_random_value(name: &str, value: &str) -> bool {
    if name.to_ascii_lowercase().ends_with("key") { is_mixed_random(value, 16) } else { is_random(value, 16) }
}

/// The name of a secret with something behind it: `password_hash` is of `password`.
pub(super) fn continued(name: &str) -> Option<&str> {
    let lower = name.to_ascii_lowercase();
    let end = ["password", "passwd", "token", "secret", "credentials", "apikey", "api_key", "privatekey", "private_key"]
        .iter()
        .filter_map(|stem| lower.find(stem).map(|at| at + stem.len()))
        .max()?;
    (end < name.len()).then(|| &name[..end])
}
