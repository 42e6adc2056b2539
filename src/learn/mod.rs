//! The weights of a verdict fitted to labelled failures, and whether that helps on failures that the fit did not see.
//!
//! ```text
//! fit                 multinomial logistic regression, held to the hand-set weights
//! features            what spoke in each labelled failure, and the weights
//! figures             figures of verdicts against labels, temperature, folds
//! report, file        the whole fit with its figures; the file with the fitted weights
//! ```

mod features;
mod figures;
mod file;
mod fit;
mod report;

pub use features::WeightOf;
pub use figures::{BetterWeights, VerdictComparison, VerdictFigures};
pub use file::learned_file;
pub use report::{FoldReport, LearnReport, LearnSpec, LearnedWeight, LeftOut, learn};
