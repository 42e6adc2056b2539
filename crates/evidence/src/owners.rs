//! Whose code a frame is: rules in data, tried in file order; what no rule fits is the product's.

use super::frames::{FrameLanguage, ParsedFrame};
use asterisk_base::model::{TextPattern, TextPatternSet};
use serde::Serialize;
use std::collections::BTreeSet;

/// Whose code a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FrameOwner {
    /// The code under test.
    Product,
    /// The tests, their fixtures and helpers.
    Test,
    /// Code that others wrote: packages, frameworks, drivers.
    Library,
    /// The language's own runtime and standard library.
    Runtime,
}

impl FrameOwner {
    /// All of them, with the names that rules use.
    pub const ALL: &[(&str, Self)] =
        &[("product", Self::Product), ("test", Self::Test), ("library", Self::Library), ("runtime", Self::Runtime)];
}

/// A rule as data has it.
#[derive(Clone, Debug, Default, Hash)]
pub struct OwnerRule {
    /// Whose code it is where the rule fits.
    pub owner: Option<FrameOwner>,
    /// The languages it is for; all of them if there are none.
    pub languages: Vec<FrameLanguage>,
    /// Patterns of the path, with forward slashes; one of them has to match.
    pub paths: Vec<String>,
    /// Patterns of the function with its class and package; they count as the paths do.
    pub functions: Vec<String>,
    /// Fits only code outside of the package of the test ([`Own`]).
    pub unless_own: bool,
}

#[derive(Debug)]
struct CompiledRule {
    owner: FrameOwner,
    languages: Vec<FrameLanguage>,
    paths: TextPatternSet,
    roots: Vec<TextPattern>,
    functions: TextPatternSet,
    unless_own: bool,
    anything: bool,
}

/// Rules of owners, compiled.
#[derive(Debug, Default)]
pub struct Owners {
    rules: Vec<CompiledRule>,
    namespace: Option<TextPattern>,
    maker: Option<TextPattern>,
}

/// Why a frame has its owner.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct OwnerReason {
    /// The owner.
    pub owner: FrameOwner,
    /// The number of the rule among those of the file, from 1; none fits code of the product.
    pub rule: Option<usize>,
    /// The pattern that matched, of a rule that has any.
    pub pattern: Option<String>,
}

/// What is the user's own although it looks installed: the packages and directories that the test itself lives in.
#[derive(Clone, Debug, Default)]
pub struct Own {
    namespaces: BTreeSet<String>,
    makers: BTreeSet<String>,
    roots: BTreeSet<String>,
    /// The directory of the checkout, with a slash at its end; empty if unknown.
    checkout: String,
}

impl Owners {
    /// Compiles rules. `namespace` matches the beginning of a class's name that code of one project has in common, `maker` that which
    /// all projects of one maker share.
    ///
    /// # Errors
    /// The pattern that is not a regular expression.
    pub fn new(rules: &[OwnerRule], namespace: &str, maker: &str) -> Result<Self, regex::Error> {
        let compiled = rules.iter().map(|rule| {
            Ok(CompiledRule {
                owner: rule.owner.unwrap_or(FrameOwner::Product),
                languages: rule.languages.clone(),
                paths: TextPatternSet::new(&rule.paths, false)?,
                roots: rule.paths.iter().map(|pattern| TextPattern::new(pattern)).collect::<Result<_, _>>()?,
                functions: TextPatternSet::new(&rule.functions, false)?,
                unless_own: rule.unless_own,
                anything: rule.paths.is_empty() && rule.functions.is_empty(),
            })
        });
        let pattern = |text: &str| if text.is_empty() { Ok(None) } else { TextPattern::new(text).map(Some) };
        Ok(Self { rules: compiled.collect::<Result<_, regex::Error>>()?, namespace: pattern(namespace)?, maker: pattern(maker)? })
    }

