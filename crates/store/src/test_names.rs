//! The names of tests that failed or were retried, by their identities.

use super::error::StoreError;
use crate::sql::{Connection, params};
use asterisk_base::model::TestIdentity;
use std::collections::{BTreeMap, BTreeSet};

/// Suites and names of the tests that have one.
pub(super) fn read_names(conn: &Connection) -> Result<BTreeMap<TestIdentity, (String, String)>, StoreError> {
    let mut rows = conn.prepare("SELECT test, suite, name FROM test_names")?;
    let named = rows.query_map([], |row| Ok((row.get::<_, [u8; 8]>(0)?, (row.get(1)?, row.get(2)?))))?;
    Ok(named.map(|row| row.map(|(test, named)| (TestIdentity::from_bytes(test), named))).collect::<Result<_, _>>()?)
}

/// Stores the names of tests, unless they are known.
pub(super) fn store_names<'n>(
    conn: &Connection,
    names: impl Iterator<Item = (TestIdentity, &'n str, &'n str)>,
) -> Result<(), StoreError> {
    let mut insert =
        conn.prepare_cached("INSERT INTO test_names (test, suite, name) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?;
    let mut seen = BTreeSet::new();
    for (test, suite, name) in names {
        if seen.insert(test) {
            insert.execute(params![test.bytes(), suite, name])?;
        }
    }
    Ok(())
}
