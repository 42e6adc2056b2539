//! What a file imports.

use super::languages::CodeLanguage;
use super::source::SourceFile;
use asterisk_base::model::TextPattern;
use std::sync::LazyLock;

static QUOTED: LazyLock<TextPattern> = LazyLock::new(|| {
    TextPattern::new(
        r#"(?:\b(?:import|from|require|require_relative|require_once|load|source|include|use|mock|importActual|requireActual)\b\s*[( ]?\s*(?:__DIR__\s*\.\s*)?|^\s*\}\s*from\s+|^\s*(?:\w+\s+)?)(?:"([^"\s]+)"|'([^'\s]+)')\s*(?:\)|;|$|,)"#,
    )
    .expect("a pattern of imports")
});
static INCLUDED: LazyLock<TextPattern> =
    LazyLock::new(|| TextPattern::new(r#"^\s*#\s*include\s*[<"]([^>"]+)[>"]"#).expect("a pattern of imports"));
static DOTTED: LazyLock<TextPattern> = LazyLock::new(|| {
    TextPattern::new(
        r"^\s*(?:pub\s+)?(?:import|from|use|using|alias|open|require)\s+(?:static\s+|function\s+|const\s+|type\s+|lib\s+)?(\.*[A-Za-z_][\w.:\\]*)(?:\s*::\s*|\s+import\s+|::|\.)?\s*\(?\{?((?:\s*\w+(?:\s+as\s+\w+)?\s*,?)*)",
    )
    .expect("a pattern of imports")
});
static CELLS: LazyLock<TextPattern> =
    LazyLock::new(|| TextPattern::new(r"^(?:Library|Resource|Variables)\s{2,}(\S+)").expect("a pattern of imports"));

static SOURCED: LazyLock<TextPattern> =
    LazyLock::new(|| TextPattern::new(r#"^\s*(?:load|source|\.)\s+["']?([^\s"']+)"#).expect("a pattern of imports"));

/// The parts of the paths and packages that a file imports, in lower case, without extensions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imports {
    all: Vec<Vec<String>>,
}

impl SourceFile<'_> {
    /// What it imports.
    pub fn imports(&self) -> Imports {
        Imports::of(&self.lines, self.language)
    }
}

/// A part as it is compared: without case, dashes and underscores.
fn part(text: &str) -> String {
    text.chars().filter(|letter| !matches!(letter, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// The parts of a path without its extension, and without a last part that stands for its directory.
fn parts(path: &str) -> Vec<String> {
    let path = path.rsplit_once('.').filter(|(_, extension)| !extension.contains('/')).map_or(path, |(path, _)| path);
    let source = |part: &&str| !matches!(*part, "" | "." | ".." | "src" | "lib" | "app" | "source") && !part.contains('$');
    let mut parts: Vec<String> = path.split('/').filter(source).map(part).collect();
    if parts.len() > 1 && parts.last().is_some_and(|last| matches!(last.as_str(), "index" | "init" | "mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

impl Imports {
    /// Reads the imports of a text.
    pub fn of(lines: &[&str], language: &CodeLanguage) -> Self {
        let mut all: Vec<Vec<String>> = Vec::new();
        let mut take = |found: Vec<String>| {
            if !found.is_empty() && !all.contains(&found) && all.len() < 200 {
                all.push(found);
            }
        };
        for line in lines {
            if let Some(found) = INCLUDED.captures(line).or_else(|| CELLS.captures(line)) {
                take(parts(&found[1]));
            } else if language.name == "shell" {
                SOURCED.captures(line).into_iter().for_each(|found| take(parts(&found[1])));
            } else if let Some(found) = QUOTED.captures(line) {
                let path = found.get(1).or_else(|| found.get(2)).map_or("", |path| path.as_str());
                take(if language.name == "go" { path.split('/').map(part).collect() } else { parts(path) });
            } else if let Some(found) = DOTTED.captures(line) {
                let names = found[1].replace("::", ".").replace('\\', ".");
                let outer = |name: &&str| matches!(*name, "" | "crate" | "self" | "super" | "static");
                let head: Vec<String> = names.split('.').skip_while(outer).filter(|name| !name.is_empty()).map(part).collect();
                let members = found.get(2).map_or("", |members| members.as_str());
                for member in members.split(',').filter_map(|member| member.split_whitespace().next()) {
                    let mut whole = head.clone();
                    whole.push(part(member));
                    take(whole);
                }
                take(head);
            }
        }
        Self { all }
    }

    /// How well a path is one of the imports: the number of parts that agree, 0 if it is none of them.
    pub fn agreement(&self, path: &str) -> usize {
        let file = parts(path);
        let dir = &file[..file.len().saturating_sub(1)];
        let of = |import: &Vec<String>| {
            // The last part may be a member of the file.
            let inner = &import[..import.len() - 1];
            [agree(&file, import), agree(&file, inner), agree(dir, import)].into_iter().max().unwrap_or(0)
        };
        self.all.iter().map(of).max().unwrap_or(0)
    }
}

/// The number of last parts that agree, if the shorter of the two agrees whole.
fn agree(path: &[String], import: &[String]) -> usize {
    let same = path.iter().rev().zip(import.iter().rev()).take_while(|(one, other)| one == other).count();
    if same > 0 && same == path.len().min(import.len()) { same } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::super::language;
    use super::*;

    #[test]
    fn imports_of_each_language_mean_files() {
        let agrees = |test: &str, line: &str, path: &str| {
            Imports::of(&[line], language(test).expect("a known language")).agreement(path) > 0
        };
        for (test, line, path) in [
            ("a.py", "from billing.invoice import Invoice, Line", "src/billing/invoice.py"),
            ("a.py", "from billing import invoice", "src/billing/invoice.py"),
            ("a.py", "import billing", "src/billing/__init__.py"),
            ("a.js", "const { discount } = require('../src/price');", "src/price.js"),
            ("a.ts", "} from '../src/price.js'", "src/price.ts"),
            ("a.ts", "import Price from '../src/price'", "src/price/index.ts"),
            ("A.java", "import shop.Order;", "src/main/java/shop/Order.java"),
            ("A.java", "import static shop.Order.total;", "src/main/java/shop/Order.java"),
            ("a.go", "\t\"example.com/bank/ledger\"", "ledger/ledger.go"),
            ("a.rs", "use inventory::{Inventory, load};", "inventory/src/lib.rs"),
            ("a.ts", "import Price from '../lib/shop/price'", "lib/shop/price.ts"),
            ("a.rb", "require_relative '../lib/shop'", "lib/shop.rb"),
            ("a.php", "use Shop\\Basket;", "src/Basket.php"),
            ("a.ex", "  alias Shop.Cart", "lib/shop/cart.ex"),
            ("a.t", "use Text::Wrapped qw(wrap);", "lib/Text/Wrapped.pm"),
            ("a.cpp", "#include \"imaging/image.h\"", "src/imaging/image.cpp"),
            ("a.robot", "Library    ../lib/Bank.py", "lib/Bank.py"),
            ("a.bats", "load helper", "test/helper.bash"),
            ("a.sh", "source \"$here/../lib/size.sh\"", "lib/size.sh"),
        ] {
            assert!(agrees(test, line, path), "{line} means {path}");
        }
        for (test, line, path) in [
            ("a.py", "from billing.invoice import Invoice", "src/billing/rates.py"),
            ("a.js", "const assert = require('node:assert');", "src/price.js"),
            ("A.java", "import org.junit.Test;", "src/main/java/shop/Order.java"),
        ] {
            assert!(!agrees(test, line, path), "{line} is not {path}");
        }
    }
}
