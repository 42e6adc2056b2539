//! What past runs decided, and why.
//!
//! A recorded decision has everything it was made on, so it can be made again, by the evaluator that made it
//! ([`Decision::again`]): watched, to be explained; by other scripts or vars, to see what would change.
//!
//! ```text
//! steps, decisions   the record: steps of cases, decisions with their inputs, made again
//! asked              which run, case and step is meant
//! retell, told       a decision made again while it is watched, and what is told of it
//! look               a decision told of as it is made
//! explain            a case's path, or everything about a step; as a page and as Markdown
//! blame              what decided: rule, line, version of the text, commit
//! coverage           how often every edge was asked, fired, failed, and stood in another's shadow
//! save, shrink       a decision as a test, with as little of its inputs as it takes
//! ways               which ways a run's cases took, for a picture
//! replay             history decided again by other texts
//! ```

mod asked;
mod blame;
mod blame_page;
mod coverage;
mod crew;
mod decisions;
mod explain;
mod literal;
mod look;
mod markdown;
mod page;
pub mod replay;
mod retell;
mod save;
mod shrink;
mod steps;
#[cfg(test)]
mod testing;
mod told;
mod ways;

pub use asked::{Asked, CaseLine, CaseList};
pub use blame::{Blamed, CodeLine, StepBlamed, blame};
pub use blame_page::blame_page;
pub use coverage::{EdgeHistory, History, PipelineHistory, coverage};
pub use decisions::{Again, Decision, Decisions};
pub use explain::{Explanation, explain};
pub use look::{edge_page, look, step_page};
pub use markdown::markdown;
pub use page::{PageLine, Tone, page};
pub use save::{Made, Saved, save_as_test};
pub use steps::{Step, Went};
pub use told::{EdgeTold, Explained, Failed, Kind, Read, RuleTold, StepTold};
pub use ways::{WaysTaken, ways};
