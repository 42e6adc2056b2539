//! Completion: fields by role and type, functions, names of every kind, known values, keys of YAML.

use super::documents::IndexedText;
use super::names::{Definition, NameKind};
use super::project_file::{FileLanguage, ProjectFile};
use super::script_names::{INPUTS, quoted};
use super::tree::{called, chain, text_of, token_at, token_before};
use super::types::{ScriptTypes, Typed};
use super::workspace::{DocumentPlace, EditedProject};
use super::yaml_context::{YamlContext, YamlStep, context, schemas_at};
use super::yaml_names::{EXPRESSIONS, is_by_defect, named_by};
use asterisk_base::model::Kind;
use asterisk_diag::{MappedText, Source, Span};
use asterisk_form::yaml::{self, Yaml, YamlKind};
use asterisk_script::api::{HostFn, registry, test_registry};
use asterisk_script::{BUILTIN_NAMES, is_test_file};
use asterisk_syntax::rhai::{KEYWORDS, SyntaxKind, SyntaxNode, SyntaxToken, parse, parse_expression};
use asterisk_walk::{documented_field, documented_group};
use gen_lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemTextEdit, CompletionList, CompletionParams, CompletionResponse,
    Documentation, InsertTextFormat, MarkupContent, MarkupKind, TextEdit,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// What can be typed at a place.
pub(super) fn completion(workspace: &EditedProject, params: &CompletionParams, snippets: bool) -> Option<CompletionResponse> {
    let place = workspace.place(&params.text_document_position_params)?;
    let mut offers = Offers { place: &place, snippets, items: Vec::new(), seen: BTreeSet::new() };
    match place.file.language {
        FileLanguage::Script => {
            let root = parse(&place.text.text);
            of_script(workspace, &place.file, &root, place.offset, &|span| span, &mut offers);
        }
        FileLanguage::Pipeline | FileLanguage::Data | FileLanguage::Settings => of_yaml(workspace, &place, &mut offers),
        FileLanguage::Template => of_template(workspace, &place, &mut offers),
    }
    Some(CompletionResponse::CompletionList(CompletionList {
        is_incomplete: false,
        items: offers.items,
        ..CompletionList::default()
    }))
}

/// What is offered.
struct Offers<'a> {
    place: &'a DocumentPlace,
    snippets: bool,
    items: Vec<CompletionItem>,
    seen: BTreeSet<String>,
}

/// An offer.
struct CompletionOffer<'a> {
    label: &'a str,
    kind: CompletionItemKind,
    detail: String,
    doc: String,
    /// What is inserted, if that is not the label. `$0` is where the cursor is put.
    insert: Option<String>,
    /// Offers of a smaller rank come first.
    rank: u8,
}

impl<'a> CompletionOffer<'a> {
    fn new(label: &'a str, kind: CompletionItemKind) -> Self {
        Self { label, kind, detail: String::new(), doc: String::new(), insert: None, rank: 5 }
    }

    fn of_definition(definition: &'a Definition, kind: CompletionItemKind) -> Self {
        let Definition { detail, doc, .. } = definition;
        Self { detail: detail.clone(), doc: doc.clone(), ..Self::new(&definition.name.text, kind) }
    }
}

impl Offers<'_> {
    fn add(&mut self, typed: Span, offer: CompletionOffer<'_>) {
        if !self.seen.insert(offer.label.to_owned()) {
            return;
        }
        let IndexedText { text, lines } = &self.place.text;
        let insert = offer.insert.unwrap_or_else(|| offer.label.to_owned());
        let snippet = insert.contains("$0") && self.snippets;
        let new_text = if snippet { insert } else { insert.replace("$0", "") };
        self.items.push(CompletionItem {
            label: offer.label.to_owned(),
            kind: Some(offer.kind),
            detail: Some(offer.detail).filter(|detail| !detail.is_empty()),
            documentation: Some(offer.doc).filter(|doc| !doc.is_empty()).map(markdown),
            sort_text: Some(format!("{}{}", offer.rank, offer.label)),
            filter_text: Some(offer.label.to_owned()),
            insert_text_format: snippet.then_some(InsertTextFormat::Snippet),
            text_edit: Some(CompletionItemTextEdit::TextEdit(TextEdit { range: lines.range(text, typed), new_text })),
            ..CompletionItem::default()
        });
    }
}

fn markdown(value: String) -> Documentation {
    Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value })
}

