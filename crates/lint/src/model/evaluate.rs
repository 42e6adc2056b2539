//! Translates a rule into a formula: the condition under which it fires.

use super::formula::{Formula, InputTest, NumberOp};
use super::solve::kind_at;
use asterisk_base::model::Kind;
use asterisk_pipeline::Pipeline;
use asterisk_project::ExaminedFunction;
pub(super) use asterisk_script::chain::{Segment, flatten};
use asterisk_script::tree::{ConstantExpr, Expr, Node, Stmt};
use std::collections::BTreeMap;

/// Maximum number of evaluation steps for one rule; beyond it the result is unknown.
const STEPS: u32 = 1_000;

/// The symbolic value of an expression.
#[derive(Clone, Debug)]
enum SymbolicValue {
    Number(f64),
    Text(String),
    Truth(Formula),
    /// An input or a part of one.
    Input(String),
    Unit,
    /// A map; returned by a rule, it means that the rule fires.
    Map,
    Unknown,
}

/// The variables in scope, innermost last.
type SymbolicEnv = Vec<(String, SymbolicValue)>;

/// Statements still to be evaluated, and the number of variables in scope before them.
#[derive(Clone)]
struct PendingStatements<'s> {
    statements: &'s [Stmt],
    names: usize,
}

/// Translates the rules of a pipeline.
pub(crate) struct Reasoner {
    /// The default values of comparable vars.
    vars: BTreeMap<String, SymbolicValue>,
    /// The number of unknown expressions so far.
    unknown: usize,
}

impl Reasoner {
    /// Creates a translator for the rules of this pipeline.
    pub(crate) fn new(pipeline: &Pipeline) -> Self {
        let value = |value: &serde_json::Value| match value {
            serde_json::Value::Number(number) => number.as_f64().map(SymbolicValue::Number),
            serde_json::Value::String(text) => Some(SymbolicValue::Text(text.clone())),
            _ => None,
        };
        let vars = pipeline.vars.iter().filter_map(|(name, var)| Some((format!("vars.{name}"), value(&var.default.value)?)));
        Self { vars: vars.collect(), unknown: 0 }
    }

    /// A fresh unknown.
    pub(crate) fn unknown(&mut self) -> Formula {
        self.unknown += 1;
        Formula::Atom(format!("?{}", self.unknown), InputTest::Holds)
    }

    /// The condition under which a rule or condition fires.
    pub(crate) fn fires(&mut self, of: &ExaminedFunction<'_>) -> Formula {
        let Some(function) = of.unit.tree().function(&of.name, of.inputs.len()) else { return self.unknown() };
        let params = function.params.iter().zip(&of.inputs);
        let env: SymbolicEnv =
            params.map(|(param, (name, _))| (param.to_string(), SymbolicValue::Input((*name).to_owned()))).collect();
        let known = env.len();
        let mut reading = SymbolicReading { reasoner: self, of, known, steps: STEPS };
        reading.run(vec![PendingStatements { statements: &function.body, names: known }], env)
    }
}

struct SymbolicReading<'r, 'x> {
    reasoner: &'r mut Reasoner,
    of: &'x ExaminedFunction<'x>,
    /// The number of variables that are inputs.
    known: usize,
    steps: u32,
}

