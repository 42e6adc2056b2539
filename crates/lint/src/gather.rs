//! Links everything that links: an error in one text does not prevent the analysis of others.

use super::input::LintInput;
use asterisk_diag::{Diagnostic, Diagnostics, Source, Span};
use asterisk_files::Area;
use asterisk_form::yaml;
use asterisk_pipeline::{self as pipeline, Pipeline};
use asterisk_project::{self as project, fields};
use asterisk_prompt::Templates;
pub(super) use asterisk_script::is_test_file as is_test;
use asterisk_script::{Condition, FunctionRef, Library, LibraryInputs, LinkedScript, Unit};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of rounds of removing texts that do not link.
const ROUNDS: usize = 32;

/// The texts by kind, as far as they link.
pub(super) struct LinkedTexts {
    /// The scripts that link, and the conditions of all pipelines, under keys of [`project::condition_key`].
    pub(super) library: Library,
    /// Tests, and the scripts that parse but do not link.
    pub(super) loose: Vec<Unit>,
    /// The pipelines that parse.
    pub(super) pipelines: Vec<Pipeline>,
    /// The policy files next to them.
    pub(super) policies: Vec<Source>,
    /// The templates that compile.
    pub(super) templates: Vec<Source>,
    /// The data files.
    pub(super) data: Vec<Source>,
    /// The errors.
    pub(super) found: Vec<Diagnostic>,
    /// The names of the texts left out.
    pub(super) left_out: BTreeSet<String>,
}

/// Links what links; unchanged scripts are taken from the library `before`.
pub(super) fn gather(input: &LintInput<'_>, before: Option<&Library>) -> LinkedTexts {
    let mut found = Vec::new();
    let of = |area: Area| input.texts.iter().filter(move |text| text.area == area).map(|text| &text.source);
    let scripts: Vec<Source> = of(Area::Scripts).filter(|source| source.name().ends_with(".rhai")).cloned().collect();
    let below = |source: &Source| match source.name().strip_prefix("data/") {
        Some(name) => Source::new(name, source.text()),
        None => source.clone(),
    };
    let data: Vec<Source> = of(Area::Scripts).filter(|source| !source.name().ends_with(".rhai")).map(below).collect();
    let mut pipelines = Vec::new();
    let (policies, sources): (Vec<&Source>, Vec<&Source>) =
        of(Area::Pipelines).partition(|source| pipeline::is_policy_file(source));
    for source in &policies {
        match yaml::parse(source) {
            Ok(tree) => found.extend(pipeline::read_policy(source, &tree, "pipelines", false).1),
            Err(problems) => found.extend(problems),
        }
    }
    let policies: Vec<Source> = policies.into_iter().cloned().collect();
    for source in sources {
        match pipeline::parse(source) {
            Ok(pipeline) => pipelines.push(pipeline),
            Err(problems) => found.extend(problems),
        }
    }
    let mut left_out = BTreeSet::new();
    let templates = templates(of(Area::Templates).cloned().collect(), &mut left_out, &mut found);
    let (tests, scripts): (Vec<Source>, Vec<Source>) = scripts.into_iter().partition(|source| is_test(source.name()));
    let (library, dropped) = library(scripts, &pipelines, (input, before), &mut found);
    found.extend(unlinked_tests(&library, &tests, input));
    let mut loose = Vec::new();
    for source in tests {
        match Unit::read(&source) {
            Ok(unit) => loose.push(unit),
            Err(problem) => found.push(problem),
        }
    }
    loose.extend(dropped.iter().filter_map(|source| Unit::read(source).ok()));
    left_out.extend(dropped.iter().map(|source| source.name().to_owned()));
    LinkedTexts { library, loose, pipelines, policies, templates, data, found, left_out }
}

/// The errors of the project's own tests: they are linked with the scripts, but not part of the library.
fn unlinked_tests(library: &Library, tests: &[Source], input: &LintInput<'_>) -> Vec<Diagnostic> {
    let own: Vec<&Source> = tests.iter().filter(|test| !test.is_bundled() && Unit::read(test).is_ok()).collect();
    if own.is_empty() {
        return Vec::new();
    }
    let scripts =
        library.files().map(LinkedScript::source).chain(tests.iter().filter(|test| test.is_bundled())).chain(own.iter().copied());
    let inputs =
        LibraryInputs { scripts: scripts.cloned().collect(), limits: input.settings.limits.clone(), ..LibraryInputs::default() };
    let Err(problems) = Library::link(inputs, Some(library)) else { return Vec::new() };
    // A script that was left out has been reported.
    let is_import = |one: &Diagnostic| matches!(one.code.as_ref(), "script/import" | "script/unknown-file");
    let in_test = |one: &Diagnostic| one.primary().is_some_and(|label| own.iter().any(|test| test.name() == label.source.name()));
    problems.into_iter().filter(|one| in_test(one) && !is_import(one)).collect()
}