/// The name that is typed before a byte.
fn typed_name(text: &str, offset: usize) -> Span {
    let before = &text[..offset];
    let start = before
        .rfind(|c: char| !c.is_alphanumeric() && c != '_')
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    Span::new(start, offset)
}

/// Offers in a script or an expression; `locate` says where a span of the tree is in the file.
fn of_script(
    workspace: &EditedProject,
    file: &ProjectFile,
    root: &SyntaxNode,
    offset: usize,
    locate: &dyn Fn(Span) -> Span,
    offers: &mut Offers<'_>,
) {
    let text = root.text().to_string();
    let typed = typed_name(&text, offset);
    if let Some(inside) = token_at(root, offset.saturating_sub(1)) {
        let start: usize = inside.text_range().start().into();
        match inside.kind() {
            SyntaxKind::STRING if start < offset && !closed_before(&inside, offset) => {
                in_string(workspace, file, &inside, offset, locate, offers);
                return;
            }
            kind if start < offset && (kind.is_comment() || kind == SyntaxKind::TEMPLATE_TEXT) => return,
            _ => {}
        }
    }
    let before = token_before(root, typed.start);
    match before.as_ref().map(SyntaxToken::kind) {
        Some(SyntaxKind::DOT | SyntaxKind::QUESTION_DOT) => {
            let dot = before.unwrap_or_else(|| unreachable!("a dot"));
            if let Some(receiver) = dot.parent().and_then(|node| node.children().next()) {
                workspace.with_types(file, offers.place.offset, |types| members(types, &receiver, locate(typed), offers));
            }
        }
        Some(SyntaxKind::COLON2) => {
            let space = before.and_then(|colons| colons.prev_token()).map(|token| token.text().to_owned()).unwrap_or_default();
            namespace(workspace, file, &space, locate(typed), offers);
        }
        Some(SyntaxKind::LET_KW | SyntaxKind::CONST_KW | SyntaxKind::FN_KW | SyntaxKind::AS_KW) => {}
        _ => anything(workspace, file, root, typed, locate(typed), offers),
    }
}

/// Whether a string ends before a byte.
fn closed_before(token: &SyntaxToken, offset: usize) -> bool {
    let end: usize = token.text_range().end().into();
    end <= offset && token.text().len() > 1 && token.text().ends_with('"')
}

/// The methods of the language that are offered, by what they are of.
const LISTS: &[&str] = &[
    "any",
    "all",
    "contains",
    "dedup",
    "filter",
    "find",
    "find_map",
    "first",
    "for_each",
    "index_of",
    "is_empty",
    "last",
    "len",
    "map",
    "max",
    "min",
    "none",
    "pop",
    "push",
    "reduce",
    "reverse",
    "shift",
    "some",
    "sort_by",
    "sort_desc",
    "zip",
];
const TEXTS: &[&str] = &[
    "chars",
    "contains",
    "ends_with",
    "index_of",
    "is_empty",
    "len",
    "replace",
    "split",
    "starts_with",
    "sub_string",
    "to_lower",
    "to_upper",
    "trim",
];
const NUMBERS: &[&str] = &["abs", "ceiling", "floor", "round", "to_float", "to_int", "to_string"];
const MAPS: &[&str] = &["contains", "get", "is_empty", "keys", "len", "remove", "set", "values"];

/// The fields of a value, and the methods that it may have.
fn members(types: &ScriptTypes<'_>, receiver: &SyntaxNode, typed: Span, offers: &mut Offers<'_>) {
    let value = types.of(receiver);
    fields(&value, typed, offers);
    let (list, text, number) = match &value.kind {
        Kind::List(_) => (true, false, false),
        Kind::Text { .. } => (false, true, false),
        Kind::Int { .. } | Kind::Number { .. } => (false, false, true),
        Kind::Any => (true, true, true),
        _ => (false, false, false),
    };
    let first = |function: &HostFn| {
        let inside = function.signature.split_once('(').and_then(|(_, rest)| rest.split_once([',', ')']));
        inside.and_then(|(first, _)| first.split_once(':')).map(|(_, kind)| kind.trim().to_owned()).unwrap_or_default()
    };
    for function in registry() {
        let fits = match first(function).as_str() {
            "list" => list,
            "string" => text,
            "int" | "float" | "number" => number,
            "map" => matches!(value.kind, Kind::Object(_) | Kind::Map(_) | Kind::Any),
            _ => value.kind == Kind::Any,
        };
        if fits {
            offers.add(typed, of_host(function, 7, true));
        }
    }
    let map = matches!(value.kind, Kind::Object(_) | Kind::Map(_) | Kind::Any);
    let all = [(list, LISTS), (text, TEXTS), (number, NUMBERS), (map, MAPS)];
    for name in all.iter().filter(|(fits, _)| *fits).flat_map(|(_, names)| *names).filter(|name| BUILTIN_NAMES.contains(name)) {
        let insert = Some(format!("{name}($0)"));
        offers.add(
            typed,
            CompletionOffer {
                insert,
                rank: 8,
                detail: "built-in method".into(),
                ..CompletionOffer::new(name, CompletionItemKind::Method)
            },
        );
    }
}

