//! Hover: documentation, types, and what the record says.

use super::completion::{expression_at, host_doc};
use super::names::{MentionRole, NameKind, ProjectName};
use super::project_file::FileLanguage;
use super::recorded::RecordedUse;
use super::tree::{chain, child, span_of, text_of, token_at};
use super::types::Typed;
use super::workspace::{DocumentPlace, EditedProject};
use super::yaml_context::{context, schemas_at};
use asterisk_base::model::Kind;
use asterisk_diag::Span;
use asterisk_script::api::{registry, test_registry};
use asterisk_syntax::rhai::{SyntaxKind, SyntaxNode, parse, parse_expression};
use asterisk_walk::{documented_field, documented_group};
use gen_lsp_types::{Contents, Hover, MarkupContent, MarkupKind, TextDocumentPositionParams};
use std::fmt::Write as _;

/// The hover text for a position.
pub(super) fn hover(workspace: &EditedProject, at: &TextDocumentPositionParams) -> Option<Hover> {
    let place = workspace.place(at)?;
    let (text, span) = described(workspace, &place)?;
    let contents = Contents::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value: text });
    Some(Hover { contents, range: Some(place.text.lines.range(&place.text.text, span)) })
}

fn described(workspace: &EditedProject, place: &DocumentPlace) -> Option<(String, Span)> {
    let mention = place.mention();
    if let Some(mention) = &mention
        && let Some(text) = named(workspace, &mention.name, mention.role)
    {
        return Some((text, mention.span));
    }
    match place.file.language {
        FileLanguage::Script => value(workspace, place, &parse(&place.text.text), place.offset, &|span| span),
        FileLanguage::Template => mention.and_then(|mention| Some((field(&mention.name.text)?, mention.span))),
        _ => {
            if let Some((mapped, offset)) = expression_at(&place.file, place.offset) {
                let root = parse_expression(mapped.text()).syntax();
                return value(workspace, place, &root, offset, &|span| mapped.locate(span));
            }
            key(workspace, place)
        }
    }
}

/// The description of a name.
fn named(workspace: &EditedProject, name: &ProjectName, role: MentionRole) -> Option<String> {
    if name.kind == NameKind::Host {
        let function = registry().iter().chain(test_registry()).find(|function| function.name == name.text)?;
        return Some(format!("```rhai\n{}\n```\n\n{}", function.signature, host_doc(function)));
    }
    if let [file, ..] = &workspace.files_of(name)[..] {
        let head: Vec<&str> = file
            .text()
            .lines()
            .take_while(|line| line.starts_with("//!") || line.starts_with('#'))
            .map(|line| line.trim_start_matches(['/', '!', '#']).trim())
            .collect();
        let origin = if file.bundled { " (bundled)" } else { "" };
        return Some(format!("`{}`{origin}\n\n{}", file.area_path(), head.join("\n")));
    }
    let definitions = workspace.definitions(name);
    let (file, definition) = definitions.first()?;
    let language = if file.language == FileLanguage::Script { "rhai" } else { "yaml" };
    let mut text = format!("```{language}\n{}\n```\n", definition.detail);
    // The text of a var contains its documentation.
    if !definition.doc.is_empty() && !definition.detail.contains(&definition.doc) {
        let _ = write!(text, "\n{}\n", definition.doc);
    }
    if name.kind == NameKind::Function {
        let inputs = workspace.analysis.iter().flat_map(|analysis| &analysis.roles);
        let uses: Vec<String> = inputs
            .filter(|role| role.file == definition.name.scope && role.function == definition.name.text)
            .filter_map(|role| place_of(workspace, role))
            .collect();
        if !uses.is_empty() {
            let _ = write!(text, "\nUsed as {}.\n", uses.join(", "));
        }
    }
    if let Some(record) = record(&workspace.recorded, &definition.name, workspace) {
        let _ = write!(text, "\n{record}\n");
    }
    if definitions.len() > 1 && role == MentionRole::Reference {
        let others: Vec<String> = definitions[1..].iter().map(|(file, _)| format!("`{}`", file.area_path())).collect();
        let _ = write!(text, "\nAlso defined in {}.\n", others.join(", "));
    }
    Some(text)
}

