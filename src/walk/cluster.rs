//! Clusters: cases so alike that one walks a phase ahead of the others, which then see what it found.

use super::content::Content;
use super::name::Name;
use crate::model::Hash;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// Cases of one key, in their order; the first is the representative. Its fields stand in the order of their names, so that its JSON is
/// canonical.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// Their ids, at least two.
    pub cases: Box<[Name]>,
    /// What they have in common; many clusters may have it.
    pub key: Arc<str>,
}

/// Clusters being formed, case by case. Of a case that is like no other so far, only its id is held.
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
    /// Known from the second case on.
    key: Option<Arc<str>>,
    others: Vec<Name>,
}

impl Clustering {
    /// No cases yet. A key that more than `most` cases share makes several clusters.
    pub fn new(most: usize) -> Self {
        Self { most, groups: Vec::new(), open: HashMap::new() }
    }

    /// The next case, in order. One without a key is like no other.
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

    /// The clusters, in the order of their representatives.
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
    /// The case that walks ahead.
    pub fn representative(&self) -> &str {
        self.cases.first().map_or("", Name::as_str)
    }

    /// Clusters as they are recorded.
    pub fn content(clusters: &[Self]) -> Content {
        Content::of_text(serde_json::to_string(clusters).unwrap_or_default())
    }

    /// The cases that wait for it.
    pub fn members(&self) -> &[Name] {
        self.cases.get(1..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_of_one_key_are_together_up_to_the_most() {
        let cases = [("a", "x"), ("b", "y"), ("c", "x"), ("d", ""), ("e", "x"), ("f", "x"), ("g", "x"), ("h", "z")];
        let mut clustering = Clustering::new(3);
        for (case, key) in cases {
            clustering.add(case.into(), Some(key.to_owned()).filter(|key| !key.is_empty()));
        }
        let clusters = clustering.finish();
        let shown: Vec<String> = clusters.iter().map(|cluster| format!("{} {}", cluster.key, cluster.cases.join(""))).collect();
        assert_eq!(shown, ["x ace", "x fg"]);
        assert_eq!((clusters[0].representative(), clusters[0].members()), ("a", &["c".into(), "e".into()][..]));
        let canonical = crate::model::canonical(&serde_json::json!(clusters));
        assert_eq!(Cluster::content(&clusters).text().as_deref(), Some(canonical.as_str()));
    }
}
