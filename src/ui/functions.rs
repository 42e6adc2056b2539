//! Documentation of the functions that scripts may call.

use asterisk_diag::{Diagnostic, did_you_mean};
use asterisk_script::Library;
use asterisk_script::api::{HostFn, registry, test_registry};
use std::fmt::Write as _;

/// Functions with their documentation.
#[derive(Debug)]
pub struct FunctionDocs {
    /// Functions of the host.
    pub host: Vec<&'static HostFn>,
    /// Functions of scripts.
    pub scripts: Vec<ScriptFn>,
}

/// A function of a script.
#[derive(Debug)]
pub struct ScriptFn {
    /// The script's path.
    pub file: String,
    pub name: String,
    /// Its name and parameters.
    pub signature: String,
    /// Its `///` comment.
    pub doc: String,
}

impl FunctionDocs {
    /// Selects the functions with a name, in a group or in a script; all of them without a name. An unknown name is an error.
    pub fn named(library: &Library, name: Option<&str>) -> Result<Self, Diagnostic> {
        let wanted = |names: &[&str]| name.is_none_or(|name| names.contains(&name));
        let all_host = || registry().iter().chain(test_registry());
        let host: Vec<&HostFn> = all_host().filter(|function| wanted(&[function.name, function.group])).collect();
        let mut scripts: Vec<ScriptFn> = Vec::new();
        for file in library.files() {
            for function in file.functions() {
                if wanted(&[file.path(), &function.name, &format!("{}#{}", file.path(), function.name)]) {
                    scripts.push(ScriptFn {
                        file: file.path().to_owned(),
                        name: function.name.clone(),
                        signature: format!("{}({})", function.name, function.params.join(", ")),
                        doc: function.doc.clone(),
                    });
                }
            }
        }
        match name {
            Some(name) if host.is_empty() && scripts.is_empty() => {
                let diagnostic = Diagnostic::error("input/no-function", format!("unknown function, group or script `{name}`"));
                Err(diagnostic.maybe_help(did_you_mean(name, all_host().map(|function| function.name))))
            }
            _ => Ok(Self { host, scripts }),
        }
    }

    /// As text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut group = "";
        for function in &self.host {
            if function.group != group {
                group = function.group;
                let tests = test_registry().iter().any(|other| other.group == group);
                let _ = writeln!(out, "# {group}{}", if tests { " (in *_test.rhai files only)" } else { "" });
            }
            let HostFn { signature, doc, example, result, .. } = function;
            let _ = writeln!(out, "\n{signature}\n    {doc}\n    {example} == {result}");
        }
        let mut file = "";
        for function in &self.scripts {
            if function.file != file {
                file = &function.file;
                let _ = writeln!(out, "\n# {file}");
            }
            let _ = writeln!(out, "\n{}", function.signature);
            for line in function.doc.lines() {
                let _ = writeln!(out, "    {line}");
            }
        }
        out
    }
}
