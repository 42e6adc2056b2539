//! Runs the linter: links what links, runs every rule, and collects the findings.

use super::allow::{self, LintAllow};
use super::codes::{is_linked, rule_of};
use super::config::Config;
use super::context::{ExampleCache, ExampleResults, LintContext, LintedPipeline};
use super::finding::{FindingCollector, Fix, LintFinding};
use super::gather::{LinkedTexts, gather, named, once, problems, subpipelines, without};
use super::input::LintInput;
use super::level::LintLevel;
use super::linted_data::LintedData;
use super::registry::{find, rules};
use super::rules::correctness::prose_condition::is_prose;
use super::shown::LanguageTexts;
use asterisk_base::model::{Hash, Kind};
use asterisk_diag::{Diagnostic, Diagnostics, Severity, Source};
use asterisk_files::Area;
use asterisk_pipeline::{EdgeCondition, Pipeline, is_policy_key};
use asterisk_project::{ExaminedFunction, FunctionUse, LinkSettings, Project, ProjectData, Sources, examine, known_words, teams};
use asterisk_prompt::Templates;
use asterisk_script::{Library, LinkedScript, Unit};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, PoisonError};

/// The result of linting.
#[derive(Clone, Debug, Default)]
pub struct LintReport {
    /// The findings, sorted by file, location and rule.
    pub findings: Vec<LintFinding>,
    /// The number of texts linted.
    pub texts: usize,
    /// The number of findings suppressed by allow comments.
    pub allowed: usize,
}

impl LintReport {
    /// The findings of a project whose texts or settings cannot be read.
    pub fn unreadable(found: Diagnostics) -> Self {
        let mut report = FindingCollector::default();
        report.extend(found.into_iter().map(|one| Diagnostic { code: "correctness/syntax".into(), ..one }));
        let input = LintInput { texts: &[], settings: &LinkSettings::default(), config: &Config::default(), cases: &[] };
        finish(&input, report, Vec::new())
    }
}

