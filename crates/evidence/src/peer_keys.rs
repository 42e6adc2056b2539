//! The keys of a failure: what it may have in common with other failures of its launch.

use super::document::{Evidence, EvidenceFrame, EvidenceReader};
use super::lines::LineSource;
use super::owners::FrameOwner;
use asterisk_base::clock::Timestamp;
use asterisk_base::model::words::hash;
use asterisk_base::model::{Case, error_shape, normalise_error};
use serde::Serialize;

/// The number of signatures, and of names, whose keys are kept.
const MOST: usize = 16;
/// The number of characters of a key that are shown. Longer keys are still compared whole.
const SHOWN: usize = 200;
/// The number of lines kept of a failed fixture.
const FIXTURE_LINES: usize = 4;

/// A kind of key, in the order in which peers are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PeerKind {
    /// The whole error, but for numbers and ids.
    Error,
    /// The headline, but for what varies from run to run.
    Headline,
    /// The type of the exception, with the innermost frame of the product.
    Exception,
    /// The innermost frame of the product, or of a helper of tests.
    Frame,
    /// A signature that matched.
    Match,
    /// Something that the lines name: an address, a file, a variable.
    Name,
    /// The suite whose set-up failed.
    Fixture,
    /// The minute in which the test failed.
    Window,
}

impl PeerKind {
    /// All kinds, with what their keys are.
    pub const ALL: &[(Self, &str, &str)] = &[
        (Self::Error, "error", "the same error except numbers and ids: its headline"),
        (Self::Headline, "headline", "the headline without what varies from run to run"),
        (Self::Exception, "exception", "the type of the exception and the innermost frame of the product"),
        (Self::Frame, "frame", "the innermost frame of the product (`of: product`), or of a helper of tests (`of: test`)"),
        (Self::Match, "match", "the id of a signature that matched"),
        (Self::Name, "name", "a name in the lines; `of` is its kind in `evidence.names`"),
        (Self::Fixture, "fixture", "the suite whose set-up failed"),
        (Self::Window, "window", "the minute (UTC) in which the test failed"),
    ];

    /// The name of the kind.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, word, _)| word)
    }
}

/// Something that other failures may have as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerKey {
    /// Its kind.
    pub kind: PeerKind,
    /// The kind of a name, the owner of a frame; empty for other keys.
    pub of: &'static str,
    /// The key, as shown.
    pub key: String,
    /// What it is compared by.
    pub(super) hash: u64,
    /// Whether the failure has the key itself. The failed set-up of a suite is listed for each of its tests.
    pub(super) own: bool,
}

/// A failed set-up, as listed for the tests of its suite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedFixture {
    /// The id of its case.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The first line that says something; empty without a text.
    pub headline: String,
    /// The signatures that its error matches, but for those that merely say that a set-up failed.
    pub matches: Vec<FixtureMatch>,
}

/// A signature that the error of a failed set-up matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FixtureMatch {
    /// The signature's id.
    pub id: String,
    /// What the line says.
    pub text: String,
}

/// The keys of one failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerKeys {
    /// The keys, by kind.
    pub keys: Vec<PeerKey>,
    /// The hash of the suite.
    pub(super) suite: u64,
    /// The hash of the whole error, but for numbers and ids.
    pub(super) error: Option<u64>,
    /// The failure itself, if it is a set-up.
    pub(super) fixture: Option<FailedFixture>,
}

impl PeerKeys {
    fn push(&mut self, kind: PeerKind, of: &'static str, key: &str) {
        self.push_hashed(kind, of, key, hash_of_key(kind, of, key));
    }

    fn push_hashed(&mut self, kind: PeerKind, of: &'static str, key: &str, hash: u64) {
        if !key.is_empty() {
            self.keys.push(PeerKey { kind, of, key: shown(key), hash, own: true });
        }
    }
}

