//! The weights of a verdict fitted to labelled failures, and whether that helps on failures that the fit did not see.
//!
//! ```text
//! fit                 multinomial logistic regression, held to the hand-set weights
//! features            what matched in each labelled failure, and the weights
//! figures             figures of verdicts against labels, temperature
//! folds               assigns labelled failures to cross-validation folds
//! audit               audits each rule by leaving it out
//! spec                the settings of a fit, and the origins of labels
//! labels              labels from files, reviews and ReportPortal, with their weights
//! report, file        the whole fit with its figures; the file with the fitted weights
//! ```

mod audit;
mod features;
mod figures;
mod file;
mod fit;
mod folds;
mod labels;
mod report;
mod spec;

pub use audit::RuleAudit;
pub use features::WeightOf;
pub use figures::{BetterWeights, ReviewBar, VerdictComparison, VerdictFigures};
pub use file::learned_file;
pub use folds::FoldsBy;
pub use labels::OriginCount;
pub use report::{FoldReport, HeldOutCase, LearnReport, LearnedWeight, LeftOut, learn};
pub use spec::{FittedTerms, LabelOrigin, LearnSpec};

#[cfg(test)]
#[global_allocator]
static MEMORY: asterisk_base::memory::Allocator = asterisk_base::memory::allocator();
