//! The choice of coloured output.

use anstream::ColorChoice;
use std::io::{self, IsTerminal as _};

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Colour {
    pub(super) fn choice(self) -> ColorChoice {
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
    }

    pub(super) fn on_stdout(self) -> bool {
        self.on(io::stdout().is_terminal())
    }

    pub(super) fn on_stderr(self) -> bool {
        self.on(io::stderr().is_terminal())
    }

    fn on(self, terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        }
    }
}