impl EvidenceReader {
    /// The keys of a failure with this evidence.
    pub fn peer_keys(&self, case: &Case, evidence: &Evidence) -> PeerKeys {
        let mut found =
            PeerKeys { suite: text_hash(&case.suite), error: error_shape(&case.error_message), ..PeerKeys::default() };
        if let Some(shape) = found.error {
            let shown = if evidence.headline.is_empty() { "the same error" } else { &evidence.headline };
            found.push_hashed(PeerKind::Error, "", shown, hash([shape, PeerKind::Error as u64].into_iter()));
        }
        found.push(PeerKind::Headline, "", &normalise_error(&evidence.headline));
        let product = evidence.frames.iter().find(|frame| frame.owner == FrameOwner::Product).map(frame_key);
        if let (Some(exception), Some(product)) = (root_exception(evidence), &product) {
            found.push(PeerKind::Exception, "", &format!("{exception} at {product}"));
        }
        found.push(PeerKind::Frame, "product", product.as_deref().unwrap_or_default());
        found.push(PeerKind::Frame, "test", &helper_frame(&evidence.frames).map(frame_key).unwrap_or_default());
        for matched in evidence.matches.iter().take(MOST) {
            found.push(PeerKind::Match, "", &matched.id);
        }
        let names = evidence.names.0.iter().flat_map(|(kind, values)| values.iter().map(move |value| (*kind, value)));
        for (kind, value) in names.take(MOST) {
            found.push(PeerKind::Name, kind, value);
        }
        self.fixture_key(case, evidence, &mut found);
        if let Some(minute) = failed_in(case) {
            found.push(PeerKind::Window, "", &minute);
        }
        found
    }

    /// The key of the suite's set-up: the failure's own if it is the set-up, or says that it failed.
    fn fixture_key(&self, case: &Case, evidence: &Evidence, found: &mut PeerKeys) {
        if case.suite.is_empty() {
            return;
        }
        let tells = |index: usize| self.is_setup_signature(index);
        let of_error = || evidence.matches.iter().filter(|matched| matched.source == LineSource::Error);
        let is_fixture = self.names_fixture(&case.name);
        let own = is_fixture || of_error().any(|matched| tells(matched.index));
        found.push(PeerKind::Fixture, "", &case.suite);
        if let Some(key) = found.keys.last_mut() {
            key.own = own;
        }
        if is_fixture {
            let causes = of_error().filter(|matched| !tells(matched.index)).take(FIXTURE_LINES);
            found.fixture = Some(FailedFixture {
                id: case.id.clone(),
                name: shown(&case.name),
                headline: shown(&evidence.headline),
                matches: causes.map(|matched| FixtureMatch { id: matched.id.clone(), text: shown(&matched.text) }).collect(),
            });
        }
    }
}

/// The exception that began it: the innermost cause where causes are named, else the first.
fn root_exception(evidence: &Evidence) -> Option<&str> {
    let text = |id: &str| evidence.lines.iter().find(|line| line.id == id).map_or("", |line| line.text.as_str());
    let is_cause = |line: &str| text(line).trim_start().starts_with("Caused by");
    let cause = evidence.exceptions.iter().rev().find(|exception| is_cause(&exception.line));
    cause.or_else(|| evidence.exceptions.first()).map(|exception| exception.kind.as_str())
}

/// The innermost frame of the tests, if it is in another file than the test itself, which is the outermost one.
fn helper_frame(frames: &[EvidenceFrame]) -> Option<&EvidenceFrame> {
    let inner = frames.iter().find(|frame| frame.owner == FrameOwner::Test)?;
    let mut of_trace = frames.iter().filter(|frame| frame.owner == FrameOwner::Test && frame.trace == inner.trace);
    of_trace.next_back().filter(|outer| outer.path != inner.path).map(|_| inner)
}

/// What a frame is compared by: its function and file. Lines count only where no function is known.
fn frame_key(frame: &EvidenceFrame) -> String {
    match (frame.function.as_str(), frame.path.as_str()) {
        ("", path) => format!("{path}:{}", frame.line),
        (function, "") => function.to_owned(),
        (function, path) => format!("{function} ({path})"),
    }
}

/// The minute in which a test failed, if the launch says when it ran.
fn failed_in(case: &Case) -> Option<String> {
    let started = case.started_at?.millis();
    #[expect(clippy::cast_possible_truncation, reason = "durations of tests are far below the limits of milliseconds")]
    let took = (case.duration_s.unwrap_or(0.0).clamp(0.0, 1e9) * 1000.0) as i64;
    let mut minute = Timestamp::from_millis(started.saturating_add(took)).to_string();
    minute.truncate("2026-02-14T21:21".len());
    Some(minute)
}

fn hash_of_key(kind: PeerKind, of: &str, key: &str) -> u64 {
    let head = [kind as u64, u64::MAX].into_iter();
    hash(head.chain(bytes(of)).chain([u64::MAX]).chain(bytes(key)))
}

fn text_hash(text: &str) -> u64 {
    hash(bytes(text))
}

fn bytes(text: &str) -> impl Iterator<Item = u64> {
    text.bytes().map(u64::from)
}

