//! The verdict of a case, as a page of lines for a terminal.

use super::explanation::short;
use super::page::{LONGEST, PageLine, TextPage, Tone};
use super::verdict::{CaseVerdict, DeclaredDefect, RecordedDefect, RuleTrial, SilentRule, WhyNot};
use asterisk_script::probe::OutlineOutcome;
use asterisk_walk::{Hypothesis, SpokenRule, TERMS};

/// How many silent rules are listed.
const SILENT: usize = 10;

/// The page, at most the given number of characters wide.
pub fn verdict_page(told: &CaseVerdict, width: usize) -> Vec<PageLine> {
    let verdict = &told.verdict;
    let mut page = TextPage::new(width);
    page.text(Tone::Head, "", 2, format!("{}  {}", told.case, told.name).trim_end());
    page.text(Tone::Quiet, "", 2, &format!("run {}, verdict made for step {}", told.run, told.step));
    if let Some(RecordedDefect { defect, probability }) = &told.recorded {
        page.text(Tone::Plain, "", 2, &format!("with the current sources and vars; recorded: {defect} ({probability:.2})"));
    }
    page.blank();
    if let Some(declared) = &told.declared {
        let DeclaredDefect { defect, by, step, node, probability } = declared;
        let gives = match probability {
            Some(probability) => format!("the rules give it {probability:.2}"),
            None => "not a defect of the rules".to_owned(),
        };
        page.text(Tone::Good, "", 2, &format!("{defect}, declared by {by} at step {step} ({node}); {gives}"));
        page.blank();
    }
    if let Some(RecordedDefect { defect, probability }) = &told.reported {
        let said = format!("reported as {defect} ({probability:.2}); the summary shows the source");
        page.text(Tone::Good, "", 2, &said);
        page.blank();
    }
    if !verdict.decided {
        let said = format!("undecided ({}): no defect reaches the floor of {:.2}", verdict.undecided, verdict.floor);
        page.text(Tone::Plain, "", 2, &said);
    }
    for one in &verdict.hypotheses {
        let name = told.defects.get(one.defect.as_str()).map_or_else(String::new, |name| format!("  {name}"));
        let tone = if one.defect == verdict.defect { Tone::Good } else { Tone::Plain };
        page.text(tone, "  ", 4, &format!("{:.3}  {}{name}", one.probability, one.defect));
    }
    for (title, counted) in [("what matched", true), ("what matched, but is outweighed within its group", false)] {
        let mut spoke: Vec<&SpokenRule> = verdict.spoke.iter().filter(|rule| rule.counted == counted).collect();
        if spoke.is_empty() {
            continue;
        }
        spoke.sort_by(|a, b| size(b).total_cmp(&size(a)));
        head(&mut page, title);
        for rule in spoke {
            print_match(&mut page, rule, told);
        }
    }
    if !verdict.failed.is_empty() {
        head(&mut page, "rules that failed and were ignored");
        for failed in &verdict.failed {
            page.text(Tone::Bad, "  ", 4, &format!("{} ({}): {}", failed.id, failed.at, short(&failed.error)));
        }
    }
    if !told.unread.is_empty() {
        head(&mut page, "lines that nothing matched");
        for line in &told.unread {
            page.text(Tone::Plain, "  ", 4, &format!("{}  {}", line.id, short(&line.text)));
        }
    }
    head(&mut page, "what would change it");
    for flip in &told.flips {
        page.text(Tone::Plain, "  ", 4, &format!("without {}: {} ({:.2})", flip.without, flip.defect, flip.probability));
    }
    if told.flips.is_empty() {
        let [first, second, ..] = &verdict.hypotheses[..] else { return page.lines };
        let said = format!("no single rule: {} leads {} by {:.2}", first.defect, second.defect, first.score - second.score);
        page.text(Tone::Plain, "  ", 4, &said);
    }
    if let Some(why) = &told.why_not {
        why_not(&mut page, told, why);
    }
    if let Some(rule) = &told.rule {
        trial(&mut page, rule);
    }
    page.lines
}

fn size(rule: &SpokenRule) -> f64 {
    rule.weights.values().map(|weight| (weight * rule.strength).abs()).fold(0.0, f64::max)
}

