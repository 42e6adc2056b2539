//! The moments of a case in the order of the walk, and moving between them.

use crate::case::{DebuggedCase, WalkStep};
use crate::fault::DebugFault;
use crate::unit::{UnitKind, WalkUnit};
use std::rc::Rc;

/// A moment: of a unit of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WalkMoment {
    pub(crate) step: usize,
    pub(crate) unit: usize,
    pub(crate) at: usize,
}

/// A way to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Motion {
    /// To the next statement, in a called function too.
    StepIn,
    /// To the next statement of this function, or out of it.
    Next,
    /// Out of this function.
    StepOut,
    /// To the next breakpoint.
    Continue,
    /// To the previous statement of this function, or out of it.
    StepBack,
    /// To the previous statement, in a called function too.
    BackIn,
    /// To the previous breakpoint.
    ReverseContinue,
}

impl Motion {
    /// Whether it goes back in time.
    pub(crate) fn is_back(self) -> bool {
        matches!(self, Self::StepBack | Self::BackIn | Self::ReverseContinue)
    }
}

/// The depth of a moment at a node; of one at a rule or edge; of a statement, that of its call is added.
const NODE: u32 = 1;
const RULE: u32 = 2;
const STATEMENT: u32 = 3;

impl DebuggedCase {
    /// The moment after another one.
    pub(crate) fn after(&self, moment: WalkMoment) -> Result<Option<WalkMoment>, DebugFault> {
        let step = self.step(moment.step)?;
        let WalkMoment { step: number, unit, at } = moment;
        if step.units.get(unit).is_some_and(|unit| at + 1 < unit.moments()) {
            return Ok(Some(WalkMoment { at: at + 1, ..moment }));
        }
        if unit + 1 < step.units.len() {
            return Ok(Some(WalkMoment { step: number, unit: unit + 1, at: 0 }));
        }
        Ok((number + 1 < self.step_count()).then_some(WalkMoment { step: number + 1, unit: 0, at: 0 }))
    }

    /// The moment before another one.
    pub(crate) fn before(&self, moment: WalkMoment) -> Result<Option<WalkMoment>, DebugFault> {
        let WalkMoment { step, unit, at } = moment;
        if at > 0 {
            return Ok(Some(WalkMoment { at: at - 1, ..moment }));
        }
        let (step, unit) = match (step, unit) {
            (0, 0) => return Ok(None),
            (step, 0) => (step - 1, self.step(step - 1)?.units.len().saturating_sub(1)),
            (step, unit) => (step, unit - 1),
        };
        let last = self.step(step)?.units.get(unit).map_or(0, |unit| unit.moments() - 1);
        Ok(Some(WalkMoment { step, unit, at: last }))
    }

    /// The depth of a moment: how far inside of calls it is.
    pub(crate) fn depth(&self, moment: WalkMoment) -> Result<u32, DebugFault> {
        let step = self.step(moment.step)?;
        let Some(unit) = step.units.get(moment.unit) else { return Ok(NODE) };
        Ok(match (&unit.kind, statement_depth(unit, moment.at)) {
            (UnitKind::Node | UnitKind::End, _) => NODE,
            (_, Some(depth)) => STATEMENT.saturating_add(depth),
            _ => RULE,
        })
    }

    /// Whether a motion that began at one moment, with that depth, ends at another one.
    pub(crate) fn ends(&self, motion: Motion, (from, depth): (WalkMoment, u32), here: WalkMoment) -> Result<bool, DebugFault> {
        let is_same_unit = (here.step, here.unit) == (from.step, from.unit);
        Ok(match motion {
            Motion::Continue | Motion::ReverseContinue => false,
            Motion::StepIn | Motion::BackIn => true,
            // Over a rule, and not only over its evaluation.
            Motion::Next if depth == RULE => self.depth(here)? <= RULE && !is_same_unit,
            Motion::StepOut => self.depth(here)? < depth,
            // What was entered last is behind.
            Motion::StepBack if depth < STATEMENT => true,
            Motion::Next | Motion::StepBack => self.depth(here)? <= depth,
        })
    }

    /// The unit of a moment with its step.
    pub(crate) fn unit(&self, moment: WalkMoment) -> Result<(Rc<WalkStep>, usize), DebugFault> {
        let step = self.step(moment.step)?;
        let unit = moment.unit.min(step.units.len().saturating_sub(1));
        Ok((step, unit))
    }
}

fn statement_depth(unit: &WalkUnit, at: usize) -> Option<u32> {
    let statement = usize::try_from(unit.statement(at)?).ok()?;
    let call = unit.trace.statements().get(statement)?.call;
    Some(unit.trace.calls().get(usize::try_from(call).ok()?)?.depth)
}
