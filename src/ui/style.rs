//! How a line looks on a terminal.

/// A look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As it is.
    Plain,
    /// A heading.
    Bold,
    /// What went well.
    Green,
    /// What went wrong.
    Red,
    /// What one may pass over.
    Dim,
}

impl Style {
    /// The text in this look. Off a terminal, whoever prints it takes the look away again.
    pub fn paint(self, text: &str) -> String {
        let code = match self {
            Self::Plain => return text.to_owned(),
            Self::Bold => "1",
            Self::Green => "32",
            Self::Red => "31",
            Self::Dim => "2",
        };
        if text.is_empty() { String::new() } else { format!("\u{1b}[{code}m{text}\u{1b}[0m") }
    }
}
