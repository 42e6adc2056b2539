//! Completion: a pure function of the text, the cursor and the known words.

use super::command::{self, COMMANDS, CompletionKind};
use super::lex::{LexKind, lex};
use super::words::CompletionWords;
use crate::ui::{Candidate, Hint, SyntaxClass};
use serde_json::Value;

/// The start of the word at the cursor, and its completions.
pub(super) fn complete(text: &str, at: usize, words: &CompletionWords) -> (usize, Vec<Candidate>) {
    let typed = text.get(..at).unwrap_or(text);
    let trimmed = typed.trim_start();
    let lead = typed.len() - trimmed.len();
    let Some(rest) = trimmed.strip_prefix(':') else { return expression(typed, words) };
    let Some((name, behind)) = rest.split_once(char::is_whitespace) else {
        return (lead, candidates(trimmed, command::names().into_iter().zip(COMMANDS.iter().map(|command| command.doc))));
    };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else { return (at, Vec::new()) };
    let argument = behind.trim_start();
    let start = typed.len() - argument.len();
    let plain = |words: &[String]| (start, candidates(argument, words.iter().cloned().zip(std::iter::repeat(""))));
    match command.takes {
        CompletionKind::Case => plain(&words.cases),
        CompletionKind::Step => plain(&distinct(&words.nodes)),
        CompletionKind::Edge => plain(&words.edges),
        CompletionKind::Var => match words.inputs.get("vars") {
            Some(Value::Object(vars)) if !argument.contains('=') => {
                let sign = if command.name == "set" { "=" } else { "" };
                let shown: Vec<(String, String)> = vars.keys().map(|name| (format!("{name}{sign}"), String::new())).collect();
                (start, candidates(argument, shown.iter().map(|(name, about)| (name.clone(), about.as_str()))))
            }
            _ => (at, Vec::new()),
        },
        CompletionKind::Name => {
            let functions = words.functions.iter().map(|(name, signature)| (name.clone(), signature.as_str()));
            let others = words.edges.iter().chain(&words.scripts).map(|name| (name.clone(), ""));
            (start, candidates(argument, functions.chain(others)))
        }
        CompletionKind::Command => plain(&COMMANDS.iter().map(|command| command.name.to_owned()).collect::<Vec<_>>()),
        CompletionKind::Expression => expression(typed, words),
        CompletionKind::Word if command.name == "graph" => plain(&["dot", "mermaid"].map(str::to_owned)),
        CompletionKind::Word if command.name == "reload" => plain(&["recorded".to_owned()]),
        CompletionKind::Nothing | CompletionKind::Word | CompletionKind::Data | CompletionKind::File => (at, Vec::new()),
    }
}

/// Completes fields, inputs and functions.
fn expression(typed: &str, words: &CompletionWords) -> (usize, Vec<Candidate>) {
    let lexed = lex(typed);
    let end = typed.len();
    // Nothing is completed inside a string, a comment or a number.
    if let Some((span, LexKind::Inked(SyntaxClass::Text | SyntaxClass::Bad | SyntaxClass::Comment | SyntaxClass::Number))) =
        lexed.pieces.last()
        && span.end == end
    {
        return (end, Vec::new());
    }
    let mut path: Vec<&str> = Vec::new();
    let mut start = end;
    let mut pieces = lexed.pieces.iter().rev().peekable();
    let is_name = |piece: &LexKind| {
        matches!(piece, LexKind::Name | LexKind::Field | LexKind::Inked(SyntaxClass::Input | SyntaxClass::Keyword))
    };
    if let Some((span, _)) = pieces.next_if(|(span, piece)| span.end == end && is_name(piece)) {
        start = span.start;
    }
    let mut at = start;
    loop {
        let dot = pieces.next_if(|(span, _)| span.end == at && &typed[span.start..span.end] == ".");
        let Some((dot, _)) = dot else { break };
        let Some((name, _)) = pieces.next_if(|(span, piece)| span.end == dot.start && is_name(piece)) else {
            return (start, Vec::new()); // a field of a call result or a list item
        };
        path.push(&typed[name.start..name.end]);
        at = name.start;
    }
    path.reverse();
    let word = &typed[start..];
    let artifact = words.inputs.get("artifact");
    let Some((root, rest)) = path.split_first() else {
        let inputs = words.inputs.keys().map(|name| (name.clone(), ""));
        let fields = fields(artifact).into_iter();
        let functions = words.functions.iter().map(|(name, signature)| (format!("{name}("), signature.as_str()));
        return (start, candidates(word, inputs.chain(fields).chain(functions)));
    };
    let root = words.inputs.get(*root).or_else(|| artifact?.get(root));
    let there = rest.iter().try_fold(root, |value, key| Some(value?.get(key)));
    (start, candidates(word, fields(there.flatten()).into_iter()))
}

