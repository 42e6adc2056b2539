//! The pass over statements and expressions.

use super::chain::{Chain, Segment, flatten};
use super::findings::{self, Findings, Place, Side};
use super::reads::{Reads, is_whole};
use super::script::{Callable, Function, Script};
use super::types::{Class, Type, Value};
use super::{Analysis, Input, Modules};
use crate::diag::Diagnostic;
use rhai::{ASTFlags, Expr, FlowControl, FnPtr, Position, Stmt, SwitchCasesCollection};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The most expressions that are looked at for one function; past it the pass stops and keeps what it has.
const MAX_EXPRESSIONS: u32 = 100_000;

/// The names that a statement sees, innermost last.
pub(super) type Env<'a> = Vec<(String, Value<'a>)>;

/// The name under which a method sees what it is called on.
pub(super) const THIS: &str = "this";

/// A function being followed.
pub(super) struct Frame<'a> {
    pub(super) script: Rc<Script<'a>>,
    pub(super) function: Rc<Function>,
    /// Where it was called, if it was by a script that names it.
    pub(super) call: Option<(Place, String)>,
    /// Whether it was called by what is followed; then what it returns is not yet used.
    pub(super) inner: bool,
    pub(super) returns: Vec<Value<'a>>,
}

/// The pass.
pub(super) struct Flow<'a> {
    pub(super) modules: &'a Modules<'a>,
    /// The scripts that were looked up, by import path.
    pub(super) scripts: BTreeMap<String, Option<Rc<Script<'a>>>>,
    pub(super) frames: Vec<Frame<'a>>,
    /// The script that is followed while no frame is open.
    script: Rc<Script<'a>>,
    findings: Findings,
    reads: Reads,
    left: u32,
}

impl<'a> Flow<'a> {
    /// A pass that starts in a script.
    pub(super) fn new(script: Rc<Script<'a>>, modules: &'a Modules<'a>) -> Self {
        Self {
            modules,
            scripts: BTreeMap::new(),
            frames: Vec::new(),
            script,
            findings: Findings::default(),
            reads: Reads::default(),
            left: MAX_EXPRESSIONS,
        }
    }

    /// Follows a function from its inputs.
    pub(super) fn run(mut self, function: Rc<Function>, inputs: &[Input<'a>]) -> Analysis {
        let mut env = Env::new();
        for (param, input) in function.params.iter().zip(inputs) {
            declare(&mut env, &function, param, Value::input(input.name, input.kind));
        }
        let script = self.script.clone();
        self.frames.push(Frame { script, function: function.clone(), call: None, inner: false, returns: Vec::new() });
        let result = self.block(&function.body, &mut env);
        self.used(&result);
        Analysis { diagnostics: self.findings.into_list(), reads: self.reads.into_list() }
    }

    /// The script being followed.
    pub(super) fn script(&self) -> Rc<Script<'a>> {
        self.frames.last().map_or_else(|| self.script.clone(), |frame| frame.script.clone())
    }

    /// A token of the script being followed.
    pub(super) fn place(&self, at: Position) -> Place {
        let script = self.script();
        Place { source: script.code.source().clone(), span: script.code.span(at) }
    }

