//! Memories of the goal loop: written by steps, recalled by planners, consolidated by dreams, shown and forgotten on request.

use super::error::StoreError;
use super::open::Store;
use crate::sql::{OptionalExtension, Row, params};
use asterisk_base::clock::{Timestamp, derived_id};
use serde::{Deserialize, Serialize};

const MILLIS_PER_DAY: f64 = 86_400_000.0;

/// A memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Megram {
    pub id: i64,
    /// M: met once; K: known; C: distilled from several; T: of the tools.
    pub level: String,
    pub created_at: Timestamp,
    pub last_recalled_at: Option<Timestamp>,
    /// What it is about: a kind of goal, or a tool.
    pub space: String,
    /// What it is about there: surroundings, or a target.
    pub entity: String,
    pub content: String,
    /// The macro-state in which it was made.
    pub state: String,
    /// Strength.
    pub f: f64,
    /// Direction: for or against.
    pub sigma: f64,
    /// Rate of fading, per day.
    pub k: f64,
    /// Days since it was made or last recalled.
    pub age_days: f64,
    /// Days since it was made.
    pub created_days: f64,
    /// Whether a distilled memory supersedes it.
    pub consolidated: bool,
    /// The memories that it was distilled from.
    pub sources: Vec<i64>,
    /// The run, case and step that made it; absent for a distilled one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<MegramOrigin>,
}

/// Where a memory was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MegramOrigin {
    pub run: String,
    pub case: String,
    pub step: String,
}

/// A memory as a dream makes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct DistilledMegram {
    pub level: String,
    pub space: String,
    pub entity: String,
    pub content: String,
    pub state: String,
    pub f: f64,
    pub sigma: f64,
    pub k: f64,
    pub sources: Vec<i64>,
}

/// A change of a memory by a dream; absent fields stay.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ChangedMegram {
    pub id: i64,
    pub level: Option<String>,
    pub k: Option<f64>,
    pub consolidated: Option<bool>,
}

/// What a dream changes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct DreamChanges {
    pub delete: Vec<i64>,
    pub update: Vec<ChangedMegram>,
    pub add: Vec<DistilledMegram>,
}

impl DreamChanges {
    /// Adds the changes of another part of the memories.
    pub fn extend(&mut self, other: Self) {
        self.delete.extend(other.delete);
        self.update.extend(other.update);
        self.add.extend(other.add);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.delete.is_empty() && self.update.is_empty() && self.add.is_empty()
    }
}

/// The columns of [`megram`]. `consolidated` is 0, or the stamp of the dream that consolidated it.
pub(super) const COLUMNS: &str = "SELECT m.id, m.level, m.created_at, m.recalled_at, m.space, m.entity, m.content, m.state, m.f, m.sigma, m.k, \
                                  m.consolidated, m.sources, m.path, runs.name, run_cases.item FROM megrams m \
                                  LEFT JOIN run_cases ON run_cases.id = m.rc LEFT JOIN runs ON runs.id = run_cases.run";

/// Reads a row of [`COLUMNS`], as of a time.
pub(super) fn megram(row: &Row<'_>, now: i64) -> crate::sql::Result<Megram> {
    let (created, recalled): (i64, Option<i64>) = (row.get(2)?, row.get(3)?);
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of some years")]
    let days = |since: i64| (now.saturating_sub(since).max(0)) as f64 / MILLIS_PER_DAY;
    let (path, run, case): (String, Option<String>, Option<String>) = (row.get(13)?, row.get(14)?, row.get(15)?);
    let sources: String = row.get(12)?;
    Ok(Megram {
        id: row.get(0)?,
        level: row.get(1)?,
        created_at: Timestamp::from_millis(created),
        last_recalled_at: recalled.map(Timestamp::from_millis),
        space: row.get(4)?,
        entity: row.get(5)?,
        content: row.get(6)?,
        state: row.get(7)?,
        f: row.get(8)?,
        sigma: row.get(9)?,
        k: row.get(10)?,
        age_days: days(recalled.map_or(created, |recalled| recalled.max(created))),
        created_days: days(created),
        consolidated: row.get(11)?,
        sources: serde_json::from_str(&sources).unwrap_or_default(),
        from: run.zip(case).map(|(run, case)| MegramOrigin { run, case, step: path }),
    })
}

