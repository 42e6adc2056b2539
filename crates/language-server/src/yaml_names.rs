//! The names in YAML files: pipelines, and data.

use super::names::{ANYWHERE, Definition, FileNames, NameKind, ProjectName};
use super::script_names;
use asterisk_diag::{Source, Span};
use asterisk_form::yaml::{self, QuoteStyle, Yaml, YamlEntry, YamlKind};
use asterisk_script::FunctionRef;

/// What the values of a key name.
pub(super) fn named_by(key: &str) -> Option<NameKind> {
    Some(match key {
        "from" | "to" | "targets" | "after" | "fallback" | "nodes" | "start" | "before" => NameKind::Node,
        "floor" | "temperature" | "terms" | "deadline" => NameKind::Var,
        "rule" | "script" | "effect" | "accept" | "report" | "result" | "signatures" | "by" | "merge" | "foreach"
        | "arguments" | "judge" => NameKind::Function,
        "masks" | "scheduler" => NameKind::Script,
        "prompt" => NameKind::Template,
        "pipeline" | "do" => NameKind::Pipeline,
        "undecided" | "defect" => NameKind::Defect,
        "signature" | "not_with" | "with_signature" => NameKind::Signature,
        _ => return None,
    })
}

/// Whether the keys below a key name defects.
pub(super) fn is_by_defect(key: &str) -> bool {
    matches!(key, "for" | "weights" | "priors")
}

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
                    if key.is_some_and(is_by_defect) {
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
        } else if let Some(kind) = named_by(key).filter(|kind| literal && self.names_by(*kind, key, span)) {
            let scope = if matches!(kind, NameKind::Node | NameKind::Var) { self.file } else { "" };
            self.names.mention(ProjectName::new(kind, scope, text), span);
        } else if EXPRESSIONS.contains(&key)
            && let Some(mapped) = yaml::expression(value, self.source)
        {
            script_names::of_expression(&mapped, self.file, self.names);
        }
    }

    /// Whether the value of a key mentions a name of a kind: nodes and vars are those of the pipeline around it, and its own name is a
    /// definition.
    fn names_by(&self, kind: NameKind, key: &str, span: Span) -> bool {
        let in_pipeline = self.file != ANYWHERE;
        match kind {
            NameKind::Node | NameKind::Var => in_pipeline,
            NameKind::Pipeline if key == "pipeline" => {
                in_pipeline && !self.names.definitions.iter().any(|known| known.span == span)
            }
            kind => !matches!(kind, NameKind::Function | NameKind::Script),
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
