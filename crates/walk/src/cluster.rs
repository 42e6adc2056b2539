//! Clusters of similar cases: a representative walks a phase first, and the other members see its results.

use super::content::Content;
use super::name::Name;
use asterisk_base::model::Hash;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// Cases with the same key, in order; the first is the representative. Fields are declared in alphabetical order, so that the
/// JSON is canonical.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// The ids of its cases, at least two.
    pub cases: Box<[Name]>,
    /// The key they share. Several clusters may have the same one.
    pub key: Arc<str>,
}

/// Builds clusters case by case. Of a case with a key seen only once, only the id is kept.
#[derive(Debug)]
pub struct Clustering {
    most: usize,
    groups: Vec<RecallGroup>,
    /// The latest group of each key.
    open: HashMap<Hash, usize>,
}

#[derive(Debug)]
struct RecallGroup {
    first: Name,
    /// Set by the second case.
    key: Option<Arc<str>>,
    others: Vec<Name>,
}

impl Clustering {
    /// An empty clustering. A key shared by more than `most` cases makes several clusters.
    pub fn new(most: usize) -> Self {
        Self { most, groups: Vec::new(), open: HashMap::new() }
    }

    /// Adds the next case, in order. A case without a key joins no cluster.
    pub fn add(&mut self, case: Name, key: Option<String>) {
        let Some(key) = key else { return };
        let hash = Hash::of(key.as_bytes());
        let latest = self.open.get(&hash).and_then(|at| self.groups.get_mut(*at));
        let known = latest.map(|group| (Arc::clone(group.key.get_or_insert_with(|| key.into())), &mut group.others));
        match known {
            Some((_, others)) if others.len() + 1 < self.most => others.push(case),
            full => {
                let key = full.map(|(key, _)| key);
                self.open.insert(hash, self.groups.len());
                self.groups.push(RecallGroup { first: case, key, others: Vec::new() });
            }
        }
    }

    /// Returns the clusters in the order of their representatives.
    pub fn finish(self) -> Vec<Cluster> {
        let groups = self.groups.into_iter().filter(|group| !group.others.is_empty());
        let cluster = |RecallGroup { first, key, others }| Cluster {
            cases: std::iter::once(first).chain(others).collect(),
            key: key.unwrap_or_default(),
        };
        groups.map(cluster).collect()
    }
}

impl Cluster {
    /// The case that walks first.
    pub fn representative(&self) -> &str {
        self.cases.first().map_or("", Name::as_str)
    }

    /// The recorded form of clusters.
    pub fn content(clusters: &[Self]) -> Content {
        Content::of_text(serde_json::to_string(clusters).unwrap_or_default())
    }

    /// The cases that wait for the representative.
    pub fn members(&self) -> &[Name] {
        self.cases.get(1..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_with_the_same_key_are_clustered_up_to_the_limit() {
        let cases = [("a", "x"), ("b", "y"), ("c", "x"), ("d", ""), ("e", "x"), ("f", "x"), ("g", "x"), ("h", "z")];
        let mut clustering = Clustering::new(3);
        for (case, key) in cases {
            clustering.add(case.into(), Some(key.to_owned()).filter(|key| !key.is_empty()));
        }
        let clusters = clustering.finish();
        let shown: Vec<String> = clusters.iter().map(|cluster| format!("{} {}", cluster.key, cluster.cases.join(""))).collect();
        assert_eq!(shown, ["x ace", "x fg"]);
        assert_eq!((clusters[0].representative(), clusters[0].members()), ("a", &["c".into(), "e".into()][..]));
        let canonical = asterisk_base::model::canonical(&serde_json::json!(clusters));
        assert_eq!(Cluster::content(&clusters).text().as_deref(), Some(canonical.as_str()));
    }
}
