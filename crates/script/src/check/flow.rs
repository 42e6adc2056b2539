//! Analysis of statements.

use super::facts::FunctionFacts;
use super::findings::{self, Findings, ScriptPlace};
use super::reads::{ReadCollector, is_whole};
use super::script::{CheckedFunction, Script};
use super::types::Type;
use super::value::{MapField, MapLiteral, TypedValue};
use super::{Analysis, ModuleLookup};
use crate::chain::{Chain, Segment, flatten};
use crate::tree::{Arm, Expr, Position, Stmt};
use asterisk_diag::{Diagnostic, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Maximum number of expressions analysed per function; beyond it, analysis stops and keeps its results.
const MAX_EXPRESSIONS: u32 = 100_000;

/// The variables in scope, innermost last.
pub(super) type TypeEnv<'a> = Vec<(String, TypedValue<'a>)>;

/// A function under analysis.
pub(super) struct FlowFrame<'a> {
    pub(super) script: Rc<Script<'a>>,
    pub(super) function: Rc<CheckedFunction<'a>>,
    /// The call site, if the call is by name from a script.
    pub(super) call: Option<(ScriptPlace, String)>,
    /// Whether it was called by another function under analysis; then its result is not used yet.
    pub(super) inner: bool,
    pub(super) returns: Vec<TypedValue<'a>>,
}

/// The analysis of a function.
pub(super) struct TypeFlow<'a> {
    pub(super) modules: &'a ModuleLookup<'a>,
    /// The scripts loaded so far, by path.
    pub(super) scripts: BTreeMap<String, Option<Rc<Script<'a>>>>,
    pub(super) frames: Vec<FlowFrame<'a>>,
    /// The current script while no frame is open.
    script: Rc<Script<'a>>,
    findings: Findings,
    reads: ReadCollector,
    pub(super) facts: FunctionFacts,
    pub(super) keeps_facts: bool,
    /// The maps that were written out.
    pub(super) maps: Vec<Rc<MapLiteral<'a>>>,
    /// The fields that the function itself sets in maps of its variables: `found.title = ..`.
    pub(super) assigned: Vec<(String, MapField<'a>)>,
    /// The fields that are tested before they are read: `"at" in line`.
    pub(super) asked: BTreeSet<String>,
    /// The number of expressions that may still be analysed.
    pub(super) left: u32,
}

impl<'a> TypeFlow<'a> {
    /// Starts an analysis in a script.
    pub(super) fn new(script: Rc<Script<'a>>, modules: &'a ModuleLookup<'a>, keeps_facts: bool) -> Self {
        Self {
            modules,
            scripts: BTreeMap::new(),
            frames: Vec::new(),
            script,
            findings: Findings::default(),
            reads: ReadCollector::default(),
            facts: FunctionFacts::default(),
            keeps_facts,
            maps: Vec::new(),
            assigned: Vec::new(),
            asked: BTreeSet::new(),
            left: MAX_EXPRESSIONS,
        }
    }

    /// Returns the results.
    pub(super) fn into_analysis(self) -> Analysis {
        Analysis { diagnostics: self.findings.into_list(), reads: self.reads.into_list(), facts: self.facts }
    }

