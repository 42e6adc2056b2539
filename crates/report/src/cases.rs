//! The cases of a report: full details, or for a large run a summary of each case with the details in a temporary file.

use super::case::CaseReport;
use asterisk_walk::WalkStatus;
use compact_str::CompactString;
use serde::ser::{Error as _, SerializeSeq as _};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::hash::Hash;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Deref;
use std::sync::Arc;

/// Maximum number of cases whose decisions a page shows.
pub(super) const MAX_DETAILED: usize = 300;

/// The cases of a report, in the order of the launch.
///
/// Dereferences to a slice of summaries ([`CaseBrief`]). [`CaseReports::whole`] returns the details of a case; for a large run only of the
/// cases loaded by [`CaseReports::fetch`]. [`CaseReports::each`] and the serialised form contain the details of all cases.
#[derive(Debug)]
pub struct CaseReports {
    briefs: Vec<CaseBrief>,
    shared: SharedTexts,
    whole: AllCaseReports,
}

/// Interned values that many cases share.
#[derive(Debug, Default)]
struct SharedTexts {
    texts: HashSet<Arc<str>>,
    paths: HashSet<Arc<[String]>>,
    conclusions: HashSet<Arc<CaseConclusion>>,
}

/// Summary of a case, kept in memory for every case. The part it shares with other cases is [`CaseConclusion`].
#[derive(Clone, Debug)]
pub struct CaseBrief {
    /// Id of the case.
    pub case: CompactString,
    /// Name of the test.
    pub name: Box<str>,
    /// Status of its walk.
    pub status: WalkStatus,
    /// Confidence of the conclusion, 0 to 1; absent without a conclusion.
    pub confidence: Option<f64>,
    /// Path of the walk, by node codes where there are any.
    pub path: Arc<[String]>,
    conclusion: Arc<CaseConclusion>,
}

/// The part of a conclusion that several cases may share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CaseConclusion {
    /// Suite of the test.
    pub suite: Arc<str>,
    /// Category of the failure.
    pub category: Arc<str>,
    /// Defect type code.
    pub defect_type: Arc<str>,
    /// Name of the defect type.
    pub defect_name: Arc<str>,
    /// Suspected component.
    pub component: Arc<str>,
    /// Cause key: cases with the same key share a cause.
    pub cause: Arc<str>,
    /// The case whose failure made this one fail; empty if there is none.
    pub follows: Arc<str>,
    /// Who reviewed the conclusion, if anyone did.
    pub reviewed_by: Option<Arc<str>>,
    /// What the review decided.
    pub decision: Option<Arc<str>>,
    /// Why a person should review it; empty if none needs to.
    pub needs_review: Arc<str>,
}

/// Details of the cases.
#[derive(Debug)]
enum AllCaseReports {
    Kept(Vec<CaseReport>),
    Filed { rest: CaseSpill, fetched: BTreeMap<usize, CaseReport> },
}

/// An unnamed temporary file with one case per line, as JSON.
#[derive(Debug)]
struct CaseSpill {
    file: BufWriter<File>,
    /// Offset of each line.
    places: Vec<u64>,
    /// Offset of the next line.
    end: u64,
}

impl Deref for CaseBrief {
    type Target = CaseConclusion;

    fn deref(&self) -> &CaseConclusion {
        &self.conclusion
    }
}

/// Interns a value.
fn intern<Q: ?Sized + Eq + Hash>(set: &mut HashSet<Arc<Q>>, value: &Q, make: impl FnOnce() -> Arc<Q>) -> Arc<Q> {
    if let Some(found) = set.get(value) {
        return Arc::clone(found);
    }
    let made = make();
    set.insert(Arc::clone(&made));
    made
}

impl Deref for CaseReports {
    type Target = [CaseBrief];

    fn deref(&self) -> &Self::Target {
        &self.briefs
    }
}

impl CaseReports {
    /// An empty list with a capacity. `kept`: all details stay in memory.
    pub(super) fn new(kept: bool, cases: usize) -> io::Result<Self> {
        let whole = if kept {
            AllCaseReports::Kept(Vec::new())
        } else {
            let rest = CaseSpill { file: BufWriter::new(tempfile::tempfile()?), places: Vec::with_capacity(cases), end: 0 };
            AllCaseReports::Filed { rest, fetched: BTreeMap::new() }
        };
        Ok(Self { briefs: Vec::with_capacity(cases), shared: SharedTexts::default(), whole })
    }

    /// Appends a case.
    pub(super) fn push(&mut self, case: CaseReport) -> io::Result<()> {
        let brief = self.brief(&case);
        self.briefs.push(brief);
        match &mut self.whole {
            AllCaseReports::Kept(cases) => cases.push(case),
            AllCaseReports::Filed { rest, .. } => {
                let mut line = serde_json::to_vec(&case)?;
                line.push(b'\n');
                rest.file.write_all(&line)?;
                rest.places.push(rest.end);
                rest.end += line.len() as u64;
            }
        }
        Ok(())
    }

