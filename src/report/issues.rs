//! Drafts of issues, one a cause: `jira/01-what-it-is.json` of every run, and what `asterisk push` gives. Nothing is sent by them.
//!
//! Of Jira, the fields are those of its create request. The description is wiki markup, because that is what a person can paste and
//! both Jira Server and Jira Cloud (REST version 2) take; the document format of version 3 is neither. Which kind of issue,
//! labels and versions it has is the summary script's business (`issue` of its finding); the text is `issue.txt`. Of GitHub it is the
//! body of an issue in its Markdown, by `issue.md`.

use super::build::{ReportHead, RunReport};
use super::cases::CaseBrief;
use super::causes::Cause;
use super::markdown::{code, line};
use super::text::{clean, short};
use super::timeline::{CauseState, LaunchOccurrence};
use crate::diag::Diagnostic;
use crate::prompt::fenced;
use crate::walk::WalkStatus;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value as Shown};
use minijinja::{AutoEscape, Environment, Error, Output, UndefinedBehavior};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The most drafts that are written; what else there is stands in `rca.json`.
const MOST: usize = 1000;
/// The most cases that a description names.
const NAMED: usize = 25;
/// The longest line of a description, in characters.
const LONGEST: usize = 2000;

/// Who let a cause pass, the least of its cases counting (`decisions.md` 40 and 46).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum ReviewLevel {
    /// Some case was never reviewed.
    None,
    /// A script or an agent.
    Auto,
    /// A person.
    Human,
}

/// For which tracker a draft is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueTracker {
    /// The fields of Jira's create request, as JSON.
    Jira,
    /// A body in GitHub's Markdown, below its title.
    Github,
}

/// A draft of an issue.
#[derive(Clone, Debug, Serialize)]
pub struct Draft {
    /// The cause's place in the report, from 1.
    pub cause: usize,
    /// What tells the cause from others, in every run: an issue that has it already is about the same.
    pub key: String,
    /// The issue's title.
    pub title: String,
    /// The cases of the cause.
    pub cases: Vec<String>,
    /// The name of a file for it.
    pub file: String,
    /// Its text, as it stands in that file.
    #[serde(skip)]
    pub text: String,
}

/// What a tracker is given.
#[derive(Debug, Serialize)]
struct TrackerDraft<'r> {
    schema_version: u32,
    run: &'r str,
    cause: usize,
    key: &'r str,
    /// Only what a person has reviewed may be pushed without asking again.
    review: ReviewLevel,
    /// How the report is sure of it.
    confidence: Option<f64>,
    fields: Map<String, Value>,
    /// Files of the run's directory to attach.
    attachments: Vec<&'static str>,
    links: Links<'r>,
}

/// What the issue belongs to.
#[derive(Debug, Serialize)]
struct Links<'r> {
    cases: &'r [String],
    rcas: &'r [i64],
    symptoms: &'r [i64],
}

/// What the description is made of.
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

/// The drafts of a run that is over: names of files, and their texts.
pub(super) fn issues(report: &RunReport) -> Result<Vec<(String, String)>, Box<Diagnostic>> {
    if !matches!(report.status, WalkStatus::Done | WalkStatus::Error) {
        return Ok(Vec::new());
    }
    Ok(drafts(report, IssueTracker::Jira, true)?.into_iter().map(|draft| (format!("jira/{}", draft.file), draft.text)).collect())
}

/// A draft of each cause. `attach`: the pages of the run tell of no more cases than the report does, and may go with them.
pub fn drafts(report: &RunReport, form: IssueTracker, attach: bool) -> Result<Vec<Draft>, Box<Diagnostic>> {
    let failed =
        |error: Error| Box::new(Diagnostic::error("report/issue", format!("an issue's text cannot be written: {error}")));
    let environment = environment(form).map_err(failed)?;
    let template = environment.get_template("issue").map_err(failed)?;
    let cases: HashMap<&str, usize> = report.cases.iter().enumerate().map(|(at, case)| (&*case.case, at)).collect();
    let width = report.causes.len().min(MOST).to_string().len().max(2);
    let mut drafts = Vec::new();
    for cause in report.causes.iter().take(MOST) {
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
            IssueTracker::Github => (format!("# {}\n\n{}", unmentioned(&line(&title)), body.trim()), "md"),
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
            cases: of_cause().take(NAMED).map(|case| (&*case.case, &*case.name, &*case.suite)).collect(),
            unnamed: cause.cases.len().saturating_sub(NAMED),
            path: speaker.map_or(String::new(), |case| case.path.join(" ")),
            cause,
            report: report.head(),
        }
    }
}

/// Who reviewed a case. What went no way through a review was reviewed by nobody.
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
        Some(text) if !value.is_safe() => out.write_str(&unmentioned(&line(&short(text, LONGEST)))).map_err(Error::from),
        _ => write!(out, "{value}").map_err(Error::from),
    });
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_filter("fixed", |value: f64, digits: usize| Shown::from_safe_string(format!("{value:.digits$}")));
    environment.add_filter("code", |text: String| Shown::from_safe_string(code(&short(&text, LONGEST))));
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

/// A line of Markdown in which nobody is called by name, whoever stands in a log.
fn unmentioned(line: &str) -> String {
    line.replace('@', "@<!-- -->")
}

/// A text on one line in which nothing is markup.
fn wiki(text: &str) -> String {
    let line = short(&clean(text), LONGEST);
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

/// A text for a block that is shown as it is; it cannot end the block.
fn verbatim(text: &str) -> String {
    cut(text).replace("{noformat", "{ noformat")
}

/// The beginning of a text, its lines as they are.
fn cut(text: &str) -> String {
    clean(text).chars().take(LONGEST).collect()
}

/// A title as a part of a file's name.
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
    fn a_body_calls_nobody() {
        assert_eq!(unmentioned(&line("by @octocat, #7 *x*")), "by @<!-- -->octocat, \\#7 \\*x\\*");
    }

    #[test]
    fn the_least_review_counts() {
        let least = |all: &[Option<&str>]| all.iter().map(|one| by(*one)).min();
        assert_eq!(least(&[Some("human"), Some("human")]), Some(ReviewLevel::Human));
        assert_eq!(least(&[Some("human"), Some("script")]), Some(ReviewLevel::Auto));
        assert_eq!(least(&[Some("agent"), None]), Some(ReviewLevel::None));
    }
}
