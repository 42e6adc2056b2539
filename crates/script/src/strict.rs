//! The production nodes: comparisons that refuse operands of different types, and as little else as possible.

use super::compare::{self, CompareOp};
use super::fault::{self, ScriptFault};
use super::guard;
use super::memo::memo;
use super::reference::is_test_file;
use super::rhai_internals::call_caches;
use super::rhai_internals::function_stub::{BODY, StubBlock};
use super::rhai_internals::node::{RewrittenExpr, constant_of};
use super::rhai_internals::rewrite::Nodes;
use super::rhai_internals::tree::FunctionHead;
use rhai::{Dynamic, Engine, EvalAltResult, EvalContext, Expression, ImmutableString, Position};

// Keys that no script can type.
const COMPARE: &str = "\u{2039}compare\u{203a}";
const CONSTANT: &str = "\u{2039}constant\u{203a}";
const CLOSURE: &str = "\u{2039}closure\u{203a}";
const SHALLOW: &str = "\u{2039}shallow\u{203a}";

/// Maximum nesting depth of lists and maps. Rhai walks them recursively to clone, print and drop them, without a limit of its
/// own.
const DEEPEST: usize = 64;

/// Strict comparisons, nodes that enforce limits and avoid shared locks, and those that reuse results.
pub(crate) struct Strict {
    /// The number of imports of the file; `None` if its functions are not pure, because it is a test.
    imports: Option<usize>,
    /// Whether the function being rewritten has a name.
    named: bool,
}

impl Strict {
    pub(crate) fn new(file: &str, imports: usize) -> Self {
        Self { imports: Some(imports).filter(|_| !is_test_file(file)), named: false }
    }
}

impl Nodes for Strict {
    fn enter(&mut self, function: Option<FunctionHead>) {
        self.named = function.is_some_and(|function| !function.is_closure());
    }

    fn body(&mut self, block: RewrittenExpr, params: usize) -> RewrittenExpr {
        match self.imports.filter(|_| self.named && params > 0) {
            Some(imports) => memo(block, params, imports),
            None => block,
        }
    }

    fn compare(&mut self, op: CompareOp, operands: Vec<RewrittenExpr>, position: Position, _id: Option<u32>) -> RewrittenExpr {
        compare(op, operands, position)
    }

    fn constant(&mut self, name: &ImmutableString, position: Position) -> RewrittenExpr {
        constant(name, position)
    }

    fn closure(&mut self, made: RewrittenExpr, position: Position) -> RewrittenExpr {
        closure(made, position)
    }

    fn shallow(&mut self, value: RewrittenExpr, position: Position) -> RewrittenExpr {
        shallow(value, position)
    }
}

/// A strict comparison. (An error raised in a host node lacks a position: the state carries it.)
pub(crate) fn compare(op: CompareOp, operands: Vec<RewrittenExpr>, position: Position) -> RewrittenExpr {
    let part = |part: Option<usize>| part.and_then(|part| i64::try_from(part).ok()).unwrap_or(0);
    let state = op.code() | part(position.line()) << 8 | part(position.position()) << 24;
    RewrittenExpr::host(COMPARE, operands, state.into(), position)
}

fn position_in(state: i64) -> Position {
    let part = |bits: i64| u16::try_from(bits & 0xffff).unwrap_or(0);
    match part(state >> 8) {
        0 => Position::NONE,
        line => Position::new(line, part(state >> 24)),
    }
}

/// The name of a constant and the position of the access.
#[derive(Clone)]
struct Constant(ImmutableString, Position);

/// Reads a constant of the file. Rhai itself takes the write lock of the constants each time, and panics when another thread
/// holds it.
pub(crate) fn constant(name: &ImmutableString, position: Position) -> RewrittenExpr {
    RewrittenExpr::host(CONSTANT, [], Dynamic::from(Constant(name.clone(), position)), position)
}

/// Creates a closure that captures variables, and registers them with the guard.
pub(crate) fn closure(made: RewrittenExpr, position: Position) -> RewrittenExpr {
    RewrittenExpr::host(CLOSURE, [made], Dynamic::UNIT, position)
}

