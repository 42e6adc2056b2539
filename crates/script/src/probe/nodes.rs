//! Inserts probes into a script while it is rewritten: the production nodes, plus observing nodes in front of values.

use super::Probes;
use super::recorder::{ProbeState, behind, probe};
use super::table::{NodeRole, ProbeNode, ProbeTable};
use crate::compare::CompareOp;
use crate::rhai_internals::node::RewrittenExpr;
use crate::rhai_internals::rewrite::{Logic, Nodes, OpenedValue, ValueRole};
use crate::rhai_internals::tree::FunctionHead;
use crate::strict::{self, Strict};
use rhai::{ImmutableString, Position};

/// The nodes of a library with probes.
pub(crate) struct Probed {
    probes: Probes,
    /// The nodes without probes.
    plain: Strict,
    table: ProbeTable,
    function: Option<u32>,
    /// The open values, outermost first. Values without a probe are included, so that those inside find their parent.
    open: Vec<OpenedProbe>,
    /// The next value opened is the first of a statement.
    fresh: bool,
    /// The statement is only a call, which is the next value opened.
    call: bool,
    /// The next value opened is the same expression as the one opened last.
    again: bool,
}

struct OpenedProbe {
    /// The number of its probe, if it has one.
    node: Option<u32>,
    probe_state: ProbeState,
    /// Whether its parts are operands of `&&` or `||`.
    logical: bool,
}

/// The id of a value that is open without a probe.
const UNWATCHED: u32 = u32::MAX;

impl Probed {
    pub(crate) fn new(probes: Probes, plain: Strict) -> Self {
        Self {
            probes,
            plain,
            table: ProbeTable::new(),
            function: None,
            open: Vec::new(),
            fresh: false,
            call: false,
            again: false,
        }
    }

    /// The table of the probes.
    pub(crate) fn into_table(self) -> ProbeTable {
        self.table
    }

    fn watches(&self, value: OpenedValue<'_>, role: NodeRole, statement: bool) -> bool {
        match self.probes {
            Probes::All => true,
            Probes::Decisions => role != NodeRole::Value || statement,
            // The statements of a block are observed themselves.
            Probes::Steps => (statement || matches!(role, NodeRole::Arm | NodeRole::Result)) && !value.is_block(),
            Probes::Statements | Probes::None => statement,
        }
    }
}

impl Nodes for Probed {
    fn enter(&mut self, function: Option<FunctionHead>) {
        self.plain.enter(function.clone());
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
                at: definition.start,
                reach: (definition.start, definition.end),
                definition: Some(definition),
            })
        });
    }

    fn body(&mut self, block: RewrittenExpr, params: usize) -> RewrittenExpr {
        // What a profile measures is what would happen without it.
        let block = if self.probes == Probes::Statements { self.plain.body(block, params) } else { block };
        match self.function {
            Some(node) => {
                let position = block.position();
                probe(block, position, ProbeState::Body, self.table.id(), node)
            }
            None => block,
        }
    }

    fn statement(&mut self, is_call: bool) {
        self.fresh = true;
        self.call = is_call;
    }

    fn opens_literals(&self) -> bool {
        self.probes == Probes::Steps && self.fresh
    }

    fn open(&mut self, value: OpenedValue<'_>, role: ValueRole) -> Option<u32> {
        let function = self.function?;
        let statement = std::mem::take(&mut self.fresh);
        let probe_state = if std::mem::take(&mut self.call) { ProbeState::Statement } else { ProbeState::Value };
        if std::mem::take(&mut self.again) && role == ValueRole::Value {
            let logical = self.open.last().is_some_and(|open| open.logical);
            self.open.push(OpenedProbe { node: None, probe_state: ProbeState::Value, logical });
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
        // The tree walk opens such a value a second time, as a plain value.
        self.again = role != NodeRole::Value && role != NodeRole::Operand && value.opens_twice();
        let (comparison, logic) = (value.comparison(), value.logic());
        let logical = matches!(logic, Some(Logic::And | Logic::Or));
        let node = self.watches(value, role, statement).then(|| {
            self.table.add(ProbeNode {
                role,
                comparison,
                logic,
                truth: comparison.is_some() || logic.is_some(),
                function,
                parent: self.open.iter().rev().find_map(|open| open.node),
                statement,
                definition: None,
                at: value.token(),
                reach: value.reach(),
            })
        });
        self.open.push(OpenedProbe { node, probe_state, logical });
        Some(node.unwrap_or(UNWATCHED))
    }

    fn close(&mut self, value: RewrittenExpr, node: u32) -> RewrittenExpr {
        let probe_state = self.open.pop().map_or(ProbeState::Value, |open| open.probe_state);
        self.again = false;
        let Some(watched) = self.table.node(node) else { return value };
        // Rhai reports the end of a value of the wrong type where it expected a bool, and its start elsewhere.
        let truth = matches!(watched.role, NodeRole::Condition | NodeRole::Case | NodeRole::Operand);
        let position = if truth { value.position() } else { value.start_position() };
        probe(value, position, probe_state, self.table.id(), node)
    }

    fn compare(
        &mut self,
        op: CompareOp,
        mut operands: Vec<RewrittenExpr>,
        position: Position,
        node: Option<u32>,
    ) -> RewrittenExpr {
        operands.iter_mut().for_each(behind);
        let compared = strict::compare(op, operands, position);
        match node {
            Some(node) => self.close(compared, node),
            None => compared,
        }
    }

    fn constant(&mut self, name: &ImmutableString, position: Position) -> RewrittenExpr {
        strict::constant(name, position)
    }

    fn closure(&mut self, made: RewrittenExpr, position: Position) -> RewrittenExpr {
        strict::closure(made, position)
    }

    fn shallow(&mut self, mut value: RewrittenExpr, position: Position) -> RewrittenExpr {
        behind(&mut value);
        strict::shallow(value, position)
    }
}
