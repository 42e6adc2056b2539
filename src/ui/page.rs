//! Prints pages of lines, each with its tone.

use super::{Painted, TextStyle, Ui};
use asterisk_decisions::{PageLine, Tone};

impl Ui {
    /// Prints a page.
    pub fn page(&self, lines: &[PageLine]) {
        let style = |tone| match tone {
            Tone::Plain => TextStyle::Plain,
            Tone::Head => TextStyle::Bold,
            Tone::Good => TextStyle::Green,
            Tone::Bad => TextStyle::Red,
            Tone::Quiet => TextStyle::Dim,
        };
        let lines: Vec<Painted> = lines.iter().map(|line| style(line.tone).paint(&line.text)).collect();
        let lines: Vec<&str> = lines.iter().map(Painted::as_str).collect();
        self.out(&Painted::new(lines.join("\n")));
    }
}
