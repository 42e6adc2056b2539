//! A store that is damaged on disk: the damage is reported with its run and case, the rest is shown, nothing
//! that was not stored appears in a report, and nothing panics.

use crate::harness::{Project, Ran, stride};
use crate::kill::{RUN, small};
use rusqlite::Connection;
use serde_json::Value;
use std::path::PathBuf;

/// A run of two cases, over, with all of its store in one file.
struct Stored {
    project: Project,
    run: String,
    /// The file as it was written.
    bytes: Vec<u8>,
    rca: Value,
}

impl Stored {
    fn new() -> Self {
        let project = Project::new();
        small(&project);
        let run = project.asterisk(&RUN).ok().json()["run"].as_str().unwrap().to_owned();
        project.asterisk(&["report"]).ok();
        let stored = Self { project, run, bytes: Vec::new(), rca: Value::Null };
        stored.conn().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        let bytes = std::fs::read(stored.file()).unwrap();
        let rca = stored.reported().unwrap();
        Self { bytes, rca, ..stored }
    }

    fn file(&self) -> PathBuf {
        self.project.root().join(".asterisk/asterisk.db")
    }

    fn conn(&self) -> Connection {
        Connection::open(self.file()).unwrap()
    }

    /// The rows of a query, each an address and the text of a content or event.
    fn texts(&self, sql: &str) -> Vec<(String, String)> {
        asterisk_store::recorded_texts(&self.file(), sql).unwrap()
    }

    /// Replaces the store by these bytes, and removes its reports.
    fn put(&self, bytes: &[u8]) {
        for ending in ["-wal", "-shm"] {
            std::fs::remove_file(format!("{}{ending}", self.file().display())).unwrap_or_default();
        }
        std::fs::write(self.file(), bytes).unwrap();
        std::fs::remove_dir_all(self.project.root().join(".asterisk/investigations")).unwrap_or_default();
    }

    /// `rca.json`, if it was written.
    fn reported(&self) -> Option<Value> {
        let path = self.project.root().join(format!(".asterisk/investigations/{}/rca.json", self.run));
        Some(serde_json::from_str(&std::fs::read_to_string(path).ok()?).unwrap())
    }

    fn asterisk(&self, args: &[&str], about: &str) -> Ran {
        let ran = self.project.asterisk(args);
        let ended = ran.code.is_some_and(|code| (0..=6).contains(&code));
        assert!(ended && !ran.stderr.contains("panicked"), "{about}: {args:?}\n{}", ran.text());
        ran
    }

    /// Makes the report, which is unchanged, or reports the damage and does not show damaged content. Returns whether it was reported.
    fn report_is_right_or_says_so(&self, about: &str) -> bool {
        let ran = self.asterisk(&["report", &self.run], about);
        let Some(found) = self.reported() else {
            assert!(ran.code != Some(0) && !ran.stderr.is_empty(), "{about}: {}", ran.text());
            return true;
        };
        if ran.code == Some(0) {
            assert_eq!(derived(&found), derived(&self.rca), "{about}: another report without a word");
            return false;
        }
        assert!(ran.stderr.contains("damaged"), "{about}: {}", ran.text());
        for case in cases(&found) {
            let known = cases(&self.rca).iter().find(|known| known["case"] == case["case"]);
            let reported = case["error"]["kind"] == "damaged" || case["notes"].is_array();
            assert!(reported || known.is_some_and(|known| of_walk(known) == of_walk(case)), "{about}: {case:#}\n{}", ran.text());
        }
        true
    }
}

fn cases(rca: &Value) -> &Vec<Value> {
    rca["cases"].as_array().unwrap()
}

/// The part of a report that comes from contents and events, not from the tables of knowledge across runs, which are not verified.
fn derived(rca: &Value) -> Vec<Value> {
    cases(rca).iter().map(of_walk).collect()
}

fn of_walk(case: &Value) -> Value {
    let mut case = case.clone();
    case.as_object_mut().unwrap().remove("case_status");
    case
}

