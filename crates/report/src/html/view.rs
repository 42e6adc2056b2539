//! Content of the page, with limits that keep the page of any launch readable and small.

use super::charts::{Bar, Histogram, bars, histogram, parts};
use super::over_time::{CausePast, OverTimeSection};
use crate::build::{ReportHead, RunReport};
use crate::case::{CaseReport, ReportTransition};
use crate::causes::Cause;
use crate::excerpt::{FailureExcerpt, MAX_EXCERPTS};
use crate::finding::CaseFinding;
use crate::queue::QueuedReview;
use crate::text::short;
use asterisk_base::clock::Timestamp;
use asterisk_diag::counted;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Maximum number of causes, and of cases without one.
const MAX_PANELS: usize = MAX_EXCERPTS;
/// Maximum number of causes with all details: a summary, evidence, rules, and the decisions of a case.
const MAX_DETAILED: usize = 50;
/// Maximum number of cases listed in all causes together, and in any of them.
const MAX_NAMED_CASES: usize = 2000;
const MAX_NAMED_OF_CAUSE: usize = 200;
/// Maximum number of entries of the review queue.
const MAX_QUEUED: usize = 40;
/// Maximum number of values that a filter offers.
const MAX_CHOICES: usize = 100;
/// The colour of a defect type without one.
const NO_COLOUR: &str = "grey";

/// The page.
#[derive(Debug, Serialize)]
pub(super) struct HtmlPage<'r> {
    report: ReportHead<'r>,
    title: String,
    status: &'static str,
    run_at: String,
    launch_at: Option<String>,
    duration: Option<String>,
    /// What the filters offer.
    defect_choices: Vec<FilterChoice<'r>>,
    owner_choices: Vec<FilterChoice<'r>>,
    causes: Vec<Panel<'r>>,
    /// Total number of causes.
    all_causes: usize,
    /// Number of causes on the page.
    listed: usize,
    /// Number of causes with all details.
    detailed: usize,
    /// The cases that belong to no cause.
    others: Vec<Panel<'r>>,
    /// Their total number.
    all_others: usize,
    /// The review queue, most uncertain and most frequent first.
    queue: Vec<QueuedReview>,
    /// Number of entries of the queue that are not listed.
    unqueued: usize,
    over: Option<OverTimeSection<'r>>,
    tiles: Vec<Tile>,
    tests: Vec<Bar>,
    defects: Vec<Bar>,
    categories: Vec<Bar>,
    confidence: Histogram,
    /// The colour of each defect type of the launch.
    colours: BTreeMap<&'r str, &'r str>,
}

/// A headline figure.
#[derive(Debug, Serialize)]
struct Tile {
    value: String,
    label: &'static str,
    hint: String,
}

/// A value that a filter selects.
#[derive(Debug, PartialEq, Serialize)]
struct FilterChoice<'r> {
    value: &'r str,
    label: &'r str,
    /// The number of failures that have it.
    count: usize,
}

/// A cause, or a case that belongs to none.
#[derive(Debug, Serialize)]
struct Panel<'r> {
    id: String,
    /// The cause; nothing for a case without one.
    cause: Option<&'r Cause>,
    title: &'r str,
    finding: &'r CaseFinding,
    colour: &'r str,
    /// Who owns it: the owners of the code, else the component.
    whose: Vec<&'r str>,
    /// Where the failure points at: `file:line`.
    place: Option<String>,
    excerpt: Option<&'r FailureExcerpt>,
    /// Whether all details are shown.
    detailed: bool,
    evidence: Vec<EvidenceItem<'r>>,
    reasons: &'r [crate::finding::DefectReason],
    named: Vec<NamedCase<'r>>,
    /// Number of cases not listed.
    unnamed: usize,
    review: Option<String>,
    past: Option<CausePast>,
    /// The case that represents it.
    case: Option<&'r CaseReport>,
    status: &'static str,
    turns: Vec<TransitionText<'r>>,
    context: Vec<(&'r str, String)>,
}

/// A piece of evidence: its place, and its text.
#[derive(Debug, PartialEq, Serialize)]
struct EvidenceItem<'r> {
    kind: &'r str,
    text: &'r str,
}

/// A case of a cause.
#[derive(Debug, Serialize)]
struct NamedCase<'r> {
    id: &'r str,
    name: &'r str,
    suite: &'r str,
    follows: &'r str,
    notes: &'r [String],
}

/// A transition in words.
#[derive(Debug, Serialize)]
struct TransitionText<'r> {
    code: &'r str,
    next: Option<&'r str>,
    turn: &'r ReportTransition,
}

