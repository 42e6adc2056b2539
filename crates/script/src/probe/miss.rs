//! Explains why a rule returned a negative outcome, and by how little: the comparisons and bools that decided it.

use super::outline::{Outline, OutlineOperand, short};
use super::seen::ObservedValue;
use super::table::{Logic, NodeRole, ProbeNode};
use super::{Evaluation, clipped};
use crate::compare::CompareOp;
use crate::unit::Unit;
use serde::Serialize;

/// A condition that would have had to be different.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Miss {
    /// A description: `confidence 0.39 < recall_hit 0.8, short by 0.41`.
    pub text: String,
    /// The expression as written.
    pub expression: String,
    /// The difference between the compared numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<f64>,
}

/// Maximum number of misses per result.
const MOST: usize = 4;

/// Maximum number of characters of a value or an expression.
const LONGEST: usize = 48;

/// Maximum depth of calls searched.
const DEEPEST: usize = 4;

impl Outline<'_> {
    /// The conditions that made a function return a negative outcome (`false` or nothing); each of them, had it been different,
    /// would have continued.
    pub fn misses(&self, evaluation: &Evaluation) -> Vec<Miss> {
        let mut found = Vec::new();
        self.function(evaluation, true, 0, &mut found);
        found.truncate(MOST);
        found
    }

    /// Finds what would make a function that returned a bool (or nothing) return the opposite.
    fn function(&self, evaluation: &Evaluation, want: bool, depth: usize, out: &mut Vec<Miss>) {
        let inside: Vec<(&Evaluation, &Unit, &ProbeNode)> =
            evaluation.inside.iter().filter_map(|part| self.find(part).map(|(unit, node)| (part, unit, node))).collect();
        let results = |(_, _, node): &(_, _, &ProbeNode)| matches!(node.role, NodeRole::Return | NodeRole::Result);
        let last = inside.iter().rposition(results);
        let scope = MissScope { evaluation, depth };
        if let Some((result, unit, node)) = last.map(|at| inside[at]) {
            let written = matches!(node.text(unit).trim(), "true" | "false" | "()" | "");
            if !written {
                return self.flip(scope, result, want, out);
            }
        }
        // The last expression is the result: the conditions before it led to it.
        let before = &inside[..last.unwrap_or(inside.len())];
        for (part, _, node) in before.iter().rev() {
            let asked = matches!(node.role, NodeRole::Condition | NodeRole::Case);
            let Some(truth) = part.value.as_ref().and_then(ObservedValue::truth).filter(|_| asked) else { continue };
            if truth && !out.is_empty() {
                break;
            }
            self.flip(scope, part, !truth, out);
            if truth {
                break;
            }
        }
        if out.is_empty()
            && let Some((part, unit, node)) = before.iter().rev().find(|(_, _, node)| node.role != NodeRole::Function)
        {
            out.extend(plain(part, unit, node));
        }
        out.reverse();
    }

    /// Finds what would give an expression the opposite bool.
    fn flip(&self, scope: MissScope<'_>, part: &Evaluation, want: bool, out: &mut Vec<Miss>) {
        let Some((unit, node)) = self.find(part) else { return };
        let inside =
            || part.inside.iter().filter(|part| self.find(part).is_some_and(|(_, node)| node.role != NodeRole::Function));
        match (node.logic, inside().next_back()) {
            (Some(Logic::Not), Some(operand)) => return self.flip(scope, operand, !want, out),
            // The operand evaluated last decided the result.
            (Some(Logic::And), Some(operand)) if want => return self.flip(scope, operand, want, out),
            (Some(Logic::Or), Some(operand)) if !want => return self.flip(scope, operand, want, out),
            (Some(Logic::And | Logic::Or), Some(_)) => return inside().for_each(|operand| self.flip(scope, operand, want, out)),
            _ => {}
        }
        if let Some(op) = node.comparison {
            let sides = self.sides(part, unit, node, op);
            let missed = sides.and_then(|sides| missed(&sides, if want { op } else { op.negated() }));
            if let Some((text, by)) = missed {
                out.push(Miss { text, expression: node.written(unit), by });
                return;
            }
        }
        if self.elsewhere(scope, part, want, out) {
            return;
        }
        out.extend(plain(part, unit, node));
    }

    /// For a call or a variable: finds the expressions that decided it there.
    fn elsewhere(&self, scope: MissScope<'_>, part: &Evaluation, want: bool, out: &mut Vec<Miss>) -> bool {
        let (Some((unit, node)), true) = (self.find(part), scope.depth < DEEPEST) else { return false };
        let text = node.text(unit).trim();
        if is_word(text) {
            let made = scope.evaluation.inside.iter().rev().find(|other| {
                let place = self.find(other).filter(|(_, node)| node.logic.is_some() || node.comparison.is_some());
                place.is_some_and(|(unit, node)| is_initial(unit, node, text))
            });
            let Some(made) = made else { return false };
            self.flip(scope, made, want, out);
            return true;
        }
        let calls: Vec<&Evaluation> =
            part.inside.iter().filter(|part| self.find(part).is_some_and(|(_, node)| node.role == NodeRole::Function)).collect();
        let is_closure = |call: &&&Evaluation| self.find(call).is_some_and(|(_, node)| node.is_closure());
        match calls.as_slice() {
            [call] if !is_closure(&call) => {
                let before = out.len();
                let mut found = Vec::new();
                self.function(call, want, scope.depth + 1, &mut found);
                out.extend(found);
                out.len() > before
            }
            // Of a list, the item that came nearest.
            calls if !calls.is_empty() && calls.iter().all(|call| is_closure(&call)) => {
                let other = |call: &&&Evaluation| call.value.as_ref().and_then(ObservedValue::truth) == Some(!want);
                let mut found = Vec::new();
                calls.iter().filter(other).for_each(|call| self.function(call, want, scope.depth + 1, &mut found));
                let by = |miss: &Miss| miss.by.unwrap_or(f64::INFINITY);
                let Some(nearest) = found.into_iter().min_by(|a, b| by(a).total_cmp(&by(b))) else { return false };
                let Some(miss) = plain(part, unit, node) else { return false };
                let text = format!("{}; nearest: {}", miss.text, nearest.text);
                out.push(Miss { text, expression: miss.expression, by: nearest.by });
                true
            }
            _ => false,
        }
    }
}

