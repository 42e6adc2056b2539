//! Issue drafts, one for each cause: `jira/01-what-it-is.json` of every run, and the output of `asterisk push`. Nothing is sent.
//!
//! A Jira draft has the fields of Jira's create request. The description is wiki markup, which a person can paste and both Jira Server and
//! Jira Cloud (REST version 2) accept; version 3 has a document format that allows neither. Issue type, labels and versions come from the
//! summary script (`issue` of its finding); the text is rendered from `issue.txt`. A GitHub draft is the body of an issue in Markdown,
//! rendered from `issue.md`.

use super::build::{ReportHead, RunReport};
use super::cases::CaseBrief;
use super::causes::Cause;
use super::markdown::{code, line};
use super::text::{clean, short};
use super::timeline::{CauseState, LaunchOccurrence};
use asterisk_diag::Diagnostic;
use asterisk_prompt::fenced;
use asterisk_walk::WalkStatus;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value as Shown};
use minijinja::{AutoEscape, Environment, Error, Output, UndefinedBehavior};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Maximum number of drafts; `rca.json` contains all causes.
const MAX_DRAFTS: usize = 1000;
/// Maximum number of cases named in a description.
const MAX_NAMED_CASES: usize = 25;
/// Maximum length of a line in a description, in characters.
const MAX_LINE_CHARS: usize = 2000;

/// Review status of a cause: the lowest among its cases (`docs/decisions/0013-human-gate.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum ReviewLevel {
    /// Some case was not reviewed.
    None,
    /// Reviewed by a script or an agent.
    Auto,
    /// Reviewed by a person.
    Human,
}

/// Target tracker of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueTracker {
    /// Jira: the fields of its create request, as JSON.
    Jira,
    /// GitHub: a body in Markdown, below its title.
    Github,
}

/// A draft of an issue.
#[derive(Clone, Debug, Serialize)]
pub struct Draft {
    /// Number of the cause in the report, from 1.
    pub cause: usize,
    /// Key that identifies the cause across runs; an existing issue with the key is about the same cause.
    pub key: String,
    /// Title of the issue.
    pub title: String,
    /// Cases of the cause.
    pub cases: Vec<String>,
    /// File name of the draft.
    pub file: String,
    /// Content of that file.
    #[serde(skip)]
    pub text: String,
}

/// A draft with the data for its tracker.
#[derive(Debug, Serialize)]
struct TrackerDraft<'r> {
    schema_version: u32,
    run: &'r str,
    cause: usize,
    key: &'r str,
    /// Only drafts reviewed by a person may be pushed without confirmation.
    review: ReviewLevel,
    /// Confidence of the finding.
    confidence: Option<f64>,
    fields: Map<String, Value>,
    /// Files of the run's directory to attach.
    attachments: Vec<&'static str>,
    links: Links<'r>,
}

/// Origin of the issue.
#[derive(Debug, Serialize)]
struct Links<'r> {
    cases: &'r [String],
    rcas: &'r [i64],
    symptoms: &'r [i64],
}

/// Input of the description's template.
#[derive(Serialize)]
struct IssueText<'r> {
    cause: &'r Cause,
    report: ReportHead<'r>,
    review: ReviewLevel,
    since: Option<String>,
    before: Option<String>,
    back: bool,
    cases: Vec<(&'r str, &'r str, &'r str)>,
    unnamed: usize,
    path: String,
}

/// The drafts of a finished run: file names and contents.
pub(super) fn issues(report: &RunReport) -> Result<Vec<(String, String)>, Box<Diagnostic>> {
    if !matches!(report.status, WalkStatus::Done | WalkStatus::Error) {
        return Ok(Vec::new());
    }
    Ok(drafts(report, IssueTracker::Jira, true)?.into_iter().map(|draft| (format!("jira/{}", draft.file), draft.text)).collect())
}

