//! Effects: writes to the store requested by a script, as data.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One write. Scripts return a list of maps `#{ effect: "create_rca", .. }`. `I` is the type of ids: a [`Handle`] as written by a
/// script, an `i64` once resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case", deny_unknown_fields, bound(deserialize = "I: Deserialize<'de>"))]
pub enum Effect<I> {
    /// Links the case to a known symptom.
    LinkSymptom {
        id: I,
        /// The name by which later effects can refer to it.
        #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// Creates the symptom of a fingerprint, or finds it; links the case to it and counts the occurrence.
    UpsertSymptom {
        /// Set by the host: derived from the fingerprint.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<I>,
        /// The name by which later effects can refer to it.
        #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Identifies the symptom.
        fingerprint: String,
        /// The name of the test.
        test: String,
        /// The error text.
        #[serde(default)]
        error: String,
        #[serde(default)]
        category: String,
        /// The suspected component, if any.
        #[serde(default)]
        component: String,
    },
    /// Counts an occurrence of a known symptom.
    MarkSeen { id: I },
    /// Records the triage of the case.
    CreateTriage {
        /// The category of the symptom.
        category: String,
        #[serde(default)]
        severity: String,
        /// The suspected defect code.
        #[serde(default)]
        defect_type: String,
        /// Whether the investigation was skipped.
        #[serde(default)]
        skip_investigation: bool,
        /// The suspected repositories.
        #[serde(default)]
        repos: Vec<String>,
    },
    /// Creates a root cause and links the case to it. A case has one root cause per name: creating it again (an investigation
    /// that looped) replaces its content.
    CreateRca {
        /// Set by the host: derived from run, case and name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<I>,
        /// The name by which later effects can refer to it.
        #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        title: String,
        /// The explanation.
        message: String,
        /// The defect code.
        defect_type: String,
        /// The faulty component.
        #[serde(default)]
        component: String,
        /// How far the evidence converged, 0 to 1.
        #[serde(default)]
        convergence: f64,
        /// The key of its root; empty if none is known.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        root: String,
        /// Whether it is that of all cases of the run with this root, the first of which it belongs to, rather than of this case.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        common: bool,
    },
    /// Links the case to a known root cause.
    LinkRca {
        id: I,
        /// The name by which later effects can refer to it.
        #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// Records that a symptom is caused by a root cause.
    LinkSymptomRca {
        symptom: I,
        rca: I,
        /// The confidence, 0 to 1.
        confidence: f64,
    },
    /// Retracts the link from a symptom to a root cause: the case no longer counts as an instance of the root cause, and the link
    /// is not suggested again unless someone with equal authority restores it.
    Overturn {
        symptom: I,
        rca: I,
        /// Whether following effects correct the root cause itself, so that only its current text is retracted.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        replaced: bool,
    },
    /// Updates a root cause; absent fields are unchanged.
    UpdateRca {
        id: I,
        /// The new explanation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The new defect code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        defect_type: Option<String>,
        /// The new status (`open`, `resolved`, ...).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<String>,
    },
    /// Sets the status of the case in the store.
    SetCaseStatus { status: String },
    /// Adds a note to the case.
    Note { text: String },
    /// Writes a memory of the goal loop.
    Remember {
        /// Set by the host: derived from run, case and content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<I>,
        /// M, K, C or T.
        level: String,
        /// The subject: a kind of goal, or a tool.
        space: String,
        /// The tag within the space: a target, or the environment.
        entity: String,
        content: String,
        /// The macro-state in which the memory was made.
        state: String,
        /// The strength.
        f: f64,
        /// The direction, from -1 to 1.
        sigma: f64,
        /// The decay rate per day.
        k: f64,
    },
    /// Anchors the auditor's log with its length and the hash of its last entry. Cannot be written by scripts.
    #[serde(skip)]
    Anchor { entries: u64, head: String, log: String },
    /// Marks memories as used, which keeps them fresh.
    Recalled { ids: Vec<i64> },
}

/// The names of the effects, as scripts write them.
pub const EFFECTS: [&str; 13] = [
    "link_symptom",
    "upsert_symptom",
    "mark_seen",
    "create_triage",
    "create_rca",
    "link_rca",
    "link_symptom_rca",
    "overturn",
    "update_rca",
    "set_case_status",
    "note",
    "remember",
    "recalled",
];

/// Whether the effect accepts this key; `None` for an unknown effect.
pub fn effect_has(effect: &str, key: &str) -> Option<bool> {
    if !EFFECTS.contains(&effect) {
        return None;
    }
    let alone = serde_json::json!({ "effect": effect, key: null });
    let error = serde_json::from_value::<Effect<Handle>>(alone).err().map(|error| error.to_string());
    Some(key == "effect" || !error.is_some_and(|error| error.starts_with("unknown field")))
}

/// An id as written by a script: a number, or `"$name"` for the record that an earlier effect of the same case named with `as:
/// "name"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Handle {
    /// The id of a stored record.
    Id(i64),
    /// A symbolic id, with its `$`.
    Name(String),
}

/// A symbolic id that no effect has bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnresolvedHandle(pub String);

impl Effect<Handle> {
    /// Resolves every handle to an id. `bindings` holds the names bound so far by this case; the effect's own `as` is added.
    /// `derive` computes the id of a new record from its kind (`symptom`, `rca`) and its identifying text.
    pub fn resolve(
        self,
        bindings: &mut BTreeMap<String, i64>,
        derive: impl Fn(&str, &str) -> i64,
    ) -> Result<Effect<i64>, UnresolvedHandle> {
        let find = |handle: Handle, bindings: &BTreeMap<String, i64>| match handle {
            Handle::Id(id) => Ok(id),
            Handle::Name(name) => {
                let known = name.strip_prefix('$').and_then(|name| bindings.get(name));
                known.copied().ok_or(UnresolvedHandle(name))
            }
        };
        let bind = |name: &Option<String>, id: i64, bindings: &mut BTreeMap<String, i64>| {
            if let Some(name) = name {
                bindings.insert(name.clone(), id);
            }
        };
        Ok(match self {
            Self::LinkSymptom { id, name } => {
                let id = find(id, bindings)?;
                bind(&name, id, bindings);
                Effect::LinkSymptom { id, name }
            }
            Self::UpsertSymptom { id: _, name, fingerprint, test, error, category, component } => {
                let id = derive("symptom", &fingerprint);
                bind(&name, id, bindings);
                Effect::UpsertSymptom { id: Some(id), name, fingerprint, test, error, category, component }
            }
            Self::MarkSeen { id } => Effect::MarkSeen { id: find(id, bindings)? },
            Self::CreateTriage { category, severity, defect_type, skip_investigation, repos } => {
                Effect::CreateTriage { category, severity, defect_type, skip_investigation, repos }
            }
            Self::CreateRca { id: _, name, title, message, defect_type, component, convergence, root, common } => {
                let common = common && !root.is_empty();
                let id = if common { derive("rca of root", &root) } else { derive("rca", name.as_deref().unwrap_or("")) };
                bind(&name, id, bindings);
                Effect::CreateRca { id: Some(id), name, title, message, defect_type, component, convergence, root, common }
            }
            Self::LinkRca { id, name } => {
                let id = find(id, bindings)?;
                bind(&name, id, bindings);
                Effect::LinkRca { id, name }
            }
            Self::LinkSymptomRca { symptom, rca, confidence } => {
                Effect::LinkSymptomRca { symptom: find(symptom, bindings)?, rca: find(rca, bindings)?, confidence }
            }
            Self::Overturn { symptom, rca, replaced } => {
                Effect::Overturn { symptom: find(symptom, bindings)?, rca: find(rca, bindings)?, replaced }
            }
            Self::UpdateRca { id, message, defect_type, status } => {
                Effect::UpdateRca { id: find(id, bindings)?, message, defect_type, status }
            }
            Self::SetCaseStatus { status } => Effect::SetCaseStatus { status },
            Self::Note { text } => Effect::Note { text },
            Self::Remember { id: _, level, space, entity, content, state, f, sigma, k } => {
                let what = [&*level, &space, &entity, &state, &content].join("\n");
                let id = Some(derive("memory", &what));
                Effect::Remember { id, level, space, entity, content, state, f, sigma, k }
            }
            Self::Recalled { ids } => Effect::Recalled { ids },
            Self::Anchor { entries, head, log } => Effect::Anchor { entries, head, log },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_reader() {
        assert_eq!(effect_has("note", "text"), Some(true));
        assert_eq!(effect_has("upsert_symptom", "fingerprint"), Some(true));
        assert_eq!(effect_has("upsert_symptom", "fingreprint"), Some(false));
        assert_eq!(effect_has("create_rca", "as"), Some(true));
        assert_eq!(effect_has("note", "effect"), Some(true));
        assert_eq!(effect_has("notes", "text"), None);
    }

    #[test]
    fn the_names_are_those_of_the_effects() {
        let unknown = serde_json::from_value::<Effect<Handle>>(serde_json::json!({ "effect": "zz" })).expect_err("unknown");
        let known = EFFECTS.map(|name| format!("`{name}`")).join(", ");
        assert_eq!(unknown.to_string(), format!("unknown variant `zz`, expected one of {known}"));
    }
    use serde_json::json;

    fn parse(value: serde_json::Value) -> Effect<Handle> {
        serde_json::from_value(value).expect("effect")
    }

    #[test]
    fn names_bound_by_earlier_effects_resolve() {
        let mut bindings = BTreeMap::new();
        let derive = |kind: &str, what: &str| if kind == "rca" { 7 } else { i64::try_from(what.len()).expect("short") };
        let made = parse(json!({"effect": "create_rca", "as": "rca", "title": "t", "message": "m", "defect_type": "pb001"}));
        assert!(matches!(made.resolve(&mut bindings, derive), Ok(Effect::CreateRca { id: Some(7), .. })));
        let linked = parse(json!({"effect": "link_symptom_rca", "symptom": 3, "rca": "$rca", "confidence": 0.5}));
        let linked = linked.resolve(&mut bindings, derive);
        assert_eq!(linked, Ok(Effect::LinkSymptomRca { symptom: 3, rca: 7, confidence: 0.5 }));
        let lost = parse(json!({"effect": "link_rca", "id": "$rac"}));
        assert_eq!(lost.resolve(&mut bindings, derive), Err(UnresolvedHandle("$rac".into())));
    }

    #[test]
    fn an_unknown_effect_or_field_is_refused_by_name() {
        let unknown = serde_json::from_value::<Effect<Handle>>(json!({"effect": "drop_table"})).expect_err("unknown");
        assert!(unknown.to_string().contains("drop_table"), "{unknown}");
        let part = serde_json::from_value::<Effect<Handle>>(json!({"effect": "mark_seen", "id": 1, "x": 2})).expect_err("part");
        assert!(part.to_string().contains('x'), "{part}");
    }
}
