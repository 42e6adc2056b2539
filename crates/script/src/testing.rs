//! Helpers for the tests of the script host.

use super::{Condition, FunctionRef, Library, LibraryInputs, RuleOutcome, ScriptFunction, ScriptLimits, View};
use asterisk_base::model::Kind;
use asterisk_diag::{Diagnostic, Diagnostics, MappedText, Source, Span};
use serde_json::{Value, json};

/// Links scripts given as (path, text).
pub(crate) fn try_link(scripts: &[(&str, &str)]) -> Result<Library, Diagnostics> {
    try_link_with(scripts, ScriptLimits::default())
}

pub(crate) fn try_link_with(scripts: &[(&str, &str)], limits: ScriptLimits) -> Result<Library, Diagnostics> {
    let scripts = scripts.iter().map(|(path, text)| Source::new(*path, *text)).collect();
    Library::link(LibraryInputs { scripts, limits, ..LibraryInputs::default() }, None)
}

#[track_caller]
pub(crate) fn link(scripts: &[(&str, &str)]) -> Library {
    try_link(scripts).unwrap_or_else(|problems| panic!("{problems}"))
}

/// `f` of a one-file library.
#[track_caller]
pub(crate) fn function(text: &str, arity: usize) -> ScriptFunction {
    find(&link(&[("t.rhai", text)]), "t.rhai#f", arity)
}

#[track_caller]
pub(crate) fn find(library: &Library, reference: &str, arity: usize) -> ScriptFunction {
    let reference = FunctionRef::parse(reference).expect("a reference");
    library.function(&reference, arity).unwrap_or_else(|problem| panic!("{problem}"))
}

/// The artifact used by most tests.
pub(crate) fn artifact() -> Value {
    json!({
        "match": true, "confidence": 0.85, "label": "é", "n": 3, "list": ["x", "y"], "empty": [],
        "repos": [{"name": "a", "score": 0.2}, {"name": "b", "score": 0.9}],
        "nested": {"a": {"b": 7}}, "nothing": null,
    })
}

/// Calls `fn f(artifact) { body }` with [`artifact`].
pub(crate) fn eval(body: &str) -> Result<Value, Box<Diagnostic>> {
    let text = format!("fn f(artifact) {{ {body} }}");
    let library = try_link(&[("t.rhai", &text)]).map_err(|problems| Box::new(problems.into_iter().next().expect("one")))?;
    let function = find(&library, "t.rhai#f", 1);
    function
        .evaluate(&[View::plain(&artifact(), "artifact")], super::invoke::Parameters::ReadOnly)
        .and_then(|value| function.data(&value, "t"))
}

/// The only error of scripts that do not link.
#[track_caller]
pub(crate) fn problem(scripts: &[(&str, &str)]) -> Diagnostic {
    let problems = try_link(scripts).expect_err("does not link");
    assert_eq!(problems.len(), 1, "{problems}");
    problems.into_iter().next().expect("one")
}

/// A diagnostic in one line: `code @ labelled text, labelled text: message | help`.
pub(crate) fn line(diagnostic: &Diagnostic) -> String {
    let labels: Vec<String> =
        diagnostic.labels.iter().map(|label| format!("{}:{}", label.source.name(), label.source.slice(label.span))).collect();
    let help = diagnostic.help.as_ref().map_or(String::new(), |help| format!(" | {help}"));
    format!("{} @ {}: {}{help}", diagnostic.code, labels.join(", "), diagnostic.message)
}

/// The error of a body, in one line.
#[track_caller]
pub(crate) fn failure(body: &str) -> String {
    match eval(body) {
        Err(diagnostic) => line(&diagnostic),
        Ok(value) => panic!("`{body}` returned {value}"),
    }
}

/// A condition in a YAML file, plain and unquoted.
pub(crate) fn condition(text: &str) -> Condition {
    let file = Source::new("p.yaml", format!("condition: {text}\n"));
    let offsets = (0..text.len()).map(|at| {
        let start = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(at);
        start + 11
    });
    let mapped = MappedText::new(text, offsets.collect(), file, Span::new(11, 11 + text.len()));
    Condition { key: "H1".into(), text: mapped, locals: Vec::new() }
}

pub(crate) fn try_condition(text: &str) -> Result<ScriptFunction, Diagnostics> {
    let library = Library::link(LibraryInputs { conditions: vec![condition(text)], ..LibraryInputs::default() }, None)?;
    Ok(library.condition("H1").expect("linked"))
}

/// Evaluates a condition over [`artifact`], empty state and `vars.t = 0.8`.
pub(crate) fn decide(text: &str) -> Result<RuleOutcome, String> {
    let condition = try_condition(text).map_err(|problems| problems.iter().map(line).collect::<Vec<_>>().join("\n"))?;
    let artifact = View::of(&artifact(), &Kind::Any, "artifact");
    let state = View::object("state", [("loops", View::map("state.loops", [("H9", View::from(2))], View::from(0)))]);
    let vars = View::object("vars", [("t", View::from(0.8))]);
    condition.decide(&artifact, &state, &vars).map_err(|problem| line(&problem))
}
