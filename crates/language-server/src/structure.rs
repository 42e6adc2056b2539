//! Symbols of documents and of the project, and what can be folded.

use super::names::{Definition, NameKind};
use super::position::small;
use super::project_file::FileLanguage;
use super::workspace::EditedProject;
use asterisk_diag::Span;
use asterisk_form::yaml::{self, Yaml, YamlKind};
use asterisk_syntax::rhai::{SyntaxKind, parse};
use gen_lsp_types::{
    BaseSymbolInformation, DocumentSymbol, FoldingRange, FoldingRangeKind, SymbolKind, Uri, WorkspaceSymbol,
    WorkspaceSymbolLocation,
};

fn kind(of: NameKind) -> SymbolKind {
    match of {
        NameKind::Function | NameKind::Host => SymbolKind::Function,
        NameKind::Constant => SymbolKind::Constant,
        NameKind::Script | NameKind::Template => SymbolKind::File,
        NameKind::Pipeline => SymbolKind::Module,
        NameKind::Node => SymbolKind::Class,
        NameKind::Edge => SymbolKind::Event,
        NameKind::Rule => SymbolKind::Operator,
        NameKind::Var => SymbolKind::Variable,
        NameKind::Signature => SymbolKind::Key,
        NameKind::Defect => SymbolKind::EnumMember,
        NameKind::Field => SymbolKind::Field,
    }
}

/// What a document defines, in the order of the text.
pub(super) fn symbols(workspace: &EditedProject, uri: &Uri) -> Option<Vec<DocumentSymbol>> {
    let (file, text) = workspace.of_uri(uri)?;
    if !file.names.whole && file.names.mentions.is_empty() {
        // The definitions are those of an older text.
        return Some(Vec::new());
    }
    let mut definitions: Vec<&Definition> = file.names.definitions.iter().collect();
    definitions.sort_by_key(|one| one.span);
    let symbol = |one: &&Definition| {
        let detail = match one.name.kind {
            NameKind::Function | NameKind::Constant => one.detail.clone(),
            _ => one.doc.clone(),
        };
        DocumentSymbol {
            name: one.name.text.clone(),
            detail: Some(detail).filter(|detail| !detail.is_empty()),
            kind: kind(one.name.kind),
            tags: None,
            #[expect(deprecated, reason = "a field of the type")]
            deprecated: None,
            range: text.lines.range(&text.text, Span::new(one.whole.start.min(one.span.start), one.whole.end.max(one.span.end))),
            selection_range: text.lines.range(&text.text, one.span),
            children: None,
        }
    };
    Some(definitions.iter().map(symbol).collect())
}

/// The most symbols of a project that are listed.
const MOST: usize = 500;

/// What the project defines, if its name contains the letters of a query in their order.
pub(super) fn project_symbols(workspace: &EditedProject, query: &str) -> Vec<WorkspaceSymbol> {
    let wanted: Vec<char> = query.to_lowercase().chars().filter(|c| !c.is_whitespace()).collect();
    let fits = |name: &str| {
        let mut left = wanted.iter().peekable();
        for c in name.to_lowercase().chars() {
            left.next_if_eq(&&c);
        }
        left.peek().is_none()
    };
    let mut files = workspace.files();
    // A person looks for their own names first.
    files.sort_by_key(|file| (file.bundled, file.area_path()));
    let mut found = Vec::new();
    for file in files {
        for one in file.names.definitions.iter().filter(|one| fits(&one.name.text)) {
            if found.len() >= MOST {
                return found;
            }
            let Some(location) = workspace.location(&file, one.span) else { continue };
            found.push(WorkspaceSymbol {
                location: WorkspaceSymbolLocation::Location(location),
                data: None,
                base_symbol_information: BaseSymbolInformation {
                    name: one.name.text.clone(),
                    kind: kind(one.name.kind),
                    tags: None,
                    container_name: Some(file.area_path()),
                },
            });
        }
    }
    found
}

/// What can be folded: blocks, maps and lists over several lines, comments, and runs of imports.
pub(super) fn folding(workspace: &EditedProject, uri: &Uri) -> Option<Vec<FoldingRange>> {
    let (file, text) = workspace.of_uri(uri)?;
    let mut found: Vec<(usize, usize, Option<FoldingRangeKind>)> = Vec::new();
    let lines_of = |span: Span| (text.lines.line(span.start), text.lines.line(span.end.saturating_sub(1).max(span.start)));
    match file.language {
        FileLanguage::Script => {
            let root = parse(&text.text);
            for node in root.descendants() {
                use SyntaxKind as S;
                if matches!(node.kind(), S::BLOCK | S::MAP | S::ARRAY | S::SWITCH_ARM_LIST | S::ARG_LIST) {
                    let (first, last) = lines_of(super::tree::span_of(&node));
                    found.push((first, last, None));
                }
            }
            let imports: Vec<Span> =
                super::tree::children(&root, SyntaxKind::IMPORT).map(|one| super::tree::span_of(&one)).collect();
            if let (Some(first), Some(last)) = (imports.first(), imports.last()) {
                found.push((lines_of(*first).0, lines_of(*last).1, Some(FoldingRangeKind::Imports)));
            }
            comments(&text.text, "//", &mut found);
        }
        FileLanguage::Template => {}
        _ => {
            if let Ok(tree) = yaml::parse(file.source()) {
                blocks(&tree, &lines_of, &mut found);
            }
            comments(&text.text, "#", &mut found);
        }
    }
    found.retain(|(first, last, _)| last > first);
    found.sort_by_key(|(first, last, _)| (*first, std::cmp::Reverse(*last)));
    found.dedup_by_key(|(first, ..)| *first);
    let range = |(first, last, kind): (usize, usize, Option<FoldingRangeKind>)| FoldingRange {
        start_line: small(first),
        end_line: small(last),
        kind,
        ..FoldingRange::default()
    };
    Some(found.into_iter().map(range).collect())
}

/// Runs of lines that are comments.
fn comments(text: &str, sign: &str, found: &mut Vec<(usize, usize, Option<FoldingRangeKind>)>) {
    let mut first: Option<usize> = None;
    for (at, line) in text.lines().chain([""]).enumerate() {
        match (line.trim_start().starts_with(sign), first) {
            (true, None) => first = Some(at),
            (false, Some(start)) => {
                found.push((start, at - 1, Some(FoldingRangeKind::Comment)));
                first = None;
            }
            _ => {}
        }
    }
}

/// The entries of maps and the items of lists, from their first line.
fn blocks(tree: &Yaml, lines_of: &dyn Fn(Span) -> (usize, usize), found: &mut Vec<(usize, usize, Option<FoldingRangeKind>)>) {
    match &tree.kind {
        YamlKind::Map(entries) => {
            for entry in entries {
                let end = lines_of(Span::new(entry.key.span.start, entry.value.span.end.max(entry.key.span.end)));
                found.push((end.0, end.1, None));
                blocks(&entry.value, lines_of, found);
            }
        }
        YamlKind::List(items) => {
            for item in items {
                let (first, last) = lines_of(item.span);
                found.push((first, last, None));
                blocks(item, lines_of, found);
            }
        }
        _ => {}
    }
}