    /// The current script.
    pub(super) fn script(&self) -> Rc<Script<'a>> {
        self.frames.last().map_or_else(|| self.script.clone(), |frame| frame.script.clone())
    }

    /// A token of the current script.
    pub(super) fn place(&self, at: Position) -> ScriptPlace {
        let unit = self.script().unit;
        let (source, span) = unit.token(at).unwrap_or_else(|| unit.locate(Span::default()));
        ScriptPlace { source, span }
    }

    /// A span of the current text.
    pub(super) fn place_of(&self, span: Span) -> ScriptPlace {
        let (source, span) = self.script().unit.locate(span);
        ScriptPlace { source, span }
    }

    /// Reports a diagnostic.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        let frames: Vec<_> = self.frames.iter().filter_map(|frame| frame.call.clone()).collect();
        self.findings.add(diagnostic, &frames);
    }

    /// A field that a value does not have. A list that a function of another script takes for a map is the fault of the call.
    pub(super) fn no_field(&self, at: Position, value: &TypedValue<'_>, name: &str) -> Diagnostic {
        let place = self.place(at);
        let mut calls = self.frames.iter().filter_map(|frame| frame.call.as_ref()).rev();
        let is_known_list = value.ty.shape().is_none() && value.path().is_some();
        match calls.find(|(call, _)| is_known_list && call.source != place.source) {
            Some((call, function)) => findings::wrong_argument(call, function, &place, value, name),
            None => findings::no_field(&place, value, name),
        }
    }

    /// Records a read of a value from the inputs.
    pub(super) fn read(&mut self, value: &TypedValue<'a>) {
        let place = self.place(value.at);
        self.reads.add(value, &place.source, place.span);
    }

    /// Records that a value escapes as a whole: an input used as a whole is read as a whole. (Parts of inputs are recorded where
    /// they are accessed.) An escaping function may be called with anything.
    pub(super) fn used(&mut self, value: &TypedValue<'a>) {
        if let Some(function) = &value.function {
            self.follow(function.clone(), None, Vec::new(), value.at, None);
        }
        if value.origins.iter().any(|path| is_whole(path)) {
            self.read(value);
        }
    }

    /// Analyses statements in a scope of their own. Returns the value of the last.
    pub(super) fn block(&mut self, statements: &[Stmt], env: &mut TypeEnv<'a>) -> TypedValue<'a> {
        let outside = env.len();
        let mut value = TypedValue::unknown(Position::NONE);
        for (at, statement) in statements.iter().enumerate() {
            if at + 1 < statements.len() {
                self.drops(statement);
            }
            value = self.statement(statement, env);
        }
        env.truncate(outside);
        value
    }

    fn statement(&mut self, statement: &Stmt, env: &mut TypeEnv<'a>) -> TypedValue<'a> {
        let nothing = TypedValue::unknown(statement.position());
        match statement {
            Stmt::Var { name, value, .. } => {
                let value = self.expr(value, env);
                self.declare(env, &name.text, value);
            }
            Stmt::Expr(expr) => return self.expr(expr, env),
            Stmt::Block(statements, _) => return self.block(statements, env),
            Stmt::Assign { target, value, compound, .. } => self.assign(target, value, *compound, env),
            Stmt::If { condition, then, otherwise, .. } => {
                self.condition(condition, env);
                let then = self.block(then, env);
                let otherwise = self.block(otherwise, env);
                return then.or(&otherwise);
            }
            Stmt::Switch { on, arms, has_default, at } => return self.switch(on, arms, *has_default, *at, env),
            Stmt::While { condition, body, .. } | Stmt::Do { condition, body, .. } => {
                self.twice(body, env, |flow, env| flow.condition(condition, env));
            }
            Stmt::For { item, counter, over, body, .. } => {
                let list = self.expr(over, env);
                self.used(&list);
                let outside = env.len();
                self.declare(env, &item.text, list.item(item.at));
                if let Some(counter) = counter {
                    self.declare(env, &counter.text, TypedValue::new(Type::Number, counter.at));
                }
                self.twice(body, env, |_, _| ());
                env.truncate(outside);
            }
            Stmt::Try { body, caught, handler, .. } => {
                self.block(body, env);
                let outside = env.len();
                if let Some(caught) = caught {
                    self.declare(env, &caught.text, TypedValue::unknown(caught.at));
                }
                self.block(handler, env);
                env.truncate(outside);
            }
            Stmt::Return { value: Some(value), throws, .. } => {
                let value = self.expr(value, env);
                if *throws || self.frames.last().is_none_or(|frame| !frame.inner) {
                    self.used(&value);
                }
                if let Some(frame) = self.frames.last_mut().filter(|_| !throws) {
                    frame.returns.push(value);
                }
            }
            Stmt::Break { value: Some(value), .. } => self.condition(value, env),
            // Imports were resolved before; sharing and exporting change nothing.
            _ => {}
        }
        nothing
    }

    /// Analyses the body of a loop twice, so that assignments at its end reach its beginning.
    fn twice(&mut self, body: &[Stmt], env: &mut TypeEnv<'a>, mut each: impl FnMut(&mut Self, &mut TypeEnv<'a>)) {
        for _ in 0..2 {
            each(self, env);
            if let Some(last) = body.last() {
                self.drops(last);
            }
            self.block(body, env);
        }
    }

    fn switch(&mut self, on: &Expr, arms: &[Arm], has_default: bool, at: Position, env: &mut TypeEnv<'a>) -> TypedValue<'a> {
        let value = self.expr(on, env);
        self.used(&value);
        self.cases(&value, arms, at);
        let mut result: Option<TypedValue<'a>> = (!has_default).then(|| TypedValue::unknown(at));
        for arm in arms {
            self.condition(&arm.guard, env);
            let value = self.expr(&arm.value, env);
            result = Some(result.map_or_else(|| value.clone(), |result| result.or(&value)));
        }
        result.unwrap_or_else(|| TypedValue::unknown(at))
    }

    /// Analyses an expression whose value is consumed.
    pub(super) fn condition(&mut self, expr: &Expr, env: &mut TypeEnv<'a>) {
        let value = self.expr(expr, env);
        self.used(&value);
    }

    fn assign(&mut self, target: &Expr, given: &Expr, keeps_old: bool, env: &mut TypeEnv<'a>) {
        let value = self.expr(given, env);
        if let Expr::Variable(variable, _) = target {
            if let Some((_, known)) = env.iter_mut().rev().find(|(name, _)| *name == variable.name.as_str()) {
                if !keeps_old {
                    known.add_origins(&value);
                }
                known.function = None;
            }
            return;
        }
        self.used(&value);
        if let Some(chain) = flatten(target) {
            let is_own = self.frames.last().is_some_and(|frame| !frame.inner) && !keeps_old;
            if let (true, Expr::Variable(variable, _), [Segment::Field { name, at }]) = (is_own, chain.root, &chain.segments[..])
            {
                self.assigned.push((variable.name.to_string(), MapField::of(name, *at, value, given)));
            }
            self.write(&chain, env);
        }
    }

    /// Analyses an assignment to the last segment of a chain.
    fn write(&mut self, chain: &Chain<'_>, env: &mut TypeEnv<'a>) {
        let mut value = self.expr(chain.root, env);
        let Some((last, before)) = chain.segments.split_last() else { return };
        for segment in before {
            value = self.segment(&value, segment, env);
        }
        let (name, at) = match last {
            Segment::Field { name, at } => (format!(".{name}"), *at),
            Segment::Index { key: Expr::Text(name, at) } => (format!(".{name}"), *at),
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

    fn declare(&mut self, env: &mut TypeEnv<'a>, name: &str, value: TypedValue<'a>) {
        if let Some(frame) = self.frames.last() {
            declare(env, &frame.function, name, value);
        }
    }
}

/// Declares a variable. If it is reassigned later, only its origins are kept.
pub(super) fn declare<'a>(env: &mut TypeEnv<'a>, function: &CheckedFunction<'a>, name: &str, mut value: TypedValue<'a>) {
    value.literals.clear();
    if function.reassigned.contains(name) {
        value = TypedValue { ty: Type::Unknown, frozen: false, function: None, ..value };
    }
    env.push((name.to_owned(), value));
}