    /// What is the user's own, by the test's class or package and by the frames that are the test's by their names.
    pub fn own(&self, class: &str, package: &str, frames: &[ParsedFrame]) -> Own {
        let mut own = Own::default();
        // The tests of Go's own packages have these packages as suites: `net/http`.
        if !package.is_empty() && package.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._~-".contains(&byte)) {
            own.roots.insert(format!("/src/{package}/"));
        }
        let mut namespaces = BTreeSet::new();
        let test = |rule: &&CompiledRule| rule.owner == FrameOwner::Test;
        for frame in frames {
            if !self.rules.iter().filter(test).any(|rule| rule.fits(frame)) {
                continue;
            }
            if is_named(frame.language) {
                namespaces.extend(self.namespace_of(&frame.function));
            } else if names_a_test(&frame.path) {
                let installed = self.rules.iter().filter(|rule| matches!(rule.owner, FrameOwner::Library | FrameOwner::Runtime));
                own.roots.extend(installed.filter_map(|rule| rule.root(&frame.path)));
            }
        }
        // A framework has classes that are called tests; only the test's own class shows that a known library is under test.
        own.namespaces.extend(namespaces.into_iter().filter(|name| !self.is_installed(name)));
        own.namespaces.extend(self.namespace_of(class));
        own.checkout = self.checkout(frames);
        own.makers =
            own.namespaces.iter().filter_map(|name| Some(self.maker.as_ref()?.find(name)?.as_str().to_owned())).collect();
        own
    }

    /// The common directory of the project's frames, with a trailing slash, if it contains frames of both tests and product: directories above a
    /// checkout do not classify its files (`/builds/e2e/shop/src/cart.py`). Empty if unknown.
    fn checkout(&self, frames: &[ParsedFrame]) -> String {
        let rule_of =
            |frame: &ParsedFrame| self.rules.iter().find(|rule| !rule.unless_own && rule.fits(frame)).map(|rule| rule.owner);
        let is_own = |frame: &&ParsedFrame| !matches!(rule_of(frame), Some(FrameOwner::Library | FrameOwner::Runtime));
        let absolute = |path: &str| path.starts_with('/') || path.as_bytes().get(1) == Some(&b':');
        let paths: Vec<&ParsedFrame> =
            frames.iter().filter(|frame| !is_named(frame.language) && absolute(&frame.path)).filter(is_own).collect();
        let Some(first) = paths.first() else { return String::new() };
        let mut end = first.path.rfind('/').map_or(0, |at| at + 1);
        for frame in &paths {
            while !frame.path.starts_with(&first.path[..end]) {
                end = first.path[..end - 1].rfind('/').map_or(0, |at| at + 1);
                if end == 0 {
                    return String::new();
                }
            }
        }
        let below = |frame: &ParsedFrame| ParsedFrame { path: frame.path[end..].to_owned(), ..frame.clone() };
        let is_test = |frame: &ParsedFrame| rule_of(frame) == Some(FrameOwner::Test);
        // A directory of tests has helpers without such names.
        let named = format!("{}/x", first.path[..end].trim_end_matches('/').rsplit('/').next().unwrap_or_default());
        let of_tests = is_test(&ParsedFrame { path: named, ..(*first).clone() });
        let (tests, others): (Vec<ParsedFrame>, Vec<ParsedFrame>) = paths.iter().map(|frame| below(frame)).partition(is_test);
        let apart = !tests.is_empty() && !others.is_empty() && others.iter().all(|frame| frame.path.contains('/'));
        if apart && !of_tests { first.path[..end].to_owned() } else { String::new() }
    }

    fn is_installed(&self, name: &str) -> bool {
        let named = ParsedFrame { language: FrameLanguage::Jvm, function: format!("{name}X"), path: String::new(), line: 0 };
        let mut installed = self.rules.iter().filter(|rule| matches!(rule.owner, FrameOwner::Library | FrameOwner::Runtime));
        installed.any(|rule| rule.functions.is_match(&named.function))
    }

    fn namespace_of(&self, name: &str) -> Option<String> {
        let found = self.namespace.as_ref()?.find(name)?;
        Some(found.as_str().to_owned())
    }

    /// Whose code a frame is.
    pub fn owner(&self, frame: &ParsedFrame, own: &Own) -> FrameOwner {
        self.rule_of(frame, own).map_or(FrameOwner::Product, |at| self.rules[at].owner)
    }

    /// Why a frame has its owner: the first rule that fits.
    pub fn reason(&self, frame: &ParsedFrame, own: &Own) -> OwnerReason {
        let Some(at) = self.rule_of(frame, own) else {
            return OwnerReason { owner: FrameOwner::Product, rule: None, pattern: None };
        };
        let rule = &self.rules[at];
        let pattern = rule.paths.first(&frame.path).or_else(|| rule.functions.first(&frame.function)).map(str::to_owned);
        OwnerReason { owner: rule.owner, rule: Some(at + 1), pattern }
    }

    /// The place of the first rule that fits a frame.
    fn rule_of(&self, frame: &ParsedFrame, own: &Own) -> Option<usize> {
        let is_own = Self::is_own(frame, own);
        // If the test's package is unknown, no other package is foreign.
        let known = !is_named(frame.language) || !own.namespaces.is_empty();
        let is_of_maker = own.makers.iter().any(|name| frame.function.starts_with(name.as_str()));
        let below = frame.path.strip_prefix(own.checkout.as_str()).filter(|_| !own.checkout.is_empty());
        let within = below.map(|path| ParsedFrame { path: path.to_owned(), ..frame.clone() });
        let fits = |rule: &&CompiledRule| {
            let frame = if rule.owner == FrameOwner::Test { within.as_ref().unwrap_or(frame) } else { frame };
            let installed = matches!(rule.owner, FrameOwner::Library | FrameOwner::Runtime);
            !(installed && is_own) && (!rule.unless_own || known && !is_of_maker) && rule.fits(frame)
        };
        self.rules.iter().position(|rule| fits(&rule))
    }

    fn is_own(frame: &ParsedFrame, own: &Own) -> bool {
        if is_named(frame.language) {
            return own.namespaces.iter().any(|name| frame.function.starts_with(name.as_str()));
        }
        let mut roots = own.roots.iter();
        roots.any(|root| frame.path.contains(root.as_str()))
    }
}