/// Every content of the store, each changed in one letter, so that it is as good a text as before: `report` and `doctor --deep`.
#[test]
fn changed_content_is_reported_and_not_used() {
    let stored = Stored::new();
    let contents = stored.texts("SELECT lower(hex(hash)), text FROM blobs ORDER BY id");
    // A sample of the texts that all runs share (scripts, templates) suffices; the run's own texts follow.
    let (texts, own): (Vec<_>, Vec<_>) = contents.iter().partition(|(_, text)| !text.starts_with(['{', '[']));
    let mut reported = 0;
    for (round, (hex, text)) in texts.iter().step_by(12).chain(&own).step_by(stride()).enumerate() {
        let about = format!("{hex} {}", &text[..text.len().min(60)]);
        stored.put(&stored.bytes);
        let at = text.rfind(|c: char| c.is_ascii_alphanumeric()).unwrap_or(0);
        let other = if text[at..].starts_with('7') { "3" } else { "7" };
        let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
        stored.conn().execute("UPDATE blobs SET text = ?2 WHERE hash = unhex(?1)", (hex, &changed)).unwrap();
        reported += usize::from(stored.report_is_right_or_says_so(&about));
        if round % 5 > 0 {
            continue;
        }
        let doctor = stored.asterisk(&["doctor", "--deep", "--format", "json"], &about).exits(1);
        let checks = doctor.json();
        let wrong: Vec<&Value> = checks["checks"].as_array().unwrap().iter().filter(|check| check["state"] == "wrong").collect();
        let found = wrong.iter().find(|check| check["name"] == "contents").unwrap()["found"].as_str().unwrap();
        assert!(found.contains(&hex[..12]) && found.contains(&stored.run), "{about}: {found}");
    }
    assert!(reported > 20 / stride(), "{reported}");
    // An artifact is reported with its case; files that depend on it are not written, others are.
    stored.put(&stored.bytes);
    let events = stored.texts("SELECT '', body FROM events WHERE rc IS NOT NULL ORDER BY seq");
    let events = events.iter().map(|(_, body)| serde_json::from_str::<Value>(body).unwrap());
    let exit = events.into_iter().find(|event| event["node"] == "investigate" && event["type"] == "node_exit").unwrap();
    let (hex, text) = contents.iter().find(|(hex, _)| exit["artifact"] == hex.as_str()).unwrap();
    assert!(text.contains("the sum is wrong, 0.9") && text.contains("convergence"), "{text}");
    let change = "UPDATE blobs SET text = ?2 WHERE hash = unhex(?1)";
    assert_eq!(stored.conn().execute(change, (hex, text.replace("0.9", "0.8"))).unwrap(), 1);
    let doctor = stored.asterisk(&["doctor"], "").exits(0);
    assert!(doctor.stdout.contains("the database is consistent"), "a quick look reads no contents: {}", doctor.text());
    for args in [["report", stored.run.as_str()].as_slice(), &["status", "latest"], &["run", "--resume", "latest"]] {
        let ran = stored.asterisk(args, "an artifact").exits(4);
        let said = ran.stderr.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        let expected = format!("the artifact of step 3 of case `a` in run {}", stored.run);
        assert!(said.contains("the finding of case `a` is left out") && said.contains(&expected), "{args:?}: {}", ran.text());
    }
    let rca = stored.reported().unwrap();
    assert_eq!((&cases(&rca)[0]["error"]["kind"], &cases(&rca)[0]["finding"]["title"]), (&"damaged".into(), &"".into()));
    assert_eq!(cases(&rca)[1], cases(&stored.rca)[1]);
    assert!(stored.project.read(&format!(".asterisk/investigations/{}/report.md", stored.run)).contains("damaged"));
    stored.asterisk(&["explain", "latest", "--case", "a"], "").exits(3);
    stored.asterisk(&["explain", "latest", "--case", "b"], "").exits(0);
}

/// Any byte of the file: two hundred of them (at the usual size, fifty), of all pages, always the same.
#[test]
fn a_changed_byte_is_detected_or_harmless() {
    let stored = Stored::new();
    let mut chance = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |most: usize| {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        usize::try_from(chance % u64::try_from(most).unwrap()).unwrap()
    };
    let mut reported = 0;
    for round in 0..200 / stride() {
        // Every tenth within the headers of a page, where all that follows hangs on it.
        let at = if round % 10 == 0 { next(stored.bytes.len() / 4096) * 4096 + next(100) } else { next(stored.bytes.len()) };
        let mut bytes = stored.bytes.clone();
        bytes[at] ^= u8::try_from(1 + next(255)).unwrap();
        stored.put(&bytes);
        let about = format!("byte {at} is {} and was {}", bytes[at], stored.bytes[at]);
        reported += usize::from(stored.report_is_right_or_says_so(&about));
        // The others by turns: each starts the program.
        let commands: [&[&str]; 5] = [
            &["explain", "latest", "--case", "b"],
            &["replay", "latest"],
            &["status"],
            &["doctor", "--deep"],
            &["run", "--resume", "latest"],
        ];
        if round % 2 == 0 {
            stored.asterisk(commands[round / 2 % 5], &about);
        }
    }
    assert!(reported > 5 / stride(), "{reported}");
}

#[test]
fn a_truncated_store_is_reported() {
    let stored = Stored::new();
    for keep in [0, 50, 100, 4096, 5000, stored.bytes.len() / 2, stored.bytes.len() - 4096, stored.bytes.len() - 1] {
        stored.put(&stored.bytes[..keep]);
        let about = format!("{keep} of {} bytes", stored.bytes.len());
        assert!(stored.report_is_right_or_says_so(&about), "{about}");
        let doctor = stored.asterisk(&["doctor", "--deep"], &about);
        assert!(doctor.code == Some(1) || keep == 0, "{about}: {}", doctor.text());
        stored.asterisk(&["run", "--resume", "latest"], &about);
    }
}
