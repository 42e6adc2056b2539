//! What a bundled script defines and imports, read off its lines without parsing it.
//!
//! The bundled scripts begin every definition and import at the start of a line; a test compares their outlines with what the
//! parser says. Other scripts are parsed.

use super::resolver::script_of;

/// The outline of a script.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ScriptOutline<'t> {
    /// The paths of the scripts it imports.
    pub(crate) imports: Vec<String>,
    /// Its functions, in source order, without closures.
    pub(crate) functions: Vec<OutlinedFunction<'t>>,
}

/// A function of an [`ScriptOutline`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OutlinedFunction<'t> {
    pub(crate) name: &'t str,
    pub(crate) params: Vec<&'t str>,
    pub(crate) private: bool,
}

impl<'t> ScriptOutline<'t> {
    /// Reads the outline of a bundled script.
    pub(crate) fn of(text: &'t str) -> Self {
        let mut outline = Self::default();
        for line in text.lines() {
            if let Some(import) = line.strip_prefix("import \"") {
                outline.imports.extend(import.split_once('"').and_then(|(path, _)| script_of(path).ok()));
                continue;
            }
            let (private, line) = line.strip_prefix("private ").map_or((false, line), |rest| (true, rest));
            let Some((name, params)) = line.strip_prefix("fn ").and_then(|head| head.split_once('(')) else { continue };
            let params = params.split_once(')').map_or("", |(params, _)| params);
            let params = params.split(',').map(str::trim).filter(|param| !param.is_empty()).collect();
            outline.functions.push(OutlinedFunction { name, params, private });
        }
        outline
    }
}

/// The names that stand after a dot: the fields that a script reads are among them.
pub(crate) fn names_after_dots(text: &str) -> impl Iterator<Item = &str> {
    memchr::memchr_iter(b'.', text.as_bytes()).filter_map(|dot| {
        let rest = &text[dot + 1..];
        let end = rest.bytes().position(|byte| !byte.is_ascii_alphanumeric() && byte != b'_').unwrap_or(rest.len());
        Some(&rest[..end]).filter(|name| name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_and_imports_are_read_off_the_lines() {
        let text = "//! A.\nimport \"lib/a\" as a;\n\n/// fn no\nfn one(x, y) {\n    fn inner() {}\n}\nprivate fn two() { 1 }\n";
        let function = |name, params, private| OutlinedFunction { name, params, private };
        let functions = vec![function("one", vec!["x", "y"], false), function("two", vec![], true)];
        assert_eq!(ScriptOutline::of(text), ScriptOutline { imports: vec!["lib/a.rhai".to_owned()], functions });
    }

    #[test]
    fn names_after_dots_are_all_fields_and_more() {
        let found: Vec<&str> = names_after_dots("a.b + c.d_e(1.5) .. 0..n a?.f \u{e9}.g.").collect();
        assert_eq!(found, ["b", "d_e", "n", "f", "g"]);
    }
}
