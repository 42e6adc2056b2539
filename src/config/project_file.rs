//! `asterisk.yaml`, and the user's own file of the same keys.

use super::keys::{PROJECT, REPOSITORY};
use asterisk_adapters::agent::{AgentSettings, ServerSettings};
use asterisk_diag::{Code, Diagnostic, Diagnostics, SecretForm, Source, Span, names_secret, secrets_in, starred};
use asterisk_form::{FormFields, FormReader, fill, yaml};
use asterisk_lint as lint;
use asterisk_observe as observe;
use asterisk_pipeline::Spanned;
use serde_json::Value;
use std::collections::BTreeMap;

/// The content of a project file; paths are as written, relative to its directory.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ProjectConfig {
    pub(super) scripts: Option<Spanned<String>>,
    pub(super) pipelines: Option<Spanned<String>>,
    pub(super) templates: Option<Spanned<String>>,
    pub(super) store: Option<Spanned<String>>,
    pub(super) domain: Option<Spanned<String>>,
    pub(super) vars: BTreeMap<String, Spanned<Value>>,
    /// None if the file does not set them.
    pub(super) repositories: Option<Spanned<Vec<Value>>>,
    /// None if the file does not set them.
    pub(super) observers: Option<Spanned<Vec<String>>>,
    /// The external answerers, by name.
    pub(super) agents: BTreeMap<String, Spanned<AgentSettings>>,
    /// Where launches are fetched from.
    pub(super) reportportal: super::reportportal::PortalSection,
    /// The servers whose tools nodes may call, by name.
    pub(super) servers: BTreeMap<String, Spanned<ServerSettings>>,
    /// None if the file does not configure linting.
    pub(super) lint: Option<Spanned<lint::Config>>,
}

/// Reads a project file, or reports everything that is wrong with it. What looks like a secret is rejected everywhere and never
/// shown.
pub(super) fn read(source: &Source) -> Result<ProjectConfig, Diagnostics> {
    let secrets = secrets_in(source.text());
    let read = plain(source);
    if secrets.is_empty() {
        return read;
    }
    let shown = Source::new(source.name(), starred(source.text()));
    let (file, mut found): (_, Vec<Diagnostic>) = match read {
        Ok(file) => (Some(file), Vec::new()),
        Err(found) => (None, found.into_iter().map(|one| hide(one, &shown, source, &secrets)).collect()),
    };
    for (span, known) in secrets.into_iter().filter(|(span, _)| !is_comment(source.text(), *span)) {
        let reported = |one: &Diagnostic| {
            let secret = matches!(one.known(), Some(Code::ConfigSecret | Code::ConfigUrlSecret));
            secret && one.labels.iter().any(|label| label.span.start < span.end && span.start < label.span.end)
        };
        if !found.iter().any(reported) {
            let (what, help) = instead(known);
            let error = Diagnostic::error(Code::ConfigSecret, format!("this looks like a secret {what}"));
            found.push(error.label(&shown, span, "not shown").help(help));
        }
    }
    found.sort_by_key(|one| one.primary().map(|label| label.span.start));
    match file {
        Some(file) if found.is_empty() => Ok(file),
        _ => Err(found.into_iter().collect()),
    }
}

/// Where secrets are forbidden, and what to write instead.
fn instead(known: SecretForm) -> (&'static str, &'static str) {
    match known {
        SecretForm::Argument => (
            "in the arguments of a command, which are visible in the process list",
            "remove it: the command inherits the environment, and `env: { NAME: { env: OTHER } }` of a server sets a variable",
        ),
        SecretForm::Address => (
            "in a URL",
            "URLs appear in output: remove it, and name the location of the secret: `secret: { env: NAME }` or `{ file: PATH }`",
        ),
        SecretForm::Key | SecretForm::Form => (
            "in the file itself",
            "put it into an environment variable and name that: `secret: { env: NAME }` of an agent, `env: { KEY: { env: NAME } }` of a server, \
             `token: { env: NAME }` of ReportPortal; or a file of mode 0600: `{ file: PATH }`",
        ),
    }
}

/// A finding that shows nothing of the secrets in the text it is about.
fn hide(mut one: Diagnostic, shown: &Source, source: &Source, secrets: &[(Span, SecretForm)]) -> Diagnostic {
    for label in &mut one.labels {
        if label.source.name() == shown.name() && label.source.text().len() == shown.text().len() {
            // What is hidden there already stays so.
            let both = |(seen, own): (char, char)| if seen == '*' { seen } else { own };
            let text: String = label.source.text().chars().zip(shown.text().chars()).map(both).collect();
            label.source = if text.len() == shown.text().len() { Source::new(shown.name(), text) } else { shown.clone() };
        }
    }
    let without = |text: &str| {
        let hide = |text: String, (span, _): &(Span, SecretForm)| text.replace(source.slice(*span), "***");
        secrets.iter().fold(starred(text), hide)
    };
    one.message = without(&one.message);
    one.help = one.help.map(|help| without(&help));
    if one.is(Code::ConfigUnknownKey) && one.primary().is_some_and(|label| names_secret(source.slice(label.span))) {
        one.help = Some(instead(SecretForm::Key).1.to_owned());
    }
    one
}