/// The function under examination.
#[derive(Clone, Copy)]
struct MissScope<'e> {
    evaluation: &'e Evaluation,
    depth: usize,
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether an expression is the initial value of a variable: `let NAME = ..`.
fn is_initial(unit: &Unit, node: &ProbeNode, name: &str) -> bool {
    let Some(span) = node.span(unit) else { return false };
    let before = unit.script().get(..span.start).unwrap_or_default().trim_end();
    let before = before.strip_suffix('=').and_then(|before| before.trim_end().strip_suffix(name)).map(str::trim_end);
    before.is_some_and(|before| before.ends_with("let") || before.ends_with("const"))
}

/// An expression that is not a comparison, with its value.
fn plain(part: &Evaluation, unit: &Unit, node: &ProbeNode) -> Option<Miss> {
    let expression = node.written(unit);
    let value = part.value.as_ref()?.to_string();
    if value == expression {
        return None;
    }
    let text = format!("{} is {}", clipped(name(&expression), LONGEST), clipped(&value, LONGEST));
    Some(Miss { text, expression, by: None })
}

/// A comparison that should have held and did not.
fn missed([left, right]: &[OutlineOperand; 2], need: CompareOp) -> Option<(String, Option<f64>)> {
    let (l, r) = (operand_text(left), operand_text(right));
    if let (Some(a), Some(b)) = (left.number, right.number) {
        let by = (a - b).abs();
        if by.is_nan() {
            return None;
        }
        let shown = short(by);
        let text = match need {
            CompareOp::Ne => same(left, right),
            CompareOp::Eq => format!("{l} is not {r}, off by {shown}"),
            CompareOp::Gt | CompareOp::Ge if a < b => format!("{l} < {r}, short by {shown}"),
            CompareOp::Lt | CompareOp::Le if a > b => format!("{l} > {r}, over by {shown}"),
            _ => format!("{l} is not {} {r}", need.text()),
        };
        return Some((text, Some(by)));
    }
    let text = match need {
        CompareOp::Ne => same(left, right),
        CompareOp::Eq => format!("{l} is not {r}"),
        need => format!("{l} is not {} {r}", need.text()),
    };
    Some((text, None))
}

/// Two operands that are equal and should not be.
fn same(left: &OutlineOperand, right: &OutlineOperand) -> String {
    let (l, r) = (clipped(name(&left.written), LONGEST), clipped(name(&right.written), LONGEST));
    let value = clipped(&left.value, LONGEST);
    match (left.literal, right.literal) {
        (_, true) => format!("{l} is {value}"),
        (true, false) => format!("{r} is {value}"),
        (false, false) => format!("{l} and {r} are both {value}"),
    }
}

