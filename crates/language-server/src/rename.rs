//! Renaming over all files.

use super::names::{ANYWHERE, MentionRole, NameKind, ProjectName};
use super::navigation::{local, resolved};
use super::project_file::{FileLanguage, ProjectFile};
use super::server::RequestRefusal;
use super::workspace::EditedProject;
use asterisk_diag::Span;
use asterisk_form::yaml;
use asterisk_syntax::rhai::{KEYWORDS, is_reserved};
use gen_lsp_types::{PrepareRenamePlaceholder, RenameParams, TextDocumentPositionParams, TextEdit, WorkspaceEdit};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Whether what stands at a place can be renamed, and what it is called.
pub(super) fn prepare(
    workspace: &EditedProject,
    at: &TextDocumentPositionParams,
) -> Result<Option<PrepareRenamePlaceholder>, RequestRefusal> {
    let Some(place) = workspace.place(at) else { return Ok(None) };
    let (span, text) = match local(&place) {
        Some(found) => {
            let spans = [found.definition].into_iter().chain(found.uses);
            let here = spans.into_iter().find(|span| span.start <= place.offset && place.offset <= span.end);
            (here.unwrap_or(found.definition), found.name)
        }
        None => {
            let Some(mention) = place.mention() else { return Ok(None) };
            renamed(workspace, &mention.name)?;
            (mention.span, mention.name.text)
        }
    };
    Ok(Some(PrepareRenamePlaceholder { range: place.text.lines.range(&place.text.text, span), placeholder: text }))
}

/// The edits that rename what stands at a place.
pub(super) fn rename(workspace: &EditedProject, params: &RenameParams) -> Result<Option<WorkspaceEdit>, RequestRefusal> {
    let Some(place) = workspace.place(&params.text_document_position_params) else { return Ok(None) };
    let new = params.new_name.trim();
    if let Some(found) = local(&place) {
        check_identifier(new)?;
        let spans = [found.definition].into_iter().chain(found.uses);
        let edits = workspace.edits(&place.file, spans.map(|span| (span, new.to_owned())));
        return Ok(Some(edit(workspace, vec![(place.file.clone(), edits)])));
    }
    let Some(mention) = place.mention() else { return Ok(None) };
    let name = renamed(workspace, &mention.name)?;
    check(workspace, &name, new)?;
    whole(workspace)?;
    let shared = shared(workspace, &name);
    let mut by_file: BTreeMap<String, FileEdits> = BTreeMap::new();
    for (file, mention) in workspace.mentions(&name) {
        let is_certain = mention.name.scope == name.scope;
        if file.bundled {
            if is_certain {
                let message =
                    format!("the bundled {} refers to `{}`: copy it into the project first", file.area_path(), name.text);
                return Err(RequestRefusal::because(message));
            }
            continue;
        }
        if !is_certain && let Some(pipelines) = &shared {
            // Another pipeline has the same name: whose is this?
            let users: BTreeSet<&str> = users(workspace, &file).collect();
            // Helpers and tests are used by none themselves: the project's own names are meant.
            if !users.is_empty() && !users.contains(name.scope.as_str()) {
                continue;
            }
            if let Some(other) = pipelines.iter().find(|other| users.contains(other.as_str())) {
                return Err(RequestRefusal::because(format!(
                    "{} also serves {other}, which has a `{}` of its own",
                    file.shown, name.text
                )));
            }
        }
        let one = by_file.entry(file.area_path()).or_insert_with(|| (file.clone(), Vec::new()));
        one.1.push((mention.span, new.to_owned()));
        if name.kind == NameKind::Node && mention.role == MentionRole::Definition {
            one.1.extend(family(&file, &name));
        }
    }
    let mut edits = Vec::new();
    for (file, mut spans) in by_file.into_values() {
        spans.sort_by_key(|(span, _)| *span);
        spans.dedup();
        edits.push((file.clone(), workspace.edits(&file, spans)));
    }
    Ok(Some(edit(workspace, edits)))
}

/// What is written in a file, and where.
type FileEdits = (Arc<ProjectFile>, Vec<(Span, String)>);

/// The files of other pipelines that define the same name.
fn shared(workspace: &EditedProject, name: &ProjectName) -> Option<Vec<String>> {
    let anywhere = ProjectName { scope: ANYWHERE.to_owned(), ..name.clone() };
    let others = workspace.definitions(&anywhere).into_iter().map(|(_, one)| one.name.scope).filter(|scope| *scope != name.scope);
    let others: Vec<String> = others.collect();
    (!others.is_empty()).then_some(others)
}

/// The files of the pipelines that use a script.
fn users<'w>(workspace: &'w EditedProject, file: &ProjectFile) -> impl Iterator<Item = &'w str> {
    let roles = workspace.analysis.iter().flat_map(|analysis| &analysis.roles);
    let name = file.name.clone();
    roles.filter(move |role| role.file == name).map(|role| role.pipeline.as_str())
}