impl SymbolicReading<'_, '_> {
    /// The condition under which the rest of the function returns a positive outcome; the innermost statements are last.
    fn run(&mut self, mut rest: Vec<PendingStatements<'_>>, mut env: SymbolicEnv) -> Formula {
        loop {
            let Some(frame) = rest.last_mut() else { return Formula::False };
            let Some((statement, after)) = frame.statements.split_first() else {
                env.truncate(frame.names);
                rest.pop();
                continue;
            };
            frame.statements = after;
            self.steps = self.steps.saturating_sub(1);
            if self.steps == 0 {
                return self.reasoner.unknown();
            }
            let last = rest.iter().all(|frame| frame.statements.is_empty());
            match statement {
                Stmt::Var { name, value, .. } => {
                    let value = self.value(value, &env);
                    env.push((name.text.to_string(), value));
                }
                Stmt::Expr(expr) if last => return self.outcome(expr, &env),
                Stmt::Return { value: Some(expr), throws: false, .. } => return self.outcome(expr, &env),
                Stmt::Return { value: None, throws: false, .. } => return Formula::False,
                Stmt::Return { .. } => return self.reasoner.unknown(),
                Stmt::If { condition, then, otherwise, .. } => {
                    let when = self.truth(condition, &env);
                    let branch = |statements| {
                        let mut rest = rest.clone();
                        rest.push(PendingStatements { statements, names: env.len() });
                        rest
                    };
                    let then = match when {
                        Formula::False => Formula::False,
                        _ => self.run(branch(then), env.clone()),
                    };
                    let otherwise = match when {
                        Formula::True => Formula::False,
                        _ => self.run(branch(otherwise), env.clone()),
                    };
                    let yes = Formula::all([when.clone(), then]);
                    return Formula::any([yes, Formula::all([when.negated(), otherwise])]);
                }
                Stmt::Block(statements, _) => rest.push(PendingStatements { statements, names: env.len() }),
                Stmt::Assign { target, value, compound, .. } => self.assign(target, value, *compound, &mut env),
                Stmt::Nothing(_) | Stmt::Import { .. } | Stmt::Export(_) => {}
                other if last || leaves(other) => return self.reasoner.unknown(),
                other => forget(other, self.known, &mut env),
            }
        }
    }

    fn assign(&mut self, target: &Expr, value: &Expr, keeps: bool, env: &mut SymbolicEnv) {
        let value = if keeps { SymbolicValue::Unknown } else { self.value(value, env) };
        let (name, whole) = match target {
            Expr::Variable(variable, _) => (variable.name.to_string(), true),
            other => match flatten(other).map(|chain| chain.root) {
                Some(Expr::Variable(variable, _)) => (variable.name.to_string(), false),
                _ => return,
            },
        };
        if let Some((_, known)) = env.iter_mut().rev().find(|(known, _)| *known == name)
            && (whole || !matches!(known, SymbolicValue::Map))
        {
            *known = if whole { value } else { SymbolicValue::Unknown };
        }
    }

    /// The condition under which a returned value is a positive outcome.
    fn outcome(&mut self, expr: &Expr, env: &SymbolicEnv) -> Formula {
        if let Expr::Block(statements, _) = expr {
            return self.run(vec![PendingStatements { statements, names: env.len() }], env.clone());
        }
        match self.value(expr, env) {
            SymbolicValue::Map => Formula::True,
            SymbolicValue::Unit => Formula::False,
            _ => self.truth(expr, env),
        }
    }

    /// The condition under which an expression is `true`.
    fn truth(&mut self, expr: &Expr, env: &SymbolicEnv) -> Formula {
        match self.value(expr, env) {
            SymbolicValue::Truth(formula) => formula,
            SymbolicValue::Input(path) if self.is(&path, |kind| *kind == Kind::Bool) && !path.starts_with("vars.") => {
                Formula::Atom(path, InputTest::Holds)
            }
            _ => self.opaque(expr, env),
        }
    }

    /// An unknown expression. Equal texts are the same unknown, unless the expression depends on local state.
    fn opaque(&mut self, expr: &Expr, env: &SymbolicEnv) -> Formula {
        let locals: Vec<&str> = env[self.known..].iter().map(|(name, _)| name.as_str()).collect();
        let mut open = false;
        expr.each(&mut |node| {
            if let Node::Expr(Expr::Variable(variable, _)) = node {
                open |= locals.contains(&variable.name.as_str());
            }
            // A closure's body is stored elsewhere, and may refer to locals too.
            open |= matches!(node, Node::Expr(Expr::Constant(..))) && !locals.is_empty();
        });
        let unit = self.of.unit;
        match unit.tokens().extent(unit.script(), expr).filter(|_| !open) {
            Some(span) => {
                let params: Vec<&str> = env[..self.known].iter().map(|(name, _)| name.as_str()).collect();
                let text = &unit.script()[span.start..span.end];
                let key = format!("?{}|{}|{text}", if unit.is_condition() { "" } else { unit.name() }, params.join(","));
                Formula::Atom(key, InputTest::Holds)
            }
            None => self.reasoner.unknown(),
        }
    }