/// Whether a file is called a test: a directory of tests inside a package may hold anything.
fn names_a_test(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let mut words = file.split(['.', '_', '-']);
    // `cart_test.go`, `test_cart.py`, `CartTest.java`, `cart.spec.ts`; a `testing.go` is none.
    words.any(|word| word == "test" || word == "spec")
        || file.split('.').next().is_some_and(|stem| stem.ends_with("test") || stem.ends_with("tests"))
}

/// Whether functions have a package in their names, which alone decide their owners.
fn is_named(language: FrameLanguage) -> bool {
    matches!(language, FrameLanguage::Jvm | FrameLanguage::Dotnet)
}

impl CompiledRule {
    fn fits(&self, frame: &ParsedFrame) -> bool {
        (self.languages.is_empty() || self.languages.contains(&frame.language))
            && (self.anything || self.paths.is_match(&frame.path) || self.functions.is_match(&frame.function))
    }

    /// The directory of an installed package that a path lies in: what the rule matches, and the name below it.
    fn root(&self, path: &str) -> Option<String> {
        let found = self.roots.iter().find_map(|pattern| pattern.find(path))?;
        let below = path.get(found.end()..)?;
        let directory = below.split_once('/').map(|(name, _)| format!("{}{name}/", found.as_str()));
        Some(directory.unwrap_or_else(|| found.as_str().to_owned())).filter(|root| root.ends_with('/'))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn owners() -> Owners {
        let rule = |owner, paths: &[&str], functions: &[&str], unless_own| OwnerRule {
            owner: Some(owner),
            languages: Vec::new(),
            paths: paths.iter().map(|text| (*text).to_owned()).collect(),
            functions: functions.iter().map(|text| (*text).to_owned()).collect(),
            unless_own,
        };
        let mut foreign = rule(FrameOwner::Library, &[], &[], true);
        foreign.languages = vec![FrameLanguage::Jvm];
        let rules = [
            rule(FrameOwner::Runtime, &[], &[r"^java\."], false),
            rule(FrameOwner::Library, &["site-packages/"], &[r"^org\.junit\."], false),
            rule(FrameOwner::Test, &[r"(?:^|/)tests?/", r"test_\w+\.py$"], &[r"Test\."], false),
            foreign,
        ];
        Owners::new(&rules, r"^\w+\.\w+\.", "").unwrap()
    }

    #[test]
    fn directories_above_a_checkout_do_not_count() {
        use FrameOwner::{Product, Test};
        let owned = |paths: &[&str]| {
            let frames: Vec<ParsedFrame> = paths.iter().map(|path| python(path)).collect();
            let owners = owners();
            let own = owners.own("", "", &frames);
            frames.iter().map(|frame| owners.owner(frame, &own)).collect::<Vec<_>>()
        };
        assert_eq!(owned(&["/ci/tests/shop/src/shop/order.py", "/ci/tests/shop/tests/test_order.py"]), [Product, Test]);
        assert_eq!(owned(&["/ci/shop/tests/helpers/cart.py", "/ci/shop/tests/test_order.py"]), [Test, Test]);
        assert_eq!(owned(&["/ci/shop/tests/helpers/cart.py", "/ci/shop/tests/helpers/test_order.py"]), [Test, Test]);
        assert_eq!(owned(&["/ci/shop/tests/a.py"]), [Test]);
    }

    fn jvm(function: &str) -> ParsedFrame {
        ParsedFrame { language: FrameLanguage::Jvm, function: function.to_owned(), path: String::new(), line: 1 }
    }

    fn python(path: &str) -> ParsedFrame {
        ParsedFrame { language: FrameLanguage::Python, function: String::new(), path: path.to_owned(), line: 1 }
    }

    #[test]
    fn what_no_rule_fits_is_the_products() {
        let owners = owners();
        let own = owners.own("com.shop.CartTest", "", &[]);
        let of = |function: &str| owners.owner(&jvm(function), &own);
        assert_eq!(of("com.shop.Cart.total"), FrameOwner::Product);
        assert_eq!(of("com.shop.CartTest.adds"), FrameOwner::Test);
        assert_eq!(of("org.junit.Assert.fail"), FrameOwner::Library);
        assert_eq!(of("java.util.List.of"), FrameOwner::Runtime);
        assert_eq!(of("com.zaxxer.Pool.get"), FrameOwner::Library, "not of the test's own package");
    }

    #[test]
    fn the_deciding_rule_is_named() {
        let owners = owners();
        let own = owners.own("com.shop.CartTest", "", &[]);
        let why = |frame: &ParsedFrame| {
            let reason = owners.reason(frame, &own);
            assert_eq!(reason.owner, owners.owner(frame, &own));
            (reason.rule, reason.pattern)
        };
        assert_eq!(why(&jvm("java.util.List.of")), (Some(1), Some(r"^java\.".into())));
        assert_eq!(why(&jvm("org.junit.Assert.fail")), (Some(2), Some(r"^org\.junit\.".into())));
        assert_eq!(why(&jvm("com.shop.Cart.total")), (None, None));
        assert_eq!(why(&python("/venv/site-packages/requests/api.py")), (Some(2), Some("site-packages/".into())));
    }

    #[test]
    fn without_a_known_package_nothing_is_foreign() {
        let owners = owners();
        assert_eq!(owners.owner(&jvm("com.zaxxer.Pool.get"), &Own::default()), FrameOwner::Product);
    }

    #[test]
    fn a_library_under_test_is_a_product() {
        let owners = owners();
        let own = owners.own("org.junit.RunnerTest", "", &[]);
        assert_eq!(owners.owner(&jvm("org.junit.Runner.run"), &own), FrameOwner::Product);
        let frames = [python("/venv/site-packages/shop/tests/test_cart.py"), python("/venv/site-packages/shop/cart.py")];
        let own = owners.own("", "", &frames);
        assert_eq!(owners.owner(&frames[1], &own), FrameOwner::Product, "installed, as the test is");
        assert_eq!(owners.owner(&python("/venv/site-packages/requests/api.py"), &own), FrameOwner::Library);
        let runner = [python("/venv/site-packages/runner/tests/loader.py")];
        assert_eq!(owners.owner(&runner[0], &owners.own("", "", &runner)), FrameOwner::Library, "a directory alone is no test");
    }
}
