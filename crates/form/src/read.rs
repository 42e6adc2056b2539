//! Reads a file according to its form: reports all errors in one pass and returns the valid values as JSON.

use super::spanned::Spanned;
use super::table::{Form, MayBeEmpty, Requirement, ValueForm};
use super::yaml::{Yaml, YamlEntry, YamlKind, YamlReader};
use asterisk_diag::{Diagnostics, Source, Span};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Compiles patterns with the regex engine that will run them.
pub trait ReadPattern: Sized {
    /// Compiles a pattern. An error is a message and the span within the pattern.
    fn read_pattern(text: &str) -> Result<Self, (String, Span)>;
    /// The number of capture groups.
    fn groups(&self) -> usize;
}

/// For files without patterns: accepts any text.
impl ReadPattern for () {
    fn read_pattern(_: &str) -> Result<Self, (String, Span)> {
        Ok(())
    }

    fn groups(&self) -> usize {
        usize::MAX
    }
}

/// A reference by name to an entry elsewhere in the file.
#[derive(Clone, Debug)]
pub struct EntryReference {
    /// The top-level key that holds the referenced entry.
    pub to: &'static str,
    /// The referenced name.
    pub name: Spanned<String>,
    /// A description of the referrer: `` `category` of signature `x` ``.
    pub by: String,
}

/// A compiled pattern and the list that contains it.
#[derive(Clone, Debug)]
pub struct ListedPattern<P> {
    /// The pattern as written.
    pub text: Spanned<String>,
    /// The compiled pattern.
    pub pattern: P,
    /// A description of the containing list: `` `patterns` of component `x` ``.
    pub of: String,
}

/// Reads one file and collects its diagnostics.
pub struct FormReader<'a, P = ()> {
    /// Reads values and collects errors.
    pub reader: YamlReader<'a>,
    /// References found in the file.
    pub references: Vec<EntryReference>,
    /// Patterns found in the file.
    pub patterns: Vec<ListedPattern<P>>,
}

impl<'a, P: ReadPattern> FormReader<'a, P> {
    /// Starts reading a file; error codes start with `area`.
    pub fn new(source: &'a Source, area: &'static str) -> Self {
        Self { reader: YamlReader::new(source, area), references: Vec::new(), patterns: Vec::new() }
    }

    /// Reads the whole file. Required keys present in `base` may be omitted.
    pub fn file(&mut self, yaml: &Yaml, form: &'static Form, base: Option<&Value>) -> Value {
        self.map(yaml, form, form.what, base, true).unwrap_or_else(|| json!({}))
    }

    /// Reads a fragment of a file, called `what` in messages.
    pub fn part(&mut self, yaml: &Yaml, form: &'static Form, what: &str) -> Option<Value> {
        self.map(yaml, form, what, None, false)
    }

    /// Returns the diagnostics.
    pub fn finish(self) -> Diagnostics {
        self.reader.finish()
    }

    fn map(&mut self, yaml: &Yaml, form: &'static Form, what: &str, base: Option<&Value>, top: bool) -> Option<Value> {
        let fields = self.reader.map(yaml, what)?;
        self.reader.known_keys(fields, what, &form.names(), form.later);
        let mut out = Map::new();
        for YamlEntry { key: name, value } in fields.entries() {
            let Some(key) = form.key(name) else { continue };
            if value.is_null() && form.skips_empty(key) {
                continue;
            }
            let below = base.and_then(|base| base.get(key.name));
            if let Requirement::Named(code, message) | Requirement::Sometimes(code, message) = key.required
                && blank(value)
            {
                let error = self.reader.error(code, message, value.span, "nothing here");
                self.reader.push(error);
                continue;
            }
            let what = if top { format!("`{name}`") } else { format!("`{name}` of {what}") };
            if let Some(value) = self.value(value, &key.holds, &what, below) {
                out.insert(key.name.to_owned(), value);
            }
        }
        for key in form.keys.iter().filter(|key| fields.entry(key.name).is_none()) {
            let place = yaml.head(self.reader.source());
            let error = match key.required {
                Requirement::Named(code, message) => {
                    let error = self.reader.error(code, message, place, format!("no `{}` here", key.name));
                    error.help(format!("add the key `{}`", key.name))
                }
                Requirement::Required if base.and_then(|base| base.get(key.name)).is_none() => {
                    let message = format!("{what} needs `{}`", key.name);
                    let error = self.reader.error("missing-key", message, place, "add it here");
                    error.help(format!("`{}`: {}", key.name, key.doc))
                }
                _ => continue,
            };
            self.reader.push(error);
        }
        Some(Value::Object(out))
    }

