//! Reads the text of a shell command: every simple command in it, wherever it stands, for the judge of a call.
//!
//! The grammar is that of POSIX, by a parser of its own crate. What it cannot read is said, and so is every word whose text is not known
//! before the shell has run: expansions, substitutions, patterns, braces.

use conch_parser::ast::{
    AndOr, Command, ComplexWord, CompoundCommandKind, DefaultArithmetic, DefaultParameter, DefaultPipeableCommand,
    ListableCommand, ParameterSubstitution, PipeableCommand, Redirect, RedirectOrCmdWord, RedirectOrEnvVar, SimpleWord,
    TopLevelCommand, TopLevelWord, Word,
};
use conch_parser::lexer::Lexer;
use conch_parser::parse::DefaultParser;
use serde_json::{Value, json};

/// Longer texts are not read: nobody can see what they do.
const MAX_BYTES: usize = 16 << 10;
/// Deeper nesting is not read.
const MAX_DEPTH: usize = 60;

type Substitution = ParameterSubstitution<DefaultParameter, TopLevelWord<String>, TopLevelCommand<String>, DefaultArithmetic>;

/// The commands of a text: `{readable, because, commands: [{words, assigns, redirects, piped_from, nested}]}`; a word is `{text, literal}`.
pub(super) fn parsed(text: &str) -> Value {
    let refused = |problem: &str| json!({ "readable": false, "because": problem, "commands": [] });
    if text.len() > MAX_BYTES {
        return refused(&format!("it is longer than {MAX_BYTES} bytes"));
    }
    if let Some(problem) = unlike_posix(text) {
        return refused(problem);
    }
    // The parser recurses: nesting is bounded by the characters that can begin it.
    let openings =
        text.matches(['(', '{', '`', '"']).count() + text.split_whitespace().filter(|word| BLOCKS.contains(word)).count();
    if openings > MAX_DEPTH {
        return refused("it has too many brackets and quotes");
    }
    let mut commands = Commands { found: Vec::new(), depth: 0 };
    for command in DefaultParser::new(Lexer::new(text.chars())) {
        match command {
            Ok(command) => commands.command(&command),
            Err(error) => return refused(&format!("no shell command: {error}")),
        }
    }
    json!({ "readable": true, "because": "", "commands": commands.found })
}

/// The words that begin a block.
const BLOCKS: &[&str] = &["if", "while", "until", "for", "case", "function"];

/// What some shells read otherwise than the parser does.
fn unlike_posix(text: &str) -> Option<&'static str> {
    let bare = bare(text);
    let has = |what: &str| bare.contains(what);
    match () {
        () if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) => Some("it has control characters"),
        () if has("$'") || has("$\"") => Some("it has a quoted text with `$` before it"),
        () if has("<(") || has(">(") => Some("it has a process substitution"),
        () if has("<<<") => Some("it has a here-string"),
        () if has("[[") || has("((") && !has("$((") => Some("it has a compound test"),
        () if has("&>") || has("|&") || has(">&") && !has(">&1") && !has(">&2") => {
            Some("it has a redirection that shells read differently")
        }
        () if has("${!") || has("${@") => Some("it has an indirect expansion"),
        () => None,
    }
}

/// A text without what single quotes and backslashes keep from the shell. One with comments or here-documents, where quotes do not count,
/// stays as it is.
fn bare(text: &str) -> String {
    if text.contains('#') || text.contains("<<") {
        return text.to_owned();
    }
    let (mut bare, mut single, mut double, mut escaped) = (String::new(), false, false, false);
    for c in text.chars() {
        match c {
            _ if escaped => {
                escaped = false;
                continue;
            }
            '\'' if !double => single = !single,
            _ if single => continue,
            '\\' => escaped = true,
            '"' => double = !double,
            _ => {}
        }
        bare.push(c);
    }
    bare
}

/// Collects the simple commands of a text.
struct Commands {
    found: Vec<Value>,
    /// The number of constructs around the current command.
    depth: usize,
}

impl Commands {
    fn within(&mut self, collect: impl FnOnce(&mut Self)) {
        self.depth += 1;
        collect(self);
        self.depth -= 1;
    }

    fn all(&mut self, commands: &[TopLevelCommand<String>]) {
        for command in commands {
            self.command(command);
        }
    }

    fn command(&mut self, command: &TopLevelCommand<String>) {
        let (list, job) = match &command.0 {
            Command::Job(list) => (list, true),
            Command::List(list) => (list, false),
        };
        let collect = |this: &mut Self| {
            this.listable(&list.first);
            for next in &list.rest {
                let (AndOr::And(next) | AndOr::Or(next)) = next;
                this.listable(next);
            }
        };
        if job { self.within(collect) } else { collect(self) }
    }

    fn listable(&mut self, listable: &ListableCommand<DefaultPipeableCommand>) {
        match listable {
            ListableCommand::Single(command) => self.pipeable(command, false),
            ListableCommand::Pipe(_, commands) => {
                for (at, command) in commands.iter().enumerate() {
                    self.pipeable(command, at > 0);
                }
            }
        }
    }