fn operand_text(side: &OutlineOperand) -> String {
    let value = clipped(&side.value, LONGEST);
    if side.literal || side.written == side.value { value } else { format!("{} {value}", clipped(name(&side.written), LONGEST)) }
}

/// The expression without a root that can be omitted.
fn name(expression: &str) -> &str {
    ["artifact.", "vars.", "state."].iter().find_map(|root| expression.strip_prefix(root)).unwrap_or(expression)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::{Probes, Recorder, RecordingScope};
    use super::*;
    use crate::{FunctionRef, Library, LibraryInputs, View};
    use asterisk_base::model::Kind;
    use asterisk_diag::Source;
    use serde_json::json;

    /// The misses of a rule with this body that returns a negative outcome.
    fn misses(body: &str) -> Vec<String> {
        let text = format!("fn f(artifact, state, vars) {{ {body} }}\nfn near(x, y) {{ if x >= y {{ return true; }} false }}");
        let inputs =
            LibraryInputs { scripts: vec![Source::new("t.rhai", text)], probes: Probes::All, ..LibraryInputs::default() };
        let library = Library::link(inputs, None).unwrap();
        let rule = library.function(&FunctionRef::parse("t.rhai#f").unwrap(), 3).unwrap();
        let artifact =
            json!({"score": 0.62, "n": 3, "match": false, "label": "infra", "list": [1, 2], "repos": [{"s": 0.1}, {"s": 0.5}]});
        let of = |value: &serde_json::Value, name| View::of(value, &Kind::Any, name);
        let (artifact, state) = (of(&artifact, "artifact"), of(&json!({"loops": {"x": 2}}), "state"));
        let vars = of(&json!({"enough": 0.7, "most": 2, "label": "infra"}), "vars");
        let mut recorder = Recorder::new(RecordingScope::Values);
        let outcome = recorder.watch(|| rule.decide(&artifact, &state, &vars)).unwrap();
        assert_eq!(outcome, crate::RuleOutcome::No, "{body}");
        let outline = Outline::new(library.probed());
        outline.misses(&recorder.evaluations()[0]).into_iter().map(|miss| miss.text).collect()
    }

    #[test]
    fn misses_have_a_distance() {
        for (body, expected) in [
            ("artifact.score >= vars.enough", &["score 0.62 < enough 0.7, short by 0.08"][..]),
            ("artifact.score >= vars.enough && artifact.n > 0", &["score 0.62 < enough 0.7, short by 0.08"]),
            ("artifact.n > 0 && artifact.match", &["match is false"]),
            ("artifact.n > 3", &["n 3 is not > 3"]),
            ("artifact.n < 2", &["n 3 > 2, over by 1"]),
            ("artifact.n == 5", &["n 3 is not 5, off by 2"]),
            ("artifact.label == \"flake\"", &["label \"infra\" is not \"flake\""]),
            ("artifact.label != vars.label", &["label and label are both \"infra\""]),
            ("artifact.match || artifact.score > 0.9", &["match is false", "score 0.62 < 0.9, short by 0.28"]),
            ("!(artifact.n > 2 && artifact.label == \"infra\")", &["n 3 > 2, over by 1", "label is \"infra\""]),
            ("if !artifact.match || artifact.score < vars.enough { return false; } true", &["match is false"]),
            (
                "if artifact.match { return false; } if artifact.score < vars.enough { return false; } true",
                &["score 0.62 < enough 0.7, short by 0.08"],
            ),
            ("if state.loops.x >= vars.most { return; } true", &["loops.x 2 is not < most 2"]),
            (
                "if artifact.match { return true; } if artifact.n > 4 { return true; } false",
                &["match is false", "n 3 < 4, short by 1"],
            ),
            ("if artifact.match { true } else { false }", &["match is false"]),
            ("if artifact.match { #{} }", &["match is false"]),
            (
                "let enough = artifact.score >= vars.enough; if !enough { return false; } true",
                &["score 0.62 < enough 0.7, short by 0.08"],
            ),
            ("near(artifact.score, vars.enough)", &["x 0.62 < y 0.7, short by 0.08"]),
            ("artifact.repos.any(|r| r.s > 0.6)", &["repos.any(|r| r.s > 0.6) is false; nearest: r.s 0.5 < 0.6, short by 0.1"]),
            ("artifact.list.is_empty()", &["list.is_empty() is false"]),
            ("artifact.list.len() > 2", &["list.len() 2 is not > 2"]),
            ("switch artifact.label { \"x\" => true, _ => false }", &["label is \"infra\""]),
            ("false", &[]),
        ] {
            assert_eq!(misses(body), expected, "{body}");
        }
    }
}
