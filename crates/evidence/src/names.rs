//! What the lines of a failure name: addresses, files, variables, images, processes, selectors, modules, versions.

use super::lines::EvidenceLine;
use asterisk_base::model::TextPattern;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Values by kind, each once, in the order in which they come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Names(pub BTreeMap<&'static str, Vec<String>>);

/// How many values of a kind are kept.
const MOST: usize = 8;

/// The kinds, and what each holds.
pub const NAME_KINDS: &[(&str, &str)] = &[
    ("address", "a host with a port"),
    ("certificate", "the subject of a certificate"),
    ("exit", "the exit code of a process"),
    ("file", "a file or directory"),
    ("host", "a host without a port, such as one that was looked up"),
    ("image", "an image of a container"),
    ("module", "a module, package or crate that was wanted"),
    ("selector", "a selector or locator of a page"),
    ("signal", "the signal that ended a process"),
    ("status", "a status code of HTTP"),
    ("table", "a table, column or relation"),
    ("url", "an address on the web"),
    ("variable", "an environment variable"),
    ("version", "a version that was wanted or found"),
];

struct NamePattern {
    kind: &'static str,
    words: &'static [&'static str],
    pattern: TextPattern,
}

static PATTERNS: LazyLock<Vec<NamePattern>> = LazyLock::new(|| {
    let all: &[(&'static str, &'static [&'static str], &'static str)] = &[
        ("url", &["://"], r#"\b((?:https?|wss?|grpc|tcp|amqps?|redis|postgres(?:ql)?|mysql|mongodb)://[^\s'"<>)\],;]+)"#),
        (
            "address",
            &[":"],
            r"(?:^|[^\w.:/-])((?:\d{1,3}(?:\.\d{1,3}){3}|localhost|\[[0-9a-f:]+\]|[A-Za-z][\w-]*(?:\.[\w-]+)*\.[a-z]{2,}|(?:[a-z][\w-]*)):\d{2,5})(?:[^\d:.]|: |[:.]?$|\. )",
        ),
        ("address", &["port"], r#"([\w.-]+"?(?: \([\d.]+\))?,? port[ =]\d{2,5})"#),
        (
            "host",
            &["lookup", "getaddrinfo", "resolve", "UnknownHost", "ERR_NAME"],
            r#"(?:lookup|getaddrinfo (?:ENOTFOUND|EAI_AGAIN)|resolve host(?:name)?:?|UnknownHostException:) "?([A-Za-z][\w.-]+)"#,
        ),
        (
            "status",
            &["status", "Status", "HTTP", "Error:", "error:", "code"],
            r"(?:[Ss]tatus(?: code)?(?: of)?[ :=]*|HTTP/?[\d.]* |HTTP [Ee]rror |[Rr]esponse code:? )([1-5]\d\d)\b",
        ),
        (
            "file",
            &["/", "\\"],
            r#"(?:'|"|`|: |\b(?:open|stat|file|directory|path|mkdir|unlink|rename|read|write) )((?:[A-Za-z]:[\\/]|\.{0,2}/)[\w./\\@+~-]{2,})"#,
        ),
        (
            "variable",
            &["nvironment", "env", "KeyError", "not set", "missing", "undefined", "required"],
            r#"(?:environment variable|env(?:ironment)? var(?:iable)?|KeyError:|os\.environ\[)[ :'"`]*([A-Z][A-Z0-9_]{2,})"#,
        ),
        (
            "variable",
            &["not set", "is missing", "undefined", "must be set", "is required", "unset"],
            r#"\b([A-Z][A-Z0-9]*_[A-Z0-9_]{2,})['"`]? (?:is |was |has )?(?:not (?:been )?(?:set|defined|provided)|missing|undefined|required|must be set|unset)"#,
        ),
        (
            "image",
            &["image", "manifest", "pull"],
            r#"(?:image|[Pp]ull(?:ing)?(?: image)?|manifest for)[ :='"]+((?:[\w.-]+(?::\d+)?/)[\w./-]+(?::[\w.-]+)?(?:@sha256:[0-9a-f]+)?|[\w.-]+:[\w.-]+|[\w.-]+@sha256:[0-9a-f]+)"#,
        ),
        ("signal", &["SIG", "signal"], r"\b(SIG[A-Z]{3,6})\b"),
        ("signal", &["signal"], r"\bsignal:? (\d{1,2}|killed|segmentation fault|aborted)\b"),
        (
            "exit",
            &["exit", "Exit", "returned"],
            r"(?:[Ee]xit(?:ed)?(?: with)?(?: (?:code|status|value))?:?|returned(?: code| non-zero exit status)?) (\d{1,3})\b",
        ),
        (
            "selector",
            &["locator", "selector", "element", "Selector", "xpath"],
            r#"(?:locator\(|getBy\w+\(|[Ss]elector[": =]+|waiting for (?:selector )?|Unable to locate element: |css selector, |to find element: )([^\n]{2,120})"#,
        ),
        (
            "module",
            &["odule", "import", "ackage", "crate", "load such", "class"],
            r#"(?:No module named|Cannot find module|cannot load such file --|unresolved import|Cannot find package|Failed to resolve import|cannot find package|no required module provides package|Could not resolve|can't find crate for|NoClassDefFoundError:|ClassNotFoundException:) ['"`]?([\w@./:$-]+)"#,
        ),
        (
            "table",
            &["table", "relation", "column"],
            r#"(?:no such (?:table|column)|[Rr]elation|[Tt]able|[Uu]nknown column|[Cc]olumn)[: ]+['"`]([\w.]+)['"`]|no such (?:table|column): ([\w.]+)"#,
        ),
        (
            "certificate",
            &["certificate", "x509"],
            r"(?:certificate is valid for|certificate for|Host name|hostname) '?([\w.*-]+)",
        ),
        ("version", &["version", "Version"], r"\b[Vv]ersion:? v?(\d+(?:\.\d+)+[\w.-]*)"),
    ];
    all.iter().map(|&(kind, words, pattern)| NamePattern { kind, words, pattern: TextPattern::lazy(pattern) }).collect()
});

/// Finds what lines name.
pub(super) fn find<'a>(lines: impl Iterator<Item = &'a EvidenceLine>) -> Names {
    let mut found = Names::default();
    for line in lines {
        let text = line.text.as_str();
        for pattern in PATTERNS.iter() {
            if !pattern.words.iter().any(|word| text.contains(word)) {
                continue;
            }
            for groups in pattern.pattern.captures_iter(text).take(MOST) {
                let Some(value) = groups.iter().skip(1).flatten().next() else { continue };
                let value = value.as_str().trim_end_matches(['.', ',', ')', '\'', '"']);
                let all = found.0.entry(pattern.kind).or_default();
                if all.len() < MOST && !value.is_empty() && !all.iter().any(|have| have == value) {
                    all.push(value.to_owned());
                }
            }
        }
    }
    found.0.retain(|_, values| !values.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::super::lines::{LineSource, Titles, read};
    use super::*;

    #[track_caller]
    fn names(text: &str, kind: &str, expected: &[&str]) {
        let read = read(text, LineSource::Error, &Titles::new("", ""));
        let found = find(read.lines.iter());
        assert_eq!(found.0.get(kind).map_or(&[][..], Vec::as_slice), expected, "{text}");
    }

    #[test]
    fn the_patterns_compile() {
        assert!(PATTERNS.iter().all(|one| one.pattern.compiles()));
    }

    #[test]
    fn lines_name_things() {
        names("dial tcp 10.0.0.5:5432: connect: connection refused", "address", &["10.0.0.5:5432"]);
        names("Error: getaddrinfo ENOTFOUND api.internal", "host", &["api.internal"]);
        names("GET https://shop.example.com/cart?x=1 failed", "url", &["https://shop.example.com/cart?x=1"]);
        names("unexpected status code: 503", "status", &["503"]);
        names("open '/etc/shop/cart.yaml': no such file or directory", "file", &["/etc/shop/cart.yaml"]);
        names("environment variable SHOP_TOKEN is not set", "variable", &["SHOP_TOKEN"]);
        names("Failed to pull image \"registry.local/shop:1.2\": denied", "image", &["registry.local/shop:1.2"]);
        names("process exited with code 137", "exit", &["137"]);
        names("received SIGKILL", "signal", &["SIGKILL"]);
        names("ModuleNotFoundError: No module named 'shop'", "module", &["shop"]);
        names("ERROR: relation \"carts\" does not exist", "table", &["carts"]);
        names("nothing to name here", "file", &[]);
    }
}
