//! Root causes: statements about them and links to them.

use super::{EffectContext, column_of, expect_rca, expect_symptom};
use crate::error::StoreError;
use crate::knowledge::{FactScope, rca_as_of};
use crate::packing::StoredText;
use crate::sql::{Connection, params};

/// Changes to a root cause; absent fields stay as they are.
#[derive(Debug, Default)]
pub(super) struct RcaRevision<'a> {
    pub(super) title: Option<&'a str>,
    pub(super) message: Option<&'a str>,
    pub(super) defect_type: Option<&'a str>,
    pub(super) component: Option<&'a str>,
    /// How well the evidence converged, 0 to 1.
    pub(super) convergence: Option<f64>,
    pub(super) status: Option<&'a str>,
}

/// Creates a root cause and links the case. If the same case creates it again, its earlier statements are replaced. One that several cases have in common belongs
/// to the first case in order that creates it, regardless of which arrives first.
pub(super) fn create(
    conn: &Connection,
    context: &EffectContext<'_>,
    id: i64,
    revision: &RcaRevision<'_>,
    common: bool,
) -> Result<(), StoreError> {
    match column_of::<i64>(conn, "SELECT rc FROM rcas WHERE id = ?1", id)? {
        Some(owner) if owner == context.case => {}
        Some(_) if common => {
            conn.prepare_cached("UPDATE rcas SET rc = ?2 WHERE id = ?1 AND rc > ?2")?.send(params![id, context.case])?;
        }
        Some(_) => return Err(StoreError::Refused(format!("root cause {id} belongs to another case"))),
        None => {
            conn.prepare_cached("INSERT INTO rcas (id, rc, stamp) VALUES (?1, ?2, ?3)")?.send(params![
                id,
                context.case,
                context.stamp
            ])?;
        }
    }
    record_statement(conn, context, id, revision)?;
    link_known(conn, context, id)
}

/// Sets the root of a root cause, unless it is empty.
pub(super) fn set_root(conn: &Connection, context: &EffectContext<'_>, id: i64, root: &str) -> Result<(), StoreError> {
    if !root.is_empty() {
        conn.prepare_cached("INSERT INTO rca_roots (root, rca, rc, stamp) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING")?
            .send(params![root, id, context.case, context.stamp])?;
    }
    Ok(())
}

/// Adds statements to a known root cause.
pub(super) fn update(
    conn: &Connection,
    context: &EffectContext<'_>,
    id: i64,
    revision: &RcaRevision<'_>,
) -> Result<(), StoreError> {
    expect_rca(conn, id)?;
    record_statement(conn, context, id, revision)
}

/// Links the case to a known root cause.
pub(super) fn link(conn: &Connection, context: &EffectContext<'_>, id: i64) -> Result<(), StoreError> {
    expect_rca(conn, id)?;
    link_known(conn, context, id)
}

/// Records that a root cause explains a symptom.
pub(super) fn link_symptom(
    conn: &Connection,
    context: &EffectContext<'_>,
    symptom: i64,
    rca: i64,
    confidence: f64,
) -> Result<(), StoreError> {
    expect_symptom(conn, symptom)?;
    expect_rca(conn, rca)?;
    conn.prepare_cached("INSERT INTO symptom_rcas (symptom, rca, rc, stamp, confidence, human) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
        .send(params![symptom, rca, context.case, context.stamp, confidence, context.is_human()])?;
    Ok(())
}

/// Revokes the link from a symptom to a root cause, or, if `replaced`, the statements made about the cause so far.
pub(super) fn overturn(
    conn: &Connection,
    context: &EffectContext<'_>,
    symptom: i64,
    rca: i64,
    replaced: bool,
) -> Result<(), StoreError> {
    expect_symptom(conn, symptom)?;
    expect_rca(conn, rca)?;
    let was = if replaced { Some(rca_as_of(conn, rca, FactScope::ALL)?) } else { None };
    let was = was.as_ref();
    conn.prepare_cached(
        "INSERT INTO overturned (symptom, rca, rc, stamp, by, title, message, defect_type) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .send(params![
        symptom,
        rca,
        context.case,
        context.stamp,
        context.by,
        was.map(|rca| &rca.title),
        was.map(|rca| &rca.message),
        was.map(|rca| &rca.defect_type),
    ])?;
    Ok(())
}

fn record_statement(
    conn: &Connection,
    context: &EffectContext<'_>,
    id: i64,
    revision: &RcaRevision<'_>,
) -> Result<(), StoreError> {
    let RcaRevision { title, message, defect_type, component, convergence, status } = revision;
    conn.prepare_cached(
        "INSERT INTO rca_revisions (rca, rc, stamp, title, message, defect_type, component, convergence, status, human) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .send(params![
        id,
        context.case,
        context.stamp,
        title,
        message.map(StoredText::new),
        defect_type,
        component,
        convergence,
        status,
        context.is_human()
    ])?;
    Ok(())
}

fn link_known(conn: &Connection, context: &EffectContext<'_>, id: i64) -> Result<(), StoreError> {
    conn.prepare_cached("INSERT INTO case_rcas (rc, rca, stamp) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?.send(params![
        context.case,
        id,
        context.stamp
    ])?;
    Ok(())
}
