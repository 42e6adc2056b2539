//! Reading what is typed, from a terminal or from a file, until it ends.

use super::command::{self, CompletionKind};
use super::lex::lex;
use super::state::{ReplFlow, ReplState};
use super::words::CompletionWords;
use super::{complete, place};
use crate::diag::{Source, Span};
use crate::exit::Exit;
use crate::session::SessionError;
use crate::ui::{Assist, Candidate, Hint, SyntaxClass, TypedLine};
use std::io::{self, BufRead};
use std::path::PathBuf;

/// What a typed text is called in diagnostics.
const TYPED: &str = "typed";
/// The most bytes of a text.
const LARGEST: usize = 1 << 20;

/// Whether a text is to be taken as it is, or another line belongs to it.
fn whole(text: &str) -> bool {
    match command::parse(&Source::new(TYPED, text)) {
        Ok(None) => lex(text).is_whole(text),
        Ok(Some((command, argument, _))) if matches!(command.takes, CompletionKind::Expression | CompletionKind::Data) => {
            lex(argument).is_whole(argument)
        }
        _ => true,
    }
}

/// What helps with the text being typed.
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
        let Some(rest) = trimmed.strip_prefix(':') else { return lex(text).inks() };
        let start = text.len() - trimmed.len();
        let end = start + 1 + rest.find(char::is_whitespace).unwrap_or(rest.len());
        let moved = |(span, ink): (Span, SyntaxClass)| (Span::new(span.start + end, span.end + end), ink);
        std::iter::once((Span::new(start, end), SyntaxClass::Command))
            .chain(lex(&text[end..]).inks().into_iter().map(moved))
            .collect()
    }

    fn whole(&self, text: &str) -> bool {
        whole(text)
    }
}

impl ReplState {
    /// A session at a terminal.
    pub(super) fn at_terminal(mut self, history: Option<PathBuf>) -> Result<Exit, SessionError> {
        let failed = |source| SessionError::Write { path: "the terminal".into(), source };
        let mut lines = self.ui.lines(ReplAssist { words: CompletionWords::of(&self.place) }, history).map_err(failed)?;
        loop {
            match lines.read(&self.prompt()).map_err(failed)? {
                TypedLine::End => return Ok(Exit::Ok),
                TypedLine::Cancelled => {}
                TypedLine::Text(text) if text.trim().is_empty() => {}
                TypedLine::Text(text) => {
                    match self.take(&Source::new(TYPED, text)) {
                        Ok(ReplFlow::On | ReplFlow::Interrupted) => {}
                        Ok(ReplFlow::Quit(exit)) => return Ok(exit.unwrap_or(Exit::Ok)),
                        Err(error) => self.ui.failure(&error),
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

    /// A session that is read from a file or a pipe: nothing but answers is printed. The first error decides how it ends;
    /// a strict one ends there.
    pub(super) fn piped(mut self, mut input: impl BufRead, strict: bool) -> Result<Exit, SessionError> {
        let mut ends = Exit::Ok;
        loop {
            let done = match read(&mut input) {
                Ok(None) => return Ok(ends),
                Ok(Some(text)) if text.trim().is_empty() => continue,
                Ok(Some(text)) => self.take(&Source::new(TYPED, text)),
                Err(error) => Err(error),
            };
            match done {
                Ok(ReplFlow::On) => {}
                Ok(ReplFlow::Interrupted) => return Ok(Exit::Interrupted),
                Ok(ReplFlow::Quit(exit)) => return Ok(exit.unwrap_or(ends)),
                Err(error) => {
                    self.ui.failure(&error);
                    if ends == Exit::Ok {
                        ends = Exit::from(&error);
                    }
                    if strict {
                        return Ok(ends);
                    }
                }
            }
        }
    }
}

/// The next text: a line, with those below that belong to it.
fn read(input: &mut impl BufRead) -> Result<Option<String>, SessionError> {
    let mut bytes = Vec::new();
    loop {
        let before = bytes.len();
        let failed = |source| SessionError::File(crate::files::FileError::Io { path: "-".into(), source });
        let more = io::Read::take(&mut *input, (LARGEST + 1 - before) as u64).read_until(b'\n', &mut bytes).map_err(failed)?;
        if more == 0 && before == 0 {
            return Ok(None);
        }
        if bytes.len() > LARGEST {
            // The rest of the line is not read as another.
            input.skip_until(b'\n').map_err(failed)?;
            let message = format!("this text has more than {LARGEST} bytes");
            return Err(SessionError::asked("repl/too-long", message, Some("put it into a script".into())));
        }
        match std::str::from_utf8(&bytes) {
            Err(_) => return Err(SessionError::asked("repl/not-text", "this line is not UTF-8 text", None)),
            Ok(text) if more == 0 || whole(text) => return Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned())),
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
    fn what_is_no_text_is_an_error_and_the_next_line_is_read() {
        let mut input: &[u8] = b"\xff\xfe\n1\n";
        assert!(read(&mut input).is_err());
        assert_eq!(read(&mut input).expect("a text").as_deref(), Some("1"));
        let long = [vec![b'x'; LARGEST + 5], b"\n2\n".to_vec()].concat();
        let mut input: &[u8] = &long;
        assert!(read(&mut input).is_err());
        assert_eq!(read(&mut input).expect("a text").as_deref(), Some("2"));
    }

    #[test]
    fn a_command_and_the_expression_behind_it_are_coloured() {
        let helper = ReplAssist { words: CompletionWords::default() };
        let text = " :time artifact.x + 1";
        let inked: Vec<(&str, SyntaxClass)> =
            helper.paint(text).iter().map(|(span, ink)| (&text[span.start..span.end], *ink)).collect();
        assert_eq!(inked, [(":time", SyntaxClass::Command), ("artifact", SyntaxClass::Input), ("1", SyntaxClass::Number)]);
    }
}
