//! A failed assertion, with the values it was about: those of its own parts, and what the rule that it asked had seen.

use asterisk_diag::{Code, Diagnostic, Label, Span};
use asterisk_script::probe::{Evaluation, NodeRole, Outline, ProbeTable, clipped, explanatory};
use asterisk_script::{Unit, is_test_file};

/// The most values shown under an assertion.
const LABELS: usize = 10;

/// The most lines about the rules that were asked.
const LINES: usize = 24;

type ProbedTexts<'t> = [(&'t Unit, &'t ProbeTable)];

/// The failure of a test, clearer.
pub(super) fn blame(diagnostic: &Diagnostic, evaluation: &Evaluation, texts: &ProbedTexts<'_>) -> Diagnostic {
    let outline = Outline::new(texts.iter().copied());
    let mut clear = at_key(diagnostic);
    if diagnostic.is(Code::TestAssert) {
        let failed = innermost(evaluation);
        let mut shown = Vec::new();
        for part in &failed.inside {
            values(&outline, part, &mut shown);
        }
        let about = failed.inside.first().and_then(|part| outline.find(part)).map(|(unit, node)| one_line(node.text(unit)));
        if let (Some(about), Some(rest)) = (about, clear.message.strip_prefix("this is not true")) {
            clear.message = format!("`{about}` is not true{rest}");
        }
        shown.truncate(LABELS);
        // The values stand where the assertion does; without any, its name is pointed at.
        if !shown.is_empty() && clear.primary().is_some_and(|label| label.text.is_empty()) {
            clear.labels.remove(0);
        }
        shown.append(&mut clear.labels);
        clear.labels = shown;
        if let Some(asked) = asked(&outline, evaluation) {
            clear.help = Some(clear.help.map_or(asked.clone(), |help| format!("{help}\n{asked}")));
        }
    }
    clear
}

/// The complaint about a key of an artifact, labelled where the test writes that key, if it does.
fn at_key(diagnostic: &Diagnostic) -> Diagnostic {
    let found = || {
        let label = diagnostic.primary().filter(|_| diagnostic.is(Code::TestArtifact))?;
        let (path, _) = diagnostic.message.split_once("$.")?.1.split_once(": ")?;
        let key = path.rsplit('.').next()?.split('[').next()?;
        let text = label.source.text();
        // Within the function that asks: the artifact may be made before.
        let start = text[..label.span.start].rfind("\nfn ").map_or(0, |at| at + 1);
        let end = text[label.span.end..].find("\nfn ").map_or(text.len(), |at| label.span.end + at);
        let is_key = |at: usize| {
            let before = text[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '.');
            before && text[at + key.len()..].trim_start_matches('"').trim_start().starts_with(':')
        };
        let at = text[start..end].match_indices(key).map(|(at, _)| start + at).find(|at| is_key(*at))?;
        Some(Label { source: label.source.clone(), span: Span::new(at, at + key.len()), text: "written here".into() })
    };
    let mut clear = diagnostic.clone();
    if let Some(label) = found() {
        clear.labels.insert(0, label);
    }
    clear
}

/// The failure of a row, clearer; `evaluation` is that of the row's check.
pub(super) fn blame_row(diagnostic: &Diagnostic, evaluation: &Evaluation, texts: &ProbedTexts<'_>) -> Diagnostic {
    blame(diagnostic, evaluation, texts)
}

/// The evaluation that failed first: the failure of all those around it.
fn innermost(evaluation: &Evaluation) -> &Evaluation {
    let failed = evaluation.inside.iter().rev().find(|part| part.value.is_none());
    failed.map_or(evaluation, innermost)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Labels with the values of an expression and its parts: each part at its whole, what is made of parts at its operator.
fn values(outline: &Outline<'_>, evaluation: &Evaluation, out: &mut Vec<Label>) -> Option<Span> {
    let (unit, node) = outline.find(evaluation)?;
    if node.role == NodeRole::Function {
        return None;
    }
    let before = out.len();
    let inside: Vec<Span> = evaluation.inside.iter().filter_map(|part| values(outline, part, out)).collect();
    let (source, whole) = node.place(unit)?;
    let value = evaluation.value.as_ref()?.to_string();
    let text = one_line(source.slice(whole));
    // What is written out needs no telling, nor does a value that one of its parts has just been said to have.
    let written = |open: &str, close: char| text.starts_with(open) && text.ends_with(close);
    let written = written("[", ']') || written("#{", '}') || written("\"", '"') || text.starts_with('|');
    if text == value || written || inside.contains(&whole) {
        return Some(whole);
    }
    // An inspected answer is not new either, only the values found in it.
    if value.starts_with("#{") && value.ends_with("...") {
        return Some(whole);
    }
    let free = |span: Span| out[before..].iter().all(|label| span.end <= label.span.start || label.span.end <= span.start);
    let span = match node.token(unit) {
        _ if free(whole) && out.len() == before => whole,
        Some((_, token)) if free(token) => token,
        _ => return Some(whole),
    };
    out.insert(before, Label { source, span, text: clipped(&value, LONGEST) });
    Some(whole)
}

/// What the rules that the test asked last had seen.
fn asked(outline: &Outline<'_>, evaluation: &Evaluation) -> Option<String> {
    let mut last = None;
    evaluation.walk(&mut |part| {
        let Some((unit, node)) = outline.find(part) else { return };
        let text = node.text(unit);
        if is_test_file(unit.name()) && (text.starts_with("verdict(") || text.starts_with("decide(")) {
            last = Some(part);
        }
    });
    let mut rules = Vec::new();
    called(outline, last?, &mut rules);
    let mut lines = Vec::new();
    for rule in rules {
        let Some((unit, node)) = outline.find(rule) else { continue };
        let value = rule.value.as_ref().map_or_else(|| "an error".to_owned(), |value| clipped(&value.to_string(), LONGEST));
        let name = if unit.is_condition() { unit.name() } else { node.name().unwrap_or("rule") };
        lines.push(format!("`{name}` gave {value}, because"));
        let told = explanatory(outline.lines(rule));
        lines.extend(told.iter().filter(|line| line.depth < DEEPEST).map(|line| format!("  {}", line.format(LONGEST))));
    }
    if lines.len() > LINES {
        let more = lines.len() - LINES;
        lines.truncate(LINES);
        lines.push(format!("({more} lines more)"));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The functions that were called first on the way in.
fn called<'e>(outline: &Outline<'_>, evaluation: &'e Evaluation, out: &mut Vec<&'e Evaluation>) {
    for part in &evaluation.inside {
        match outline.find(part) {
            Some((_, node)) if node.role == NodeRole::Function => out.push(part),
            _ => called(outline, part, out),
        }
    }
}

/// How deep such lines may stand.
const DEEPEST: usize = 3;

/// The most characters of an expression or a value in such a line.
const LONGEST: usize = 72;
