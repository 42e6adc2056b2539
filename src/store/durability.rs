//! What an acknowledged commit survives.

use std::fmt;
use std::str::FromStr;

/// What an acknowledged commit survives. Either way a commit is whole or absent, commits that wait for each other's disk
/// writes share one, and the file is never corrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Each commit is on the disk before it is acknowledged: it survives a killed process, a crashed system and a power
    /// cut (write-ahead log, `synchronous=FULL`).
    Step,
    /// Each commit is with the operating system before it is acknowledged, on the disk a little later: it survives a killed
    /// process; a crashed system or a power cut may lose the last commits, never the order (write-ahead log,
    /// `synchronous=NORMAL`). About ten times faster.
    #[default]
    Batch,
}

impl Durability {
    /// Both, as `--durability` takes them.
    pub const ALL: [Self; 2] = [Self::Step, Self::Batch];

    /// As `--durability` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Batch => "batch",
        }
    }

    /// `SQLite`'s word.
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
        known.ok_or_else(|| format!("`{text}` is no durability level; they are `step` and `batch`"))
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
