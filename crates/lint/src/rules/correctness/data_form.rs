//! `correctness/data-form`: invalid data files.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::{Diagnostic, Source};
use asterisk_files::Area;
use asterisk_form::yaml::Yaml;
use std::collections::BTreeMap;

/// Most of it is checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/data-form",
    level: LintLevel::Error,
    summary: "an invalid data file, or an inconsistent domain",
    manual: include_str!("../../manual/correctness/data-form.md"),
    options: &[],
    check: Some(check),
};

/// Reports owner rules that hide those below them, and files of signatures that no domain includes.
fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    let lists = || cx.data.iter().filter_map(|(_, yaml)| yaml.get("include")?.as_list());
    let is_included = |name: &str| lists().flatten().filter_map(Yaml::as_text).any(|included| included == name);
    overridden(cx, report);
    for (source, yaml) in cx.data {
        let owners = if source.name() == "evidence.yaml" { yaml.get("owners").and_then(Yaml::as_list) } else { None };
        let above = owners.and_then(<[Yaml]>::split_last).map_or(&[][..], |(_, above)| above);
        for rule in above.iter().filter(|rule| rule.as_map().is_some_and(|map| !map.is_empty())) {
            let is_given = |key: &&str| rule.get(key).is_some();
            if !["languages", "paths", "functions"].iter().any(is_given) {
                let message = "an owner rule without patterns matches every frame, so no rule below it is tried";
                let found = Diagnostic::warning(RULE.id, message).label(source, rule.head(source), "matches every frame");
                report.push(found.help("give it `paths`, `functions` or `languages`, or make it the last one"));
            }
        }
        if let Some(name) = source.name().strip_prefix("signatures/").and_then(|name| name.strip_suffix(".yaml"))
            && !is_included(name)
            && !cx.domains.is_empty()
        {
            let found = Diagnostic::warning(RULE.id, format!("no domain includes the signatures of `data/{}`", source.name()));
            let found = found.label(source, yaml.head(source), "not used");
            report.push(found.help(format!("add `{name}` to `include:` of the domain, in `data/domains/`")));
        }
    }
}

/// Reports signatures of the project that have the id of a bundled one and all of its required keys: they replace it, while a signature
/// that changes some keys leaves out the others.
fn overridden(cx: &LintContext<'_>, report: &mut FindingCollector) {
    const REQUIRED: [&str; 6] = ["title", "category", "certainty", "severity", "means", "patterns"];
    let mut bundled: BTreeMap<&str, &Source> = BTreeMap::new();
    for (source, yaml) in cx.data.iter().filter(|(source, _)| source.is_bundled()) {
        let ids = signatures(yaml).iter().filter_map(|item| item.get("id")?.as_text());
        bundled.extend(ids.map(|id| (id, source)));
    }
    // A file that replaces a bundled one contains the same signatures.
    let is_bundled_path = |name: &str| Area::Scripts.embedded_file(&format!("data/{name}")).is_some();
    for (source, yaml) in cx.data.iter().filter(|(source, _)| !source.is_bundled() && !is_bundled_path(source.name())) {
        for item in signatures(yaml).iter().filter(|item| REQUIRED.iter().all(|key| item.get(key).is_some())) {
            let Some(id) = item.get("id").and_then(Yaml::text) else { continue };
            let Some(first) = bundled.get(id.as_str()) else { continue };
            let message = format!("the signature `{}` replaces the bundled one of `data/{}`", *id, first.name());
            let found = Diagnostic::warning(RULE.id, message).label(source, id.span, "the id of a bundled signature");
            report.push(found.help("give it an id of its own; to change the bundled one, write only the keys that differ"));
        }
    }
}

fn signatures(yaml: &Yaml) -> &[Yaml] {
    yaml.get("signatures").and_then(Yaml::as_list).unwrap_or_default()
}
