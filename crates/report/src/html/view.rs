//! Content of the page, with limits that keep the page of any launch readable and small.

use super::charts::{Bar, Histogram, bars, histogram, parts};
use super::graph::{Graph, graph};
use super::over_time::{CausePast, OverTimeSection};
use crate::build::{ReportHead, RunReport};
use crate::case::{CaseReport, ReportTransition};
use crate::cases::{CaseBrief, MAX_DETAILED};
use crate::causes::Cause;
use crate::queue::QueuedReview;
use crate::text::short;
use asterisk_base::clock::Timestamp;
use asterisk_diag::counted;
use asterisk_walk::WalkStatus;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of causes with a card.
const MAX_CARDS: usize = 60;
/// Maximum number of causes in the list at the top.
const MAX_LISTED: usize = 300;
/// Maximum number of cases listed in a card.
const MAX_NAMED_CASES: usize = 25;
/// Maximum number of entries of the review queue.
const MAX_QUEUED: usize = 40;
/// Maximum number of rows in the table of cases.
const MAX_ROWS: usize = 2000;

/// The page.
#[derive(Debug, Serialize)]
pub(super) struct HtmlPage<'r> {
    report: ReportHead<'r>,
    title: String,
    status: &'static str,
    run_at: String,
    launch_at: Option<String>,
    duration: Option<String>,
    tiles: Vec<Tile>,
    tests: Vec<Bar>,
    defects: Vec<Bar>,
    categories: Vec<Bar>,
    confidence: Histogram,
    over: Option<OverTimeSection<'r>>,
    /// The review queue, most uncertain and most frequent first.
    queue: Vec<QueuedRow>,
    /// Number of entries of the queue that are not listed.
    unqueued: usize,
    causes: Vec<Card<'r>>,
    /// Total number of causes.
    all_causes: usize,
    /// Number of causes with a card.
    cards: usize,
    rows: Vec<CaseRow<'r>>,
    details: Vec<Detail<'r>>,
}

/// An entry of the review queue.
#[derive(Debug, Serialize)]
struct QueuedRow {
    #[serde(flatten)]
    entry: QueuedReview,
    /// Whether its cause has a card.
    has_card: bool,
}

/// A headline figure.
#[derive(Debug, Serialize)]
struct Tile {
    value: String,
    label: &'static str,
    hint: String,
}

/// A cause.
#[derive(Debug, Serialize)]
struct Card<'r> {
    #[serde(flatten)]
    cause: &'r Cause,
    colour: usize,
    confidence: Option<f64>,
    evidence: Vec<EvidenceItem<'r>>,
    named: Vec<NamedCase<'r>>,
    /// Number of cases not listed.
    unnamed: usize,
    graph: Option<Graph>,
    review: Option<String>,
    past: Option<CausePast>,
}

/// A piece of evidence: its place, and its text.
#[derive(Debug, PartialEq, Serialize)]
struct EvidenceItem<'r> {
    kind: &'r str,
    text: &'r str,
}

/// A case in a card.
#[derive(Debug, Serialize)]
struct NamedCase<'r> {
    id: &'r str,
    name: &'r str,
    suite: &'r str,
    follows: &'r str,
    /// Index of its details, if they are on the page.
    detail: Option<usize>,
}

/// A case in the table.
#[derive(Debug, Serialize)]
struct CaseRow<'r> {
    #[serde(flatten)]
    named: NamedCase<'r>,
    cause: Option<usize>,
    defect: &'r str,
    category: &'r str,
    component: &'r str,
    confidence: Option<f64>,
    path: &'r [String],
    status: &'static str,
}

