//! Pages of lines, each with its tone.

use super::{Painted, Style, Ui};
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
        let lines: Vec<Painted> = lines.iter().map(|line| style(line.tone).paint(&line.text)).collect();
        let lines: Vec<&str> = lines.iter().map(Painted::as_str).collect();
        self.out(&Painted::new(lines.join("\n")));
    }
}
