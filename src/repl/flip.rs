//! Finds input changes that flip the decision of an edge. Every change was verified with the evaluator itself.

use super::lex::{LexKind, lex};
use super::scope::EvalScope;
use super::show::{decided as decided_as, short};
use crate::ui::SyntaxClass;
use asterisk_base::model::Kind;
use asterisk_pipeline::{EdgeIx, Pipeline};
use asterisk_script::{RuleOutcome, View};
use asterisk_walk::{ConsideredEdge, EdgeOutcome, Plan, recorded_state};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The maximum number of changes listed.
const MAX_LISTED: usize = 8;
/// The maximum number of combinations evaluated.
const MAX_TRIED: usize = 20_000;
/// The maximum bytes of a script searched for values to try.
const MAX_SEARCHED: usize = 8 * 1024;

/// A change of one input.
#[derive(Clone, Debug)]
struct ValueChange {
    path: String,
    before: Value,
    after: Value,
}

/// A verified flip: a change of one input, or of two.
#[derive(Debug)]
struct FlipFound {
    parts: Vec<ValueChange>,
    /// The resulting decision.
    decided: String,
}

impl ValueChange {
    /// The distance between the values, for sorting.
    fn distance(&self) -> f64 {
        match (self.before.as_f64(), self.after.as_f64()) {
            (Some(before), Some(after)) => (before - after).abs(),
            _ => 1.0,
        }
    }
}

impl FlipFound {
    /// A flip by some changes, with the scope that has them applied.
    fn of(parts: &[&ValueChange], there: &EvalScope) -> Self {
        let decided = there.decide().map(|decided| decided_as(there, &decided)).unwrap_or_default();
        let decided = decided.split(": ").next().unwrap_or_default().to_owned();
        Self { parts: parts.iter().map(|part| (*part).clone()).collect(), decided }
    }

    fn distance(&self) -> f64 {
        self.parts.iter().map(ValueChange::distance).sum()
    }
}

/// Describes how to flip an edge: the decision without it if it fired, and the changes that flip it.
pub(super) fn flip(here: &EvalScope, edge: EdgeIx) -> Vec<String> {
    let name = here.plan.edge_names[edge.0].clone();
    let now = here.decide().ok();
    let all = now.as_ref().map(|decided| match decided {
        Ok(decision) => &decision.considered,
        Err((considered, _)) => considered,
    });
    let fires = all.and_then(|considered| fired(considered, &name));
    let mut lines = vec![match fires {
        Some(true) => format!("{name} fires here"),
        Some(false) => format!("{name} does not fire here"),
        None => {
            let first = all.into_iter().flatten().find(|entry| entry.outcome == EdgeOutcome::Fired);
            let first = first.map_or_else(|| "an edge before it".to_owned(), |entry| entry.edge.to_string());
            format!("{name} is not evaluated here: {first} fired first")
        }
    }];
    if fires == Some(true) {
        let without = without(here, edge);
        lines.push(format!("without it: {}", without.decide().map(|decided| decided_as(&without, &decided)).unwrap_or_default()));
    }
    let found = changes(here, edge, fires == Some(true));
    let verb = if fires == Some(true) { "keep it from firing" } else { "make it fire" };
    if found.is_empty() {
        lines.push(format!("no tried change of one or two of the values read here would {verb}"));
    } else {
        lines.push(format!("any of these would {verb}:"));
    }
    let listed = found.iter().take(MAX_LISTED).map(|found| {
        let parts = found.parts.iter().map(|part| format!("{}: {} -> {}", part.path, short(&part.before), short(&part.after)));
        format!("  {}   then {}", parts.collect::<Vec<_>>().join(" and "), found.decided)
    });
    lines.extend(listed);
    lines
}

/// Whether an edge fired in a decision; `None` if it was not evaluated.
fn fired(considered: &[ConsideredEdge], name: &str) -> Option<bool> {
    match considered.iter().find(|entry| *entry.edge == *name)?.outcome {
        EdgeOutcome::Fired | EdgeOutcome::Advisory => Some(true),
        EdgeOutcome::False | EdgeOutcome::Error => Some(false),
        EdgeOutcome::NotReached => None,
    }
}

/// The same scope in a pipeline without an edge.
fn without(here: &EvalScope, edge: EdgeIx) -> EvalScope {
    let mut pipeline = Pipeline::clone(&here.plan.pipeline);
    for node in &mut pipeline.nodes {
        node.edges.retain(|one| *one != edge);
        node.advisories.retain(|one| *one != edge);
    }
    pipeline.guards.retain(|one| *one != edge);
    let plan = Plan { pipeline: Arc::new(pipeline), ..Plan::clone(&here.plan) };
    EvalScope { plan: Arc::new(plan), ..here.clone() }
}