/// How a pipeline uses a function, in a few words.
pub(super) fn place_of(workspace: &EditedProject, role: &asterisk_lint::FunctionRole) -> Option<String> {
    use asterisk_project::FunctionUse as U;
    let pipeline = workspace.analysis.as_ref()?.pipelines.iter().find(|one| one.source.name() == role.pipeline)?;
    let node = |at: asterisk_pipeline::NodeIx| pipeline.nodes.get(at.0).map(|node| node.name.value.clone());
    Some(match role.place {
        U::Edge(at) => format!("the rule of edge `{}`", pipeline.edges.get(at.0)?.id.value),
        U::Responder(at) => format!("the responder of node `{}`", node(at)?),
        U::Accept(at) => format!("the check of answers of node `{}`", node(at)?),
        U::Effect(at) => format!("the effect of node `{}`", node(at)?),
        U::Items(at) | U::Merge(at) | U::Arguments(at) => format!("a part of node `{}`", node(at)?),
        U::VerdictRule(at) => format!("verdict rule `{}`", pipeline.verdict.as_ref()?.rules.get(at)?.id.value),
        U::RootRule(at) => format!("root rule `{}`", pipeline.roots.get(at)?.id.value),
        U::SignatureStrength => "the strength of signatures".to_owned(),
        U::Cluster => "the key of clusters".to_owned(),
        U::Summary => "the summary of a case".to_owned(),
        U::SubpipelineResult => "the result of the pipeline".to_owned(),
        U::Scheduler => "the scheduler of the team".to_owned(),
    })
}

/// The ids of edges and rules whose function a name is, or that it names itself.
pub(super) fn ids(workspace: &EditedProject, name: &ProjectName) -> Vec<String> {
    match name.kind {
        NameKind::Edge | NameKind::Rule | NameKind::Signature => vec![name.text.clone()],
        NameKind::Function => {
            let reference = format!("{}#{}", name.scope, name.text);
            let pipelines = workspace.analysis.iter().flat_map(|analysis| &analysis.pipelines);
            let ids = pipelines.flat_map(|pipeline| {
                let edges = pipeline.edges.iter().filter_map(|edge| match &edge.when {
                    asterisk_pipeline::EdgeCondition::Rule(rule) if rule.value == reference => Some(edge.id.value.clone()),
                    _ => None,
                });
                let verdict = pipeline.verdict.iter().flat_map(|verdict| &verdict.rules);
                let verdict = verdict.filter(|rule| rule.rule.value == reference).map(|rule| rule.id.value.clone());
                let roots = pipeline.roots.iter().filter(|rule| rule.rule.value == reference).map(|rule| rule.id.value.clone());
                edges.chain(verdict).chain(roots).collect::<Vec<_>>()
            });
            let mut ids: Vec<String> = ids.collect();
            ids.sort();
            ids.dedup();
            ids
        }
        _ => Vec::new(),
    }
}

/// How often what a name decides was asked and fired, and what the chosen case made of it.
pub(super) fn record(recorded: &RecordedUse, name: &ProjectName, workspace: &EditedProject) -> Option<String> {
    let mut lines = Vec::new();
    if let Some(hits) =
        recorded.signatures.as_ref().and_then(|all| all.get(&name.text)).filter(|_| name.kind == NameKind::Signature)
    {
        let lines_of =
            hits.latest.iter().map(|sighting| format!("- case {}: `{}`", sighting.case, sighting.text.replace('`', "'")));
        let what = if hits.cases == 1 { "failure" } else { "failures" };
        lines.push(format!("Matched in {} {what}:\n\n{}", hits.cases, lines_of.collect::<Vec<_>>().join("\n")));
    }
    for id in ids(workspace, name) {
        lines.extend(counted(recorded, &id).map(|counted| format!("`{id}` {counted}")));
        if let Some(case) = &recorded.case
            && let Some(decided) = case.rules.get(&id)
        {
            let because = decided.because.as_ref().map_or(String::new(), |because| format!(": {because}"));
            lines.push(format!("In case {}, `{id}`: {}{because}", case.case, decided.outcome));
        }
        if let Some(replayed) = &recorded.replayed
            && let Some(near) = replayed.flips.iter().find(|flip| flip.from == id).and_then(|flip| flip.miss.as_ref())
        {
            lines.push(format!("After your edits, `{id}` no longer fires: {near}"));
        }
    }
    if lines.is_empty() { None } else { Some(lines.join("\n\n")) }
}

/// How often an edge, a rule or a signature was asked and fired, in the latest runs.
pub(super) fn counted(recorded: &RecordedUse, id: &str) -> Option<String> {
    let history = recorded.history.as_ref()?;
    if let Some(edge) = history.pipelines.iter().flat_map(|pipeline| &pipeline.edges).find(|edge| edge.edge == id) {
        let shadowed = if edge.shadowed > 0 { format!(", shadowed {} times", edge.shadowed) } else { String::new() };
        let failed = if edge.error > 0 { format!(", failed {} times", edge.error) } else { String::new() };
        return Some(format!("fired {} of {}{shadowed}{failed}", edge.fired, edge.decisions));
    }
    if let Some(rule) = history.verdict_rules.iter().find(|rule| rule.id == id) {
        let decisive = if rule.decisive > 0 { format!(", decisive in {}", rule.decisive) } else { String::new() };
        let failed = if rule.failed > 0 { format!(", failed {} times", rule.failed) } else { String::new() };
        return Some(format!("matched {} of {}{decisive}{failed}", rule.spoke, history.verdicts));
    }
    let rule = history.root_rules.iter().find(|rule| rule.id == id)?;
    Some(format!("decided {} of {}, {} different keys", rule.decided, history.roots, rule.keys))
}

