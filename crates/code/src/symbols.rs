//! The definitions that names most likely mean.

use super::imports::Imports;
use super::languages::language;
use super::uses::NameUse;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A line of the product that defines a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionLine {
    /// The file, relative to the repository.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
}

/// A definition that a statement uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// The file that defines it.
    pub path: String,
    /// The line of the definition, from 1.
    pub line: u32,
    /// How far from the statement it is used, from 0 ([`NameUse::distance`]).
    pub distance: u8,
    /// The line that uses it.
    pub used: u32,
    /// Whether it is called there.
    pub called: bool,
}

/// Most symbols.
const SYMBOLS: usize = 8;
/// Lowest score of a definition that is taken.
const ENOUGH: i32 = 3;

/// The directory of a path, without the components that separate tests from the code that they test.
fn package(path: &str) -> String {
    let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
    let parts = dir.split('/').filter(|part| {
        !matches!(
            *part,
            "" | "test"
                | "tests"
                | "spec"
                | "specs"
                | "__tests__"
                | "t"
                | "src"
                | "main"
                | "lib"
                | "java"
                | "kotlin"
                | "scala"
                | "unit"
                | "integration"
                | "app"
        )
    });
    parts.collect::<Vec<_>>().join("/").to_lowercase()
}

fn stem(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name).to_lowercase().replace(['_', '-'], "")
}

fn is_header(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "h" | "hh" | "hpp" | "hxx" | "pyi"))
}

/// The definitions that names mean, the nearest first: those in files that the test imports, in its package, with the file or class that
/// the name is qualified by; names that several files define as likely as each other mean none of them.
///
/// `test` is the file that uses the names; `defined` has the lines that define each of them.
pub fn resolve(test: &str, imports: &Imports, uses: &[NameUse], defined: &BTreeMap<String, Vec<DefinitionLine>>) -> Vec<Symbol> {
    // Files that define several of the names are more likely meant by each.
    let mut common: HashMap<&str, HashSet<&str>> = HashMap::new();
    for (name, lines) in defined {
        for line in lines {
            common.entry(&line.path).or_default().insert(name);
        }
    }
    let subject = stem(test);
    let of = |used: &NameUse, at: &DefinitionLine| {
        let mut score = 0;
        let agreement = imports.agreement(&at.path);
        score += [0, 4, 5][agreement.min(2)];
        if package(&at.path) == package(test) {
            score += 3;
        }
        let file = stem(&at.path);
        if let Some(qualifier) = &used.qualifier {
            let qualifier = qualifier.to_lowercase().replace('_', "");
            let dir = at.path.rsplit('/').nth(1).unwrap_or_default().to_lowercase();
            if qualifier == file || qualifier == dir {
                score += 3;
            }
        }
        // `test_invoice.py`, `InvoiceTest.java` are about `invoice`.
        if file.len() > 2 && subject != file && subject.contains(&file) {
            score += 3;
        }
        let others = common.get(at.path.as_str()).map_or(0, HashSet::len) - 1;
        score += i32::try_from(others.min(2)).unwrap_or(0);
        if at.path == test {
            score += 4;
        }
        score
    };
    let mut symbols: Vec<Symbol> = Vec::new();
    for used in uses {
        let Some(lines) = defined.get(&used.name).filter(|_| !used.local) else { continue };
        let mut ranked: Vec<(i32, &DefinitionLine)> = lines.iter().map(|at| (of(used, at), at)).collect();
        // A definition in one file only, under a name that is long enough to be no coincidence.
        let alone = lines.iter().all(|at| stem(&at.path) == stem(&lines[0].path)) && used.name.len() > 5;
        for (score, at) in &mut ranked {
            *score += i32::from(alone) * 3;
            *score = *score * 2 - i32::from(is_header(&at.path));
        }
        ranked.sort_by(|(one, first), (other, second)| {
            other.cmp(one).then(first.path.cmp(&second.path)).then(first.line.cmp(&second.line))
        });
        let (score, at) = ranked[0];
        let unclear = ranked.iter().any(|(other, there)| *other == score && there.path != at.path);
        if score < ENOUGH * 2 || unclear || symbols.iter().any(|known| known.name == used.name && known.path == at.path) {
            continue;
        }
        symbols.push(Symbol {
            name: used.name.clone(),
            path: at.path.clone(),
            line: at.line,
            distance: used.distance,
            used: used.line,
            called: used.called,
        });
    }
    symbols.sort_by_key(|symbol| (symbol.distance, !symbol.called));
    symbols.truncate(SYMBOLS);
    symbols
}

/// Whether a file of this path may define names that a file of the other uses.
pub fn may_define(path: &str, test: &str) -> bool {
    matches!((language(path), language(test)), (Some(of), Some(from)) if from.calls(of))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(name: &str, qualifier: Option<&str>, distance: u8) -> NameUse {
        NameUse { name: name.to_owned(), qualifier: qualifier.map(str::to_owned), line: 1, distance, called: true, local: false }
    }

    #[test]
    fn a_name_means_the_definition_that_the_test_imports() {
        let at = |path: &str| DefinitionLine { path: path.to_owned(), line: 3 };
        let defined = BTreeMap::from([
            ("total".to_owned(), vec![at("src/billing/invoice.py"), at("src/shop/cart.py")]),
            ("Cart".to_owned(), vec![at("src/shop/cart.py")]),
            ("load".to_owned(), vec![at("src/a.py"), at("src/b.py")]),
        ]);
        let lines = ["from billing.invoice import Invoice"];
        let imports = Imports::of(&lines, language("a.py").expect("Python"));
        let found =
            resolve("tests/test_bills.py", &imports, &[used("total", Some("invoice"), 0), used("load", None, 0)], &defined);
        assert_eq!(found.iter().map(|symbol| symbol.path.as_str()).collect::<Vec<_>>(), ["src/billing/invoice.py"]);
        let found =
            resolve("tests/test_cart.py", &Imports::default(), &[used("total", None, 1), used("Cart", None, 2)], &defined);
        assert_eq!(
            found.iter().map(|symbol| (symbol.name.as_str(), symbol.path.as_str())).collect::<Vec<_>>(),
            [("total", "src/shop/cart.py"), ("Cart", "src/shop/cart.py")]
        );
    }
}
