//! The evidence of a 4 KB failure, against searching its text for one word; its keys for the index of peers; a large catalogue of
//! signatures against a small one; the verdict.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk_base::model::{Case, Hash, Launch};
use asterisk_evidence::{Evidence, EvidenceReader, EvidenceRules, FailureTexts, PeerIndex, PeerIndexBuilder, SignatureSpec};
use asterisk_walk::CaseParams;
use harness::{Table, measure};
use std::fmt::Write as _;
use std::hint::black_box;
use std::process::ExitCode;

/// A stack trace with two causes, and a log: 4 KB in total.
fn texts() -> (String, String) {
    let mut error = "com.shop.CartException: the cart could not be stored\n".to_owned();
    for at in 1..=12 {
        let _ = writeln!(error, "\tat com.shop.cart.Cart{at}.store(Cart{at}.java:{at}7)");
    }
    error.push_str("Caused by: java.net.ConnectException: Connection refused: db.internal:5432\n");
    for at in 1..=12 {
        let _ = writeln!(error, "\tat org.postgresql.core.Socket{at}.open(Socket{at}.java:{at}3)");
    }
    let mut log = String::new();
    let mut at = 0;
    while error.len() + log.len() < 4096 {
        at += 1;
        let _ = writeln!(log, "2026-02-14T12:00:{at:02}Z INFO cart[7]: stored 3 items of customer {at} in 12 ms");
    }
    (error, log)
}

/// A catalogue with the given number of signatures of two patterns each.
fn catalogue(many: u64) -> EvidenceReader {
    let signatures = (0..many).map(|at| {
        let word = format!("{:x}", (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let patterns = vec![format!(r"module {word} (?:failed|broke)"), format!(r"cannot \w+ the {word}")];
        SignatureSpec { id: format!("s{at}"), patterns, ..SignatureSpec::default() }
    });
    EvidenceReader::new(EvidenceRules { signatures: signatures.collect(), ..EvidenceRules::default() }, Hash::of(b""))
}

/// The index of a launch with the given number of failures in a hundred suites, all with this evidence.
fn index(reader: &EvidenceReader, found: &Evidence, case: &Case, many: usize) -> PeerIndex {
    let mut index = PeerIndexBuilder::default();
    for at in 0..many {
        let suite = format!("com.shop.Suite{}", at % 100);
        let case = Case { id: format!("case-{at}"), suite, ..case.clone() };
        index.add(&case.id, &reader.peer_keys(&case, found));
    }
    index.finish()
}

fn main() -> ExitCode {
    let plan = bundled::plan();
    let (error, log) = texts();
    let texts = FailureTexts { name: "stores", suite: "com.shop.cart.CartTest", error: &error, log: &log };
    let found = plan.evidence.read(texts);
    assert!(found.frames.len() == 24 && !found.matches.is_empty(), "{found:?}");
    let rules = plan.verdict.clone().unwrap_or_else(|| panic!("the bundled pipeline has a verdict"));
    let case = Case {
        name: texts.name.to_owned(),
        suite: texts.suite.to_owned(),
        error_message: error.clone(),
        log_snippet: log.clone().into(),
        ..Case::default()
    };
    let params = CaseParams::new("run", &Launch::default(), &case);
    let verdict = params.verdict_by(&case, &plan, &[]).unwrap_or_default();
    assert!(verdict.decided && verdict.failed.is_empty(), "{verdict:?}");
    let keys = plan.evidence.peer_keys(&case, &found);
    let index = index(&plan.evidence, &found, &case, 10_000);
    assert!(index.peers("case-7", &keys).iter().any(|peer| peer.count == 10_000), "all have the same error");
    let (few, many) = (catalogue(300), catalogue(10_000));
    drop((few.read(texts), many.read(texts)));
    let (mut floor, mut whole, mut keyed, mut shared, mut judged, mut weighed, mut small, mut large) = (
        || {
            black_box(error.lines().chain(log.lines()).filter(|line| line.contains("refused")).count());
        },
        || drop(black_box(plan.evidence.read(texts))),
        || drop(black_box(plan.evidence.peer_keys(&case, &found))),
        || drop(black_box(index.peers("case-7", &keys))),
        || drop(black_box(params.verdict_by(&case, &plan, &[]))),
        || drop(black_box(rules.weigh_again(&verdict))),
        || drop(black_box(few.read(texts))),
        || drop(black_box(many.read(texts))),
    );
    let figures = measure(
        40,
        50,
        &mut [
            ("floor", &mut floor),
            ("whole", &mut whole),
            ("keys", &mut keyed),
            ("peers", &mut shared),
            ("verdict", &mut judged),
            ("weighed", &mut weighed),
            ("300", &mut small),
            ("10000", &mut large),
        ],
    );
    let us: Vec<f64> = figures.iter().map(|figure| figure / 1e3).collect();
    let mut table = Table::new(&format!("evidence: {} bytes", error.len() + log.len()), "us");
    table.plain("searching each line for one word", us[0]);
    table.against("the evidence by the bundled catalogue", us[1], us[0]);
    table.at_most("the same, bounded", us[1], 300.0);
    table.at_most("its keys for the index of the launch, bounded", us[2], 60.0);
    table.at_most("what it shares with 10 000 failures, bounded", us[3], 20.0);
    // The evidence is read once and cached.
    table.at_most("the verdict of the case, bounded", us[4], 200.0);
    table.plain("a recorded verdict weighed again", us[5]);
    table.plain("by 300 generated signatures", us[6]);
    table.within("by 10 000 generated signatures", us[7], us[6], 3.0);
    table.finish()
}
