//! The YAML block below a test point of TAP.

use super::launch_builder::TestRecord;
use super::times;

/// The contents of a YAML block, read key by key; values may be blocks of deeper lines.
#[derive(Debug, Default)]
pub(super) struct TapDiagnostics {
    message: String,
    stack: String,
    pub(super) failure_type: String,
    kind: String,
    /// `expected` and `actual`, verbatim.
    compared: Vec<String>,
    /// A frame, where there is no stack.
    thrown_at: String,
    /// Whether a check is named.
    of_check: bool,
    file: String,
    line: String,
    severity: String,
    pub(super) duration_s: Option<f64>,
    /// The whole block, for those with other keys.
    whole: String,
}

impl TapDiagnostics {
    pub(super) fn read(yaml: &str) -> Self {
        let mut found = Self { whole: yaml.trim_end().to_owned(), ..Self::default() };
        let lines: Vec<&str> = yaml.lines().collect();
        let indent_of = |line: &str| line.len() - line.trim_start().len();
        let base = lines.iter().find(|line| !line.trim().is_empty()).map_or(0, |line| indent_of(line));
        let mut at = 0;
        while at < lines.len() {
            let line = lines[at];
            at += 1;
            let Some((key, value)) = line.trim().split_once(':').filter(|_| indent_of(line) == base) else { continue };
            let from = at;
            while at < lines.len() && (indent_of(lines[at]) > base || lines[at].trim().is_empty()) {
                at += 1;
            }
            let block = &lines[from..at];
            found.set(key.trim_matches(['"', '\'']), value.trim(), block, base + 2);
        }
        found
    }

    fn set(&mut self, key: &str, value: &str, block: &[&str], indent: usize) {
        let is_block = value.is_empty() || value.starts_with(['|', '>']);
        let inner = || block.iter().map(|line| line.get(indent..).unwrap_or(line.trim_start())).collect::<Vec<_>>().join("\n");
        let text = if is_block { inner().trim_end().to_owned() } else { unquoted(value) };
        match key {
            "message" | "error" | "reason" if self.message.is_empty() => self.message = text,
            "stack" | "stacktrace" | "trace" => self.stack = text,
            "failureType" => self.failure_type = text,
            "name" => self.kind = text,
            "code" if self.kind.is_empty() => self.kind = text,
            "severity" => self.severity = text,
            "expected" | "actual" | "wanted" | "found" | "got" => {
                let between = if text.contains('\n') { "\n" } else { " " };
                self.compared.push(format!("{key}:{between}{text}"));
            }
            "duration_ms" => self.duration_s = times::seconds(&text).map(|millis| millis / 1000.0),
            // AVA: titles, each with a value below it.
            "details" => self.compared.extend(details(block)),
            "operator" => self.of_check = true,
            "file" => self.file = text,
            "line" => self.line = text,
            "at" if is_block && !value.starts_with(['|', '>']) => {
                for line in block {
                    match line.trim().split_once(':') {
                        Some(("file" | "fileName", value)) => self.file = unquoted(value.trim()),
                        Some(("line" | "lineNumber", value)) => self.line = unquoted(value.trim()),
                        _ => {}
                    }
                }
            }
            // Where the error was thrown, unless a check says so (tape).
            "at" if !self.of_check => {
                let place = text.split_whitespace().collect::<Vec<_>>().join(" ");
                self.thrown_at = format!("    at {place}");
            }
            "at" | "location" => {
                let mut parts = text.rsplitn(3, ':');
                if let (Some(_), Some(line), Some(file)) = (parts.next(), parts.next(), parts.next()) {
                    (self.file, self.line) = (file.rsplit('(').next().unwrap_or(file).to_owned(), line.to_owned());
                }
            }
            _ => {}
        }
    }

    /// Sets the error, location and attributes of a test.
    pub(super) fn fill(&self, record: &mut TestRecord) {
        let mut error: Vec<&str> = vec![&self.message];
        error.extend(self.compared.iter().map(String::as_str));
        error.push(if self.stack.is_empty() { &self.thrown_at } else { &self.stack });
        error.retain(|text| !text.trim().is_empty());
        record.error = if error.is_empty() { self.whole.clone() } else { error.join("\n") };
        if !self.file.is_empty() {
            record.file = Some(self.file.strip_prefix("file://").unwrap_or(&self.file).to_owned());
        }
        record.set("line", self.line.as_str());
        record.set("failure_type", self.kind.as_str());
        record.set("severity", self.severity.as_str());
    }
}

/// The titles of AVA's details with the values below them. An error is shown as an object: its name and message are put on one line.
fn details(block: &[&str]) -> Vec<String> {
    let indent = block.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let mut found: Vec<String> = Vec::new();
    for line in block {
        let inner = line.get(indent..).unwrap_or_default();
        if let Some((title, value)) = inner.split_once("':").filter(|_| inner.starts_with('\'')) {
            let value = value.trim().trim_start_matches(['|', '>', '-']);
            found.push(format!(
                "{}:{}{}",
                title[1..].trim_end_matches(':'),
                if value.is_empty() { "" } else { " " },
                unquoted(value)
            ));
        } else if let Some(last) = found.last_mut() {
            last.push('\n');
            last.push_str(line.trim());
        }
    }
    for text in &mut found {
        let kind = text.lines().find_map(|line| line.strip_suffix(" {")).filter(|kind| kind.chars().all(char::is_alphanumeric));
        let message = text.lines().find_map(|line| line.strip_prefix("message: '")?.strip_suffix("',"));
        if let (Some(kind), Some(message)) = (kind, message) {
            let line = format!("{kind}: {}\n", message.replace("\\'", "'"));
            text.insert_str(0, &line);
        }
    }
    found
}

/// Removes the quotes of a value.
fn unquoted(value: &str) -> String {
    if let Some(inner) = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return inner.replace("''", "'");
    }
    match value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\"),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(yaml: &str) -> String {
        let mut record = TestRecord::new("", "a test", asterisk_base::model::TestOutcome::Failed);
        TapDiagnostics::read(yaml).fill(&mut record);
        record.error
    }

    #[test]
    fn details_of_ava_are_values_and_errors() {
        let difference = "  name: AssertionError\n  assertion: t.is()\n  details:\n    'Difference (- actual, + expected):': |-\n      - 250\n      + 750\n  message: ''\n  at: >-\n    ExecutionContext.is\n    (file:///x/node_modules/ava/lib/assert.js:309:16)\n";
        assert_eq!(
            error(difference),
            "Difference (- actual, + expected):\n- 250\n+ 750\n    at ExecutionContext.is (file:///x/node_modules/ava/lib/assert.js:309:16)"
        );
        let thrown = "  name: AssertionError\n  details:\n    'Error thrown in test:': |-\n      TypeError {\n        message: 'Cannot read properties of undefined (reading \\'0\\')',\n      }\n  message: Error thrown in test\n  at: 'shoppingList (file:///x/lib/shopping.js:9:52)'\n";
        let found = error(thrown);
        assert!(found.contains("\nTypeError: Cannot read properties of undefined (reading '0')\n"), "{found}");
        assert!(found.ends_with("    at shoppingList (file:///x/lib/shopping.js:9:52)"), "{found}");
    }
}