    fn pipeable(&mut self, command: &DefaultPipeableCommand, piped: bool) {
        match command {
            PipeableCommand::Simple(simple) => {
                let (mut words, mut assigns, mut redirects, mut fed) = (Vec::new(), Vec::new(), Vec::new(), piped);
                for part in &simple.redirects_or_env_vars {
                    match part {
                        RedirectOrEnvVar::Redirect(redirect) => redirects.push(self.redirect(redirect, &mut fed)),
                        RedirectOrEnvVar::EnvVar(name, value) => {
                            if let Some(value) = value {
                                let _value_is_read_for_its_substitutions = self.word(value);
                            }
                            assigns.push(json!(name));
                        }
                    }
                }
                for part in &simple.redirects_or_cmd_words {
                    match part {
                        RedirectOrCmdWord::Redirect(redirect) => redirects.push(self.redirect(redirect, &mut fed)),
                        RedirectOrCmdWord::CmdWord(word) => words.push(self.word(word)),
                    }
                }
                self.push(&words, &assigns, &redirects, fed);
            }
            PipeableCommand::Compound(compound) => self.compound(&compound.kind, &compound.io, piped),
            PipeableCommand::FunctionDef(_, body) => self.within(|this| this.compound(&body.kind, &body.io, false)),
        }
    }

    fn push(&mut self, words: &[Value], assigns: &[Value], redirects: &[Value], piped: bool) {
        self.found.push(json!({
            "words": words, "assigns": assigns, "redirects": redirects, "piped_from": piped, "nested": self.depth > 0,
        }));
    }

    fn compound(
        &mut self,
        kind: &CompoundCommandKind<String, TopLevelWord<String>, TopLevelCommand<String>>,
        io: &[Redirect<TopLevelWord<String>>],
        piped: bool,
    ) {
        let mut fed = piped;
        let redirects: Vec<Value> = io.iter().map(|redirect| self.redirect(redirect, &mut fed)).collect();
        let here = self.found.len();
        match kind {
            CompoundCommandKind::Brace(body) => self.all(body),
            CompoundCommandKind::Subshell(body) => self.within(|this| this.all(body)),
            CompoundCommandKind::While(pair) | CompoundCommandKind::Until(pair) => self.within(|this| {
                this.all(&pair.guard);
                this.all(&pair.body);
            }),
            CompoundCommandKind::If { conditionals, else_branch } => {
                for pair in conditionals {
                    self.all(&pair.guard);
                    self.all(&pair.body);
                }
                self.all(else_branch.as_deref().unwrap_or_default());
            }
            CompoundCommandKind::For { words, body, .. } => {
                for word in words.iter().flatten() {
                    let _words_are_read_for_their_substitutions = self.word(word);
                }
                self.within(|this| this.all(body));
            }
            CompoundCommandKind::Case { word, arms } => {
                let _word_is_read_for_its_substitutions = self.word(word);
                for arm in arms {
                    self.all(&arm.body);
                }
            }
        }
        // What the whole is fed with or redirected to holds for every command in it.
        for command in &mut self.found[here..] {
            if fed {
                command["piped_from"] = json!(true);
            }
            if let Some(list) = command["redirects"].as_array_mut() {
                list.extend(redirects.iter().cloned());
            }
        }
        if here == self.found.len() && !redirects.is_empty() {
            self.push(&[], &[], &redirects, fed);
        }
    }

    fn redirect(&mut self, redirect: &Redirect<TopLevelWord<String>>, fed: &mut bool) -> Value {
        let (number, sign, target) = match redirect {
            Redirect::Read(number, target) => (number, "<", target),
            Redirect::Write(number, target) => (number, ">", target),
            Redirect::ReadWrite(number, target) => (number, "<>", target),
            Redirect::Append(number, target) => (number, ">>", target),
            Redirect::Clobber(number, target) => (number, ">|", target),
            Redirect::Heredoc(number, target) => (number, "<<", target),
            Redirect::DupRead(number, target) => (number, "<&", target),
            Redirect::DupWrite(number, target) => (number, ">&", target),
        };
        *fed |= sign == "<<" || sign == "<";
        let number = number.map_or_else(String::new, |number| number.to_string());
        json!({ "op": format!("{number}{sign}"), "target": self.word(target) })
    }

    fn word(&mut self, word: &TopLevelWord<String>) -> Value {
        let mut text = String::new();
        let mut literal = true;
        let parts = match &word.0 {
            ComplexWord::Single(word) => std::slice::from_ref(word),
            ComplexWord::Concat(words) => words.as_slice(),
        };
        for (at, part) in parts.iter().enumerate() {
            match part {
                Word::SingleQuoted(quoted) => text.push_str(quoted),
                Word::DoubleQuoted(quoted) => {
                    for simple in quoted {
                        literal &= self.simple(simple, true, at == 0, &mut text);
                    }
                }
                Word::Simple(simple) => literal &= self.simple(simple, false, at == 0, &mut text),
            }
        }
        json!({ "text": text, "literal": literal })
    }

