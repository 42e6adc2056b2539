//! The available tests, and the requested ones.

use asterisk_diag::{Diagnostic, Diagnostics, did_you_mean};
use asterisk_script::{Library, is_test_file};
use asterisk_session::{SessionError, TestFile};

/// A file of tests with its requested tests.
#[derive(Clone, Debug)]
pub struct SelectedFile {
    /// The file.
    pub file: TestFile,
    /// The names of the tests, in the order of the text.
    pub tests: Vec<String>,
}

/// What the name of a test begins with.
const TEST: &str = "test_";

/// The tests of these files whose `file#name` contains the filter. `library` holds the files.
pub(super) fn select(files: &[TestFile], library: &Library, filter: Option<&str>) -> Result<Vec<SelectedFile>, SessionError> {
    let mut problems = Diagnostics::new();
    let mut all = Vec::new();
    let mut selected = Vec::new();
    for file in files {
        let Some(linked) = library.file(file.source.name()) else { continue };
        let named = || linked.signatures().filter(|function| function.name.starts_with(TEST));
        if named().any(|function| function.private || !function.params.is_empty()) {
            misnamed(linked.unit(), &mut problems);
        }
        let ids: Vec<(String, String)> = named()
            .filter(|function| !function.private)
            .map(|function| (function.name.to_owned(), format!("{}#{}", linked.path(), function.name)))
            .collect();
        let wanted = |id: &str| filter.is_none_or(|filter| id.contains(filter));
        let tests: Vec<String> = ids.iter().filter(|(_, id)| wanted(id)).map(|(name, _)| name.clone()).collect();
        all.extend(ids.into_iter().map(|(_, id)| id));
        if !tests.is_empty() {
            selected.push(SelectedFile { file: file.clone(), tests });
        }
    }
    if problems.has_errors() {
        return Err(problems.into());
    }
    if selected.is_empty()
        && let Some(filter) = filter
    {
        let names = all.iter().map(|id| id.rsplit('#').next().unwrap_or(id));
        let hint = did_you_mean(filter, names);
        let hint = hint.unwrap_or_else(|| format!("there are {} tests: `asterisk test --list` lists them", all.len()));
        let message = format!("no test has `{filter}` in its name");
        return Err(SessionError::BadRequest(Box::new(Diagnostic::error("test/no-match", message).help(hint))));
    }
    Ok(selected)
}

/// Functions that are called like tests and are none: they would never run.
fn misnamed(unit: &asterisk_script::Unit, problems: &mut Diagnostics) {
    debug_assert!(is_test_file(unit.name()));
    for function in unit.tree().functions.iter().filter(|function| function.name().starts_with(TEST)) {
        if !function.private && function.params.is_empty() {
            continue;
        }
        let (message, help) = if function.private {
            (format!("`{}` is private, so it would never run", function.name()), "remove the `private`")
        } else {
            (
                format!("`{}` has parameters, so it would never run", function.name()),
                "tests take no parameters; `table(rows, |row| ..)` tries the rows of a table, and rename a helper",
            )
        };
        let problem = Diagnostic::error("test/not-run", message).help(help);
        problems.push(match unit.definition(&function.head) {
            Some((source, span)) => problem.label(&source, span, ""),
            None => problem,
        });
    }
}
