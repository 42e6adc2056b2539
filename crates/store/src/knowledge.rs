//! Current knowledge about cases and root causes, for reports and people.

use super::error::StoreError;
use super::open::Store;
use super::packing::UnpackedText;
use super::runs::run_row;
use crate::sql::{Connection, OptionalExtension, Row, params};
use asterisk_base::clock::Timestamp;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Facts that one run established about a case.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CaseFacts {
    /// Latest status set by `set_case_status`.
    pub status: Option<String>,
    /// Latest triage.
    pub triage: Option<Triage>,
    /// Linked symptoms, in the order of linking.
    pub symptoms: Vec<i64>,
    /// Linked root causes, in the order of linking.
    pub rcas: Vec<Rca>,
    /// Notes, in order.
    pub notes: Vec<String>,
}

/// Triage of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Triage {
    /// Category of the symptom.
    pub category: String,
    /// Severity.
    pub severity: String,
    /// Suspected defect type.
    pub defect_type: String,
    /// Whether the investigation was skipped.
    pub skip_investigation: bool,
    /// Suspected repositories.
    pub repos: Vec<String>,
}

/// A root cause in its current state.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Rca {
    /// Id in the store.
    pub id: i64,
    /// Title.
    pub title: String,
    /// Description.
    pub message: String,
    /// Defect type.
    pub defect_type: String,
    /// Component at fault, or empty.
    pub component: String,
    /// How well the evidence converged, 0 to 1.
    pub convergence: f64,
    /// `open`, `duplicate` (the case was linked to another cause instead), or the latest status set by a person: `resolved`, `verified`,
    /// `archived`.
    pub status: String,
    /// The latest status set by a person, if any.
    #[serde(rename = "word", default, skip_serializing_if = "Option::is_none")]
    pub status_change: Option<RcaStatusChange>,
}

/// A status of a root cause set by a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RcaStatusChange {
    /// The status.
    pub status: String,
    /// Who set it.
    pub by: String,
    /// When it was set.
    pub at: Timestamp,
    /// Reason; may be empty.
    pub message: String,
}

impl Store {
    /// The facts of a run about a case so far.
    pub fn case_facts(&self, run: &str, case: &str) -> Result<CaseFacts, StoreError> {
        self.read(|conn| {
            let run_id = run_row(conn, run)?;
            let case_id: Option<i64> = conn
                .prepare_cached("SELECT id FROM run_cases WHERE run = ?1 AND item = ?2")?
                .query_row(params![run_id, case], |row| row.get(0))
                .optional()?;
            let id = case_id.ok_or_else(|| StoreError::Refused(format!("no case `{case}` in run `{run}`")))?;
            let rcas = list::<i64>(conn, "SELECT rca FROM case_causes WHERE rc = ?1 ORDER BY stamp, rca", id)?;
            Ok(CaseFacts {
                status: list(conn, "SELECT status FROM case_statuses WHERE rc = ?1 ORDER BY id DESC LIMIT 1", id)?.pop(),
                triage: triage(conn, id)?,
                symptoms: list(conn, "SELECT symptom FROM case_symptoms WHERE rc = ?1 ORDER BY stamp, symptom", id)?,
                rcas: rcas.into_iter().map(|rca| rca_as_of(conn, rca, FactScope::ALL)).collect::<Result<_, _>>()?,
                notes: list(conn, "SELECT text FROM notes WHERE rc = ?1 ORDER BY id", id)?,
            })
        })
    }

    /// Triages of a run's cases, in the order of the cases, limited to `most`: case id, triage, and the first symptom linked to the case.
    pub fn triages(&self, run: &str, most: usize) -> Result<Vec<(String, Triage, Option<i64>)>, StoreError> {
        self.read(|conn| {
            let row = run_row(conn, run)?;
            let mut rows = conn.prepare_cached(
                "SELECT triages.*, item, (SELECT symptom FROM case_symptoms WHERE rc = triages.rc ORDER BY stamp, symptom LIMIT 1) AS symptom \
                 FROM triages JOIN run_cases ON rc = run_cases.id \
                 WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM triages AS later WHERE later.rc = triages.rc AND later.id > triages.id) \
                 ORDER BY run_cases.id LIMIT ?2",
            )?;
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            let triages = rows.query_map(params![row, most], |row| Ok((row.get("item")?, triage_of(row)?, row.get("symptom")?)))?;
            Ok(triages.collect::<Result<_, _>>()?)
        })
    }

