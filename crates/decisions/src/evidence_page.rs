//! The evidence of a case, as a page of lines for a terminal.

use super::evidence::CaseEvidence;
use super::explanation::short;
use super::page::{PageLine, TextPage, Tone};
use asterisk_diag::counted;
use asterisk_evidence::OwnerReason;
use asterisk_script::probe::clipped;
use serde_json::Value;

/// How many frames of libraries and the runtime in a row are shown before the rest of them is only counted.
const FOREIGN: usize = 2;

/// The page, at most the given number of characters wide.
pub fn evidence_page(told: &CaseEvidence, width: usize) -> Vec<PageLine> {
    let document = &told.evidence;
    let mut page = TextPage::new(width);
    page.text(Tone::Head, "", 2, format!("{}  {}", told.case, told.name).trim_end());
    let how = if told.recorded {
        format!("recorded with step {}", told.step)
    } else {
        "read again with the current sources".to_owned()
    };
    page.text(Tone::Quiet, "", 2, &format!("run {}, {how}", told.run));
    page.blank();
    match text(&document["headline"]) {
        "" => page.text(Tone::Quiet, "", 2, "no informative lines"),
        headline => page.text(Tone::Plain, "", 2, &short(headline)),
    }
    section(&mut page, "signatures that matched", &document["matches"], |page, found| signature(page, found, told));
    section(&mut page, "checks", &document["checks"], |page, check| {
        let value = |key| match text(&check[key]) {
            "" => "(not given)".to_owned(),
            value => short(value),
        };
        page.text(Tone::Plain, "  ", 4, &format!("{} ({})", text(&check["kind"]), text(&check["line"])));
        page.text(Tone::Plain, "    expected: ", 14, &value("expected"));
        page.text(Tone::Plain, "    found:    ", 14, &value("found"));
    });
    section(&mut page, "exceptions", &document["exceptions"], |page, named| {
        let message = Some(text(&named["message"])).filter(|message| !message.is_empty());
        let message = message.map_or_else(String::new, |message| format!(": {}", short(message)));
        page.text(Tone::Plain, "  ", 4, &format!("{}{message} ({})", text(&named["kind"]), text(&named["line"])));
    });
    frames(&mut page, list(&document["frames"]));
    owners(&mut page, list(&document["frames"]), &told.owners);
    let names: Vec<_> = document["names"].as_object().into_iter().flatten().collect();
    if !names.is_empty() {
        head(&mut page, "names");
        let width = names.iter().map(|(kind, _)| kind.len()).max().unwrap_or(0);
        for (kind, values) in names {
            let values: Vec<&str> = list(values).iter().map(text).collect();
            page.text(Tone::Plain, &format!("  {kind:width$}  "), width + 4, &values.join(", "));
        }
    }
    page.blank();
    let of = |lines: &str, key: &str, word: &str| list(&document[lines]).iter().filter(|line| line[key] == word).count();
    let [error, log] = ["error", "log"].map(|word| of("lines", "source", word));
    page.text(Tone::Quiet, "", 2, &format!("lines that count: {error} of the error, {log} of the log"));
    let quoted = ["title", "source", "context"].map(|kind| (kind, of("quoted", "kind", kind))).into_iter();
    let quoted: Vec<String> = quoted.filter(|(_, count)| *count > 0).map(|(kind, count)| format!("{count} {kind}")).collect();
    let quoted = if quoted.is_empty() { "none".to_owned() } else { quoted.join(", ") };
    page.text(Tone::Quiet, "", 2, &format!("lines that are quoted: {quoted}"));
    page.lines
}

fn signature(page: &mut TextPage, found: &Value, told: &CaseEvidence) {
    let id = text(&found["id"]);
    let title = told.titles.get(id).map_or_else(String::new, |title| format!(": {title}"));
    page.text(Tone::Good, "  ", 4, &format!("{id}{title}"));
    let lines = usize::try_from(found["lines"].as_u64().unwrap_or(0)).unwrap_or(usize::MAX);
    let more = if lines > 1 { format!(", {}", counted(lines, "line", "lines")) } else { String::new() };
    let routine = if found["routine"] == true { ", in routine lines only" } else { "" };
    page.text(Tone::Quiet, "    ", 6, &format!("{}{more}{routine}", text(&found["at"])));
    let first = format!("    {}  ", text(&found["line"]));
    page.text(Tone::Plain, &first, first.len(), &short(text(&found["text"])));
}

/// Frames by their traces; of several in a row without an owner here, the first are shown.
fn frames(page: &mut TextPage, frames: &[Value]) {
    if frames.is_empty() {
        return;
    }
    head(page, &format!("frames ({}; `>` marks the product's)", frames.len()));
    for trace in frames.chunk_by(|one, other| one["trace"] == other["trace"]) {
        if trace[0]["trace"].as_u64().unwrap_or(0) > 0 {
            page.text(Tone::Quiet, "  ", 4, "then, the stack around it:");
        }
        let foreign = |frame: &Value| matches!(text(&frame["owner"]), "library" | "runtime");
        for part in trace.chunk_by(|one, other| foreign(one) && foreign(other)) {
            let shown = if part.len() > FOREIGN + 1 { FOREIGN } else { part.len() };
            for one in &part[..shown] {
                frame(page, one);
            }
            if shown < part.len() {
                page.text(Tone::Quiet, "    ", 4, &format!("... {} more of libraries and the runtime", part.len() - shown));
            }
        }
    }
}

