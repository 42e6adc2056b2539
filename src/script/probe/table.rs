//! What the probes of a text stand for.

use crate::diag::{Source, Span};
use crate::script::compare::CompareOp;
pub use crate::script::rhai_internals::rewrite::Logic;
use crate::script::rhai_internals::tree::{FunctionHead, Position};
use crate::script::unit::Unit;
use std::sync::atomic::{AtomicU32, Ordering};

/// What a watched node is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeRole {
    /// The body of a function; its value is what the function returned.
    Function,
    /// What an `if` or a loop asks.
    Condition,
    /// The guard of a `switch` case.
    Case,
    /// What a `switch` case is worth, where that is not the function's result.
    Arm,
    /// One side of `&&` or `||`.
    Operand,
    /// What `return` gives back.
    Return,
    /// What a function gives back at its end.
    Result,
    /// Any other value.
    Value,
}

/// A watched node.
#[derive(Clone, Debug)]
pub struct ProbeNode {
    /// What it is for.
    pub role: NodeRole,
    /// The comparison it is, if it is one.
    pub comparison: Option<CompareOp>,
    /// The connective it is, if it is one.
    pub logic: Option<Logic>,
    /// Whether it can be nothing but true or false: a comparison, `&&`, `||` or `!`.
    pub truth: bool,
    /// The node of the function it is in; its own number for that function.
    pub function: u32,
    /// The node whose expression it is a part of.
    pub parent: Option<u32>,
    /// Whether it is the first value of a statement.
    pub statement: bool,
    /// The function, for its body.
    pub(crate) definition: Option<FunctionHead>,
    /// The expression's own position: of an operator, a dot, a name.
    pub(crate) at: Position,
    /// The first and the last position inside the expression.
    pub(crate) reach: (Position, Position),
}

impl ProbeNode {
    /// The name of the function, for its body.
    pub fn name(&self) -> Option<&str> {
        self.definition.as_ref().map(|definition| definition.name.as_str())
    }

    /// Whether it is the body of a closure.
    pub fn is_closure(&self) -> bool {
        self.definition.as_ref().is_some_and(FunctionHead::is_closure)
    }

    /// The whole of its expression, as a label wants it; the name of a function where it is defined.
    pub fn place(&self, unit: &Unit) -> Option<(Source, Span)> {
        if let Some(definition) = self.definition.as_ref().filter(|_| !self.is_closure()) {
            return unit.definition(definition);
        }
        self.span(unit).map(|span| unit.locate(span))
    }

    /// The token that its value is shown at: the operator of an operation, the name a path ends in.
    pub fn token(&self, unit: &Unit) -> Option<(Source, Span)> {
        unit.token(self.at)
    }

    /// Where its expression stands in [`Unit::script`].
    pub fn span(&self, unit: &Unit) -> Option<Span> {
        unit.tokens().hull(unit.script(), [self.reach.0, self.reach.1])
    }

    /// Its expression as people wrote it, in one line.
    pub fn written(&self, unit: &Unit) -> String {
        let text = self.span(unit).map(|span| unit.locate(span)).map(|(source, span)| source.slice(span).to_owned());
        text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Its expression as the parser got it.
    pub fn text<'u>(&self, unit: &'u Unit) -> &'u str {
        self.span(unit).and_then(|span| unit.script().get(span.start..span.end)).unwrap_or("")
    }
}

/// The watched nodes of a text, by number.
#[derive(Clone, Debug)]
pub struct ProbeTable {
    id: u32,
    nodes: Vec<ProbeNode>,
}

static NEXT: AtomicU32 = AtomicU32::new(0);

impl ProbeTable {
    /// A table that no other has the number of.
    pub(super) fn new() -> Self {
        Self { id: NEXT.fetch_add(1, Ordering::Relaxed), nodes: Vec::new() }
    }

    /// The number by which nodes are told from those of other texts. Differs from one link to the next.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The nodes, in the order of the text's functions.
    pub fn nodes(&self) -> &[ProbeNode] {
        &self.nodes
    }

    /// A node.
    pub fn node(&self, node: u32) -> Option<&ProbeNode> {
        self.nodes.get(usize::try_from(node).ok()?)
    }

    /// The number of the function that a closure is written in.
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