    fn value(&mut self, yaml: &Yaml, holds: &'static ValueForm, what: &str, base: Option<&Value>) -> Option<Value> {
        match holds {
            ValueForm::Any | ValueForm::Custom(_) => Some(yaml.to_json()),
            ValueForm::Hidden(_) if yaml.as_map().is_none() => None,
            ValueForm::Label | ValueForm::Reference if blank(yaml) => None,
            ValueForm::Text | ValueForm::Label | ValueForm::Reference | ValueForm::Matching(_) | ValueForm::Script => {
                self.reader.text(yaml, what).map(|text| json!(text.value))
            }
            ValueForm::Expression => self.reader.expression(yaml, what).map(|text| json!(text.text())),
            ValueForm::Distinct(code) => self.distinct(yaml, code, what),
            ValueForm::FirstMatching(forms) => {
                let form = forms.iter().find(|form| fits(yaml, form)).or(forms.last())?;
                self.value(yaml, form, what, base)
            }
            ValueForm::Bool => self.reader.bool(yaml, what).map(Value::from),
            ValueForm::Number(least, most) => self.number(yaml, what, *least, *most),
            ValueForm::Whole(least, most) => self.reader.int(yaml, what, &(*least..=*most)).map(Value::from),
            ValueForm::Word(words) => {
                let words: Vec<(&str, &str)> = words.iter().map(|word| (*word, *word)).collect();
                self.reader.one_of(yaml, what, &words).map(Value::from)
            }
            ValueForm::Pattern(groups) => self.pattern(yaml, *groups, what).map(Value::from),
            ValueForm::Name(to) => {
                let name = self.reader.text(yaml, what)?;
                self.references.push(EntryReference { to, name: name.clone(), by: what.to_owned() });
                Some(json!(name.value))
            }
            ValueForm::List(item) | ValueForm::NonEmptyList(item) => {
                let items = self.reader.list(yaml, what)?;
                Some(items.iter().filter_map(|yaml| self.value(yaml, item, &format!("an item of {what}"), None)).collect())
            }
            ValueForm::Records(form, id) => self.records(yaml, form, id, what, base),
            ValueForm::Entries(item) => {
                let fields = self.reader.map(yaml, what)?;
                let mut out = Map::new();
                for YamlEntry { key: name, value } in fields.entries() {
                    if name.trim().is_empty() {
                        let error = self.reader.error("empty", format!("a name in {what} is empty"), name.span, "");
                        self.reader.push(error);
                        continue;
                    }
                    let below = base.and_then(|base| base.get(name.as_str()));
                    let what = match item {
                        ValueForm::Map(form) => format!("{} `{name}`", bare(form.what)),
                        _ => format!("`{name}` of {what}"),
                    };
                    // A bare name is an entry without settings.
                    let value = match (&value.is_null(), item) {
                        (true, ValueForm::Map(form)) if form.empty == MayBeEmpty::AllButTexts => {
                            let empty = Yaml { span: name.span, kind: YamlKind::Map(Vec::new()) };
                            self.map(&empty, form, &what, below, false)
                        }
                        _ => self.value(value, item, &what, below),
                    };
                    if let Some(value) = value {
                        out.insert(name.value.clone(), value);
                    }
                }
                Some(Value::Object(out))
            }
            ValueForm::Map(form) | ValueForm::Hidden(form) => {
                let what = if what.starts_with("an item") { of_item(yaml, form) } else { what.to_owned() };
                self.map(yaml, form, &what, base, false)
            }
        }
    }

    fn number(&mut self, yaml: &Yaml, what: &str, least: f64, most: f64) -> Option<Value> {
        let number = self.reader.number(yaml, what)?;
        if (least..=most).contains(&number) {
            return Some(yaml.to_json());
        }
        let wanted = if most >= f64::MAX { format!("{least} or more") } else { format!("from {least} to {most}") };
        let message = format!("{what} must be {wanted}, not {number}");
        let error = self.reader.error("range", message, yaml.span, "");
        self.reader.push(error);
        None
    }

    /// Reads a list of maps with unique ids.
    fn records(&mut self, yaml: &Yaml, form: &'static Form, id: &'static str, what: &str, base: Option<&Value>) -> Option<Value> {
        let items = self.reader.list(yaml, what)?;
        let mut seen: BTreeMap<String, Span> = BTreeMap::new();
        let mut out = Vec::new();
        for item in items {
            let name = item.get(id).and_then(|yaml| Some(Spanned::new(yaml.as_text()?.to_owned(), yaml.span)));
            let what = name.as_ref().map_or_else(|| form.what.to_owned(), |name| format!("{} `{name}`", bare(form.what)));
            if let Some(name) = name.clone() {
                if let Some(first) = seen.get(&name.value) {
                    let message = format!("duplicate {what}");
                    let error = self.reader.error("duplicate", message, name.span, "again here");
                    let error = error.label(self.reader.source(), *first, "first here");
                    self.reader.push(error.help(format!("give each its own `{id}`, or merge them")));
                }
                seen.entry(name.value).or_insert(name.span);
            }
            let known = |base: &&Value| name.as_ref().is_some_and(|name| base[id] == json!(name.value));
            let below = base.and_then(Value::as_array).and_then(|list| list.iter().find(known));
            out.extend(self.map(item, form, &what, below, false));
        }
        Some(Value::Array(out))
    }