/// The changes that flip the edge: the nearest for each input, nearest first. Pairs of changes are tried if no single one
/// suffices.
fn changes(here: &EvalScope, edge: EdgeIx, fires: bool) -> Vec<FlipFound> {
    let name = &here.plan.edge_names[edge.0];
    let wanted = |there: &EvalScope| {
        // Its own rule first: the whole decision takes longer to evaluate.
        if let Some(rule) = there.plan.rule(edge) {
            let outcome = rule.function.decide(&there.artifact, &there.state, there.plan.vars());
            if outcome.ok().is_none_or(|outcome| (outcome == RuleOutcome::No) != fires) {
                return false;
            }
        }
        let considered = match there.decide() {
            Ok(Ok(decision)) => decision.considered,
            Ok(Err((considered, _))) => considered,
            Err(_) => return false,
        };
        // Earlier edges may prevent its evaluation.
        fires || fired(&considered, name) == Some(true)
    };
    let mut left = MAX_TRIED;
    let mut flips = |parts: &[&ValueChange]| {
        left = left.checked_sub(1)?;
        let there = parts.iter().try_fold(here.clone(), |there, part| apply(&there, part))?;
        wanted(&there).then_some(there)
    };
    let mut edges = vec![edge];
    if !fires {
        edges.extend(here.edges().into_iter().take_while(|before| *before != edge));
    }
    let inputs = inputs_to_try(here, &edges);
    let mut found: Vec<FlipFound> = Vec::new();
    for changes in &inputs {
        if let Some((change, there)) = changes.iter().find_map(|change| Some((change, flips(&[change])?))) {
            found.push(FlipFound::of(&[change], &there));
        }
    }
    if found.is_empty() {
        for (at, changes) in inputs.iter().enumerate() {
            for others in &inputs[at + 1..] {
                let pairs = changes.iter().flat_map(|change| others.iter().map(move |other| [change, other]));
                if let Some((pair, there)) = pairs.into_iter().find_map(|pair| Some((pair, flips(&pair)?))) {
                    found.push(FlipFound::of(&pair, &there));
                }
            }
        }
    }
    found.sort_by(|a, b| a.distance().total_cmp(&b.distance()));
    found
}

/// For each input read by the rules of some edges, the changes to try, nearest first.
fn inputs_to_try(here: &EvalScope, edges: &[EdgeIx]) -> Vec<Vec<ValueChange>> {
    let mut read: Vec<(String, Kind, Value)> = Vec::new();
    for path in edges.iter().filter_map(|edge| here.plan.rule(*edge)).flat_map(|rule| rule.reads.iter()) {
        if let (Some((kind, value)), false) = (value_at(here, path), read.iter().any(|(known, ..)| *known == **path)) {
            read.push((path.to_string(), kind, value));
        }
    }
    // Rules often compare an input with a var or another input.
    let mut literals: Vec<Value> = edges.iter().flat_map(|edge| literals(here, *edge)).collect();
    literals.extend(read.iter().map(|(_, _, value)| value.clone()));
    let changes = |(path, kind, value): &(String, Kind, Value)| {
        let change = |after: Value| ValueChange { path: path.clone(), before: value.clone(), after };
        let mut changes: Vec<ValueChange> = candidates(kind, value, &literals).into_iter().map(change).collect();
        changes.retain(|change| change.before != change.after);
        changes.sort_by(|a, b| a.distance().total_cmp(&b.distance()));
        changes
    };
    read.iter().map(changes).collect()
}

/// The value at a path, and its type.
fn value_at(here: &EvalScope, path: &str) -> Option<(Kind, Value)> {
    let mut parts = path.split('.');
    let root = parts.next()?;
    let (_, mut view) = here.inputs().into_iter().find(|(name, _)| *name == root)?;
    let (_, mut kind) = here.kinds().into_iter().find(|(name, _)| *name == root)?;
    if path == root {
        return None;
    }
    for part in parts {
        view = view.get(part)?;
        kind = match kind {
            Kind::Object(shape) => shape.field(part)?.kind.clone(),
            Kind::Map(item) => *item,
            _ => Kind::Any,
        };
    }
    Some((kind, view.json()))
}

/// The same scope with a change applied.
fn apply(here: &EvalScope, change: &ValueChange) -> Option<EvalScope> {
    let (root, rest) = change.path.split_once('.')?;
    let put = |whole: Value| {
        let mut whole = if whole.is_object() { whole } else { json!({}) };
        let mut at = &mut whole;
        for part in rest.split('.') {
            if !at.is_object() {
                *at = json!({});
            }
            at = at.as_object_mut()?.entry(part.to_owned()).or_insert(Value::Null);
        }
        *at = change.after.clone();
        Some(whole)
    };
    let mut there = here.clone();
    match root {
        "artifact" => {
            let (_, kind) = here.kinds().into_iter().next()?;
            there.artifact = View::of(&put(here.artifact.json())?, &kind, "artifact");
        }
        "state" => there.state = recorded_state(&put(here.state.json())?),
        "vars" => {
            let vars: Map<String, Value> = put(Value::Object(here.plan.vars.clone()))?.as_object()?.clone();
            there.plan = match &here.step {
                Some(step) => here.project.plan_of(&step.path, &vars).ok()??,
                None => here.project.plan_with(&vars).ok()?,
            };
        }
        _ => return None,
    }
    Some(there)
}

