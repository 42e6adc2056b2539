//! The outcomes of all tests of a launch, those that passed among them: what the history of a test is made of.

use super::Hash;
use compact_str::CompactString;
use std::collections::BTreeMap;

/// The outcome of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestOutcome {
    Passed,
    /// Passed when retried.
    Flaky,
    /// Not run.
    Skipped,
    Failed,
    /// Could not be run to completion: a fixture failed, the process died.
    Error,
}

impl TestOutcome {
    /// Whether it is either kind of failure.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Error)
    }

    /// Whether the test passed, in its last attempt at least.
    pub fn is_pass(self) -> bool {
        matches!(self, Self::Passed | Self::Flaky)
    }

    /// The outcome of a test after another attempt.
    fn then(self, attempt: Self) -> Self {
        match (self, attempt) {
            (before, Self::Skipped) => before,
            (Self::Failed | Self::Error | Self::Flaky, Self::Passed) => Self::Flaky,
            (_, attempt) => attempt,
        }
    }

    /// The outcome of two tests with the same identity: the worse one.
    fn or(self, other: Self) -> Self {
        if other.byte() > self.byte() { other } else { self }
    }

    /// The number in a record, the higher the worse. The store has these numbers: they never change.
    fn byte(self) -> u8 {
        match self {
            Self::Skipped => 1,
            Self::Passed => 2,
            Self::Flaky => 3,
            Self::Error => 4,
            Self::Failed => 5,
        }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        [Self::Skipped, Self::Passed, Self::Flaky, Self::Error, Self::Failed].into_iter().find(|outcome| outcome.byte() == byte)
    }
}

/// A hash of what a test is called in every launch: its suite and its name. Ids are not part of it, since most sources give each
/// execution another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TestIdentity([u8; 8]);

impl TestIdentity {
    /// The identity of a test, by suite and name as in its [`super::Case`] if it fails.
    pub fn new(suite: &str, name: &str) -> Self {
        let hash = Hash::of(format!("{suite}\0{name}").as_bytes());
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&hash.bytes()[..8]);
        Self(bytes)
    }

    /// The identity in a record of the store.
    pub fn from_bytes(bytes: [u8; 8]) -> Self {
        Self(bytes)
    }

    /// Its bytes, for the store.
    pub fn bytes(self) -> [u8; 8] {
        self.0
    }
}

/// The bytes of a record: the identity of a test, and its outcome.
const RECORD: usize = 9;

/// Marks the outcome of a further attempt in a record that is not settled.
const ATTEMPT: u8 = 0x80;

/// The outcomes of the tests of a launch, nine bytes each.
///
/// Outcomes are added in any order, a test as often as it occurs. [`TestOutcomes::settle`] leaves one of each test.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TestOutcomes {
    records: Vec<[u8; RECORD]>,
    /// Whether there is one record of each test, in the order of identities.
    is_settled: bool,
    /// Whether there were more tests than are kept.
    is_over: bool,
    /// Suites and names of tests that passed when retried, and so are not in any case.
    names: BTreeMap<TestIdentity, (CompactString, CompactString)>,
}

impl TestOutcomes {
    /// The maximum number of tests. Of more, those with the lowest identities are kept, which are the same in each launch.
    pub const MAX: usize = 2_000_000;

    /// The maximum number of names.
    const MAX_NAMES: usize = 20_000;

    /// Keeps the name of a test that passed when retried.
    pub fn name(&mut self, suite: &str, name: &str) {
        if self.names.len() < Self::MAX_NAMES {
            self.names.insert(TestIdentity::new(suite, name), (suite.into(), name.into()));
        }
    }

    /// The names that were kept: identity, suite and name.
    pub fn names(&self) -> impl Iterator<Item = (TestIdentity, &str, &str)> {
        self.names.iter().map(|(test, (suite, name))| (*test, suite.as_str(), name.as_str()))
    }

    /// Adds a test. Of two tests with one identity, the worse outcome counts.
    pub fn add(&mut self, test: TestIdentity, outcome: TestOutcome) {
        self.push(test, outcome.byte());
    }

    /// Adds another attempt of a test. One that failed and then passed is [`TestOutcome::Flaky`].
    pub fn add_attempt(&mut self, test: TestIdentity, outcome: TestOutcome) {
        self.push(test, outcome.byte() | ATTEMPT);
    }

