//! How much a store grows per decision, what `clean` keeps, and the compression dictionary.

use crate::harness::{Project, fixture, repository};
use serde_json::json;
use std::path::{Path, PathBuf};

/// A store that is run against.
struct Grown(Project);

impl Grown {
    fn new() -> Self {
        Self(Project::new())
    }

    /// The bytes of the store.
    fn bytes(&self) -> u64 {
        std::fs::metadata(self.0.root().join("grown.db")).map_or(0, |file| file.len())
    }

    /// Runs, and returns the growth of the store in bytes per decision.
    fn run(&self, args: &[&str]) -> u64 {
        let before = self.bytes();
        let of = ["--store", "grown.db", "--format", "json"];
        self.0.asterisk(&[&["run"], args, &of].concat()).ok();
        let decisions = self.0.asterisk(&[&["replay", "latest"], &of[..]].concat()).ok().json()["decisions"].as_u64().unwrap();
        (self.bytes() - before) / decisions
    }

    fn clean(&self, keep: &str) -> u64 {
        self.0.asterisk(&["clean", "--store", "grown.db", "--keep-latest", keep]).ok();
        self.bytes()
    }

    fn known(&self) -> serde_json::Value {
        let list =
            |what: [&str; 2]| self.0.asterisk(&[&what[..], &["--store", "grown.db", "--format", "json"]].concat()).ok().json();
        json!([list(["show", "symptoms"]), list(["rca", "list"])])
    }
}

#[test]
fn a_repeated_launch_adds_little_and_clean_keeps_only_knowledge() {
    let grown = Grown::new();
    let first = grown.run(&[]);
    let once = grown.bytes();
    let again = [0; 4].map(|_| grown.run(&[]));
    // The first has all texts of the project with it; what recall finds settles in the next two. The store grows in pages.
    assert!(first < 13_500, "{first} bytes a decision");
    assert!(again.iter().all(|bytes| *bytes < 2_300), "{again:?}");
    assert!(again[2..].iter().all(|bytes| *bytes < 1_400), "{again:?}");
    let known = grown.known();
    let kept = grown.clean("1");
    assert!(kept < once + once / 10, "{kept} bytes with one run, of {once} with the first");
    let none = grown.clean("0");
    assert!(none < once / 5 * 2, "{none} bytes without any, of {once}");
    assert_eq!(grown.known(), known);
}

#[test]
fn store_growth_per_decision_is_bounded() {
    let grown = Grown::new();
    let mut launches: Vec<_> =
        std::fs::read_dir(repository().join("examples/series")).unwrap().map(|entry| entry.unwrap().path()).collect();
    launches.retain(|path| path.extension().is_some_and(|end| end == "json"));
    launches.sort();
    let each: Vec<u64> = launches.iter().map(|path| grown.run(&["--input", path.to_str().unwrap()])).collect();
    assert!(each[1..].iter().all(|bytes| *bytes < 3_400), "{each:?}");
}

/// The launches of a directory.
fn launches(dir: &Path) -> Vec<PathBuf> {
    let mut launches: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    launches.retain(|path| path.extension().is_some_and(|end| end != "md"));
    launches.sort();
    launches
}

/// Trains a dictionary for `crates/store/src/packing.rs` on what a store has of the bundled examples and fixtures:
///
/// ```text
/// cargo test --test it -- --ignored growth::train
/// cp target/tmp/store.zdict crates/store/src/dictionaries/NUMBER.zdict
/// ```
///
/// `NUMBER` is the next one, once a store was written with the last that others have.
#[test]
#[ignore = "it makes a file"]
fn train_the_dictionary() {
    const BYTES: usize = 16 << 10;
    /// A dictionary helps most with short texts.
    const LONGEST: usize = 16_000;
    let grown = Grown::new();
    let run = |args: &[&str]| drop(grown.0.asterisk(&[&["run"], args, &["--store", "grown.db", "--files", "never"]].concat()));
    let examples = repository().join("examples");
    run(&[]);
    for dir in [examples.join("launches"), examples.join("series"), fixture("launches")] {
        for launch in launches(&dir) {
            run(&["--input", launch.to_str().unwrap()]);
        }
    }
    run(&["defect-court", "--input", examples.join("court/launch.json").to_str().unwrap()]);
    // Again, with much knowledge stored.
    run(&[]);
    let sql = "SELECT 0, text FROM blobs UNION ALL SELECT 1, body FROM events WHERE run > 0";
    let texts = asterisk_store::recorded_texts(&grown.0.root().join("grown.db"), sql).unwrap().into_iter();
    let texts: Vec<String> =
        texts.filter(|(event, text): &(bool, String)| *event || text.starts_with(['{', '['])).map(|(_, text)| text).collect();
    let samples: Vec<String> = texts.iter().filter(|text| text.len() < LONGEST).map(|text| with_other_addresses(text)).collect();
    let dictionary = zstd::dict::from_samples(&samples, BYTES).unwrap();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("store.zdict");
    std::fs::write(&file, &dictionary).unwrap();
    assert!(samples.len() > 5000 && dictionary.len() > BYTES / 2, "{} samples, {} bytes", samples.len(), dictionary.len());
}

/// The text with other content addresses, each a new one: those of the examples would waste space in the dictionary.
fn with_other_addresses(text: &str) -> String {
    let mut other = String::with_capacity(text.len());
    let mut digits = 0;
    for (at, ch) in text.char_indices() {
        other.push(ch);
        digits = if ch.is_ascii_digit() || ('a'..='f').contains(&ch) { digits + 1 } else { 0 };
        if digits == 64 {
            let address = asterisk_base::model::Hash::of(format!("{at} {text}").as_bytes()).to_string();
            other.replace_range(other.len() - 64.., &address);
        }
    }
    other
}
