//! Semantic tokens: the kinds of names, which a grammar cannot distinguish.

use super::completion::is_input;
use super::names::NameKind;
use super::position::small;
use super::project_file::FileLanguage;
use super::tree::span_of;
use super::workspace::EditedProject;
use asterisk_diag::Span;
use asterisk_syntax::rhai::{SyntaxKind, SyntaxNode, parse};
use gen_lsp_types::{Range, SemanticToken, SemanticTokens, Uri};

/// The types of tokens, in the order of their numbers.
pub(super) const TYPES: &[&str] = &[
    "namespace",
    "class",
    "parameter",
    "variable",
    "property",
    "enumMember",
    "event",
    "function",
    "method",
    "keyword",
    "comment",
    "string",
    "number",
    "operator",
];
/// The modifiers, in the order of their bits.
pub(super) const MODIFIERS: &[&str] = &["declaration", "readonly", "defaultLibrary"];

const DECLARATION: u32 = 1;
const READONLY: u32 = 2;
const LIBRARY: u32 = 4;

/// The tokens of a document, or of a range of it.
pub(super) fn tokens(workspace: &EditedProject, uri: &Uri, range: Option<Range>) -> Option<SemanticTokens> {
    let (file, text) = workspace.of_uri(uri)?;
    let mut found: Vec<(Span, &str, u32)> = Vec::new();
    if file.language == FileLanguage::Script {
        of_script(&parse(&text.text), &mut found);
    }
    for mention in &file.names.mentions {
        let kind = match mention.name.kind {
            NameKind::Function if file.language != FileLanguage::Script => "function",
            NameKind::Node | NameKind::Pipeline => "class",
            NameKind::Edge | NameKind::Rule => "event",
            NameKind::Signature | NameKind::Defect => "enumMember",
            NameKind::Var if file.language != FileLanguage::Script => "variable",
            NameKind::Field if file.language != FileLanguage::Script => "property",
            _ => continue,
        };
        let modifiers = if mention.is_definition() { DECLARATION } else { 0 };
        found.push((mention.span, kind, modifiers));
    }
    if let Some(range) = range {
        let wanted = text.lines.span(&text.text, range);
        found.retain(|(span, ..)| span.start < wanted.end && wanted.start < span.end);
    }
    found.sort_by_key(|(span, ..)| (span.start, std::cmp::Reverse(span.end)));
    let mut data: Vec<SemanticToken> = Vec::new();
    let (mut line, mut column, mut end) = (0, 0, 0);
    for (span, kind, modifiers) in found {
        // Tokens must not overlap, nor end on another line.
        if span.start < end || span.is_empty() || text.text[span.start..span.end].contains('\n') {
            continue;
        }
        end = span.end;
        let place = text.lines.range(&text.text, span);
        let same = place.start.line == line;
        data.push(SemanticToken {
            delta_line: place.start.line - line,
            delta_start: if same { place.start.character - column } else { place.start.character },
            length: place.end.character - place.start.character,
            token_type: small(TYPES.iter().position(|known| *known == kind).unwrap_or_default()),
            token_modifiers_bitset: modifiers,
        });
        (line, column) = (place.start.line, place.start.character);
    }
    Some(SemanticTokens { result_id: None, data })
}

fn of_script(root: &SyntaxNode, found: &mut Vec<(Span, &'static str, u32)>) {
    for node in root.descendants() {
        let Some(parent) = node.parent() else { continue };
        let first = || parent.children().next().as_ref() == Some(&node);
        let token = match (node.kind(), parent.kind()) {
            (SyntaxKind::NAME, SyntaxKind::FN) => ("function", DECLARATION),
            (SyntaxKind::NAME, SyntaxKind::PARAM) => ("parameter", DECLARATION),
            (SyntaxKind::NAME, SyntaxKind::IMPORT) => ("namespace", DECLARATION),
            (SyntaxKind::NAME, SyntaxKind::CONST) => ("variable", DECLARATION | READONLY),
            (SyntaxKind::NAME, SyntaxKind::MAP_ENTRY) => ("property", 0),
            (SyntaxKind::NAME, _) => ("variable", DECLARATION),
            (SyntaxKind::NAME_REF, SyntaxKind::CALL) => {
                let host = super::script_names::is_host(&super::tree::text_of(&node));
                ("function", if host { LIBRARY } else { 0 })
            }
            (SyntaxKind::NAME_REF, SyntaxKind::PATH) => {
                let called = parent.parent().is_some_and(|around| around.kind() == SyntaxKind::CALL);
                match (first(), called) {
                    (true, _) => ("namespace", 0),
                    (_, true) => ("function", 0),
                    _ => ("variable", READONLY),
                }
            }
            (SyntaxKind::NAME_REF, SyntaxKind::METHOD_CALL) if !first() => ("method", 0),
            (SyntaxKind::NAME_REF, SyntaxKind::FIELD) if !first() => ("property", 0),
            (SyntaxKind::NAME_REF, _) => {
                if is_input(&super::tree::text_of(&node)) {
                    ("parameter", READONLY)
                } else {
                    ("variable", 0)
                }
            }
            _ => continue,
        };
        found.push((span_of(&node), token.0, token.1));
    }
}
