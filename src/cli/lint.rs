//! `asterisk lint`.

use super::{GlobalArgs, ProjectArgs, lint_report};
use crate::config::{ResolvedSettings, Setting, SettingOrigin};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui, plain};
use asterisk_base::environment::InputStream;
use asterisk_diag::counted;
use asterisk_diag::{Diagnostic, Source, Span, did_you_mean};
use asterisk_files::{FileError, FileOrigin, read_answer};
use asterisk_lint::{self as lint, Baseline, CaseText, Config, LintFinding, LintInput, LintLevel, LintReport, LintRule};
use asterisk_project::{AnswererNames, LinkScope, LinkSettings};
use asterisk_session::{ProjectText, Session, SessionError};
use asterisk_store::StoreError;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The maximum number of fix rounds: a fix may reveal another.
const ROUNDS: usize = 8;

/// Check scripts, pipelines, templates and data: for link errors, and for suspicious code that links.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = "Without PATH the whole project is linted. Exits with 1 if anything above a note is found.\n\
                        To accept a finding, add a comment on its line or the line before:\n  \
                        // lint: allow(ID) why it is right here\n\
                        Levels and options are set under `lint:` in asterisk.yaml.\n\n\
                        Examples:\n  asterisk lint\n  asterisk lint --explain routing/no-exit\n  asterisk lint --format sarif > lint.sarif\n  \
                        asterisk lint --baseline known.json --write-baseline")]