/// A draft of each cause; one that follows from another is fixed with that one, and has none. `attach`: the pages of the run
/// cover the same cases as the report and may be attached.
pub fn drafts(report: &RunReport, form: IssueTracker, attach: bool) -> Result<Vec<Draft>, Box<Diagnostic>> {
    let failed =
        |error: Error| Box::new(Diagnostic::error("report/issue", format!("an issue's text cannot be written: {error}")));
    let environment = environment(form).map_err(failed)?;
    let template = environment.get_template("issue").map_err(failed)?;
    let cases: HashMap<&str, usize> = report.cases.iter().enumerate().map(|(at, case)| (&*case.case, at)).collect();
    let width = report.causes.len().min(MAX_DRAFTS).to_string().len().max(2);
    let mut drafts = Vec::new();
    for cause in report.causes.iter().filter(|cause| cause.follows.is_none()).take(MAX_DRAFTS) {
        let text = IssueText::of(report, cause, &cases);
        let body = template.render(Shown::from(Serde(&text))).map_err(failed)?;
        let title = short(&clean(&cause.finding.title), 200);
        let (mut text, ending) = match form {
            IssueTracker::Jira => {
                let mut fields = fields(report, cause, text.review, &title, &body);
                if !attach {
                    fields.attachments.clear();
                }
                (serde_json::to_string_pretty(&fields).unwrap_or_default(), "json")
            }
            IssueTracker::Github => (format!("# {}\n\n{}", without_mentions(&line(&title)), body.trim()), "md"),
        };
        text.push('\n');
        let file = format!("{:0width$}-{}.{ending}", cause.number, slug(&cause.finding.title));
        let key = cause.finding.cause.clone();
        drafts.push(Draft { cause: cause.number, key, title, cases: cause.cases.clone(), file, text });
    }
    Ok(drafts)
}

fn fields<'r>(report: &'r RunReport, cause: &'r Cause, review: ReviewLevel, title: &str, description: &str) -> TrackerDraft<'r> {
    let mut fields = cause.finding.issue.clone();
    fields.entry("summary").or_insert_with(|| title.into());
    fields.entry("description").or_insert_with(|| description.trim().into());
    if let (Some(CauseState::Regression), Some(labels)) =
        (cause.seen.state, fields.entry("labels").or_insert_with(|| json!([])).as_array_mut())
    {
        let label = json!(CauseState::Regression);
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    TrackerDraft {
        schema_version: 1,
        run: &report.run,
        cause: cause.number,
        key: &cause.finding.cause,
        review,
        confidence: cause.finding.confidence,
        fields,
        attachments: vec!["report.html", "rca.json"],
        links: Links { cases: &cause.cases, rcas: &cause.seen.rcas, symptoms: &cause.seen.symptoms },
    }
}

impl<'r> IssueText<'r> {
    fn of(report: &'r RunReport, cause: &'r Cause, cases: &HashMap<&str, usize>) -> Self {
        let of_cause = || cause.cases.iter().filter_map(|id| report.cases.get(*cases.get(id.as_str())?));
        let seen = &cause.seen;
        let speaker = cases.get(cause.speaker.as_str()).and_then(|at| report.cases.whole(*at));
        Self {
            review: of_cause().map(reviewed).min().unwrap_or(ReviewLevel::None),
            since: seen.since.as_ref().map(LaunchOccurrence::label),
            before: seen.elsewhere.first().map(LaunchOccurrence::label),
            back: seen.state == Some(CauseState::Regression),
            cases: of_cause().take(MAX_NAMED_CASES).map(|case| (&*case.case, &*case.name, &*case.suite)).collect(),
            unnamed: cause.cases.len().saturating_sub(MAX_NAMED_CASES),
            path: speaker.map_or(String::new(), |case| case.path.join(" ")),
            cause,
            report: report.head(),
        }
    }
}

/// The review status of a case; a case that skipped the review is unreviewed.
fn reviewed(case: &CaseBrief) -> ReviewLevel {
    by(case.reviewed_by.as_deref())
}

fn by(who: Option<&str>) -> ReviewLevel {
    match who {
        Some("human") => ReviewLevel::Human,
        Some(_) => ReviewLevel::Auto,
        None => ReviewLevel::None,
    }
}

fn environment(form: IssueTracker) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_formatter(move |out: &mut Output<'_>, _, value: &Shown| match value.as_str() {
        Some(text) if !value.is_safe() && form == IssueTracker::Jira => out.write_str(&wiki(text)).map_err(Error::from),
        Some(text) if !value.is_safe() => {
            out.write_str(&without_mentions(&line(&short(text, MAX_LINE_CHARS)))).map_err(Error::from)
        }
        _ => write!(out, "{value}").map_err(Error::from),
    });
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_filter("fixed", |value: f64, digits: usize| Shown::from_safe_string(format!("{value:.digits$}")));
    environment.add_filter("code", |text: String| Shown::from_safe_string(code(&short(&text, MAX_LINE_CHARS))));
    match form {
        IssueTracker::Jira => {
            environment.add_filter("verbatim", |text: String| Shown::from_safe_string(verbatim(&text)));
            environment.add_template("issue", include_str!("issue.txt"))?;
        }
        IssueTracker::Github => {
            environment.add_filter("verbatim", |text: String| Shown::from_safe_string(fenced(&cut(&text), "text")));
            environment.add_template("issue", include_str!("issue.md"))?;
        }
    }
    Ok(environment)
}

