//! Output of `asterisk test --mutate`.

use super::junit::{self, JunitCase, JunitNote, JunitSuite};
use crate::ui::{Ui, plain};
use asterisk_diag::Diagnostic;
use asterisk_script_tests::mutate::{Mutant, MutantFate, MutatedFile, Mutation, diff};
use serde_json::{Value, json};

/// Prints the survivors with their patches, a row per file, and a summary.
pub(super) fn show(ui: &Ui, mutation: &Mutation, whole: bool) {
    for file in &mutation.files {
        for (mutant, fate) in &file.mutants {
            match fate {
                MutantFate::Survived => shown(ui, file, mutant, "survived"),
                MutantFate::Explained(reason) if whole => shown(ui, file, mutant, &format!("explained: {reason}")),
                MutantFate::NotReached if whole => shown(ui, file, mutant, "not reached"),
                MutantFate::Killed(test) if whole => shown(ui, file, mutant, &format!("killed by {test}")),
                MutantFate::Endless(test) if whole => shown(ui, file, mutant, &format!("killed by {test}, which did not end")),
                _ => {}
            }
        }
    }
    not_reached(ui, mutation);
    let mut table = ui.table(&["script", "mutants", "killed", "survived", "explained", "not reached", "score"]);
    for file in &mutation.files {
        table.row(row(file.source.name(), file.mutants.len(), &|fate| file.count(fate)));
    }
    if mutation.files.len() > 1 {
        table.row(row("all", mutation.count(|_| true), &|fate| mutation.count(fate)));
    }
    ui.out(&table.text());
    let took = if mutation.seconds > 0.0 { format!(" in {:.2} s", mutation.seconds) } else { String::new() };
    let (all, left) = (mutation.count(|_| true), mutation.unexplained());
    let tests = if mutation.tests == 1 { "1 test".to_owned() } else { format!("{} tests", mutation.tests) };
    ui.out(&format!("\n{all} mutants, {tests}: {left} unexplained{took}"));
    mutation.complaints.iter().for_each(|complaint| ui.diagnostic(complaint));
}

fn row(name: &str, all: usize, count: &dyn Fn(fn(&MutantFate) -> bool) -> usize) -> [String; 7] {
    let killed = count(MutantFate::is_killed);
    let explained = count(|fate| matches!(fate, MutantFate::Explained(_)));
    [
        plain(name),
        all.to_string(),
        killed.to_string(),
        count(|fate| *fate == MutantFate::Survived).to_string(),
        explained.to_string(),
        count(|fate| *fate == MutantFate::NotReached).to_string(),
        score(killed, all - explained),
    ]
}

/// The share of mutants killed of those not explained, in percent.
#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn score(killed: usize, all: usize) -> String {
    if all == 0 { "-".to_owned() } else { format!("{:.1} %", 100.0 * killed as f64 / all as f64) }
}

fn shown(ui: &Ui, file: &MutatedFile, mutant: &Mutant, how: &str) {
    let (line, column) = file.source.line_column(mutant.span.start);
    ui.out(&plain(&format!("{}:{line}:{column}: {} {how}, in {}", file.source.name(), mutant.mutator, mutant.function)));
    for line in diff(&file.source, mutant).lines() {
        ui.out(&plain(line));
    }
    ui.out("");
}

/// Prints the functions that no test calls, a line each.
fn not_reached(ui: &Ui, mutation: &Mutation) {
    let mut any = false;
    for file in &mutation.files {
        for own in file.mutants.chunk_by(|(a, _), (b, _)| a.defined == b.defined) {
            let first = &own[0].0;
            let unreached = own.iter().filter(|(_, fate)| *fate == MutantFate::NotReached).count();
            if unreached > 0 {
                let line = file.source.line_column(first.defined.start).0;
                let mutants = if unreached == 1 { "1 mutant".to_owned() } else { format!("{unreached} mutants") };
                ui.out(&plain(&format!(
                    "{}:{line}: no test calls {}: {mutants} not reached",
                    file.source.name(),
                    first.function
                )));
                any = true;
            }
        }
    }
    if any {
        ui.out("");
    }
}

/// The results as JSON.
pub(super) fn as_json(mutation: &Mutation) -> Value {
    let mutant = |file: &MutatedFile, mutant: &Mutant, fate: &MutantFate| {
        let (line, column) = file.source.line_column(mutant.span.start);
        let (status, by, reason) = match fate {
            MutantFate::Killed(test) => ("killed", Some(test), None),
            MutantFate::Endless(test) => ("endless", Some(test), None),
            MutantFate::Survived => ("survived", None, None),
            MutantFate::Explained(reason) => ("explained", None, Some(reason)),
            MutantFate::NotReached => ("not_reached", None, None),
        };
        json!({
            "mutator": mutant.mutator, "function": mutant.function, "line": line, "column": column,
            "text": file.source.slice(mutant.span), "replacement": mutant.replacement, "status": status, "test": by,
            "reason": reason, "diff": if fate.is_killed() { Value::Null } else { diff(&file.source, mutant).into() },
        })
    };
    let files: Vec<Value> = mutation
        .files
        .iter()
        .map(|file| {
            let mutants: Vec<Value> = file.mutants.iter().map(|(found, fate)| mutant(file, found, fate)).collect();
            json!({ "file": file.source.name(), "mutants": mutants })
        })
        .collect();
    let complaint = |complaint: &Diagnostic| {
        let line = complaint.primary().map(|label| label.source.line_column(label.span.start).0);
        let file = complaint.primary().map(|label| label.source.name().to_owned());
        json!({ "file": file, "line": line, "message": complaint.message })
    };
    json!({
        "schema_version": 1, "files": files, "mutants": mutation.count(|_| true), "killed": mutation.count(MutantFate::is_killed),
        "survived": mutation.count(|fate| *fate == MutantFate::Survived),
        "explained": mutation.count(|fate| matches!(fate, MutantFate::Explained(_))),
        "not_reached": mutation.count(|fate| *fate == MutantFate::NotReached),
        "allows": mutation.complaints.iter().map(complaint).collect::<Vec<_>>(), "seconds": mutation.seconds,
    })
}

/// `JUnit` XML: a suite per script, a test case per mutant; survivors are failures.
pub(super) fn junit(mutation: &Mutation) -> String {
    let case = |file: &MutatedFile, (mutant, fate): &(Mutant, MutantFate)| {
        let (line, column) = file.source.line_column(mutant.span.start);
        let failure = |message| Some(JunitNote::failure(message, diff(&file.source, mutant)));
        let note = match fate {
            MutantFate::Killed(_) | MutantFate::Endless(_) => None,
            MutantFate::Explained(why) => {
                Some(JunitNote { element: "skipped", attributes: vec![("message", why.clone())], text: String::new() })
            }
            MutantFate::Survived => failure("no test notices"),
            MutantFate::NotReached => failure("no test calls it"),
        };
        JunitCase {
            name: format!("{}: {} at {line}:{column}, `{}`", mutant.function, mutant.mutator, mutant.replacement),
            line: Some(line),
            notes: note.into_iter().collect(),
            ..JunitCase::default()
        }
    };
    let suite = |file: &MutatedFile| JunitSuite {
        name: file.source.name().to_owned(),
        cases: file.mutants.iter().map(|mutant| case(file, mutant)).collect(),
        ..JunitSuite::default()
    };
    junit::write("asterisk test --mutate", &mutation.files.iter().map(suite).collect::<Vec<_>>(), 0.0)
}
