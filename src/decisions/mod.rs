//! What past runs decided, and why.
//!
//! A recorded decision has everything it was made on, so it can be made again, by the evaluator that made it
//! ([`RecordedDecision::again`]): watched, to be explained; by other scripts or vars, to see what would change.
//!
//! ```text
//! steps, recorded    the record: steps of cases, decisions with their inputs, made again
//! selection          which run, case and step is meant
//! reevaluate, explanation  a decision evaluated again while it is watched, and its explanation
//! rule_view          what a rule reads and answers, shown as it is evaluated
//! explain            a case's path, or everything about a step; as a page and as Markdown
//! blame              what decided: rule, line, version of the text, commit
//! coverage           how often every edge was asked, fired, failed, and stood in another's shadow
//! save, shrink       a decision as a test, with as little of its inputs as it takes
//! evidence, params   the evidence document of a case, and where signatures matched, of recorded parameters
//! edge_counts        which ways a run's cases took, for a picture
//! replay             history decided again by other texts
//! ```

mod blame;
mod blame_page;
mod coverage;
mod edge_counts;
mod evidence;
mod evidence_page;
mod explain;
mod explanation;
mod literal;
mod markdown;
mod page;
mod params;
mod recorded;
mod reevaluate;
pub mod replay;
mod rule_view;
mod save;
mod selection;
mod shrink;
mod steps;
#[cfg(test)]
mod testing;
mod walker_assignments;

pub use blame::{CaseBlame, CodeLine, StepBlame, blame};
pub use blame_page::blame_page;
pub use coverage::{DecisionHistory, EdgeHistory, PipelineHistory, coverage};
pub use edge_counts::{EdgesTaken, ways};
pub use evidence::{CaseEvidence, FoundEvidence, SignatureHits, SignatureSighting, evidence, signature_hits};
pub use evidence_page::evidence_page;
pub use explain::{Explanation, explain};
pub use explanation::{CaseExplanation, EdgeExplanation, EdgeKind, InputValue, RuleExplanation, StepExplanation, WalkFailure};
pub use markdown::markdown;
pub use page::{PageLine, Tone, page};
pub use recorded::{Decisions, RecordedDecision};
pub use rule_view::{edge_page, look, step_page};
pub use save::{DecisionMade, SavedDecision, save_as_test};
pub use selection::{CaseLine, CaseList, StepQuery};
pub use steps::{JournalStep, StepEnd};
