//! The index of a launch: which failures have a key in common, and how many.
//!
//! It holds hashes and numbers of failures, no texts: the requested failure has the text of each of its keys.

use super::peer_keys::{FailedFixture, PeerKeys, PeerKind};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// The number of examples of a key.
const EXAMPLES: usize = 8;
/// The number of failed set-ups of a suite that are listed.
const FIXTURES_OF_SUITE: usize = 2;
/// The number of failed set-ups that are listed in total.
const FIXTURES: usize = 4096;

/// A key that other failures of the launch have as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Peer<'k> {
    /// The kind of the key.
    pub kind: PeerKind,
    /// The kind of a name, the owner of a frame; empty for other keys.
    pub of: &'static str,
    /// The key.
    pub key: &'k str,
    /// How many failures have it.
    pub count: u32,
    /// The first of the others, in the order of the launch: their ids.
    pub cases: Vec<&'k str>,
    /// Of how many suites those failures are.
    pub suites: u32,
    /// Of a fixture: the failed set-up itself, if it is another failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<PeerOrigin<'k>>,
}

/// The failed set-up of a suite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeerOrigin<'k> {
    /// The known facts about it.
    #[serde(flatten)]
    pub fixture: &'k FailedFixture,
    /// Whether its error is that of the requested failure.
    pub same_error: bool,
}

/// Collects the keys of a launch, failure by failure.
#[derive(Debug, Default)]
pub struct PeerIndexBuilder {
    ids: Vec<Box<str>>,
    /// By failure: the hash of its suite.
    suites: Vec<u64>,
    /// Hashes of keys, each with the number of the failure.
    pairs: Vec<(u64, u32)>,
    /// Failed set-ups, by the hash of their key.
    fixtures: HashMap<u64, Vec<IndexedFixture>>,
    fixture_count: usize,
}

#[derive(Debug)]
struct IndexedFixture {
    error: Option<u64>,
    told: FailedFixture,
}

/// The keys that at least two failures of a launch have.
#[derive(Debug, Default)]
pub struct PeerIndex {
    groups: Vec<PeerGroup>,
    /// The first failures of each group, one more than are shown.
    members: Vec<u32>,
    ids: Vec<Box<str>>,
    fixtures: HashMap<u64, Vec<IndexedFixture>>,
}

#[derive(Debug)]
struct PeerGroup {
    hash: u64,
    /// Where its members begin.
    first: u32,
    count: u32,
    suites: u32,
}

impl PeerIndexBuilder {
    /// Adds the next failure of the launch.
    pub fn add(&mut self, id: &str, keys: &PeerKeys) {
        let number = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        self.ids.push(id.into());
        self.suites.push(keys.suite);
        self.pairs.extend(keys.keys.iter().filter(|key| key.own).map(|key| (key.hash, number)));
        let Some(told) = keys.fixture.as_ref().filter(|_| self.fixture_count < FIXTURES) else { return };
        let Some(key) = keys.keys.iter().find(|key| key.kind == PeerKind::Fixture) else { return };
        let of_suite = self.fixtures.entry(key.hash).or_default();
        if of_suite.len() < FIXTURES_OF_SUITE && of_suite.iter().all(|have| have.error != keys.error) {
            of_suite.push(IndexedFixture { error: keys.error, told: told.clone() });
            self.fixture_count += 1;
        }
    }

    /// The index of what was added.
    pub fn finish(mut self) -> PeerIndex {
        self.pairs.sort_unstable();
        self.pairs.dedup();
        let mut index = PeerIndex { ids: self.ids, fixtures: self.fixtures, ..PeerIndex::default() };
        for group in self.pairs.chunk_by(|(one, _), (other, _)| one == other) {
            // A failed set-up is listed for its suite even without other failures of that kind.
            if group.len() < 2 && !index.fixtures.contains_key(&group[0].0) {
                continue;
            }
            let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            let suites: BTreeSet<u64> = group.iter().map(|(_, case)| self.suites[*case as usize]).collect();
            index.groups.push(PeerGroup {
                hash: group[0].0,
                first: number(index.members.len()),
                count: number(group.len()),
                suites: number(suites.len()),
            });
            index.members.extend(group.iter().take(EXAMPLES + 1).map(|(_, case)| *case));
        }
        index.groups.shrink_to_fit();
        index.members.shrink_to_fit();
        index
    }
}

impl PeerIndex {
    /// The keys of a failure that others have as well: by kind, the most frequent first.
    pub fn peers<'k>(&'k self, id: &str, keys: &'k PeerKeys) -> Vec<Peer<'k>> {
        let mut found: Vec<Peer<'k>> = Vec::new();
        for key in &keys.keys {
            let Ok(at) = self.groups.binary_search_by_key(&key.hash, |group| group.hash) else { continue };
            let PeerGroup { first, count, suites, .. } = self.groups[at];
            let shown = (count as usize).min(EXAMPLES + 1);
            let members = &self.members[first as usize..first as usize + shown];
            let others = members.iter().filter_map(|number| self.ids.get(*number as usize)).map(|other| &**other);
            let cases: Vec<&str> = others.filter(|other| *other != id).take(EXAMPLES).collect();
            if cases.is_empty() {
                continue;
            }
            let origin = (key.kind == PeerKind::Fixture).then(|| self.origin(id, key.hash, keys.error)).flatten();
            found.push(Peer { kind: key.kind, of: key.of, key: &key.key, count, cases, suites, origin });
        }
        found.sort_by(|one, other| (one.kind, other.count, one.of, one.key).cmp(&(other.kind, one.count, other.of, other.key)));
        found
    }