    /// Whether a symptom was seen in a failure with this recall key.
    pub fn knows_failure(&self, recall_key: &str) -> Result<bool, StoreError> {
        self.read(|conn| {
            let mut known = conn.prepare_cached("SELECT EXISTS (SELECT 1 FROM symptom_keys WHERE recall_key = ?1)")?;
            Ok(known.query_row([recall_key], |row| row.get(0))?)
        })
    }

    /// The status of a case of a run in the store, if it has one.
    pub fn case_status(&self, run: &str, case: &str) -> Result<Option<String>, StoreError> {
        self.read(|conn| {
            let row = run_row(conn, run)?;
            let mut rows = conn.prepare_cached(
                "SELECT status FROM case_statuses WHERE rc = (SELECT id FROM run_cases WHERE run = ?1 AND item = ?2) \
                 ORDER BY id DESC LIMIT 1",
            )?;
            Ok(rows.query_row(params![row, case], |row| row.get(0)).optional()?)
        })
    }

    /// The status in the store of each case of a run that has one.
    pub fn case_statuses(&self, run: &str) -> Result<BTreeMap<String, String>, StoreError> {
        self.read(|conn| {
            let row = run_row(conn, run)?;
            let mut rows = conn.prepare_cached(
                "SELECT item, case_statuses.status FROM run_cases JOIN case_statuses ON rc = run_cases.id \
                 WHERE run = ?1 ORDER BY case_statuses.id",
            )?;
            let statuses = rows.query_map([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(statuses.collect::<Result<_, _>>()?)
        })
    }
}

fn list<T: rusqlite::types::FromSql>(conn: &Connection, sql: &str, id: i64) -> Result<Vec<T>, StoreError> {
    let mut rows = conn.prepare_cached(sql)?;
    Ok(rows.query_map([id], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

fn triage(conn: &Connection, case: i64) -> Result<Option<Triage>, StoreError> {
    let mut rows = conn.prepare_cached("SELECT * FROM triages WHERE rc = ?1 ORDER BY id DESC LIMIT 1")?;
    Ok(rows.query_row([case], triage_of).optional()?)
}

fn triage_of(row: &Row<'_>) -> crate::sql::Result<Triage> {
    Ok(Triage {
        category: row.get("category")?,
        severity: row.get("severity")?,
        defect_type: row.get("defect_type")?,
        skip_investigation: row.get("skip_investigation")?,
        repos: serde_json::from_str(row.get_ref("repos")?.as_str()?).unwrap_or_default(),
    })
}

/// The statements about a root cause that a reader sees.
#[derive(Debug, Default)]
pub(super) struct RcaHistory {
    /// In the order of their rows.
    statements: Vec<RcaStatement>,
    /// The status that a person set outside of runs last.
    status_change: Option<RcaStatusChange>,
}

/// One statement about a root cause.
#[derive(Debug)]
struct RcaStatement {
    run: i64,
    case: i64,
    by_owner: bool,
    stamp: i64,
    human: bool,
    part: StatementParts,
}

#[derive(Debug, Default)]
struct StatementParts {
    title: Option<String>,
    message: Option<String>,
    defect_type: Option<String>,
    component: Option<String>,
    convergence: Option<f64>,
    status: Option<String>,
}

/// The facts visible to a reader: all up to a stamp, and those of a range of cases of one run up to another stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FactScope {
    /// All facts up to this stamp are visible.
    pub(super) start: i64,
    /// Facts of the cases from `first` up to, not including, `before` are visible up to this stamp.
    pub(super) upto: i64,
    /// First case of the reader's run.
    pub(super) first: i64,
    /// The reader's own case; it sees those before it.
    pub(super) before: i64,
}

impl FactScope {
    /// All facts.
    pub(super) const ALL: Self = Self::until(i64::MAX);

    /// Whether a fact is visible that a case wrote with a stamp.
    fn sees(self, stamp: i64, case: i64) -> bool {
        stamp <= self.start || (stamp <= self.upto && (self.first..self.before).contains(&case))
    }

    /// All facts up to a stamp, and no others.
    pub(super) const fn until(start: i64) -> Self {
        Self { start, upto: start, first: 0, before: 0 }
    }
}

/// A root cause as described by the visible facts.
pub(super) fn rca_as_of(conn: &Connection, id: i64, scope: FactScope) -> Result<Rca, StoreError> {
    Ok(RcaHistory::read(conn, id, scope)?.as_of(id, scope))
}

impl RcaHistory {
    /// What the facts of a scope say.
    pub(super) fn read(conn: &Connection, id: i64, scope: FactScope) -> Result<Self, StoreError> {
        let mut rows = conn.prepare_cached(
            "SELECT r.*, run, r.rc = rcas.rc AS by_owner FROM rca_revisions r JOIN run_cases ON run_cases.id = r.rc \
             JOIN rcas ON rcas.id = r.rca WHERE rca = ?1 \
             AND (r.stamp <= ?2 OR (r.stamp <= ?3 AND r.rc >= ?4 AND r.rc < ?5)) ORDER BY r.id",
        )?;
        let inputs = [id, scope.start, scope.upto, scope.first, scope.before];
        let statements = rows.query_map(inputs, RcaStatement::of_row)?.collect::<Result<_, _>>()?;
        Ok(Self { statements, status_change: status_changes(conn, id, scope.start)?.pop() })
    }

    /// The root cause for a scope that is a part of the one that was read. For each field the last statement counts: that of the latest run;
    /// within a run the owner's statements come first and others follow in the order of the cases, independent of arrival; a case's
    /// statements stay in their order. A person's statement outranks all others, and a status set outside of runs outranks any other status.
    pub(super) fn as_of(&self, id: i64, scope: FactScope) -> Rca {
        let mut statements: Vec<_> = self.statements.iter().filter(|it| scope.sees(it.stamp, it.case)).collect();
        let mut spoke_last = HashMap::new();
        for statement in &statements {
            spoke_last.insert(statement.run, statement.stamp);
        }
        statements.sort_by_key(|statement| {
            (statement.human, spoke_last.get(&statement.run).copied(), !statement.by_owner, statement.case)
        });
        let last = |field: fn(&StatementParts) -> Option<&String>| {
            statements.iter().rev().find_map(|statement| field(&statement.part)).cloned().unwrap_or_default()
        };
        let convergence = statements.iter().rev().find_map(|statement| statement.part.convergence);
        let status_change = self.status_change.clone();
        Rca {
            id,
            title: last(|part| part.title.as_ref()),
            message: last(|part| part.message.as_ref()),
            defect_type: last(|part| part.defect_type.as_ref()),
            component: last(|part| part.component.as_ref()),
            convergence: convergence.unwrap_or_default(),
            status: status_change.as_ref().map_or_else(|| last(|part| part.status.as_ref()), |change| change.status.clone()),
            status_change,
        }
    }
}

/// Statuses of a root cause set by people up to a stamp, in order.
pub(super) fn status_changes(conn: &Connection, id: i64, stamp: i64) -> Result<Vec<RcaStatusChange>, StoreError> {
    let mut rows =
        conn.prepare_cached("SELECT status, by, at, message FROM rca_words WHERE rca = ?1 AND stamp <= ?2 ORDER BY stamp, id")?;
    let status_changes = rows.query_map([id, stamp], |row| {
        Ok(RcaStatusChange {
            status: row.get("status")?,
            by: row.get("by")?,
            at: Timestamp::from_millis(row.get("at")?),
            message: row.get("message")?,
        })
    })?;
    Ok(status_changes.collect::<Result<_, _>>()?)
}

impl RcaStatement {
    fn of_row(row: &Row<'_>) -> crate::sql::Result<Self> {
        Ok(Self {
            run: row.get("run")?,
            case: row.get("rc")?,
            by_owner: row.get("by_owner")?,
            stamp: row.get("stamp")?,
            human: row.get("human")?,
            part: StatementParts {
                title: row.get("title")?,
                message: row.get::<_, Option<UnpackedText>>("message")?.map(|message| message.0),
                defect_type: row.get("defect_type")?,
                component: row.get("component")?,
                convergence: row.get("convergence")?,
                status: row.get("status")?,
            },
        })
    }
}
