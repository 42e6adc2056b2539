//! The names in YAML files: pipelines, and data.

use super::names::{ANYWHERE, Definition, FileNames, NameKind, ProjectName};
use super::script_names;
use asterisk_diag::{Source, Span};
use asterisk_form::yaml::{self, QuoteStyle, Yaml, YamlEntry, YamlKind};
use asterisk_script::FunctionRef;

/// The keys of a pipeline's node whose values are names of nodes.
const OF_NODES: &[&str] = &["from", "to", "targets", "after", "fallback", "nodes", "start", "before"];
/// The keys whose values are expressions.
pub(super) const EXPRESSIONS: &[&str] = &["condition", "foreach", "arguments", "with"];

/// The names of a pipeline; of the last good text where this one cannot be parsed.
pub(super) fn of_pipeline(source: &Source) -> FileNames {
    let Ok(tree) = yaml::parse(source) else { return FileNames::default() };
    let mut names = FileNames { whole: true, ..FileNames::default() };
    let file = source.name();
    let mut reader = YamlNames { source, file, names: &mut names };
    for entry in tree.as_map().unwrap_or_default() {
        match entry.key.as_str() {
            "pipeline" => reader.define(NameKind::Pipeline, "", &entry.value, entry_span(entry), tree.get("description")),
            "vars" => {
                for var in entry.value.as_map().unwrap_or_default() {
                    reader.define_key(NameKind::Var, file, var);
                }
            }
            "nodes" => {
                for node in entry.value.as_list().unwrap_or_default() {
                    reader.item(NameKind::Node, "name", node, "description");
                }
            }
            "edges" => {
                for edge in entry.value.as_list().unwrap_or_default() {
                    reader.item(NameKind::Edge, "id", edge, "name");
                }
            }
            "roots" => {
                for rule in entry.value.as_list().unwrap_or_default() {
                    reader.item(NameKind::Rule, "id", rule, "name");
                }
            }
            "verdict" => {
                for rule in entry.value.get("rules").and_then(Yaml::as_list).unwrap_or_default() {
                    reader.item(NameKind::Rule, "id", rule, "name");
                }
            }
            _ => {}
        }
    }
    reader.walk(&tree, None);
    names
}

/// The names of a data file.
pub(super) fn of_data(source: &Source) -> FileNames {
    let Ok(tree) = yaml::parse(source) else { return FileNames::default() };
    let mut names = FileNames { whole: true, ..FileNames::default() };
    let mut reader = YamlNames { source, file: ANYWHERE, names: &mut names };
    let is_domain = source.name().contains("domains/") || source.name().contains("signatures/");
    for entry in tree.as_map().unwrap_or_default().iter().filter(|_| is_domain) {
        match entry.key.as_str() {
            "signatures" => {
                for one in entry.value.as_list().unwrap_or_default() {
                    reader.item(NameKind::Signature, "id", one, "title");
                }
            }
            "defects" => {
                for one in entry.value.as_map().unwrap_or_default() {
                    reader.define_key(NameKind::Defect, "", one);
                }
            }
            _ => {}
        }
    }
    reader.walk(&tree, None);
    names
}

/// From the key to the end of the value.
fn entry_span(entry: &YamlEntry) -> Span {
    Span::new(entry.key.span.start, entry.value.span.end.max(entry.key.span.end))
}

struct YamlNames<'a> {
    source: &'a Source,
    /// The scope of nodes, edges and vars.
    file: &'a str,
    names: &'a mut FileNames,
}