fn print_match(page: &mut TextPage, rule: &SpokenRule, told: &CaseVerdict) {
    let function = told.functions.get(rule.id.as_str());
    let weights: Vec<String> = rule.weights.keys().map(|defect| format!("{defect} {:+.2}", rule.contribution(defect))).collect();
    let name = if rule.name.is_empty() { String::new() } else { format!(": {}", rule.name) };
    page.text(Tone::Good, "  ", 4, &format!("{}{name}", rule.id));
    let kind = if rule.signature { "signature, " } else { "" };
    let strength = if rule.strength < 1.0 { format!(", at strength {:.2}", rule.strength) } else { String::new() };
    page.text(Tone::Plain, "    ", 6, &format!("{}{strength}", weights.join(", ")));
    if let Some(at) = told.weights_at.get(rule.id.as_str()) {
        page.text(Tone::Quiet, "    ", 6, &format!("weights set in {at}"));
    }
    if rule.id == TERMS && !told.words.is_empty() {
        let words: Vec<String> =
            told.words.iter().map(|word| format!("{} {} {:+.2}", word.word, word.defect, word.weight)).collect();
        page.text(Tone::Quiet, "    ", 6, &format!("words with the largest weights: {}", words.join(", ")));
    }
    let group = if rule.group.is_empty() { String::new() } else { format!(", group {}", rule.group) };
    let function = function.map_or_else(String::new, |function| format!(", {function}"));
    page.text(Tone::Quiet, "    ", 6, &format!("{kind}{}{function}{group}", rule.at));
    if !rule.because.is_empty() {
        let about = if rule.about.is_empty() { String::new() } else { format!("{}  ", rule.about.join(" ")) };
        page.text(Tone::Plain, "    ", 6, &format!("{about}{}", short(&rule.because)));
    }
}

fn why_not(page: &mut TextPage, told: &CaseVerdict, why: &WhyNot) {
    head(page, &format!("why not {}", why.defect));
    let said = if why.undecided {
        let level = |other: &&Hypothesis| other.defect != why.defect && (other.probability - why.probability).abs() < 1e-6;
        match told.verdict.hypotheses.iter().find(level) {
            Some(other) => {
                format!("it ties with {}, and {:.2} is less than {:.2}", other.defect, why.probability, told.verdict.floor)
            }
            None => format!("it is the most probable, but {:.2} is less than {:.2}", why.probability, told.verdict.floor),
        }
    } else if why.lacks == 0.0 {
        "it is the verdict".to_owned()
    } else {
        format!("its probability is {:.2}; it lacks {:.2}", why.probability, why.lacks)
    };
    page.text(Tone::Plain, "  ", 4, &said);
    if why.silent.is_empty() {
        return;
    }
    let (near, far): (Vec<&SilentRule>, Vec<&SilentRule>) = why.silent.iter().partition(|rule| rule.applies);
    if !near.is_empty() {
        page.text(Tone::Plain, "  ", 4, "rules that support it, but did not match:");
    }
    for rule in near.iter().take(SILENT) {
        let name = if rule.name.is_empty() { String::new() } else { format!(" {}", rule.name) };
        page.text(Tone::Plain, "    ", 6, &format!("{:+.2}  {}{name}: {}", rule.weight, rule.id, rule.asks));
        page.text(Tone::Quiet, "      ", 8, &format!("{}, {}", rule.function, rule.at));
    }
    if near.len() > SILENT {
        page.text(Tone::Quiet, "    ", 6, &format!("and {} more", near.len() - SILENT));
    }
    if let Some(first) = near.first() {
        page.text(Tone::Quiet, "  ", 4, &format!("to see why a rule did not match: --why-not {}", first.id));
    }
    if !far.is_empty() {
        let ids: Vec<&str> = far.iter().map(|rule| rule.id.as_str()).collect();
        let said = format!("the evidence lacks the inputs of {}", ids.join(", "));
        page.text(Tone::Quiet, "  ", 4, &said);
    }
    page.text(
        Tone::Quiet,
        "  ",
        4,
        "for a line that none of them reads, add a signature; `:try` in the REPL shows what a line matches",
    );
}

/// A rule, evaluated again: what it gave, and the values that decided it.
fn trial(page: &mut TextPage, rule: &RuleTrial) {
    head(page, &format!("the rule {}", rule.id));
    let said = match (&rule.error, rule.strength) {
        (Some(error), _) => format!("failed: {}", error.message),
        (None, None) => "did not match".to_owned(),
        (None, Some(strength)) => {
            let because = rule.because.as_ref().map_or_else(String::new, |because| format!(": {}", short(because)));
            format!("matched at strength {strength:.2}{because}")
        }
    };
    let name = if rule.name.is_empty() { String::new() } else { format!("{}: ", rule.name) };
    page.text(Tone::Plain, "  ", 4, &format!("{name}{said}"));
    page.text(Tone::Quiet, "  ", 4, &format!("{}, {}", rule.function, rule.at));
    page.text(Tone::Quiet, "  ", 4, &rule.asks);
    for miss in &rule.missed {
        page.text(Tone::Bad, "    ", 6, &miss.text);
    }
    for line in &rule.values {
        let tone = if line.outcome == OutlineOutcome::Skipped { Tone::Quiet } else { Tone::Plain };
        page.text(tone, "    ", 8 + 2 * line.depth, &line.format(LONGEST));
    }
}

