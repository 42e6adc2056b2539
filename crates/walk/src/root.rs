//! The root of a case: what it has in common with the other failures that one fix would fix.
//!
//! Rules are tried in file order, and the first that gives a key decides. Cases with equal keys are one cause, in one launch and from
//! one launch to the next.

use super::content::Content;
use super::name::Name;
use super::verdict::FailedRule;
use asterisk_base::model::{Hash, Kind};
use asterisk_script::probe::frame;
use asterisk_script::{RootKey, ScriptFunction, View};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How many hexadecimal digits of its hash make the key of a root.
const DIGITS: usize = 16;

/// How roots are found: a linked `roots:` section.
#[derive(Clone, Debug)]
pub struct RootPlan {
    /// The rules, in file order.
    pub rules: Vec<RootFunction>,
    /// The vars of the pipeline that it is of.
    pub vars: Content,
    /// The address of the data that rules read.
    pub data: Hash,
    /// The address of all of this: roots of the same evidence by the same address are the same.
    pub address: Hash,
}

/// A rule of roots.
#[derive(Clone, Debug)]
pub struct RootFunction {
    /// The id.
    pub id: Name,
    /// The displayed name.
    pub name: Name,
    /// Where it is written: `file:line`.
    pub at: Name,
    /// How often failures to which it gives equal keys are one cause, in [0, 1].
    pub confidence: f64,
    /// Whether equal keys mean one cause in one launch only.
    pub in_launch: bool,
    /// Whether such a failure only follows from another one.
    pub consequence: bool,
    /// The function.
    pub function: ScriptFunction,
}

/// The root of a case; without a rule and a key where no rule gave one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Root {
    /// The key: the hash of what the rule gave, or what a person said instead.
    pub key: String,
    /// What the rule gave: a text or a map.
    pub parts: Value,
    /// The rule that gave it.
    pub rule: Name,
    /// Its displayed name.
    pub name: Name,
    /// Where it is written: `file:line`.
    pub at: Name,
    /// How often failures to which the rule gives equal keys are one cause, in [0, 1].
    pub confidence: f64,
    /// Where equal keys mean one cause: `always`, or `launch`; empty without a rule.
    pub scope: Name,
    /// Whether such a failure only follows from another one.
    pub consequence: bool,
    /// Why; empty if the rule gives no reason.
    pub because: String,
    /// The ids of the lines that it is about.
    pub about: Vec<String>,
    /// A person's word that replaced the key: `merged`, `split`; empty without one.
    pub by: String,
    /// The rules that failed before it, which count as silent.
    pub failed: Vec<FailedRule>,
}

/// The decisions on roots (`asterisk rca merge`, `asterisk rca split`), as a case sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct RootWords {
    /// The key that the case was given, if it was split off.
    pub pinned: Option<String>,
    /// Keys that replace others, as pairs.
    pub merged: Vec<(String, String)>,
}

impl RootPlan {
    /// The root of a case. `evidence` and `context` are what rules see.
    pub fn find(&self, evidence: &View, context: &View, words: &RootWords) -> Root {
        let null = View::null();
        let vars = self.vars.view().unwrap_or(&null);
        let mut failed = Vec::new();
        let mut root = Root::default();
        for rule in &self.rules {
            match frame("root rule", &rule.id, || rule.function.root(&[evidence, context, vars])) {
                Ok(None) => {}
                Ok(Some(found)) => {
                    root = rule.root(found);
                    break;
                }
                Err(error) => failed.push(FailedRule { id: rule.id.clone(), at: rule.at.clone(), error: error.to_string() }),
            }
        }
        root.failed = failed;
        root.heed(words);
        root
    }
}

impl RootPlan {
    /// The key that each rule gives; nothing where it gives none or fails.
    pub fn every_key(&self, evidence: &View, context: &View) -> Vec<Option<Value>> {
        let null = View::null();
        let vars = self.vars.view().unwrap_or(&null);
        let said = |rule: &RootFunction| rule.function.root(&[evidence, context, vars]).ok().flatten().map(|found| found.key);
        self.rules.iter().map(said).collect()
    }
}

impl RootFunction {
    /// The root that it gives.
    pub fn root(&self, found: RootKey) -> Root {
        Root {
            key: key_of(&found.key),
            parts: found.key,
            rule: self.id.clone(),
            name: self.name.clone(),
            at: self.at.clone(),
            confidence: self.confidence,
            scope: if self.in_launch { "launch" } else { "always" }.into(),
            consequence: self.consequence,
            because: found.because.unwrap_or_default(),
            about: found.about,
            ..Root::default()
        }
    }
}

impl Root {
    /// Whether any rule, or a person, gave a key.
    pub fn is_known(&self) -> bool {
        !self.key.is_empty()
    }

    /// Replaces the key by what a person said.
    fn heed(&mut self, words: &RootWords) {
        if let Some(pinned) = &words.pinned {
            (self.key, self.by) = (pinned.clone(), "split".to_owned());
        }
        // Each merge is tried once, so that a cycle of decisions ends.
        for _ in 0..words.merged.len() {
            let Some((_, other)) = words.merged.iter().find(|(key, _)| *key == self.key) else { break };
            (self.key, self.by) = (other.clone(), "merged".to_owned());
        }
    }

    /// The document that scripts read.
    pub fn view(&self) -> View {
        View::of(&json!(self), &Kind::Any, "params.root")
    }
}

/// The key of what a rule gave. White space around texts, and how much of it is between words, makes no difference.
pub fn key_of(parts: &Value) -> String {
    let mut key = Hash::of_json(&normalised(parts)).to_string();
    key.truncate(DIGITS);
    key
}

fn normalised(parts: &Value) -> Value {
    match parts {
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" ").into(),
        Value::Array(items) => items.iter().map(normalised).collect(),
        Value::Object(parts) => parts.iter().map(|(name, part)| (name.clone(), normalised(part))).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(key: &str) -> Root {
        Root { key: key.into(), ..Root::default() }
    }

    #[test]
    fn keys_do_not_depend_on_white_space_and_the_order_of_parts() {
        let key = key_of(&json!({ "missing": "file", "name": "a b" }));
        assert_eq!(key.len(), DIGITS);
        assert_eq!(key, key_of(&json!({ "name": " a \n b", "missing": "file" })));
        assert_ne!(key, key_of(&json!({ "name": "a c", "missing": "file" })));
        assert_ne!(key_of(&json!("1")), key_of(&json!({ "1": "" })));
    }

    #[test]
    fn what_people_said_counts_more_than_rules() {
        let words = |pinned: Option<&str>, merged: &[(&str, &str)]| RootWords {
            pinned: pinned.map(str::to_owned),
            merged: merged.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect(),
        };
        let heeded = |key: &str, words: &RootWords| {
            let mut root = root(key);
            root.heed(words);
            (root.key, root.by)
        };
        let said = |key: &str, by: &str| (key.to_owned(), by.to_owned());
        assert_eq!(heeded("a", &words(None, &[])), said("a", ""));
        assert_eq!(heeded("a", &words(Some("z"), &[("a", "b")])), said("z", "split"));
        assert_eq!(heeded("a", &words(None, &[("b", "c"), ("a", "b")])), said("c", "merged"));
        assert_eq!(heeded("", &words(Some("z"), &[])), said("z", "split"));
        // A circle ends.
        heeded("a", &words(None, &[("a", "b"), ("b", "a")]));
    }
}
