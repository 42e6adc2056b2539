//! Record of what was pushed to external systems.

use super::error::StoreError;
use super::open::Store;
use crate::sql::params;
use asterisk_base::clock::Timestamp;
use asterisk_base::model::Hash;
use std::collections::BTreeMap;

impl Store {
    /// The address of what was last pushed for each case of a run to a target.
    pub fn pushed(&self, run: &str, target: &str) -> Result<BTreeMap<String, Hash>, StoreError> {
        self.read(|conn| {
            let mut rows = conn.prepare_cached(
                "SELECT c.item, p.hash FROM pushes p JOIN run_cases c ON c.id = p.rc JOIN runs r ON r.id = c.run \
                 WHERE r.name = ?1 AND p.target = ?2",
            )?;
            let rows = rows.query_map(params![run, target], |row| Ok((row.get(0)?, row.get::<_, [u8; 32]>(1)?)))?;
            rows.map(|row| row.map(|(case, hash)| (case, Hash::from_bytes(hash))).map_err(Into::into)).collect()
        })
    }

    /// Records what was pushed for cases of a run to a target.
    pub fn note_pushed(&self, run: &str, target: &str, at: Timestamp, cases: &[(&str, Hash)]) -> Result<(), StoreError> {
        self.writer()?.exclusively(|conn| {
            let mut note = conn.prepare_cached(
                "INSERT INTO pushes (rc, target, hash, at) SELECT c.id, ?3, ?4, ?5 FROM run_cases c JOIN runs r ON r.id = c.run \
                 WHERE r.name = ?1 AND c.item = ?2 ON CONFLICT (rc, target) DO UPDATE SET hash = excluded.hash, at = excluded.at",
            )?;
            for (case, hash) in cases {
                note.execute(params![run, case, target, hash.bytes(), at.millis()])?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::fixture::{Backend, StoreFixture, at, launch};
    use rstest::rstest;

    #[rstest]
    fn the_last_push_counts_for_each_target(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let _journal = fixture.begin("r", &launch(2));
        let (one, two) = (Hash::of(b"1"), Hash::of(b"2"));
        let store = &fixture.store;
        store.note_pushed("r", "a", at(1), &[("c1", one), ("c2", one), ("nobody", one)]).unwrap();
        store.note_pushed("r", "b", at(2), &[("c1", one)]).unwrap();
        store.note_pushed("r", "a", at(3), &[("c1", two)]).unwrap();
        assert_eq!(store.pushed("r", "a").unwrap(), BTreeMap::from([("c1".to_owned(), two), ("c2".to_owned(), one)]));
        assert_eq!(store.pushed("r", "b").unwrap().len(), 1);
        assert!(store.pushed("r", "c").unwrap().is_empty() && store.pushed("other", "a").unwrap().is_empty());
    }
}