fn head(page: &mut TextPage, title: &str) {
    page.blank();
    page.text(Tone::Head, "", 2, title);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SilentRule, UnreadLine, VerdictFlip};
    use asterisk_walk::{FailedRule, Verdict};

    #[test]
    fn a_page_is_readable_at_80_columns() {
        let text = String::from;
        let rule = |id: &str, counted: bool, weight: f64| SpokenRule {
            id: id.into(),
            name: "a rule with a rather long name that goes on and on to be wrapped somewhere".into(),
            signature: !counted,
            group: "net".into(),
            at: "pipelines/rca.yaml:200".into(),
            strength: 0.5,
            weights: [("en001".into(), weight), ("pb001".into(), -0.2)].into(),
            counted,
            because: "word ".repeat(40),
            about: vec![text("e1")],
            words: Vec::new(),
        };
        let one =
            |defect: &str, probability: f64, score: f64| Hypothesis { defect: defect.into(), probability, prior: 0.0, score };
        let verdict = Verdict {
            defect: "en001".into(),
            undecided: "ti001".into(),
            decided: true,
            floor: 0.45,
            probability: 0.75,
            hypotheses: vec![one("en001", 0.75, 1.0), one("pb001", 0.25, -0.1)],
            spoke: vec![rule("V1", true, 2.0), rule("refused", false, 1.0)],
            failed: vec![FailedRule { id: "V9".into(), at: "p.yaml:1".into(), error: text("no such field") }],
            temperature: None,
        };
        let silent = |id: &str, applies: bool| SilentRule {
            id: id.to_owned(),
            name: text("thrown"),
            at: text("p.yaml:2"),
            weight: 0.7,
            function: text("v.rhai#thrown"),
            asks: text("Something was thrown"),
            applies,
            near: false,
        };
        let why_not = WhyNot {
            defect: text("pb001"),
            probability: 0.25,
            lacks: 1.1,
            undecided: false,
            silent: vec![silent("V2", true), silent("V3", false)],
        };
        let told = CaseVerdict {
            reported: None,
            weights_at: std::collections::BTreeMap::new(),
            words: Vec::new(),
            recorded: None,
            run: text("r"),
            case: text("1"),
            name: text("pays"),
            step: text("1"),
            flips: vec![VerdictFlip { without: text("V1"), defect: text("pb001"), probability: 0.6 }],
            verdict,
            unread: vec![UnreadLine { id: text("e2"), text: text("it broke") }],
            functions: [(text("V1"), text("v.rhai#one"))].into(),
            declared: Some(DeclaredDefect {
                defect: text("pb001"),
                by: text("helper"),
                step: text("3"),
                node: text("investigate"),
                probability: Some(0.25),
            }),
            why_not: Some(why_not),
            rule: None,
            defects: [(text("en001"), text("Environment issue"))].into(),
        };
        let page: Vec<String> = verdict_page(&told, 80).into_iter().map(|line| line.text).collect();
        assert!(page.iter().all(|line| line.chars().count() <= 80), "{page:#?}");
        let page = page.join("\n");
        for wanted in [
            "1  pays\nrun r, verdict made for step 1\n\npb001, declared by helper at step 3 (investigate); the rules give it 0.25\n\n  0.750  en001  Environment issue\n  0.250  pb001\n",
            "\nwhat matched\n  V1: a rule with",
            "\n    en001 +1.00, pb001 -0.10, at strength 0.50\n    pipelines/rca.yaml:200, v.rhai#one, group net\n    e1  word word",
            "\nwhat matched, but is outweighed within its group\n  refused: ",
            "\nrules that failed and were ignored\n  V9 (p.yaml:1): no such field\n",
            "\nwhat would change it\n  without V1: pb001 (0.60)\n",
            "\nwhy not pb001\n  its probability is 0.25; it lacks 1.10\n  rules that support it, but did not match:\n    +0.70  V2 thrown: Something was thrown\n      v.rhai#thrown, p.yaml:2\n  to see why a rule did not match: --why-not V2\n  the evidence lacks the inputs of V3\n",
            "\nlines that nothing matched\n  e2  it broke\n",
        ] {
            assert!(page.contains(wanted), "{wanted}\n--- in\n{page}");
        }
    }
}
