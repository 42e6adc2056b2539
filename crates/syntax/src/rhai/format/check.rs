//! Whether two texts have the same tokens and comments.

use super::doc::moved;
use crate::rhai::{RhaiToken, SyntaxKind as K, tokens};
use std::borrow::Cow;

/// Compares two texts; returns the byte of the first text at which they differ, if they do.
///
/// White space does not count, nor does a comma before a closing bracket. Comments are compared apart from the code, since one may change its
/// place with such a comma.
pub(super) fn same(before: &str, lexemes: &[RhaiToken], after: &str) -> Result<(), usize> {
    let (old, new) = (TokenContent::new(before, lexemes), TokenContent::new(after, &tokens(after)));
    for (old, new) in [(old.code, new.code), (old.comments, new.comments)] {
        let differs = old.iter().zip(&new).find(|(old, new)| old.1 != new.1).map(|(old, _)| old.0);
        if let Some(place) = differs {
            return Err(place);
        }
        if old.len() != new.len() {
            return Err(old.get(new.len()).map_or(before.len(), |old| old.0));
        }
    }
    Ok(())
}

/// The tokens and comments of a text, with their places.
struct TokenContent<'t> {
    code: Vec<(usize, Cow<'t, str>)>,
    comments: Vec<(usize, Cow<'t, str>)>,
}

impl<'t> TokenContent<'t> {
    fn new(text: &'t str, lexemes: &[RhaiToken]) -> Self {
        let comments = lexemes.iter().filter(|lexeme| lexeme.kind.is_comment());
        let comments = comments.map(|lexeme| (lexeme.start, Cow::Borrowed(text[lexeme.start..lexeme.end].trim_end()))).collect();
        let code: Vec<&RhaiToken> = lexemes.iter().filter(|lexeme| !lexeme.kind.is_trivia()).collect();
        let is_optional = |at: usize| {
            let after = code.get(at + 1).map(|next| next.kind);
            code[at].kind == K::COMMA && matches!(after, Some(K::R_PAREN | K::R_BRACK | K::R_BRACE | K::PIPE))
        };
        let code = (0..code.len()).filter(|at| !is_optional(*at)).map(|at| (code[at].start, token(text, code[at]))).collect();
        Self { code, comments }
    }
}

/// The text of a token. A string with continued lines is as if it started in the first column.
fn token<'t>(text: &'t str, lexeme: &RhaiToken) -> Cow<'t, str> {
    let content = &text[lexeme.start..lexeme.end];
    if lexeme.kind == K::STRING && content.starts_with('"') && content.contains('\n') {
        let column = text[..lexeme.start].chars().rev().take_while(|char| *char != '\n').count();
        let lines = moved(content, column, 0);
        return lines.split('\n').map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n").into();
    }
    content.into()
}