fn fields(value: &Typed, typed: Span, offers: &mut Offers<'_>) {
    let Kind::Object(shape) = &value.kind else { return };
    for field in &shape.fields {
        let path = format!("{}.{}", value.path, field.name);
        let doc = documented_field(&path).map_or(String::new(), |field| field.doc.to_owned());
        let detail = if field.required { field.kind.name() } else { format!("{}, may be absent", field.kind.name()) };
        offers
            .add(typed, CompletionOffer { detail, doc, rank: 1, ..CompletionOffer::new(&field.name, CompletionItemKind::Field) });
    }
}

/// The functions and constants of a namespace.
fn namespace(workspace: &EditedProject, file: &ProjectFile, space: &str, typed: Span, offers: &mut Offers<'_>) {
    let constants = |file: &ProjectFile, offers: &mut Offers<'_>| {
        for constant in file.names.definitions.iter().filter(|one| one.name.kind == NameKind::Constant) {
            offers.add(
                typed,
                CompletionOffer { rank: 2, ..CompletionOffer::of_definition(constant, CompletionItemKind::Constant) },
            );
        }
    };
    if space == "global" {
        return constants(file, offers);
    }
    let Some(script) = file.names.imports.get(space).and_then(|path| workspace.script(path)) else { return };
    for function in script.names.definitions.iter().filter(|one| one.name.kind == NameKind::Function && !one.private) {
        offers.add(typed, of_function(function, 1));
    }
    constants(&script, offers);
}

fn of_function(function: &Definition, rank: u8) -> CompletionOffer<'_> {
    let insert =
        if function.parameters.is_empty() { format!("{}()", function.name.text) } else { format!("{}($0)", function.name.text) };
    CompletionOffer { insert: Some(insert), rank, ..CompletionOffer::of_definition(function, CompletionItemKind::Function) }
}

