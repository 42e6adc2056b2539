//! `correctness/unknown-reference`: references to undefined names.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::{Diagnostic, Source, did_you_mean, misspelt, nearest};
use asterisk_files::Area;
use asterisk_form::Spanned;
use asterisk_form::yaml::{Yaml, YamlKind};
use asterisk_script::FunctionRef;
use std::collections::BTreeSet;

/// Linking checks the references in pipelines, scripts and templates; this rule checks those in data files, and names that only
/// have to exist somewhere.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/unknown-reference",
    level: LintLevel::Error,
    summary: "an unknown file, node, template or query",
    manual: include_str!("../../manual/correctness/unknown-reference.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    let nodes: BTreeSet<&str> =
        cx.pipelines.iter().flat_map(|pipe| pipe.pipeline.nodes.iter().map(|node| node.name.as_str())).collect();
    let pipelines: BTreeSet<&str> = cx.pipelines.iter().map(|pipe| pipe.pipeline.name.as_str()).collect();
    // The nodes of a pipeline that does not parse are unknown.
    let all_read = cx.texts.iter().filter(|text| text.area == Area::Pipelines).count() == cx.pipelines.len();
    for (source, yaml) in cx.data {
        functions(cx, source, yaml, report);
        let name = source.name();
        if all_read && name == "personas.yaml" {
            let personas = yaml.get("personas").and_then(Yaml::as_list).unwrap_or_default();
            let affinities = personas.iter().filter_map(|persona| persona.get("affinities")?.as_map()).flatten();
            // Personas may be for pipelines of other projects, too.
            for entry in affinities.filter(|entry| !nodes.contains(&**entry.key)) {
                let Some(near) = misspelt(&entry.key, nodes.iter().copied()) else { continue };
                let found = Diagnostic::error(RULE.id, format!("no pipeline has a node `{}`", *entry.key));
                report.push(found.label(source, entry.key.span, "unknown").help(format!("did you mean `{near}`?")));
            }
        }
        if all_read
            && name == "learned.yaml"
            && let Some(named) = yaml.get("pipeline").and_then(Yaml::text)
            && !pipelines.contains(&**named)
        {
            unknown(source, &named, "unknown pipeline", &pipelines, report);
        }
    }
    families(cx, report);
}

fn unknown(source: &Source, word: &Spanned<String>, what: &str, known: &BTreeSet<&str>, report: &mut FindingCollector) {
    let found = Diagnostic::error(RULE.id, format!("{what} `{}`", **word)).label(source, word.span, "unknown");
    report.push(found.maybe_help(did_you_mean(word, known.iter().copied())));
}

/// Functions of scripts that a data file names.
fn functions(cx: &LintContext<'_>, source: &Source, yaml: &Yaml, report: &mut FindingCollector) {
    match &yaml.kind {
        YamlKind::List(items) => items.iter().for_each(|item| functions(cx, source, item, report)),
        YamlKind::Map(entries) => entries.iter().for_each(|entry| functions(cx, source, &entry.value, report)),
        _ => {
            let Some(text) = yaml.as_text().filter(|text| text.contains(".rhai#") && !text.contains(' ')) else { return };
            let Ok(named) = FunctionRef::parse(text) else { return };
            let (message, help) = match cx.library.file(&named.file) {
                None if cx.units.iter().any(|unit| unit.name() == named.file) => return,
                None => {
                    let files = cx.library.files().map(|file| file.source().name());
                    (format!("the script of `{text}` does not exist"), did_you_mean(&named.file, files))
                }
                Some(file) if file.functions().any(|function| *function.name == *named.function) => return,
                Some(file) => {
                    let known = nearest(&named.function, file.functions().map(|function| &*function.name));
                    let help = known.map(|known| format!("did you mean `{}#{known}`?", named.file));
                    (format!("unknown function `{text}`"), help)
                }
            };
            let found = Diagnostic::error(RULE.id, message).label(source, yaml.span, "unknown");
            report.push(found.maybe_help(help));
        }
    }
}

/// Reports families with neither a script nor a template whose names resemble one that has them.
fn families(cx: &LintContext<'_>, report: &mut FindingCollector) {
    let stem = |path: &str, dir: &str, ending: &str| {
        path.strip_prefix(dir).and_then(|name| name.strip_suffix(ending)).filter(|name| !name.contains('/')).map(str::to_owned)
    };
    let scripts = cx.units.iter().filter_map(|unit| stem(unit.name(), "agents/", ".rhai"));
    let known: BTreeSet<String> = scripts.chain(cx.templates.paths().filter_map(|path| stem(path, "", ".md"))).collect();
    for pipe in &cx.pipelines {
        for node in pipe.pipeline.nodes.iter().filter(|node| !known.contains(&**node.family)) {
            let Some(near) = misspelt(&node.family, known.iter().map(String::as_str)) else { continue };
            let message = format!("the family `{}` has neither a script `agents/{0}.rhai` nor a template", *node.family);
            let found = Diagnostic::warning(RULE.id, message).label(&pipe.pipeline.source, node.family.span, "unknown");
            report.push(found.help(format!("did you mean `{near}`?")));
        }
    }
}