/// The decisions of a case.
#[derive(Debug, Serialize)]
struct Detail<'r> {
    number: usize,
    case: &'r CaseReport,
    cause: Option<usize>,
    status: &'static str,
    turns: Vec<TransitionText<'r>>,
    context: Vec<(&'r str, String)>,
    graph: Option<Graph>,
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
        let defects = bars(&report.totals.by_defect_type, |code| meant.get(code).copied().unwrap_or_default().to_owned());
        let colours: BTreeMap<String, usize> = defects.iter().map(|bar| (bar.name.clone(), bar.colour)).collect();
        let cases: HashMap<&str, usize> = report.cases.iter().enumerate().map(|(index, case)| (&*case.case, index)).collect();
        let causes_of: HashMap<&str, usize> =
            report.causes.iter().flat_map(|cause| cause.cases.iter().map(|case| (case.as_str(), cause.number))).collect();
        let detailed = detailed(report);
        let cards = Cards { report, cases: &cases, detailed: &detailed, colours: &colours };
        let causes: Vec<Card<'_>> = report.causes.iter().take(MAX_LISTED).map(|cause| cards.card(cause)).collect();
        let rows = report.cases.iter().enumerate().take(MAX_ROWS).map(|(index, case)| CaseRow {
            named: named(index, case, &detailed),
            cause: causes_of.get(&*case.case).copied(),
            defect: &case.defect_type,
            category: &case.category,
            component: &case.component,
            confidence: case.confidence,
            path: &case.path,
            status: case.status.word(),
        });
        let details = detailed.iter().filter_map(|index| {
            let case = report.cases.whole(*index)?;
            Some(detail(report, *index + 1, case, causes_of.get(case.case.as_str()).copied()))
        });
        let mut queue = report.review_queue();
        let unqueued = queue.len().saturating_sub(MAX_QUEUED);
        queue.truncate(MAX_QUEUED);
        let queued = |entry: QueuedReview| QueuedRow { has_card: entry.cause.is_some_and(|cause| cause <= MAX_CARDS), entry };
        Self {
            queue: queue.into_iter().map(queued).collect(),
            unqueued,
            title: format!("Root causes of {}{number}", launch.name),
            status: report.status.word(),
            run_at: instant(report.started_at),
            launch_at: launch.started_at.map(instant),
            duration: launch.started_at.zip(launch.ended_at).and_then(|(from, to)| duration(to.seconds_since(from))),
            tiles: tiles(report),
            over: report.regression.as_ref().map(OverTimeSection::of),
            tests: parts(&launch.totals),
            categories: bars(&report.totals.by_category, |_| String::new()),
            confidence: histogram(report.cases.iter().map(|case| case.confidence)),
            all_causes: report.causes.len(),
            cards: report.causes.len().min(MAX_CARDS),
            rows: rows.collect(),
            details: details.collect(),
            defects,
            causes,
            report: report.head(),
        }
    }
}

/// Context for building cards.
struct Cards<'p, 'r> {
    report: &'r RunReport,
    cases: &'p HashMap<&'r str, usize>,
    detailed: &'p BTreeSet<usize>,
    colours: &'p BTreeMap<String, usize>,
}

impl<'r> Cards<'_, 'r> {
    fn card(&self, cause: &'r Cause) -> Card<'r> {
        let finding = &cause.finding;
        let known = |id: &'r String| self.cases.get(id.as_str()).copied();
        let all = &self.report.cases;
        let name = |index: usize| Some(named(index, all.get(index)?, self.detailed));
        let names = cause.cases.iter().take(MAX_NAMED_CASES).filter_map(known).filter_map(name);
        let speaker = known(&cause.speaker).and_then(|index| all.whole(index));
        Card {
            colour: self.colours.get(finding.defect_type.as_str()).copied().unwrap_or_default(),
            confidence: finding.confidence,
            evidence: finding.evidence.iter().map(|item| evidence(item)).collect(),
            named: names.collect(),
            unnamed: cause.cases.len().saturating_sub(MAX_NAMED_CASES),
            graph: speaker.filter(|_| cause.number <= MAX_CARDS).and_then(|case| graph(&self.report.nodes, case)),
            past: CausePast::of(cause, self.report.regression.as_ref().is_none_or(|found| found.launches.len() < 2)),
            review: finding.review.as_ref().map(|review| format!("{} ({})", review.decision, review.by)),
            cause,
        }
    }
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

/// The cases whose decisions are shown: all if there are few; else those that represent a cause, those that failed, and then the first
/// ones.
fn detailed(report: &RunReport) -> BTreeSet<usize> {
    let cases = &report.cases;
    if cases.len() <= MAX_DETAILED {
        return (0..cases.len()).collect();
    }
    let speakers: BTreeSet<&str> = report.causes.iter().take(MAX_CARDS).map(|cause| cause.speaker.as_str()).collect();
    let indices = || cases.iter().enumerate();
    let speaking = indices().filter(|(_, case)| speakers.contains(&*case.case));
    let failed = indices().filter(|(_, case)| case.status == WalkStatus::Error);
    let mut chosen = BTreeSet::new();
    for (index, _) in speaking.chain(failed).chain(indices()) {
        if chosen.len() == MAX_DETAILED {
            break;
        }
        chosen.insert(index);
    }
    chosen
}

fn named<'r>(index: usize, case: &'r CaseBrief, detailed: &BTreeSet<usize>) -> NamedCase<'r> {
    let detail = detailed.contains(&index).then_some(index + 1);
    NamedCase { id: &case.case, name: &case.name, suite: &case.suite, follows: &case.follows, detail }
}

fn detail<'r>(report: &'r RunReport, number: usize, case: &'r CaseReport, cause: Option<usize>) -> Detail<'r> {
    let turns = case.turns.iter().enumerate().map(|(index, turn)| TransitionText {
        code: case.path.get(index).unwrap_or(&turn.node),
        next: case.path.get(index + 1).map(String::as_str),
        turn,
    });
    let value = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Detail {
        number,
        cause,
        status: case.status.word(),
        turns: turns.collect(),
        context: case.context.iter().map(|(key, set)| (key.as_str(), short(&value(set), 400))).collect(),
        graph: graph(&report.nodes, case),
        case,
    }
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
