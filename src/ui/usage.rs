//! What is wrong with a command line, and help on it, as clap says it.

use super::{Painted, Ui, plain};

impl Ui {
    /// Prints what clap has to say: help on stdout, what is wrong on stderr. It quotes arguments as they were typed, so its colours
    /// are kept only if they are all the escapes there are.
    pub fn usage(self, said: &clap::Error) {
        let bare = said.render().to_string();
        let coloured = said.render().ansi().to_string();
        let foreign = said.context().any(|(_, value)| is_foreign(&value.to_string())) || is_foreign(&bare);
        let text = if foreign { Painted::new(plain(bare.trim_end())) } else { Painted::new(coloured.trim_end().to_owned()) };
        if said.use_stderr() { self.note(&text) } else { self.out(&text) }
    }
}

/// Whether a text has anything that is replaced before it is shown.
fn is_foreign(text: &str) -> bool {
    plain(text) != text
}
