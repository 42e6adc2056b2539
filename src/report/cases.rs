//! The cases of a report: all that is said of them, or of a large run what is asked of every case, with the rest in a file.

use super::build::CaseReport;
use super::finding::Finding;
use serde::ser::{Error as _, SerializeSeq as _};
use serde::{Serialize, Serializer};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Deref;

/// The cases of a report, in the order of the launch.
///
/// As a slice it tells of every case where it belongs (id, name, suite, status, category, defect, component, confidence, cause,
/// review). Of a large run, only the cases that were asked for by [`CaseReports::fetch`] have all their parts in it;
/// [`CaseReports::each`] and the serialised form have all parts of all cases.
#[derive(Debug, Default)]
pub struct CaseReports {
    brief: Vec<CaseReport>,
    rest: Option<Rest>,
}

/// A file without a name that has one case a line, as JSON.
#[derive(Debug)]
struct Rest {
    file: BufWriter<File>,
    /// Where each line begins.
    places: Vec<u64>,
    /// Where the next line will begin.
    end: u64,
}

impl Deref for CaseReports {
    type Target = [CaseReport];

    fn deref(&self) -> &Self::Target {
        &self.brief
    }
}

impl CaseReports {
    /// None yet. `kept`: all parts will stay in memory.
    pub(super) fn new(kept: bool) -> io::Result<Self> {
        let rest = || Ok::<_, io::Error>(Rest { file: BufWriter::new(tempfile::tempfile()?), places: Vec::new(), end: 0 });
        Ok(Self { brief: Vec::new(), rest: if kept { None } else { Some(rest()?) } })
    }

    /// Adds a case behind the others.
    pub(super) fn push(&mut self, case: CaseReport) -> io::Result<()> {
        let Some(rest) = &mut self.rest else {
            self.brief.push(case);
            return Ok(());
        };
        let mut line = serde_json::to_vec(&case)?;
        line.push(b'\n');
        rest.file.write_all(&line)?;
        rest.places.push(rest.end);
        rest.end += line.len() as u64;
        self.brief.push(brief(case));
        Ok(())
    }

    /// Reads all parts of these cases back; call it when the last one has been added.
    pub(super) fn fetch(&mut self, cases: impl IntoIterator<Item = usize>) -> io::Result<()> {
        let Some(rest) = &mut self.rest else { return Ok(()) };
        rest.file.flush()?;
        let mut file = BufReader::new(rest.file.get_ref());
        let mut line = String::new();
        for case in cases {
            let (Some(place), Some(slot)) = (rest.places.get(case), self.brief.get_mut(case)) else { continue };
            file.seek(SeekFrom::Start(*place))?;
            line.clear();
            file.read_line(&mut line)?;
            *slot = serde_json::from_str(&line)?;
        }
        Ok(())
    }

    /// Shows every case with all its parts, and ends at the first error.
    pub fn each(&self, mut visit: impl FnMut(&CaseReport) -> io::Result<()>) -> io::Result<()> {
        let Some(rest) = &self.rest else { return self.brief.iter().try_for_each(visit) };
        let mut file = rest.file.get_ref();
        file.seek(SeekFrom::Start(0))?;
        for line in BufReader::new(file.take(rest.end)).lines() {
            visit(&serde_json::from_str(&line?)?)?;
        }
        Ok(())
    }
}

/// What every case is asked for.
fn brief(case: CaseReport) -> CaseReport {
    let CaseReport { case, name, suite, status, finding, .. } = case;
    let Finding { category, defect_type, defect_name, component, confidence, cause, follows, review, .. } = finding;
    let finding =
        Finding { category, defect_type, defect_name, component, confidence, cause, follows, review, ..Finding::default() };
    CaseReport { case, name, suite, status, finding, ..CaseReport::default() }
}

impl Serialize for CaseReports {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut cases = serializer.serialize_seq(Some(self.brief.len()))?;
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
    use crate::report::build::Turn;
    use serde_json::json;

    fn case(id: usize) -> CaseReport {
        let finding = Finding {
            title: format!("title\n{id}"),
            cause: "k".into(),
            confidence: Some(0.1 + 0.2),
            evidence: vec!["e".into()],
            issue: serde_json::Map::from_iter([("labels".to_owned(), json!([id]))]),
            ..Finding::default()
        };
        let turns = vec![Turn { node: "n".into(), because: "b".into(), ..Turn::default() }];
        CaseReport { case: id.to_string(), name: "n".into(), path: vec!["F0".into()], finding, turns, ..CaseReport::default() }
    }

    #[test]
    fn kept_or_in_a_file_the_cases_are_the_same() {
        let [mut kept, mut filed] = [true, false].map(|kept| CaseReports::new(kept).expect("a file"));
        for id in 0..9 {
            for cases in [&mut kept, &mut filed] {
                cases.push(case(id)).expect("written");
            }
        }
        filed.fetch([3, 5, 99]).expect("read");
        let text = |cases: &CaseReports| serde_json::to_string_pretty(cases).expect("json");
        assert_eq!(text(&kept), text(&filed));
        let whole: Vec<bool> = filed.iter().map(|case| !case.turns.is_empty()).collect();
        assert_eq!(whole, (0..9).map(|id| id == 3 || id == 5).collect::<Vec<_>>());
        assert_eq!((filed[7].finding.cause.as_str(), filed[7].finding.confidence), ("k", Some(0.1 + 0.2)));
    }
}
