//! Merges a file with the one that it extends, entry by entry.
//!
//! Maps are merged by key. Of lists of maps with an `id` or a `name`, an entry of the file changes the entry of that id key by key, or is
//! new; `remove: true` removes it, `before: ID` and `after: ID` place it, and without these a new entry comes first: of several that fit,
//! the first is used. All other values replace those of the extended file.

use super::tree::{Yaml, YamlEntry, YamlKind};
use crate::Spanned;
use asterisk_diag::{Diagnostic, Diagnostics, Source, did_you_mean};

/// The key that names the extended file.
const EXTENDS: &str = "extends";

/// Keys of an entry that say the result of it.
const REMOVE: &str = "remove";
const BEFORE: &str = "before";
const AFTER: &str = "after";

/// Keys of an entry of which one replaces the other.
const ALTERNATIVES: [[&str; 2]; 2] = [["rule", "condition"], ["condition", "rule"]];

/// Merges a file's tree into that of the file it extends.
pub(super) fn extend(own: Yaml, base: Yaml, source: &Source, found: &mut Diagnostics) -> Yaml {
    let span = own.span;
    let Yaml { kind: YamlKind::Map(own), .. } = own else { return own };
    let own = own.into_iter().filter(|entry| *entry.key != EXTENDS).collect();
    let YamlKind::Map(base) = base.kind else { return Yaml { span, kind: YamlKind::Map(own) } };
    Yaml { span, kind: YamlKind::Map(ExtendedFile { source, found }.maps(own, base)) }
}

/// The error for a file that extends a missing one: its `extends:` was not resolved when it was read.
pub fn unresolved(area: &str, source: &Source, tree: &Yaml) -> Option<Diagnostic> {
    let named = tree.get(EXTENDS)?;
    let what = named.as_text().unwrap_or_default();
    let error = Diagnostic::error(format!("{area}/extends"), format!("the file to extend, `{what}`, does not exist"));
    Some(error.label(source, named.span, "not found").help(
        "name a file of the same directory without its ending, or, by the file's own name, the bundled file that it extends",
    ))
}

struct ExtendedFile<'a> {
    source: &'a Source,
    found: &'a mut Diagnostics,
}

impl ExtendedFile<'_> {
    fn maps(&mut self, own: Vec<YamlEntry>, mut base: Vec<YamlEntry>) -> Vec<YamlEntry> {
        for YamlEntry { key, value } in own {
            let at = base.iter().position(|known| *known.key == *key);
            if is_removed(&value) {
                match at {
                    Some(at) => drop(base.remove(at)),
                    None => self.unknown(&key, base.iter().map(|known| known.key.as_str())),
                }
                continue;
            }
            match at {
                Some(at) => {
                    let known = base.remove(at);
                    let value = self.values(value, known.value);
                    base.insert(at, YamlEntry { key, value });
                }
                None => base.push(YamlEntry { key, value }),
            }
        }
        base
    }

    fn values(&mut self, own: Yaml, base: Yaml) -> Yaml {
        let span = own.span;
        match (own.kind, base.kind) {
            (YamlKind::Map(own), YamlKind::Map(base)) => Yaml { span, kind: YamlKind::Map(self.maps(own, base)) },
            (YamlKind::List(own), YamlKind::List(base)) if base.iter().any(|item| id_of(item).is_some()) => {
                Yaml { span, kind: YamlKind::List(self.lists(own, base)) }
            }
            // A plain value is the default of a var that is declared with its type.
            (own @ (YamlKind::Bool(_) | YamlKind::Int(_) | YamlKind::Float(_) | YamlKind::Text(_)), YamlKind::Map(mut base))
                if base.iter().any(|entry| *entry.key == "default") =>
            {
                for entry in base.iter_mut().filter(|entry| *entry.key == "default") {
                    entry.value = Yaml { span, kind: own.clone() };
                }
                Yaml { span, kind: YamlKind::Map(base) }
            }
            (own, _) => Yaml { span, kind: own },
        }
    }

    fn lists(&mut self, own: Vec<Yaml>, mut base: Vec<Yaml>) -> Vec<Yaml> {
        let mut first = 0;
        for mut item in own {
            let id = id_of(&item);
            let known = id.as_ref().and_then(|id| position(&base, id));
            let (removed, before, after) = (is_removed(&item), place_of(&item, BEFORE), place_of(&item, AFTER));
            if let YamlKind::Map(entries) = &mut item.kind {
                entries.retain(|entry| ![REMOVE, BEFORE, AFTER].contains(&entry.key.as_str()));
            }
            if removed {
                match (known, id) {
                    (Some(at), _) => {
                        base.remove(at);
                        first -= usize::from(at < first);
                    }
                    (None, Some(id)) => self.unknown(&id, base.iter().filter_map(id_of).map(|id| id.value)),
                    (None, None) => {}
                }
                continue;
            }
            let mut at = known;
            if let Some(known) = known {
                item = changed(item, base.remove(known));
            }
            for (place, offset) in [(before, 0), (after, 1)] {
                let Some(place) = place else { continue };
                match position(&base, &place) {
                    Some(found) => at = Some(found + offset),
                    None => self.unknown(&place, base.iter().filter_map(id_of).map(|id| id.value)),
                }
            }
            let at = at.unwrap_or_else(|| {
                first += 1;
                first - 1
            });
            base.insert(at.min(base.len()), item);
        }
        base
    }

    fn unknown<N: AsRef<str>>(&mut self, id: &Spanned<String>, known: impl Iterator<Item = N>) {
        let known: Vec<N> = known.collect();
        let error = Diagnostic::error("yaml/extends", format!("the extended file has no entry `{}`", **id));
        let error = error.label(self.source, id.span, "not found");
        self.found.push(error.maybe_help(did_you_mean(id, known.iter().map(AsRef::as_ref))));
    }
}

