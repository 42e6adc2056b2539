//! What is asked of a fit.

use super::folds::FoldsBy;
use crate::reportportal::LaunchFilter;
use std::path::PathBuf;

/// Where labels are taken from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelOrigin {
    /// A file of labelled cases, or a scenario.
    File(PathBuf),
    /// What people said in reviews.
    Store,
    /// The defect types that people set in ReportPortal.
    Portal,
}

impl LabelOrigin {
    /// The origin that an argument names.
    pub fn parse(text: &str) -> Self {
        match text {
            "store" => Self::Store,
            "reportportal" => Self::Portal,
            path => Self::File(path.into()),
        }
    }

    /// Its name for people.
    pub(super) fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Store => "reviews in the store".to_owned(),
            Self::Portal => "ReportPortal".to_owned(),
        }
    }
}

/// What to fit.
#[derive(Clone, Debug)]
pub struct LearnSpec {
    /// Where the labels are taken from.
    pub from: Vec<LabelOrigin>,
    /// A directory with a launch per labelled case of a file, named by its id.
    pub launches: Option<PathBuf>,
    /// The launches of ReportPortal.
    pub portal: LaunchFilter,
    /// How much weights are held to where they were set by hand; as the data file has it, if `None`.
    pub lambda: Option<f64>,
    /// After how many days a label counts half; as the data file has it, if `None`.
    pub half_life_days: Option<f64>,
    /// The number of folds.
    pub folds: usize,
    /// What folds go by.
    pub by: FoldsBy,
    /// Whether words get weights of their own.
    pub terms: bool,
    /// Whether each rule is audited.
    pub audit: bool,
    /// The pipeline, the default one if none.
    pub pipeline: Option<String>,
}