/// A text on one line, no longer than is shown.
fn shown(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if let Some((end, _)) = line.char_indices().nth(SHOWN) {
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::super::document::{EvidenceRules, FailureTexts};
    use super::super::owners::OwnerRule;
    use super::super::signatures::SignatureSpec;
    use super::*;
    use asterisk_base::model::Hash;

    fn keys(case: &Case) -> PeerKeys {
        let spec = |id: &str, pattern: &str, setup| SignatureSpec {
            id: id.into(),
            patterns: vec![pattern.into()],
            setup,
            ..SignatureSpec::default()
        };
        let owner = |owner, paths: &str| OwnerRule { owner: Some(owner), paths: vec![paths.into()], ..OwnerRule::default() };
        let rules = EvidenceRules {
            owners: vec![owner(FrameOwner::Test, "^tests/"), owner(FrameOwner::Library, "^lib/")],
            signatures: vec![spec("refused", "connection refused", false), spec("set-up", "error at setup", true)],
            fixtures: r"\bsetUp\b".into(),
            ..EvidenceRules::default()
        };
        let reader = EvidenceReader::new(rules, Hash::of(b""));
        reader.peer_keys(case, &reader.read(FailureTexts::of(case, "")))
    }

    fn case(name: &str, error: &str) -> Case {
        Case { id: "7".into(), name: name.into(), suite: "cart".into(), error_message: error.into(), ..Case::default() }
    }

    fn shown_keys(found: &PeerKeys) -> Vec<String> {
        let one =
            |key: &PeerKey| format!("{}{} {} {}", if key.own { "" } else { "(not own) " }, key.kind.word(), key.of, key.key);
        found.keys.iter().map(one).collect()
    }

    #[test]
    fn a_failure_has_keys_of_each_kind() {
        let error = "Traceback (most recent call last):\n  File \"tests/test_cart.py\", line 3, in test_adds\n    login()\n  \
                     File \"tests/helpers.py\", line 8, in login\n    open()\n  File \"shop/db.py\", line 12, in connect\n    raise\n\
                     ConnectionError: connection refused by 10.0.0.5:5432 after 31 ms";
        let mut found = case("test_adds", error);
        found.started_at = "2026-02-14T21:20:58Z".parse().ok();
        found.duration_s = Some(2.5);
        assert_eq!(
            shown_keys(&keys(&found)),
            [
                "error  ConnectionError: connection refused by 10.0.0.5:5432 after 31 ms",
                "headline  ConnectionError: connection refused by <addr> after <n> ms",
                "exception  ConnectionError at connect (shop/db.py)",
                "frame product connect (shop/db.py)",
                "frame test login (tests/helpers.py)",
                "match  refused",
                "name address 10.0.0.5:5432",
                "(not own) fixture  cart",
                "window  2026-02-14T21:21",
            ]
        );
    }

    #[test]
    fn the_innermost_cause_is_the_exception() {
        let error = "com.shop.Broken: cart\n\tat com.shop.Cart.total(Cart.java:9)\nCaused by: java.net.ConnectException: no\n\
                     \tat com.shop.Db.open(Db.java:7)";
        let found = keys(&case("adds", error));
        assert!(
            shown_keys(&found)
                .contains(&"exception  java.net.ConnectException at com.shop.Db.open (com/shop/Db.java)".to_owned())
        );
    }

    #[test]
    fn a_failed_fixture_says_why() {
        let found = keys(&case("setUp", "error at setup of cart\nconnection refused"));
        let fixture = found.fixture.as_ref().expect("it is a set-up");
        assert_eq!((fixture.headline.as_str(), fixture.matches.len()), ("error at setup of cart", 1));
        assert_eq!((fixture.matches[0].id.as_str(), fixture.matches[0].text.as_str()), ("refused", "connection refused"));
        assert!(shown_keys(&found).contains(&"fixture  cart".to_owned()));
        let told = keys(&case("adds", "error at setup of cart"));
        assert!(told.fixture.is_none() && shown_keys(&told).contains(&"fixture  cart".to_owned()));
    }

    #[test]
    fn errors_that_differ_in_numbers_only_have_the_same_key() {
        let of = |error: &str| keys(&case("t", error)).keys.iter().map(|key| (key.kind, key.hash)).collect::<Vec<_>>();
        assert_eq!(of("lost 3 of 7 packets"), of("lost 12 of 40 packets"));
        assert_ne!(of("lost 3 of 7 packets"), of("lost 3 of 7 frames"));
        assert!(keys(&Case::default()).keys.is_empty(), "nothing has nothing in common");
    }

    #[test]
    fn kinds_are_called_as_they_are_recorded() {
        for (kind, word, _) in PeerKind::ALL {
            assert_eq!(serde_json::json!(kind), *word);
        }
    }
}
