//! Variables and parameters of functions: where they are bound, and where they are used.

use super::tree::{child, children, span_of, text_of, token_at};
use asterisk_diag::Span;
use asterisk_syntax::rhai::{SyntaxKind, SyntaxNode};

/// The places of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocalSpans {
    pub(super) name: String,
    pub(super) definition: Span,
    pub(super) uses: Vec<Span>,
}

/// The places of the variable at a byte; `None` if there is none, or if it is bound by the script as a whole.
pub(super) fn at(root: &SyntaxNode, offset: usize) -> Option<LocalSpans> {
    let token = token_at(root, offset)?;
    if token.kind() != SyntaxKind::IDENT {
        return None;
    }
    let node = token.parent()?;
    let name = token.text().to_owned();
    let binding = match node.kind() {
        SyntaxKind::NAME => is_local(&node).then(|| node.clone())?,
        SyntaxKind::PARAM => node.clone(),
        SyntaxKind::NAME_REF if is_variable(&node) => binding(&node, &name)?,
        _ => return None,
    };
    let around = scope(&binding)?;
    let uses = around
        .descendants()
        .filter(|one| one.kind() == SyntaxKind::NAME_REF && is_variable(one) && text_of(one) == name)
        .filter(|one| binding_of(one, &name).as_ref() == Some(&binding))
        .map(|one| span_of(&one))
        .collect();
    Some(LocalSpans { name, definition: span_of(&binding), uses })
}

fn binding_of(node: &SyntaxNode, name: &str) -> Option<SyntaxNode> {
    binding(node, name)
}

/// Whether a name is that of a variable: not that of a function, a constant of the script, or an import.
fn is_local(name: &SyntaxNode) -> bool {
    let Some(parent) = name.parent() else { return false };
    match parent.kind() {
        SyntaxKind::PARAM | SyntaxKind::FOR | SyntaxKind::TRY => true,
        SyntaxKind::LET | SyntaxKind::CONST => parent.parent().is_some_and(|around| around.kind() != SyntaxKind::SCRIPT),
        _ => false,
    }
}

/// Whether a reference is to a variable: not the name of a field, method, function or namespace.
fn is_variable(node: &SyntaxNode) -> bool {
    let Some(parent) = node.parent() else { return true };
    match parent.kind() {
        SyntaxKind::PATH => false,
        SyntaxKind::CALL | SyntaxKind::FIELD | SyntaxKind::METHOD_CALL => {
            parent.kind() != SyntaxKind::CALL && parent.children().next().as_ref() == Some(node)
        }
        _ => true,
    }
}

/// Where the variable that a node sees is bound.
fn binding(from: &SyntaxNode, name: &str) -> Option<SyntaxNode> {
    let is_it = |bound: &SyntaxNode| text_of(bound) == name;
    let mut here = from.clone();
    while let Some(parent) = here.parent() {
        match parent.kind() {
            SyntaxKind::BLOCK | SyntaxKind::EXPRESSION => {
                let before: Vec<SyntaxNode> = parent.children().take_while(|one| *one != here).collect();
                let bound = before
                    .iter()
                    .rev()
                    .filter(|one| matches!(one.kind(), SyntaxKind::LET | SyntaxKind::CONST))
                    .filter_map(|one| child(one, SyntaxKind::NAME))
                    .find(is_it);
                if bound.is_some() {
                    return bound;
                }
            }
            SyntaxKind::FOR if here.kind() == SyntaxKind::BLOCK => {
                if let Some(bound) = children(&parent, SyntaxKind::NAME).find(is_it) {
                    return Some(bound);
                }
            }
            SyntaxKind::TRY => {
                if let Some(bound) = child(&parent, SyntaxKind::NAME).filter(is_it) {
                    return Some(bound);
                }
            }
            SyntaxKind::CLOSURE | SyntaxKind::FN => {
                let list = child(&parent, SyntaxKind::PARAM_LIST);
                let param = list.and_then(|list| children(&list, SyntaxKind::PARAM).find(is_it));
                if let Some(param) = param {
                    return Some(child(&param, SyntaxKind::NAME).unwrap_or(param));
                }
                if parent.kind() == SyntaxKind::FN {
                    return None;
                }
            }
            _ => {}
        }
        here = parent;
    }
    None
}

/// The node within which a binding is seen.
fn scope(binding: &SyntaxNode) -> Option<SyntaxNode> {
    binding.ancestors().skip(1).find(|one| {
        matches!(
            one.kind(),
            SyntaxKind::BLOCK | SyntaxKind::FOR | SyntaxKind::CLOSURE | SyntaxKind::FN | SyntaxKind::TRY | SyntaxKind::EXPRESSION
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_syntax::rhai::parse;

    fn spans(text: &str) -> Option<(usize, Vec<usize>)> {
        let offset = text.find('|').expect("a bar");
        let text = format!("{}{}", &text[..offset], &text[offset + 1..]);
        let found = at(&parse(&text), offset)?;
        Some((found.definition.start, found.uses.iter().map(|span| span.start).collect()))
    }

    #[test]
    fn variables_are_bound_by_their_blocks() {
        assert_eq!(spans("fn f(x) { let y = |x; { let x = y; x } x }"), Some((5, vec![18, 38])));
        assert_eq!(spans("fn f(x) { let y = x; { let x = y; |x } x }"), Some((27, vec![34])));
        assert_eq!(spans("fn f(a) { for |x in a { x } x }"), Some((14, vec![23])));
        assert_eq!(spans("fn f(a) { a.map(|x| x + 1) }").map(|(at, _)| at), None, "the first bar is the closure's");
        assert_eq!(spans("fn f(a) { a.x|.y }"), None, "a field");
    }
}
