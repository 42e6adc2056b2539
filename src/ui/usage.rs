//! Prints usage errors and help of clap.

use super::{Painted, Ui, plain};

impl Ui {
    /// Prints a message of clap: help on stdout, errors on stderr. It quotes arguments as typed, so its colours are kept only
    /// without other escapes.
    pub fn usage(&self, error: &clap::Error) {
        let bare = error.render().to_string();
        let coloured = error.render().ansi().to_string();
        let needs = error.context().any(|(_, value)| needs_cleaning(&value.to_string())) || needs_cleaning(&bare);
        let text = if needs { Painted::new(plain(bare.trim_end())) } else { Painted::new(coloured.trim_end().to_owned()) };
        if error.use_stderr() { self.note(&text) } else { self.out(&text) }
    }
}

/// Whether a text has characters that must be replaced.
fn needs_cleaning(text: &str) -> bool {
    plain(text) != text
}