    fn is(&self, path: &str, test: impl Fn(&Kind) -> bool) -> bool {
        kind_at(&self.of.inputs, path).is_some_and(|(kind, _)| test(kind))
    }

    fn value(&mut self, expr: &Expr, env: &SymbolicEnv) -> SymbolicValue {
        self.steps = self.steps.saturating_sub(1);
        #[expect(clippy::cast_precision_loss, reason = "the compared numbers are small")]
        match expr {
            _ if self.steps == 0 => SymbolicValue::Unknown,
            Expr::Bool(true, _) => SymbolicValue::Truth(Formula::True),
            Expr::Bool(false, _) => SymbolicValue::Truth(Formula::False),
            Expr::Int(number, _) => SymbolicValue::Number(*number as f64),
            Expr::Float(number, _) => SymbolicValue::Number(*number),
            Expr::Text(text, _) => SymbolicValue::Text(text.to_string()),
            Expr::Unit(_) => SymbolicValue::Unit,
            Expr::Map(..) | Expr::Constant(ConstantExpr::Map, _) => SymbolicValue::Map,
            Expr::And(sides, _) => {
                SymbolicValue::Truth(Formula::all(sides.iter().map(|side| self.truth(side, env)).collect::<Vec<_>>()))
            }
            Expr::Or(sides, _) => {
                SymbolicValue::Truth(Formula::any(sides.iter().map(|side| self.truth(side, env)).collect::<Vec<_>>()))
            }
            Expr::Variable(variable, _) if variable.namespace.is_empty() => {
                let known = env.iter().rev().find(|(name, _)| *name == variable.name.as_str());
                known.map_or(SymbolicValue::Unknown, |(_, value)| value.clone())
            }
            Expr::Dot(..) | Expr::Index(..) => self.chain(expr, env),
            Expr::Call(call, _) => match (call.name.as_str(), call.args.as_slice()) {
                ("!", [inner]) => SymbolicValue::Truth(self.truth(inner, env).negated()),
                ("==" | "!=" | "<" | "<=" | ">" | ">=", [left, right]) if call.operator => {
                    let (left, right) = (self.value(left, env), self.value(right, env));
                    self.compare(&call.name, left, right).map_or(SymbolicValue::Unknown, SymbolicValue::Truth)
                }
                ("contains", [Expr::List(items, _), item]) => self.one_of(items, item, env),
                _ => SymbolicValue::Unknown,
            },
            _ => SymbolicValue::Unknown,
        }
    }

    /// `item in ["a", "b"]`
    fn one_of(&mut self, items: &[Expr], item: &Expr, env: &SymbolicEnv) -> SymbolicValue {
        let item = self.value(item, env);
        let mut any = Vec::new();
        for one in items {
            let one = self.value(one, env);
            match self.compare("==", item.clone(), one) {
                Some(formula) => any.push(formula),
                None => return SymbolicValue::Unknown,
            }
        }
        SymbolicValue::Truth(Formula::any(any))
    }

