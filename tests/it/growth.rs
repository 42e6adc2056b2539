//! How much a store grows with what is decided, and what `clean` leaves of it.

use crate::harness::{Project, repository};
use serde_json::json;

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

    /// Runs, and tells the bytes that the store grew by for each decision.
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
        let show = |what: &str| self.0.asterisk(&["show", what, "--store", "grown.db", "--format", "json"]).ok().json();
        json!([show("symptoms"), show("rcas")])
    }
}

#[test]
fn a_launch_that_is_analysed_again_adds_little_and_clean_takes_back_all_but_what_is_known() {
    let grown = Grown::new();
    let first = grown.run(&[]);
    let once = grown.bytes();
    let again = [0; 4].map(|_| grown.run(&[]));
    // The first has all texts of the project with it; what recall finds settles in the next two.
    assert!(first < 19_000, "{first} bytes a decision");
    assert!(again.iter().all(|bytes| *bytes < 11_000), "{again:?}");
    assert!(again[2..].iter().all(|bytes| *bytes < 4_200), "{again:?}");
    let known = grown.known();
    let kept = grown.clean("1");
    assert!(kept < once + once / 10, "{kept} bytes with one run, of {once} with the first");
    let none = grown.clean("0");
    assert!(none < once / 4, "{none} bytes without any, of {once}");
    assert_eq!(grown.known(), known);
}

#[test]
fn a_week_of_launches_grows_with_its_decisions() {
    let grown = Grown::new();
    let mut launches: Vec<_> =
        std::fs::read_dir(repository().join("examples/series")).unwrap().map(|entry| entry.unwrap().path()).collect();
    launches.retain(|path| path.extension().is_some_and(|end| end == "json"));
    launches.sort();
    let each: Vec<u64> = launches.iter().map(|path| grown.run(&["--input", path.to_str().unwrap()])).collect();
    assert!(each[1..].iter().all(|bytes| *bytes < 13_000), "{each:?}");
}
