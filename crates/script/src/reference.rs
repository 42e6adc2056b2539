//! References to script functions: `path/in/scripts.rhai#function`.

use asterisk_diag::Diagnostic;
use std::fmt;

/// A reference to a function of a script.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionRef {
    /// The script's path below the script root.
    pub file: String,
    /// The function's name.
    pub function: String,
}

impl FunctionRef {
    /// Parses a reference. The diagnostic is not labelled: the caller knows the location of the reference.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let error = |message: String, help: &str| Err(Diagnostic::error("script/reference", message).help(help));
        let Some((file, function)) = text.split_once('#') else {
            return error(format!("`{text}` does not name a function"), "write `path/of/script.rhai#function`");
        };
        if let Err(why) = check_path(file) {
            return error(
                format!("`{file}` {why}"),
                "write the path of a script below the script root, such as `rules/rca.rhai`",
            );
        }
        if file.strip_suffix(".rhai").is_none_or(str::is_empty) {
            return error(format!("`{file}` is not a script"), "a script's name ends in `.rhai`");
        }
        if !is_name(function) {
            return error(format!("`{function}` is not a function name"), "write `path/of/script.rhai#function`");
        }
        Ok(Self { file: file.to_owned(), function: function.to_owned() })
    }
}

impl fmt::Display for FunctionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.file, self.function)
    }
}

/// Whether a path is that of a test script: `*_test.rhai`.
pub fn is_test_file(path: &str) -> bool {
    path.ends_with("_test.rhai")
}

/// Checks that a path has only plain components below the root. An error is the reason.
pub(crate) fn check_path(path: &str) -> Result<(), &'static str> {
    if path.is_empty() {
        Err("is empty")
    } else if path.contains('\\') {
        Err("has a backslash: components are separated by `/`")
    } else if path.starts_with('/') || path.chars().nth(1) == Some(':') {
        Err("is absolute: scripts are named by their path below the script root")
    } else if path.split('/').any(|part| part == "..") {
        Err("leaves the script root")
    } else if path.split('/').any(|part| part.is_empty() || part == ".") || path.chars().any(char::is_control) {
        Err("is not a plain path")
    } else {
        Ok(())
    }
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|ch| ch.is_ascii_alphanumeric() || ch == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_name_a_file_and_a_function() {
        let reference = FunctionRef::parse("rules/rca.rhai#recall_hit").expect("a reference");
        assert_eq!((reference.file.as_str(), reference.function.as_str()), ("rules/rca.rhai", "recall_hit"));
        assert_eq!(reference.to_string(), "rules/rca.rhai#recall_hit");
    }

    #[test]
    fn everything_else_is_refused_with_a_reason() {
        for (text, why) in [
            ("rules/rca.rhai", "does not name a function"),
            ("rules/rca.rhai#", "not a function name"),
            ("rules/rca.rhai#a b", "not a function name"),
            ("rules/rca.rhai#1a", "not a function name"),
            ("rules/rca#x", "is not a script"),
            ("#x", "is empty"),
            ("../x.rhai#f", "leaves the script root"),
            ("a/../../x.rhai#f", "leaves the script root"),
            ("/etc/x.rhai#f", "is absolute"),
            ("C:/x.rhai#f", "is absolute"),
            ("a\\b.rhai#f", "backslash"),
            ("a//b.rhai#f", "not a plain path"),
            ("./b.rhai#f", "not a plain path"),
        ] {
            let error = FunctionRef::parse(text).expect_err(text);
            assert!(error.message.contains(why), "{text}: {}", error.message);
            assert!(error.help.is_some() && error.labels.is_empty(), "{text}");
        }
    }
}