pub(super) struct LintArgs {
    /// Files and directories to lint, together with the rest of the project.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// List the rules.
    #[arg(long)]
    list: bool,
    /// Show the manual page of a rule.
    #[arg(long, value_name = "RULE", conflicts_with = "list")]
    explain: Option<String>,
    /// Apply automatic fixes and lint again. Refuses files with uncommitted changes.
    #[arg(long)]
    fix: bool,
    /// Fix files with uncommitted changes too.
    #[arg(long, requires = "fix")]
    force: bool,
    /// Ignore the findings listed in this file.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the findings to the baseline file instead of reporting them.
    #[arg(long, requires = "baseline", conflicts_with = "fix")]
    write_baseline: bool,
    /// Launches to check scripts for overfitting to their cases, instead of those in the store.
    #[arg(long, value_name = "FILE")]
    input: Vec<PathBuf>,
    /// Do not fail if there is nothing to lint.
    #[arg(long)]
    allow_empty: bool,
    /// The directory of scripts that overlays the bundled ones.
    #[arg(id = "ASTERISK_SCRIPTS", long = "scripts", value_name = "DIR")]
    scripts: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: LintFormat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum LintFormat {
    /// Text.
    #[default]
    Pretty,
    /// JSON.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Workflow commands for GitHub annotations.
    Github,
    /// `JUnit` XML, for CI.
    Junit,
}

pub(super) fn lint(global: &GlobalArgs, args: &LintArgs) -> Result<Exit, SessionError> {
    let ui = &global.printer(if args.format == LintFormat::Json { OutputFormat::Json } else { OutputFormat::Pretty });
    if args.list {
        list(ui);
        return Ok(Exit::Ok);
    }
    if let Some(id) = &args.explain {
        return explain(ui, id);
    }
    let project = ProjectArgs { scripts: args.scripts.clone(), ..ProjectArgs::default() };
    let (mut error, settings) = match global.resolve(&project, None) {
        Ok(resolved) => {
            let settings = resolved.settings.clone();
            match lint_project(global, args, ui, resolved) {
                Ok(exit) => return Ok(exit),
                Err(error) => (error, settings),
            }
        }
        Err(error) => (error, Vec::new()),
    };
    if let SessionError::File(FileError::NoDirectory { path }) = &error
        && let Some(found) = unknown_directory(path, &settings)
    {
        error = SessionError::Texts(found.into());
    }
    match error {
        // In a format for programs, errors of the settings are findings.
        SessionError::Texts(found) if args.format != LintFormat::Pretty => {
            let exit = Exit::from(&SessionError::Texts(found.clone()));
            show(ui, args.format, &LintReport::unreadable(found), &[]);
            Ok(exit)
        }
        error => Err(error),
    }
}

/// The error for a directory that the project file names.
fn unknown_directory(path: &Path, settings: &[Setting]) -> Option<Diagnostic> {
    let named = settings.iter().find(|setting| setting.value == json!(path))?;
    let SettingOrigin::File { path: file, line } = &named.origin else { return None };
    let source = Source::new(file.file_name()?.to_string_lossy().into_owned(), std::fs::read_to_string(file).ok()?);
    let start = source.offset(*line, 1);
    let end = source.text()[start..].find('\n').map_or(source.text().len(), |length| start + length);
    let error = Diagnostic::error("input/directory", format!("the directory `{}` does not exist", path.display()));
    Some(error.label(&source, Span::new(start, end), "named here").help("create it, or name another"))
}

fn lint_project(global: &GlobalArgs, args: &LintArgs, ui: &Ui, resolved: ResolvedSettings) -> Result<Exit, SessionError> {
    let config = resolved.lint;
    let session = Session::new(resolved.setup);
    let cases = match session.case_texts(&args.input) {
        // Linting never changes a store, and works without its cases.
        Err(SessionError::Store(error @ StoreError::Older { .. })) => {
            ui.note(&format!("{error}; until this is fixed, scripts are not checked against its cases"));
            Vec::new()
        }
        cases => cases?,
    };
    let cases = cases.into_iter().map(|(name, text)| CaseText { name, text: text.to_lowercase() }).collect();
    let job = LintJob { session, config, cases, ui: ui.clone() };
    let mut texts = job.session.texts(&args.paths)?;
    if !texts.iter().any(|text| text.requested) && !args.allow_empty {
        let help = "scripts end in `.rhai`, pipelines and data in `.yaml`, templates in `.md`; --allow-empty allows this";
        return Err(bad_request("lint/nothing", "nothing to lint", help));
    }
    let mut outcome = job.lint(&texts);
    if args.fix {
        for _ in 0..ROUNDS {
            if !job.fix(&texts, &outcome, args.force)? {
                break;
            }
            texts = job.session.texts(&args.paths)?;
            outcome = job.lint(&texts);
        }
        job.report_unfixable(&outcome);
    }
    if let Some(path) = &args.baseline {
        if args.write_baseline {
            return job.write_baseline(path, &outcome.findings);
        }
        let (known, gone) = read_baseline(path, global.environment.input())?.apply(&mut outcome.findings);
        if gone > 0 {
            ui.note(&format!("{gone} of the {} baseline findings no longer occur: --write-baseline removes them", known + gone));
        }
    }
    show(ui, args.format, &outcome, &texts);
    Ok(if outcome.findings.iter().any(|finding| finding.level > LintLevel::Note) { Exit::Findings } else { Exit::Ok })
}

/// The inputs of linting besides the texts.
struct LintJob {
    session: Session,
    config: Config,
    cases: Vec<CaseText>,
    ui: Ui,
}

impl LintJob {
    fn lint(&self, texts: &[ProjectText]) -> LintReport {
        let settings = LinkSettings { scope: LinkScope::Checked, ..self.session.settings(AnswererNames::Others) };
        lint::lint(LintInput { texts, settings: &settings, config: &self.config, cases: &self.cases })
    }

