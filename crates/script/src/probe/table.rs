//! The table of a text's probes.

use crate::compare::CompareOp;
pub use crate::rhai_internals::rewrite::Logic;
use crate::rhai_internals::tree::{FunctionHead, Position};
use crate::unit::Unit;
use asterisk_diag::{Source, Span};
use std::sync::atomic::{AtomicU32, Ordering};

/// The role of an observed node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeRole {
    /// The body of a function; its value is the function's result.
    Function,
    /// The condition of an `if` or a loop.
    Condition,
    /// The guard of a `switch` case.
    Case,
    /// The value of a `switch` case that is not the function's result.
    Arm,
    /// An operand of `&&` or `||`.
    Operand,
    /// The value of a `return`.
    Return,
    /// The value of a function's last expression.
    Result,
    /// Any other value.
    Value,
}

/// An observed node.
#[derive(Clone, Debug)]
pub struct ProbeNode {
    pub role: NodeRole,
    /// The comparison operator, if it is a comparison.
    pub comparison: Option<CompareOp>,
    /// The connective, if it is one.
    pub logic: Option<Logic>,
    /// Whether its value is always a bool: a comparison, `&&`, `||` or `!`.
    pub truth: bool,
    /// The node of the enclosing function; its own number for a function.
    pub function: u32,
    /// The node that contains it.
    pub parent: Option<u32>,
    /// Whether it is the first value of a statement.
    pub statement: bool,
    /// The function, for the node of a body.
    pub(crate) definition: Option<FunctionHead>,
    /// The expression's own position: of an operator, a dot, a name.
    pub(crate) at: Position,
    /// The first and the last position inside the expression.
    pub(crate) reach: (Position, Position),
}

impl ProbeNode {
    /// The name of the function, for the node of a body.
    pub fn name(&self) -> Option<&str> {
        self.definition.as_ref().map(|definition| definition.name.as_str())
    }

    /// Whether it is the body of a closure.
    pub fn is_closure(&self) -> bool {
        self.definition.as_ref().is_some_and(FunctionHead::is_closure)
    }

    /// The span of the whole expression, for labels; for a function, that of its name in the definition.
    pub fn place(&self, unit: &Unit) -> Option<(Source, Span)> {
        if let Some(definition) = self.definition.as_ref().filter(|_| !self.is_closure()) {
            return unit.definition(definition);
        }
        self.span(unit).map(|span| unit.locate(span))
    }

    /// The token to show its value at: the operator of an operation, the last name of a path.
    pub fn token(&self, unit: &Unit) -> Option<(Source, Span)> {
        unit.token(self.at)
    }

    /// The span of its expression in [`Unit::script`].
    pub fn span(&self, unit: &Unit) -> Option<Span> {
        unit.tokens().hull(unit.script(), [self.reach.0, self.reach.1])
    }

    /// Its expression as written by the author, in one line.
    pub fn written(&self, unit: &Unit) -> String {
        let text = self.span(unit).map(|span| unit.locate(span)).map(|(source, span)| source.slice(span).to_owned());
        text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Its expression as given to the parser.
    pub fn text<'u>(&self, unit: &'u Unit) -> &'u str {
        self.span(unit).and_then(|span| unit.script().get(span.start..span.end)).unwrap_or("")
    }
}

/// The observed nodes of a text, by number.
#[derive(Clone, Debug)]
pub struct ProbeTable {
    id: u32,
    nodes: Vec<ProbeNode>,
}

static NEXT: AtomicU32 = AtomicU32::new(0);

impl ProbeTable {
    /// An empty table with a unique id.
    pub(super) fn new() -> Self {
        Self { id: NEXT.fetch_add(1, Ordering::Relaxed), nodes: Vec::new() }
    }

    /// The id of the table, which distinguishes its nodes from those of other texts. Differs between links.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The nodes, in order of the text's functions.
    pub fn nodes(&self) -> &[ProbeNode] {
        &self.nodes
    }

    /// The node with this number.
    pub fn node(&self, node: u32) -> Option<&ProbeNode> {
        self.nodes.get(usize::try_from(node).ok()?)
    }

    /// The number of the function that contains a closure.
    pub fn around(&self, closure: &ProbeNode) -> Option<u32> {
        let key = |position: Position| (position.line(), position.position());
        let holds = |node: &ProbeNode| {
            node.role == NodeRole::Function
                && !node.is_closure()
                && key(node.reach.0) <= key(closure.reach.0)
                && key(closure.reach.1) <= key(node.reach.1)
        };
        (0..).zip(&self.nodes).find(|(_, node)| holds(node)).map(|(number, _)| number)
    }

    pub(super) fn add(&mut self, node: ProbeNode) -> u32 {
        self.nodes.push(node);
        self.next() - 1
    }

    /// The number of the next node.
    pub(super) fn next(&self) -> u32 {
        u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)
    }
}
