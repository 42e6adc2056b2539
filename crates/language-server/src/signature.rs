//! Signature help: the parameters of the function that is called.

use super::completion::{expression_at, host_doc};
use super::names::{NameKind, ProjectName};
use super::project_file::{FileLanguage, ProjectFile};
use super::script_names::is_host;
use super::tree::{called, text_of, token_before};
use super::workspace::EditedProject;
use asterisk_script::api::{registry, test_registry};
use asterisk_syntax::rhai::{NodeOrToken, SyntaxKind, SyntaxNode, parse, parse_expression};
use gen_lsp_types::{
    ActiveParameter, Documentation, MarkupContent, MarkupKind, ParameterInformation, ParameterInformationLabel, SignatureHelp,
    SignatureInformation, TextDocumentPositionParams,
};

/// The signature of the call around a place.
pub(super) fn help(workspace: &EditedProject, at: &TextDocumentPositionParams) -> Option<SignatureHelp> {
    let place = workspace.place(at)?;
    let (root, offset) = match place.file.language {
        FileLanguage::Script => (parse(&place.text.text), place.offset),
        _ => {
            let (mapped, offset) = expression_at(&place.file, place.offset)?;
            (parse_expression(mapped.text()).syntax(), offset)
        }
    };
    let token = token_before(&root, offset)?;
    let inside = |list: &SyntaxNode| {
        let range = list.text_range();
        let closed = list.last_token().is_some_and(|last| last.kind() == SyntaxKind::R_PAREN);
        usize::from(range.start()) < offset && (!closed || offset < usize::from(range.end()))
    };
    let list = token.parent_ancestors().find(|node| node.kind() == SyntaxKind::ARG_LIST && inside(node))?;
    let commas = list
        .children_with_tokens()
        .filter_map(NodeOrToken::into_token)
        .filter(|token| token.kind() == SyntaxKind::COMMA && usize::from(token.text_range().end()) <= offset)
        .count();
    let call = list.parent()?;
    let (signature, skipped) = signature(workspace, &place.file, &call)?;
    Some(SignatureHelp {
        signatures: vec![signature],
        active_signature: Some(0),
        active_parameter: Some(ActiveParameter::Int(super::position::small(commas + skipped))),
    })
}

/// The signature of the function of a call, and how many of its parameters stand before the parentheses.
fn signature(workspace: &EditedProject, file: &ProjectFile, call: &SyntaxNode) -> Option<(SignatureInformation, usize)> {
    let (name, skipped) = match call.kind() {
        SyntaxKind::METHOD_CALL => {
            let name = text_of(&call.children().filter(|one| one.kind() == SyntaxKind::NAME_REF).last()?);
            let kind = if is_host(&name) { NameKind::Host } else { NameKind::Function };
            (ProjectName::new(kind, if kind == NameKind::Host { "" } else { &file.name }, name), 1)
        }
        _ => {
            let (space, name) = called(call)?;
            let name = text_of(&name);
            let own = file.names.definitions.iter().any(|known| known.name.kind == NameKind::Function && known.name.text == name);
            let scope = match space {
                Some(space) => file.names.imports.get(&text_of(&space))?.clone(),
                None if !own && is_host(&name) => return Some((of_host(&name)?, 0)),
                None => file.name.clone(),
            };
            (ProjectName::new(NameKind::Function, scope, name), 0)
        }
    };
    if name.kind == NameKind::Host {
        return Some((of_host(&name.text)?, skipped));
    }
    let (_, definition) = workspace.definitions(&name).into_iter().next()?;
    Some((
        information(&definition.detail, definition.doc.clone(), &definition.parameters),
        if skipped > 0 && definition.parameters.is_empty() { 0 } else { skipped },
    ))
}

fn of_host(name: &str) -> Option<SignatureInformation> {
    let function = registry().iter().chain(test_registry()).find(|function| function.name == name)?;
    let inside = function.signature.split_once('(')?.1.rsplit_once(')')?.0;
    let parameters: Vec<String> = inside.split(", ").filter(|part| !part.is_empty()).map(str::to_owned).collect();
    Some(information(function.signature, host_doc(function), &parameters))
}

fn information(label: &str, doc: String, parameters: &[String]) -> SignatureInformation {
    let parameter =
        |name: &String| ParameterInformation { label: ParameterInformationLabel::String(name.clone()), documentation: None };
    SignatureInformation {
        label: label.to_owned(),
        documentation: Some(Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value: doc })),
        parameters: Some(parameters.iter().map(parameter).collect()),
        active_parameter: None,
    }
}
