//! The choice of coloured output.

use asterisk_base::environment::Variables;

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
    /// Whether output to a terminal, or to something else, is coloured.
    pub(super) fn on(self, terminal: bool, variables: &Variables) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let refused = variables.get("NO_COLOR").is_some_and(|value| !value.is_empty());
                terminal && !refused && variables.get("TERM").map_or(cfg!(windows), |kind| kind != "dumb")
            }
        }
    }
}