    fn push(&mut self, TestIdentity(test): TestIdentity, byte: u8) {
        let mut record = [byte; RECORD];
        record[..RECORD - 1].copy_from_slice(&test);
        self.records.push(record);
        self.is_settled = false;
        if self.records.len() >= Self::MAX + Self::MAX / 4 {
            self.settle();
        }
    }

    /// Adds the tests of another part of the launch, which has its own attempts.
    pub fn merge(&mut self, other: Self) {
        self.append(other, 0);
    }

    /// Adds later attempts of the same tests.
    pub fn merge_attempts(&mut self, later: Self) {
        self.append(later, ATTEMPT);
    }

    fn append(&mut self, mut other: Self, mark: u8) {
        other.settle();
        self.is_over |= other.is_over;
        let room = Self::MAX_NAMES.saturating_sub(self.names.len());
        self.names.extend(std::mem::take(&mut other.names).into_iter().take(room));
        if self.records.is_empty() {
            *self = Self { is_over: self.is_over, names: std::mem::take(&mut self.names), ..other };
            return;
        }
        for record in other.records {
            self.push(identity(&record), record[RECORD - 1] | mark);
        }
    }

    /// Leaves one record of each test, sorted.
    pub fn settle(&mut self) {
        if !self.is_settled {
            self.settle_within(Self::MAX);
        }
    }

    fn settle_within(&mut self, most: usize) {
        // Stable: the records of a test stay in the order in which they were added.
        self.records.sort_by(|a, b| a[..RECORD - 1].cmp(&b[..RECORD - 1]));
        self.records.dedup_by(|next, kept| {
            if next[..RECORD - 1] != kept[..RECORD - 1] {
                return false;
            }
            if let (Some(before), Some(found)) = (outcome(kept), outcome(next)) {
                let both = if next[RECORD - 1] & ATTEMPT == 0 { before.or(found) } else { before.then(found) };
                kept[RECORD - 1] = both.byte();
            }
            true
        });
        for record in &mut self.records {
            record[RECORD - 1] &= !ATTEMPT;
        }
        self.is_over |= self.records.len() > most;
        self.records.truncate(most);
        self.records.shrink_to_fit();
        self.is_settled = true;
    }

    /// The outcome of a test, if the launch has it. They must be settled.
    pub fn get(&self, test: TestIdentity) -> Option<TestOutcome> {
        let at = self.records.binary_search_by(|record| identity(record).cmp(&test)).ok()?;
        outcome(&self.records[at])
    }

    /// The number of records: of tests, once settled.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether no test was added.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Whether there were more tests than [`TestOutcomes::MAX`].
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether any test passed. A list without one may be of failures only.
    pub fn has_passes(&self) -> bool {
        self.records.iter().any(|record| outcome(record).is_some_and(TestOutcome::is_pass))
    }

    /// The settled records as bytes, for the store: all identities, then all outcomes, which so take next to nothing when
    /// compressed.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.records.len() * RECORD);
        bytes.extend(self.records.iter().flat_map(|record| &record[..RECORD - 1]));
        bytes.extend(self.records.iter().map(|record| record[RECORD - 1]));
        bytes
    }

    /// The records of [`TestOutcomes::to_bytes`]; `None` of anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if !bytes.len().is_multiple_of(RECORD) {
            return None;
        }
        let (identities, outcomes) = bytes.split_at(bytes.len() / RECORD * (RECORD - 1));
        let mut records = Vec::with_capacity(outcomes.len());
        for (identity, outcome) in identities.chunks_exact(RECORD - 1).zip(outcomes) {
            TestOutcome::from_byte(*outcome)?;
            let mut record = [*outcome; RECORD];
            record[..RECORD - 1].copy_from_slice(identity);
            records.push(record);
        }
        records.is_sorted_by(|a, b| a[..RECORD - 1] < b[..RECORD - 1]).then_some(Self {
            records,
            is_settled: true,
            is_over: false,
            names: BTreeMap::new(),
        })
    }
}

impl std::fmt::Debug for TestOutcomes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TestOutcomes({})", self.records.len())
    }
}

fn identity(record: &[u8; RECORD]) -> TestIdentity {
    let mut bytes = [0; RECORD - 1];
    bytes.copy_from_slice(&record[..RECORD - 1]);
    TestIdentity(bytes)
}

