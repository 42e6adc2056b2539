//! The envelope of a SARIF 2.1.0 log.

use serde_json::{Value, json};
use std::fmt::Write as _;

/// Returns a log with a single run of this program.
pub fn sarif_log(rules: &[Value], results: &[Value]) -> Value {
    let driver = json!({
        "name": asterisk_base::PROGRAM, "version": env!("CARGO_PKG_VERSION"), "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "columnKind": "unicodeCodePoints", "results": results }],
    })
}

/// Percent-encodes a path as a URI reference.
pub fn sarif_uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    if path.starts_with('/') { format!("file://{out}") } else { out }
}
