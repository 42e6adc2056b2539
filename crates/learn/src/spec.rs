//! The settings of a fit.

use super::folds::FoldsBy;
use asterisk_adapters::reportportal::LaunchFilter;
use std::path::PathBuf;

/// An origin of labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelOrigin {
    /// A file of labelled cases, or a scenario.
    File(PathBuf),
    /// Reviews in the store.
    Store,
    /// Defect types set in ReportPortal.
    Portal,
}

impl LabelOrigin {
    /// Parses an origin from a command-line argument.
    pub fn parse(text: &str) -> Self {
        match text {
            "store" => Self::Store,
            "reportportal" => Self::Portal,
            path => Self::File(path.into()),
        }
    }

    /// The display name of the origin.
    pub(super) fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Store => "reviews in the store".to_owned(),
            Self::Portal => "ReportPortal".to_owned(),
        }
    }
}

/// Which words of the evidence get weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FittedTerms {
    /// Those that have declared weights, with the rules.
    #[default]
    Declared,
    /// Further words, too, with the rules.
    WithRules,
    /// Words alone, as if no rule and no prior existed; those keep their weights. A word then weighs the same whatever else
    /// matches.
    Alone,
}

/// What to fit, and from which labels.
#[derive(Clone, Debug)]
pub struct LearnSpec {
    /// The origins of the labels.
    pub from: Vec<LabelOrigin>,
    /// A directory with one launch per labelled case of a file, named by the case's id.
    pub launches: Option<PathBuf>,
    /// The ReportPortal launches to read.
    pub portal: LaunchFilter,
    /// The strength of regularisation towards the hand-set weights; the data file's value if `None`.
    pub lambda: Option<f64>,
    /// The age in days at which a label counts half; the data file's value if `None`.
    pub half_life_days: Option<f64>,
    /// The number of folds.
    pub folds: usize,
    /// How cases are assigned to folds.
    pub by: FoldsBy,
    /// Which words get weights.
    pub terms: FittedTerms,
    /// Whether to audit each rule.
    pub audit: bool,
    /// The pipeline, or the default one if `None`.
    pub pipeline: Option<String>,
}