    fn brief(&mut self, case: &CaseReport) -> CaseBrief {
        let (finding, shared) = (&case.finding, &mut self.shared);
        let mut text = |text: &str| intern(&mut shared.texts, text, || text.into());
        let conclusion = CaseConclusion {
            suite: text(&case.suite),
            category: text(&finding.category),
            defect_type: text(&finding.defect_type),
            defect_name: text(&finding.defect_name),
            component: text(&finding.component),
            cause: text(&finding.cause),
            follows: text(&finding.follows),
            reviewed_by: finding.review.as_ref().map(|review| text(&review.by)),
            decision: finding.review.as_ref().map(|review| text(&review.decision)),
            needs_review: text(&finding.needs_review),
        };
        CaseBrief {
            case: case.case.as_str().into(),
            name: case.name.as_str().into(),
            status: case.status,
            confidence: finding.confidence,
            path: intern(&mut shared.paths, case.path.as_slice(), || case.path.as_slice().into()),
            conclusion: intern(&mut shared.conclusions, &conclusion, || Arc::new(conclusion.clone())),
        }
    }

    /// Loads the details of these cases; to be called after the last one has been added.
    pub(super) fn fetch(&mut self, cases: impl IntoIterator<Item = usize>) -> io::Result<()> {
        let AllCaseReports::Filed { rest, fetched } = &mut self.whole else { return Ok(()) };
        rest.file.flush()?;
        let mut file = BufReader::new(rest.file.get_ref());
        let mut line = String::new();
        for case in cases {
            let Some(place) = rest.places.get(case) else { continue };
            file.seek(SeekFrom::Start(*place))?;
            line.clear();
            file.read_line(&mut line)?;
            fetched.insert(case, serde_json::from_str(&line)?);
        }
        Ok(())
    }

    /// The details of the case at an index, if loaded: always, unless the run is large.
    pub fn whole(&self, place: usize) -> Option<&CaseReport> {
        match &self.whole {
            AllCaseReports::Kept(cases) => cases.get(place),
            AllCaseReports::Filed { fetched, .. } => fetched.get(&place),
        }
    }

    /// Passes every case with its details to `visit` until the first error.
    pub fn each(&self, mut visit: impl FnMut(&CaseReport) -> io::Result<()>) -> io::Result<()> {
        let rest = match &self.whole {
            AllCaseReports::Kept(cases) => return cases.iter().try_for_each(visit),
            AllCaseReports::Filed { rest, .. } => rest,
        };
        let mut file = rest.file.get_ref();
        file.seek(SeekFrom::Start(0))?;
        for line in BufReader::new(file.take(rest.end)).lines() {
            visit(&serde_json::from_str(&line?)?)?;
        }
        Ok(())
    }
}

impl Serialize for CaseReports {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut cases = serializer.serialize_seq(Some(self.briefs.len()))?;
        let mut refused = None;
        let written = self.each(|case| {
            refused = refused.take().or_else(|| cases.serialize_element(case).err());
            if refused.is_some() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
        });
        match (refused, written) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(S::Error::custom(error)),
            (None, Ok(())) => cases.end(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::ReportTransition;
    use crate::finding::CaseFinding;
    use serde_json::json;

    fn case(id: usize) -> CaseReport {
        let finding = CaseFinding {
            title: format!("title\n{id}"),
            cause: "k".into(),
            confidence: Some(0.1 + 0.2),
            evidence: vec!["e".into()],
            issue: serde_json::Map::from_iter([("labels".to_owned(), json!([id]))]),
            ..CaseFinding::default()
        };
        let turns = vec![ReportTransition { node: "n".into(), because: "b".into(), ..ReportTransition::default() }];
        CaseReport { case: id.to_string(), name: "n".into(), path: vec!["F0".into()], finding, turns, ..CaseReport::default() }
    }

    #[test]
    fn kept_or_in_a_file_the_cases_are_the_same() {
        let [mut kept, mut filed] = [true, false].map(|kept| CaseReports::new(kept, 9).expect("a file"));
        for id in 0..9 {
            for cases in [&mut kept, &mut filed] {
                cases.push(case(id)).expect("written");
            }
        }
        filed.fetch([3, 5, 99]).expect("read");
        let text = |cases: &CaseReports| serde_json::to_string_pretty(cases).expect("json");
        assert_eq!(text(&kept), text(&filed));
        let whole: Vec<bool> = (0..9).map(|at| filed.whole(at).is_some_and(|case| !case.turns.is_empty())).collect();
        assert_eq!(whole, (0..9).map(|id| id == 3 || id == 5).collect::<Vec<_>>());
        assert!((0..9).all(|at| kept.whole(at).is_some()) && kept.whole(9).is_none());
        assert_eq!((&*filed[7].cause, filed[7].confidence), ("k", Some(0.1 + 0.2)));
    }
}