fn of_host(function: &'static HostFn, rank: u8, method: bool) -> CompletionOffer<'static> {
    let kind = if method { CompletionItemKind::Method } else { CompletionItemKind::Function };
    CompletionOffer {
        detail: function.signature.to_owned(),
        doc: host_doc(function),
        insert: Some(format!("{}($0)", function.name)),
        rank,
        ..CompletionOffer::new(function.name, kind)
    }
}

/// The documentation of a function of the host.
pub(super) fn host_doc(function: &HostFn) -> String {
    format!("{}\n\n```rhai\n{} // {}\n```", function.doc, function.example, function.result)
}

/// Variables, functions, namespaces and keywords.
fn anything(workspace: &EditedProject, file: &ProjectFile, root: &SyntaxNode, name: Span, typed: Span, offers: &mut Offers<'_>) {
    let here = token_before(root, name.start).and_then(|token| token.parent()).unwrap_or_else(|| root.clone());
    let end = super::tree::span(here.text_range()).end;
    // After a closed block, what is in it is not seen.
    let here = if end <= name.start && here.kind() == SyntaxKind::BLOCK { here.parent().unwrap_or(here) } else { here };
    let visible = workspace.with_types(file, offers.place.offset, |types| types.visible(&probe(root, &here, name.start)));
    for (variable, value) in &visible {
        let doc = documented_group(&value.path).map_or(String::new(), |group| group.doc.to_owned());
        let detail = if value.kind == Kind::Any { String::new() } else { value.kind.name() };
        offers
            .add(typed, CompletionOffer { detail, doc, rank: 1, ..CompletionOffer::new(variable, CompletionItemKind::Variable) });
    }
    for function in file.names.definitions.iter().filter(|one| one.name.kind == NameKind::Function) {
        offers.add(typed, of_function(function, 2));
    }
    for (alias, path) in &file.names.imports {
        let insert = Some(format!("{alias}::"));
        offers.add(
            typed,
            CompletionOffer { detail: path.clone(), insert, rank: 3, ..CompletionOffer::new(alias, CompletionItemKind::Module) },
        );
    }
    let tests: &[HostFn] = if is_test_file(&file.name) { test_registry() } else { &[] };
    for function in registry().iter().chain(tests) {
        offers.add(typed, of_host(function, 4, false));
    }
    for (keyword, _) in KEYWORDS {
        offers.add(typed, CompletionOffer { rank: 9, ..CompletionOffer::new(keyword, CompletionItemKind::Keyword) });
    }
}

/// The node from which the variables at a byte are looked for: the last statement that begins before it, or what holds it.
fn probe(root: &SyntaxNode, around: &SyntaxNode, offset: usize) -> SyntaxNode {
    let holds = |node: &SyntaxNode| {
        let span = super::tree::span(node.text_range());
        span.start <= offset && offset <= span.end
    };
    let block = around
        .ancestors()
        .find(|node| matches!(node.kind(), SyntaxKind::BLOCK | SyntaxKind::SCRIPT | SyntaxKind::EXPRESSION) && holds(node));
    let block = block.unwrap_or_else(|| root.clone());
    let after = block.children().find(|one| usize::from(one.text_range().end()) > offset);
    let last = after.or_else(|| block.children().last());
    match last {
        // Behind the last statement: what it binds is seen, which a node after it would see.
        Some(last) if usize::from(last.text_range().end()) <= offset => around.descendants().last().unwrap_or(last),
        Some(inner) => inner.descendants().filter(holds).last().unwrap_or(inner),
        None => block,
    }
}

/// Offers within a string, by what it is for.
fn in_string(
    workspace: &EditedProject,
    file: &ProjectFile,
    token: &SyntaxToken,
    offset: usize,
    locate: &dyn Fn(Span) -> Span,
    offers: &mut Offers<'_>,
) {
    let start = usize::from(token.text_range().start()) + 1;
    let typed = locate(Span::new(start.min(offset), offset));
    let Some(literal) = token.parent() else { return };
    let Some(around) = literal.parent() else { return };
    match around.kind() {
        SyntaxKind::IMPORT => {
            for script in workspace.files().iter().filter(|one| one.language == FileLanguage::Script && !is_test_file(&one.name))
            {
                let name = script.name.trim_end_matches(".rhai");
                offers.add(typed, CompletionOffer::new(name, CompletionItemKind::Module));
            }
        }
        SyntaxKind::ARG_LIST => {
            let call = around.parent();
            let name = call.as_ref().and_then(called).map(|(_, name)| text_of(&name)).unwrap_or_default();
            match name.as_str() {
                "decide" => names(workspace, &[NameKind::Node], typed, offers),
                "verdict" | "respond" | "effects" => functions(workspace, typed, offers),
                _ => {
                    let other = around.children().find(|one| *one != literal);
                    words(workspace, file, other.as_ref(), typed, offers);
                }
            }
        }
        SyntaxKind::BINARY => {
            let other = around.children().find(|one| *one != literal);
            words(workspace, file, other.as_ref(), typed, offers);
        }
        SyntaxKind::ARRAY => {
            // `kind in ["a", ..]`
            let other = around.parent().and_then(|binary| binary.children().find(|one| *one != around));
            words(workspace, file, other.as_ref(), typed, offers);
        }
        SyntaxKind::SWITCH_ARM => {
            let switch = around.ancestors().find(|one| one.kind() == SyntaxKind::SWITCH);
            let subject = switch.and_then(|switch| switch.children().next());
            words(workspace, file, subject.as_ref(), typed, offers);
        }
        _ => {}
    }
    if quoted(token).is_some_and(|(text, _)| text.contains(".rhai")) {
        functions(workspace, typed, offers);
    }
}

/// The texts that the other side of a comparison may have.
fn words(workspace: &EditedProject, file: &ProjectFile, other: Option<&SyntaxNode>, typed: Span, offers: &mut Offers<'_>) {
    let Some(other) = other else { return };
    if let Kind::Text { one_of } = workspace.with_types(file, offers.place.offset, |types| types.of(other)).kind {
        for word in one_of.iter().filter(|word| !word.is_empty()) {
            offers.add(typed, CompletionOffer { rank: 1, ..CompletionOffer::new(word, CompletionItemKind::EnumMember) });
        }
    }
    let field = chain(other).and_then(|chain| chain.path.rsplit('.').next().map(str::to_owned));
    match field.as_deref() {
        Some("edge") => names(workspace, &[NameKind::Edge], typed, offers),
        Some("to" | "node" | "from") => names(workspace, &[NameKind::Node], typed, offers),
        Some("defect" | "defect_type") => names(workspace, &[NameKind::Defect], typed, offers),
        Some("id" | "signature") => names(workspace, &[NameKind::Signature], typed, offers),
        _ => {}
    }
}

/// All names of some kinds.
fn names(workspace: &EditedProject, kinds: &[NameKind], typed: Span, offers: &mut Offers<'_>) {
    for kind in kinds {
        for one in workspace.known(*kind, None) {
            offers.add(typed, CompletionOffer { rank: 2, ..CompletionOffer::of_definition(&one, CompletionItemKind::Reference) });
        }
    }
}

/// All functions, as pipelines refer to them.
fn functions(workspace: &EditedProject, typed: Span, offers: &mut Offers<'_>) {
    for file in workspace.files().iter().filter(|one| one.language == FileLanguage::Script && !is_test_file(&one.name)) {
        for one in file.names.definitions.iter().filter(|one| one.name.kind == NameKind::Function && !one.private) {
            let label = format!("{}#{}", file.name, one.name.text);
            let rank = if file.bundled { 3 } else { 2 };
            let offer = CompletionOffer {
                detail: one.detail.clone(),
                doc: one.doc.clone(),
                rank,
                ..CompletionOffer::new(&label, CompletionItemKind::Function)
            };
            offers.add(typed, offer);
        }
    }
}

fn of_yaml(workspace: &EditedProject, place: &DocumentPlace, offers: &mut Offers<'_>) {
    let Some(at) = context(&place.text.text, place.offset) else { return };
    let is_expression =
        place.file.language == FileLanguage::Pipeline && !at.is_key && EXPRESSIONS.contains(&at.key().unwrap_or_default());
    if is_expression {
        // The text may end within quotes, so it is not valid YAML yet.
        let typed = &place.text.text[at.typed.start..at.typed.end];
        let root = parse_expression(typed).syntax();
        let moved = |span: Span| Span::new(span.start + at.typed.start, span.end + at.typed.start);
        of_script(workspace, &place.file, &root, typed.len(), &moved, offers);
    }
    let schema = workspace.schema(&place.file);
    let schemas: Vec<&Value> = schema.as_deref().map(|schema| schemas_at(schema, &at.path)).unwrap_or_default();
    if at.is_key {
        keys(&schemas, &at, offers);
    }
    values(workspace, place, &schemas, &at, offers);
}

/// The expression of a pipeline at a byte, and the byte of the expression there.
pub(super) fn expression_at(file: &ProjectFile, offset: usize) -> Option<(MappedText, usize)> {
    if file.language != FileLanguage::Pipeline {
        return None;
    }
    let tree = yaml::parse(file.source()).ok()?;
    let mapped = find_expression(&tree, file.source(), offset, None)?;
    let inside = (0..=mapped.text().len()).find(|at| mapped.locate(Span::new(*at, *at)).start >= offset)?;
    Some((mapped, inside))
}

fn find_expression(tree: &Yaml, source: &Source, offset: usize, key: Option<&str>) -> Option<MappedText> {
    if offset < tree.span.start || tree.span.end < offset {
        return None;
    }
    match &tree.kind {
        YamlKind::List(items) => items.iter().find_map(|item| find_expression(item, source, offset, key)),
        YamlKind::Map(entries) => {
            entries.iter().find_map(|entry| find_expression(&entry.value, source, offset, Some(&entry.key)))
        }
        YamlKind::Text(_) if key.is_some_and(|key| EXPRESSIONS.contains(&key)) => {
            yaml::expression(tree, source).filter(|mapped| !mapped.text().contains(".rhai#"))
        }
        _ => None,
    }
}

/// The keys of a map.
fn keys(schemas: &[&Value], at: &YamlContext, offers: &mut Offers<'_>) {
    for schema in schemas {
        let required = schema["required"].as_array();
        for (key, of) in schema["properties"].as_object().into_iter().flatten() {
            if at.present.contains(key) {
                continue;
            }
            let is_required = required.is_some_and(|all| all.iter().any(|one| one == key));
            let doc = of["description"].as_str().unwrap_or_default().to_owned();
            let detail = [kind_of_schema(of), if is_required { "required" } else { "" }];
            let detail = detail.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(", ");
            let offer = CompletionOffer {
                detail,
                doc,
                insert: Some(format!("{key}: $0")),
                rank: if is_required { 1 } else { 2 },
                ..CompletionOffer::new(key, CompletionItemKind::Property)
            };
            offers.add(at.typed, offer);
        }
    }
}

fn kind_of_schema(schema: &Value) -> &str {
    schema["type"].as_str().unwrap_or_default()
}

/// The values of a key: by its schema, and by what it names.
fn values(workspace: &EditedProject, place: &DocumentPlace, schemas: &[&Value], at: &YamlContext, offers: &mut Offers<'_>) {
    for schema in schemas.iter().filter(|_| !at.is_key) {
        let listed = schema["enum"].as_array().into_iter().flatten().chain(schema.get("const"));
        for value in listed.filter_map(Value::as_str) {
            offers.add(at.typed, CompletionOffer { rank: 1, ..CompletionOffer::new(value, CompletionItemKind::EnumMember) });
        }
        if schema["type"] == "boolean" {
            for value in ["true", "false"] {
                offers.add(at.typed, CompletionOffer { rank: 1, ..CompletionOffer::new(value, CompletionItemKind::Value) });
            }
        }
    }
    let in_list = at.path.last() == Some(&YamlStep::Item);
    if at.is_key && !in_list {
        if at.key().is_some_and(is_by_defect) {
            names(workspace, &[NameKind::Defect], at.typed, offers);
        }
        return;
    }
    let own = |kind: NameKind, offers: &mut Offers<'_>| {
        for one in workspace.known(kind, Some(&place.file.name)) {
            offers.add(
                at.typed,
                CompletionOffer { rank: 1, ..CompletionOffer::of_definition(&one, CompletionItemKind::Reference) },
            );
        }
    };
    let key = at.key().unwrap_or_default();
    match named_by(key) {
        Some(kind @ (NameKind::Node | NameKind::Var)) => own(kind, offers),
        Some(NameKind::Function) => functions(workspace, at.typed, offers),
        Some(NameKind::Template) => files(workspace, FileLanguage::Template, at.typed, offers),
        Some(NameKind::Script) => files(workspace, FileLanguage::Script, at.typed, offers),
        Some(kind) => names(workspace, &[kind], at.typed, offers),
        None if key == "needs" => {
            for need in asterisk_walk::NEEDS {
                let offer = CompletionOffer::new(need.name, CompletionItemKind::Value);
                offers.add(at.typed, CompletionOffer { doc: need.doc.to_owned(), rank: 1, ..offer });
            }
        }
        None => {}
    }
}

