//! Reading a data file by its form: everything that is wrong is found at once, and what is right comes back as JSON.

use super::{Form, FormKey, ValueForm};
use crate::diag::{Diagnostics, Source};
use crate::pipeline::Spanned;
use crate::pipeline::yaml::{Yaml, YamlEntry, YamlReader};
use crate::script::Pattern;
use serde_json::{Map, Value, json};

/// A name that refers to an entry elsewhere in the file.
#[derive(Clone, Debug)]
pub(in crate::project) struct EntryReference {
    /// The key at the top whose entry it means.
    pub(in crate::project) to: &'static str,
    /// The name.
    pub(in crate::project) name: Spanned<String>,
    /// What refers: `` `category` of signature `x` ``.
    pub(in crate::project) by: String,
}

/// A pattern that compiles, and the list it stands in.
#[derive(Clone, Debug)]
pub(in crate::project) struct ListedPattern {
    /// The pattern as written.
    pub(in crate::project) text: Spanned<String>,
    /// The pattern as read.
    pub(in crate::project) pattern: Pattern,
    /// What it stands in: `` `patterns` of component `x` ``.
    pub(in crate::project) of: String,
}

/// Reads one file.
pub(in crate::project) struct FormReader<'a> {
    pub(in crate::project) reader: YamlReader<'a>,
    pub(in crate::project) references: Vec<EntryReference>,
    pub(in crate::project) patterns: Vec<ListedPattern>,
}

impl<'a> FormReader<'a> {
    /// Begins with a file; codes of what is found begin with `area`.
    pub(in crate::project) fn new(source: &'a Source, area: &'static str) -> Self {
        Self { reader: YamlReader::new(source, area), references: Vec::new(), patterns: Vec::new() }
    }

    /// Reads the whole file. What `base` has need not be here again.
    pub(in crate::project) fn file(&mut self, yaml: &Yaml, form: &'static Form, base: Option<&Value>) -> Value {
        self.map(yaml, form, form.what, base).unwrap_or_else(|| json!({}))
    }

    /// What was found.
    pub(in crate::project) fn finish(self) -> Diagnostics {
        self.reader.finish()
    }

    fn map(&mut self, yaml: &Yaml, form: &'static Form, what: &str, base: Option<&Value>) -> Option<Value> {
        let fields = self.reader.map(yaml, what)?;
        let names: Vec<&str> = form.keys.iter().map(|key| key.name).collect();
        self.reader.known_keys(fields, what, &names, &[]);
        let mut out = Map::new();
        for YamlEntry { key: name, value } in fields.entries() {
            let Some(key) = form.key(name) else { continue };
            // A key under which everything is commented out is a key that is not there.
            if value.is_null()
                && !matches!(key.holds, ValueForm::Text | ValueForm::Pattern(_) | ValueForm::Name(_))
                && !key.required
            {
                continue;
            }
            let below = base.and_then(|base| base.get(key.name));
            let what = if form.what == what { format!("`{name}`") } else { format!("`{name}` of {what}") };
            if let Some(value) = self.value(value, &key.holds, &what, below) {
                out.insert(key.name.to_owned(), value);
            }
        }
        for key in form.keys.iter().filter(|key| key.required && fields.entry(key.name).is_none()) {
            if base.and_then(|base| base.get(key.name)).is_none() {
                self.missing(yaml, key, what);
            }
        }
        Some(Value::Object(out))
    }

    fn missing(&mut self, yaml: &Yaml, key: &FormKey, what: &str) {
        let place = yaml.head(self.reader.source());
        let error = self.reader.error("missing-key", format!("{what} has no `{}`", key.name), place, "add it here");
        self.reader.push(error.help(format!("`{}`: {}", key.name, key.doc)));
    }

