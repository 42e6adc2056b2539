//! The cases of a report: all that is said of them, or of a large run what is asked of every case, with the rest in a file.

use super::case::CaseReport;
use crate::walk::WalkStatus;
use compact_str::CompactString;
use serde::ser::{Error as _, SerializeSeq as _};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::hash::Hash;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Deref;
use std::sync::Arc;

/// The most cases of which a page tells every decision.
pub(super) const DETAILS: usize = 300;

/// The cases of a report, in the order of the launch.
///
/// As a slice it tells of every case where it belongs ([`CaseBrief`]). All parts of a case are in [`CaseReports::whole`]: of
/// a large run only those of the cases that were asked for by [`CaseReports::fetch`]. [`CaseReports::each`] and the
/// serialised form have all parts of all cases.
#[derive(Debug)]
pub struct CaseReports {
    briefs: Vec<CaseBrief>,
    shared: SharedTexts,
    whole: AllCaseReports,
}

/// What many cases have in common, each once.
#[derive(Debug, Default)]
struct SharedTexts {
    texts: HashSet<Arc<str>>,
    paths: HashSet<Arc<[String]>>,
    told: HashSet<Arc<CaseConclusion>>,
}

/// What every case is asked for, however many there are. What others have in common with it is [`CaseConclusion`].
#[derive(Clone, Debug)]
pub struct CaseBrief {
    /// Its id.
    pub case: CompactString,
    /// The test's name.
    pub name: Box<str>,
    /// How its walk ended.
    pub status: WalkStatus,
    /// How sure the conclusion is, 0 to 1; absent when nothing was concluded.
    pub confidence: Option<f64>,
    /// The path it took, by node codes where there are any.
    pub path: Arc<[String]>,
    told: Arc<CaseConclusion>,
}

/// What was concluded of some cases.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CaseConclusion {
    /// What the test stands in.
    pub suite: Arc<str>,
    /// What kind of failure it is.
    pub category: Arc<str>,
    /// Whose defect it is: a code.
    pub defect_type: Arc<str>,
    /// That code in words.
    pub defect_name: Arc<str>,
    /// What is suspected to be broken.
    pub component: Arc<str>,
    /// Cases with the same key share a cause.
    pub cause: Arc<str>,
    /// The case whose failure made this one fail; empty if there is none.
    pub follows: Arc<str>,
    /// Who let the conclusion pass, if anyone did.
    pub reviewed_by: Option<Arc<str>>,
}

/// All parts of cases.
#[derive(Debug)]
enum AllCaseReports {
    Kept(Vec<CaseReport>),
    Filed { rest: CaseSpill, fetched: BTreeMap<usize, CaseReport> },
}

/// A file without a name that has one case a line, as JSON.
#[derive(Debug)]
struct CaseSpill {
    file: BufWriter<File>,
    /// Where each line begins.
    places: Vec<u64>,
    /// Where the next line will begin.
    end: u64,
}

impl Deref for CaseBrief {
    type Target = CaseConclusion;

    fn deref(&self) -> &CaseConclusion {
        &self.told
    }
}

/// The known one that is equal, or this one from now on.
fn known<Q: ?Sized + Eq + Hash>(set: &mut HashSet<Arc<Q>>, value: &Q, make: impl FnOnce() -> Arc<Q>) -> Arc<Q> {
    if let Some(known) = set.get(value) {
        return Arc::clone(known);
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
    /// None yet, of so many. `kept`: all parts will stay in memory.
    pub(super) fn new(kept: bool, cases: usize) -> io::Result<Self> {
        let whole = if kept {
            AllCaseReports::Kept(Vec::new())
        } else {
            let rest = CaseSpill { file: BufWriter::new(tempfile::tempfile()?), places: Vec::with_capacity(cases), end: 0 };
            AllCaseReports::Filed { rest, fetched: BTreeMap::new() }
        };
        Ok(Self { briefs: Vec::with_capacity(cases), shared: SharedTexts::default(), whole })
    }

    /// Adds a case behind the others.
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
        let mut text = |text: &str| known(&mut shared.texts, text, || text.into());
        let told = CaseConclusion {
            suite: text(&case.suite),
            category: text(&finding.category),
            defect_type: text(&finding.defect_type),
            defect_name: text(&finding.defect_name),
            component: text(&finding.component),
            cause: text(&finding.cause),
            follows: text(&finding.follows),
            reviewed_by: finding.review.as_ref().map(|review| text(&review.by)),
        };
        CaseBrief {
            case: case.case.as_str().into(),
            name: case.name.as_str().into(),
            status: case.status,
            confidence: finding.confidence,
            path: known(&mut shared.paths, case.path.as_slice(), || case.path.as_slice().into()),
            told: known(&mut shared.told, &told, || Arc::new(told.clone())),
        }
    }

    /// Reads all parts of these cases back; call it when the last one has been added.
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

    /// All parts of the case at a place, if it is at hand: it is unless the run is large and nobody asked for the case.
    pub fn whole(&self, place: usize) -> Option<&CaseReport> {
        match &self.whole {
            AllCaseReports::Kept(cases) => cases.get(place),
            AllCaseReports::Filed { fetched, .. } => fetched.get(&place),
        }
    }

    /// Shows every case with all its parts, and ends at the first error.
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
        let told = self.each(|case| {
            refused = refused.take().or_else(|| cases.serialize_element(case).err());
            if refused.is_some() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
        });
        match (refused, told) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(S::Error::custom(error)),
            (None, Ok(())) => cases.end(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::case::ReportTransition;
    use crate::report::finding::CaseFinding;
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
