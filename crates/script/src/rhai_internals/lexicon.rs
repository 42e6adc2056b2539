//! Words that are lexed differently from Rhai.

use super::function_stub::BODY;
use rhai::{Engine, LexError, Token};

/// `match` is a reserved word of Rhai and the name of a field here: it is lexed as an identifier. The keyword of a rewritten body
/// is reserved.
pub(crate) fn register(engine: &mut Engine) {
    #[expect(deprecated, reason = "not deprecated but volatile, as its documentation says; the version of rhai is pinned")]
    engine.on_parse_token(|token, _, _| match token {
        Token::Reserved(word) if word.as_str() == "match" => Token::Identifier(word),
        Token::Identifier(word) if word.as_str() == BODY => {
            let why = format!("'{word}' is reserved");
            Token::LexError(Box::new(LexError::ImproperSymbol(word.to_string(), why)))
        }
        token => token,
    });
}
