//! The findings of cases: what the summary script of a run's pipeline made of each when the run was concluded. They can be made again from
//! the journal at any time, which takes far longer than to read them.

use super::error::StoreError;
use super::open::Store;
use super::packing::{StoredText, UnpackedText};
use crate::sql::{Connection, params};
use serde_json::Value;
use std::collections::BTreeMap;

impl Store {
    /// The findings of a run's cases that are up to date: nothing happened in the case since, nor were the texts of the run exchanged.
    pub fn findings(&self, run: &str, revision: u64) -> Result<BTreeMap<String, Value>, StoreError> {
        self.read(|conn| {
            let mut rows = conn.prepare_cached(
                "SELECT c.item, f.body FROM findings f JOIN run_cases c ON c.id = f.rc JOIN runs r ON r.id = c.run \
                 WHERE r.name = ?1 AND f.revision = ?2 AND f.seq = (SELECT coalesce(max(seq), 0) FROM events WHERE run = r.id AND rc = c.id)",
            )?;
            let rows = rows.query_map(params![run, number(revision)], |row| Ok((row.get(0)?, row.get::<_, UnpackedText>(1).ok())))?;
            let mut found = BTreeMap::new();
            for row in rows {
                let (case, text): (String, Option<UnpackedText>) = row?;
                // One that cannot be read is made again.
                if let Some(finding) = text.and_then(|text| serde_json::from_str(&text.0).ok()) {
                    found.insert(case, finding);
                }
            }
            Ok(found)
        })
    }
}

/// Findings of cases of a run, made with a revision of its texts.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunFindings<'a> {
    /// The number of the revision.
    pub revision: u64,
    /// By case.
    pub findings: &'a [(&'a str, &'a Value)],
}

impl RunFindings<'_> {
    /// Keeps them, in place of earlier ones of the same cases.
    pub(super) fn keep(self, conn: &Connection, run: i64) -> Result<(), StoreError> {
        let mut keep = conn.prepare_cached(
            "INSERT INTO findings (rc, seq, revision, body) \
             SELECT id, (SELECT coalesce(max(seq), 0) FROM events WHERE run = ?1 AND rc = c.id), ?3, ?4 \
             FROM run_cases c WHERE run = ?1 AND item = ?2 \
             ON CONFLICT (rc) DO UPDATE SET seq = excluded.seq, revision = excluded.revision, body = excluded.body",
        )?;
        for (case, finding) in self.findings {
            keep.send(params![run, case, number(self.revision), StoredText::new(finding.to_string())])?;
        }
        Ok(())
    }
}

fn number(revision: u64) -> i64 {
    i64::try_from(revision).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::RunStatus;
    use crate::fixture::{Backend, StoreFixture, at, launch, step};
    use asterisk_walk::Journal as _;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    fn a_finding_holds_until_something_happens(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(2));
        let (store, found) = (&fixture.store, json!({ "found": "x".repeat(1000) }));
        let keep = |revision, findings: &[(&str, &Value)]| {
            journal.conclude(RunStatus::Paused, at(1), RunFindings { revision, findings }).unwrap();
        };
        keep(1, &[("c1", &found), ("c2", &json!(2)), ("nobody", &found)]);
        let both = BTreeMap::from([("c1".to_owned(), found.clone()), ("c2".to_owned(), json!(2))]);
        assert_eq!(store.findings("r", 1).unwrap(), both);
        assert!(store.findings("r", 2).unwrap().is_empty() && store.findings("other", 1).unwrap().is_empty());
        journal.commit(step("c1", 1)).unwrap();
        assert_eq!(store.findings("r", 1).unwrap().into_keys().collect::<Vec<_>>(), ["c2"]);
        keep(2, &[("c1", &json!(1))]);
        assert_eq!(store.findings("r", 2).unwrap(), BTreeMap::from([("c1".to_owned(), json!(1))]));
    }
}