/// A function that a pipeline or team refers to, with the types of its parameters.
#[derive(Clone, Debug)]
pub struct FunctionRole {
    /// The name of the pipeline's text.
    pub pipeline: String,
    pub place: FunctionUse,
    /// The script, or the key of a condition.
    pub file: String,
    pub function: String,
    /// The types of its parameters, by their names in the documentation.
    pub inputs: Vec<(&'static str, Kind)>,
}

/// A linted project: the findings, and what links.
#[derive(Clone, Debug)]
pub struct LintedProject {
    pub report: LintReport,
    /// The scripts that link, and the conditions of all pipelines.
    pub library: Library,
    /// The pipelines that parse.
    pub pipelines: Vec<Pipeline>,
    /// The functions that they refer to.
    pub roles: Vec<FunctionRole>,
    /// The diagnostics of linking each pipeline and team, by what was linked.
    links: BTreeMap<Hash, Vec<Diagnostic>>,
    /// The examples of signatures that matched.
    examples: ExampleResults,
    data: Arc<LintedData>,
}

/// Lints the requested texts; the others are only linked with.
pub fn lint(input: LintInput<'_>) -> LintReport {
    analyse(input, None).report
}

/// As [`lint`], with what was linked for it, given the project as linted before some of the texts changed: what has not changed is not linked
/// again. The result is the same.
pub fn analyse(input: LintInput<'_>, before: Option<&LintedProject>) -> LintedProject {
    let LinkedTexts { library, loose, pipelines, policies, templates: template_texts, data: data_texts, mut found, left_out } =
        gather(&input, before.map(|before| &before.library));
    let mut links = LinkCache { before: before.map(|before| &before.links), links: BTreeMap::new() };
    let templates = Templates::compile(template_texts.iter().cloned()).unwrap_or_default();
    let scripts: Vec<Source> = library.files().map(|file| file.source().clone()).collect();
    let data = LintedData::of(&data_texts, input.settings.domain.as_deref(), before.map(|before| &before.data));
    let linked_before = (&library, &data.read);
    if pipelines.is_empty() {
        found.extend(data.read.found().iter().cloned());
    }
    for pipeline in &pipelines {
        let subpipelines = subpipelines(pipeline, (&pipelines, &policies), &library);
        let own = if subpipelines.keys().all(|key| is_policy_key(key)) { named(pipeline, &library) } else { None };
        let sources = Sources {
            scripts: own.unwrap_or_else(|| scripts.clone()),
            templates: template_texts.clone(),
            data: data_texts.clone(),
            pipeline: without(pipeline, &library),
            subpipelines,
            missing: BTreeMap::new(),
            bundle: None,
        };
        let linked = links.get(LinkCache::key(&sources, input.settings), || {
            match Project::link_after(sources, input.settings.clone(), Some(linked_before)) {
                Ok(project) => project.warnings.iter().cloned().collect(),
                Err(problems) => problems.into_iter().collect(),
            }
        });
        // A text left out has been reported; errors about its absence are not.
        found.extend(linked.into_iter().filter(|one| !left_out.iter().any(|name| misses(one, name))));
    }
    found.extend(data.found.iter().cloned());
    let teams = teams(&data_texts);
    for team in &teams {
        let linked = link_team(team, &scripts, &data_texts, input.settings, linked_before, &mut links);
        found.extend(linked.into_iter().filter(|one| !left_out.iter().any(|name| misses(one, name))));
    }
    let all_read = input.texts.iter().filter(|text| text.area == Area::Pipelines).count() == pipelines.len();
    let pipes: Vec<LintedPipeline<'_>> = pipelines.iter().map(|pipeline| pipe(pipeline, &library, &data.read)).collect();
    let teams: Vec<LintedPipeline<'_>> = teams.iter().map(|(_, pipeline)| pipe(pipeline, &library, &data.read)).collect();
    let mut units: Vec<&Unit> = library.files().map(LinkedScript::unit).chain(&loose).collect();
    units.sort_by_key(|unit| unit.name());
    let cx = LintContext {
        texts: input.texts,
        config: input.config,
        library: &library,
        units,
        pipelines: pipes,
        teams,
        templates: &templates,
        data: &data.trees,
        domains: &data.domains,
        cases: input.cases,
        whole: input.texts.iter().all(|text| text.requested) && all_read,
        examples: ExampleCache { before: before.map(|before| &before.examples), ..ExampleCache::default() },
    };
    found.extend(cx.examined().flat_map(|one| one.analysis.diagnostics.iter().cloned()));
    let mut report = FindingCollector { found: once(found).into_iter().map(|one| (coded(one, &pipelines), None)).collect() };
    for rule in rules() {
        if let Some(check) = rule.check.filter(|_| rule.level_in(input.config) != Some(LintLevel::Off)) {
            check(&cx, &mut report);
        }
    }
    let allows = allow::find(input.texts, &cx.units);
    let roles = roles(&cx);
    let examples = cx.examples.now.into_inner().unwrap_or_else(PoisonError::into_inner);
    let report = finish(&input, report, allows);
    LintedProject { report, roles, library: library.clone(), pipelines, links: links.links, examples, data }
}

/// The functions that pipelines and teams refer to.
fn roles(cx: &LintContext<'_>) -> Vec<FunctionRole> {
    let of = |pipe: &LintedPipeline<'_>| {
        let pipeline = pipe.pipeline.source.name().to_owned();
        let role = move |one: &ExaminedFunction<'_>| FunctionRole {
            pipeline: pipeline.clone(),
            place: one.place,
            file: one.unit.name().to_owned(),
            function: one.name.clone(),
            inputs: one.inputs.clone(),
        };
        pipe.examined.iter().map(role).collect::<Vec<_>>()
    };
    cx.pipelines.iter().chain(&cx.teams).flat_map(of).collect()
}

