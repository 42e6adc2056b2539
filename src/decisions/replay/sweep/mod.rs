//! Sweeping a var, or a weight of the verdict, over a range of values, against past runs or a scenario: how many decisions flip, how often each edge is taken,
//! and between which values nothing changes.

mod chart;
mod point;
mod scenario;
mod values;
mod weights;

pub use chart::{chart, shown};
pub use point::{Plateau, SweepPoint, SweepReport, sweep_runs};
pub use scenario::{Scenario, sweep_scenario};
pub use values::SweptVar;
