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
            "file" => self.file = text,
            "line" => self.line = text,
            "at" if is_block => {
                for line in block {
                    match line.trim().split_once(':') {
                        Some(("file" | "fileName", value)) => self.file = unquoted(value.trim()),
                        Some(("line" | "lineNumber", value)) => self.line = unquoted(value.trim()),
                        _ => {}
                    }
                }
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
        error.push(&self.stack);
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
