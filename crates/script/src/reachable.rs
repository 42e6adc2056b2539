//! A hash over everything a function may run: two functions with the same hash decide alike.

use super::invoke::ScriptFunction;
use super::rhai_internals::tree::FunctionHead;
use super::unit::Unit;
use asterisk_base::model::Hash;
use asterisk_diag::Span;
use std::collections::{BTreeMap, BTreeSet};

/// The functions of a text, each with its span from `fn` to the closing brace.
type Extents = BTreeMap<String, Vec<Span>>;

impl ScriptFunction {
    /// The hash of its own text, of the functions of its script that it may call, of the top-level code, and of everything its
    /// script imports. Editing another function of the script leaves it unchanged; so do comments outside functions.
    pub fn reach(&self) -> Hash {
        let unit = self.unit();
        // The location of a condition does not matter.
        let mut text = if unit.is_condition() { String::new() } else { self.key() };
        let extents = extents(unit);
        let mut within: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&str> = extents.get_key_value(self.name()).map(|(name, _)| name.as_str()).into_iter().collect();
        while let Some(name) = open.pop() {
            if !within.insert(name) {
                continue;
            }
            for extent in &extents[name] {
                // Any mention of a name may be a call: by a function pointer, or within a string, too.
                let own = &unit.script()[extent.start..extent.end];
                open.extend(extents.keys().map(String::as_str).filter(|other| own.contains(other)));
            }
        }
        let outside =
            |span: &Span| !extents.values().flatten().any(|extent| extent.start <= span.start && span.end <= extent.end);
        let mut add = |part: &str| {
            text.push('\0');
            text.push_str(part);
        };
        unit.text()
            .words()
            .filter(|(word, span)| !word.starts_with("//") && *word != "private" && outside(span))
            .for_each(|(word, _)| add(word));
        for name in within {
            extents[name].iter().for_each(|extent| add(&unit.script()[extent.start..extent.end]));
        }
        for import in self.imported() {
            add(&import.to_string());
        }
        Hash::of(text.as_bytes())
    }
}

/// Empty for a condition, which is all top-level code.
fn extents(unit: &Unit) -> Extents {
    let mut extents = Extents::new();
    if unit.is_condition() {
        return extents;
    }
    let end = |function: &FunctionHead| Some(unit.text().token(function.end)?.end);
    for function in unit.tree().functions.iter().map(|function| &function.head) {
        let (Some(start), Some(end)) = (unit.keyword(function), end(function)) else { continue };
        extents.entry(function.name.to_string()).or_default().push(Span::new(start.start, end));
    }
    extents
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::{FunctionRef, Library, LibraryInputs};
    use asterisk_diag::Source;

    const LIB: &str = "fn far(n) { n * 2 }\n";
    const RULES: &str = "\
//! Rules.
import \"lib\" as lib;
const MOST = 3;

/// The one.
fn one(artifact, state, vars) { half(artifact.n) > global::MOST }
private fn half(n) { n / 2 }
/// The other.
fn other(artifact, state, vars) { call(lib::far) }
fn more(n) { `${half(n)}` }
";

    fn reach(rules: &str, lib: &str, name: &str) -> asterisk_base::model::Hash {
        let scripts =
            vec![Source::new("rules.rhai", rules.replace("call(lib::far)", "lib::far(1) > 1")), Source::new("lib.rhai", lib)];
        let library = Library::link(LibraryInputs { scripts, ..LibraryInputs::default() }, None).unwrap();
        library
            .function(&FunctionRef::parse(&format!("rules.rhai#{name}")).unwrap(), if name == "more" { 1 } else { 3 })
            .unwrap()
            .reach()
    }

    #[test]
    fn an_edit_affects_only_functions_that_may_run_it() {
        let changed = |from: &str, to: &str| {
            assert!(RULES.contains(from));
            let edited = RULES.replace(from, to);
            ["one", "other", "more"].map(|name| reach(RULES, LIB, name) != reach(&edited, LIB, name))
        };
        assert_eq!(changed("> global", ">= global"), [true, false, false]);
        assert_eq!(changed("n / 2", "n / 3"), [true, false, true]);
        assert_eq!(changed("MOST = 3", "MOST = 4"), [true, true, true]);
        assert_eq!(changed("/// The other.", "/// Another."), [false, false, false]);
        assert_eq!(changed("//! Rules.\n", "\n\n"), [false, false, false]);
        assert_ne!(reach(RULES, LIB, "one"), reach(RULES, "fn far(n) { n * 3 }\n", "one"));
        assert_eq!(reach(RULES, LIB, "one"), reach(RULES, LIB, "one"));
    }
}