/// A line of Markdown without mentions of users.
fn without_mentions(line: &str) -> String {
    line.replace('@', "@<!-- -->")
}

/// Escapes wiki markup in a one-line text.
fn wiki(text: &str) -> String {
    let line = short(&clean(text), MAX_LINE_CHARS);
    let mut out = String::with_capacity(line.len());
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        let special = matches!(c, '\\' | '{' | '}' | '[' | ']' | '*' | '_' | '+' | '^' | '~' | '|' | '!' | '#');
        // A dash strikes out only at the edge of a word; question marks cite only in pairs.
        // `(x)` and the like become icons.
        let icon = c == '(' && line[at..].chars().nth(2) == Some(')');
        if special || icon || (c == '-' && !before.is_alphanumeric()) || (c == '?' && before == '?') {
            out.push('\\');
        }
        out.push(c);
        before = c;
    }
    out
}

/// A text for a verbatim block, which it cannot terminate.
fn verbatim(text: &str) -> String {
    cut(text).replace("{noformat", "{ noformat")
}

/// The beginning of a text, with its line breaks.
fn cut(text: &str) -> String {
    clean(text).chars().take(MAX_LINE_CHARS).collect()
}

/// A title as part of a file name.
fn slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= 48 {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "cause".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup_that_should_not_be() {
        assert_eq!(
            wiki("h1. *b* {code}\n[x|http://a] checkout-nightly -out- ?? f(x) g(1, 2)"),
            "h1. \\*b\\* \\{code\\} \\[x\\|http://a\\] checkout-nightly \\-out- ?\\? f\\(x) g(1, 2)"
        );
        assert_eq!(verbatim("a\n{noformat}*b*"), "a\n{ noformat}*b*");
        assert_eq!((slug("Ein Änderung: [x]!"), slug("🔧")), ("ein-nderung-x".into(), "cause".into()));
    }

    #[test]
    fn a_body_mentions_no_account() {
        assert_eq!(without_mentions(&line("by @octocat, #7 *x*")), "by @<!-- -->octocat, \\#7 \\*x\\*");
    }

    #[test]
    fn the_least_review_counts() {
        let least = |all: &[Option<&str>]| all.iter().map(|one| by(*one)).min();
        assert_eq!(least(&[Some("human"), Some("human")]), Some(ReviewLevel::Human));
        assert_eq!(least(&[Some("human"), Some("script")]), Some(ReviewLevel::Auto));
        assert_eq!(least(&[Some("agent"), None]), Some(ReviewLevel::None));
    }
}
