//! Blame as a page of lines for a terminal.

use super::blame::{CaseBlame, DecidingText, StepBlame, VerdictBlame};
use super::page::{PageLine, TextPage, Tone};
use asterisk_adapters::workspace::GitCommit;

/// How many digits of a commit's or a text's address are shown.
const SHORT: usize = 10;

/// Renders the page, at most `width` characters wide.
pub fn blame_page(blame: &CaseBlame, width: usize) -> Vec<PageLine> {
    let mut page = TextPage::new(width);
    page.text(Tone::Head, "", 2, format!("{}  {}", blame.case, blame.name).trim_end());
    page.text(Tone::Quiet, "", 2, &format!("run {}, {}: {}", blame.run, blame.pipeline, blame.status.word()));
    if blame.steps.is_empty() {
        page.blank();
        page.text(Tone::Plain, "", 2, "no decision here: no edge was tried");
    }
    for step in &blame.steps {
        page.blank();
        write(&mut page, step);
    }
    if let Some(verdict) = &blame.verdict {
        page.blank();
        write_verdict(&mut page, verdict);
    }
    page.lines
}

fn write_verdict(page: &mut TextPage, verdict: &VerdictBlame) {
    let said = format!("verdict {} ({:.2}), made for step {}", verdict.defect, verdict.probability, verdict.step);
    page.text(Tone::Head, "", 4, &said);
    if verdict.rules.is_empty() {
        page.text(Tone::Plain, "    ", 6, "no rule matched: the verdict follows from the priors");
    }
    for rule in &verdict.rules {
        let added: Vec<String> = rule.added.iter().map(|(defect, added)| format!("{defect} {added:+.2}")).collect();
        page.text(Tone::Plain, "  ", 4, &format!("{} {}: {}", rule.id, rule.name, added.join(", ")));
        let Some(place) = &rule.place else { continue };
        text(page, place);
        if place.rule.is_some() {
            page.text(Tone::Quiet, "    ", 6, &format!("its weights are at {}", rule.weights));
        }
    }
}

fn write(page: &mut TextPage, step: &StepBlame) {
    let (tone, result) = match &step.to {
        Some(to) => (Tone::Head, format!("-> {to} by {}: ", step.edge)),
        None => (Tone::Bad, format!("{} failed: ", step.edge)),
    };
    page.text(tone, "", 4, &format!("{} {} {result}{}", step.path, step.node, step.because));
    text(page, &step.place);
}

/// The lines that decided, and which version of their file they are of.
fn text(page: &mut TextPage, step: &DecidingText) {
    let name = step.rule.as_ref().and_then(|rule| rule.rsplit('#').next()).unwrap_or_default();
    page.text(Tone::Plain, "    ", 6, format!("{}:{} {name}", step.file, step.line).trim_end());
    let digits = step.text.last().map_or(1, |line| line.line.to_string().len());
    for line in &step.text {
        let (tone, mark) = if line.decided { (Tone::Good, ">") } else { (Tone::Quiet, " ") };
        let first = format!("    {mark} {:>digits$} | ", line.line);
        let text = if step.text.len() == 1 { line.text.trim_start() } else { &line.text };
        page.text(tone, &first, 9 + digits, text);
    }
    let same = if step.changed { "; it or one of its imports has changed since" } else { ", unchanged since" };
    let text = &step.text_hash.to_string()[..SHORT];
    let Some(committed) = &step.committed else {
        return page.text(Tone::Quiet, "    ", 6, &format!("text {text}{same}; bundled with asterisk"));
    };
    page.text(Tone::Quiet, "    ", 6, &format!("text {text}{same}"));
    let commit =
        |of: &GitCommit| format!("{} {} {}: {}", &of.commit[..SHORT.min(of.commit.len())], &of.date, of.author, of.subject);
    if let Some(line) = &committed.line {
        page.text(Tone::Plain, "    ", 6, &format!("the line is of {}", commit(line)));
    }
    match &committed.version {
        Some(version) if committed.line.as_ref() != Some(version) => {
            page.text(Tone::Plain, "    ", 6, &format!("the text is of {}", commit(version)));
        }
        _ => {}
    }
    if let Some(note) = &committed.note {
        page.text(Tone::Quiet, "    ", 6, &format!("no commit: {note}"));
    }
}