/// An entry with the keys that the file gives it.
fn changed(own: Yaml, base: Yaml) -> Yaml {
    let span = own.span;
    match (own.kind, base.kind) {
        (YamlKind::Map(own), YamlKind::Map(mut base)) => {
            for entry in own {
                let replaces =
                    |known: &YamlEntry| ALTERNATIVES.iter().any(|[one, other]| *entry.key == *one && *known.key == *other);
                base.retain(|known| !replaces(known));
                match base.iter_mut().find(|known| *known.key == *entry.key) {
                    Some(known) => *known = entry,
                    None => base.push(entry),
                }
            }
            Yaml { span, kind: YamlKind::Map(base) }
        }
        (own, _) => Yaml { span, kind: own },
    }
}

/// The id of an entry: its `id`, or else its `name`.
fn id_of(item: &Yaml) -> Option<Spanned<String>> {
    item.get("id").or_else(|| item.get("name")).and_then(Yaml::text)
}

fn position(list: &[Yaml], id: &Spanned<String>) -> Option<usize> {
    list.iter().position(|item| id_of(item).is_some_and(|known| *known == **id))
}

fn place_of(item: &Yaml, key: &str) -> Option<Spanned<String>> {
    item.get(key).and_then(Yaml::text)
}

fn is_removed(item: &Yaml) -> bool {
    item.get(REMOVE).is_some_and(|value| value.kind == YamlKind::Bool(true))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::yaml::parse;
    use asterisk_diag::Source;
    use serde_json::{Value, json};

    const BASE: &str = "pipeline: rca\nvars:\n  bar: { default: 0.8, type: number }\n  most: 3\nedges:\n  - { id: H1, to: a, rule: r#one }\n  - { id: H2, to: b }\n  - { id: H3, to: c }\n";

    fn merged(own: &str) -> Result<Value, String> {
        let source = Source::new("rca.yaml", format!("extends: rca\n{own}")).extending(&Source::new("base.yaml", BASE));
        parse(&source).map(|tree| tree.to_json()).map_err(|found| found.to_string())
    }

    fn edges(own: &str) -> String {
        let tree = merged(own).unwrap();
        let ids = tree["edges"].as_array().unwrap().iter().map(|edge| edge["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn entries_are_added_placed_changed_and_removed_by_their_ids() {
        assert_eq!(edges("edges:\n  - { id: N1, to: a }\n  - { id: N2, to: a }\n"), "N1 N2 H1 H2 H3");
        assert_eq!(edges("edges:\n  - { id: N1, to: a, before: H3 }\n  - { id: N2, to: a, after: N1 }\n"), "H1 H2 N1 N2 H3");
        assert_eq!(edges("edges:\n  - { id: H2, remove: true }\n"), "H1 H3");
        assert_eq!(edges("edges:\n  - { id: H3, before: H1 }\n"), "H3 H1 H2");
        let tree = merged("edges:\n  - { id: H1, condition: \"true\" }\n").unwrap();
        assert_eq!(tree["edges"][0], json!({ "id": "H1", "to": "a", "condition": "true" }));
    }

    #[test]
    fn a_plain_value_is_the_default_of_a_declared_var() {
        let tree = merged("vars: { bar: 0.9, own: 1 }\n").unwrap();
        assert_eq!(tree["vars"], json!({ "bar": { "default": 0.9, "type": "number" }, "most": 3, "own": 1 }));
        assert_eq!(tree.get("extends"), None);
    }

    #[test]
    fn a_file_that_is_not_there_is_one_error() {
        let source = Source::new("rca.yaml", "extends: rcaa\n");
        let error = super::unresolved("pipeline", &source, &parse(&source).unwrap()).unwrap();
        assert_eq!((&*error.code, &*error.message), ("pipeline/extends", "the file to extend, `rcaa`, does not exist"));
    }

    #[test]
    fn an_unknown_entry_is_an_error_at_its_place() {
        for own in [
            "edges:\n  - { id: H9, remove: true }\n",
            "edges:\n  - { id: N1, after: H9 }\n",
            "vars: { mots: { remove: true } }\n",
        ] {
            assert!(merged(own).unwrap_err().contains("the extended file has no entry"), "{own}");
        }
    }
}