/// Refuses a value that is nested too deeply, before it is stored in another.
pub(crate) fn shallow(value: RewrittenExpr, position: Position) -> RewrittenExpr {
    RewrittenExpr::host(SHALLOW, [value], Dynamic::UNIT, position)
}

/// Registers the evaluation of the nodes.
pub(crate) fn register(engine: &mut Engine) {
    type Handler = fn(&mut EvalContext, &[Expression], &Dynamic) -> Result<Dynamic, Box<EvalAltResult>>;
    let handlers: [(&str, Handler); 5] =
        [(COMPARE, eval_compare), (CONSTANT, eval_constant), (CLOSURE, eval_closure), (SHALLOW, eval_shallow), (BODY, eval_body)];
    for (key, handler) in handlers {
        // It fails only in builds of rhai without a parser.
        let registered = engine.register_custom_syntax_handler(key, false, handler);
        debug_assert!(registered.is_ok());
    }
}

fn eval_compare(context: &mut EvalContext, inputs: &[Expression], state: &Dynamic) -> Result<Dynamic, Box<EvalAltResult>> {
    let [left, right] = inputs else { return misplaced().fail() };
    let state = state.as_int().map_err(|_| misplaced())?;
    let op = CompareOp::from_code(state & 0xff).ok_or_else(misplaced)?;
    let left = context.eval_expression_tree(left)?.flatten();
    let right = context.eval_expression_tree(right)?.flatten();
    match compare::compare(op, &left, &right) {
        Ok(holds) => Ok(holds.into()),
        Err(mut error) => {
            error.set_position(position_in(state));
            Err(error)
        }
    }
}

fn eval_constant(context: &mut EvalContext, _: &[Expression], state: &Dynamic) -> Result<Dynamic, Box<EvalAltResult>> {
    let state = state.read_lock::<Constant>().ok_or_else(misplaced)?;
    let Constant(name, position) = &*state;
    match constant_of(context, name) {
        Some(value) => Ok(value.into_read_only()),
        None => ScriptFault::new("script/unknown-constant", format!("unknown constant `{name}` in this file"))
            .help("constants are defined by `const` outside of functions")
            .fail_at(*position),
    }
}

fn eval_closure(context: &mut EvalContext, inputs: &[Expression], _: &Dynamic) -> Result<Dynamic, Box<EvalAltResult>> {
    let [made] = inputs else { return misplaced().fail() };
    let closure = context.eval_expression_tree(made)?;
    guard::captured(&closure);
    Ok(closure)
}

fn eval_body(context: &mut EvalContext, _: &[Expression], state: &Dynamic) -> Result<Dynamic, Box<EvalAltResult>> {
    let block = state.read_lock::<StubBlock>().ok_or_else(misplaced)?;
    let value = call_caches::of_body(context, block.is_closure, |context| block.body.evaluate(context))?;
    check_depth(&value, Position::NONE)?;
    Ok(value)
}

fn eval_shallow(context: &mut EvalContext, inputs: &[Expression], _: &Dynamic) -> Result<Dynamic, Box<EvalAltResult>> {
    let [value] = inputs else { return misplaced().fail() };
    let position = value.position();
    let value = context.eval_expression_tree(value)?;
    check_depth(&value, position)?;
    Ok(value)
}

fn check_depth(value: &Dynamic, position: Position) -> Result<(), Box<EvalAltResult>> {
    if (value.is_array() || value.is_map() || value.is_shared()) && is_deeper(value, DEEPEST) {
        let fault = ScriptFault::new(fault::LIMIT, format!("lists and maps are nested more than {DEEPEST} deep"));
        return fault.help("does something nest itself in a loop?").fail_at(position);
    }
    Ok(())
}

fn is_deeper(value: &Dynamic, levels: usize) -> bool {
    if let Ok(array) = value.as_array_ref() {
        return levels == 0 || array.iter().any(|item| is_deeper(item, levels - 1));
    }
    if let Ok(map) = value.as_map_ref() {
        return levels == 0 || map.values().any(|item| is_deeper(item, levels - 1));
    }
    false
}

#[cold]
pub(crate) fn misplaced() -> ScriptFault {
    ScriptFault::new("script/internal", "a node of the host is out of place")
}