/// The name that a rename is about, if it can be renamed.
fn renamed(workspace: &EditedProject, name: &ProjectName) -> Result<ProjectName, RequestRefusal> {
    match name.kind {
        NameKind::Host => return Err(RequestRefusal::because(format!("`{}` is a built-in function", name.text))),
        NameKind::Field => return Err(RequestRefusal::because(format!("the field `{}` is defined by the program", name.text))),
        NameKind::Script | NameKind::Template | NameKind::Pipeline => {
            return Err(RequestRefusal::because(format!("a {} is renamed by renaming its file", name.kind.noun())));
        }
        _ => {}
    }
    match &workspace.definitions(name)[..] {
        [] => Err(RequestRefusal::because(format!("there is no {} `{}`", name.kind.noun(), name.text))),
        [(file, _)] if file.bundled => Err(RequestRefusal::because(format!(
            "`{}` is defined in the bundled {}: copy the file into the project first",
            name.text, file.name
        ))),
        [(_, only)] => Ok(only.name.clone()),
        several => {
            let own = several.iter().find(|(_, one)| one.name == *name);
            let files: Vec<&str> = several.iter().map(|(file, _)| file.name.as_str()).collect();
            own.map(|(_, one)| one.name.clone()).ok_or_else(|| {
                RequestRefusal::because(format!(
                    "`{}` may be that of any of {}: rename it where it is defined",
                    name.text,
                    files.join(", ")
                ))
            })
        }
    }
}

/// Whether a new name can be written, and is free.
fn check(workspace: &EditedProject, name: &ProjectName, new: &str) -> Result<(), RequestRefusal> {
    match name.kind {
        NameKind::Function | NameKind::Constant | NameKind::Var => check_identifier(new)?,
        _ => {
            let plain = |c: char| c.is_alphanumeric() || "_-.".contains(c);
            if new.is_empty() || !new.chars().all(plain) || new.starts_with(['-', '.']) {
                return Err(RequestRefusal::because(format!(
                    "`{new}` is not a valid name: use letters, digits, `_`, `-` and `.`"
                )));
            }
        }
    }
    let taken = ProjectName { text: new.to_owned(), ..resolved(workspace, name) };
    if workspace.definitions(&taken).iter().any(|(_, one)| one.name.scope == taken.scope) {
        return Err(RequestRefusal::because(format!("there is a {} `{new}` already", name.kind.noun())));
    }
    Ok(())
}

fn check_identifier(new: &str) -> Result<(), RequestRefusal> {
    let first = new.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let is_name = first && new.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && new.chars().any(|c| c != '_');
    if !is_name {
        return Err(RequestRefusal::because(format!("`{new}` is not a valid name: use letters, digits and `_`")));
    }
    if is_reserved(new) || KEYWORDS.iter().any(|(keyword, _)| *keyword == new) {
        return Err(RequestRefusal::because(format!("`{new}` is a reserved word")));
    }
    Ok(())
}

/// Refuses if a file of the project cannot be read as a whole: it may hold mentions that would be missed.
fn whole(workspace: &EditedProject) -> Result<(), RequestRefusal> {
    let broken = workspace.files().into_iter().find(|file| !file.names.whole);
    match broken {
        Some(file) => Err(RequestRefusal::because(format!(
            "`{}` has a syntax error, so mentions in it would be missed: fix it first",
            file.shown
        ))),
        None => Ok(()),
    }
}

/// A node's family is its name unless it has another: a renamed node keeps the family that it had, and with it its script and template.
fn family(file: &ProjectFile, name: &ProjectName) -> Option<(Span, String)> {
    if file.language != FileLanguage::Pipeline {
        return None;
    }
    let tree = yaml::parse(file.source()).ok()?;
    let nodes = tree.get("nodes")?.as_list()?;
    let node = nodes.iter().find(|node| node.get("name").and_then(yaml::Yaml::as_text) == Some(&name.text))?;
    if node.get("family").is_some() || node.get("script").is_some() && node.get("prompt").is_some() {
        return None;
    }
    let after = node.get("name")?.span.end;
    let flow = file.text()[node.span.start..].starts_with('{');
    let text = if flow {
        format!(", family: {}", name.text)
    } else {
        let first = node.as_map()?.first()?.key.span.start;
        let line = file.text()[..first].rfind('\n').map_or(0, |at| at + 1);
        format!("\n{}family: {}", " ".repeat(first - line), name.text)
    };
    Some((Span::new(after, after), text))
}

/// Edits of files as the protocol has them.
fn edit(workspace: &EditedProject, files: Vec<(Arc<ProjectFile>, Vec<TextEdit>)>) -> WorkspaceEdit {
    let changes: HashMap<_, _> = files.into_iter().filter_map(|(file, edits)| Some((workspace.uri(&file)?, edits))).collect();
    WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
}
