//! What a role of a server may do in the store of a project.

use std::fmt;
use std::str::FromStr;

/// What a role may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreRole {
    /// Reads everything: reports, explanations, replays.
    Reader,
    /// Also answers steps and reviews cases of existing runs, and says what is true of root causes.
    Reviewer,
    /// Also runs pipelines: creates runs.
    Runner,
}

impl StoreRole {
    /// All roles, each of which may do what the ones before it may.
    pub const ALL: [Self; 3] = [Self::Reader, Self::Reviewer, Self::Runner];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reader => "reader",
            Self::Reviewer => "reviewer",
            Self::Runner => "runner",
        }
    }

    /// The statements that allow it. Nothing of a run is ever changed but its state, and nothing is removed: retention is the owner's.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code))]
    pub(super) fn grants(self, schema: &str, role: &str) -> Vec<String> {
        let on = |privilege: &str, tables: &[&str]| {
            let tables: Vec<String> = tables.iter().map(|table| format!("{schema}.{table}")).collect();
            format!("GRANT {privilege} ON {} TO {role}", tables.join(", "))
        };
        let mut all = vec![
            format!("REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {role}"),
            format!("GRANT USAGE ON SCHEMA {schema} TO {role}"),
            format!("GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}"),
        ];
        if self != Self::Reader {
            all.push(format!("GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {role}"));
            all.push(on("INSERT", STEP));
            all.push(on("UPDATE (status, ended_at, holder)", &["runs"]));
            all.push(on("UPDATE (status)", &["run_cases"]));
            all.push(on("UPDATE", &["findings", "answers", "megrams", "pushes"]));
            // Who resumes a run takes its jobs back.
            all.push(on("DELETE", &["jobs"]));
        }
        if self == Self::Runner {
            all.push(on("INSERT", RUN));
            all.push(on("INSERT, UPDATE, DELETE", &["jobs", "workers"]));
        }
        all
    }
}

/// The tables that a step of a walk writes to, or a statement of a person.
const STEP: &[&str] = &[
    "blobs",
    "events",
    "dictionaries",
    "symptoms",
    "symptom_revisions",
    "symptom_keys",
    "symptom_terms",
    "symptom_launches",
    "case_symptoms",
    "rcas",
    "rca_revisions",
    "rca_roots",
    "rca_words",
    "case_rcas",
    "symptom_rcas",
    "triages",
    "case_statuses",
    "notes",
    "sightings",
    "overturned",
    "root_words",
    "findings",
    "answers",
    "megrams",
    "audit_anchors",
    "pushes",
];
/// The tables that the beginning of a run writes to.
const RUN: &[&str] = &["runs", "run_cases", "cases", "launches", "test_outcomes", "test_names"];

impl fmt::Display for StoreRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for StoreRole {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|role| role.name() == text);
        known.ok_or_else(|| format!("unknown role `{text}`: use {}", Self::ALL.map(Self::name).join(", ")))
    }
}
