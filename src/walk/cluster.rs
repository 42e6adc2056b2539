//! Clusters: cases so alike that one walks a phase ahead of the others, which then see what it found.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Cases of one key, in their order; the first is the representative.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// What they have in common.
    pub key: String,
    /// Their ids, at least two.
    pub cases: Vec<String>,
}

impl Cluster {
    /// The clusters among cases, given with their keys in order; a case without a key is like no other. A key that more than
    /// `most` cases share makes several clusters. They stand in the order of their representatives.
    pub fn among(cases: impl IntoIterator<Item = (String, Option<String>)>, most: usize) -> Vec<Self> {
        let mut clusters: Vec<Self> = Vec::new();
        let mut open: HashMap<String, usize> = HashMap::new();
        for (case, key) in cases {
            let Some(key) = key else { continue };
            match open.get(&key).and_then(|at| clusters.get_mut(*at)) {
                Some(cluster) if cluster.cases.len() < most => cluster.cases.push(case),
                _ => {
                    open.insert(key.clone(), clusters.len());
                    clusters.push(Self { key, cases: vec![case] });
                }
            }
        }
        clusters.retain(|cluster| cluster.cases.len() > 1);
        clusters
    }

    /// The case that walks ahead.
    pub fn representative(&self) -> &str {
        self.cases.first().map_or("", String::as_str)
    }

    /// The cases that wait for it.
    pub fn members(&self) -> &[String] {
        self.cases.get(1..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_of_one_key_are_together_up_to_the_most() {
        let cases = [("a", "x"), ("b", "y"), ("c", "x"), ("d", ""), ("e", "x"), ("f", "x"), ("g", "x"), ("h", "z")];
        let keyed = cases.map(|(case, key)| (case.to_owned(), Some(key.to_owned()).filter(|key| !key.is_empty())));
        let clusters = Cluster::among(keyed, 3);
        let shown: Vec<String> = clusters.iter().map(|cluster| format!("{} {}", cluster.key, cluster.cases.join(""))).collect();
        assert_eq!(shown, ["x ace", "x fg"]);
        assert_eq!((clusters[0].representative(), clusters[0].members()), ("a", &["c".to_owned(), "e".to_owned()][..]));
    }
}