    fn chain(&mut self, expr: &Expr, env: &SymbolicEnv) -> SymbolicValue {
        let Some(chain) = flatten(expr) else { return SymbolicValue::Unknown };
        let SymbolicValue::Input(mut path) = self.value(chain.root, env) else { return SymbolicValue::Unknown };
        let list = |kind: &Kind| matches!(kind, Kind::List(_));
        let text = |kind: &Kind| matches!(kind, Kind::Text { .. });
        for (at, segment) in chain.segments.iter().enumerate() {
            let last = at + 1 == chain.segments.len();
            match segment {
                Segment::Field { name, .. } if !self.is(&path, list) => path = format!("{path}.{name}"),
                Segment::Index { key: Expr::Text(name, _) } if !self.is(&path, list) => path = format!("{path}.{name}"),
                Segment::Call { call, .. } if last && call.args.is_empty() && self.is(&path, list) => {
                    let length = format!("{path}.len()");
                    return match call.name.as_str() {
                        "len" => SymbolicValue::Input(length),
                        "is_empty" => SymbolicValue::Truth(Formula::Atom(length, InputTest::Number(NumberOp::Equal, 0.0))),
                        _ => SymbolicValue::Unknown,
                    };
                }
                Segment::Call { call, .. } if last && call.args.is_empty() && call.name == "is_empty" && self.is(&path, text) => {
                    return SymbolicValue::Truth(Formula::Atom(path, InputTest::Text(String::new())));
                }
                _ => return SymbolicValue::Unknown,
            }
        }
        SymbolicValue::Input(path)
    }

    /// A comparison of an input with a constant; `None` for any other.
    fn compare(&mut self, op: &str, left: SymbolicValue, right: SymbolicValue) -> Option<Formula> {
        let is_input = |value: &SymbolicValue| matches!(value, SymbolicValue::Input(path) if !path.starts_with("vars."));
        let (path, other, op) = match (left, right) {
            (SymbolicValue::Input(path), other) if is_input(&SymbolicValue::Input(path.clone())) => (path, other, op),
            (other, SymbolicValue::Input(path)) if is_input(&SymbolicValue::Input(path.clone())) => (path, other, flipped(op)),
            _ => return None,
        };
        let other = match other {
            SymbolicValue::Input(var) => self.reasoner.vars.get(&var)?.clone(),
            other => other,
        };
        let atom = |test| Formula::Atom(path.clone(), test);
        let number = |op, number| atom(InputTest::Number(op, number));
        Some(match (other, op) {
            (SymbolicValue::Number(n), "==") => number(NumberOp::Equal, n),
            (SymbolicValue::Number(n), "!=") => number(NumberOp::Equal, n).negated(),
            (SymbolicValue::Number(n), "<") => number(NumberOp::Less, n),
            (SymbolicValue::Number(n), "<=") => number(NumberOp::AtMost, n),
            (SymbolicValue::Number(n), ">") => number(NumberOp::AtMost, n).negated(),
            (SymbolicValue::Number(n), ">=") => number(NumberOp::Less, n).negated(),
            (SymbolicValue::Text(text), "==") => atom(InputTest::Text(text)),
            (SymbolicValue::Text(text), "!=") => atom(InputTest::Text(text)).negated(),
            (SymbolicValue::Truth(truth @ (Formula::True | Formula::False)), "==" | "!=")
                if self.is(&path, |kind| *kind == Kind::Bool) =>
            {
                let holds = atom(InputTest::Holds);
                if (truth == Formula::True) == (op == "==") { holds } else { holds.negated() }
            }
            _ => return None,
        })
    }
}

fn flipped(op: &str) -> &str {
    match op {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        ">=" => "<=",
        same => same,
    }
}

/// Whether the function may return within the statement.
fn leaves(statement: &Stmt) -> bool {
    let mut found = false;
    statement.each(&mut |node| found |= matches!(node, Node::Stmt(Stmt::Return { .. })));
    found
}

/// Forgets the values of all variables that a statement mentions; a map stays a map, and inputs cannot change.
fn forget(statement: &Stmt, known: usize, env: &mut SymbolicEnv) {
    statement.each(&mut |node| {
        if let Node::Expr(Expr::Variable(variable, _)) = node {
            let named = env[known..].iter_mut().filter(|(name, _)| *name == variable.name.as_str());
            named
                .filter(|(_, value)| !matches!(value, SymbolicValue::Map))
                .for_each(|(_, value)| *value = SymbolicValue::Unknown);
        }
    });
}
