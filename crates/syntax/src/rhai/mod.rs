//! The lossless syntax tree of a Rhai script.
//!
//! Every byte of a text is in its tree, whatever the text: `parse(text).to_string() == text`. Incomplete code is parsed as far as possible; what
//! is wrong or missing is an [`ERROR`](SyntaxKind::ERROR) node (an empty one if something is missing). A text that Rhai accepts has no such node.

#[cfg(test)]
mod corpus;
mod format;
mod kind;
mod lexer;
mod parser;
#[cfg(test)]
mod parser_tests;
mod tree;
mod words;

pub(crate) use format::enclosing;
pub use format::{WIDTH, format_rhai};
pub use kind::SyntaxKind;
pub use lexer::{RhaiToken, tokens};
pub use tree::{
    NodeOrToken, Parse, RhaiLanguage, SyntaxElement, SyntaxError, SyntaxNode, SyntaxToken, TextRange, TextSize, parse,
    parse_expression, parse_file,
};
pub use words::{KEYWORDS, is_reserved};
