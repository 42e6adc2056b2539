//! The decisions of past runs: explained, attributed, counted, saved as tests, and replayed.
//!
//! A recorded decision has all of its inputs, so it can be evaluated again, by the evaluator that made it
//! ([`RecordedDecision::rule_inputs`]): with probes, to be explained; with other scripts or vars, to see what would change.
//!
//! ```text
//! steps, recorded    the record: steps of cases, decisions with their inputs
//! selection          selects a run, case and step
//! reevaluate, explanation  evaluates a decision again with probes, and explains it
//! rule_view          shows a rule with its inputs and values while trying things out
//! explain            explains a case or a step, as a page or as Markdown
//! blame              attributes decisions to rule, line, text revision and commit
//! coverage           counts how often every edge was evaluated, fired, failed, or was shadowed
//! line_values        the values of a case's decisions and verdict by line
//! save, shrink       saves a decision as a test, with minimal inputs
//! evidence, params   the evidence document of a case, and where signatures matched
//! verdict, verdict_coverage  the verdict of a case: what matched, and what would have changed it; how often rules matched
//! root, root_coverage  the root of a case, and why two cases are one cause or are not; how often rules decide
//! weight_tips        how far each weight is from changing a verdict
//! rule_tally         the counts of rules that both have in common
//! edge_counts        counts the edges taken by a run's cases, for a picture
//! replay             replays runs with other texts
//! ```

mod blame;
mod blame_page;
mod coverage;
mod edge_counts;
mod evidence;
mod evidence_page;
mod explain;
mod explanation;
mod line_values;
mod literal;
mod markdown;
mod page;
mod params;
mod recorded;
mod reevaluate;
pub mod replay;
mod root;
mod root_coverage;
mod root_page;
mod rule_tally;
mod rule_view;
mod save;
mod selection;
mod shrink;
mod steps;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod trusted;
mod verdict;
mod verdict_coverage;
mod verdict_page;
mod weight_tips;

pub use blame::{CaseBlame, CodeLine, StepBlame, blame};
pub use blame_page::blame_page;
pub use coverage::{DecisionHistory, EdgeHistory, PipelineHistory, coverage};
pub use edge_counts::{EdgesTaken, counts};
pub use evidence::{CaseEvidence, FoundEvidence, SignatureHits, SignatureSighting, evidence, signature_hits};
pub use evidence_page::evidence_page;
pub use explain::{Explanation, explain, prompt};
pub use explanation::{CaseExplanation, EdgeExplanation, EdgeKind, InputValue, RuleExplanation, StepExplanation, WalkFailure};
pub use line_values::{CaseValues, DecidedRule, EvaluatedTexts, PlacedValue, line_values};
pub use markdown::markdown;
pub use page::{PageLine, Tone, page};
pub use recorded::{Decisions, RecordedDecision};
pub use root::{CaseRoot, FoundRoot, RootComparison, RuleComparison, root};
pub use root_coverage::RootRuleHistory;
pub use root_page::root_page;
pub use rule_view::{edge_page, look, step_page};
pub use save::{DecisionMade, SavedDecision, save_as_test};
pub use selection::{CaseLine, CaseList, StepQuery};
pub use steps::{JournalStep, RecordedAttempt, StepEnd};
pub use verdict::{
    CaseVerdict, DeclaredDefect, FoundVerdict, OtherTexts, RecordedDefect, SilentRule, UnreadLine, VerdictFlip, WhyNot, verdict,
};
pub use verdict_coverage::VerdictRuleHistory;
pub use verdict_page::verdict_page;
pub use weight_tips::{TippingPoint, WeightTip, WeightTips, weight_tips, weight_tips_of};

#[cfg(test)]
#[global_allocator]
static MEMORY: asterisk_base::memory::Allocator = asterisk_base::memory::allocator();