/// Whether a place is in a comment, judging by its line.
fn is_comment(text: &str, span: Span) -> bool {
    let line = text[..span.start].rsplit('\n').next().unwrap_or_default();
    line.trim_start().starts_with('#') || line.contains(" #")
}

fn plain(source: &Source) -> Result<ProjectConfig, Diagnostics> {
    if source.text().trim().is_empty() {
        return Ok(ProjectConfig::default());
    }
    let tree = yaml::parse(source)?;
    if tree.is_null() {
        return Ok(ProjectConfig::default());
    }
    let mut check: FormReader<'_> = FormReader::new(source, "config");
    let values = check.file(&tree, &PROJECT, None);
    let mut reader = check.reader;
    let Some(fields) = FormFields::of(&tree, &PROJECT) else { return Err(reader.finish()) };
    // A key with everything below it commented out is empty.
    let file = ProjectConfig {
        scripts: fields.text("scripts"),
        pipelines: fields.text("pipelines"),
        templates: fields.text("templates"),
        store: fields.text("store"),
        domain: fields.text("domain"),
        vars: reader.vars(fields.entries("vars")),
        repositories: fields.present("workspace").map(|_| Spanned::new(repositories(&values), fields.key_span("workspace"))),
        observers: fields.present("observers").map(|yaml| {
            let texts = yaml.texts().unwrap_or_default();
            for text in &texts {
                if let Err((message, help)) = observe::parse(text) {
                    let error = reader.error("observer", message, text.span, "requested here");
                    reader.push(error.help(help));
                }
            }
            Spanned::new(texts.into_iter().map(|text| text.value).collect(), fields.key_span("observers"))
        }),
        agents: super::agents::read(&mut reader, fields),
        reportportal: super::reportportal::read(&mut reader, fields),
        servers: super::servers::read(&mut reader, fields),
        lint: fields.present("lint").map(|yaml| Spanned::new(lint::Config::read(&mut reader, yaml), fields.key_span("lint"))),
    };
    reader.finish().into_result(file)
}

/// The repositories of `workspace:`, each with all of its parts.
fn repositories(file: &Value) -> Vec<Value> {
    let mut list = file["workspace"]["repositories"].as_array().cloned().unwrap_or_default();
    for repository in &mut list {
        fill(repository, &REPOSITORY);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(text: &str) -> Result<ProjectConfig, Diagnostics> {
        read(&Source::new("asterisk.yaml", text))
    }

    #[test]
    fn all_parts_are_read() {
        let text =
            "scripts: heuristics\nvars: { recall_hit: 0.9 }\nworkspace:\n  repositories:\n    - { name: api, path: ../api }\n";
        let file = parse(text).expect("a project file");
        assert_eq!(file.scripts.map(|scripts| scripts.value).as_deref(), Some("heuristics"));
        assert_eq!(file.vars["recall_hit"].value, json!(0.9));
        assert_eq!(
            file.repositories.unwrap_or_default().value,
            [json!({"name": "api", "path": "../api", "purpose": "", "branch": ""})]
        );
        assert_eq!(parse("# nothing yet\n").unwrap_or_default(), ProjectConfig::default());
    }

    #[test]
    fn a_fault_is_reported_once_with_its_place() {
        for (text, message) in [
            ("observers: jsonl\n", "`observers` must be a list, not the string `jsonl`"),
            ("workspace: { repositories: [{ name: a, path: 5 }] }\n", "`path` of repository `a` must be a string, not 5"),
            ("store:\n", "`store` is empty"),
        ] {
            let found = parse(text).expect_err(text);
            assert_eq!(found.iter().map(|one| one.message.as_str()).collect::<Vec<_>>(), [message]);
        }
        assert_eq!(
            parse("workspace: { repositories: }\n").unwrap_or_default().repositories.map(|list| list.value),
            Some(Vec::new())
        );
    }

    #[test]
    fn unknown_and_later_keys_are_refused() {
        let errors = parse("script: x\nreport: {}\nworkspace:\n  repositories: [{ path: y }]\n").expect_err("refused");
        assert_eq!(errors.len(), 3, "{errors}");
        assert!(errors.iter().all(|error| error.primary().is_some()));
    }
}