    /// The failed set-up of the failure's suite, rather one with another error.
    fn origin(&self, id: &str, key: u64, error: Option<u64>) -> Option<PeerOrigin<'_>> {
        let others = || self.fixtures.get(&key).into_iter().flatten().filter(|fixture| fixture.told.id != id);
        let found = others().find(|fixture| fixture.error != error).or_else(|| others().next())?;
        Some(PeerOrigin { fixture: &found.told, same_error: found.error.is_some() && found.error == error })
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::{EvidenceReader, EvidenceRules, FailureTexts};
    use super::*;
    use asterisk_base::model::{Case, Hash};
    use proptest::prelude::*;

    fn reader() -> EvidenceReader {
        EvidenceReader::new(EvidenceRules { fixtures: "setUp".into(), ..EvidenceRules::default() }, Hash::of(b""))
    }

    fn index(cases: &[Case]) -> (PeerIndex, Vec<PeerKeys>) {
        let reader = reader();
        let keys: Vec<PeerKeys> =
            cases.iter().map(|case| reader.peer_keys(case, &reader.read(FailureTexts::of(case, "")))).collect();
        let mut builder = PeerIndexBuilder::default();
        for (case, keys) in cases.iter().zip(&keys) {
            builder.add(&case.id, keys);
        }
        (builder.finish(), keys)
    }

    fn case(at: usize, suite: &str, name: &str, error: &str) -> Case {
        Case { id: format!("c{at}"), suite: suite.into(), name: name.into(), error_message: error.into(), ..Case::default() }
    }

    #[test]
    fn a_key_of_many_has_eight_examples() {
        let cases: Vec<Case> =
            (0..40).map(|at| case(at, if at < 30 { "a" } else { "b" }, "t", &format!("lost packet {at}"))).collect();
        let (index, keys) = index(&cases);
        let peers = index.peers("c3", &keys[3]);
        let error = peers.iter().find(|peer| peer.kind == PeerKind::Error).expect("all have the same error");
        assert_eq!((error.count, error.suites), (40, 2));
        assert_eq!(error.cases, ["c0", "c1", "c2", "c4", "c5", "c6", "c7", "c8"]);
        assert_eq!(index.peers("c39", &keys[39])[0].cases.len(), 8);
    }

    #[test]
    fn what_no_other_case_has_is_not_listed() {
        let (index, keys) = index(&[case(0, "a", "t", "lost lock"), case(1, "a", "u", "no space")]);
        assert_eq!(index.peers("c0", &keys[0]), []);
        assert!(index.groups.is_empty());
    }

    #[test]
    fn tests_get_the_failed_set_up_of_their_suite() {
        let cases = [
            case(0, "a", "setUp", "no database"),
            case(1, "a", "pays", "nothing was set up"),
            case(2, "b", "pays", "nothing was set up"),
            case(3, "a", "setUp again", "nothing was set up"),
        ];
        let (index, keys) = index(&cases);
        let fixture = |at: usize| index.peers(&cases[at].id, &keys[at]).into_iter().find(|peer| peer.kind == PeerKind::Fixture);
        let told = fixture(1).expect("the set-up of its suite failed");
        assert_eq!((told.count, told.cases), (2, vec!["c0", "c3"]));
        let origin = told.origin.expect("it is another failure");
        assert_eq!((origin.fixture.id.as_str(), origin.same_error), ("c0", false));
        assert_eq!(fixture(2), None, "of another suite");
        let other = fixture(0).and_then(|peer| peer.origin).expect("there is another");
        assert_eq!(other.fixture.id, "c3");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn counts_are_those_of_comparing_every_pair(picks in proptest::collection::vec((0..4_u8, 0..3_u8), 1..40)) {
            let errors = ["", "lost lock", "no space on 10.0.0.5:5432", "timeout of 10.0.0.5:5432"];
            let cases: Vec<Case> = picks
                .iter()
                .enumerate()
                .map(|(at, (error, suite))| case(at, &format!("s{suite}"), "t", errors[usize::from(*error)]))
                .collect();
            let (index, keys) = index(&cases);
            for (at, own) in keys.iter().enumerate() {
                let peers = index.peers(&cases[at].id, own);
                for key in own.keys.iter().filter(|key| key.own) {
                    let with: Vec<usize> = (0..cases.len()).filter(|other| keys[*other].keys.contains(key)).collect();
                    let suites: BTreeSet<&str> = with.iter().map(|other| cases[*other].suite.as_str()).collect();
                    let others = with.iter().filter(|other| **other != at).take(EXAMPLES);
                    let others: Vec<&str> = others.map(|other| cases[*other].id.as_str()).collect();
                    let found = peers.iter().find(|peer| (peer.kind, peer.of, peer.key) == (key.kind, key.of, key.key.as_str()));
                    match found {
                        None => prop_assert!(others.is_empty()),
                        Some(peer) => {
                            prop_assert_eq!(peer.count as usize, with.len());
                            prop_assert_eq!(peer.suites as usize, suites.len());
                            prop_assert_eq!(&peer.cases, &others);
                        }
                    }
                }
            }
        }
    }
}