    /// Applies automatic fixes; returns whether there were any. Fixes that break linking are not written.
    fn fix(&self, texts: &[ProjectText], outcome: &LintReport, force: bool) -> Result<bool, SessionError> {
        let fixed = lint::fix(texts, &outcome.findings);
        if fixed.is_empty() {
            return Ok(false);
        }
        let paths: Vec<PathBuf> = fixed.iter().map(|one| one.path.clone()).collect();
        let changed = if force { Vec::new() } else { lint::uncommitted(self.ui.environment().variables(), &paths) };
        if let Some(first) = changed.first() {
            let more = if changed.len() > 1 { format!(" and {} more files", changed.len() - 1) } else { String::new() };
            let message = format!("`{}`{more} would be fixed, but has uncommitted changes", first.display());
            return Err(bad_request("lint/uncommitted", &message, "commit it first, or pass --force"));
        }
        let errors = |outcome: &LintReport| outcome.findings.iter().filter(|finding| finding.level == LintLevel::Error).count();
        let trial: Vec<ProjectText> = texts.iter().map(|text| with_fixes(text, &fixed)).collect();
        if errors(&self.lint(&trial)) > errors(outcome) {
            self.ui.note("nothing was fixed: the fixed files would not link");
            return Ok(false);
        }
        for one in &fixed {
            std::fs::write(&one.path, &one.text)
                .map_err(|source| SessionError::Write { path: one.path.display().to_string(), source })?;
            let what = counted(one.fixes, "finding", "findings");
            self.ui.note(&format!("fixed {what} in {}", one.path.display()));
        }
        Ok(true)
    }

    /// Lists the findings without an automatic fix.
    fn report_unfixable(&self, outcome: &LintReport) {
        let mut left: BTreeMap<&str, usize> = BTreeMap::new();
        for finding in outcome.findings.iter().filter(|finding| finding.fix.is_none()) {
            *left.entry(finding.rule).or_default() += 1;
        }
        if !left.is_empty() {
            let rules: Vec<String> = left.iter().map(|(rule, count)| format!("{rule} ({count})")).collect();
            self.ui.note(&format!("no automatic fix: {}", rules.join(", ")));
        }
    }

    fn write_baseline(&self, path: &Path, findings: &[LintFinding]) -> Result<Exit, SessionError> {
        let baseline = Baseline::of(findings);
        let text = serde_json::to_string_pretty(&baseline).unwrap_or_default() + "\n";
        std::fs::write(path, text).map_err(|source| SessionError::Write { path: path.display().to_string(), source })?;
        self.ui.note(&format!("{} findings are in `{}` now", baseline.len(), path.display()));
        Ok(Exit::Ok)
    }
}

/// The text with its fixes.
fn with_fixes(text: &ProjectText, fixed: &[lint::FixedText]) -> ProjectText {
    let FileOrigin::File(path) = &text.origin else { return text.clone() };
    match fixed.iter().find(|one| one.path == *path) {
        Some(one) => ProjectText { source: asterisk_diag::Source::new(text.source.name(), one.text.clone()), ..text.clone() },
        None => text.clone(),
    }
}

/// The maximum bytes of a baseline; one finding takes about 300.
const BASELINE: usize = 64 << 20;

fn read_baseline(path: &Path, input: &InputStream) -> Result<Baseline, SessionError> {
    let help = "--write-baseline creates it";
    let bytes = read_answer(path, input, BASELINE)
        .map_err(|error| bad_request("lint/baseline", &format!("`{}` cannot be read: {error}", path.display()), help))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| bad_request("lint/baseline", &format!("`{}` is not a baseline: {error}", path.display()), help))
}

fn bad_request(code: &'static str, message: &str, help: &str) -> SessionError {
    SessionError::BadRequest(Box::new(Diagnostic::error(code, message).help(help)))
}

fn list(ui: &Ui) {
    if ui.format() == OutputFormat::Json {
        let rules = lint::rules().map(
            |rule| json!({ "id": rule.id, "severity": rule.level.name(), "fixable": is_fixable(rule), "summary": rule.summary }),
        );
        ui.json(&json!({ "schema_version": 1, "rules": rules.collect::<Vec<_>>() }));
        return;
    }
    let mut table = ui.table(&["rule", "level", "fix", "what it finds"]);
    let fix = |rule: &LintRule| if is_fixable(rule) { "yes" } else { "" };
    lint::rules().for_each(|rule: &LintRule| table.row([rule.id, rule.level.name(), fix(rule), rule.summary]));
    ui.out(&table.text());
}

/// Whether `--fix` fixes findings of a rule.
fn is_fixable(rule: &LintRule) -> bool {
    lint::FIXABLE.contains(&rule.id)
}