/// The type and documentation of a value in a script.
fn value(
    workspace: &EditedProject,
    place: &DocumentPlace,
    root: &SyntaxNode,
    offset: usize,
    locate: &dyn Fn(Span) -> Span,
) -> Option<(String, Span)> {
    let token = token_at(root, offset)?;
    if token.kind() != SyntaxKind::IDENT {
        return None;
    }
    let node = token.parent()?;
    let holder = node.parent()?;
    let (typed, label) = match (node.kind(), holder.kind()) {
        (SyntaxKind::NAME_REF, SyntaxKind::FIELD) if holder.children().next().as_ref() != Some(&node) => {
            let label = chain(&holder).map_or_else(|| text_of(&node), |chain| format!("{}.{}", chain.root, chain.path));
            (workspace.with_types(&place.file, place.offset, |types| types.of(&holder)), label)
        }
        (SyntaxKind::NAME_REF, SyntaxKind::CALL | SyntaxKind::METHOD_CALL | SyntaxKind::PATH)
            if holder.kind() != SyntaxKind::METHOD_CALL || holder.children().next().as_ref() != Some(&node) =>
        {
            return None;
        }
        (SyntaxKind::NAME_REF, _) => (workspace.with_types(&place.file, place.offset, |types| types.of(&node)), text_of(&node)),
        (SyntaxKind::NAME, SyntaxKind::LET | SyntaxKind::CONST) => {
            let value = holder.children().filter(|one| one.kind() != SyntaxKind::NAME).last()?;
            (workspace.with_types(&place.file, place.offset, |types| types.of(&value)), text_of(&node))
        }
        (SyntaxKind::NAME, SyntaxKind::PARAM | SyntaxKind::FOR) => {
            // As the first node that sees it does.
            let name = text_of(&node);
            let around =
                holder.ancestors().find(|one| matches!(one.kind(), SyntaxKind::FN | SyntaxKind::CLOSURE | SyntaxKind::FOR))?;
            let body = child(&around, SyntaxKind::BLOCK).or_else(|| around.children().last())?;
            let within = body.children().next().unwrap_or_else(|| body.clone());
            let visible = workspace.with_types(&place.file, place.offset, |types| types.visible(&within));
            (visible.into_iter().find(|(visible, _)| *visible == name)?.1, name)
        }
        _ => return None,
    };
    Some((of_value(&label, &typed), locate(span_of(&node))))
}

fn of_value(label: &str, typed: &Typed) -> String {
    let kind = match &typed.kind {
        Kind::Any => "any".to_owned(),
        Kind::Text { one_of } if !one_of.is_empty() && one_of.len() <= 20 => {
            one_of.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" or ")
        }
        kind => kind.name(),
    };
    let mut text = format!("```rhai\n{label}: {kind}\n```\n");
    if let Some(doc) = documentation(&typed.path) {
        let _ = write!(text, "\n{doc}\n");
    }
    if let Kind::Object(shape) = &typed.kind {
        text.push('\n');
        for field in shape.fields.iter().take(40) {
            let doc = documented_field(&format!("{}.{}", typed.path, field.name))
                .map_or(String::new(), |field| format!(": {}", field.doc));
            let _ = writeln!(text, "- `{}` {}{doc}", field.name, field.kind.name());
        }
    }
    text
}

fn documentation(path: &str) -> Option<&'static str> {
    documented_field(path).map(|field| field.doc).or_else(|| documented_group(path).map(|group| group.doc))
}

/// A documented field by its path.
fn field(path: &str) -> Option<String> {
    let doc = documentation(path)?;
    Some(format!("`{path}`\n\n{doc}"))
}

/// The documentation of the key at a place of a YAML file.
fn key(workspace: &EditedProject, place: &DocumentPlace) -> Option<(String, Span)> {
    let text = &place.text.text;
    let line = place.text.lines.line_span(text, place.text.lines.line(place.offset));
    let rest = &text[place.offset..line.end];
    let end = place.offset + rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').unwrap_or(rest.len());
    let at = context(text, end)?;
    if !at.is_key || at.typed.is_empty() || !text[end..line.end].trim_start().starts_with(':') {
        return None;
    }
    let name = &text[at.typed.start..at.typed.end];
    let schema = workspace.schema(&place.file)?;
    let found = schemas_at(&schema, &at.path).into_iter().find_map(|schema| schema["properties"].get(name))?;
    let doc = found["description"].as_str().unwrap_or_default();
    let default = found.get("default").map_or(String::new(), |default| format!("\n\nDefault: `{default}`"));
    Some((format!("`{name}`\n\n{doc}{default}"), at.typed))
}
