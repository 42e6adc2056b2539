//! Reads lines at a terminal, with editing, completion, colours and history.

use super::{Ui, plain};
use asterisk_diag::Span;
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

/// The maximum number of lines in the history.
const HISTORY: usize = 2000;

/// Assistance for the editor with the text being typed.
pub trait Assist {
    /// The start of the word at a position, and its possible completions.
    fn complete(&self, text: &str, at: usize) -> (usize, Vec<Candidate>);
    /// The hint to show after the cursor.
    fn hint(&self, text: &str, at: usize) -> Option<Hint>;
    /// The coloured parts of the text.
    fn paint(&self, text: &str) -> Vec<(Span, SyntaxClass)>;
    /// Whether the text is complete, or another line belongs to it.
    fn is_complete(&self, text: &str) -> bool;
}

/// A possible completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub text: String,
    /// The text as listed, with its description.
    pub shown: String,
}

/// A hint shown after the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    pub text: String,
    /// Whether the right arrow key accepts it as input.
    pub typed: bool,
}

/// The syntax class of a part of a text, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxClass {
    /// A REPL command.
    Command,
    /// A keyword of the language.
    Keyword,
    /// An input: `artifact`, `state`, `vars`.
    Input,
    /// A function.
    Function,
    /// A string.
    Text,
    /// A number.
    Number,
    /// A comment.
    Comment,
    /// An unclosed string or an unmatched closing bracket.
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

/// A line that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypedLine {
    /// Text of one or more lines.
    Text(String),
    /// The input was cancelled.
    Cancelled,
    /// The end of the input.
    End,
}

/// A line editor.
pub struct LineEditor<A: Assist> {
    editor: Editor<EditorHelper<A>, FileHistory>,
    history: Option<PathBuf>,
}

impl Ui {
    /// Creates a line editor at the terminal. The history is stored in the file `history`, which other users cannot read.
    pub fn lines<A: Assist>(&self, assist: A, history: Option<PathBuf>) -> io::Result<LineEditor<A>> {
        let config = Config::builder()
            .max_history_size(HISTORY)
            .and_then(|config| config.history_ignore_dups(true))
            .map_err(failed)?
            .history_ignore_space(true)
            .auto_add_history(true)
            .completion_type(rustyline::CompletionType::List)
            .build();
        let mut editor = Editor::with_config(config).map_err(failed)?;
        editor.set_helper(Some(EditorHelper { assist, coloured: self.colours(self.environment.output()) }));
        // A missing or unreadable history is empty.
        let history = history.filter(|path| path.parent().is_some_and(make_private));
        if let Some(path) = &history {
            drop(editor.load_history(path));
        }
        Ok(LineEditor { editor, history })
    }
}

impl<A: Assist> LineEditor<A> {
    /// The assistance in use.
    pub fn assist(&mut self) -> Option<&mut A> {
        self.editor.helper_mut().map(|helped| &mut helped.assist)
    }

    /// Shows a prompt and reads a text.
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

/// Creates a directory that other users cannot read, unless it exists.
fn make_private(dir: &Path) -> bool {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).is_ok()
}

/// Adapts an [`Assist`] to the editor.
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
        let is_complete = self.assist.is_complete(context.input());
        Ok(if is_complete { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

/// Colours the parts of a text; the parts are in order and do not overlap.
fn coloured(text: &str, parts: &[(Span, SyntaxClass)]) -> String {
    let mut out = String::with_capacity(text.len() + parts.len() * 10);
    let mut at = 0;
    for (span, class) in parts {
        let (Some(before), Some(part)) = (text.get(at..span.start), text.get(span.start..span.end)) else { continue };
        out.push_str(before);
        out.push_str(class.code());
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
        assert_eq!(coloured("é", &[(Span::new(1, 2), SyntaxClass::Text)]), "é", "half a character is not a part");
    }
}
