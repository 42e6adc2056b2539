//! Pages of lines, each with its tone.

use super::{Style, Ui, plain};
use crate::trace::{PageLine, Tone};

impl Ui {
    /// Prints a page.
    pub fn page(self, lines: &[PageLine]) {
        let style = |tone| match tone {
            Tone::Plain => Style::Plain,
            Tone::Head => Style::Bold,
            Tone::Good => Style::Green,
            Tone::Bad => Style::Red,
            Tone::Quiet => Style::Dim,
        };
        let text: Vec<String> = lines.iter().map(|line| style(line.tone).paint(&plain(&line.text))).collect();
        self.out(&text.join("\n"));
    }
}
