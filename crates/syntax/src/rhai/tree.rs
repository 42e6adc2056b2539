//! The tree and the errors of a parsed text.

use super::parser::{self, RootKind};
use super::{RhaiToken, SyntaxKind, lexer};
use rowan::{GreenNode, Language};

pub use rowan::{NodeOrToken, TextRange, TextSize};

/// Rhai, as a language of `rowan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RhaiLanguage {}

impl Language for RhaiLanguage {
    type Kind = SyntaxKind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> SyntaxKind {
        SyntaxKind::ALL.get(usize::from(raw.0)).copied().unwrap_or(SyntaxKind::ERROR)
    }

    fn kind_to_raw(kind: SyntaxKind) -> rowan::SyntaxKind {
        rowan::SyntaxKind(kind as u16)
    }
}

pub type SyntaxNode = rowan::SyntaxNode<RhaiLanguage>;
pub type SyntaxToken = rowan::SyntaxToken<RhaiLanguage>;
pub type SyntaxElement = rowan::SyntaxElement<RhaiLanguage>;

/// Something that Rhai would not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where; empty if something is missing.
    pub range: TextRange,
    pub message: String,
}

/// A parsed text. Can be sent to other threads, unlike the nodes of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parse {
    green: GreenNode,
    errors: Vec<SyntaxError>,
}

impl Parse {
    /// The root of the tree.
    pub fn syntax(&self) -> SyntaxNode {
        SyntaxNode::new_root(self.green.clone())
    }

    /// What is wrong, in the order of the text. Empty exactly if the tree has no `ERROR` node.
    pub fn errors(&self) -> &[SyntaxError] {
        &self.errors
    }
}

/// Parses a file, with its errors.
pub fn parse_file(text: &str) -> Parse {
    of_tokens(text, &lexer::tokens(text))
}

/// Parses a file of known tokens.
pub(super) fn of_tokens(text: &str, tokens: &[RhaiToken]) -> Parse {
    let (green, errors) = parser::run(text, tokens, RootKind::Script);
    Parse { green, errors }
}

/// Parses a file.
pub fn parse(text: &str) -> SyntaxNode {
    parse_file(text).syntax()
}

/// Parses a condition, such as `when:` of an edge: an expression, or statements that end with one. The root is an `EXPRESSION`.
pub fn parse_expression(text: &str) -> Parse {
    let (green, errors) = parser::run(text, &lexer::tokens(text), RootKind::Expression);
    Parse { green, errors }
}
