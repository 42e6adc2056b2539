//! Durability levels: what an acknowledged commit survives.

use std::fmt;
use std::str::FromStr;

/// Durability of an acknowledged commit. At either level a commit is atomic, commits that wait for the disk share one write, and the file
/// is never corrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A commit is on the disk before it is acknowledged: it survives a killed process, a crashed system and a power cut (write-ahead log,
    /// `synchronous=FULL`).
    Step,
    /// A commit is with the operating system before it is acknowledged and reaches the disk a little later: it survives a killed process; a
    /// crashed system or a power cut may lose the last commits, never their order (write-ahead log, `synchronous=NORMAL`). About ten times
    /// faster.
    #[default]
    Batch,
}

impl Durability {
    /// Both levels, in the order of `--durability`'s help.
    pub const ALL: [Self; 2] = [Self::Step, Self::Batch];

    /// The value of `--durability`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Batch => "batch",
        }
    }

    /// The value of `SQLite`'s `synchronous` pragma.
    pub(super) fn synchronous(self) -> &'static str {
        match self {
            Self::Step => "FULL",
            Self::Batch => "NORMAL",
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Durability {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|level| level.name() == text);
        known.ok_or_else(|| format!("`{text}` is not a durability level; the levels are `step` and `batch`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_print_and_parse() {
        for level in Durability::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        assert!("fast".parse::<Durability>().is_err_and(|text| text.contains("`step`")));
    }
}