impl<'r> HtmlPage<'r> {
    pub(super) fn of(report: &'r RunReport) -> Self {
        let launch = &report.launch;
        let number = launch.number.map_or(String::new(), |number| format!(" #{number}"));
        let meant: BTreeMap<&str, &str> = report.cases.iter().map(|case| (&*case.defect_type, &*case.defect_name)).collect();
        let named = |code: &str| meant.get(code).copied().unwrap_or_default().to_owned();
        let (causes, others) = panels(report);
        let mut queue = report.review_queue();
        let unqueued = queue.len().saturating_sub(MAX_QUEUED);
        queue.truncate(MAX_QUEUED);
        let of_defect = |panel: &Panel<'r>| vec![(panel.finding.defect_type.as_str(), panel.finding.defect_name.as_str())];
        let of_owner = |panel: &Panel<'r>| panel.whose.iter().map(|owner| (*owner, *owner)).collect();
        Self {
            queue,
            unqueued,
            title: format!("Root causes of {}{number}", launch.name),
            status: report.status.word(),
            run_at: instant(report.started_at),
            launch_at: launch.started_at.map(instant),
            duration: launch.started_at.zip(launch.ended_at).and_then(|(from, to)| duration(to.seconds_since(from))),
            defect_choices: choices(&causes, of_defect),
            owner_choices: choices(&causes, of_owner),
            tiles: tiles(report),
            over: report.regression.as_ref().map(OverTimeSection::of),
            tests: parts(&launch.totals),
            defects: bars(&report.totals.by_defect_type, named),
            categories: bars(&report.totals.by_category, |_| String::new()),
            confidence: histogram(report.cases.iter().map(|case| case.confidence)),
            colours: report.totals.by_defect_type.keys().map(|code| (code.as_str(), colour(report, code))).collect(),
            all_causes: report.causes.len(),
            listed: causes.len(),
            detailed: causes.len().min(MAX_DETAILED),
            all_others: report.cases.iter().filter(|case| case.cause.is_empty()).count(),
            causes,
            others,
            report: report.head(),
        }
    }
}

/// The causes, and the cases that belong to none.
fn panels(report: &RunReport) -> (Vec<Panel<'_>>, Vec<Panel<'_>>) {
    let all = &report.cases;
    let places: HashMap<&str, usize> = all.iter().enumerate().map(|(index, case)| (&*case.case, index)).collect();
    let is_first = report.regression.as_ref().is_none_or(|found| found.launches.len() < 2);
    let mut left = MAX_NAMED_CASES;
    let mut causes = Vec::new();
    for cause in report.causes.iter().take(MAX_PANELS) {
        let known = |id: &String| places.get(id.as_str()).copied();
        let shown = cause.cases.len().min(MAX_NAMED_OF_CAUSE).min(left);
        left -= shown;
        let named = cause.cases.iter().take(shown).filter_map(known).map(|index| {
            let case = &all[index];
            let notes = all.whole(index).map_or(&[][..], |case| &case.notes);
            NamedCase { id: &case.case, name: &case.name, suite: &case.suite, follows: &case.follows, notes }
        });
        let speaker = known(&cause.speaker);
        let case = speaker.and_then(|index| all.whole(index));
        let name = speaker.map_or("", |index| &all[index].name);
        causes.push(Panel {
            id: format!("cause-{}", cause.number),
            cause: Some(cause),
            excerpt: Some(&cause.excerpt),
            named: named.collect(),
            unnamed: cause.cases.len() - shown,
            past: CausePast::of(cause, is_first),
            ..panel(report, &cause.finding, name, case, cause.number <= MAX_DETAILED)
        });
    }
    let alone = all.iter().enumerate().filter(|(_, case)| case.cause.is_empty());
    let whole = alone.filter_map(|(index, _)| Some((index, all.whole(index)?))).take(MAX_PANELS);
    let others = whole.enumerate().map(|(count, (index, case))| Panel {
        id: format!("case-{}", index + 1),
        ..panel(report, &case.finding, &case.name, Some(case), count < MAX_DETAILED)
    });
    (causes, others.collect())
}

/// What causes and cases have in common. `name` is that of the test.
fn panel<'r>(
    report: &'r RunReport,
    finding: &'r CaseFinding,
    name: &'r str,
    case: Option<&'r CaseReport>,
    detailed: bool,
) -> Panel<'r> {
    let component = Some(finding.component.as_str()).filter(|component| finding.owners.is_empty() && !component.is_empty());
    let detail = case.filter(|_| detailed);
    let turns = detail.into_iter().flat_map(|case| {
        case.turns.iter().enumerate().map(|(index, turn)| TransitionText {
            code: case.path.get(index).unwrap_or(&turn.node),
            next: case.path.get(index + 1).map(String::as_str),
            turn,
        })
    });
    let value = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let context = detail.into_iter().flat_map(|case| &case.context);
    Panel {
        id: String::new(),
        cause: None,
        title: if finding.title.is_empty() { name } else { &finding.title },
        finding,
        colour: colour(report, &finding.defect_type),
        whose: finding.owners.iter().map(String::as_str).chain(component).collect(),
        place: finding
            .location
            .as_ref()
            .map(|at| if at.line == 0 { at.path.clone() } else { format!("{}:{}", at.path, at.line) }),
        excerpt: None,
        detailed,
        evidence: finding.evidence.iter().filter(|_| detailed).map(|item| evidence(item)).collect(),
        reasons: if detailed { &finding.reasons } else { &[] },
        named: Vec::new(),
        unnamed: 0,
        review: finding.review.as_ref().map(|review| format!("{} ({})", review.decision, review.by)),
        past: None,
        case,
        status: case.map_or("done", |case| case.status.word()),
        turns: turns.collect(),
        context: context.map(|(key, set)| (key.as_str(), short(&value(set), 400))).collect(),
    }
}

