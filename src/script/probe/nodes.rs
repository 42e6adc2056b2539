//! Puts the probes into a script while it is rewritten: the nodes of production, with nodes that watch in front of values.

use super::Probes;
use super::recorder::{ProbeState, behind, probe};
use super::table::{Logic, NodeRole, ProbeNode, ProbeTable};
use crate::script::compare::CompareOp;
use crate::script::rewrite::{Nodes, ValueRole};
use crate::script::strict;
use rhai::{ASTNode, Expr, ImmutableString, Position, ScriptFuncDef, Shared, Stmt};

/// The nodes of a library with probes.
pub(crate) struct Probed {
    probes: Probes,
    table: ProbeTable,
    function: Option<u32>,
    /// What is open, from the outside in. Values that get no probe are open too, so that what is inside them finds its parent.
    open: Vec<OpenedProbe>,
    /// The next value opened is the first of a statement.
    fresh: bool,
    /// The statement is nothing but a call, which the next value opened is.
    call: bool,
    /// The next value opened is the very expression that was opened last.
    again: bool,
}

struct OpenedProbe {
    /// Its number, if it has a probe.
    node: Option<u32>,
    stand: ProbeState,
    /// Whether its parts are operands of `&&` or `||`.
    logical: bool,
}

/// Stands for a value that is open without a probe.
const UNWATCHED: u32 = u32::MAX;

impl Probed {
    pub(crate) fn new(probes: Probes) -> Self {
        Self { probes, table: ProbeTable::new(), function: None, open: Vec::new(), fresh: false, call: false, again: false }
    }

    /// What the probes stand for.
    pub(crate) fn into_table(self) -> ProbeTable {
        self.table
    }

    fn watches(&self, role: NodeRole, statement: bool) -> bool {
        self.probes == Probes::All || role != NodeRole::Value || statement
    }
}

impl Nodes for Probed {
    fn enter(&mut self, function: Option<&ScriptFuncDef>) {
        self.open.clear();
        self.function = function.map(|definition| {
            let number = self.table.next();
            self.table.add(ProbeNode {
                role: NodeRole::Function,
                comparison: None,
                logic: None,
                truth: false,
                function: number,
                parent: None,
                statement: false,
                definition: Some(Shared::new(definition.clone())),
                at: definition.body.start_position(),
                reach: (definition.body.start_position(), definition.body.end_position()),
            })
        });
    }

    fn body(&mut self, block: Expr) -> Expr {
        match self.function {
            Some(node) => {
                let position = block.position();
                probe(block, position, ProbeState::Body, self.table.id(), node)
            }
            None => block,
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        self.fresh = true;
        self.call = matches!(statement, Stmt::FnCall(..));
    }

    fn open(&mut self, value: &Expr, role: ValueRole) -> Option<u32> {
        let function = self.function?;
        let statement = std::mem::take(&mut self.fresh);
        let stand = if std::mem::take(&mut self.call) { ProbeState::Statement } else { ProbeState::Value };
        if std::mem::take(&mut self.again) && role == ValueRole::Value {
            let logical = self.open.last().is_some_and(|open| open.logical);
            self.open.push(OpenedProbe { node: None, stand: ProbeState::Value, logical });
            return Some(UNWATCHED);
        }
        let role = match role {
            ValueRole::Condition => NodeRole::Condition,
            ValueRole::Case => NodeRole::Case,
            ValueRole::Arm => NodeRole::Arm,
            ValueRole::Return => NodeRole::Return,
            ValueRole::Result => NodeRole::Result,
            ValueRole::Value if self.open.last().is_some_and(|open| open.logical) => NodeRole::Operand,
            ValueRole::Value => NodeRole::Value,
        };
        // The walk opens such a value a second time, as a value.
        self.again = role != NodeRole::Value
            && role != NodeRole::Operand
            && !matches!(value, Expr::Variable(..) | Expr::Stmt(..))
            && !crate::script::rewrite::is_literal(value);
        let logical = matches!(value, Expr::And(..) | Expr::Or(..));
        let node = self.watches(role, statement).then(|| {
            self.table.add(ProbeNode {
                role,
                comparison: comparison(value),
                logic: logic(value),
                truth: comparison(value).is_some() || logic(value).is_some(),
                function,
                parent: self.open.iter().rev().find_map(|open| open.node),
                statement,
                definition: None,
                at: token(value),
                reach: reach(value),
            })
        });
        self.open.push(OpenedProbe { node, stand, logical });
        Some(node.unwrap_or(UNWATCHED))
    }

    fn close(&mut self, value: Expr, node: u32) -> Expr {
        let stand = self.open.pop().map_or(ProbeState::Value, |open| open.stand);
        self.again = false;
        let Some(watched) = self.table.node(node) else { return value };
        // Rhai says where a value of the wrong type ends if it wanted a truth value, and else where it begins.
        let truth = matches!(watched.role, NodeRole::Condition | NodeRole::Case | NodeRole::Operand);
        let position = if truth { value.position() } else { value.start_position() };
        probe(value, position, stand, self.table.id(), node)
    }

    fn compare(&mut self, op: CompareOp, mut operands: Vec<Expr>, position: Position, node: Option<u32>) -> Expr {
        operands.iter_mut().for_each(behind);
        let compared = strict::compare(op, operands, position);
        match node {
            Some(node) => self.close(compared, node),
            None => compared,
        }
    }

    fn constant(&mut self, name: &ImmutableString, position: Position) -> Expr {
        strict::constant(name, position)
    }

    fn closure(&mut self, made: Expr, position: Position) -> Expr {
        strict::closure(made, position)
    }

    fn shallow(&mut self, mut value: Expr, position: Position) -> Expr {
        behind(&mut value);
        strict::shallow(value, position)
    }
}

fn comparison(value: &Expr) -> Option<CompareOp> {
    match value {
        Expr::FnCall(call, _) if call.op_token.is_some() && call.args.len() == 2 => CompareOp::of(&call.name),
        _ => None,
    }
}

fn logic(value: &Expr) -> Option<Logic> {
    match value {
        Expr::And(..) => Some(Logic::And),
        Expr::Or(..) => Some(Logic::Or),
        Expr::FnCall(call, _) if call.op_token.is_some() && call.name == "!" && call.args.len() == 1 => Some(Logic::Not),
        _ => None,
    }
}

/// Where the value of an expression is shown: at its operator, or at the name that a path ends in.
fn token(value: &Expr) -> Position {
    match value {
        Expr::Dot(parts, ..) => token(&parts.rhs),
        Expr::Index(parts, ..) => parts.lhs.start_position(),
        value => value.position(),
    }
}

/// The first and the last position inside an expression.
fn reach(value: &Expr) -> (Position, Position) {
    let mut reach = (value.start_position(), value.position());
    let key = |position: Position| (position.line(), position.position());
    let mut take = |position: Position| {
        if position.is_none() {
            return;
        }
        if reach.0.is_none() || key(position) < key(reach.0) {
            reach.0 = position;
        }
        if reach.1.is_none() || key(position) > key(reach.1) {
            reach.1 = position;
        }
    };
    value.walk(&mut Vec::new(), &mut |path| {
        match path.last() {
            Some(ASTNode::Expr(expr)) => [expr.position(), expr.start_position()].into_iter().for_each(&mut take),
            Some(ASTNode::Stmt(statement)) => take(statement.position()),
            _ => {}
        }
        true
    });
    reach
}
