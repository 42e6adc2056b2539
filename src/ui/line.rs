//! Lines typed at a terminal: edited, completed, coloured, remembered.

use super::{Ui, plain};
use crate::diag::Span;
use rustyline::completion::{Completer, Pair};
use rustyline::config::Config;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Editor, Helper};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// How many lines are remembered.
const HISTORY: usize = 2000;

/// What the editor asks about the text being typed.
pub trait Assist {
    /// Where the word at a position begins, and what could stand there instead.
    fn complete(&self, text: &str, at: usize) -> (usize, Vec<Candidate>);
    /// What to show behind the cursor, and whether that could be typed.
    fn hint(&self, text: &str, at: usize) -> Option<Hint>;
    /// The parts of the text that are coloured.
    fn paint(&self, text: &str) -> Vec<(Span, SyntaxClass)>;
    /// Whether the text is to be taken, or another line belongs to it.
    fn whole(&self, text: &str) -> bool;
}

/// A text that could stand where the cursor is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The text.
    pub text: String,
    /// The text as it is listed, with what it is.
    pub shown: String,
}

/// What is shown behind the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The text.
    pub text: String,
    /// Whether an arrow to the right takes it.
    pub typed: bool,
}

/// What a part of a text is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxClass {
    /// A command of the session.
    Command,
    /// A word of the language.
    Keyword,
    /// An input: `artifact`, `state`, `vars`.
    Input,
    /// A function.
    Function,
    /// A text.
    Text,
    /// A number.
    Number,
    /// A comment.
    Comment,
    /// A text that is not closed, a bracket that was not opened.
    Bad,
}

impl SyntaxClass {
    fn code(self) -> &'static str {
        match self {
            Self::Command => "\x1b[1;35m",
            Self::Keyword => "\x1b[35m",
            Self::Input => "\x1b[36m",
            Self::Function => "\x1b[34m",
            Self::Text => "\x1b[32m",
            Self::Number => "\x1b[33m",
            Self::Comment => "\x1b[2m",
            Self::Bad => "\x1b[31m",
        }
    }
}

/// What was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypedLine {
    /// A text of one or more lines.
    Text(String),
    /// The text was given up.
    Cancelled,
    /// There is no more.
    End,
}

/// The editor.
pub struct LineEditor<A: Assist> {
    editor: Editor<EditorHelper<A>, FileHistory>,
    history: Option<PathBuf>,
}

impl Ui {
    /// An editor of lines at the terminal. Lines are remembered in the file `history`, which nobody else can read.
    pub fn lines<A: Assist>(self, assist: A, history: Option<PathBuf>) -> io::Result<LineEditor<A>> {
        let config = Config::builder()
            .max_history_size(HISTORY)
            .and_then(|config| config.history_ignore_dups(true))
            .map_err(failed)?
            .history_ignore_space(true)
            .auto_add_history(true)
            .completion_type(rustyline::CompletionType::List)
            .build();
        let mut editor = Editor::with_config(config).map_err(failed)?;
        editor.set_helper(Some(EditorHelper { assist, coloured: self.colour.on_stdout() }));
        // One that is not there yet, or cannot be read, is empty.
        let history = history.filter(|path| path.parent().is_some_and(make_private));
        if let Some(path) = &history {
            drop(editor.load_history(path));
        }
        Ok(LineEditor { editor, history })
    }
}

impl<A: Assist> LineEditor<A> {
    /// What helps with the text being typed.
    pub fn assist(&mut self) -> Option<&mut A> {
        self.editor.helper_mut().map(|helped| &mut helped.assist)
    }

    /// Reads a text after a prompt.
    pub fn read(&mut self, prompt: &str) -> io::Result<TypedLine> {
        match self.editor.readline(&plain(prompt)) {
            Ok(text) => {
                if let Some(path) = &self.history {
                    drop(self.editor.append_history(path));
                }
                Ok(TypedLine::Text(text))
            }
            Err(ReadlineError::Interrupted) => Ok(TypedLine::Cancelled),
            Err(ReadlineError::Eof) => Ok(TypedLine::End),
            Err(error) => Err(failed(error)),
        }
    }
}

fn failed(error: ReadlineError) -> io::Error {
    match error {
        ReadlineError::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

/// Makes a directory that nobody else can read, unless it is there.
fn make_private(dir: &Path) -> bool {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).is_ok()
}

/// An [`Assist`] in the editor's terms.
struct EditorHelper<A> {
    assist: A,
    coloured: bool,
}

impl<A: Assist> Helper for EditorHelper<A> {}

impl<A: Assist> Completer for EditorHelper<A> {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, found) = self.assist.complete(line, pos);
        let pair = |one: Candidate| Pair { display: plain(&one.shown), replacement: plain(&one.text) };
        Ok((start, found.into_iter().map(pair).collect()))
    }
}

impl rustyline::hint::Hint for Hint {
    fn display(&self) -> &str {
        &self.text
    }

    fn completion(&self) -> Option<&str> {
        self.typed.then_some(&self.text)
    }
}

impl<A: Assist> Hinter for EditorHelper<A> {
    type Hint = Hint;

    fn hint(&self, line: &str, pos: usize, _: &Context<'_>) -> Option<Hint> {
        let hint = self.assist.hint(line, pos)?;
        Some(Hint { text: plain(&hint.text), ..hint })
    }
}

impl<A: Assist> Highlighter for EditorHelper<A> {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if self.coloured { Cow::Owned(coloured(line, &self.assist.paint(line))) } else { Cow::Borrowed(line) }
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        if self.coloured { Cow::Owned(format!("\x1b[1m{prompt}\x1b[0m")) } else { Cow::Borrowed(prompt) }
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        if self.coloured { Cow::Owned(format!("\x1b[2m{hint}\x1b[0m")) } else { Cow::Borrowed(hint) }
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        self.coloured && kind != CmdKind::MoveCursor
    }
}

impl<A: Assist> Validator for EditorHelper<A> {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let whole = self.assist.whole(context.input());
        Ok(if whole { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

/// A text with its parts coloured; the parts are in order and do not overlap.
fn coloured(text: &str, parts: &[(Span, SyntaxClass)]) -> String {
    let mut out = String::with_capacity(text.len() + parts.len() * 10);
    let mut at = 0;
    for (span, ink) in parts {
        let (Some(before), Some(part)) = (text.get(at..span.start), text.get(span.start..span.end)) else { continue };
        out.push_str(before);
        out.push_str(ink.code());
        out.push_str(part);
        out.push_str("\x1b[0m");
        at = span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_coloured_and_the_rest_stays() {
        let parts = [(Span::new(0, 1), SyntaxClass::Number), (Span::new(4, 6), SyntaxClass::Text)];
        assert_eq!(coloured("1 + é.", &parts), "\x1b[33m1\x1b[0m + \x1b[32mé\x1b[0m.");
        assert_eq!(coloured("x", &[]), "x");
        assert_eq!(coloured("é", &[(Span::new(1, 2), SyntaxClass::Text)]), "é", "half a character is no part");
    }
}
