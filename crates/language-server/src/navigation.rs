//! Definitions, references and highlights, across languages.

use super::locals;
use super::names::{MentionRole, NameKind, ProjectName};
use super::project_file::{FileLanguage, ProjectFile};
use super::workspace::{DocumentPlace, EditedProject};
use asterisk_diag::Span;
use gen_lsp_types::{
    Definition, DocumentHighlight, DocumentHighlightKind, Location, ReferenceParams, TextDocumentPositionParams,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Where what stands at a place is defined. From an edge to the function of its rule, if the cursor is on the edge's id.
pub(super) fn definition(workspace: &EditedProject, at: &TextDocumentPositionParams) -> Option<Definition> {
    let place = workspace.place(at)?;
    if let Some(spans) = local(&place) {
        let location = workspace.location(&place.file, spans.definition)?;
        return Some(Definition::Location(location));
    }
    let mention = place.mention()?;
    let mut found: Vec<Location> = workspace
        .definitions(&mention.name)
        .iter()
        .filter_map(|(file, definition)| workspace.location(file, definition.span))
        .collect();
    found.extend(workspace.files_of(&mention.name).iter().filter_map(|file| workspace.location(file, Span::new(0, 0))));
    if mention.is_definition() {
        // What stands at its own definition: the functions that it refers to.
        found = functions_of(workspace, &place, &mention.name);
    }
    if found.is_empty() { None } else { Some(Definition::LocationList(found)) }
}

/// The functions that an edge, a node or a rule refers to.
fn functions_of(workspace: &EditedProject, place: &DocumentPlace, name: &ProjectName) -> Vec<Location> {
    let Some(whole) = place.file.names.definitions.iter().find(|one| one.name == *name).map(|one| one.whole) else {
        return Vec::new();
    };
    let inside = place.file.names.mentions.iter().filter(|one| whole.start <= one.span.start && one.span.end <= whole.end);
    let functions = inside.filter(|one| one.name.kind == NameKind::Function && one.role == MentionRole::Reference);
    functions
        .flat_map(|one| workspace.definitions(&one.name))
        .filter_map(|(file, definition)| workspace.location(&file, definition.span))
        .collect()
}

/// Every mention of what stands at a place.
pub(super) fn references(workspace: &EditedProject, params: &ReferenceParams) -> Option<Vec<Location>> {
    let place = workspace.place(&params.text_document_position_params)?;
    let with_definition = params.context.include_declaration;
    if let Some(spans) = local(&place) {
        let own = with_definition.then_some(spans.definition);
        return Some(own.into_iter().chain(spans.uses).filter_map(|span| workspace.location(&place.file, span)).collect());
    }
    let name = place.mention()?.name;
    let found = spots(workspace, &name, with_definition);
    Some(found.iter().filter_map(|(file, span)| workspace.location(file, *span)).collect())
}

/// The places of a name, in the order of files and texts.
pub(super) fn spots(workspace: &EditedProject, name: &ProjectName, with_definition: bool) -> Vec<(Arc<ProjectFile>, Span)> {
    let wanted = resolved(workspace, name);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (file, mention) in workspace.mentions(&wanted) {
        if mention.is_definition() && !with_definition {
            continue;
        }
        if seen.insert((file.language, file.name.clone(), mention.span)) {
            found.push((file, mention.span));
        }
    }
    found.sort_by(|(a, at), (b, bt)| (a.language, &a.name, at).cmp(&(b.language, &b.name, bt)));
    found
}

/// A name with the scope of its definition, if there is only one.
pub(super) fn resolved(workspace: &EditedProject, name: &ProjectName) -> ProjectName {
    match &workspace.definitions(name)[..] {
        [(_, only)] => only.name.clone(),
        _ => name.clone(),
    }
}

/// The places in this document of what stands at a place.
pub(super) fn highlights(workspace: &EditedProject, at: &TextDocumentPositionParams) -> Option<Vec<DocumentHighlight>> {
    let place = workspace.place(at)?;
    let highlight =
        |span: Span, kind| DocumentHighlight { range: place.text.lines.range(&place.text.text, span), kind: Some(kind) };
    if let Some(spans) = local(&place) {
        let uses = spans.uses.iter().map(|span| highlight(*span, DocumentHighlightKind::Read));
        return Some([highlight(spans.definition, DocumentHighlightKind::Write)].into_iter().chain(uses).collect());
    }
    let name = place.mention()?.name;
    let own = place.file.names.mentions.iter().filter(|mention| mention.name.agrees(&name));
    let kind = |definition: bool| if definition { DocumentHighlightKind::Write } else { DocumentHighlightKind::Read };
    Some(own.map(|mention| highlight(mention.span, kind(mention.is_definition()))).collect())
}

/// The places of the variable or parameter at a place.
pub(super) fn local(place: &DocumentPlace) -> Option<locals::LocalSpans> {
    if place.file.language != FileLanguage::Script {
        return None;
    }
    locals::at(&asterisk_syntax::rhai::parse(&place.text.text), place.offset)
}