    /// Reports a finding.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        let frames: Vec<_> = self.frames.iter().filter_map(|frame| frame.call.clone()).collect();
        self.findings.add(diagnostic, &frames);
    }

    /// The value was read from the inputs.
    pub(super) fn read(&mut self, value: &Value<'a>) {
        let place = self.place(value.at);
        self.reads.add(value, &place.source, place.span);
    }

    /// The value as a whole leaves what is followed: an input that is used whole is read whole. (Parts of inputs are noted
    /// where they are taken.) A function may be called with anything.
    pub(super) fn used(&mut self, value: &Value<'a>) {
        if let Some(function) = &value.function {
            self.follow(function.clone(), None, Vec::new(), value.at, None);
        }
        if value.origins.iter().any(|path| is_whole(path)) {
            self.read(value);
        }
    }

    /// Statements with names of their own, and the value of the last.
    pub(super) fn block(&mut self, statements: &[Stmt], env: &mut Env<'a>) -> Value<'a> {
        let outside = env.len();
        let mut value = Value::unknown(Position::NONE);
        for statement in statements {
            value = self.statement(statement, env);
        }
        env.truncate(outside);
        value
    }

    fn statement(&mut self, statement: &Stmt, env: &mut Env<'a>) -> Value<'a> {
        let nothing = Value::unknown(statement.position());
        match statement {
            Stmt::Var(declaration, ..) => {
                let value = self.expr(&declaration.1, env);
                self.declare(env, &declaration.0.name, value);
                nothing
            }
            Stmt::Expr(expr) => self.expr(expr, env),
            Stmt::FnCall(call, at) => self.call(call, *at, env),
            Stmt::Block(block) => self.block(block.statements(), env),
            Stmt::Assignment(assignment) => {
                self.assign(&assignment.1.lhs, &assignment.1.rhs, assignment.0.is_op_assignment(), env);
                nothing
            }
            Stmt::If(parts, _) => {
                self.condition(&parts.expr, env);
                let then = self.block(parts.body.statements(), env);
                let otherwise = self.block(parts.branch.statements(), env);
                then.or(&otherwise)
            }
            Stmt::Switch(parts, at) => self.switch(&parts.0, &parts.1, *at, env),
            Stmt::While(parts, at) | Stmt::Do(parts, _, at) => {
                self.twice(parts, env, |flow, env| flow.condition(&parts.expr, env));
                Value::unknown(*at)
            }
            Stmt::For(parts, at) => {
                let (item, counter, parts) = &**parts;
                let list = self.expr(&parts.expr, env);
                self.used(&list);
                let outside = env.len();
                self.declare(env, &item.name, list.item(item.pos));
                if let Some(counter) = counter {
                    self.declare(env, &counter.name, Value::new(Type::Number, counter.pos));
                }
                self.twice(parts, env, |_, _| ());
                env.truncate(outside);
                Value::unknown(*at)
            }
            Stmt::TryCatch(parts, at) => {
                self.block(parts.body.statements(), env);
                let outside = env.len();
                if let Expr::Variable(caught, _, at) = &parts.expr {
                    self.declare(env, &caught.1, Value::unknown(*at));
                }
                self.block(parts.branch.statements(), env);
                env.truncate(outside);
                Value::unknown(*at)
            }
            Stmt::Return(expr, flags, at) => {
                if let Some(expr) = expr {
                    let value = self.expr(expr, env);
                    match self.frames.last_mut() {
                        Some(frame) if frame.inner && !flags.contains(ASTFlags::BREAK) => frame.returns.push(value),
                        _ => self.used(&value),
                    }
                }
                Value::unknown(*at)
            }
            Stmt::BreakLoop(expr, _, at) => {
                if let Some(expr) = expr {
                    self.condition(expr, env);
                }
                Value::unknown(*at)
            }
            // Imports were looked up before; sharing and exporting change nothing.
            _ => nothing,
        }
    }

    /// The body of a loop, as often as it takes for what is assigned at its end to reach its beginning.
    fn twice(&mut self, parts: &FlowControl, env: &mut Env<'a>, mut each: impl FnMut(&mut Self, &mut Env<'a>)) {
        for _ in 0..2 {
            each(self, env);
            self.block(parts.body.statements(), env);
        }
    }

    fn switch(&mut self, on: &Expr, cases: &SwitchCasesCollection, at: Position, env: &mut Env<'a>) -> Value<'a> {
        self.condition(on, env);
        let mut result: Option<Value<'a>> = cases.def_case.is_none().then(|| Value::unknown(at));
        for case in &cases.expressions {
            self.condition(&case.lhs, env);
            let value = self.expr(&case.rhs, env);
            result = Some(result.map_or_else(|| value.clone(), |result| result.or(&value)));
        }
        result.unwrap_or_else(|| Value::unknown(at))
    }

    /// An expression whose value is used up.
    fn condition(&mut self, expr: &Expr, env: &mut Env<'a>) {
        let value = self.expr(expr, env);
        self.used(&value);
    }

    fn assign(&mut self, target: &Expr, value: &Expr, keeps_old: bool, env: &mut Env<'a>) {
        let value = self.expr(value, env);
        if let Expr::Variable(variable, ..) = target {
            if let Some((_, known)) = env.iter_mut().rev().find(|(name, _)| *name == variable.1.as_str()) {
                if !keeps_old {
                    known.add_origins(&value);
                }
                known.function = None;
            }
            return;
        }
        self.used(&value);
        if let Some(chain) = flatten(target) {
            self.write(&chain, env);
        }
    }

    /// The last segment of the chain is given a value.
    fn write(&mut self, chain: &Chain<'_>, env: &mut Env<'a>) {
        let mut value = self.expr(chain.root, env);
        let Some((last, before)) = chain.segments.split_last() else { return };
        for segment in before {
            value = self.segment(&value, segment, env);
        }
        let (name, at) = match last {
            Segment::Field { name, at } => (format!(".{name}"), *at),
            Segment::Index { key: Expr::StringConstant(name, at) } => (format!(".{name}"), *at),
            Segment::Index { key } => {
                self.condition(key, env);
                ("[]".to_owned(), key.start_position())
            }
            Segment::Call { .. } => return,
        };
        if value.frozen
            && let Some(path) = value.path()
        {
            let found = findings::written(&self.place(at), &format!("{path}{name}"), "assigned here");
            self.report(found);
        }
    }

    /// What is known of an expression's value.
    pub(super) fn expr(&mut self, expr: &Expr, env: &mut Env<'a>) -> Value<'a> {
        let at = expr.position();
        if self.left == 0 {
            return Value::unknown(at);
        }
        self.left -= 1;
        let known = |ty| Value::new(ty, at);
        match expr {
            Expr::BoolConstant(..) => known(Type::Bool),
            Expr::IntegerConstant(..) | Expr::FloatConstant(..) => known(Type::Number),
            Expr::StringConstant(..) | Expr::CharConstant(..) => known(Type::Text),
            Expr::Unit(_) => known(Type::Unit),
            Expr::DynamicConstant(value, _) => self.constant(value, at),
            Expr::InterpolatedString(parts, _) => {
                parts.iter().for_each(|part| self.condition(part, env));
                known(Type::Text)
            }
            Expr::Array(items, _) => {
                items.iter().for_each(|item| self.condition(item, env));
                known(Type::List)
            }
            Expr::Map(fields, _) => {
                fields.0.iter().for_each(|(_, value)| self.condition(value, env));
                known(Type::Map)
            }
            Expr::And(sides, _) | Expr::Or(sides, _) => {
                sides.iter().for_each(|side| self.condition(side, env));
                known(Type::Bool)
            }
            Expr::Coalesce(sides, _) => {
                let mut values: Vec<_> = sides.iter().map(|side| self.expr(side, env)).collect();
                let last = values.pop().unwrap_or_else(|| Value::unknown(at));
                values.iter().fold(last, Value::or).seen(at)
            }
            Expr::Variable(variable, ..) if variable.2.is_empty() => self.variable(&variable.1, at, env),
            Expr::Variable(variable, ..) => match variable.2.path.as_slice() {
                [root] if root.name == "global" => known(self.script().constant(&variable.1)),
                _ => Value::unknown(at),
            },
            Expr::ThisPtr(_) => self.variable(THIS, at, env),
            Expr::Stmt(block) => self.block(block.statements(), env),
            Expr::FnCall(call, _) => self.call(call, at, env),
            Expr::Dot(..) | Expr::Index(..) => match flatten(expr) {
                Some(chain) => self.chain(&chain, env),
                None => Value::unknown(at),
            },
            Expr::Custom(custom, _) => {
                custom.inputs.iter().for_each(|input| self.condition(input, env));
                Value::unknown(at)
            }
            _ => Value::unknown(at),
        }
    }

    fn constant(&self, value: &rhai::Dynamic, at: Position) -> Value<'a> {
        if let Some(pointer) = value.read_lock::<FnPtr>() {
            return self.pointer(pointer.fn_name(), at);
        }
        let ty = if value.is_array() {
            Type::List
        } else if value.is_map() {
            Type::Map
        } else {
            Type::Unknown
        };
        Value::new(ty, at)
    }

    /// A pointer to a function of the script being followed.
    pub(super) fn pointer(&self, name: &str, at: Position) -> Value<'a> {
        let script = self.script();
        let function = script.pointed_at(name).cloned();
        let function = function.map(|function| Callable { script, function, captured: Vec::new() });
        Value { function, ..Value::unknown(at) }
    }

    fn variable(&self, name: &str, at: Position, env: &Env<'a>) -> Value<'a> {
        match env.iter().rev().find(|(known, _)| known == name) {
            Some((_, value)) => value.clone().seen(at),
            // A name that is no variable may be a function's.
            None => self.pointer(name, at),
        }
    }

    fn chain(&mut self, chain: &Chain<'_>, env: &mut Env<'a>) -> Value<'a> {
        let mut value = self.expr(chain.root, env);
        for segment in &chain.segments {
            value = self.segment(&value, segment, env);
        }
        // Only what the chain ends with is read; what a call was made on was noted there.
        if !matches!(chain.segments.last(), Some(Segment::Call { .. })) {
            self.read(&value);
        }
        value
    }

    fn segment(&mut self, value: &Value<'a>, segment: &Segment<'_>, env: &mut Env<'a>) -> Value<'a> {
        match segment {
            Segment::Field { name, at } => self.field(value, name, *at),
            Segment::Index { key: Expr::StringConstant(name, at) } if !value.ty.is_list() => self.key(value, name, *at),
            Segment::Index { key } => {
                self.condition(key, env);
                value.item(key.position())
            }
            Segment::Call { call, at } => {
                self.read_receiver(value, call);
                self.method(value, call, *at, env)
            }
        }
    }

    /// What a method is called on is read, unless it is an input itself.
    fn read_receiver(&mut self, value: &Value<'a>, call: &rhai::FnCallExpr) {
        if value.origins.iter().all(|path| !is_whole(path)) && call.name != "call" {
            self.read(value);
        }
    }

    /// `.name`
    fn field(&mut self, value: &Value<'a>, name: &str, at: Position) -> Value<'a> {
        match (value.ty.is_list(), name) {
            (true, "len") => {
                self.read(value);
                Value::new(Type::Number, at)
            }
            (true, "is_empty") => {
                self.read(value);
                Value::new(Type::Bool, at)
            }
            (true, _) => {
                let found = findings::no_field(&self.place(at), value, name);
                self.report(found);
                Value::unknown(at)
            }
            (false, _) => self.key(value, name, at),
        }
    }

    /// The value under a name.
    pub(super) fn key(&mut self, value: &Value<'a>, name: &str, at: Position) -> Value<'a> {
        if let Some(shape) = value.ty.shape() {
            return match shape.field(name) {
                Some(field) => value.part(Type::of(&field.kind), &format!(".{name}"), at),
                None => {
                    let found = findings::no_field(&self.place(at), value, name);
                    self.report(found);
                    Value::unknown(at)
                }
            };
        }
        value.part(value.ty.item(), &format!(".{name}"), at)
    }

    /// Checks a comparison; `ordered` for `<` and its like.
    pub(super) fn compare(&mut self, left: &Value<'a>, right: &Value<'a>, ordered: bool, at: Position) {
        let (Some(left_class), Some(right_class)) = (left.ty.class(), right.ty.class()) else { return };
        let place = self.place(at);
        let left = Side { value: left, class: left_class, span: self.place(left.at).span };
        let right = Side { value: right, class: right_class, span: self.place(right.at).span };
        let unit = left.class == Class::Unit || right.class == Class::Unit;
        if left.class != right.class && (ordered || !unit) {
            self.report(findings::compared(&place, &left, &right));
        } else if left.class == right.class && ordered && !left.class.ordered() {
            self.report(findings::unordered(&place, &left));
        }
    }

    /// Checks a text literal that something is compared with.
    pub(super) fn compare_literal(&mut self, value: &Value<'a>, literal: &Expr) {
        if let (Some(one_of), Expr::StringConstant(text, at)) = (value.ty.one_of(), literal)
            // An absent field reads as the empty text.
            && !text.is_empty()
            && !one_of.iter().any(|known| known == text.as_str())
        {
            let found = findings::never(&self.place(*at), value, text, one_of);
            self.report(found);
        }
    }

    fn declare(&mut self, env: &mut Env<'a>, name: &str, value: Value<'a>) {
        if let Some(frame) = self.frames.last() {
            declare(env, &frame.function, name, value);
        }
    }
}

/// Adds a name. Of a variable that is given other values later only where it comes from is kept.
pub(super) fn declare<'a>(env: &mut Env<'a>, function: &Function, name: &str, mut value: Value<'a>) {
    if function.reassigned.contains(name) {
        value = Value { ty: Type::Unknown, frozen: false, function: None, ..value };
    }
    env.push((name.to_owned(), value));
}