/// The colour of a defect type.
fn colour<'r>(report: &'r RunReport, code: &str) -> &'r str {
    report.colours.get(code).map_or(NO_COLOUR, String::as_str)
}

/// The values of the causes, those of most failures first.
fn choices<'r>(causes: &[Panel<'r>], of: impl Fn(&Panel<'r>) -> Vec<(&'r str, &'r str)>) -> Vec<FilterChoice<'r>> {
    let mut counts: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    for cause in causes {
        for (value, label) in of(cause).into_iter().filter(|(value, _)| !value.is_empty()) {
            counts.entry(value).or_insert((label, 0)).1 += cause.cause.map_or(0, |cause| cause.cases.len());
        }
    }
    let choice = |(value, (label, count))| FilterChoice { value, label: if str::is_empty(label) { value } else { label }, count };
    let mut choices: Vec<FilterChoice<'_>> = counts.into_iter().map(choice).collect();
    choices.sort_by_key(|choice| std::cmp::Reverse(choice.count));
    choices.truncate(MAX_CHOICES);
    choices
}

fn tiles(report: &RunReport) -> Vec<Tile> {
    let totals = &report.totals;
    let tile = |value: usize, label, hint: String| Tile { value: value.to_string(), label, hint };
    let biggest = report.causes.first().map_or(0, |cause| cause.cases.len());
    let mut tiles = vec![
        tile(totals.cases, "failures", format!("{} analysed", totals.done)),
        tile(report.causes.len(), "root causes", format!("the largest explains {}", counted(biggest, "failure", "failures"))),
    ];
    if totals.error > 0 {
        tiles.push(tile(totals.error, "not analysed", "their walk failed".into()));
    }
    if totals.open > 0 {
        tiles.push(tile(totals.open, "not finished", "their walk can be resumed".into()));
    }
    if totals.needs_review > 0 {
        tiles.push(tile(totals.needs_review, "need review", "confidence too low for automatic approval".into()));
    }
    let human = report.cases.iter().filter(|case| case.reviewed_by.as_deref() == Some("human"));
    let human = human.count();
    tiles.push(tile(
        human,
        "reviewed by a person",
        if human == 0 { "nothing can be pushed yet".into() } else { format!("of {}", totals.cases) },
    ));
    tiles
}

/// Parses `log: text` as evidence of the kind `log`.
fn evidence(item: &str) -> EvidenceItem<'_> {
    let named = |kind: &&str| kind.len() <= 24 && kind.starts_with(|c: char| c.is_ascii_lowercase());
    let plain = |kind: &&str| kind.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ' ');
    match item.split_once(": ") {
        Some((kind, text)) if named(&kind) && plain(&kind) => EvidenceItem { kind, text },
        _ => EvidenceItem { kind: "", text: item },
    }
}

/// Formats a time as `2026-03-02 02:00 UTC`.
fn instant(at: Timestamp) -> String {
    let text = at.to_string();
    match (text.get(..10), text.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute} UTC"),
        _ => text,
    }
}

/// Formats a duration as `1 h 11 min`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn duration(seconds: f64) -> Option<String> {
    if !(seconds > 0.0 && seconds < 1e9) {
        return None;
    }
    let seconds = seconds.round() as u64;
    Some(match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_says_what_it_is() {
        assert_eq!(evidence("log: a: b"), EvidenceItem { kind: "log", text: "a: b" });
        for text in ["http://x: y", "Error: y", "no kind"] {
            assert_eq!(evidence(text), EvidenceItem { kind: "", text });
        }
    }

    #[test]
    fn times_are_as_people_read_them() {
        assert_eq!(instant(Timestamp::from_millis(1_771_104_069_000)), "2026-02-14 21:21 UTC");
        let spans: Vec<_> = [42.4, 75.0, 4260.0, -1.0, f64::NAN].map(duration).into();
        let told = ["42 s", "1 min 15 s", "1 h 11 min"].map(|text| Some(text.to_owned()));
        assert_eq!(spans, [&told[..], &[None, None]].concat());
    }
}
