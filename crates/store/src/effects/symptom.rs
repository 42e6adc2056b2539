//! Symptoms: what a failure looks like, and its occurrences.

use super::{EffectContext, column_of, expect_symptom};
use crate::error::StoreError;
use crate::packing::{StoredText, UnpackedText};
use crate::sql::{Connection, OptionalExtension, params};
use crate::terms;

/// Description of a symptom.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SymptomText<'a> {
    pub(super) test: &'a str,
    pub(super) error: &'a str,
    pub(super) category: &'a str,
    /// May be empty.
    pub(super) component: &'a str,
}

/// Finds or creates the symptom of a fingerprint, links the case and counts the occurrence.
pub(super) fn upsert(
    conn: &Connection,
    context: &EffectContext<'_>,
    id: i64,
    fingerprint: &str,
    text: &SymptomText<'_>,
) -> Result<(), StoreError> {
    let mut owner = conn.prepare_cached("SELECT id FROM symptoms WHERE fingerprint = ?1")?;
    match owner.query_row([fingerprint], |row| row.get::<_, i64>(0)).optional()? {
        Some(owner) if owner == id => {}
        Some(owner) => {
            let why = format!("the fingerprint `{fingerprint}` belongs to symptom {owner} already, not to {id}");
            return Err(StoreError::Refused(why));
        }
        None => {
            if let Some(other) = column_of::<String>(conn, "SELECT fingerprint FROM symptoms WHERE id = ?1", id)? {
                return Err(StoreError::Refused(format!("symptom {id} has another fingerprint already, `{other}`")));
            }
            conn.prepare_cached("INSERT INTO symptoms (id, fingerprint, run, stamp) VALUES (?1, ?2, ?3, ?4)")?.send(params![
                id,
                fingerprint,
                context.run,
                context.stamp
            ])?;
        }
    }
    describe(conn, context, id, text)?;
    link_known(conn, context, id)?;
    record_key(conn, context, id)?;
    record_sighting(conn, context, id)
}

pub(super) fn link(conn: &Connection, context: &EffectContext<'_>, id: i64) -> Result<(), StoreError> {
    expect_symptom(conn, id)?;
    link_known(conn, context, id)
}

/// Counts an occurrence of a known symptom.
pub(super) fn mark_seen(conn: &Connection, context: &EffectContext<'_>, id: i64) -> Result<(), StoreError> {
    expect_symptom(conn, id)?;
    record_sighting(conn, context, id)
}

/// Records a description of a symptom. Within the run that found the symptom, the first case in the run's order describes it, whichever
/// arrives first: a description is stored unless that of an earlier case exists. Later runs leave it alone; a run that began before the
/// symptom became visible stores its own.
fn describe(conn: &Connection, context: &EffectContext<'_>, id: i64, text: &SymptomText<'_>) -> Result<(), StoreError> {
    let mut latest = conn.prepare_cached(
        "SELECT run, rc, test, error, category, component FROM symptom_revisions WHERE symptom = ?1 \
         AND (run = ?2 OR stamp <= (SELECT start_seq FROM runs WHERE id = ?2)) ORDER BY rc, stamp DESC, id DESC LIMIT 1",
    )?;
    let existing = latest.query_row([id, context.run], |row| {
        let error: UnpackedText = row.get("error")?;
        let same = SymptomText {
            test: row.get_ref("test")?.as_str()?,
            error: &error.0,
            category: row.get_ref("category")?.as_str()?,
            component: row.get_ref("component")?.as_str()?,
        } == *text;
        Ok((row.get::<_, i64>("run")?, row.get::<_, i64>("rc")?, same))
    });
    let existing = existing.optional()?;
    if existing.is_some_and(|(run, ..)| run != context.run) {
        return Ok(());
    }
    // Every text of the run is indexed, also those that describe nothing, so that the index does not depend on the order of arrival.
    if !existing.is_some_and(|(.., same)| same) {
        terms::index_symptom(conn, context.run, id, context.stamp, terms::terms(text.test, text.error))?;
    }
    if existing.is_some_and(|(_, case, same)| case < context.case || (case == context.case && same)) {
        return Ok(());
    }
    conn.prepare_cached(
        "INSERT INTO symptom_revisions (symptom, run, rc, stamp, test, error, category, component) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .send(params![
        id,
        context.run,
        context.case,
        context.stamp,
        text.test,
        StoredText::new(text.error),
        text.category,
        text.component
    ])?;
    Ok(())
}

fn link_known(conn: &Connection, context: &EffectContext<'_>, id: i64) -> Result<(), StoreError> {
    conn.prepare_cached("INSERT INTO case_symptoms (rc, symptom, stamp) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?
        .send(params![context.case, id, context.stamp])?;
    Ok(())
}

/// Records that failures with the case's recall key are this symptom. Only the symptom of the case's own texts is: one that it was merely
/// like would pass for the same from then on.
fn record_key(conn: &Connection, context: &EffectContext<'_>, id: i64) -> Result<(), StoreError> {
    conn.prepare_cached(
        "INSERT INTO symptom_keys (recall_key, symptom, stamp) \
         SELECT recall_key, ?2, ?3 FROM run_cases WHERE id = ?1 AND recall_key <> '' ON CONFLICT DO NOTHING",
    )?
    .send(params![context.case, id, context.stamp])?;
    Ok(())
}

/// Counts a failure once, however often a walk repeats the effect and however often its launch is analysed.
fn record_sighting(conn: &Connection, context: &EffectContext<'_>, id: i64) -> Result<(), StoreError> {
    let mut failure = conn.prepare_cached(
        "SELECT c.id, c.launch, l.at FROM run_cases r JOIN cases c ON c.id = known JOIN launches l ON l.id = c.launch WHERE r.id = ?1",
    )?;
    let (column_of, launch, at): (i64, i64, i64) =
        failure.query_row([context.case], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    if conn.prepare_cached("SELECT 1 FROM sightings WHERE known = ?1 AND symptom = ?2")?.exists([column_of, id])? {
        return Ok(());
    }
    conn.prepare_cached(
        "INSERT INTO sightings (symptom, stamp, rc, known, at, total, first_at, last_at) \
         SELECT ?1, ?2, ?3, ?4, ?5, coalesce(total, 0) + 1, \
         CASE WHEN first_at < ?5 THEN first_at ELSE ?5 END, CASE WHEN last_at > ?5 THEN last_at ELSE ?5 END FROM (SELECT 1) one \
         LEFT JOIN (SELECT total, first_at, last_at FROM sightings WHERE symptom = ?1 ORDER BY stamp DESC LIMIT 1) before ON 1 = 1",
    )?
    .send(params![id, context.stamp, context.case, column_of, at])?;
    conn.prepare_cached("INSERT INTO symptom_launches (symptom, launch, stamp) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?
        .send(params![id, launch, context.stamp])?;
    Ok(())
}