impl Store {
    /// The memories of a space, or all of them, newest first.
    pub fn megrams(&self, space: Option<&str>, limit: usize, now: Timestamp) -> Result<Vec<Megram>, StoreError> {
        self.read(|conn| {
            let sql =
                format!("{COLUMNS} WHERE CAST(?1 AS TEXT) IS NULL OR m.space = ?1 ORDER BY m.created_at DESC, m.id LIMIT ?2");
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut rows = conn.prepare_cached(&sql)?;
            let found = rows.query_map(params![space, limit], |row| megram(row, now.millis()))?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    /// The spaces that a run wrote memories of.
    pub fn spaces_of_run(&self, run: &str) -> Result<Vec<String>, StoreError> {
        self.read(|conn| {
            let mut rows = conn.prepare_cached(
                "SELECT DISTINCT space FROM megrams WHERE rc IN (SELECT id FROM run_cases WHERE run = (SELECT id FROM runs WHERE name = ?1)) \
                 ORDER BY space",
            )?;
            Ok(rows.query_map([run], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    }

    /// A memory.
    pub fn megram(&self, id: i64, now: Timestamp) -> Result<Option<Megram>, StoreError> {
        self.read(|conn| {
            let sql = format!("{COLUMNS} WHERE m.id = ?1");
            Ok(conn.prepare_cached(&sql)?.query_row([id], |row| megram(row, now.millis())).optional()?)
        })
    }

    /// Forgets a memory. Returns whether there was one.
    pub fn forget_megram(&self, id: i64) -> Result<bool, StoreError> {
        self.writer()?.exclusively(|conn| Ok(conn.execute("DELETE FROM megrams WHERE id = ?1", [id])? > 0))
    }

    /// Makes the changes of a dream, all or none. A distilled memory has the same id whenever it is distilled from the same memories.
    /// Returns how many memories were changed.
    pub fn dream(&self, changes: &DreamChanges, now: Timestamp) -> Result<usize, StoreError> {
        self.writer()?.exclusively(|conn| {
            let mut changed = 0;
            let stamp: i64 = conn.query_row("SELECT coalesce(max(seq), 0) FROM events", [], |row| row.get(0))?;
            for id in &changes.delete {
                changed += conn.execute("DELETE FROM megrams WHERE id = ?1", [id])?;
            }
            for ChangedMegram { id, level, k, consolidated } in &changes.update {
                changed += conn.execute(
                    "UPDATE megrams SET level = coalesce(?2, level), k = coalesce(?3, k), consolidated = coalesce(?4, consolidated) WHERE id = ?1",
                    params![id, level, k, consolidated.map(|consolidated| if consolidated { stamp.max(1) } else { 0 })],
                )?;
            }
            for made in &changes.add {
                let sources = serde_json::to_string(&made.sources).unwrap_or_default();
                let id = derived_id(&["memory", &made.space, &made.entity, &sources]);
                let DistilledMegram { level, space, entity, content, state, f, sigma, k, .. } = made;
                changed += conn.execute(
                    "INSERT INTO megrams (id, rc, stamp, path, created_at, level, space, entity, content, state, f, sigma, k, consolidated, sources) \
                     VALUES (?1, NULL, ?2, '', ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0, ?12) ON CONFLICT DO NOTHING",
                    params![id, stamp, now.millis(), level, space, entity, content, state, f, sigma, k, sources],
                )?;
            }
            Ok(changed)
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::fixture::{Backend, StoreFixture, at, effects, launch};
    use asterisk_base::model::Effect;
    use asterisk_walk::Journal as _;
    use rstest::rstest;

    fn remember(id: i64, space: &str) -> Effect<i64> {
        Effect::Remember {
            id: Some(id),
            level: "M".into(),
            space: space.into(),
            entity: "e".into(),
            content: "c".into(),
            state: "s".into(),
            f: 0.5,
            sigma: 0.25,
            k: 0.125,
        }
    }

    /// A server may have another order of texts, such as that of a language.
    #[rstest]
    fn texts_are_ordered_by_their_bytes(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(1));
        let spaces = ["Ä", "a", "_", "B", "ab", "a b", ""];
        journal.commit(effects("c1", (1..).zip(spaces).map(|(id, space)| remember(id, space)).collect())).unwrap();
        assert_eq!(fixture.store.spaces_of_run("r").unwrap(), ["", "B", "_", "a", "a b", "ab", "Ä"]);
    }

    #[rstest]
    fn a_dream_changes_all_that_it_says(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let (store, journal) = (&fixture.store, fixture.begin("r", &launch(1)));
        journal.commit(effects("c1", vec![remember(1, "a"), remember(2, "a"), remember(3, "b")])).unwrap();
        journal.commit(effects("c1", vec![Effect::Recalled { ids: vec![2] }])).unwrap();
        let ids = |space| store.megrams(space, 10, at(5)).unwrap().iter().map(|megram| megram.id).collect::<Vec<_>>();
        assert_eq!((ids(None), ids(Some("b"))), (vec![1, 2, 3], vec![3]));
        assert_eq!(store.megram(2, at(5)).unwrap().unwrap().last_recalled_at, Some(at(1)));
        let update = ChangedMegram { id: 2, k: Some(0.5), consolidated: Some(true), ..ChangedMegram::default() };
        let changes = DreamChanges { delete: vec![1, 9], update: vec![update], add: Vec::new() };
        assert_eq!(store.dream(&changes, at(6)).unwrap(), 2);
        let changed = store.megram(2, at(6)).unwrap().unwrap();
        assert!(changed.consolidated && (changed.k - 0.5).abs() < f64::EPSILON && changed.level == "M");
        assert!(store.forget_megram(3).unwrap() && !store.forget_megram(3).unwrap());
        assert_eq!(ids(None), [2]);
    }
}
