//! Reads input from a terminal or a pipe until it ends.

use super::command::{self, CompletionKind};
use super::lex::lex;
use super::state::{ReplFlow, ReplState};
use super::words::CompletionWords;
use super::{complete, place};
use crate::exit::Exit;
use crate::ui::{Assist, Candidate, Hint, SyntaxClass, TypedLine};
use asterisk_diag::{Source, Span};
use asterisk_session::SessionError;
use std::io::{self, BufRead};
use std::path::PathBuf;

/// The name of typed text in diagnostics.
const TYPED: &str = "typed";
/// The maximum bytes of a text.
const MAX_TEXT: usize = 1 << 20;

/// Whether a text is complete, or another line belongs to it.
fn is_complete(text: &str) -> bool {
    match command::parse(&Source::new(TYPED, text)) {
        Ok(None) => lex(text).is_complete(text),
        Ok(Some((command, argument, _))) if matches!(command.takes, CompletionKind::Expression | CompletionKind::Data) => {
            lex(argument).is_complete(argument)
        }
        _ => true,
    }
}

/// Completion, hints and colours for the text being typed.
struct ReplAssist {
    words: CompletionWords,
}

impl Assist for ReplAssist {
    fn complete(&self, text: &str, at: usize) -> (usize, Vec<Candidate>) {
        complete::complete(text, at, &self.words)
    }

    fn hint(&self, text: &str, at: usize) -> Option<Hint> {
        complete::hint(text, at, &self.words)
    }

    fn paint(&self, text: &str) -> Vec<(Span, SyntaxClass)> {
        let trimmed = text.trim_start();
        let Some(rest) = trimmed.strip_prefix(':') else { return lex(text).classes() };
        let start = text.len() - trimmed.len();
        let end = start + 1 + rest.find(char::is_whitespace).unwrap_or(rest.len());
        let shifted = |(span, class): (Span, SyntaxClass)| (Span::new(span.start + end, span.end + end), class);
        std::iter::once((Span::new(start, end), SyntaxClass::Command))
            .chain(lex(&text[end..]).classes().into_iter().map(shifted))
            .collect()
    }

    fn is_complete(&self, text: &str) -> bool {
        is_complete(text)
    }
}

impl ReplState {
    /// Runs the session at a terminal.
    pub(super) fn at_terminal(mut self, history: Option<PathBuf>) -> Result<Exit, SessionError> {
        let failed = |source| SessionError::Write { path: "the terminal".into(), source };
        let mut lines = self.ui.lines(ReplAssist { words: CompletionWords::of(&self.place) }, history).map_err(failed)?;
        loop {
            match lines.read(&self.prompt()).map_err(failed)? {
                TypedLine::End => return Ok(Exit::Ok),
                TypedLine::Cancelled => {}
                TypedLine::Text(text) if text.trim().is_empty() => {}
                TypedLine::Text(text) => {
                    match self.execute(&Source::new(TYPED, text)) {
                        Ok(ReplFlow::Continue | ReplFlow::Interrupted) => {}
                        Ok(ReplFlow::Quit(exit)) => return Ok(exit.unwrap_or(Exit::Ok)),
                        Err(error) => self.ui.failure(&error, "run"),
                    }
                    if let Some(helper) = lines.assist() {
                        helper.words = CompletionWords::of(&self.place);
                    }
                }
            }
        }
    }

    fn prompt(&self) -> String {
        let tried =
            if self.place.set.is_empty() && self.place.artifact.is_none() && self.place.state.is_none() { "" } else { "*" };
        let place = match (&self.place.walked, self.place.step()) {
            (Some(place::OpenedCase { case, at, steps, .. }), Some(step)) => {
                format!("{case} {}/{} {}", at + 1, steps.len(), step.node)
            }
            (Some(place::OpenedCase { case, .. }), None) => case.clone(),
            (None, _) => self.place.node().unwrap_or("scratch").to_owned(),
        };
        format!("{}{tried}> ", crate::ui::plain(&place))
    }

    /// Runs the session on a file or a pipe, printing only answers. The first error determines the exit code; with `strict` it
    /// ends the session.
    pub(super) fn piped(mut self, mut input: impl BufRead, strict: bool) -> Result<Exit, SessionError> {
        let mut exit = Exit::Ok;
        loop {
            let done = match read(&mut input) {
                Ok(None) => return Ok(exit),
                Ok(Some(text)) if text.trim().is_empty() => continue,
                Ok(Some(text)) => self.execute(&Source::new(TYPED, text)),
                Err(error) => Err(error),
            };
            match done {
                Ok(ReplFlow::Continue) => {}
                Ok(ReplFlow::Interrupted) => return Ok(Exit::Interrupted),
                Ok(ReplFlow::Quit(code)) => return Ok(code.unwrap_or(exit)),
                Err(error) => {
                    self.ui.failure(&error, "run");
                    if exit == Exit::Ok {
                        exit = Exit::from(&error);
                    }
                    if strict {
                        return Ok(exit);
                    }
                }
            }
        }
    }
}

/// Reads the next text: a line, with the following lines that belong to it.
fn read(input: &mut impl BufRead) -> Result<Option<String>, SessionError> {
    let mut bytes = Vec::new();
    loop {
        let before = bytes.len();
        let failed = |source| SessionError::File(asterisk_files::FileError::Io { path: "-".into(), source });
        let more = io::Read::take(&mut *input, (MAX_TEXT + 1 - before) as u64).read_until(b'\n', &mut bytes).map_err(failed)?;
        if more == 0 && before == 0 {
            return Ok(None);
        }
        if bytes.len() > MAX_TEXT {
            // Skip the rest of the line.
            input.skip_until(b'\n').map_err(failed)?;
            let message = format!("this text has more than {MAX_TEXT} bytes");
            return Err(SessionError::bad_request("repl/too-long", message, Some("put it into a script".into())));
        }
        match std::str::from_utf8(&bytes) {
            Err(_) => return Err(SessionError::bad_request("repl/not-text", "this line is not UTF-8 text", None)),
            Ok(text) if more == 0 || is_complete(text) => return Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned())),
            Ok(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_belong_together_are_one_text() {
        let mut input: &[u8] = b"1 +\n2\n\n:load {\n \"a\": 1 }\r\n:case x(\nf(\n";
        let texts: Vec<String> = std::iter::from_fn(|| read(&mut input).expect("texts")).collect();
        assert_eq!(texts, ["1 +\n2", "", ":load {\n \"a\": 1 }", ":case x(", "f("]);
    }

    #[test]
    fn invalid_text_is_an_error_and_the_next_line_is_read() {
        let mut input: &[u8] = b"\xff\xfe\n1\n";
        assert!(read(&mut input).is_err());
        assert_eq!(read(&mut input).expect("a text").as_deref(), Some("1"));
        let long = [vec![b'x'; MAX_TEXT + 5], b"\n2\n".to_vec()].concat();
        let mut input: &[u8] = &long;
        assert!(read(&mut input).is_err());
        assert_eq!(read(&mut input).expect("a text").as_deref(), Some("2"));
    }

    #[test]
    fn a_command_and_its_expression_are_coloured() {
        let helper = ReplAssist { words: CompletionWords::default() };
        let text = " :time artifact.x + 1";
        let coloured: Vec<(&str, SyntaxClass)> =
            helper.paint(text).iter().map(|(span, class)| (&text[span.start..span.end], *class)).collect();
        assert_eq!(coloured, [(":time", SyntaxClass::Command), ("artifact", SyntaxClass::Input), ("1", SyntaxClass::Number)]);
    }
}