fn outcome(record: &[u8; RECORD]) -> Option<TestOutcome> {
    TestOutcome::from_byte(record[RECORD - 1] & !ATTEMPT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn any_outcome() -> impl Strategy<Value = TestOutcome> {
        use TestOutcome::{Error, Failed, Flaky, Passed, Skipped};
        prop_oneof![Just(Passed), Just(Flaky), Just(Skipped), Just(Failed), Just(Error)]
    }

    /// Tests of a part: which, how it ended, and whether that is another attempt.
    fn any_part() -> impl Strategy<Value = Vec<(u8, TestOutcome, bool)>> {
        proptest::collection::vec((0..12_u8, any_outcome(), any::<bool>()), 0..40)
    }

    fn test(number: u8) -> TestIdentity {
        TestIdentity::new("suite", &number.to_string())
    }

    fn outcomes(part: &[(u8, TestOutcome, bool)]) -> TestOutcomes {
        let mut outcomes = TestOutcomes::default();
        for (number, outcome, again) in part {
            if *again { outcomes.add_attempt(test(*number), *outcome) } else { outcomes.add(test(*number), *outcome) }
        }
        outcomes
    }

    type Model = BTreeMap<u8, TestOutcome>;

    fn put(model: &mut Model, number: u8, outcome: TestOutcome, again: bool) {
        let known = model.get(&number).copied();
        let now = known.map_or(outcome, |known| if again { known.then(outcome) } else { known.or(outcome) });
        model.insert(number, now);
    }

    fn naive(part: &[(u8, TestOutcome, bool)]) -> Model {
        let mut model = Model::new();
        for (number, outcome, again) in part {
            put(&mut model, *number, *outcome, *again);
        }
        model
    }

    proptest! {
        #[test]
        fn parts_and_attempts_merge_as_one_would_by_hand(parts in proptest::collection::vec((any_part(), any::<bool>()), 1..5)) {
            let (mut merged, mut model) = (TestOutcomes::default(), Model::new());
            for (part, later) in &parts {
                let found = outcomes(part);
                if *later { merged.merge_attempts(found) } else { merged.merge(found) }
                for (number, outcome) in naive(part) {
                    put(&mut model, number, outcome, *later);
                }
            }
            merged.settle();
            prop_assert_eq!(merged.len(), model.len());
            for number in 0..12 {
                prop_assert_eq!(merged.get(test(number)), model.get(&number).copied());
            }
            prop_assert_eq!(TestOutcomes::from_bytes(&merged.to_bytes()), Some(merged));
        }

        #[test]
        fn any_bytes_are_outcomes_or_nothing(bytes in proptest::collection::vec(0..7_u8, 0..60)) {
            if let Some(outcomes) = TestOutcomes::from_bytes(&bytes) {
                prop_assert_eq!(outcomes.to_bytes(), bytes);
            }
        }
    }

    #[test]
    fn a_failure_that_passed_when_retried_is_flaky() {
        use TestOutcome::{Error, Failed, Flaky, Passed, Skipped};
        for (attempts, outcome) in [
            (&[Failed, Passed][..], Flaky),
            (&[Error, Failed, Passed, Passed], Flaky),
            (&[Failed, Passed, Failed], Failed),
            (&[Failed, Skipped], Failed),
            (&[Skipped, Passed], Passed),
            (&[Passed, Passed], Passed),
        ] {
            let mut outcomes = TestOutcomes::default();
            for (number, attempt) in attempts.iter().enumerate() {
                if number == 0 { outcomes.add(test(1), *attempt) } else { outcomes.add_attempt(test(1), *attempt) }
            }
            outcomes.settle();
            assert_eq!(outcomes.get(test(1)), Some(outcome), "{attempts:?}");
        }
    }

    #[test]
    fn no_more_tests_are_kept_than_the_limit() {
        let mut outcomes = TestOutcomes::default();
        for number in 0..10 {
            outcomes.add(test(number), TestOutcome::Passed);
        }
        outcomes.settle_within(4);
        assert_eq!((outcomes.len(), outcomes.is_over()), (4, true));
        let mut all: Vec<TestIdentity> = (0..10).map(test).collect();
        all.sort_unstable();
        assert!(all[..4].iter().all(|test| outcomes.get(*test).is_some()), "the same ones of every launch");
    }

    #[test]
    fn suite_and_name_make_the_identity() {
        assert_eq!(TestIdentity::new("a", "b"), TestIdentity::new("a", "b"));
        assert_ne!(TestIdentity::new("a", "b"), TestIdentity::new("ab", ""));
    }
}
