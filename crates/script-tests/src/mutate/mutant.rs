//! All mutants of a script.

use super::mutators::mutators;
use super::words::ScriptWords;
use asterisk_diag::{Source, Span};
use asterisk_script::Unit;
use std::collections::BTreeSet;

/// A script changed in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Which mutator changed it.
    pub mutator: &'static str,
    /// The function, or the constant of the script, that the change is in.
    pub function: String,
    /// Whether it is a constant.
    pub constant: bool,
    /// Its name where it is defined.
    pub defined: Span,
    /// What was changed.
    pub span: Span,
    /// What stands there now.
    pub replacement: String,
}

impl Mutant {
    /// The script with the change.
    pub fn source(&self, original: &Source) -> Source {
        let text = original.text();
        let changed = [&text[..self.span.start], &self.replacement, &text[self.span.end..]].concat();
        Source::new(original.name(), changed)
    }
}

/// Constants that declare what a script is for and what it reads: a pipeline that names it is linked by them, and no test of a
/// function can see them.
const DECLARED: [&str; 2] = ["NODES", "NEEDS"];

/// The mutants of a script's functions and constants, in the order of the text and of the mutators. No two are the same text.
pub(super) fn mutants(unit: &Unit) -> Vec<Mutant> {
    let words = ScriptWords::of(unit);
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for body in words.bodies().into_iter().filter(|body| !body.constant || !DECLARED.contains(&body.name.as_str())) {
        for at in body.words.clone() {
            for mutator in mutators() {
                for (span, replacement) in (mutator.at)(&words, at) {
                    if seen.insert((span.start, span.end, replacement.clone())) {
                        let (function, constant) = (body.name.clone(), body.constant);
                        found.push(Mutant { mutator: mutator.id, function, constant, defined: body.at, span, replacement });
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_script::{Library, LibraryInputs};

    /// The mutants of the body of a function, each as its mutator and the body.
    fn of(body: &str) -> Vec<String> {
        let text = format!("fn f(a, b, vars) {{ {body} }}\n");
        let source = Source::new("a.rhai", text);
        let library =
            Library::link(LibraryInputs { scripts: vec![source.clone()], ..LibraryInputs::default() }, None).expect("links");
        let unit = library.file("a.rhai").expect("there").unit();
        let inner = |mutant: &Mutant| {
            let text = mutant.source(&source);
            let text = text.text().trim_end();
            format!("{}: {}", mutant.mutator, &text["fn f(a, b, vars) { ".len()..text.len() - 2])
        };
        mutants(unit).iter().map(inner).collect()
    }

    #[test]
    fn operators_are_exchanged() {
        assert_eq!(of("a >= b"), ["boundary: a > b", "comparison: a < b"]);
        assert_eq!(of("a == b && !a.x"), ["comparison: a != b && !a.x", "logic: a == b || !a.x", "not: a == b && a.x"]);
        assert_eq!(of("a + b * a"), ["arithmetic: a - b * a", "arithmetic: a + b / a"]);
        assert_eq!(of("a in b"), ["comparison: a !in b"]);
        assert_eq!(of("a.any(|x| x != b)"), ["call: a.all(|x| x != b)", "comparison: a.any(|x| x == b)"]);
    }

    #[test]
    fn values_are_changed() {
        assert_eq!(of("[true, 7]"), ["boolean: [false, 7]", "number: [true, 8]", "number: [true, 6]"]);
        assert_eq!(of("0.5"), ["number: 0.55", "number: 0.45"]);
        assert_eq!(of("[-1]"), ["number: [0]", "number: [-2]"]);
        assert_eq!(
            of("vars.x - vars.y"),
            [
                "threshold: (vars.x + 1) - vars.y",
                "threshold: vars.y - vars.y",
                "arithmetic: vars.x + vars.y",
                "threshold: vars.x - (vars.y + 1)",
                "threshold: vars.x - vars.x",
            ]
        );
        assert_eq!(of(r#"["word", ""]"#), [r#"string: ["", ""]"#, r#"string: ["word", "x"]"#]);
    }

    #[test]
    fn conditions_and_statements_are_taken_away() {
        assert_eq!(
            of("if a { return b; } b"),
            [
                "condition: if true { return b; } b",
                "condition: if false { return b; } b",
                "return: if a { return (); } b",
                "statement: if a {  } b",
            ]
        );
        assert_eq!(of("let x = a; x.push(b); x"), ["statement: let x = a;  x"]);
        assert_eq!(of("switch a { 1 if b.x => a, _ => b }").len(), 4);
    }

    #[test]
    fn comments_prose_and_what_changes_nothing_are_left() {
        for body in [
            "// a >= b, true\n a",
            "\"a >= b && true\"",
            "`a >= b + 1`",
            "`${a}>=${b}\"x\"${a}true`",
            "a + 0",
            "a * 1.0",
            "for x in a { let y = x; } a",
            "for (x, at) in a { let y = x; } a",
            "[|| a]",
            "#{ \"key\": a }",
        ] {
            let found: Vec<String> = of(body).into_iter().filter(|found| !found.starts_with("number")).collect();
            assert_eq!(found, [""; 0], "{body}");
        }
        assert_eq!(of("if true { a }"), ["condition: if false { a }"], "one change has one mutator");
    }

    #[test]
    fn constants_of_the_script_are_changed() {
        let text = "const MOST = 3;\nexport const WORDS = [\"a\"];\nconst NEEDS = [\"siblings\"];\nlet x = 1;\nfn f(a) { a > global::MOST }\n";
        let source = Source::new("a.rhai", text);
        let library =
            Library::link(LibraryInputs { scripts: vec![source.clone()], ..LibraryInputs::default() }, None).expect("links");
        let found = mutants(library.file("a.rhai").expect("there").unit());
        let found: Vec<String> = found.iter().map(|found| format!("{} {}", found.function, found.replacement)).collect();
        assert_eq!(found, ["MOST 4", "MOST 2", "WORDS \"\"", "f >=", "f <="]);
    }

    #[test]
    fn numbers_inside_texts_are_mutated_as_the_code_they_are() {
        assert_eq!(of("`${a + 1}`"), ["arithmetic: `${a - 1}`", "number: `${a + 2}`", "number: `${a + 0}`"]);
        assert_eq!(of("a[0]"), ["number: a[1]"]);
        assert_eq!(of("a.len() > 0"), ["boundary: a.len() >= 0", "comparison: a.len() <= 0", "number: a.len() > 1"]);
    }
}