    fn value(&mut self, yaml: &Yaml, holds: &'static ValueForm, what: &str, base: Option<&Value>) -> Option<Value> {
        match holds {
            ValueForm::Text => self.reader.text(yaml, what).map(|text| json!(text.value)),
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
            ValueForm::List(item) => {
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
                    // A name alone is an entry that says nothing more.
                    let value = match (&value.is_null(), item) {
                        (true, ValueForm::Map(form)) => {
                            let empty = Yaml { span: name.span, kind: crate::pipeline::yaml::YamlKind::Map(Vec::new()) };
                            self.map(&empty, form, &what, below)
                        }
                        _ => self.value(value, item, &what, below),
                    };
                    if let Some(value) = value {
                        out.insert(name.value.clone(), value);
                    }
                }
                Some(Value::Object(out))
            }
            ValueForm::Map(form) => {
                let what = if what.starts_with("an item") { form.what } else { what };
                self.map(yaml, form, what, base)
            }
        }
    }

    fn number(&mut self, yaml: &Yaml, what: &str, least: f64, most: f64) -> Option<Value> {
        let number = self.reader.number(yaml, what)?;
        if (least..=most).contains(&number) {
            return Some(yaml.to_json());
        }
        let message = format!("{what} must be from {least} to {most}, not {number}");
        let error = self.reader.error("range", message, yaml.span, "");
        self.reader.push(error);
        None
    }

    /// A list of maps, no two with the same id.
    fn records(&mut self, yaml: &Yaml, form: &'static Form, id: &'static str, what: &str, base: Option<&Value>) -> Option<Value> {
        let items = self.reader.list(yaml, what)?;
        let mut seen: Vec<Spanned<String>> = Vec::new();
        let mut out = Vec::new();
        for item in items {
            let name = item.get(id).and_then(|yaml| Some(Spanned::new(yaml.as_text()?.to_owned(), yaml.span)));
            let what = name.as_ref().map_or_else(|| form.what.to_owned(), |name| format!("{} `{name}`", bare(form.what)));
            if let Some(name) = name.clone() {
                if let Some(first) = seen.iter().find(|first| first.value == name.value) {
                    let message = format!("there are two of {what}");
                    let error = self.reader.error("duplicate", message, name.span, "again here");
                    let error = error.label(self.reader.source(), first.span, "first here");
                    self.reader.push(error.help(format!("give each its own `{id}`, or make one of them")));
                }
                seen.push(name);
            }
            let known = |base: &&Value| name.as_ref().is_some_and(|name| base[id] == json!(name.value));
            let below = base.and_then(Value::as_array).and_then(|list| list.iter().find(known));
            out.extend(self.map(item, form, &what, below));
        }
        Some(Value::Array(out))
    }

    fn pattern(&mut self, yaml: &Yaml, groups: usize, what: &str) -> Option<String> {
        let text = self.reader.text(yaml, what)?;
        match Pattern::read(&text) {
            Err(fault) => {
                let place = yaml.mapped(self.reader.source()).map_or(yaml.span, |mapped| mapped.locate(fault.span));
                let message = format!("{what} is no regular expression");
                let error = self.reader.error("bad-pattern", message, place, fault.message);
                let help =
                    "put a `\\` before a character that is to stand for itself: `\\(`, `\\[`, `\\.`; there is no look-around";
                self.reader.push(error.help(help));
                None
            }
            Ok(pattern) if pattern.groups() < groups => {
                let message = format!("{what} has no group");
                let error = self.reader.error("no-group", message, text.span, "nothing is caught here");
                self.reader.push(error.help("put parentheses around the part that is wanted"));
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

/// A name without its article.
fn bare(what: &str) -> &str {
    what.strip_prefix("a ").or_else(|| what.strip_prefix("an ")).unwrap_or(what)
}

/// Gives every key of a form that is absent the empty value of its kind, at any depth, so that scripts need not ask.
pub(in crate::project) fn fill(value: &mut Value, form: &'static Form) {
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
        ValueForm::Text | ValueForm::Word(_) | ValueForm::Pattern(_) | ValueForm::Name(_) => json!(""),
        ValueForm::List(_) | ValueForm::Records(..) => json!([]),
        ValueForm::Entries(_) | ValueForm::Map(_) => json!({}),
    }
}