/// The diagnostics of linking, by what was linked. Those of the run before are taken over where nothing has changed.
struct LinkCache<'b> {
    before: Option<&'b BTreeMap<Hash, Vec<Diagnostic>>>,
    links: BTreeMap<Hash, Vec<Diagnostic>>,
}

impl LinkCache<'_> {
    /// What is linked: the texts with their names, and the settings.
    fn key(sources: &Sources, settings: &LinkSettings) -> Hash {
        let Sources { scripts, templates, data, pipeline, subpipelines, .. } = sources;
        let mut all = format!("{settings:?}");
        for source in scripts.iter().chain(templates).chain(data).chain([pipeline]).chain(subpipelines.values()) {
            let _ = write!(all, "\n{} {}", source.name(), Hash::of(source.text().as_bytes()));
        }
        Hash::of(all.as_bytes())
    }

    fn get(&mut self, key: Hash, link: impl FnOnce() -> Vec<Diagnostic>) -> Vec<Diagnostic> {
        let known = self.before.and_then(|before| before.get(&key)).or_else(|| self.links.get(&key)).cloned();
        let found = known.unwrap_or_else(link);
        self.links.insert(key, found.clone());
        found
    }
}

/// Analyses a pipeline.
fn pipe<'a>(pipeline: &'a Pipeline, library: &'a Library, data: &ProjectData) -> LintedPipeline<'a> {
    let condition = |edge: &str| LintContext::condition(library, &pipeline.source, edge);
    let words = |known| known_words(pipeline, data, known);
    LintedPipeline::new(pipeline, examine(pipeline, library, &words, &condition))
}

/// The errors of a team in a data file; those of the pipeline around it are ignored.
fn link_team(
    (name, pipeline): &(String, Pipeline),
    scripts: &[Source],
    data: &[Source],
    settings: &LinkSettings,
    before: (&Library, &Arc<ProjectData>),
    links: &mut LinkCache<'_>,
) -> Vec<Diagnostic> {
    let sources = Sources {
        scripts: scripts.to_vec(),
        templates: Vec::new(),
        data: data.to_vec(),
        pipeline: pipeline.source.clone(),
        subpipelines: BTreeMap::new(),
        missing: BTreeMap::new(),
        bundle: None,
    };
    let settings = LinkSettings { team: Some(name.clone()), ..settings.clone() };
    let mut found =
        links.get(LinkCache::key(&sources, &settings), || problems(Project::link_after(sources, settings, Some(before))));
    found.retain(|one| one.primary().is_some_and(|label| label.source != pipeline.source));
    found
}

/// Whether a diagnostic is about the absence of a text that was left out.
fn misses(one: &Diagnostic, name: &str) -> bool {
    let about =
        matches!(one.code.as_ref(), "script/unknown-file" | "project/unknown-template" | "template/include" | "script/import");
    about && one.message.contains(&format!("`{name}`"))
}

/// Replaces the code of a linking diagnostic by the id of its rule.
fn coded(mut one: Diagnostic, pipelines: &[Pipeline]) -> Diagnostic {
    let rule = rule_of(&one.code);
    let label = one.primary().cloned();
    let written = label.as_ref().map_or("", |label| label.source.slice(label.span));
    let sentence = label.as_ref().filter(|_| one.code.starts_with("script/")).and_then(|label| {
        let pipeline = pipelines.iter().find(|pipeline| pipeline.source == label.source)?;
        pipeline.edges.iter().find_map(|edge| match &edge.when {
            EdgeCondition::Condition(text) if text.whole().start <= label.span.start && label.span.start < text.whole().end => {
                is_prose(text.text()).then(|| (pipeline.source.clone(), text.whole()))
            }
            _ => None,
        })
    });
    if let Some((source, whole)) = sentence {
        let found = Diagnostic::error("correctness/prose-condition", "this condition is a sentence, not an expression");
        let help = "write an expression over fields, such as `confidence >= vars.enough`, or name a rule: `rule: path/of/script.rhai#function`";
        return found.label(&source, whole, "cannot be decided").help(help);
    }
    if one.code == "script/unknown-function" && (written == "assert" || written.starts_with("assert_")) {
        one = Diagnostic { message: format!("only tests may call `{written}`"), ..one }
            .help("decide with `if`, or move this into a `*_test.rhai`");
        one.code = "purity/test-call".into();
        return one;
    }
    one.code = rule.into();
    one.help = one.help.or_else(|| {
        Some(match rule {
            "correctness/syntax" => "fix this first: nothing that depends on this text runs until then".to_owned(),
            "correctness/wrong-signature" => {
                "a rule takes `(artifact, state, vars)`, a responder `(params, vars)`, an effect `(artifact, params)`".to_owned()
            }
            rule => format!("see `asterisk lint --explain {rule}`"),
        })
    });
    one
}

