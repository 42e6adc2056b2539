//! Links masks: scripts `masks/NAME.rhai`, each with the nodes it is for.

use super::linked_pipeline::ProjectLinker;
use asterisk_diag::{Diagnostic, Diagnostics, Label, Source, Span, did_you_mean, nearest};
use asterisk_pipeline::{PipelineNode, Spanned};
use asterisk_script::{FunctionRef, LinkedScript};
use asterisk_walk::{Mask, NEEDS, Query};
use serde_json::Value;
use std::sync::Arc;

/// The masks of a node: those that it lists, then the additional ones that are for it.
pub(super) fn of_node(linker: &ProjectLinker<'_>, node: &PipelineNode, found: &mut Diagnostics) -> Vec<Arc<Mask>> {
    let source = &linker.pipeline.source;
    let mut masks = Vec::with_capacity(node.masks.len());
    for reference in &node.masks {
        let label = Label::new(source, reference.span, "listed here");
        let Some(mask) = link(linker, reference, Some(&label), found) else { continue };
        if mask.fits(&node.name) {
            masks.push(Arc::new(mask));
            continue;
        }
        let message = format!("the mask `{}` is not for the node `{}`", **reference, *node.name);
        let mut error = Diagnostic::error("project/mask-node", message).label(source, reference.span, "listed here");
        if let Some((script, span)) = constant(linker, reference, "NODES") {
            error = error.label(&script, span, "the nodes it is for");
        }
        let names: Vec<&str> = mask.nodes.iter().map(String::as_str).collect();
        found.push(error.help(format!(
            "it is for {}; add `{}` to its `NODES` if that is intended",
            names.join(", "),
            *node.name
        )));
    }
    if node.subpipeline.is_none() {
        for path in linker.masks {
            let Some(mask) = link(linker, path, None, found).filter(|mask| mask.fits(&node.name)) else { continue };
            if !masks.iter().any(|known: &Arc<Mask>| known.path == mask.path) {
                masks.push(Arc::new(mask));
            }
        }
    }
    masks
}

/// Links a mask of a walker.
pub(super) fn of_persona(
    linker: &ProjectLinker<'_>,
    path: &str,
    walker: &Spanned<String>,
    found: &mut Diagnostics,
) -> Option<Arc<Mask>> {
    let text = format!("added by `{}`", **walker);
    let label = Label::new(&linker.pipeline.source, walker.span, text);
    link(linker, path, Some(&label), found).map(Arc::new)
}

/// Reports additional masks that are for no node of any pipeline of the project.
pub(super) fn report_unused<'n>(masks: &[String], linked: impl Iterator<Item = &'n Arc<Mask>>, found: &mut Diagnostics) {
    let on: Vec<&str> = linked.map(|mask| &*mask.path).collect();
    // One that does not link has been reported already.
    if found.has_errors() {
        return;
    }
    for path in masks.iter().filter(|path| !on.contains(&path.as_str())) {
        let message = format!("the mask `{path}` applies to no node of this pipeline");
        let error = Diagnostic::error("project/mask-node", message);
        found.push(error.help("declare its nodes: `const NODES = [\"recall\"];`"));
    }
}

fn link(linker: &ProjectLinker<'_>, path: &str, label: Option<&Label>, found: &mut Diagnostics) -> Option<Mask> {
    let mut fault = |mut error: Diagnostic| {
        error.labels.splice(..0, label.cloned());
        if !found.iter().any(|known| *known == error) {
            found.push(error);
        }
    };
    let Some(file) = linker.library.file(path) else {
        let masks = linker.library.paths().filter(|path| path.starts_with("masks/"));
        let hint = did_you_mean(path, masks);
        fault(Diagnostic::error("project/unknown-mask", format!("unknown mask `{path}`")).maybe_help(hint));
        return None;
    };
    let function =
        |name: &str, arity: usize| linker.library.function(&FunctionRef { file: path.into(), function: name.into() }, arity).ok();
    let (pre, post) = (function("pre", 1), function("post", 2));
    let head = || Span::new(0, file.source().text().lines().next().map_or(0, str::len));
    if pre.is_none() && post.is_none() {
        let error = Diagnostic::error("project/no-mask", format!("`{path}` is not a mask: it defines neither `pre` nor `post`"));
        let near = |function: &&str| nearest(function, ["pre", "post"]);
        let named = file.functions().map(|function| &*function.name).find(|name| near(name).is_some());
        let hint = named.and_then(|name| Some(format!("did you mean `fn {}` instead of `fn {name}`?", near(&name)?)));
        let at = named.and_then(|name| place(file, &format!("fn {name}"))).unwrap_or_else(head);
        let error = error.label(file.source(), at, "").help(hint.unwrap_or_else(|| {
            "write `fn pre(ctx)`, which returns the context, or `fn post(ctx, artifact)`, which returns the artifact".to_owned()
        }));
        if !found.iter().any(|known| *known == error) {
            found.push(error);
        }
        return None;
    }
    let nodes = linker.library.constant(path, "NODES").as_ref().and_then(texts).filter(|nodes| !nodes.is_empty());
    let Some(nodes) = nodes else {
        let at = place(file, "const NODES").unwrap_or_else(head);
        let error = Diagnostic::error("project/no-mask", format!("the mask `{path}` does not declare its nodes"));
        fault(error.label(file.source(), at, "").help("write a list of names: `const NODES = [\"recall\"];`"));
        return None;
    };
    let needs = needs(linker, path, None, found);
    Some(Mask { path: path.into(), pre, post, nodes, needs })
}

/// The queries that a script declares: `const NEEDS = [".."];`.
pub(super) fn needs(
    linker: &ProjectLinker<'_>,
    path: &str,
    reference: Option<Span>,
    found: &mut Diagnostics,
) -> Vec<&'static Query> {
    let Some(file) = linker.library.file(path) else { return Vec::new() };
    let Some(declared) = linker.library.constant(path, "NEEDS") else { return Vec::new() };
    let at = place(file, "const NEEDS").unwrap_or(Span::new(0, 0));
    let mut fault = |error: Diagnostic| {
        let mut error = error.label(file.source(), at, "declared here");
        if let Some(span) = reference {
            error = error.label(&linker.pipeline.source, span, "referred to here");
        }
        if !found.iter().any(|known| *known == error) {
            found.push(error);
        }
    };
    let Some(names) = texts(&declared) else {
        fault(
            Diagnostic::error("project/unknown-need", format!("`NEEDS` of `{path}` is not a list of names"))
                .help("write `const NEEDS = [\"siblings\"];`"),
        );
        return Vec::new();
    };
    let known = |name: &String| {
        let need = NEEDS.iter().find(|need| need.name == name);
        if need.is_none() {
            let hint = did_you_mean(name, NEEDS.iter().map(|need| need.name));
            fault(Diagnostic::error("project/unknown-need", format!("unknown query `{name}`")).maybe_help(hint));
        }
        need
    };
    names.iter().filter_map(known).collect()
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

/// The location of a constant in a script.
fn constant(linker: &ProjectLinker<'_>, path: &str, name: &str) -> Option<(Source, Span)> {
    let file = linker.library.file(path)?;
    Some((file.source().clone(), place(file, &format!("const {name}"))?))
}

fn place(file: &LinkedScript, words: &str) -> Option<Span> {
    let text = file.source().text();
    let at = text.find(words)?;
    let end = text[at..].find(['\n', ';', '(']).map_or(text.len(), |end| at + end);
    Some(Span::new(at, end))
}
