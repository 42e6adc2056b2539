//! Contents that are missing or damaged, and what refers to them.

use asterisk_base::model::Hash;
use std::fmt;

/// A content that cannot be used: missing, or not the text stored at its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadContent {
    /// Content address.
    pub hash: Hash,
    /// What is wrong with it.
    pub fault: Fault,
    /// Runs and cases that refer to it: a sample of at most a few; empty if nothing does.
    pub owners: Vec<Owner>,
}

/// What is wrong with a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The text does not match its address.
    Changed,
    /// No content is stored at the address.
    Missing,
    /// It was packed by a newer version of the program.
    Newer,
}

/// What refers to a content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// Run id.
    pub run: String,
    /// Case id; empty if the content belongs to the run itself.
    pub case: String,
    /// The role of the content there, for example `artifact`.
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
            Fault::Changed => "is damaged: its bytes differ from its hash",
            Fault::Missing => "is missing",
            Fault::Newer => "was written by a newer asterisk, which can read it",
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
