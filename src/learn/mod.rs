//! The weights of a verdict fitted to labelled failures, and whether that helps on failures that the fit did not see.
//!
//! ```text
//! fit                 multinomial logistic regression, held to the hand-set weights
//! cases, features     labelled failures with their texts; what spoke in each, and the weights
//! figures             figures of verdicts against labels, temperature, folds
//! report, file        the whole fit with its figures; the file with the fitted weights
//! ```

mod cases;
mod features;
mod figures;
mod file;
mod fit;
mod report;

pub use cases::count_labelled;
pub use features::WeightOf;
pub use figures::{BetterWeights, VerdictComparison, VerdictFigures};
pub use file::learned_file;
pub use report::{FoldReport, LearnReport, LearnSpec, LearnedWeight, LeftOut, learn};
