//! Reading syntax trees of Rhai.

use asterisk_diag::Span;
use asterisk_syntax::rhai::{NodeOrToken, SyntaxKind, SyntaxNode, SyntaxToken, TextRange, TextSize};

/// The span of a range.
pub(super) fn span(range: TextRange) -> Span {
    Span::new(range.start().into(), range.end().into())
}

/// The span of a node, without the white space and comments around its code.
pub(super) fn span_of(node: &SyntaxNode) -> Span {
    let code = |token: &SyntaxToken| !token.kind().is_trivia();
    let tokens = || node.descendants_with_tokens().filter_map(NodeOrToken::into_token).filter(code);
    match (tokens().next(), tokens().last()) {
        (Some(first), Some(last)) => Span::new(first.text_range().start().into(), last.text_range().end().into()),
        _ => span(node.text_range()),
    }
}

/// The code of a node, without white space and comments around it.
pub(super) fn text_of(node: &SyntaxNode) -> String {
    let inner = span_of(node);
    let start: usize = node.text_range().start().into();
    node.text().to_string().get(inner.start - start..inner.end - start).unwrap_or_default().to_owned()
}

/// The first child of a kind.
pub(super) fn child(node: &SyntaxNode, kind: SyntaxKind) -> Option<SyntaxNode> {
    node.children().find(|one| one.kind() == kind)
}

/// The children of a kind.
pub(super) fn children(node: &SyntaxNode, kind: SyntaxKind) -> impl Iterator<Item = SyntaxNode> + use<> {
    node.children().filter(move |one| one.kind() == kind)
}

/// The token at a byte; of two that meet there, the left one if it is a name, otherwise the right one.
pub(super) fn token_at(root: &SyntaxNode, offset: usize) -> Option<SyntaxToken> {
    let range = root.text_range();
    let offset = TextSize::try_from(offset).ok()?.min(range.end());
    let found = root.token_at_offset(offset);
    let left = found.clone().left_biased()?;
    if left.kind() == SyntaxKind::IDENT { Some(left) } else { found.right_biased() }
}

/// The token that ends at or holds the byte before an offset, white space and comments left out.
pub(super) fn token_before(root: &SyntaxNode, offset: usize) -> Option<SyntaxToken> {
    let offset = TextSize::try_from(offset).ok()?.min(root.text_range().end());
    let mut token = root.token_at_offset(offset).left_biased()?;
    if token.text_range().start() >= offset {
        token = token.prev_token()?;
    }
    while token.kind().is_trivia() {
        token = token.prev_token()?;
    }
    Some(token)
}

/// The name of the namespace, if any, and of the function that a call names.
pub(super) fn called(call: &SyntaxNode) -> Option<(Option<SyntaxNode>, SyntaxNode)> {
    if call.kind() != SyntaxKind::CALL {
        return None;
    }
    let callee = call.children().next()?;
    match callee.kind() {
        SyntaxKind::NAME_REF => Some((None, callee)),
        SyntaxKind::PATH => {
            let parts: Vec<SyntaxNode> = children(&callee, SyntaxKind::NAME_REF).collect();
            match &parts[..] {
                [space, name] => Some((Some(space.clone()), name.clone())),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A field of a variable: `evidence.frames[0].file` has the root `evidence` and the path `frames.file`.
pub(super) struct FieldChain {
    pub(super) root: String,
    pub(super) path: String,
    /// The span of the last field.
    pub(super) last: Span,
}

/// The chain of fields that a node ends.
pub(super) fn chain(node: &SyntaxNode) -> Option<FieldChain> {
    let name = node.children().filter(|one| one.kind() == SyntaxKind::NAME_REF).last()?;
    let last = span_of(&name);
    let mut parts = Vec::new();
    let mut here = node.clone();
    loop {
        match here.kind() {
            SyntaxKind::FIELD => {
                let names: Vec<SyntaxNode> = here.children().collect();
                let field = names.last().filter(|one| one.kind() == SyntaxKind::NAME_REF && names.len() > 1)?;
                parts.push(text_of(field));
                here = names.first()?.clone();
            }
            SyntaxKind::INDEX => here = here.children().next()?,
            SyntaxKind::NAME_REF => break,
            _ => return None,
        }
    }
    parts.reverse();
    Some(FieldChain { root: text_of(&here), path: parts.join("."), last })
}

/// The function that holds a node.
pub(super) fn function_around(node: &SyntaxNode) -> Option<SyntaxNode> {
    node.ancestors().find(|one| one.kind() == SyntaxKind::FN)
}
