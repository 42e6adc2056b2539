//! Lints small projects, for the tests of rules.

use super::config::Config;
use super::finding::LintFinding;
use super::input::{CaseText, LintInput};
use super::manual::{AROUND, ExampleFile};
use super::run::lint;
use asterisk_diag::Source;
use asterisk_files::Area;
use asterisk_form::yaml::{self, YamlReader};
use asterisk_project::LinkSettings;
use asterisk_session::ProjectText;

/// The files of an example project.
pub(super) struct Example {
    files: Vec<(String, String)>,
}

impl Example {
    /// The project of the manual pages, with these files replaced.
    pub(super) fn of(files: &[ExampleFile]) -> Self {
        let mut all: Vec<(String, String)> = AROUND.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        for file in files {
            all.retain(|(path, _)| *path != file.path);
            all.push((file.path.clone(), file.text.clone()));
        }
        Self { files: all }
    }

    fn with(path: &str, text: &str) -> Self {
        Self::of(&[ExampleFile { path: path.to_owned(), text: text.to_owned() }])
    }

    /// With this body of the rule `seen`.
    pub(super) fn rule(body: &str) -> Self {
        Self::script(&format!("/// Seen before.\nfn seen(artifact, state, vars) {{ {body} }}\n"))
    }

    /// With this script.
    pub(super) fn script(text: &str) -> Self {
        Self::with(AROUND[1].0, text)
    }

    /// With these edges of the node `look`, without a fallback.
    pub(super) fn edges(edges: &str) -> Self {
        Self::pipeline(&Self::with_edges(edges).replace("    fallback: judge\n", ""))
    }

    /// With these edges of the node `look`, with a fallback.
    pub(super) fn fallback(edges: &str) -> Self {
        Self::pipeline(&Self::with_edges(edges))
    }

    fn with_edges(edges: &str) -> String {
        AROUND[0].1.replace("  - { id: seen, from: look, to: judge, rule: \"rules/example.rhai#seen\" }\n", edges)
    }

    /// With this pipeline.
    pub(super) fn pipeline(text: &str) -> Self {
        Self::with(AROUND[0].0, text)
    }

    /// With this template.
    pub(super) fn template(text: &str) -> Self {
        Self::with(AROUND[2].0, text)
    }

    fn texts(&self) -> Vec<ProjectText> {
        let text = |(path, text): &(String, String)| {
            let (area, name) = path.split_once('/').expect("an area");
            let area = Area::ALL.into_iter().find(|known| known.name() == area).expect("an area");
            ProjectText::embedded(area, Source::new(name, text.clone()))
        };
        self.files.iter().filter(|(path, _)| path != SETTINGS).map(text).collect()
    }
}

/// The project file of an example.
const SETTINGS: &str = "asterisk.yaml";

/// The levels and options of an example.
fn config(example: &Example) -> Config {
    let Some((name, text)) = example.files.iter().find(|(path, _)| path == SETTINGS) else { return Config::default() };
    let source = Source::new(name, text);
    let tree = yaml::parse(&source).expect("YAML");
    let mut reader = YamlReader::new(&source, "config");
    let config = Config::read(&mut reader, tree.get("lint").expect("`lint:`"));
    reader.finish().into_result(config).expect("settings")
}

/// The cases for the examples of overfitting.
pub(super) fn cases() -> Vec<CaseText> {
    let case = |name: &str, text: &str| CaseText { name: name.into(), text: text.into() };
    vec![
        case("a-1", "pays from the ledger\ntimes out: connection to ledger-07.example refused"),
        case("a-2", "login times out after 30 s"),
        case("a-3", "search returns 500"),
    ]
}

/// All findings.
pub(super) fn all(example: &Example) -> Vec<LintFinding> {
    let texts = example.texts();
    let (settings, config, cases) = (LinkSettings::default(), config(example), cases());
    lint(LintInput { texts: &texts, settings: &settings, config: &config, cases: &cases }).findings
}

/// The labelled texts of the findings of one rule.
pub(super) fn found(rule: &str, example: &Example) -> Vec<String> {
    let all = all(example);
    let broken = all.iter().find(|finding| finding.rule == "correctness/syntax");
    assert!(broken.is_none() || rule == "correctness/syntax", "{broken:?}");
    let label = |finding: &LintFinding| {
        let label = finding.diagnostic.primary().expect("a place");
        label.source.slice(label.span).to_owned()
    };
    all.iter().filter(|finding| finding.rule == rule).map(label).collect()
}
