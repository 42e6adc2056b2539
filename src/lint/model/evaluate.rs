//! Reading a rule as a formula: when it says yes.

use super::formula::{Formula, Op, Test};
use super::solve::kind_at;
use crate::model::Kind;
use crate::pipeline::Pipeline;
use crate::project::Examined;
use crate::script::check::chain::{Segment, flatten};
use crate::script::rewrite::statements_of;
use rhai::{ASTFlags, ASTNode, Expr, Stmt};
use std::collections::BTreeMap;

/// Steps of one rule; past them it cannot be looked into.
const STEPS: u32 = 1_000;

/// What an expression is.
#[derive(Clone, Debug)]
enum Value {
    Number(f64),
    Text(String),
    Truth(Formula),
    /// An input or a part of one.
    Input(String),
    Unit,
    /// A map: of a rule, a yes.
    Map,
    Unknown,
}

/// The names in sight, innermost last.
type Env = Vec<(String, Value)>;

/// Statements that are still to be run, and how many names were in sight before them.
#[derive(Clone)]
struct Rest<'s> {
    statements: &'s [Stmt],
    names: usize,
}

/// Reads the rules of a pipeline.
pub(crate) struct Reasoner {
    /// The declared values of vars that compare.
    vars: BTreeMap<String, Value>,
    /// How many things could not be looked into.
    unknown: usize,
}

impl Reasoner {
    /// A reader of the rules of this pipeline.
    pub(crate) fn new(pipeline: &Pipeline) -> Self {
        let value = |value: &serde_json::Value| match value {
            serde_json::Value::Number(number) => number.as_f64().map(Value::Number),
            serde_json::Value::String(text) => Some(Value::Text(text.clone())),
            _ => None,
        };
        let vars = pipeline.vars.iter().filter_map(|(name, var)| Some((format!("vars.{name}"), value(&var.value)?)));
        Self { vars: vars.collect(), unknown: 0 }
    }

    /// Something that cannot be looked into.
    pub(crate) fn unknown(&mut self) -> Formula {
        self.unknown += 1;
        Formula::Atom(format!("?{}", self.unknown), Test::Holds)
    }

    /// When a rule or condition says yes.
    pub(crate) fn fires(&mut self, of: &Examined<'_>) -> Formula {
        let ast = of.unit.ast();
        let mut functions = ast.iter_fn_def().filter(|function| *function.name == *of.name);
        let Some(function) = functions.find(|function| function.params.len() == of.inputs.len()) else {
            return self.unknown();
        };
        let body = statements_of(function);
        let params = function.params.iter().zip(&of.inputs);
        let env: Env = params.map(|(param, (name, _))| (param.to_string(), Value::Input((*name).to_owned()))).collect();
        let known = env.len();
        let mut reading = Reading { reasoner: self, of, known, steps: STEPS };
        reading.run(vec![Rest { statements: &body, names: known }], env)
    }
}

struct Reading<'r, 'x> {
    reasoner: &'r mut Reasoner,
    of: &'x Examined<'x>,
    /// How many names are those of the inputs.
    known: usize,
    steps: u32,
}

