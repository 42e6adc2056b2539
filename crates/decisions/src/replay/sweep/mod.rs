//! Sweeping a var, or a weight of the verdict, over a range of values, against past runs or a scenario: how many decisions flip, how often each edge is taken,
//! and between which values nothing changes.

mod chart;
mod point;
mod scenario;
mod values;
mod weights;

pub use chart::{chart, shown};
pub use point::{Plateau, SweepPoint, SweepReport};
pub use scenario::{Scenario, sweep_scenario};
pub use values::SweptVar;

use super::run::ReplaySpec;
use asterisk_session::{Session, SessionError};

/// Sweeps a var over past runs: each case is replayed with every value. A name with a dot is a weight of the verdict: recorded
/// verdicts are weighed again.
pub fn sweep_runs(session: &Session, spec: &ReplaySpec, var: SweptVar) -> Result<SweepReport, SessionError> {
    if var.name.contains('.') { weights::sweep_weights(session, spec, &var) } else { point::sweep_var(session, spec, var) }
}
