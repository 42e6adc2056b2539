//! Contents that are missing or damaged, and what they belong to.

use crate::model::Hash;
use std::fmt;

/// A content that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadContent {
    /// Its address.
    pub hash: Hash,
    /// What is wrong with it.
    pub fault: Fault,
    /// What refers to it; at most a few. Empty if nothing does.
    pub owners: Vec<Owner>,
}

/// What is wrong with a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not the text that was stored at its address.
    Changed,
    /// It is not there.
    Missing,
}

/// What refers to a content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// The run.
    pub run: String,
    /// Its case; empty if it belongs to the run itself.
    pub case: String,
    /// What it is there.
    pub what: String,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.case.as_str() {
            "" => write!(f, "{} of run {}", self.what, self.run),
            case => write!(f, "{} of case `{case}` in run {}", self.what, self.run),
        }
    }
}

impl fmt::Display for BadContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fault = match self.fault {
            Fault::Changed => "is not what was stored: its bytes have changed since",
            Fault::Missing => "is missing",
        };
        write!(f, "the content {} {fault}; it is ", self.hash.short())?;
        match self.owners.as_slice() {
            [] => f.write_str("not part of any run"),
            owners => owners.iter().enumerate().try_for_each(|(at, owner)| match at {
                0 => write!(f, "{owner}"),
                _ => write!(f, ", {owner}"),
            }),
        }
    }
}