impl Reading<'_, '_> {
    /// When the rest of the function says yes; the innermost statements stand last.
    fn run(&mut self, mut rest: Vec<Rest<'_>>, mut env: Env) -> Formula {
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
                Stmt::Var(parts, ..) => {
                    let value = self.value(&parts.1, &env);
                    env.push((parts.0.name.to_string(), value));
                }
                Stmt::Expr(expr) if last => return self.verdict(expr, &env),
                Stmt::FnCall(call, at) if last => return self.verdict(&Expr::FnCall(call.clone(), *at), &env),
                Stmt::Return(Some(expr), flags, _) if !flags.contains(ASTFlags::BREAK) => return self.verdict(expr, &env),
                Stmt::Return(None, flags, _) if !flags.contains(ASTFlags::BREAK) => return Formula::False,
                Stmt::Return(..) => return self.reasoner.unknown(),
                Stmt::If(parts, _) => {
                    let when = self.truth(&parts.expr, &env);
                    let branch = |statements| {
                        let mut rest = rest.clone();
                        rest.push(Rest { statements, names: env.len() });
                        rest
                    };
                    let then = match when {
                        Formula::False => Formula::False,
                        _ => self.run(branch(parts.body.statements()), env.clone()),
                    };
                    let otherwise = match when {
                        Formula::True => Formula::False,
                        _ => self.run(branch(parts.branch.statements()), env.clone()),
                    };
                    let yes = Formula::all([when.clone(), then]);
                    return Formula::any([yes, Formula::all([when.negated(), otherwise])]);
                }
                Stmt::Block(block) => rest.push(Rest { statements: block.statements(), names: env.len() }),
                Stmt::Assignment(parts) => self.assign(&parts.1.lhs, &parts.1.rhs, parts.0.is_op_assignment(), &mut env),
                Stmt::Noop(_) | Stmt::Import(..) | Stmt::Export(..) => {}
                other if last || leaves(other) => return self.reasoner.unknown(),
                other => forget(other, self.known, &mut env),
            }
        }
    }

    fn assign(&mut self, target: &Expr, value: &Expr, keeps: bool, env: &mut Env) {
        let value = if keeps { Value::Unknown } else { self.value(value, env) };
        let (name, whole) = match target {
            Expr::Variable(variable, ..) => (variable.1.to_string(), true),
            other => match flatten(other).map(|chain| chain.root) {
                Some(Expr::Variable(variable, ..)) => (variable.1.to_string(), false),
                _ => return,
            },
        };
        if let Some((_, known)) = env.iter_mut().rev().find(|(known, _)| *known == name)
            && (whole || !matches!(known, Value::Map))
        {
            *known = if whole { value } else { Value::Unknown };
        }
    }

    /// When a value that a rule returns is a yes.
    fn verdict(&mut self, expr: &Expr, env: &Env) -> Formula {
        if let Expr::Stmt(block) = expr {
            return self.run(vec![Rest { statements: block.statements(), names: env.len() }], env.clone());
        }
        match self.value(expr, env) {
            Value::Map => Formula::True,
            Value::Unit => Formula::False,
            _ => self.truth(expr, env),
        }
    }

    /// When an expression is `true`.
    fn truth(&mut self, expr: &Expr, env: &Env) -> Formula {
        match self.value(expr, env) {
            Value::Truth(formula) => formula,
            Value::Input(path) if self.is(&path, |kind| *kind == Kind::Bool) && !path.starts_with("vars.") => {
                Formula::Atom(path, Test::Holds)
            }
            _ => self.opaque(expr, env),
        }
    }

    /// An expression that cannot be looked into; the same text is the same, if nothing in it depends on the way there.
    fn opaque(&mut self, expr: &Expr, env: &Env) -> Formula {
        let locals: Vec<&str> = env[self.known..].iter().map(|(name, _)| name.as_str()).collect();
        let mut open = false;
        expr.walk(&mut Vec::new(), &mut |path| {
            if let Some(ASTNode::Expr(Expr::Variable(variable, ..))) = path.last() {
                open |= locals.contains(&variable.1.as_str());
            }
            // A closure's body is elsewhere, and may name locals too.
            open |= matches!(path.last(), Some(ASTNode::Expr(Expr::DynamicConstant(..)))) && !locals.is_empty();
            true
        });
        let unit = self.of.unit;
        match unit.tokens().extent(unit.script(), expr).filter(|_| !open) {
            Some(span) => {
                let params: Vec<&str> = env[..self.known].iter().map(|(name, _)| name.as_str()).collect();
                let text = &unit.script()[span.start..span.end];
                let key = format!("?{}|{}|{text}", if unit.is_condition() { "" } else { unit.name() }, params.join(","));
                Formula::Atom(key, Test::Holds)
            }
            None => self.reasoner.unknown(),
        }
    }

    fn is(&self, path: &str, test: impl Fn(&Kind) -> bool) -> bool {
        kind_at(&self.of.inputs, path).is_some_and(|(kind, _)| test(kind))
    }

    fn value(&mut self, expr: &Expr, env: &Env) -> Value {
        self.steps = self.steps.saturating_sub(1);
        #[expect(clippy::cast_precision_loss, reason = "what is compared with is small")]
        match expr {
            _ if self.steps == 0 => Value::Unknown,
            Expr::BoolConstant(true, _) => Value::Truth(Formula::True),
            Expr::BoolConstant(false, _) => Value::Truth(Formula::False),
            Expr::IntegerConstant(number, _) => Value::Number(*number as f64),
            Expr::FloatConstant(number, _) => Value::Number(**number),
            Expr::StringConstant(text, _) => Value::Text(text.to_string()),
            Expr::Unit(_) => Value::Unit,
            Expr::Map(..) => Value::Map,
            Expr::DynamicConstant(value, _) if value.is_map() => Value::Map,
            Expr::And(sides, _) => Value::Truth(Formula::all(sides.iter().map(|side| self.truth(side, env)).collect::<Vec<_>>())),
            Expr::Or(sides, _) => Value::Truth(Formula::any(sides.iter().map(|side| self.truth(side, env)).collect::<Vec<_>>())),
            Expr::Variable(variable, ..) if variable.2.is_empty() => {
                let known = env.iter().rev().find(|(name, _)| *name == variable.1.as_str());
                known.map_or(Value::Unknown, |(_, value)| value.clone())
            }
            Expr::Dot(..) | Expr::Index(..) => self.chain(expr, env),
            Expr::FnCall(call, _) => match (call.name.as_str(), call.args.as_slice()) {
                ("!", [inner]) => Value::Truth(self.truth(inner, env).negated()),
                ("==" | "!=" | "<" | "<=" | ">" | ">=", [left, right]) if call.op_token.is_some() => {
                    let (left, right) = (self.value(left, env), self.value(right, env));
                    self.compare(&call.name, left, right).map_or(Value::Unknown, Value::Truth)
                }
                ("contains", [Expr::Array(items, _), item]) => self.one_of(items, item, env),
                _ => Value::Unknown,
            },
            _ => Value::Unknown,
        }
    }

    /// `item in ["a", "b"]`
    fn one_of(&mut self, items: &[Expr], item: &Expr, env: &Env) -> Value {
        let item = self.value(item, env);
        let mut any = Vec::new();
        for one in items {
            let one = self.value(one, env);
            match self.compare("==", item.clone(), one) {
                Some(formula) => any.push(formula),
                None => return Value::Unknown,
            }
        }
        Value::Truth(Formula::any(any))
    }

    fn chain(&mut self, expr: &Expr, env: &Env) -> Value {
        let Some(chain) = flatten(expr) else { return Value::Unknown };
        let Value::Input(mut path) = self.value(chain.root, env) else { return Value::Unknown };
        let list = |kind: &Kind| matches!(kind, Kind::List(_));
        let text = |kind: &Kind| matches!(kind, Kind::Text { .. });
        for (at, segment) in chain.segments.iter().enumerate() {
            let last = at + 1 == chain.segments.len();
            match segment {
                Segment::Field { name, .. } if !self.is(&path, list) => path = format!("{path}.{name}"),
                Segment::Index { key: Expr::StringConstant(name, _) } if !self.is(&path, list) => path = format!("{path}.{name}"),
                Segment::Call { call, .. } if last && call.args.is_empty() && self.is(&path, list) => {
                    let length = format!("{path}.len()");
                    return match call.name.as_str() {
                        "len" => Value::Input(length),
                        "is_empty" => Value::Truth(Formula::Atom(length, Test::Number(Op::Equal, 0.0))),
                        _ => Value::Unknown,
                    };
                }
                Segment::Call { call, .. } if last && call.args.is_empty() && call.name == "is_empty" && self.is(&path, text) => {
                    return Value::Truth(Formula::Atom(path, Test::Text(String::new())));
                }
                _ => return Value::Unknown,
            }
        }
        Value::Input(path)
    }

    /// A comparison of an input with a constant; nothing for any other.
    fn compare(&mut self, op: &str, left: Value, right: Value) -> Option<Formula> {
        let is_input = |value: &Value| matches!(value, Value::Input(path) if !path.starts_with("vars."));
        let (path, other, op) = match (left, right) {
            (Value::Input(path), other) if is_input(&Value::Input(path.clone())) => (path, other, op),
            (other, Value::Input(path)) if is_input(&Value::Input(path.clone())) => (path, other, flipped(op)),
            _ => return None,
        };
        let other = match other {
            Value::Input(var) => self.reasoner.vars.get(&var)?.clone(),
            other => other,
        };
        let atom = |test| Formula::Atom(path.clone(), test);
        let number = |op, number| atom(Test::Number(op, number));
        Some(match (other, op) {
            (Value::Number(n), "==") => number(Op::Equal, n),
            (Value::Number(n), "!=") => number(Op::Equal, n).negated(),
            (Value::Number(n), "<") => number(Op::Less, n),
            (Value::Number(n), "<=") => number(Op::AtMost, n),
            (Value::Number(n), ">") => number(Op::AtMost, n).negated(),
            (Value::Number(n), ">=") => number(Op::Less, n).negated(),
            (Value::Text(text), "==") => atom(Test::Text(text)),
            (Value::Text(text), "!=") => atom(Test::Text(text)).negated(),
            (Value::Truth(truth @ (Formula::True | Formula::False)), "==" | "!=")
                if self.is(&path, |kind| *kind == Kind::Bool) =>
            {
                let holds = atom(Test::Holds);
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

/// Whether the function may end in it.
fn leaves(statement: &Stmt) -> bool {
    let mut found = false;
    statement.walk(&mut Vec::new(), &mut |path| {
        found |= matches!(path.last(), Some(ASTNode::Stmt(Stmt::Return(..))));
        !found
    });
    found
}

/// Whatever a statement names may be another afterwards; of a map it still is one, and inputs cannot be changed.
fn forget(statement: &Stmt, known: usize, env: &mut Env) {
    statement.walk(&mut Vec::new(), &mut |path| {
        if let Some(ASTNode::Expr(Expr::Variable(variable, ..))) = path.last() {
            let named = env[known..].iter_mut().filter(|(name, _)| *name == variable.1.as_str());
            named.filter(|(_, value)| !matches!(value, Value::Map)).for_each(|(_, value)| *value = Value::Unknown);
        }
        true
    });
}