/// Applies levels and allows, renames files and sorts.
fn finish(input: &LintInput<'_>, report: FindingCollector, mut allows: Vec<LintAllow>) -> LintReport {
    let mut shown = LanguageTexts::new(input.texts);
    let mut outcome = LintReport { texts: input.texts.iter().filter(|text| text.requested).count(), ..LintReport::default() };
    let mut kept: Vec<(Diagnostic, Option<Fix>)> = Vec::new();
    for (one, fix) in report.found {
        let text = one.primary().and_then(|label| shown.text(label));
        if may_be_allowed(&one) && allow::covers(&mut allows, text, &one) {
            outcome.allowed += 1;
        } else if text.is_none_or(|text| text.requested) {
            kept.push((one, fix));
        }
    }
    let mut more = FindingCollector::default();
    allow::report_misuse(&allows, input.config, &mut more);
    kept.extend(more.found);
    for (one, fix) in kept {
        let Some(rule) = find(&one.code) else { continue };
        let can_be_allowed = may_be_allowed(&one) && !rule.id.starts_with("allows/");
        let level =
            rule.level_in(input.config).unwrap_or_else(|| if is_linked(rule.id) { one.severity.into() } else { rule.level });
        if level == LintLevel::Off {
            continue;
        }
        let mut diagnostic = shown.rename(one);
        diagnostic.severity = level.severity();
        let fingerprint = Hash::of(b"");
        outcome.findings.push(LintFinding { rule: rule.id, level, diagnostic, fix, can_be_allowed, fingerprint });
    }
    let place = |finding: &LintFinding| finding.diagnostic.primary().map(|label| (label.span.start, label.span.end));
    outcome.findings.sort_by(|a, b| {
        (a.file(), place(a), a.rule, &a.diagnostic.message).cmp(&(b.file(), place(b), b.rule, &b.diagnostic.message))
    });
    // Two pipelines may report the same about a script that both use.
    outcome.findings.dedup_by(|a, b| (a.rule, a.file(), place(a)) == (b.rule, b.file(), place(b)));
    fingerprints(&mut outcome.findings);
    outcome
}

/// Whether a diagnostic with the id of its rule can be allowed: an error that prevents linking cannot.
fn may_be_allowed(one: &Diagnostic) -> bool {
    !is_linked(&one.code) || one.severity != Severity::Error
}

fn fingerprints(findings: &mut [LintFinding]) {
    let mut before: BTreeMap<String, usize> = BTreeMap::new();
    for finding in findings {
        let line = finding.diagnostic.primary().map_or(String::new(), |label| {
            let text = label.source.text();
            let start = text[..label.span.start.min(text.len())].rfind('\n').map_or(0, |at| at + 1);
            let line = text[start..].lines().next().unwrap_or_default();
            format!("{}\n{}", line.split_whitespace().collect::<Vec<_>>().join(" "), label.source.slice(label.span))
        });
        let known = format!("{}\n{}\n{line}", finding.rule, finding.file());
        let nth = before.entry(known.clone()).or_default();
        finding.fingerprint = Hash::of(format!("{known}\n{nth}").as_bytes());
        *nth += 1;
    }
}