fn files(workspace: &EditedProject, language: FileLanguage, typed: Span, offers: &mut Offers<'_>) {
    for file in workspace.files().iter().filter(|one| one.language == language) {
        offers.add(typed, CompletionOffer::new(&file.name, CompletionItemKind::File));
    }
}

/// Parameters in a template's tags.
fn of_template(workspace: &EditedProject, place: &DocumentPlace, offers: &mut Offers<'_>) {
    let text = &place.text.text;
    let tag = super::template_names::tags(text).into_iter().find(|tag| tag.start <= place.offset && place.offset <= tag.end);
    let Some(tag) = tag else { return };
    let before = &text[tag.start..place.offset];
    let path = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').next().unwrap_or_default();
    let typed = typed_name(text, place.offset);
    if before.contains(['"', '\'']) && before.trim_start().starts_with("include") {
        return files(workspace, FileLanguage::Template, typed, offers);
    }
    let roles = workspace.analysis.iter().flat_map(|analysis| &analysis.roles);
    let params = roles.flat_map(|role| &role.inputs).find(|(input, _)| *input == "params");
    let Some((_, kind)) = params else { return };
    let mut value = Typed { kind: kind.clone(), path: "params".into() };
    if let Some((whole, _)) = path.rsplit_once('.') {
        for part in whole.split('.') {
            value = value.field(part);
        }
    }
    fields(&value, typed, offers);
    if !path.contains('.') {
        for keyword in ["for", "if", "include", "endfor", "endif", "else", "set"] {
            offers.add(typed, CompletionOffer { rank: 9, ..CompletionOffer::new(keyword, CompletionItemKind::Keyword) });
        }
    }
}

/// Whether a name is that of an input of functions.
pub(super) fn is_input(name: &str) -> bool {
    INPUTS.contains(&name)
}
