//! Tests of the checker: diagnostics, accepted code, and reads.
#![allow(clippy::unwrap_used)]

mod findings;
mod reads;
mod robust;

use super::{Analysis, CheckedParameter, Checker, ModuleLookup, no_modules};
use crate::unit::UnitText;
use crate::{ScriptLimits, Unit, api, build_engine};
use asterisk_base::model::{Field, Kind, Shape};
use asterisk_diag::{Diagnostic, Source};
use std::sync::Arc;

/// Parses a script as linking does, without its checks.
fn try_unit(name: &str, text: &str) -> Option<Unit> {
    let mut engine = build_engine(&ScriptLimits::default(), [], api::register);
    engine.set_strict_variables(false);
    let text = UnitText::file(&Source::new(name, text));
    let ast = engine.compile(text.script()).ok()?;
    Some(Unit::new(name.to_owned(), text, ast))
}

#[track_caller]
fn unit(name: &str, text: &str) -> Unit {
    try_unit(name, text).unwrap_or_else(|| panic!("does not compile: {text}"))
}

fn shape(name: &str, fields: &[(&str, Kind)]) -> Kind {
    let field = |(name, kind): &(&str, Kind)| Field { name: (*name).to_owned(), kind: kind.clone(), required: false };
    Kind::Object(Arc::new(Shape { name: name.to_owned(), fields: fields.iter().map(field).collect(), sparse: false }))
}

fn text() -> Kind {
    Kind::Text { one_of: vec![] }
}

fn number() -> Kind {
    Kind::Number { min: None, max: None }
}

fn list(item: Kind) -> Kind {
    Kind::List(Box::new(item))
}

fn kinds() -> [Kind; 3] {
    let repo = shape("repo", &[("name", text()), ("score", number()), ("tags", list(text()))]);
    let decision = Kind::Text { one_of: vec!["approve".into(), "reassess".into(), "overturn".into()] };
    let artifact = shape(
        "recall artifact",
        &[
            ("match", Kind::Bool),
            ("hit", Kind::Bool),
            ("confidence", number()),
            ("label", text()),
            ("decision", decision.clone()),
            ("decisions", list(decision)),
            ("refs", list(text())),
            ("candidate_repos", list(repo.clone())),
            ("best", repo),
            ("anything", Kind::Any),
        ],
    );
    let loops = Kind::Map(Box::new(Kind::Int { min: None, max: None }));
    let state = shape("state", &[("node", text()), ("loops", loops), ("steps", Kind::Int { min: None, max: None })]);
    let vars = shape("vars", &[("recall_hit", number()), ("max_loops", Kind::Int { min: None, max: None }), ("mode", text())]);
    [artifact, state, vars]
}

fn analyse_with(text: &str, kinds: &[Kind; 3], modules: &ModuleLookup<'_>) -> Analysis {
    let script = unit("r.rhai", text);
    let inputs: Vec<_> =
        ["artifact", "state", "vars"].iter().zip(kinds).map(|(name, kind)| CheckedParameter { name, kind }).collect();
    // Shortens the lifetime of the result to that of the script.
    let lookup = |path: &str| modules(path);
    let Analysis { diagnostics, reads, facts } = Checker::new(&script, &lookup).function("f", &inputs);
    // The return values of these functions do not matter.
    Analysis { diagnostics: diagnostics.into_iter().filter(|found| found.code != "rule/return").collect(), reads, facts }
}

/// The analysis of `fn f(artifact, state, vars) { body }`, or of the `f` of a whole script.
fn analyse(body: &str) -> Analysis {
    let whole = if body.contains("fn f(") { body.to_owned() } else { format!("fn f(artifact, state, vars) {{ {body} }}") };
    analyse_with(&whole, &kinds(), &no_modules)
}

/// Every diagnostic as `code [token] message; help`.
fn found(body: &str) -> Vec<String> {
    let show = |diagnostic: &Diagnostic| {
        let label = diagnostic.primary().unwrap();
        let help = diagnostic.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
        format!("{} [{}] {}{help}", diagnostic.code, label.source.slice(label.span), diagnostic.message)
    };
    analyse(body).diagnostics.iter().map(show).collect()
}

/// The code and the token of every diagnostic.
fn tokens(body: &str) -> Vec<(String, String)> {
    let show = |diagnostic: &Diagnostic| {
        let label = diagnostic.primary().unwrap();
        (diagnostic.code.to_string(), label.source.slice(label.span).to_owned())
    };
    analyse(body).diagnostics.iter().map(show).collect()
}

fn reads(body: &str) -> Vec<String> {
    analyse(body).reads.into_iter().map(|read| read.path).collect()
}

#[track_caller]
fn finds(body: &str, code: &str, token: &str) {
    assert_eq!(tokens(body), [(format!("rule/{code}"), token.to_owned())], "{body}\n{:#?}", found(body));
}

#[track_caller]
fn silent(body: &str) {
    assert_eq!(found(body), Vec::<String>::new(), "{body}");
}
