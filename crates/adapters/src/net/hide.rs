//! Redacts secrets in responses, in every form they may be escaped in.

use regex::{Regex, escape};
use serde_json::Value;
use std::fmt::Write as _;

/// Redacts one secret in texts.
#[derive(Clone)]
pub struct SecretRedactor {
    secret: String,
    /// Matches all forms of the secret; `None` if it is too long for a pattern.
    forms: Option<Regex>,
}

impl SecretRedactor {
    /// A redactor for a secret; each character may occur literally, or as JSON or URLs escape it.
    pub fn new(secret: &str) -> Self {
        let mut pattern = String::new();
        for ch in secret.chars() {
            let _ = write!(pattern, "(?:{0}|\\\\{0}", escape(&ch.to_string()));
            pattern += "|(?i:";
            for unit in ch.encode_utf16(&mut [0; 2]) {
                let _ = write!(pattern, "\\\\u{unit:04x}");
            }
            pattern += "|";
            for byte in ch.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(pattern, "%{byte:02x}");
            }
            pattern += "))";
        }
        Self { secret: secret.to_owned(), forms: Regex::new(&pattern).ok() }
    }

    /// The text with the secret redacted.
    pub fn hide(&self, text: &str) -> String {
        match &self.forms {
            Some(forms) => forms.replace_all(text, "(secret)").into_owned(),
            None => text.replace(&self.secret, "(secret)"),
        }
    }
}

/// Redacts all strings and keys of a JSON value.
pub fn hidden(value: Value, hide: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(hide(&text)),
        Value::Array(items) => items.into_iter().map(|item| hidden(item, hide)).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (hide(&name), hidden(value, hide))).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn hide(text: &str, secret: &str) -> String {
        SecretRedactor::new(secret).hide(text)
    }

    #[test]
    fn a_secret_is_hidden_however_it_is_written() {
        let secret = "a\"b/c+d";
        for said in ["a\"b/c+d", "a\\\"b/c+d", "a\\\"b\\/c+d", "a%22b%2Fc%2Bd", "a%22b/c%2bd", "\\u0061\\u0022b\\u002Fc+d"] {
            assert_eq!(hide(&format!("it is {said}."), secret), "it is (secret).");
        }
        assert_eq!(hide("a plain text", secret), "a plain text");
        assert_eq!(hide("a key: gr\\u00fcn, gr%C3%BCn", "grün"), "a key: (secret), (secret)");
        let long = "x".repeat(64 << 10);
        assert_eq!(hide(&format!("{long}y"), &long), "(secret)y");
        let value = hidden(json!({ "x": ["y", { "a\"b/c+d": 1 }] }), &|text| hide(text, secret));
        assert_eq!(value, json!({ "x": ["y", { "(secret)": 1 }] }));
    }
}
