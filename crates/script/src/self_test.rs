//! The start-up self-test: verifies that numbers compare as numbers and with nothing else, before any rule decides anything. A
//! dependency that changed its behaviour would otherwise change decisions silently. It also verifies that a call that holds too
//! much memory is stopped: without the counting allocator, none would be.

use super::fault::LIMIT;
use super::{FunctionRef, Library, LibraryInputs, RuleOutcome, ScriptLimits, View};
use asterisk_base::model::Kind;
use asterisk_diag::{Diagnostic, Source};
use serde_json::json;
use std::sync::OnceLock;

const SCRIPT: &str = r"
fn numbers(artifact, state, vars) {
    artifact.nine < artifact.ten && artifact.ten > 9.5 && artifact.nine == 9.0 && !(0.1 + 0.2 == 0.3) && artifact.half >= vars.half
}
fn mixed(artifact, state, vars) { artifact.word >= artifact.half }
fn unknown(artifact, state, vars) { artifact.nothing >= 0 }
fn large(artifact, state, vars) { let list = []; list.pad(8192, 0); list.len() == 8192 }
";

/// The memory limit of the test: less than the list of `large`.
const MEMORY: usize = 64 << 10;

/// Runs the test, once per process.
pub fn self_test() -> Result<(), Box<Diagnostic>> {
    static RESULT: OnceLock<Result<(), String>> = OnceLock::new();
    let failed = |what: &str| {
        let message = format!("the script engine fails its self-test: {what}");
        Box::new(Diagnostic::error("script/self-test", message).help("this build cannot be trusted with decisions"))
    };
    RESULT.get_or_init(run).clone().map_err(|what| failed(&what))
}

fn run() -> Result<(), String> {
    let limits = ScriptLimits { memory: MEMORY, ..ScriptLimits::default() };
    let inputs = LibraryInputs { scripts: vec![Source::new("self/test.rhai", SCRIPT)], limits, ..LibraryInputs::default() };
    let library = Library::link(inputs, None).map_err(|found| found.to_string())?;
    let artifact = View::of(&json!({"nine": 9, "ten": 10, "half": 0.5, "word": "0.9"}), &Kind::Any, "artifact");
    let vars = View::of(&json!({"half": 0.5}), &Kind::Any, "vars");
    let decide = |name: &str| -> Result<RuleOutcome, Box<Diagnostic>> {
        let reference = FunctionRef { file: "self/test.rhai".into(), function: name.into() };
        library.function(&reference, 3)?.decide(&artifact, &vars, &vars)
    };
    match decide("numbers") {
        Ok(RuleOutcome::Yes { .. }) => {}
        other => return Err(format!("numbers do not compare as numbers: {other:?}")),
    }
    for (name, code) in [("mixed", "rule/compare-types"), ("unknown", "rule/unknown-field"), ("large", LIMIT)] {
        match decide(name) {
            Err(diagnostic) if diagnostic.code == code => {}
            other => return Err(format!("`{name}` is not a `{code}`: {other:?}")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_build_passes() {
        assert_eq!(super::self_test(), Ok(()));
    }
}
