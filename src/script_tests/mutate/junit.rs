//! What became of mutants in the form of JUnit: a suite a script, a test case a mutant; survivors are failures.

use super::{MutantFate, MutatedFile, Mutation, diff};
use crate::script_tests::junit::escape;
use std::fmt::Write as _;

/// The XML.
pub fn junit(mutation: &Mutation) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let counts =
        |all: usize, failures: usize, skipped: usize| format!("tests=\"{all}\" failures=\"{failures}\" skipped=\"{skipped}\"");
    let explained = |fate: &MutantFate| matches!(fate, MutantFate::Explained(_));
    let all = counts(mutation.count(|_| true), mutation.unexplained(), mutation.count(explained));
    let _ = writeln!(out, "<testsuites name=\"asterisk test --mutate\" {all}>");
    for file in &mutation.files {
        let all = counts(file.mutants.len(), file.count(MutantFate::is_unexplained), file.count(explained));
        let _ = writeln!(out, "  <testsuite name=\"{}\" {all}>", escape(file.source.name()));
        cases(file, &mut out);
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn cases(file: &MutatedFile, out: &mut String) {
    let name = escape(file.source.name());
    for (mutant, fate) in &file.mutants {
        let (line, column) = file.source.line_column(mutant.span.start);
        let head = format!(
            "    <testcase name=\"{}: {} at {line}:{column}, `{}`\" classname=\"{name}\" file=\"{name}\" line=\"{line}\"",
            escape(&mutant.function),
            mutant.mutator,
            escape(&mutant.replacement)
        );
        let patch = || escape(&diff(&file.source, mutant));
        let _ = match fate {
            MutantFate::Killed(_) | MutantFate::Endless(_) => writeln!(out, "{head}/>"),
            MutantFate::Explained(why) => writeln!(out, "{head}><skipped message=\"{}\"/></testcase>", escape(why)),
            MutantFate::Survived => writeln!(out, "{head}><failure message=\"no test notices\">{}</failure></testcase>", patch()),
            MutantFate::NotReached => {
                writeln!(out, "{head}><failure message=\"no test calls it\">{}</failure></testcase>", patch())
            }
        };
    }
}