fn explain(ui: &Ui, id: &str) -> Result<Exit, SessionError> {
    let Some(rule) = lint::find(id) else {
        let hint =
            did_you_mean(id, lint::rules().map(|rule| rule.id)).unwrap_or_else(|| "asterisk lint --list shows them".to_owned());
        return Err(bad_request("lint/unknown-rule", &format!("unknown rule `{id}`"), &hint));
    };
    if ui.format() == OutputFormat::Json {
        ui.json(&json!({
            "schema_version": 1, "id": rule.id, "severity": rule.level.name(), "summary": rule.summary, "manual": rule.manual(),
            "options": rule.options.iter().map(|option| json!({ "name": option.name, "default": shown(option.default), "doc": option.doc })).collect::<Vec<_>>(),
        }));
        return Ok(Exit::Ok);
    }
    ui.out(&format!("# {}\n\n{} ({}).\n\n{}", rule.id, rule.summary, rule.level.name(), rule.manual().trim_end()));
    if !rule.options.is_empty() {
        ui.out("\nOptions, under `lint.options` in asterisk.yaml:\n");
        let line = |option: &lint::RuleOption| ui.out(&format!("- {} [{}]: {}", option.name, shown(option.default), option.doc));
        rule.options.iter().for_each(line);
    }
    Ok(Exit::Ok)
}

fn shown(value: lint::OptionDefault) -> serde_json::Value {
    match value {
        lint::OptionDefault::Int(number) => json!(number),
        lint::OptionDefault::Texts(texts) => json!(texts),
    }
}

fn show(ui: &Ui, format: LintFormat, outcome: &LintReport, texts: &[ProjectText]) {
    let findings = outcome.findings.as_slice();
    match format {
        LintFormat::Pretty => {
            for finding in findings {
                ui.finding(&finding.diagnostic);
            }
            ui.note(&plain(&summary(outcome, texts)));
        }
        LintFormat::Json => ui.json(&lint::json(findings)),
        LintFormat::Sarif => ui.json(&lint_report::sarif(findings)),
        LintFormat::Github => findings.iter().for_each(|finding| ui.command(&lint_report::github(finding))),
        LintFormat::Junit => ui.out(&lint_report::junit(findings, outcome.texts)),
    }
}

fn summary(outcome: &LintReport, texts: &[ProjectText]) -> String {
    let count = |level: LintLevel| outcome.findings.iter().filter(|finding| finding.level == level).count();
    let some = |number: usize, one: &str, many: &str| match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        number => Some(format!("{number} {many}")),
    };
    let parts = [
        some(count(LintLevel::Error), "error", "errors"),
        some(count(LintLevel::Warning), "warning", "warnings"),
        some(count(LintLevel::Note), "note", "notes"),
    ];
    let found: Vec<String> = parts.into_iter().flatten().collect();
    let found = if found.is_empty() { "nothing found".to_owned() } else { found.join(", ") };
    let allowed = some(outcome.allowed, "allowed", "allowed").map_or(String::new(), |allowed| format!(", {allowed}"));
    let files = some(outcome.texts, "file", "files").unwrap_or_else(|| "no files".to_owned());
    format!("{found}{allowed} in {files}{}", origins(texts))
}

/// Where the requested files are: the project's own directories, or bundled.
fn origins(texts: &[ProjectText]) -> String {
    let (own, bundled): (Vec<&ProjectText>, Vec<&ProjectText>) =
        texts.iter().filter(|text| text.requested).partition(|text| matches!(text.origin, FileOrigin::File(_)));
    let place = |text: &&ProjectText| {
        let root = text.shown.strip_suffix(text.source.name()).unwrap_or(&text.shown);
        let root = root.trim_end_matches('/');
        if root.is_empty() { text.shown.clone() } else { root.to_owned() }
    };
    let places: Vec<String> = own.iter().map(place).collect::<BTreeSet<_>>().into_iter().collect();
    match (own.len(), bundled.len()) {
        (0, 0) => String::new(),
        (0, _) => ", all bundled".to_owned(),
        (own, 0) => format!(": {own} in {}", places.join(", ")),
        (own, bundled) => format!(": {own} in {}, {bundled} bundled", places.join(", ")),
    }
}