/// The fields of a value.
fn fields(value: Option<&Value>) -> Vec<(String, &'static str)> {
    value.and_then(Value::as_object).into_iter().flatten().map(|(name, _)| (name.clone(), "")).collect()
}

/// The candidates that start with a word.
fn candidates<'a>(word: &str, all: impl Iterator<Item = (String, &'a str)>) -> Vec<Candidate> {
    let fits = all.filter(|(text, _)| text.starts_with(word));
    let candidate = |(text, about): (String, &str)| {
        let shown = if about.is_empty() { text.clone() } else { format!("{text}  {about}") };
        Candidate { text, shown }
    };
    fits.map(candidate).collect()
}

fn distinct(words: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in words {
        if !found.contains(word) {
            found.push(word.clone());
        }
    }
    found
}

/// The hint at the end of a text: the rest of the only completion, or the argument of a command.
pub(super) fn hint(text: &str, at: usize, words: &CompletionWords) -> Option<Hint> {
    if at < text.len() || text.trim().is_empty() {
        return None;
    }
    if let Some(name) = text.trim_start().strip_prefix(':') {
        let command = COMMANDS.iter().find(|command| command.name == name.trim_end());
        if let Some(command) = command.filter(|command| !command.usage.is_empty()) {
            let space = if name.ends_with(char::is_whitespace) { "" } else { " " };
            return Some(Hint { text: format!("{space}{}", command.usage), typed: false });
        }
    }
    let (start, found) = complete(text, at, words);
    let word = &text[start..];
    match found.as_slice() {
        [only] if !word.is_empty() && only.text != word => Some(Hint { text: only.text[word.len()..].to_owned(), typed: true }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn words() -> CompletionWords {
        let inputs = json!({
            "artifact": { "confidence": "number", "candidates": [], "error": { "kind": "string", "text": "string" } },
            "state": { "loops": { "H9": 1 }, "node": "triage" },
            "vars": { "recall_hit": 0.8, "recall_uncertain": 0.4 },
        });
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        CompletionWords {
            inputs: inputs.as_object().cloned().unwrap_or_default(),
            functions: vec![("contains".into(), "contains(list, item) -> bool".into())],
            edges: list(&["H1", "H2"]),
            nodes: list(&["recall", "triage", "recall"]),
            cases: list(&["101", "102"]),
            scripts: list(&["rules/rca.rhai#recall_hit"]),
        }
    }

    fn completions(text: &str) -> String {
        let (start, found) = complete(text, text.len(), &words());
        format!("{start}: {}", found.into_iter().map(|one| one.text).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn completions_fit_the_position() {
        for (text, wanted) in [
            ("art", "0: artifact"),
            ("co", "0: confidence contains("),
            ("x && artifact.c", "14: candidates confidence"),
            ("artifact.error.", "15: kind text"),
            ("error.k", "6: kind"),
            ("state.loops.", "12: H9"),
            ("vars.recall_h", "5: recall_hit"),
            ("\"artifact.c", "11: "),
            ("f(x).c", "5: "),
            ("1.c", "2: "),
            (":st", "0: :steps :state"),
            ("  :ste", "2: :steps"),
            (":case 1", "6: 101 102"),
            (":at ", "4: recall triage"),
            (":why H", "5: H1 H2"),
            (":set recall_", "5: recall_hit= recall_uncertain="),
            (":set recall_hit=", "16: "),
            (":unset recall_h", "7: recall_hit"),
            (":doc con", "5: contains"),
            (":doc rules", "5: rules/rca.rhai#recall_hit"),
            (":time artifact.conf", "15: confidence"),
            (":graph m", "7: mermaid"),
            (":nothing x", "10: "),
            ("é.artifact.c", "12: "),
        ] {
            assert_eq!(completions(text), wanted, "{text}");
        }
        assert_eq!(complete("artifact.c + x", 10, &words()).1.len(), 2, "the cursor may stand inside");
        let inside = complete("é", 1, &words());
        assert!(inside.0 == 0 && inside.1.is_empty(), "not inside a character");
    }

    #[test]
    fn the_only_completion_or_the_argument_of_a_command_is_hinted() {
        let hint = |text: &str| hint(text, text.len(), &words()).map(|hint| (hint.text, hint.typed));
        assert_eq!(hint("artifact.conf"), Some(("idence".into(), true)));
        assert_eq!(hint("artifact.c"), None);
        assert_eq!(hint(":flip"), Some((" EDGE".into(), false)));
        assert_eq!(hint(":flip "), Some(("EDGE".into(), false)));
        assert_eq!(hint(":step"), Some(("s".into(), true)));
        assert_eq!(hint(""), None);
    }
}