impl YamlNames<'_> {
    fn define(&mut self, kind: NameKind, scope: &str, value: &Yaml, whole: Span, doc: Option<&Yaml>) {
        let Some(text) = value.text() else { return };
        self.names.define(Definition {
            name: ProjectName::new(kind, scope, text.value.as_str()),
            span: inner(value),
            whole,
            doc: doc.and_then(Yaml::as_text).unwrap_or_default().to_owned(),
            detail: self.detail(whole),
            parameters: Vec::new(),
            private: false,
        });
    }

    /// A definition by the key of an entry.
    fn define_key(&mut self, kind: NameKind, scope: &str, entry: &YamlEntry) {
        let whole = entry_span(entry);
        let doc = entry.value.get("doc").or_else(|| entry.value.get("means")).and_then(Yaml::as_text);
        self.names.define(Definition {
            name: ProjectName::new(kind, scope, entry.key.as_str()),
            span: key_span(self.source, entry),
            whole,
            doc: doc.unwrap_or_default().to_owned(),
            detail: self.detail(whole),
            parameters: Vec::new(),
            private: false,
        });
    }

    /// A definition by a key of a list's item.
    fn item(&mut self, kind: NameKind, key: &str, item: &Yaml, doc: &str) {
        let scope = if kind == NameKind::Signature { "" } else { self.file };
        if let Some(value) = item.get(key) {
            self.define(kind, scope, value, item.span, item.get(doc));
        }
    }

    /// What is written, as one line.
    fn detail(&self, whole: Span) -> String {
        let line = self.source.slice(whole).split_whitespace().collect::<Vec<_>>().join(" ");
        if line.chars().count() <= 160 { line } else { line.chars().take(159).chain(['…']).collect() }
    }

    /// Finds what is mentioned below a value.
    fn walk(&mut self, value: &Yaml, key: Option<&str>) {
        match &value.kind {
            YamlKind::List(items) => items.iter().for_each(|item| self.walk(item, key)),
            YamlKind::Map(entries) => {
                for entry in entries {
                    if matches!(key, Some("for" | "weights" | "priors")) {
                        self.names
                            .mention(ProjectName::new(NameKind::Defect, "", entry.key.as_str()), key_span(self.source, entry));
                    }
                    self.walk(&entry.value, Some(&entry.key));
                }
            }
            YamlKind::Text(text) if text.style != QuoteStyle::Alias => self.text(value, &text.value, key),
            _ => {}
        }
    }

    fn text(&mut self, value: &Yaml, text: &str, key: Option<&str>) {
        let span = inner(value);
        // Only where what is written is what is meant.
        let literal = self.source.slice(span) == text;
        if let Ok(function) = FunctionRef::parse(text)
            && literal
        {
            self.names.mention(
                ProjectName::new(NameKind::Function, function.file.as_str(), function.function.as_str()),
                Span::new(span.end - function.function.len(), span.end),
            );
            self.names.mention(
                ProjectName::new(NameKind::Script, "", function.file.as_str()),
                Span::new(span.start, span.start + function.file.len()),
            );
            return;
        }
        let key = key.unwrap_or_default();
        if literal && text.ends_with(".rhai") {
            self.names.mention(ProjectName::new(NameKind::Script, "", text), span);
        } else if literal && key == "prompt" {
            self.names.mention(ProjectName::new(NameKind::Template, "", text), span);
        } else if literal && key == "pipeline" && self.file != ANYWHERE {
            // The file's own name is a definition.
            if !self.names.definitions.iter().any(|known| known.span == span) {
                self.names.mention(ProjectName::new(NameKind::Pipeline, "", text), span);
            }
        } else if literal && key == "do" {
            self.names.mention(ProjectName::new(NameKind::Pipeline, "", text), span);
        } else if literal && self.file != ANYWHERE && OF_NODES.contains(&key) {
            self.names.mention(ProjectName::new(NameKind::Node, self.file, text), span);
        } else if literal && self.file != ANYWHERE && ["floor", "temperature", "terms", "deadline"].contains(&key) {
            self.names.mention(ProjectName::new(NameKind::Var, self.file, text), span);
        } else if literal && ["undecided", "defect"].contains(&key) {
            self.names.mention(ProjectName::new(NameKind::Defect, "", text), span);
        } else if literal && ["signature", "not_with", "with_signature"].contains(&key) {
            self.names.mention(ProjectName::new(NameKind::Signature, "", text), span);
        } else if EXPRESSIONS.contains(&key)
            && let Some(mapped) = yaml::expression(value, self.source)
        {
            script_names::of_expression(&mapped, self.file, self.names);
        }
    }
}

/// The span of a text without its quotes.
fn inner(value: &Yaml) -> Span {
    match &value.kind {
        YamlKind::Text(text) if matches!(text.style, QuoteStyle::Single | QuoteStyle::Double) && value.span.len() >= 2 => {
            Span::new(value.span.start + 1, value.span.end - 1)
        }
        _ => value.span,
    }
}

/// The span of a key without its quotes.
fn key_span(source: &Source, entry: &YamlEntry) -> Span {
    let span = entry.key.span;
    let quoted = source.slice(span).starts_with(['"', '\'']) && span.len() >= 2;
    if quoted { Span::new(span.start + 1, span.end - 1) } else { span }
}