    /// Adds the text of a part of a word. Returns whether it is known.
    fn simple(
        &mut self,
        simple: &SimpleWord<String, DefaultParameter, Box<Substitution>>,
        quoted: bool,
        first: bool,
        text: &mut String,
    ) -> bool {
        match simple {
            SimpleWord::Literal(part) => {
                text.push_str(part);
                quoted || !(part.contains(['{', '}', '$']) || (first && part.starts_with('~')))
            }
            SimpleWord::Escaped(part) => {
                text.push_str(part);
                true
            }
            SimpleWord::Param(_) => {
                text.push('$');
                false
            }
            SimpleWord::Subst(inner) => {
                text.push_str("$()");
                self.substitution(inner);
                false
            }
            SimpleWord::Star => plain(text, '*', quoted),
            SimpleWord::Question => plain(text, '?', quoted),
            SimpleWord::SquareOpen => plain(text, '[', quoted),
            SimpleWord::SquareClose => plain(text, ']', true),
            SimpleWord::Tilde => plain(text, '~', quoted),
            SimpleWord::Colon => plain(text, ':', true),
        }
    }

    fn substitution(&mut self, inner: &Substitution) {
        match inner {
            ParameterSubstitution::Command(commands) => self.within(|this| this.all(commands)),
            ParameterSubstitution::Default(_, _, word)
            | ParameterSubstitution::Assign(_, _, word)
            | ParameterSubstitution::Error(_, _, word)
            | ParameterSubstitution::Alternative(_, _, word)
            | ParameterSubstitution::RemoveSmallestSuffix(_, word)
            | ParameterSubstitution::RemoveLargestSuffix(_, word)
            | ParameterSubstitution::RemoveSmallestPrefix(_, word)
            | ParameterSubstitution::RemoveLargestPrefix(_, word) => {
                if let Some(word) = word {
                    let _word_is_read_for_its_substitutions = self.word(word);
                }
            }
            ParameterSubstitution::Len(_) | ParameterSubstitution::Arith(_) => {}
        }
    }
}

/// Adds a character that means itself where it is quoted.
fn plain(text: &mut String, c: char, known: bool) -> bool {
    text.push(c);
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands of a text, each as its words; `!` marks a word whose text is not known, `|` a command that is fed.
    fn read(text: &str) -> Vec<String> {
        let parsed = parsed(text);
        if parsed["readable"] == json!(false) {
            return vec![format!("? {}", parsed["because"].as_str().expect("a text"))];
        }
        let word = |word: &Value| {
            format!("{}{}", word["text"].as_str().expect("a text"), if word["literal"] == json!(true) { "" } else { "!" })
        };
        let one = |command: &Value| {
            let words: Vec<String> = command["words"].as_array().expect("words").iter().map(word).collect();
            let redirects = command["redirects"].as_array().expect("redirects").iter();
            let redirects: Vec<String> =
                redirects.map(|one| format!(" {}{}", one["op"].as_str().expect("an op"), word(&one["target"]))).collect();
            let fed = if command["piped_from"] == json!(true) { "| " } else { "" };
            format!("{fed}{}{}", words.join(" "), redirects.concat())
        };
        parsed["commands"].as_array().expect("commands").iter().map(one).collect()
    }

    #[test]
    fn every_simple_command_is_found() {
        assert_eq!(read("ls -la"), ["ls -la"]);
        assert_eq!(read("cd a && r\"m\" -rf 'x y' || echo \\no"), ["cd a", "rm -rf x y", "echo no"]);
        assert_eq!(read("find . | xargs rm; (true; rm a) &"), ["find .", "| xargs rm", "true", "rm a"]);
        assert_eq!(read("echo $(rm a) \"`rm b`\" ${x:-$(rm c)}"), ["rm a", "rm b", "rm c", "echo $()! $()! $()!"]);
        assert_eq!(read("for f in $(ls); do rm $f; done > out"), ["ls >out", "rm $! >out"]);
        assert_eq!(read("if true; then rm a; else rm b; fi; f() { rm c; }"), ["true", "rm a", "rm b", "rm c"]);
        assert_eq!(read("cat <<E\n$(rm a)\nE\n").last().map(|cat| cat.starts_with("| cat <<")), Some(true));
        assert_eq!(read("x=rm; $x a"), ["", "$! a"]);
        assert_eq!(read("rm *.txt {a,b} ~/x"), ["rm *.txt! {a,b}! ~/x!"]);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for text in [
            "echo 'a",
            "$'\\x72m' a",
            "cat <(rm a)",
            "bash <<< 'rm a'",
            "[[ a ]] && rm a",
            "echo a &> f",
            "a; )",
            "if true; then",
            "rm\u{1b}a",
        ] {
            assert!(read(text)[0].starts_with("? "), "{text}: {:?}", read(text));
        }
        assert!(read(&"( ".repeat(500))[0].starts_with("? it has too many"));
        assert!(read(&"(".repeat(500))[0].starts_with("? "));
        assert!(read(&"a".repeat(MAX_BYTES + 1))[0].starts_with("? it is longer"));
    }
}
