//! How good an analysis is, measured on cases whose truth is known: scenarios are walked through the real pipeline, each project of a
//! scenario with a memory of its own, and scored by the metrics of a scorecard.
//!
//! ```text
//! keys                forms of scenarios and of results
//! scenario            cases with their truth, in the launches that they are walked in
//! sums, resample      what cases add to metrics; resampled sums for intervals
//! scorecard           the metrics of a data file, with their functions
//! scoreboard          results taken in one at a time, and the values of the metrics
//! results             the file of results, a line per case
//! walk                a scenario walked, launch by launch
//! compare             two packs of scripts on the same cases
//! report              the whole: calibrate, score
//! tune                measures a metric over candidate values of vars and weights
//! ground_truth        a scenario file that grows from reviews
//! markdown, page      the report as a document, and as a page
//! ```

mod compare;
mod ground_truth;
mod keys;
mod markdown;
mod page;
mod report;
mod resample;
mod results;
mod scenario;
mod scoreboard;
mod scorecard;
mod sums;
mod tune;
mod walk;

pub use compare::{MetricComparison, PackComparison};
pub use ground_truth::{GroundTruth, HealthRemark, PromotedCase};
pub use markdown::{bar, markdown, word};
pub use page::page;
pub use report::{CalibrateListener, CalibrateSpec, CalibrationReport, ScenarioSpec, ScoreSpec, calibrate, score};
pub use results::{StoredResults, count_results};
pub use scenario::count_cases;
pub use scoreboard::{MetricResult, TableResult, plain};
pub use tune::{TunePoint, TuneReport, TuneSpec, TunedSetting, is_scenario, tune};

/// The JSON Schema (2020-12) of a scenario, from the reader's table of keys.
pub fn json_schema() -> serde_json::Value {
    asterisk_form::json_schema("Asterisk scenario", &keys::SCENARIO)
}

#[cfg(test)]
#[global_allocator]
static MEMORY: asterisk_base::memory::Allocator = asterisk_base::memory::allocator();