/// Builds the library of all scripts that link, and lists the others.
fn library(
    mut scripts: Vec<Source>,
    pipelines: &[Pipeline],
    (input, before): (&LintInput<'_>, Option<&Library>),
    found: &mut Vec<Diagnostic>,
) -> (Library, Vec<Source>) {
    let mut conditions: Vec<(String, Condition)> = Vec::new();
    let mut names = BTreeSet::new();
    for pipeline in pipelines {
        names.extend(fields(pipeline));
        let name = pipeline.source.name();
        conditions.extend(project::conditions(pipeline, Some(name)).into_iter().map(|one| (name.to_owned(), one)));
    }
    let mut dropped = Vec::new();
    let mut first = true;
    for _ in 0..ROUNDS {
        let inputs = LibraryInputs {
            scripts: scripts.clone(),
            conditions: conditions.iter().map(|(_, condition)| condition.clone()).collect(),
            fields: names.clone(),
            limits: input.settings.limits.clone(),
            ..LibraryInputs::default()
        };
        let problems = match Library::link(inputs, before) {
            Ok(library) => return (library, dropped),
            Err(problems) => problems,
        };
        let places: Vec<(String, Span)> =
            problems.iter().filter_map(|one| one.primary()).map(|label| (label.source.name().to_owned(), label.span)).collect();
        // A text left out causes errors in those that import it; these are not reported.
        let missed = |one: &Diagnostic| !first && matches!(one.code.as_ref(), "script/import" | "script/unknown-file");
        found.extend(problems.into_iter().filter(|one| !missed(one)));
        first = false;
        let before = (scripts.len(), conditions.len());
        let (bad, good) = scripts.into_iter().partition(|source| places.iter().any(|(name, _)| name == source.name()));
        scripts = good;
        dropped.extend::<Vec<Source>>(bad);
        conditions.retain(|(name, condition)| {
            let whole = condition.text.whole();
            !places.iter().any(|(place, span)| place == name && whole.start <= span.start && span.start < whole.end.max(1))
        });
        if before == (scripts.len(), conditions.len()) {
            break; // nothing to leave out
        }
    }
    let nothing = Library::link(LibraryInputs { limits: input.settings.limits.clone(), ..LibraryInputs::default() }, None);
    dropped.extend(scripts);
    (nothing.unwrap_or_else(|_| unreachable!("an empty library links")), dropped)
}

/// The templates that compile.
fn templates(mut sources: Vec<Source>, left_out: &mut BTreeSet<String>, found: &mut Vec<Diagnostic>) -> Vec<Source> {
    for _ in 0..ROUNDS {
        let Err(problems) = Templates::compile(sources.iter().cloned()) else { break };
        let bad: BTreeSet<String> = problems.iter().filter_map(|one| Some(one.primary()?.source.name().to_owned())).collect();
        found.extend(problems);
        sources.retain(|source| !bad.contains(source.name()));
        let any = !bad.is_empty();
        left_out.extend(bad);
        if !any {
            break;
        }
    }
    sources
}

/// The scripts that a pipeline references, with their imports; `None` if one is missing, since all scripts are needed for
/// suggestions then.
pub(super) fn named(pipeline: &Pipeline, library: &Library) -> Option<Vec<Source>> {
    // Team walkers may bring masks.
    // Agents and advisors are named in the data.
    if pipeline.team.is_some() || pipeline.nodes.iter().any(|node| node.policy.is_some()) {
        return None;
    }
    let mut open = Vec::new();
    for reference in pipeline.functions() {
        open.push(library.file(&FunctionRef::parse(reference).ok()?.file)?);
    }
    for mask in pipeline.nodes.iter().flat_map(|node| &node.masks) {
        open.push(library.file(mask)?);
    }
    let families = pipeline.nodes.iter().filter(|node| node.script.is_none());
    open.extend(families.filter_map(|node| library.file(&format!("agents/{}.rhai", *node.family))));
    let mut seen: BTreeMap<&str, Source> = BTreeMap::new();
    while let Some(file) = open.pop() {
        if seen.insert(file.path(), file.source().clone()).is_none() {
            open.extend(file.imports().filter_map(|import| library.file(import)));
        }
    }
    Some(seen.into_values().collect())
}

/// The text of a pipeline with every condition that does not link replaced by one of equal length, so that its other edges can be
/// analysed and all spans stay valid.
pub(super) fn without(pipeline: &Pipeline, library: &Library) -> Source {
    let mut text = pipeline.source.text().to_owned();
    let mut changed = false;
    for condition in project::conditions(pipeline, Some(pipeline.source.name())) {
        if library.condition(&condition.key).is_some() {
            continue;
        }
        let span = condition.text.whole();
        let written = &text[span.start..span.end];
        if span.len() >= "true".len() && !written.contains('\n') {
            let plain = format!("true{}", " ".repeat(span.len() - "true".len()));
            text.replace_range(span.start..span.end, &plain);
            changed = true;
        }
    }
    if changed { Source::new(pipeline.source.name(), text) } else { pipeline.source.clone() }
}

/// The subpipelines of a pipeline, recursively, and policy files, as far as they are among the texts.
pub(super) fn subpipelines(
    pipeline: &Pipeline,
    (all, policies): (&[Pipeline], &[Source]),
    library: &Library,
) -> BTreeMap<String, Source> {
    let asked =
        |pipeline: &Pipeline| pipeline.nodes.iter().filter_map(|node| Some(node.subpipeline.as_ref()?.value.clone())).collect();
    let (mut subpipelines, mut open): (_, Vec<String>) = (BTreeMap::new(), asked(pipeline));
    while let Some(name) = open.pop() {
        let file = |one: &Pipeline| one.source.name().rsplit('/').next().unwrap_or_default().to_owned();
        let stem = |one: &Pipeline| file(one).trim_end_matches(".yaml").trim_end_matches(".yml") == name;
        let meant = |one: &&Pipeline| *one.name == *name || one.source.name() == name || file(one) == name || stem(one);
        let Some(part) = all.iter().find(meant).filter(|_| !subpipelines.contains_key(&name)) else { continue };
        open.extend::<Vec<String>>(asked(part));
        subpipelines.insert(name, without(part, library));
    }
    subpipelines.extend(policies.iter().map(|source| (pipeline::policy_key(source.name()), source.clone())));
    subpipelines
}

/// Removes duplicate diagnostics.
pub(super) fn once(found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    type Place = (String, String, Option<(String, Span)>);
    let mut seen: BTreeSet<Place> = BTreeSet::new();
    let place = |one: &Diagnostic| one.primary().map(|label| (label.source.name().to_owned(), label.span));
    let fresh = |one: &Diagnostic| seen.insert((one.code.to_string(), one.message.clone(), place(one)));
    let mut fresh = fresh;
    found.into_iter().filter(|one| fresh(one)).collect()
}

/// The diagnostics of a result.
pub(super) fn problems(result: Result<impl Sized, Diagnostics>) -> Vec<Diagnostic> {
    result.err().into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use crate::manual::ExampleFile;
    use crate::testing::{Example, all};

    #[test]
    fn all_references_of_a_pipeline_are_included() {
        let pipeline = "pipeline: example\ndescription: all that can be named\nnodes:\n  - { name: look, prompt: example.md, masks: [masks/m.rhai], \
            foreach: \"agents/f.rhai#items\", merge: \"agents/f.rhai#one\" }\nedges:\n  - { id: end, from: look, to: _done }\nstart: look\ndone: _done\n";
        let functions =
            "/// The items.\nfn items(params, vars) { [1, 2] }\n/// The first.\nfn one(branches, vars) { branches[0] }\n";
        let mask = "const NODES = [\"look\"];\nconst NEEDS = [\"siblings\"];\n/// Brings reads.\nfn pre(ctx) { ctx }\n";
        let file = |path: &str, text: &str| ExampleFile { path: path.into(), text: text.into() };
        let files = [
            file("pipelines/example.yaml", pipeline),
            file("scripts/rules/example.rhai", "//! Nothing.\n"),
            file("scripts/agents/f.rhai", functions),
            file("scripts/masks/m.rhai", mask),
        ];
        let found: Vec<String> = all(&Example::of(&files)).iter().map(|one| one.diagnostic.message.clone()).collect();
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn reads_of_node_expressions_are_found() {
        let of = |foreach: &str| {
            let text = format!(
                "pipeline: example\ndescription: items\nvars: {{ first: [1, 2] }}\nnodes:\n  - {{ name: look, prompt: example.md, foreach: {foreach} }}\n\
                 edges:\n  - {{ id: end, from: look, to: _done }}\nstart: look\ndone: _done\n"
            );
            let rules = ExampleFile { path: "scripts/rules/example.rhai".into(), text: "//! Nothing.\n".into() };
            let pipeline = ExampleFile { path: "pipelines/example.yaml".into(), text };
            all(&Example::of(&[pipeline, rules])).iter().map(|one| one.rule).collect::<Vec<_>>()
        };
        assert_eq!(of("vars.first"), [""; 0]);
        assert_eq!(of("\"[3]\""), ["pipelines/unused-var"]);
        assert_eq!(of("vars.first +"), ["correctness/syntax"]);
    }
}