fn frame(page: &mut TextPage, frame: &Value) {
    let owner = text(&frame["owner"]);
    let (mark, tone) = match owner {
        "product" => ('>', Tone::Good),
        "test" => (' ', Tone::Plain),
        _ => (' ', Tone::Quiet),
    };
    let line = frame["line"].as_u64().filter(|line| *line > 0).map_or_else(String::new, |line| format!(":{line}"));
    let place = format!("{}{line}", text(&frame["path"]));
    let shown: Vec<&str> = [text(&frame["function"]), place.as_str()].into_iter().filter(|text| !text.is_empty()).collect();
    page.text(tone, &format!("  {mark} {owner:8} "), 13, &shown.join("  "));
}

/// The most characters of a pattern that a page shows.
const PATTERN: usize = 48;

/// The rules that decided the owners, with the first frame of each.
fn owners(page: &mut TextPage, frames: &[Value], owners: &[OwnerReason]) {
    let mut told: Vec<(&OwnerReason, &Value, usize)> = Vec::new();
    for (reason, frame) in owners.iter().zip(frames) {
        match told.iter_mut().find(|(known, ..)| *known == reason) {
            Some((.., count)) => *count += 1,
            None => told.push((reason, frame, 1)),
        }
    }
    if told.is_empty() {
        return;
    }
    head(page, "their owners, by the first matching rule of data/evidence.yaml");
    for (reason, frame, count) in told {
        let by = match (reason.rule, &reason.pattern) {
            (Some(rule), Some(pattern)) => format!("rule {rule}, `{}`", clipped(pattern, PATTERN)),
            (Some(rule), None) => format!("rule {rule}, without a pattern"),
            (None, _) => "no rule".to_owned(),
        };
        let first = [&frame["function"], &frame["path"]].map(text).into_iter().find(|text| !text.is_empty()).unwrap_or_default();
        let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
        page.text(Tone::Quiet, &format!("    {:8} ", text(&frame["owner"])), 13, &format!("{by}: {}{more}", short(first)));
    }
}

fn head(page: &mut TextPage, title: &str) {
    page.blank();
    page.text(Tone::Head, "", 2, title);
}

/// A list under a title, if it has anything.
fn section(page: &mut TextPage, title: &str, items: &Value, each: impl Fn(&mut TextPage, &Value)) {
    if !list(items).is_empty() {
        head(page, title);
        for item in list(items) {
            each(page, item);
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_evidence::FrameOwner;
    use serde_json::json;

    #[test]
    fn a_page_is_readable_at_80_columns() {
        let frame = |trace: u32, owner: &str, function: &str| json!({ "trace": trace, "owner": owner, "function": function, "path": "shop/a.py", "line": 7 });
        let lines = |count: usize, source: &str| vec![json!({ "source": source }); count];
        let document = json!({
            "headline": "E".repeat(300),
            "matches": [{ "id": "refused", "at": "data/signatures/network.yaml:12", "line": "e4", "text": "word ".repeat(40), "lines": 3, "routine": false }],
            "checks": [{ "kind": "equal", "expected": "200", "found": "", "line": "e2" }],
            "exceptions": [{ "kind": "ConnectionError", "message": "", "line": "e1" }],
            "frames": [
                frame(0, "runtime", "a"), frame(0, "library", "b"), frame(0, "library", "c"), frame(0, "library", "d"),
                frame(0, "product", "pay"), frame(1, "test", "test_pay"),
            ],
            "names": { "address": ["db:5432", "web:80"], "exit": ["1"] },
            "lines": ([lines(2, "error"), lines(3, "log")].concat()),
            "quoted": [{ "kind": "title" }, { "kind": "source" }, { "kind": "source" }],
        });
        let text = String::from;
        let titles = [(text("refused"), text("Connection refused"))].into();
        let by = |owner, rule, pattern: Option<&str>| OwnerReason { owner, rule, pattern: pattern.map(str::to_owned) };
        let library = by(FrameOwner::Library, Some(9), Some("/site-packages/"));
        let owners = vec![
            by(FrameOwner::Runtime, Some(2), None),
            library.clone(),
            library.clone(),
            library,
            by(FrameOwner::Product, None, None),
            by(FrameOwner::Test, Some(4), Some("^test_")),
        ];
        let told = CaseEvidence {
            run: text("r"),
            case: text("1"),
            name: text("pays"),
            step: text("1"),
            recorded: true,
            evidence: document,
            titles,
            owners,
        };
        let page: Vec<String> = evidence_page(&told, 80).into_iter().map(|line| line.text).collect();
        assert!(page.iter().all(|line| line.chars().count() <= 80), "{page:#?}");
        let page = page.join("\n");
        for wanted in [
            "1  pays\nrun r, recorded with step 1\n\nEEE",
            "\nsignatures that matched\n  refused: Connection refused\n    data/signatures/network.yaml:12, 3 lines\n    e4  word word",
            "\nchecks\n  equal (e2)\n    expected: 200\n    found:    (not given)\n",
            "\nexceptions\n  ConnectionError (e1)\n",
            "\n    runtime  a  shop/a.py:7\n    library  b  shop/a.py:7\n    ... 2 more of libraries and the runtime\n  > product  pay  shop/a.py:7\n",
            "\n  then, the stack around it:\n    test     test_pay  shop/a.py:7\n",
            "data/evidence.yaml\n    runtime  rule 2, without a pattern: a\n    library  rule 9, `/site-packages/`: b and 2 more\n    product  no rule: pay\n    test     rule 4, `^test_`: test_pay\n",
            "\nnames\n  address  db:5432, web:80\n  exit     1\n",
            "\nlines that count: 2 of the error, 3 of the log\nlines that are quoted: 1 title, 2 source",
        ] {
            assert!(page.contains(wanted), "{wanted}\n--- in\n{page}");
        }
    }
}
