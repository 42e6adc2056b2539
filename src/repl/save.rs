//! A decision as a test: what it was made on in a file of data, what came of it in a script beside it.

use super::here::Here;
use crate::diag::Diagnostic;
use crate::files::unpack;
use crate::script::is_test_file;
use crate::session::SessionError;
use crate::walk::{Considered, Decision, Failure};
use serde_json::{Value, json};
use std::path::Path;

/// What came of a decision.
type Decided = Result<Decision, (Vec<Considered>, Failure)>;

/// Writes the test, and says what was written. `from` says where the decision is from.
pub(super) fn save(here: &Here, file: &str, from: &str) -> Result<Vec<String>, SessionError> {
    let wrong = |message: String, help: &str| Err(SessionError::asked("repl/test", message, Some(help.to_owned())));
    let path = Path::new(file);
    let stem = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".rhai")).unwrap_or_default();
    let is_name = !stem.is_empty() && stem.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !is_test_file(file) || !is_name {
        return wrong(format!("`{file}` is no name for a test"), "write for example :save-as-test scripts/rules/seen_test.rhai");
    }
    let decided = here.decide()?;
    let files = [(format!("{stem}.rhai"), test(here, &decided, stem, from)), (format!("{stem}.json"), data(here))];
    let dir = path.parent().unwrap_or(Path::new(""));
    let done = unpack(dir, &files, false).map_err(|error| {
        let diagnostic = Diagnostic::error("output/exists", error.to_string());
        SessionError::Asked(Box::new(diagnostic.help("take another name, or move the file away")))
    })?;
    Ok(done.written.iter().chain(&done.same).map(|name| dir.join(name).display().to_string()).collect())
}

fn test(here: &Here, decided: &Decided, stem: &str, from: &str) -> String {
    let (node, pipeline) = (here.node_name(), here.plan.pipeline.name.value.as_str());
    let name = stem.strip_suffix("_test").unwrap_or(stem);
    let text = |text: &str| Value::String(text.to_owned()).to_string();
    let expected = match decided {
        Ok(decision) => match &decision.choice {
            Some(choice) => {
                let to = here.plan.pipeline.target_name(choice.to);
                format!("assert_eq([got.edge, got.to], [{}, {}]);", text(&choice.name), text(to))
            }
            None => "assert_eq(got.edge, ());".to_owned(),
        },
        Err((_, failure)) => format!("assert_eq(got.error, {});", text(failure.kind.word())),
    };
    format!(
        "//! What was decided at `{node}`{from}.\n\nfn test_{name}() {{\n    let seen = fixture(\"{stem}.json\");\n    \
         let got = decide({}, #{{ artifact: seen.artifact, state: seen.state, vars: seen.vars, pipeline: {} }});\n    {expected}\n}}\n",
        text(node),
        text(pipeline)
    )
}

/// What it was decided on, the state as `asterisk route --state` takes it.
fn data(here: &Here) -> String {
    let [artifact, mut state, vars] = here.inputs().map(|(_, view)| view.json());
    for visit in state["history"].as_array_mut().into_iter().flatten() {
        // The edge taken has a second name for rules.
        if let Some(visit) = visit.as_object_mut() {
            visit.remove("outcome");
        }
    }
    let seen = json!({ "artifact": artifact, "state": state, "vars": vars });
    serde_json::to_string_pretty(&seen).unwrap_or_default() + "\n"
}