/// The number and string literals of a rule's script.
fn literals(here: &EvalScope, edge: EdgeIx) -> Vec<Value> {
    let Some((source, span)) = here.plan.rule(edge).and_then(|rule| rule.function.definition()) else { return Vec::new() };
    let rest = source.text().get(span.start..).unwrap_or_default();
    // A function ends with the first line that starts with its closing brace; a condition spans all of its text.
    let whole = here.plan.rule(edge).is_some_and(|rule| rule.function.is_condition());
    let end = if whole { span.len() } else { rest.find("\n}").unwrap_or(rest.len()) }.min(MAX_SEARCHED);
    let text = rest.get(..end).unwrap_or_default();
    let literal = |(span, piece): &(asterisk_diag::Span, LexKind)| {
        let word = &text[span.start..span.end];
        match piece {
            LexKind::Inked(SyntaxClass::Number) => serde_json::from_str(&word.replace('_', "")).ok(),
            // An interpolated string is not a constant to compare with.
            LexKind::Inked(SyntaxClass::Text) if word.contains("${") => None,
            LexKind::Inked(SyntaxClass::Text) => Some(json!(word.trim_matches(['"', '\'', '`']))),
            _ => None,
        }
    };
    lex(text).pieces.iter().filter_map(literal).collect()
}

/// Alternatives for a value.
fn candidates(kind: &Kind, value: &Value, literals: &[Value]) -> Vec<Value> {
    match (kind, value) {
        (_, Value::Bool(truth)) => vec![json!(!truth)],
        (Kind::Text { one_of }, _) if !one_of.is_empty() => one_of.iter().map(|text| json!(text)).collect(),
        (_, Value::String(_)) => literals.iter().filter(|one| one.is_string()).cloned().chain([json!("")]).collect(),
        (_, Value::Number(_)) => numbers(kind, value, literals),
        (_, Value::Array(items)) if !items.is_empty() => vec![json!([])],
        _ => Vec::new(),
    }
}

/// Numbers around those that the rule may compare with, within the bounds of the type.
fn numbers(kind: &Kind, value: &Value, literals: &[Value]) -> Vec<Value> {
    let mut found = Vec::new();
    if value.is_i64() {
        let (min, max) = match kind {
            Kind::Int { min, max } => (min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX)),
            _ => (i64::MIN, i64::MAX),
        };
        for number in literals.iter().filter_map(Value::as_i64).chain([0]) {
            found.extend(
                [number, number.saturating_sub(1), number.saturating_add(1)]
                    .iter()
                    .filter(|n| (min..=max).contains(*n))
                    .map(|n| json!(n)),
            );
        }
    } else {
        let (min, max) = match kind {
            Kind::Number { min, max } => (min.unwrap_or(f64::MIN), max.unwrap_or(f64::MAX)),
            _ => (f64::MIN, f64::MAX),
        };
        for number in literals.iter().filter_map(Value::as_f64).chain([0.0]) {
            // Rounded to two digits more than thresholds usually have.
            let near = [number, ((number - 0.01) * 1e4).round() / 1e4, ((number + 0.01) * 1e4).round() / 1e4];
            found.extend(near.iter().filter(|n| (min..=max).contains(*n)).map(|n| json!(n)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_tried_around_those_compared() {
        let bounded = Kind::Number { min: Some(0.0), max: Some(1.0) };
        assert_eq!(numbers(&bounded, &json!(0.5), &[json!(1.0), json!("x")]), [json!(1.0), json!(0.99), json!(0.0), json!(0.01)]);
        let count = Kind::Int { min: Some(0), max: None };
        assert_eq!(numbers(&count, &json!(2), &[json!(3)]), [3, 2, 4, 0, 1].map(|n| json!(n)));
    }

    #[test]
    fn strings_and_booleans_have_alternatives() {
        let one_of = Kind::Text { one_of: vec!["a".into(), "b".into()] };
        assert_eq!(candidates(&one_of, &json!("a"), &[]), [json!("a"), json!("b")]);
        assert_eq!(candidates(&Kind::Any, &json!("a"), &[json!("x"), json!(1)]), [json!("x"), json!("")]);
        assert_eq!(candidates(&Kind::Bool, &json!(true), &[]), [json!(false)]);
        assert!(candidates(&Kind::Any, &json!(null), &[]).is_empty());
    }
}