    /// Reads a list of distinct strings.
    fn distinct(&mut self, yaml: &Yaml, code: &str, what: &str) -> Option<Value> {
        let list = self.reader.texts(yaml, what)?;
        for (index, item) in list.iter().enumerate() {
            let Some(first) = list[..index].iter().find(|first| first.value == item.value) else { continue };
            let error = self.reader.error(code, format!("{what} lists `{item}` twice"), item.span, "again here");
            let error = error.label(self.reader.source(), first.span, "first here");
            self.reader.push(error);
        }
        Some(list.into_iter().map(|item| item.value).collect())
    }

    fn pattern(&mut self, yaml: &Yaml, groups: usize, what: &str) -> Option<String> {
        let text = self.reader.text(yaml, what)?;
        match P::read_pattern(&text) {
            Err((message, span)) => {
                let place = yaml.mapped(self.reader.source()).map_or(yaml.span, |mapped| mapped.locate(span));
                let title = format!("{what} is not a regular expression");
                let error = self.reader.error("bad-pattern", title, place, message);
                let help = "put a `\\` before a literal special character: `\\(`, `\\[`, `\\.`; look-around is not supported";
                self.reader.push(error.help(help));
                None
            }
            Ok(pattern) if pattern.groups() < groups => {
                let message = format!("{what} has no group");
                let error = self.reader.error("no-group", message, text.span, "captures nothing");
                self.reader.push(error.help("put parentheses around the part to capture"));
                None
            }
            Ok(pattern) => {
                let of = what.strip_prefix("an item of ").unwrap_or(what).to_owned();
                self.patterns.push(ListedPattern { text: text.clone(), pattern, of });
                Some(text.value)
            }
        }
    }
}

/// Whether a value is null or a blank string.
fn blank(yaml: &Yaml) -> bool {
    yaml.is_null() || yaml.as_text().is_some_and(|text| text.trim().is_empty())
}

/// Whether the YAML type of a value matches the form.
fn fits(yaml: &Yaml, form: &ValueForm) -> bool {
    match form {
        ValueForm::List(_) | ValueForm::NonEmptyList(_) | ValueForm::Distinct(_) | ValueForm::Records(..) => {
            yaml.as_list().is_some()
        }
        ValueForm::Map(_) | ValueForm::Hidden(_) | ValueForm::Entries(_) => yaml.as_map().is_some(),
        ValueForm::Script => yaml.as_text().is_some_and(|text| text.contains(".rhai#")),
        ValueForm::Text | ValueForm::Word(_) | ValueForm::Expression => yaml.as_text().is_some(),
        ValueForm::Bool => matches!(yaml.kind, YamlKind::Bool(_)),
        ValueForm::Number(..) | ValueForm::Whole(..) => matches!(yaml.kind, YamlKind::Int(_) | YamlKind::Float(_)),
        _ => true,
    }
}

/// The description of a list item in messages: by its id, if it has one.
fn of_item(yaml: &Yaml, form: &Form) -> String {
    let name = form.id.and_then(|id| yaml.get(id)?.as_text()).filter(|name| !name.trim().is_empty());
    name.map_or_else(|| form.what.to_owned(), |name| format!("{} `{name}`", bare(form.what)))
}

/// Strips the article of a noun.
fn bare(what: &str) -> &str {
    what.strip_prefix("a ").or_else(|| what.strip_prefix("an ")).unwrap_or(what)
}

/// Fills absent keys of a form with the empty value of their type, at any depth, so that scripts need not check for them.
pub fn fill(value: &mut Value, form: &'static Form) {
    let Some(map) = value.as_object_mut() else { return };
    for key in form.keys {
        let slot = map.entry(key.name).or_insert_with(|| empty(&key.holds));
        fill_below(slot, &key.holds);
    }
}

fn fill_below(value: &mut Value, holds: &'static ValueForm) {
    match holds {
        ValueForm::Map(form) => fill(value, form),
        ValueForm::Records(form, _) => value.as_array_mut().into_iter().flatten().for_each(|item| fill(item, form)),
        ValueForm::List(item) => value.as_array_mut().into_iter().flatten().for_each(|value| fill_below(value, item)),
        ValueForm::Entries(item) => value.as_object_mut().into_iter().flatten().for_each(|(_, value)| fill_below(value, item)),
        _ => {}
    }
}

fn empty(holds: &ValueForm) -> Value {
    match holds {
        ValueForm::Bool => Value::Bool(false),
        ValueForm::Number(least, _) => json!(least),
        ValueForm::Whole(least, _) => json!(least),
        ValueForm::List(_) | ValueForm::NonEmptyList(_) | ValueForm::Distinct(_) | ValueForm::Records(..) => json!([]),
        ValueForm::Entries(_) | ValueForm::Map(_) | ValueForm::Hidden(_) => json!({}),
        ValueForm::Any | ValueForm::Custom(_) => Value::Null,
        ValueForm::FirstMatching(forms) => forms.last().map_or(Value::Null, empty),
        _ => json!(""),
    }
}
